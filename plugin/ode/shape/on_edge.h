/* Capsules, cylinders and balls on an edge or a corner of a hull.
 *
 * Let y(t) = A + t d, 0 <= t <= |B - A|, be an edge, and p + s e, |s| <= a, the axis. Both touch where they are
 * nearest,
 *
 *     n = (p + s e - y) / |p + s e - y|,   overlap R - |p + s e - y|,
 *
 * or where they lie side by side, and touch so, at both ends of the stretch that they share, as cylinders do
 * (beside.h). Edges are looked for among the pairs of points that lie farthest along the named normal: what is no edge
 * lies within the hull, and has less overlap than one.
 *
 * A cylinder touches so with its side.  With its rim or its end it does otherwise, and that is left to the collider. */
#ifndef SPRAG_ODE_ON_EDGE_H
#define SPRAG_ODE_ON_EDGE_H

#include "ode/shape/beside.h"
#include "ode/world/hull.h"

/* As spragOnHullFind (on_hull.h).  0: not on an edge. */
int spragOnEdgeFind(const spragHull *hull, const spragBesidePipe *pipe, const double normal[3],
                    spragBesidePoint point[2]);

#endif
