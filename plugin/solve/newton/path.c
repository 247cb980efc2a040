/* A homotopy in the interior of the cones (Chow, Mallet-Paret, Yorke 1978; Allgower and Georg 1990, chapter 6).
 *
 * The equations are those of central.h.  From any interior start with x o v = tau_0 e_0
 * a smooth curve in (x, v, theta) leads on:
 *
 *     rho(x, v) = theta rho_0,     x o v = theta tau_0 e_0.
 *
 * It is followed by arc length, so that theta may rise again: with friction the problem is not monotone, and the curve
 * has folds where a monotone method stands still (50 spheres with mu = 2: eight of them).  One factorisation gives the
 * tangent (derivatives by theta: b) and the correction orthogonal to it; lengths are measured contact by contact in the
 * metric of the Nesterov-Todd scaling D, where 1 is the distance to the boundary.
 *
 * Where it leads.  The start is made so that rho_0 is inside the cones: x = a e_0, and v = tau_0 x^-1 so large that
 * rho_0 = v - V x - g is.  Then the curve has one end at theta = infinity, where x stays bounded and v = theta rho_0: a
 * second one, x = theta y, would need y in L, V y + rho_0 - s e_0 complementary to y, and y . (V y + rho_0) > 0 forbids
 * it.  Nor does x grow without bound at a finite theta, if some motion parts all contacts faster than they slide
 * (existence.h): y in the null space of V has y . g > 0.  So the other end is at theta = 0, a solution.  (For contacts;
 * with discs it is as the rule.)
 *
 * Which way is on.  At a fold d theta changes its sign, and so does the determinant of the equations at fixed theta:
 * the sign of d theta / d length that goes on from the start is minus that of the determinant against its sign at the
 * start.  The angle to the last tangent, which tells as much where steps are short, took a sharp fold for a way
 * straight on now and then, and the path was walked back to where it began (theta > 1e3): four of 903 recorded islands
 * of a car game, of which none is left.
 *
 * A contact that slips has x and v close to the boundary, x_t against v_t, and where the direction of slip turns by a
 * straight line leaves the cone after sqrt(tau / (x_0 v_0)) rad, a thousandth.  So the turn that x and v of a block
 * have in common is taken out of every change and made as one, on the circle, which leaves x o v as it is; a turn by 1
 * rad is no longer than TURN.
 *
 * Rounding shortens the steps: the equations of contacts on the boundary that depend on each other are told apart by
 * the last digits alone.  Where steps are short for that, small problems are factorised in fine arithmetic from there
 * on (central.h): the islands that ended at 1e-6 to 1e-4 m/s end at 1e-10.  Tried: the same with factors in double and
 * refinement (it does not converge on most steps); W in factors of its rank, r x r in place of 3 nc x 3 nc (ten times
 * less work for a car on a plank, but fewer digits than the whole matrix).  Dropped: a second run along straight lines
 * where steps are lost, and more paths, from starts of 0.1, 0.03 and 3 times the length: of 700 recorded islands no
 * answer was another, in a twentieth more steps. */
#include "solve/newton/path.h"

#include <math.h>
#include <string.h>

#include "problem/residual.h"
#include "solve/newton/central.h"
#include "solve/newton/lorentz.h"

#define STEP_FIRST 0.3    /* length along the path */
#define STEP_LEAST 1e-9   /* shorter: it is lost */
#define ON_PATH 0.3       /* a correction shorter than this: go on along the tangent */
#define OFF_PATH 2.0      /* longer: back to the last point, with a shorter step */
#define LOST 1e3          /* theta, from which no path comes back */
#define ON_CENTRE 0.5     /* |x o v - tau e_0| / tau of a point on the path */
#define TURN 100.0        /* lengths a rad */
#define TURN_MOST 0.7     /* rad at once */
#define INSIDE 1.1        /* rho_0 in the cones by a tenth */
#define TURNED 0.99       /* |x_t| / x_0 of a contact that slips */
#define STEP_ROUNDED 1e-3 /* shorter: fine arithmetic may help */
enum {
    CORRECTIONS_MAX = 6, /* of a step; more: back, with a shorter one */
    FINE_MOST = 70,      /* cones */
    PRICE_FINE = 6       /* factorisations in double, of a matrix without zeros, that take the time of a fine one */
};

typedef struct Point {
    spragFine *x, *v; /* (3 nc) */
    spragFine theta;
} Point;

struct spragPath {
    spragCentral central; /* at the present point: now.x, now.v are its x, v */
    Point now, saved;     /* saved: the last point on the path */
    Point tangent;        /* of the last point on the path, longest contact 1; turned with the blocks since */
    Point before;         /* the same, as it was at that point */
    Point change, slope;  /* correction; derivative by theta (slope.theta = 1) */
    spragFine *rho0;      /* (3 nc) at the start */
    spragFine tau0;
    spragFine step;
    int sign;        /* of the determinant at the start */
    int first;       /* 1: no point on the path was left yet */
    int corrections; /* since the last one was */
    int again;       /* 1: back at the saved point */
    int fine;        /* 1: it goes on where rounding shortens its steps */
    spragArena *arena;
};

typedef spragPath Path;

static int pointInit(Point *point, size_t n, spragArena *arena)
{
    point->x = SPRAG_TAKE(arena, spragFine, n), point->v = SPRAG_TAKE(arena, spragFine, n);
    return point->x != NULL && point->v != NULL;
}

static void pointCopy(Point *to, const Point *from, int n)
{
    memcpy(to->x, from->x, (size_t)n * sizeof *to->x);
    memcpy(to->v, from->v, (size_t)n * sizeof *to->v);
    to->theta = from->theta;
}

static void pointAdd(Point *to, spragFine length, const Point *direction, int n)
{
    for (int i = 0; i < n; ++i)
        to->x[i] += length * direction->x[i], to->v[i] += length * direction->v[i];
    to->theta += length * direction->theta;
}

/* ---------------------------------------------------------------- turns */

/* Of the change of one block what remains without the turn. */
typedef struct Change {
    spragFine x[3], v[3];
    spragFine turn; /* rad, of x and v together */
} Change;

static spragFine angleOf(const spragFine x[3], const spragFine dx[3])
{
    return (x[1] * dx[2] - x[2] * dx[1]) / (x[1] * x[1] + x[2] * x[2]);
}

static int isTurned(const spragFine x[3])
{
    return spragFineNorm2(x + 1) > TURNED * x[0];
}

static Change changeOf(const Path *path, int k, const Point *direction)
{
    const spragFine *x = path->now.x + 3 * k, *v = path->now.v + 3 * k;
    Change change = {.turn = 0};
    memcpy(change.x, direction->x + 3 * k, sizeof change.x);
    memcpy(change.v, direction->v + 3 * k, sizeof change.v);
    if (!isTurned(x) || !isTurned(v))
        return change;
    change.turn = 0.5 * (angleOf(x, change.x) + angleOf(v, change.v));
    change.x[1] += change.turn * x[2], change.x[2] -= change.turn * x[1];
    change.v[1] += change.turn * v[2], change.v[2] -= change.turn * v[1];
    return change;
}

static void rotate(spragFine x[3], spragFine cosine, spragFine sine)
{
    const spragFine x1 = x[1];
    x[1] = cosine * x1 - sine * x[2];
    x[2] = sine * x1 + cosine * x[2];
}

/* The present point moves along the change; the tangent turns with the blocks, so that it can be compared. */
static void move(Path *path, spragFine length)
{
    for (int k = 0; k < path->central.problem->contact_count; ++k) {
        const Change change = changeOf(path, k, &path->change);
        spragFine *x = path->now.x + 3 * k, *v = path->now.v + 3 * k;
        for (int i = 0; i < 3; ++i)
            x[i] += length * change.x[i], v[i] += length * change.v[i];
        if (change.turn == 0)
            continue;
        const spragFine cosine = cosl(length * change.turn), sine = sinl(length * change.turn);
        rotate(x, cosine, sine), rotate(v, cosine, sine);
        rotate(path->tangent.x + 3 * k, cosine, sine), rotate(path->tangent.v + 3 * k, cosine, sine);
    }
    path->now.theta += length * path->change.theta;
}

/* out.x = M^-1 (c + E^-1 d), out.v = c - D out.x with c = theta tau_0 x^-1 - v, d = rho - theta rho_0 (correction at
 * fixed theta), or their derivatives by theta. */
static void solveFor(Path *path, spragTangent *tangent, int derivative, Point *out)
{
    const int nc = path->central.problem->contact_count;
    const spragFine theta = path->now.theta;
    for (int k = 0; k < nc; ++k) {
        const spragFine *x = path->now.x + 3 * k, *v = path->now.v + 3 * k;
        const spragFine inverse = path->tau0 / spragConeDet(x);
        spragFine d[3], *c = out->v + 3 * k;
        for (int i = 0; i < 3; ++i) {
            const spragFine target = i == 0 ? inverse * x[i] : -inverse * x[i];
            d[i] = derivative ? -path->rho0[3 * k + i] : path->central.rho[3 * k + i] - theta * path->rho0[3 * k + i];
            c[i] = derivative ? target : theta * target - v[i];
        }
        spragCentralRightSide(&path->central, k, c, d, out->x + 3 * k);
    }
    spragCentralSolve(&path->central, tangent, out->x);
    for (int k = 0; k < nc; ++k) {
        spragFine Dx[3];
        spragFineMul33(Dx, path->central.D + 9 * k, out->x + 3 * k);
        for (int i = 0; i < 3; ++i)
            out->v[3 * k + i] -= Dx[i];
    }
    out->theta = derivative;
}

/* Squared length of a turn by 1 rad: in the metric of D, on the path, where that is not more than TURN. */
static spragFine turnWeight(const spragFine x[3], const spragFine v[3])
{
    const spragFine own = (x[1] * x[1] + x[2] * x[2]) / spragConeDet(x) + (v[1] * v[1] + v[2] * v[2]) / spragConeDet(v);
    return spragFineMin(TURN * TURN, own);
}

/* <a, b> of block k in the metric D, D^-1 = J D J det x / det v, divided by the present tau. */
static spragFine blockProduct(const Path *path, int k, const Point *a, const Point *b)
{
    const spragFine *D = path->central.D + 9 * k;
    const Change p = changeOf(path, k, a), q = changeOf(path, k, b);
    const spragFine inverse = spragConeDet(path->now.x + 3 * k) / spragConeDet(path->now.v + 3 * k);
    const spragFine Jp[3] = {p.v[0], -p.v[1], -p.v[2]}, Jq[3] = {q.v[0], -q.v[1], -q.v[2]};
    spragFine Dx[3], Dv[3];
    spragFineMul33(Dx, D, q.x);
    spragFineMul33(Dv, D, Jq);
    return (spragFineDot3(p.x, Dx) + inverse * spragFineDot3(Jp, Dv)) / (path->now.theta * path->tau0) +
           turnWeight(path->now.x + 3 * k, path->now.v + 3 * k) * p.turn * q.turn;
}

static spragFine product(const Path *path, const Point *a, const Point *b)
{
    spragFine sum = 0;
    for (int k = 0; k < path->central.problem->contact_count; ++k)
        sum += blockProduct(path, k, a, b);
    return sum / path->central.problem->contact_count + a->theta * b->theta / (path->now.theta * path->now.theta);
}

/* Length of the longest block. */
static spragFine longest(const Path *path, const Point *a)
{
    spragFine worst = fabsl(a->theta) / path->now.theta;
    for (int k = 0; k < path->central.problem->contact_count; ++k)
        worst = spragFineMax(worst, sqrtl(spragFineMax(0, blockProduct(path, k, a, a))));
    return worst;
}

/* How far the change can be followed inside the cones and above theta = 0. */
static spragFine reach(const Path *path)
{
    spragFine alpha = path->change.theta < -path->now.theta ? -path->now.theta / path->change.theta : 1;
    for (int k = 0; k < path->central.problem->contact_count; ++k) {
        const Change change = changeOf(path, k, &path->change);
        alpha = spragFineMin(alpha, spragConeStep(path->now.x + 3 * k, change.x));
        alpha = spragFineMin(alpha, spragConeStep(path->now.v + 3 * k, change.v));
        if (fabsl(change.turn) > TURN_MOST)
            alpha = spragFineMin(alpha, TURN_MOST / fabsl(change.turn));
    }
    return alpha < 1 ? 0.9 * alpha : 1;
}

/* max |x o v - theta tau_0 e_0| / (theta tau_0) */
static spragFine offCentre(const Path *path)
{
    const spragFine tau = path->now.theta * path->tau0;
    spragFine worst = 0;
    for (int k = 0; k < path->central.problem->contact_count; ++k) {
        const spragFine *x = path->now.x + 3 * k, *v = path->now.v + 3 * k;
        const spragFine product[3] = {spragFineDot3(x, v) - tau, x[0] * v[1] + v[0] * x[1], x[0] * v[2] + v[0] * x[2]};
        worst = spragFineMax(worst, spragFineNorm3(product) / tau);
    }
    return worst;
}

/* x_0 = force (of a disc at least its limit), x o v = tau_0 e_0, and rho_0
 * inside the cones.  0: there is no such tau_0. */
static int start(Path *path, double force)
{
    spragCentral *central = &path->central;
    const spragCones *cones = central->cones;
    const int nc = central->problem->contact_count;
    spragFine speed = 0;
    for (int k = 0; k < nc; ++k) {
        const int fixed = spragConeIsDisc(cones, k) && cones->load[k] == SPRAG_CONE_DISC;
        path->now.x[3 * k] = fixed ? fmax(force, cones->limit[k]) : force;
        path->now.v[3 * k] = 1;
    }
    spragCentralResiduals(central); /* for u */
    for (int k = 0; k < nc; ++k) {
        const double *u = central->u + 3 * k, normal = spragConeIsDisc(cones, k) ? 0 : u[0] * central->scale[k];
        speed = spragFineMax(speed, (normal + spragNorm2(u + 1)) * path->now.x[3 * k] / force);
    }
    path->tau0 = INSIDE * force * speed;
    for (int k = 0; k < nc; ++k)
        path->now.v[3 * k] = path->tau0 / path->now.x[3 * k];
    return speed > 0;
}

static int pathInit(Path *path, const spragCones *cones, spragArena *arena, const double *r)
{
    const size_t nc = (size_t)cones->problem->contact_count, n = 3 * nc;
    *path = (Path){.rho0 = SPRAG_TAKE(arena, spragFine, n), .step = STEP_FIRST, .first = 1, .arena = arena};
    if (!spragCentralInit(&path->central, cones, arena) || !pointInit(&path->saved, n, arena) ||
        !pointInit(&path->tangent, n, arena) || !pointInit(&path->before, n, arena) ||
        !pointInit(&path->change, n, arena) || !pointInit(&path->slope, n, arena) || path->rho0 == NULL)
        return 0;
    path->now = (Point){path->central.x, path->central.v, 1};
    spragConesFrom(cones, r, path->central.r);
    double force = 0;
    for (size_t k = 0; k < nc; ++k)
        force += 2 * spragCentralLoad(&path->central, (int)k, path->central.r) / (double)nc;
    if (!(force > 0) || !start(path, force))
        return 0;
    spragCentralResiduals(&path->central);
    memcpy(path->rho0, path->central.rho, n * sizeof *path->rho0);
    return 1;
}

/* Turns the correction at fixed theta into the one orthogonal to the path. */
static void correct(Path *path, spragTangent *tangent, int n)
{
    solveFor(path, tangent, 0, &path->change);
    solveFor(path, tangent, 1, &path->slope);
    const spragFine along = product(path, &path->slope, &path->change) / product(path, &path->slope, &path->slope);
    pointAdd(&path->change, -along, &path->slope, n);
}

/* The tangent at the present point, in the sense that the sign of the determinant gives it; where that is not known, in
 * the sense of the last one. */
static void turn(Path *path, int sign, int first, int n)
{
    if (first)
        path->sign = sign;
    const int known = first || sign * path->sign != 0;
    const int down = known ? sign == path->sign : product(path, &path->slope, &path->tangent) < 0;
    memset(path->tangent.x, 0, (size_t)n * sizeof *path->tangent.x);
    memset(path->tangent.v, 0, (size_t)n * sizeof *path->tangent.v);
    path->tangent.theta = 0;
    pointAdd(&path->tangent, (down ? -1 : 1) / longest(path, &path->slope), &path->slope, n);
    pointCopy(&path->before, &path->tangent, n);
}

/* Back at the last point of the path, for a shorter step; where it is rounding that shortens
 * steps, with less of that.  0: no memory. */
static int goBack(Path *path, int n)
{
    pointCopy(&path->now, &path->saved, n);
    pointCopy(&path->tangent, &path->before, n);
    path->step *= 0.4;
    if (path->step < STEP_ROUNDED && path->central.matrix == NULL && path->fine && n <= 3 * FINE_MOST) {
        path->step = STEP_FIRST;
        return spragCentralRefine(&path->central, path->arena);
    }
    return 1;
}

/* From a point on the path along its tangent.  size: of the correction that was left. */
static void leave(Path *path, spragFine size, int sign, int n)
{
    if (!path->first && !path->again && path->corrections == 1)
        path->step *= size < 0.1 * ON_PATH ? 2.5 : size < 0.3 * ON_PATH ? 1.5 : size > 0.7 * ON_PATH ? 0.8 : 1;
    pointCopy(&path->saved, &path->now, n);
    turn(path, sign, path->first, n);
    pointAdd(&path->change, path->step, &path->tangent, n);
    path->first = path->corrections = path->again = 0;
}

/* After a factorisation: back to the path, along it, or back on it.  0: it is lost, or there is no memory. */
static int go(Path *path, spragTangent *tangent, int n)
{
    correct(path, tangent, n);
    const spragFine size = longest(path, &path->change);
    if (!isfinite(size))
        return 0;
    if (!path->first && !path->again && (size > OFF_PATH || path->corrections > CORRECTIONS_MAX)) {
        path->again = 1;
        return goBack(path, n);
    }
    const int on_path = (size < ON_PATH && offCentre(path) < ON_CENTRE) || path->again;
    if (on_path)
        leave(path, size, spragCentralSign(&path->central, tangent), n);
    const spragFine alpha = reach(path);
    if (on_path && alpha < 1)
        path->step *= spragFineMax(alpha, 0.5);
    move(path, alpha);
    ++path->corrections;
    return 1;
}

static int isLost(const Path *path)
{
    return !(path->step > (path->fine ? STEP_LEAST : STEP_ROUNDED) && path->now.theta < LOST);
}

spragPath *spragPathBegin(const spragCones *cones, int fine, const double *r, spragArena *arena)
{
    Path *path = SPRAG_TAKE_RAW(arena, Path, 1);
    if (path == NULL || !pathInit(path, cones, arena, r))
        return NULL;
    path->fine = fine;
    return path;
}

int spragPathGo(spragPath *path, const spragStop *stop, spragTangent *tangent, double *r)
{
    const spragCentral *central = &path->central;
    const spragCones *cones = central->cones;
    const double blocks = cones->problem->contact_count; /* their factors are dense, the tangent's are not */
    const int n = 3 * cones->problem->contact_count,
              fine = (int)fmax(PRICE_FINE, PRICE_FINE * (blocks * blocks * blocks / 3) / (tangent->price + 1));
    double best = INFINITY;
    int count = 0, on = 1;
    while (on && count < stop->limit && !isLost(path) && !spragIsLate(stop->deadline)) {
        spragCentralResiduals(&path->central);
        const double residual = spragConesResidual(cones, central->r, central->u);
        if (residual < best) {
            best = residual;
            spragConesTo(cones, central->r, r);
        }
        if (!(residual > stop->tolerance) || !spragCentralFactor(&path->central, tangent))
            break;
        count += central->matrix != NULL ? fine : 1;
        on = go(path, tangent, n);
    }
    return count;
}
