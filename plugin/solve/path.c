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
 * metric of the Nesterov-Todd scaling D, where 1 is the distance to the boundary. */
#include "solve/path.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "problem/residual.h"
#include "solve/central.h"
#include "solve/lorentz.h"

#define STEP_FIRST 0.3
#define STEP_LEAST 1e-9
#define ON_PATH 0.3  /* a correction shorter than this: go on along the tangent */
#define OFF_PATH 2.0 /* longer: back to the last point, with a shorter step */
enum { CORRECTIONS_MAX = 6 };

typedef struct Point {
    double *x, *v; /* (3 nc) */
    double theta;
} Point;

typedef struct Path {
    spragCentral central; /* at the present point: now.x, now.v are its x, v */
    Point now, saved;     /* saved: the last point on the path */
    Point tangent;        /* of the last point on the path, longest contact 1 */
    Point change, slope;  /* correction; derivative by theta (slope.theta = 1) */
    double *rho0;         /* (3 nc) at the start */
    double tau0;
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

/* <a, b> of block k in the metric D, D^-1 = J D J det x / det v, divided by the present tau. */
static double blockProduct(const Path *path, int k, const Point *a, const Point *b)
{
    const double *D = path->central.D + 9 * k, *av = a->v + 3 * k, *bv = b->v + 3 * k;
    const double inverse = spragConeDet(path->now.x + 3 * k) / spragConeDet(path->now.v + 3 * k);
    const double Ja[3] = {av[0], -av[1], -av[2]}, Jb[3] = {bv[0], -bv[1], -bv[2]};
    double Dx[3], Dv[3];
    spragMul33(Dx, D, b->x + 3 * k);
    spragMul33(Dv, D, Jb);
    return (spragDot3(a->x + 3 * k, Dx) + inverse * spragDot3(Ja, Dv)) / (path->now.theta * path->tau0);
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
        alpha = fmin(alpha, spragConeStep(path->now.x + 3 * k, path->change.x + 3 * k));
        alpha = fmin(alpha, spragConeStep(path->now.v + 3 * k, path->change.v + 3 * k));
    }
    return alpha < 1 ? 0.9 * alpha : 1;
}

static int pathInit(Path *path, const spragCones *cones, double load, spragArena *arena, const double *r)
{
    const spragProblem *problem = cones->problem;
    const size_t nc = (size_t)problem->contact_count, n = 3 * nc;
    *path = (Path){.rho0 = SPRAG_TAKE(arena, double, n)};
    if (!spragCentralInit(&path->central, cones, arena) || !pointInit(&path->saved, n, arena) ||
        !pointInit(&path->tangent, n, arena) || !pointInit(&path->change, n, arena) ||
        !pointInit(&path->slope, n, arena) || path->rho0 == NULL)
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
    for (; count < limit && step > STEP_LEAST && !(deadline > 0 && spragSeconds() > deadline); ++count) {
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
            step *= 0.4, again = 1;
            continue;
        }
        const int on_path = size < ON_PATH || again;
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
        pointAdd(&path.now, alpha, &path.change, n);
        ++corrections;
    }
    spragArenaRelease(arena, mark);
    return count;
}
