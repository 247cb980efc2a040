#include "ode/shape/facet.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"

/* Of the hull's length. */
#define FLAT (sizeof(dReal) == sizeof(float) ? 1e-5 : 1e-6) /* how far points of a face may lie apart from its plane, */
#define ABOUT 1e-3                                          /* and from one that is rounded */
#define APART 1e-6                                          /* what is no farther from a line is on it */
#define PARALLEL 1e-8                                       /* that the cosine between normals of one may lack of 1 */
#define BEYOND 1e-9                                         /* what lies outside an edge by that is inside */

static void pointOf(const spragHull *hull, int i, double x[3])
{
    for (int k = 0; k < 3; ++k)
        x[k] = hull->points[3 * i + k];
}

/* Turns the plane across n, and moves it to the point that lies farthest along n. */
static void turn(const spragHull *hull, const double n[3], spragFacet *facet)
{
    const double length = spragNorm3(n), some[3] = {fabs(n[0]) < 0.6 * length, fabs(n[0]) >= 0.6 * length, 0};
    double x[3];
    facet->height = -INFINITY;
    for (int i = 0; i < 3; ++i)
        facet->normal[i] = n[i] / length;
    spragCross3(facet->along[0], facet->normal, some);
    const double across = spragNorm3(facet->along[0]);
    for (int i = 0; i < 3; ++i)
        facet->along[0][i] /= across;
    spragCross3(facet->along[1], facet->normal, facet->along[0]);
    for (int i = 0; i < hull->point_count; ++i) {
        pointOf(hull, i, x);
        facet->height = fmax(facet->height, spragDot3(facet->normal, x));
    }
}

double spragHullLength(const spragHull *hull)
{
    double first[3], x[3], most = 0;
    pointOf(hull, 0, first);
    for (int i = 1; i < hull->point_count; ++i) {
        pointOf(hull, i, x);
        most = fmax(most, spragDistanceSquared3(first, x));
    }
    return sqrt(most);
}

static void putInPlane(const spragFacet *facet, const double x[3], double corner[2])
{
    corner[0] = spragDot3(facet->along[0], x);
    corner[1] = spragDot3(facet->along[1], x);
}

void spragFacetAt(const spragFacet *facet, const double corner[2], double x[3])
{
    for (int i = 0; i < 3; ++i)
        x[i] = facet->height * facet->normal[i] + corner[0] * facet->along[0][i] + corner[1] * facet->along[1][i];
}

/* Points of the hull, and where they lie in the plane. */
typedef struct Points {
    int index[SPRAG_FACET_CORNERS];
    double at[SPRAG_FACET_CORNERS][2];
    int count;
} Points;

/* Those that lie no farther below the plane.  0: too few, or too many. */
static int gather(const spragHull *hull, const spragFacet *facet, double below, Points *points)
{
    double x[3];
    points->count = 0;
    for (int i = 0; i < hull->point_count; ++i) {
        pointOf(hull, i, x);
        if (spragDot3(facet->normal, x) < facet->height - below)
            continue;
        if (points->count == SPRAG_FACET_CORNERS)
            return 0;
        points->index[points->count] = i;
        putInPlane(facet, x, points->at[points->count++]);
    }
    return points->count >= 3;
}

/* Takes the plane of these points, whose normal is the sum of (x_k - x_0) x (x_{k+1} - x_0).  0: not all lie in it, or
 * some other before it. */
static int fit(const spragHull *hull, const Points *points, const int corner[SPRAG_FACET_CORNERS], double flat,
               spragFacet *facet)
{
    double first[3], a[3], b[3], n[3], sum[3] = {0, 0, 0}, lowest = INFINITY;
    pointOf(hull, points->index[corner[0]], first);
    for (int k = 1; k + 1 < facet->corners; ++k) {
        pointOf(hull, points->index[corner[k]], a);
        pointOf(hull, points->index[corner[k + 1]], b);
        for (int i = 0; i < 3; ++i) {
            a[i] -= first[i];
            b[i] -= first[i];
        }
        spragCross3(n, a, b);
        for (int i = 0; i < 3; ++i)
            sum[i] += n[i];
    }
    if (!(spragNorm3(sum) > 0))
        return 0;
    turn(hull, sum, facet);
    for (int k = 0; k < facet->corners; ++k) {
        pointOf(hull, points->index[corner[k]], a);
        putInPlane(facet, a, facet->corner[k]);
        lowest = fmin(lowest, spragDot3(facet->normal, a));
    }
    return facet->height - lowest <= flat;
}

int spragFacetNext(const spragHull *hull, const double named[3], double least, double (*seen)[3], int count, int *plane)
{
    int found = 0;
    for (int k = 0; k < hull->plane_count; ++k) {
        double n[3] = {hull->planes[4 * k], hull->planes[4 * k + 1], hull->planes[4 * k + 2]};
        const double length = spragNorm3(n);
        for (int i = 0; i < 3; ++i)
            n[i] /= length;
        int is_next = spragDot3(n, named) >= least;
        for (int f = 0; f < count && is_next; ++f)
            is_next = spragDot3(n, seen[f]) < 1 - PARALLEL;
        if (!is_next)
            continue;
        found = 1, *plane = k;
        least = spragDot3(n, named);
        memcpy(seen[count], n, sizeof n);
    }
    return found;
}

int spragFacetFind(const spragHull *hull, int k, spragFacet *facet)
{
    const double n[3] = {hull->planes[4 * k], hull->planes[4 * k + 1], hull->planes[4 * k + 2]},
                 size = spragHullLength(hull);
    int corner[SPRAG_FACET_CORNERS];
    Points points;
    if (!(spragNorm3(n) > 0 && isfinite(spragNorm3(n)) && isfinite(size)))
        return 0;
    for (int rounded = 0; rounded < 2; ++rounded) {
        turn(hull, n, facet);
        if (!gather(hull, facet, (rounded ? ABOUT : FLAT) * size, &points))
            continue;
        facet->corners = spragPlanarHull((const double(*)[2])points.at, points.count, APART * size, corner);
        if (facet->corners >= 3)
            return fit(hull, &points, corner, FLAT * size, facet);
    }
    return 0;
}

int spragFacetClip(const spragFacet *facet, const double at[3], const double along[3], double stretch[2])
{
    double a[2], d[2];
    putInPlane(facet, at, a);
    putInPlane(facet, along, d);
    for (int k = 0; k < facet->corners; ++k) {
        const double *b = facet->corner[k], *c = facet->corner[(k + 1) % facet->corners],
                     length = spragPlanarDistance(b, c), in = spragPlanarArea(b, c, a) / length + BEYOND * length,
                     rate = ((c[0] - b[0]) * d[1] - (c[1] - b[1]) * d[0]) / length; /* in + s rate >= 0 within */
        if (rate > 0)
            stretch[0] = fmax(stretch[0], -in / rate);
        else if (rate < 0)
            stretch[1] = fmin(stretch[1], -in / rate);
        else if (in < 0)
            return 0;
    }
    return stretch[0] <= stretch[1];
}

int spragFacetOverlap(const spragFacet *facet, double (*corner)[2], int corners, int most)
{
    double old[2 * SPRAG_FACET_CORNERS][2];
    if (most > 2 * SPRAG_FACET_CORNERS)
        return 0;
    for (int k = 0; k < facet->corners && corners > 0; ++k) {
        const double *b = facet->corner[k], *c = facet->corner[(k + 1) % facet->corners];
        int count = 0;
        memcpy(old, corner, (size_t)corners * sizeof *corner);
        for (int j = 0; j < corners; ++j) {
            const double *from = old[j], *to = old[(j + 1) % corners], in = spragPlanarArea(b, c, from),
                         out = spragPlanarArea(b, c, to);
            if (count + 2 > most)
                return 0;
            if (in >= 0)
                memcpy(corner[count++], from, sizeof *corner);
            for (int i = 0; i < 2 && (in < 0) != (out < 0); ++i)
                corner[count][i] = from[i] + in / (in - out) * (to[i] - from[i]);
            count += (in < 0) != (out < 0);
        }
        corners = count;
    }
    return corners;
}
