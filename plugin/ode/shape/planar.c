/* The hull, from its longest chords outward (quickhull): the point farthest beyond an edge is a corner, and what lies
 * within the triangle of both is none.
 *
 * (Andrew's chain, from left to right, takes fewer areas, but lost corners of faces whose points lie above each other
 * up to rounding: sorted by that, a point of an edge came first, and its lower end was no turn.) */
#include "ode/shape/planar.h"

#include <math.h>
#include <string.h>

static int farthest(const double (*x)[2], int count, int from)
{
    int found = from;
    for (int k = 0; k < count; ++k)
        if (spragPlanarDistance(x[from], x[k]) > spragPlanarDistance(x[from], x[found]))
            found = k;
    return found;
}

/* Of the listed points (count) those that lie to the right of the way come first; how many. */
static int sortOut(const double (*x)[2], int from, int to, int *list, int count)
{
    int right = 0;
    for (int i = 0; i < count; ++i)
        if (spragPlanarArea(x[from], x[to], x[list[i]]) < 0) {
            const int point = list[i];
            list[i] = list[right];
            list[right++] = point;
        }
    return right;
}

/* Corners of the listed points beyond the edge, from its begin to its end; how many. */
static int beyond(const double (*x)[2], double beside, int from, int to, int *list, int count, int *corner)
{
    double most = beside * spragPlanarDistance(x[from], x[to]);
    int far = -1;
    for (int i = 0; i < count; ++i) {
        const double out = -spragPlanarArea(x[from], x[to], x[list[i]]);
        if (out > most)
            most = out, far = list[i];
    }
    if (far < 0)
        return 0;
    const int first = sortOut(x, from, far, list, count), second = sortOut(x, far, to, list + first, count - first);
    int corners = beyond(x, beside, from, far, list, first, corner);
    corner[corners++] = far;
    return corners + beyond(x, beside, far, to, list + first, second, corner + corners);
}

int spragPlanarHull(const double (*x)[2], int count, double beside, int *corner)
{
    int list[SPRAG_PLANAR_MOST];
    for (int k = 0; k < count; ++k)
        list[k] = k;
    const int from = farthest(x, count, 0), to = farthest(x, count, from);
    corner[0] = from;
    if (!(spragPlanarDistance(x[from], x[to]) > beside))
        return 1;
    int corners = 1 + beyond(x, beside, from, to, list, count, corner + 1);
    corner[corners++] = to;
    return corners + beyond(x, beside, to, from, list, count, corner + corners);
}

int spragPlanarThin(double (*corner)[2], int count, int most, double nothing, int kept)
{
    for (; count > 3; --count) {
        int least = 0;
        double area = INFINITY;
        for (int k = 0; k < count; ++k) {
            const double *a = corner[(k + count - 1) % count], *b = corner[k], *c = corner[(k + 1) % count],
                         own = fabs(spragPlanarArea(a, b, c));
            if (own < area && k != kept)
                area = own, least = k;
        }
        if (count <= most && area > nothing)
            break;
        kept -= least < kept;
        memmove(corner + least, corner + least + 1, (size_t)(count - 1 - least) * sizeof *corner);
    }
    return count;
}
