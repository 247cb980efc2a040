/* Points in a plane. */
#ifndef SPRAG_ODE_PLANAR_H
#define SPRAG_ODE_PLANAR_H

#include "linalg/vec3.h"

enum { SPRAG_PLANAR_MOST = 64 }; /* points */

/* Twice the area of the triangle; > 0: c lies to the left of the way from a to b. */
static inline double spragPlanarArea(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static inline double spragPlanarDistance(const double a[2], const double b[2])
{
    return spragNorm2((const double[2]){b[0] - a[0], b[1] - a[1]});
}

/* Corners of the convex hull of x (count x 2), counter-clockwise, but for those that stand out by no more than
 * `beside`: which points they are; corner (count).  How many: 1 of points in one place, 2 on a line. */
int spragPlanarHull(const double (*x)[2], int count, double beside, int *corner);

/* Takes out the corners that add least to the polygon: all that add nothing (m2, of twice the area), and more until
 * there are so few.  kept: stays; -1: none.  How many are left. */
int spragPlanarThin(double (*corner)[2], int count, int most, double nothing, int kept);

#endif
