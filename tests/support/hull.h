/* Convex hulls: blocks and prisms. */
#ifndef TESTS_SUPPORT_HULL_H
#define TESTS_SUPPORT_HULL_H

#include <math.h>
#include <string.h>

#include <ode/ode.h>

enum { HULL_PLANES = 32, HULL_POINTS = 64 };

typedef struct Hull {
    dReal planes[4 * HULL_PLANES], points[3 * HULL_POINTS];
    unsigned polygons[8 * HULL_PLANES], plane_count, point_count;
} Hull;

static inline void hullPlane(Hull *hull, double x, double y, double z, double height)
{
    const double plane[4] = {x, y, z, height};
    for (int i = 0; i < 4; ++i)
        hull->planes[4 * hull->plane_count + (unsigned)i] = (dReal)plane[i];
    ++hull->plane_count;
}

static inline void hullPoint(Hull *hull, double x, double y, double z)
{
    const double point[3] = {x, y, z};
    for (int i = 0; i < 3; ++i)
        hull->points[3 * hull->point_count + (unsigned)i] = (dReal)point[i];
    ++hull->point_count;
}

/* m: half its sides. */
static inline Hull hullBlock(double x, double y, double z)
{
    static const unsigned faces[] = {4, 1, 3, 7, 5, 4, 0, 4, 6, 2, 4, 2, 6, 7, 3,
                                     4, 0, 1, 5, 4, 4, 4, 5, 7, 6, 4, 0, 2, 3, 1};
    Hull hull = {.plane_count = 0};
    for (int i = 0; i < 8; ++i)
        hullPoint(&hull, i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z);
    for (int side = 1; side >= -1; side -= 2)
        hullPlane(&hull, side, 0, 0, x);
    for (int side = 1; side >= -1; side -= 2)
        hullPlane(&hull, 0, side, 0, y);
    for (int side = 1; side >= -1; side -= 2)
        hullPlane(&hull, 0, 0, side, z);
    memcpy(hull.polygons, faces, sizeof faces);
    return hull;
}

/* About z; m: from the axis to its edges, and half its length. */
static inline Hull hullPrism(unsigned sides, double radius, double half)
{
    Hull hull = {.plane_count = 0};
    unsigned *at = hull.polygons;
    for (unsigned i = 0; i < sides; ++i)
        for (int end = -1; end <= 1; end += 2)
            hullPoint(&hull, radius * cos(2 * M_PI * i / sides), radius * sin(2 * M_PI * i / sides), end * half);
    for (unsigned i = 0; i < sides; ++i) {
        const unsigned next = (i + 1) % sides, face[] = {4, 2 * i, 2 * next, 2 * next + 1, 2 * i + 1};
        hullPlane(&hull, cos(2 * M_PI * (i + 0.5) / sides), sin(2 * M_PI * (i + 0.5) / sides), 0,
                  radius * cos(M_PI / sides));
        memcpy(at, face, sizeof face);
        at += 5;
    }
    for (unsigned end = 0; end < 2; ++end) {
        hullPlane(&hull, 0, 0, end ? 1 : -1, half);
        *at++ = sides;
        for (unsigned i = 0; i < sides; ++i)
            *at++ = end ? 2 * i + 1 : 2 * (sides - 1 - i);
    }
    return hull;
}

static inline dGeomID hullGeom(dSpaceID space, const Hull *hull)
{
    return dCreateConvex(space, hull->planes, hull->plane_count, hull->points, hull->point_count, hull->polygons);
}

#endif
