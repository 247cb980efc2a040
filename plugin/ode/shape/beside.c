#include "ode/shape/beside.h"

#include <math.h>

#include "linalg/vec3.h"

#define PARTED 1e-5    /* of the stretch: a gap that is none (it is what is left of steps) */
#define ROUNDING 1e-9  /* of a half length: by which a foot may lie beyond its end */
#define PARALLEL 1e-12 /* squared sine of the angle of two axes that are nearest anywhere */
#define DEEP 0.5       /* of the lesser radius: what overlaps by more is left to the collider */
#define BESIDE 0.9   /* cosine of the axes' angle: one that stands on another's side has its face on it, not its rim */
#define IN_LINE 1e-3 /* of 1, that lacks the cosine of two axes which ODE's collider takes for parallel */

typedef spragBesidePipe Pipe;
typedef spragBesidePoint Point;

static void axisAt(const Pipe *pipe, double s, double x[3])
{
    for (int i = 0; i < 3; ++i)
        x[i] = pipe->middle[i] + s * pipe->axis[i];
}

/* Where along its axis x has its foot. */
static double footOf(const Pipe *pipe, const double x[3])
{
    const double d[3] = {x[0] - pipe->middle[0], x[1] - pipe->middle[1], x[2] - pipe->middle[2]};
    return spragDot3(pipe->axis, d);
}

/* The side of a pipe and a ball about c, or a point (radius 0).  into: 1 or -1, the normal's sign.  0: c is on the
 * axis. */
static int touchSide(const Pipe *side, const double c[3], double radius, double into, Point *point)
{
    double foot[3], n[3];
    axisAt(side, footOf(side, c), foot);
    for (int i = 0; i < 3; ++i)
        n[i] = c[i] - foot[i];
    const double apart = spragNorm3(n);
    if (!(apart > 0))
        return 0;
    point->depth = side->radius + radius - apart;
    for (int i = 0; i < 3; ++i) {
        n[i] /= apart;
        point->x[i] = foot[i] + (side->radius - 0.5 * point->depth) * n[i];
        point->normal[i] = into * n[i];
    }
    return 1;
}

/* A pipe's end at s on the side of another. */
static int touchEnd(const Pipe *end, double s, const Pipe *side, double into, Point *point)
{
    double c[3], foot[3], w[3];
    axisAt(end, s, c);
    if (end->is_capsule)
        return touchSide(side, c, end->radius, into, point);
    axisAt(side, footOf(side, c), foot);
    for (int i = 0; i < 3; ++i)
        w[i] = c[i] - foot[i];
    const double along = spragDot3(w, end->axis);
    for (int i = 0; i < 3; ++i)
        w[i] -= along * end->axis[i];
    const double across = spragNorm3(w);
    for (int i = 0; i < 3; ++i)
        c[i] -= end->radius * w[i] / across;
    return across > 0 && touchSide(side, c, 0, into, point);
}

/* An end of the stretch in which both lie side by side. */
typedef struct End {
    double s;     /* along the axis of the first */
    int pipe;     /* whose end it is, */
    double place; /* and where along its own axis */
} End;

/* The ends of pipes whose feet are on the other's axis: the least and the greatest s.  0: there are not two. */
static int findStretch(const Pipe pipe[2], End stretch[2])
{
    stretch[0].s = INFINITY, stretch[1].s = -INFINITY;
    for (int k = 0; k < 4; ++k) {
        const Pipe *own = &pipe[k / 2], *other = &pipe[1 - k / 2];
        End end = {.pipe = k / 2, .place = k % 2 ? own->half : -own->half};
        double c[3];
        axisAt(own, end.place, c);
        const double foot = footOf(other, c);
        if (fabs(foot) > (1 + ROUNDING) * other->half)
            continue;
        end.s = end.pipe == 0 ? end.place : foot;
        if (end.s < stretch[0].s)
            stretch[0] = end;
        if (end.s > stretch[1].s)
            stretch[1] = end;
    }
    return stretch[1].s > stretch[0].s;
}

/* Where along the first axis it is nearest to the other; NaN: anywhere, or beyond an end of either. */
static double nearestOf(const Pipe pipe[2])
{
    double d[3], at[2];
    for (int i = 0; i < 3; ++i)
        d[i] = pipe[1].middle[i] - pipe[0].middle[i];
    const double ef = spragDot3(pipe[0].axis, pipe[1].axis), sine2 = 1 - ef * ef, e = spragDot3(d, pipe[0].axis),
                 f = spragDot3(d, pipe[1].axis);
    at[0] = (e - ef * f) / sine2;
    at[1] = (ef * e - f) / sine2;
    return sine2 > PARALLEL && fabs(at[0]) <= pipe[0].half && fabs(at[1]) <= pipe[1].half ? at[0] : (double)NAN;
}

int spragBesideCross(const spragBesidePipe pipe[2], spragBesidePoint *point)
{
    double c[3];
    const double s = nearestOf(pipe);
    if (isnan(s))
        return 0;
    axisAt(&pipe[0], s, c);
    return touchSide(&pipe[1], c, pipe[0].radius, 1, point) &&
           point->depth <= DEEP * fmin(pipe[0].radius, pipe[1].radius);
}

int spragBesideFind(const spragBesidePipe pipe[2], spragBesidePoint point[2])
{
    End stretch[2];
    int count = 0;
    if (!(fabs(spragDot3(pipe[0].axis, pipe[1].axis)) >= BESIDE) || !findStretch(pipe, stretch))
        return 0;
    for (int k = 0; k < 2; ++k) {
        const Pipe *own = &pipe[stretch[k].pipe], *other = &pipe[1 - stretch[k].pipe];
        if (!touchEnd(own, stretch[k].place, other, stretch[k].pipe == 0 ? 1 : -1, &point[k]) ||
            point[k].depth > DEEP * fmin(pipe[0].radius, pipe[1].radius))
            return 0;
    }
    const double parted = -PARTED * (stretch[1].s - stretch[0].s);
    for (int k = 0; k < 2; ++k)
        if (point[k].depth >= parted)
            point[count++] = point[k];
    return count != 1 || isnan(nearestOf(pipe)) ? count : 0;
}

double spragBesideSeen(const spragBesidePipe pipe[2])
{
    const double cosine = fabs(spragDot3(pipe[0].axis, pipe[1].axis));
    double seen = INFINITY;
    for (int k = 0; k < 2 && !pipe[0].is_capsule && !pipe[1].is_capsule && 1 - cosine < IN_LINE; ++k) {
        Point middle;
        if (pipe[k].radius <= pipe[1 - k].radius && touchSide(&pipe[1 - k], pipe[k].middle, pipe[k].radius, 1, &middle))
            seen = fmin(seen, middle.depth);
    }
    return seen;
}
