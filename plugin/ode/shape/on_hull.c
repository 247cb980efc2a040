#include "ode/shape/on_hull.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/shape/facet.h"
#include "ode/shape/on_edge.h"

#define AGREES 0.98   /* cosine between the normal that is named and a face's */
#define SAME 1e-3     /* of the radius, and of their depths */
#define PARTED 1e-5   /* of the stretch: a gap that is none (it is what is left of steps) */
#define SHORT 1e-6    /* of the radius: a stretch that is a point; of its square: an area that is none */
#define STANDS 0.98   /* cosine between the axis and the normal: the end is on the face, not the rim alone */
#define LEANS 1e-3    /* sine of it: by less it has no lowest point */
#define OVERHANGS 0.1 /* sine: what leans by more on the rim of a face touches that across its axis */

typedef spragBesidePipe Pipe;
typedef spragBesidePoint Point;

enum {
    FACES = 3, /* are looked at: where a hull is fine the nearest is the one */
    RIM = 8,
    CUT = SPRAG_FACET_CORNERS + RIM
};

/* Midway between y, which is on the face, and the surface that lies so deep below it. */
static void setPoint(Point *point, const double y[3], const double n[3], double depth)
{
    for (int i = 0; i < 3; ++i)
        point->x[i] = y[i] - 0.5 * depth * n[i];
    memcpy(point->normal, n, sizeof point->normal);
    point->depth = depth;
}

/* Leaves those that touch, or lie apart by no more than that; how many. */
static int touching(Point *point, int count, double parted)
{
    int kept = 0;
    for (int k = 0; k < count; ++k)
        if (point[k].depth >= -parted)
            point[kept++] = point[k];
    return kept;
}

/* Where the line of the pipe that is nearest to the plane has its middle.  0: it has none, as it stands upright. */
static int lowestLine(const Pipe *pipe, const double n[3], double middle[3])
{
    const double along = pipe->is_capsule ? 0 : spragDot3(n, pipe->axis);
    double w[3];
    for (int i = 0; i < 3; ++i)
        w[i] = n[i] - along * pipe->axis[i];
    const double length = spragNorm3(w);
    for (int i = 0; i < 3; ++i)
        middle[i] = pipe->middle[i] - pipe->radius / length * w[i];
    return length > 0;
}

/* At the ends of the part of that line above the face, of which one or both touch.  0: neither, or the lower one leans
 * over the rim of the face, which it touches otherwise. */
static int findLying(const spragFacet *facet, const Pipe *pipe, Point point[SPRAG_ON_HULL_MOST])
{
    const double *n = facet->normal, *e = pipe->axis, rise = spragDot3(n, e);
    double middle[3], stretch[2] = {-pipe->half, pipe->half};
    if (!lowestLine(pipe, n, middle) || !spragFacetClip(facet, middle, e, stretch))
        return 0;
    const double length = stretch[1] - stretch[0];
    const int low = rise > 0 ? 0 : 1; /* the end that is lower */
    if (fabs(rise) > OVERHANGS && fabs(stretch[low]) < (1 - SHORT) * pipe->half)
        return 0;
    for (int k = 0; k < 2; ++k) {
        double y[3], depth = facet->height - spragDot3(n, middle) - stretch[k] * rise;
        for (int i = 0; i < 3; ++i)
            y[i] = middle[i] + stretch[k] * e[i] + depth * n[i];
        setPoint(&point[k], y, n, depth);
    }
    if (length <= SHORT * pipe->radius) {
        point[0] = point[low];
        return 1;
    }
    return touching(point, 2, PARTED * length);
}

/* Points of the rim about c, in the plane of the face: from the lowest on, or where it has none from that which lies
 * across. */
static void putRim(const spragFacet *facet, const Pipe *pipe, const double a[3], const double across[3],
                   const double c[3], double (*corner)[2])
{
    double first[3], second[3];
    const double p = spragDot3(facet->normal, a), q = spragDot3(across, a);
    for (int i = 0; i < 3; ++i)
        first[i] = p * a[i] - facet->normal[i];
    if (spragNorm3(first) < LEANS)
        for (int i = 0; i < 3; ++i)
            first[i] = across[i] - q * a[i];
    const double length = spragNorm3(first);
    for (int i = 0; i < 3; ++i)
        first[i] *= pipe->radius / length;
    spragCross3(second, a, first);
    for (int k = 0; k < RIM; ++k) {
        const double angle = 2 * M_PI * k / RIM;
        double x[3];
        for (int i = 0; i < 3; ++i)
            x[i] = c[i] + cos(angle) * first[i] + sin(angle) * second[i];
        corner[k][0] = spragDot3(facet->along[0], x);
        corner[k][1] = spragDot3(facet->along[1], x);
    }
}

/* The rim of the end, cut to the face. */
static int findStanding(const spragFacet *facet, const Pipe *pipe, const double across[3],
                        Point point[SPRAG_ON_HULL_MOST])
{
    const double *n = facet->normal, up = spragDot3(n, pipe->axis) < 0 ? -1 : 1;
    double a[3], c[3], y[3], arm[3], corner[CUT][2], entered = -INFINITY;
    for (int i = 0; i < 3; ++i) {
        a[i] = up * pipe->axis[i];
        c[i] = pipe->middle[i] - pipe->half * a[i];
    }
    const double p = spragDot3(n, a), sine = sqrt(fmax(1 - p * p, 0)),
                 enters = facet->height - spragDot3(n, c) + pipe->radius * sine;
    putRim(facet, pipe, a, across, c, corner);
    const int count = spragPlanarThin(corner, spragFacetOverlap(facet, corner, RIM, CUT), SPRAG_ON_HULL_MOST,
                                      SHORT * pipe->radius * pipe->radius, -1);
    for (int k = 0; k < facet->corners; ++k) {
        spragFacetAt(facet, facet->corner[k], y);
        for (int i = 0; i < 3; ++i)
            arm[i] = y[i] - c[i];
        entered = fmax(entered, spragDot3(a, arm));
    }
    for (int k = 0; k < count; ++k) {
        spragFacetAt(facet, corner[k], y);
        for (int i = 0; i < 3; ++i)
            arm[i] = y[i] - c[i];
        setPoint(&point[k], y, entered < enters ? a : n, spragDot3(a, arm) / p);
    }
    return touching(point, count, 2 * PARTED * pipe->radius);
}

static double deepestOf(const Point *point, int count)
{
    double deepest = -INFINITY;
    for (int k = 0; k < count; ++k)
        deepest = fmax(deepest, point[k].depth);
    return deepest;
}

/* On the face whose depth is nearest to the one that is named. */
static int findOnFace(const spragHull *hull, const Pipe *pipe, const double across[3], const Point *named,
                      Point point[SPRAG_ON_HULL_MOST])
{
    double seen[FACES][3], least = SAME * pipe->radius;
    int found = 0, k;
    for (int f = 0; f < FACES && spragFacetNext(hull, named->normal, AGREES, seen, f, &k); ++f) {
        Point own[SPRAG_ON_HULL_MOST];
        spragFacet facet;
        if (!spragFacetFind(hull, k, &facet))
            continue;
        const int stands = !pipe->is_capsule && fabs(spragDot3(facet.normal, pipe->axis)) >= STANDS,
                  count = stands ? findStanding(&facet, pipe, across, own) : findLying(&facet, pipe, own);
        const double off = fabs(deepestOf(own, count) - named->depth);
        if (off < least) {
            least = off;
            found = count;
            memcpy(point, own, (size_t)count * sizeof *own);
        }
    }
    return found;
}

int spragOnHullFind(const spragHull *hull, const spragBesidePipe *pipe, const double across[3],
                    const spragBesidePoint *named, spragBesidePoint point[SPRAG_ON_HULL_MOST])
{
    int count = findOnFace(hull, pipe, across, named, point);
    if (count > 0)
        return count;
    count = spragOnEdgeFind(hull, pipe, named->normal, point);
    for (int k = 0; k < count; ++k)
        if (spragDot3(point[k].normal, named->normal) < AGREES)
            return 0;
    return fabs(deepestOf(point, count) - named->depth) < SAME * pipe->radius ? count : 0;
}
