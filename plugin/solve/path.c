/* A homotopy in the interior of the cones (Chow, Mallet-Paret, Yorke 1978; Allgower and Georg 1990, chapter 6).
 *
 * The equations are those of central.h.  From any interior start with x o v = tau_0 e_0 a smooth curve in (x, v, theta)
 * leads on:
 *
 *     rho(x, v) = theta rho_0,     x o v = theta tau_0 e_0.
 *
 * It is followed by arc length, so that theta may rise again: with friction the problem is not monotone, and the curve
 * has folds where a monotone method stands still (50 spheres with mu = 2: eight of them).  One factorisation gives the
 * tangent (derivatives by theta: b) and the correction orthogonal to it; lengths are measured contact by contact in the
 * metric of the Nesterov-Todd scaling D, where 1 is the distance to the boundary.
 *
 * A contact that slips has x and v close to the boundary, x_t against v_t, and where the direction of slip turns by a straight
 * line leaves the cone after sqrt(tau / (x_0 v_0)) rad, a thousandth.  So the turn that x and v of a block have in common is
 * taken out of every change and made as one, on the circle, which leaves x o v as it is; a turn by 1 rad is no longer than
 * TURN. */
#include "solve/path.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "problem/residual.h"
#include "solve/central.h"
#include "solve/lorentz.h"

#define STEP_FIRST 0.3
#define STEP_LEAST 1e-9
#define ON_PATH 0.3   /* a correction shorter than this: go on along the tangent */
#define OFF_PATH 2.0  /* longer: back to the last point, with a shorter step */
#define LOST 1e3      /* theta, from which no path comes back */
#define ON_CENTRE 0.5 /* |x o v - tau e_0| / tau of a point on the path */
#define TURN 100.0    /* lengths a rad */
#define TURN_MOST 0.7 /* rad at once */
#define TURNED 0.99   /* |x_t| / x_0 of a contact that slips */
enum { CORRECTIONS_MAX = 6 };

typedef struct Point {
    double *x, *v; /* (3 nc) */
    double theta;
} Point;

typedef struct Path {
    spragCentral central; /* at the present point: now.x, now.v are its x, v */
    Point now, saved;     /* saved: the last point on the path */
    Point tangent;        /* of the last point on the path, longest contact 1; turned with the blocks since */
    Point before;         /* the same, as it was at that point */
    Point change, slope;  /* correction; derivative by theta (slope.theta = 1) */
    double *rho0;         /* (3 nc) at the start */
    double tau0;
    int straight; /* 1: turns are not made as such */
} Path;

static int pointInit(Point *point, size_t n, spragArena *arena)
{
    point->x = SPRAG_TAKE(arena, double, n), point->v = SPRAG_TAKE(arena, double, n);
    return point->x != NULL && point->v != NULL;
}

static void pointCopy(Point *to, const Point *from, int n)
{
    memcpy(to->x, from->x, (size_t)n * sizeof *to->x);
    memcpy(to->v, from->v, (size_t)n * sizeof *to->v);
    to->theta = from->theta;
}

static void pointAdd(Point *to, double length, const Point *direction, int n)
{
    for (int i = 0; i < n; ++i)
        to->x[i] += length * direction->x[i], to->v[i] += length * direction->v[i];
    to->theta += length * direction->theta;
}

/* ---------------------------------------------------------------- turns */

/* Of the change of one block what remains without the turn. */
typedef struct Change {
    double x[3], v[3];
    double turn; /* rad, of x and v together */
} Change;

static double angleOf(const double x[3], const double dx[3])
{
    return (x[1] * dx[2] - x[2] * dx[1]) / (x[1] * x[1] + x[2] * x[2]);
}

static int isTurned(const double x[3])
{
    return spragNorm2(x + 1) > TURNED * x[0];
}

static Change changeOf(const Path *path, int k, const Point *direction)
{
    const double *x = path->now.x + 3 * k, *v = path->now.v + 3 * k;
    Change change = {.turn = 0};
    memcpy(change.x, direction->x + 3 * k, sizeof change.x);
    memcpy(change.v, direction->v + 3 * k, sizeof change.v);
    if (path->straight || !isTurned(x) || !isTurned(v))
        return change;
    change.turn = 0.5 * (angleOf(x, change.x) + angleOf(v, change.v));
    change.x[1] += change.turn * x[2], change.x[2] -= change.turn * x[1];
    change.v[1] += change.turn * v[2], change.v[2] -= change.turn * v[1];
    return change;
}

static void rotate(double x[3], double cosine, double sine)
{
    const double x1 = x[1];
    x[1] = cosine * x1 - sine * x[2];
    x[2] = sine * x1 + cosine * x[2];
}

/* The present point moves along the change; the tangent turns with the blocks, so that it can be compared. */
static void move(Path *path, double length)
{
    for (int k = 0; k < path->central.problem->contact_count; ++k) {
        const Change change = changeOf(path, k, &path->change);
        double *x = path->now.x + 3 * k, *v = path->now.v + 3 * k;
        for (int i = 0; i < 3; ++i)
            x[i] += length * change.x[i], v[i] += length * change.v[i];
        if (change.turn == 0)
            continue;
        const double cosine = cos(length * change.turn), sine = sin(length * change.turn);
        rotate(x, cosine, sine), rotate(v, cosine, sine);
        rotate(path->tangent.x + 3 * k, cosine, sine), rotate(path->tangent.v + 3 * k, cosine, sine);
    }
    path->now.theta += length * path->change.theta;
}

/* out.x = M^-1 (c + E^-1 d), out.v = c - D out.x with c = theta tau_0 x^-1 - v, d = rho - theta rho_0 (correction at fixed
 * theta), or their derivatives by theta. */
static void solveFor(Path *path, spragTangent *tangent, int derivative, Point *out)
{
    const int nc = path->central.problem->contact_count;
    const double theta = path->now.theta;
    for (int k = 0; k < nc; ++k) {
        const double *x = path->now.x + 3 * k, *v = path->now.v + 3 * k;
        const double inverse = path->tau0 / spragConeDet(x);
        double d[3], *c = out->v + 3 * k;
        for (int i = 0; i < 3; ++i) {
            const double target = i == 0 ? inverse * x[i] : -inverse * x[i];
            d[i] = derivative ? -path->rho0[3 * k + i] : path->central.rho[3 * k + i] - theta * path->rho0[3 * k + i];
            c[i] = derivative ? target : theta * target - v[i];
        }
        spragCentralRightSide(&path->central, k, c, d, out->x + 3 * k);
    }
    spragCentralSolve(&path->central, tangent, out->x);
    for (int k = 0; k < nc; ++k) {
        double Dx[3];
        spragMul33(Dx, path->central.D + 9 * k, out->x + 3 * k);
        for (int i = 0; i < 3; ++i)
            out->v[3 * k + i] -= Dx[i];
    }
    out->theta = derivative;
}

/* Squared length of a turn by 1 rad: in the metric of D, on the path, where that is not more than TURN. */
static double turnWeight(const double x[3], const double v[3])
{
    const double own = (x[1] * x[1] + x[2] * x[2]) / spragConeDet(x) + (v[1] * v[1] + v[2] * v[2]) / spragConeDet(v);
    return fmin(TURN * TURN, own);
}

/* <a, b> of block k in the metric D, D^-1 = J D J det x / det v, divided by the present tau. */
static double blockProduct(const Path *path, int k, const Point *a, const Point *b)
{
    const double *D = path->central.D + 9 * k;
    const Change p = changeOf(path, k, a), q = changeOf(path, k, b);
    const double inverse = spragConeDet(path->now.x + 3 * k) / spragConeDet(path->now.v + 3 * k);
    const double Jp[3] = {p.v[0], -p.v[1], -p.v[2]}, Jq[3] = {q.v[0], -q.v[1], -q.v[2]};
    double Dx[3], Dv[3];
    spragMul33(Dx, D, q.x);
    spragMul33(Dv, D, Jq);
    return (spragDot3(p.x, Dx) + inverse * spragDot3(Jp, Dv)) / (path->now.theta * path->tau0) +
           turnWeight(path->now.x + 3 * k, path->now.v + 3 * k) * p.turn * q.turn;
}

static double product(const Path *path, const Point *a, const Point *b)
{
    double sum = 0;
    for (int k = 0; k < path->central.problem->contact_count; ++k)
        sum += blockProduct(path, k, a, b);
    return sum / path->central.problem->contact_count + a->theta * b->theta / (path->now.theta * path->now.theta);
}

/* Length of the longest block. */
static double longest(const Path *path, const Point *a)
{
    double worst = fabs(a->theta) / path->now.theta;
    for (int k = 0; k < path->central.problem->contact_count; ++k)
        worst = fmax(worst, sqrt(fmax(0, blockProduct(path, k, a, a))));
    return worst;
}

/* How far the change can be followed inside the cones and above theta = 0. */
static double reach(const Path *path)
{
    double alpha = path->change.theta < -path->now.theta ? -path->now.theta / path->change.theta : 1;
    for (int k = 0; k < path->central.problem->contact_count; ++k) {
        const Change change = changeOf(path, k, &path->change);
        alpha = fmin(alpha, spragConeStep(path->now.x + 3 * k, change.x));
        alpha = fmin(alpha, spragConeStep(path->now.v + 3 * k, change.v));
        if (fabs(change.turn) > TURN_MOST)
            alpha = fmin(alpha, TURN_MOST / fabs(change.turn));
    }
    return alpha < 1 ? 0.9 * alpha : 1;
}

/* max |x o v - theta tau_0 e_0| / (theta tau_0) */
static double offCentre(const Path *path)
{
    const double tau = path->now.theta * path->tau0;
    double worst = 0;
    for (int k = 0; k < path->central.problem->contact_count; ++k) {
        const double *x = path->now.x + 3 * k, *v = path->now.v + 3 * k;
        const double product[3] = {spragDot3(x, v) - tau, x[0] * v[1] + v[0] * x[1], x[0] * v[2] + v[0] * x[2]};
        worst = fmax(worst, spragNorm3(product) / tau);
    }
    return worst;
}

static int pathInit(Path *path, const spragCones *cones, double load, spragArena *arena, const double *r)
{
    const spragProblem *problem = cones->problem;
    const size_t nc = (size_t)problem->contact_count, n = 3 * nc;
    *path = (Path){.rho0 = SPRAG_TAKE(arena, double, n)};
    if (!spragCentralInit(&path->central, cones, arena) || !pointInit(&path->saved, n, arena) ||
        !pointInit(&path->tangent, n, arena) || !pointInit(&path->before, n, arena) ||
        !pointInit(&path->change, n, arena) || !pointInit(&path->slope, n, arena) || path->rho0 == NULL)
        return 0;
    path->now = (Point){path->central.x, path->central.v, 1};
    spragConesFrom(cones, r, path->central.r);
    spragProblemVelocity(problem, path->central.r, path->central.u);
    double force = 0, speed = 0;
    for (size_t k = 0; k < nc; ++k) {
        force += 2 * spragCentralLoad(&path->central, (int)k, path->central.r) / (double)nc;
        speed += 2 * spragNorm3(path->central.u + 3 * k) / (double)nc;
    }
    if (!(force > 0 && speed > 0))
        return 0;
    path->tau0 = load * force * speed;
    for (size_t k = 0; k < nc; ++k)
        path->now.x[3 * k] = load * force, path->now.v[3 * k] = speed;
    spragCentralResiduals(&path->central);
    memcpy(path->rho0, path->central.rho, n * sizeof *path->rho0);
    return 1;
}

/* Turns the correction at fixed theta into the one orthogonal to the path. */
static void correct(Path *path, spragTangent *tangent, int n)
{
    solveFor(path, tangent, 0, &path->change);
    solveFor(path, tangent, 1, &path->slope);
    const double along = product(path, &path->slope, &path->change) / product(path, &path->slope, &path->slope);
    pointAdd(&path->change, -along, &path->slope, n);
}

/* The tangent at the present point, in the sense of the last one. */
static void turn(Path *path, int first, int n)
{
    const double sense = first ? -1 : product(path, &path->slope, &path->tangent) >= 0 ? 1 : -1;
    memset(path->tangent.x, 0, (size_t)n * sizeof(double));
    memset(path->tangent.v, 0, (size_t)n * sizeof(double));
    path->tangent.theta = 0;
    pointAdd(&path->tangent, sense / longest(path, &path->slope), &path->slope, n);
    pointCopy(&path->before, &path->tangent, n);
}

int spragPathSolve(const spragCones *cones, double load, double tolerance, double deadline, int limit,
                   spragTangent *tangent, spragArena *arena, double *r)
{
    Path path;
    const int n = 3 * cones->problem->contact_count;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    if (!pathInit(&path, cones, load, arena, r)) {
        spragArenaRelease(arena, mark);
        return -1;
    }
    double best = spragProblemResidual(cones->asked, r), step = STEP_FIRST;
    int count = 0, first = 1, corrections = 0, again = 0; /* again: back at the saved point */
    for (; count < limit && step > STEP_LEAST && path.now.theta < LOST && !(deadline > 0 && spragSeconds() > deadline);
         ++count) {
        spragCentralResiduals(&path.central);
        const double residual = spragConesResidual(cones, path.central.r, path.central.u);
        if (residual < best) {
            best = residual;
            spragConesTo(cones, path.central.r, r);
        }
        if (!(residual > tolerance))
            break;
        if (!spragCentralFactor(&path.central, tangent))
            break;
        correct(&path, tangent, n);
        const double size = longest(&path, &path.change);
        if (!isfinite(size))
            break;
        if (!first && !again && (size > OFF_PATH || corrections > CORRECTIONS_MAX)) {
            pointCopy(&path.now, &path.saved, n);
            pointCopy(&path.tangent, &path.before, n);
            step *= 0.4, again = 1;
            if (step < STEP_LEAST && !path.straight) /* rounding; on the straight a little less of it is left */
                path.straight = 1, step = STEP_FIRST;
            continue;
        }
        const int on_path = (size < ON_PATH && (path.straight || offCentre(&path) < ON_CENTRE)) || again;
        if (on_path) {
            if (!first && !again && corrections == 1)
                step *= size < 0.1 * ON_PATH ? 2.5 : size < 0.3 * ON_PATH ? 1.5 : size > 0.7 * ON_PATH ? 0.8 : 1;
            pointCopy(&path.saved, &path.now, n);
            turn(&path, first, n);
            pointAdd(&path.change, step, &path.tangent, n);
            first = 0, corrections = 0, again = 0;
        }
        const double alpha = reach(&path);
        if (on_path && alpha < 1)
            step *= fmax(alpha, 0.5);
        move(&path, alpha);
        ++corrections;
    }
    spragArenaRelease(arena, mark);
    return count;
}
