/* Capsules, cylinders and balls on hulls, and hulls on them.
 *
 * ODE leaves them to libccd, an iteration, which names one point, anywhere where they touch and elsewhere in each step,
 * and none where they overlap by 1e-8 or less.  What lies there rocks on it, by a tenth of its radius, slides down
 * slopes that are not as steep as friction, and balls hop.  What is looked for is known in closed form.
 *
 * Let n, h be the outward normal and height of a face F, and p + s e, |s| <= a, the line of the pipe that is nearest to
 * it: the axis of a capsule or ball, sunk by its radius R, and of a cylinder the line through the lowest points of its
 * rims,
 *
 *     c(s) = m + s e - R w,      w = n (capsule, ball),      w the part of n across e, of length 1 (cylinder).
 *
 * Below F it reaches h - n.c(s), linear in s, so least or most at the ends of the stretch of it that lies above F.
 * What touches at both ends rests on both.
 *
 * A cylinder that stands on F touches with its end, of which eight points of the rim are taken: cut to the part above
 * F they are a polygon of points y of F, below which lies the end, of normal a (away from F) about its centre c,
 *
 *     depth = a.(y - c) / (n.a).
 *
 * The normal is that of the face which the other one enters less: n where a rim lies on F, a where F's corners lie on
 * the end (as of a block on a barrel).
 *
 * Of several faces it is that whose depth is the collider's.  Where none has it, it is looked for at edges and corners
 * (on_edge.h); a depth that none has is a program's own. */
#ifndef SPRAG_ODE_ON_HULL_H
#define SPRAG_ODE_ON_HULL_H

#include "ode/shape/beside.h"
#include "ode/world/hull.h"

enum { SPRAG_ON_HULL_MOST = 8 };

/* Where they touch, all in the frame of the hull; a ball is a capsule without length.  across (3): a direction across
 * its axis that turns with it.  named: the collider's point; its normal and the points' lead into the pipe.  0: none
 * of those. */
int spragOnHullFind(const spragHull *hull, const spragBesidePipe *pipe, const double across[3],
                    const spragBesidePoint *named, spragBesidePoint point[SPRAG_ON_HULL_MOST]);

#endif
