#include "ode/shape/on_edge.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"

#define BAND 0.05      /* of the hull's length: so far below the farthest point an edge may begin or end */
#define BESIDE 0.9     /* cosine of the angle between an edge and an axis that lie side by side */
#define PARALLEL 1e-12 /* squared sine of that of two which are nearest anywhere */
#define PARTED 1e-5    /* of the stretch: a gap that is none */
enum { MOST = 12 };    /* points in the band: of more the farthest */

typedef spragBesidePipe Pipe;
typedef spragBesidePoint Point;

typedef struct Edge {
    double from[3], along[3], length; /* m; along: of length 1 */
} Edge;

/* Points of the hull, the farthest along n first. */
typedef struct Band {
    double x[MOST][3], height[MOST];
    int count;
} Band;

static double clamp(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

static void add(Band *band, const double x[3], double height)
{
    int at = band->count < MOST ? band->count++ : MOST - 1;
    for (; at > 0 && band->height[at - 1] < height; --at) {
        band->height[at] = band->height[at - 1];
        memcpy(band->x[at], band->x[at - 1], sizeof *band->x);
    }
    band->height[at] = height;
    memcpy(band->x[at], x, sizeof *band->x);
}

static void findBand(const spragHull *hull, const double n[3], Band *band)
{
    const double first[3] = {hull->points[0], hull->points[1], hull->points[2]};
    double size = 0;
    band->count = 0;
    for (int i = 0; i < hull->point_count; ++i) {
        const double x[3] = {hull->points[3 * i], hull->points[3 * i + 1], hull->points[3 * i + 2]},
                     height = spragDot3(n, x);
        size = fmax(size, spragDistanceSquared3(first, x));
        if (band->count < MOST || height > band->height[MOST - 1])
            add(band, x, height);
    }
    while (band->count > 1 && band->height[band->count - 1] < band->height[0] - BAND * sqrt(size))
        --band->count;
}

/* The edge at t and the axis at s.  0: in one place. */
static int touchAt(const Edge *edge, const Pipe *pipe, double t, double s, Point *point)
{
    double y[3], n[3];
    for (int i = 0; i < 3; ++i) {
        y[i] = edge->from[i] + t * edge->along[i];
        n[i] = pipe->middle[i] + s * pipe->axis[i] - y[i];
    }
    const double apart = spragNorm3(n);
    point->depth = pipe->radius - apart;
    for (int i = 0; i < 3; ++i) {
        point->normal[i] = n[i] / apart;
        point->x[i] = y[i] - 0.5 * point->depth * point->normal[i];
    }
    return apart > 0;
}

/* Where along the edge and the axis, both of which end, they are nearest: one after the other, which ends after two
 * rounds as what is farther than an end stays there. */
static void nearest(const Edge *edge, const Pipe *pipe, double *t, double *s)
{
    double d[3];
    for (int i = 0; i < 3; ++i)
        d[i] = edge->from[i] - pipe->middle[i];
    const double cosine = spragDot3(edge->along, pipe->axis), e = spragDot3(pipe->axis, d),
                 f = spragDot3(edge->along, d), sine2 = 1 - cosine * cosine;
    *s = sine2 > PARALLEL ? clamp((e - cosine * f) / sine2, -pipe->half, pipe->half) : 0;
    *t = clamp(cosine * *s - f, 0, edge->length);
    *s = clamp(e + cosine * *t, -pipe->half, pipe->half);
    *t = clamp(cosine * *s - f, 0, edge->length);
}

/* Both ends of the stretch along the edge, if they lie side by side and both touch. */
static int findEnds(const Edge *edge, const Pipe *pipe, Point point[2])
{
    double d[3];
    for (int i = 0; i < 3; ++i)
        d[i] = pipe->middle[i] - edge->from[i];
    const double cosine = spragDot3(edge->along, pipe->axis), middle = spragDot3(edge->along, d),
                 half = fabs(cosine) * pipe->half, low = fmax(middle - half, 0),
                 high = fmin(middle + half, edge->length);
    if (fabs(cosine) < BESIDE || !(high > low))
        return 0;
    for (int k = 0; k < 2; ++k) {
        const double t = k == 0 ? low : high, s = clamp(cosine * t - spragDot3(pipe->axis, d), -pipe->half, pipe->half);
        if (!touchAt(edge, pipe, t, s, &point[k]) || point[k].depth < -PARTED * (high - low))
            return 0;
    }
    return 2;
}

static int findOn(const Edge *edge, const Pipe *pipe, Point point[2])
{
    double t, s;
    if (findEnds(edge, pipe, point))
        return 2;
    nearest(edge, pipe, &t, &s);
    return (pipe->is_capsule || fabs(s) < pipe->half) && touchAt(edge, pipe, t, s, &point[0]);
}

int spragOnEdgeFind(const spragHull *hull, const spragBesidePipe *pipe, const double normal[3],
                    spragBesidePoint point[2])
{
    Band band;
    double deepest = -INFINITY;
    int found = 0;
    findBand(hull, normal, &band);
    for (int i = 0; i < band.count; ++i)
        for (int j = i; j < band.count; ++j) { /* with itself it is a corner */
            Edge edge;
            Point own[2];
            edge.length = sqrt(spragDistanceSquared3(band.x[i], band.x[j]));
            for (int k = 0; k < 3; ++k) {
                edge.from[k] = band.x[i][k];
                edge.along[k] = edge.length > 0 ? (band.x[j][k] - band.x[i][k]) / edge.length : 0;
            }
            const int count = findOn(&edge, pipe, own);
            const double depth = count == 0 ? -INFINITY : count == 1 ? own[0].depth : fmax(own[0].depth, own[1].depth);
            if (depth > deepest) {
                deepest = depth;
                found = count;
                memcpy(point, own, (size_t)count * sizeof *own);
            }
        }
    return found;
}
