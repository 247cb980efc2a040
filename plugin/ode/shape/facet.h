/* Faces of a convex hull.
 *
 * The planes that the program gives are hints: a face is where three of the hull's points or more lie farthest along
 * the normal of one of them,
 *
 *     F = { p_i : n.p_i >= h - eps },   h = max_j n.p_j,
 *
 * and its plane is then that of these points themselves, behind which all others must lie.  So planes may be of any
 * length, or rounded, and faces cut into triangles are whole; what is wrong is no face.  That takes one product for
 * each point, and nothing is remembered, as the program may change a hull at any time. */
#ifndef SPRAG_ODE_FACET_H
#define SPRAG_ODE_FACET_H

#include "ode/shape/planar.h"
#include "ode/world/hull.h"

enum { SPRAG_FACET_CORNERS = SPRAG_PLANAR_MOST };

/* In the frame of the hull. */
typedef struct spragFacet {
    double normal[3], height;              /* outward, of length 1; m: normal.x of its points */
    double along[2][3];                    /* two directions in it, normal = along[0] x along[1] */
    double corner[SPRAG_FACET_CORNERS][2]; /* m, along these, counter-clockwise */
    int corners;
} spragFacet;

/* m: from its first point to that which is farthest from it. */
double spragHullLength(const spragHull *hull);

/* Of the planes that are not parallel to those which have been looked at, that whose normal is nearest to the one that
 * is named, if the cosine between them is no less.  seen (count x 3): their normals; the next one's is added.  0: none.
 * (A face of triangles has many.) */
int spragFacetNext(const spragHull *hull, const double named[3], double least, double (*seen)[3], int count,
                   int *plane);

/* That of the hull's k-th plane.  0: it is none, or has too many corners. */
int spragFacetFind(const spragHull *hull, int k, spragFacet *facet);

/* m, the point of the plane that lies there. */
void spragFacetAt(const spragFacet *facet, const double corner[2], double x[3]);

/* The part of the line at + s along that lies above the facet.  stretch: in, from where to where it goes, and out.  0:
 * none. */
int spragFacetClip(const spragFacet *facet, const double at[3], const double along[3], double stretch[2]);

/* The part of a polygon (its corners as the facet's) that lies on the facet; it has as many corners as are returned, at
 * most `most`. */
int spragFacetOverlap(const spragFacet *facet, double (*corner)[2], int corners, int most);

#endif
