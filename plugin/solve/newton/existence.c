/* The criterion of Acary, Cadoux, Lemarechal and Malick (2011; Klarbring and Pang 1998): if some
 * motion of the bodies parts every contact faster than it slides,
 *
 *     exists x:   u = W x + q,   u_n > mu |u_t|   for all contacts,
 *
 * then u = W r + q with Coulomb's law has a solution.  The largest margin is that of a cone program,
 *
 *     max t - ridge x'Wx / 2,   u_n - t >= mu |u_t|,
 *
 * solved here by the barrier -log((u_n - t)^2 - mu^2 |u_t|^2) with weight tau -> 0.  Its multipliers r are in the
 * friction cones, sum r_n = 1 and, the ridge aside, W r = 0 and q.r = t.  So where the margin is negative they are a
 * self-stress of the bodies, a wedge that friction locks, and q.r < 0 says that the motion drives it home: no motion
 * then satisfies u_n >= mu |u_t| (its product with r would not be negative), and what solution there is must slide in
 * the wedge by sum mu r_n |u_t| >= -q.r.
 *
 * A two-sided contact has its impulse in the cone of either side, K or -K, and what friction may lock is the union of
 * 2^m cones, one a variant (docs/theory.md 3).  A solution exists if each variant i has a motion of its own,
 *
 *     i_k u_n > mu |u_t|   for two-sided contacts,   u_n > mu |u_t|   for the others:
 *
 * with a compliance e a solution r exists (with mu from 0 to its value the impulses are bounded by |q| / e, and for mu
 * = 0 there is one), and u.r = u_n r_n - mu |r_n| |u_t| <= 0 says r'Wr + q.r <= -e r.r.  If r grows without bound as e
 * -> 0, r / |r| comes to a self-stress d, W d = 0, q.d <= 0, in the cones of some variant; d.(W x + q) > 0 for the
 * motion x of that variant forbids it.  Here -d is in the cones too: of two-sided contacts alone every self-stress
 * within friction stands against the criterion, unless q.d = 0.  A variant is a problem of one-sided contacts, with the
 * signs of r_n and u_n changed where i_k = -1.
 *
 * Newton's step of the barrier, with g and H its derivatives by u and e = ridge / tau, is W (g + e x + H W dx + e dx) =
 * 0, hence (W + e H^-1) dx = -H^-1 (g + e x): equations of solve/newton/tangent.h. */
#include "solve/newton/existence.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/newton/tangent.h"

enum { LEVELS = 16, STEPS = 40, HALVINGS = 40 };
#define RIDGE 1e-7        /* in the problem's own units of speed and energy */
#define RIDGE_MODEST 1e-4 /* the same, for who does not want huge impulses */
#define FALL 0.2          /* of tau from level to level */
#define CENTRED 1e-2      /* decrement, squared, at which tau falls */
#define SUFFICIENT 0.1
#define GAP 0.1       /* a negative margin is believed when tau can add no more than this part of it */
#define MU_LEAST 1e-6 /* without friction: a very thin cone, which asks for little more */
/* Products of 3x3 blocks, some 1 ms: costlier factors are the bodies' if these are cheaper.  (Where one body touches
 * many W is dense: of a tray with 50 things, 192 contacts, 2e6 products among contacts and 5e3 among bodies.) */
#define PRICE_SMALL 1e5

typedef struct Search {
    spragProblem problem;
    spragBodies bodies;
    spragTangent tangent; /* W + e H^-1 */
    spragArena *arena;
    int no_memory;
    double *x, *trial, *u; /* (3 nc) */
    double *g, *dx, *dt_x; /* (3 nc) gradient by u; step of x at fixed t, its change with t */
    double *product;       /* (3 nc) W times something */
    double *H_n;           /* (3 nc) first columns of H */
    double t, tau, ridge;
} Search;

static double muOf(const Search *s, int k)
{
    return fmax(s->problem.mu[k], MU_LEAST);
}

static double det(double a, double mu, const double u[3])
{
    const double b = mu * spragNorm2(u + 1);
    return a > b ? (a - b) * (a + b) : -1;
}

/* The barrier function at x, t, divided by tau; u = W x + q on the way.  Infinity: outside. */
static double value(Search *s, const double *x, double t)
{
    double sum = 0, energy = 0;
    spragProblemVelocity(&s->problem, x, s->u);
    for (int k = 0; k < s->problem.contact_count; ++k) {
        const double *u = s->u + 3 * k, d = det(u[0] - t, muOf(s, k), u);
        if (!(d > 0))
            return INFINITY;
        sum -= log(d);
        for (int i = 3 * k; i < 3 * k + 3; ++i)
            energy += x[i] * (s->u[i] - s->problem.q[i]);
    }
    return sum - t / s->tau + 0.5 * s->ridge / s->tau * energy;
}

/* W y -> product */
static void multiply(Search *s, const double *y)
{
    spragProblemVelocity(&s->problem, y, s->product);
    for (int i = 0; i < 3 * s->problem.contact_count; ++i)
        s->product[i] -= s->problem.q[i];
}

/* g, the first column of H and W + e H^-1 at u, t; dx := -H^-1 (g + e x), dt_x := -H^-1 dg/dt = n. */
static void assemble(Search *s)
{
    const spragProblem *problem = &s->problem;
    const double e = s->ridge / s->tau;
    for (int k = 0; k < problem->contact_count; ++k) {
        const double *u = s->u + 3 * k, mu = muOf(s, k), a = u[0] - s->t, d = det(a, mu, u);
        double *g = s->g + 3 * k;
        /* -log det has H = g g' + J, J = (2 / d) diag(-1, mu^2, mu^2); H^-1 by Sherman and Morrison */
        g[0] = -2 * a / d, g[1] = 2 * mu * mu * u[1] / d, g[2] = 2 * mu * mu * u[2] / d;
        const double J[3] = {-0.5 * d, 0.5 * d / (mu * mu), 0.5 * d / (mu * mu)}; /* of J^-1 */
        const double v[3] = {J[0] * g[0], J[1] * g[1], J[2] * g[2]}, scale = 1 / (1 + spragDot3(g, v));
        double *A = s->tangent.A + 9 * (size_t)k;
        for (int i = 0; i < 3; ++i) {
            double sum = 0;
            for (int j = 0; j < 3; ++j) {
                const double inverse = (i == j ? J[i] : 0) - scale * v[i] * v[j];
                A[3 * i + j] = e * inverse;
                sum -= inverse * (g[j] + e * s->x[3 * k + j]);
            }
            s->dx[3 * k + i] = sum;
            s->dt_x[3 * k + i] = i == 0;
            s->H_n[3 * k + i] = g[0] * g[i] - (i == 0 ? 2 / d : 0);
        }
    }
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* The equations of Newton's steps in this space; as spragTangentInit. */
static int takeSpace(Search *s, spragTangentSpace space, double price_most)
{
    const int found = spragTangentInit(&s->tangent, &s->problem, NULL, space, price_most, s->arena);
    for (int i = 0; i < 9 * s->problem.contact_count && found > 0; ++i)
        s->tangent.B[i] = i % 9 % 4 == 0;
    return found;
}

/* dx and dt_x.  0: singular, or among bodies too inaccurate. */
static int solve(Search *s)
{
    assemble(s);
    if (!spragTangentFactor(&s->tangent))
        return 0;
    spragTangentSolve(&s->tangent, s->dx);
    spragTangentSolve(&s->tangent, s->dt_x);
    return s->tangent.refused == 0;
}

/* 1: from now on among contacts, and before among bodies. */
static int leaveBodies(Search *s)
{
    if (s->tangent.bodies == NULL)
        return 0;
    const int found = takeSpace(s, SPRAG_TANGENT_CONTACTS, INFINITY);
    s->no_memory = found == 0;
    return found > 0;
}

/* One damped Newton step; the decrement, squared, or 0: no further. */
static double step(Search *s)
{
    const int n = 3 * s->problem.contact_count;
    const double before = value(s, s->x, s->t), e = s->ridge / s->tau;
    if (!solve(s) && !(leaveBodies(s) && solve(s)))
        return 0;
    double slope_t = -1 / s->tau, H_tt = 0;
    for (int i = 0; i < n; i += 3)
        slope_t -= s->g[i], H_tt += s->H_n[i];
    multiply(s, s->dt_x);
    const double curvature = H_tt - dot(s->H_n, s->product, n);
    multiply(s, s->dx);
    const double dt = -(slope_t - dot(s->H_n, s->product, n)) / curvature;
    for (int i = 0; i < n; ++i)
        s->dx[i] += dt * s->dt_x[i];
    multiply(s, s->dx);
    double decrement = -slope_t * dt;
    for (int i = 0; i < n; ++i)
        decrement -= (s->g[i] + e * s->x[i]) * s->product[i];
    if (!(decrement > 0))
        return 0;
    double length = 1;
    for (int k = 0; k < HALVINGS; ++k, length *= 0.5) {
        for (int i = 0; i < n; ++i)
            s->trial[i] = s->x[i] + length * s->dx[i];
        if (value(s, s->trial, s->t + length * dt) <= before - SUFFICIENT * length * decrement) {
            memcpy(s->x, s->trial, (size_t)n * sizeof *s->x);
            s->t += length * dt;
            return decrement;
        }
    }
    return 0;
}

/* min u_n - mu |u_t| at x */
static double marginAt(Search *s, const double *x)
{
    double least = INFINITY;
    spragProblemVelocity(&s->problem, x, s->u);
    for (int k = 0; k < s->problem.contact_count; ++k)
        least = fmin(least, s->u[3 * k] - s->problem.mu[k] * spragNorm2(s->u + 3 * k + 1));
    return least;
}

static int begin(Search *s, const spragProblem *problem, spragArena *arena)
{
    const spragArenaMark mark = spragArenaMarkGet(arena);
    *s = (Search){.problem = *problem, .arena = arena};
    if (problem->bodies !=
        NULL) { /* whose memo says what Newton's method was refused (ode/islands/bare.c): it stays so */
        s->bodies = *problem->bodies, s->bodies.memo = NULL;
        s->problem.bodies = &s->bodies;
    }
    int found = takeSpace(s, SPRAG_TANGENT_CONTACTS, PRICE_SMALL);
    if (found < 0) {
        spragArenaRelease(arena, mark);
        found = takeSpace(s, SPRAG_TANGENT_CHEAPER, INFINITY);
    }
    if (found <= 0)
        return 0;
    double **const vector[] = {&s->x, &s->trial, &s->u, &s->g, &s->dx, &s->dt_x, &s->product, &s->H_n};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; ++k)
        if ((*vector[k] = SPRAG_TAKE(arena, double, 3 * (size_t)problem->contact_count)) == NULL)
            return 0;
    return 1;
}

/* closing < INFINITY: only whether the margin is above or below -closing is asked.  Every point that is reached has
 * margin t at least, and the largest is at most t + 2 nc tau at the centre for tau: either may end the search. */
static void search(Search *s, double ridge, double closing, double *r, spragExistence *out)
{
    const spragProblem *problem = &s->problem;
    const int nc = problem->contact_count, n = 3 * nc;
    const int decides = closing < INFINITY;
    const double open = decides ? -closing : 0;
    double speed = 0, mobility = 0;
    for (int k = 0; k < nc; ++k) {
        const double *W = problem->W + 9 * (size_t)spragProblemDiagonal(problem, k);
        speed = fmax(speed, spragNorm3(problem->q + 3 * k));
        mobility += (W[0] + W[4] + W[8]) / (3 * nc);
    }
    out->margin = marginAt(s, s->x);
    if (out->margin <= open && speed > 0) {
        s->tau = 0.01 * speed, s->ridge = ridge * mobility / speed;
        s->t = out->margin - 0.1 * speed;
        for (int level = 0; level < LEVELS; ++level, s->tau *= FALL) {
            double decrement = INFINITY;
            for (int k = 0; k < STEPS && decrement > CENTRED && s->t <= open; ++k)
                decrement = step(s);
            if (!(decrement > 0 && decrement <= CENTRED) || s->t > open)
                break; /* rounding: what the last level found stands */
            value(s, s->x, s->t);
            assemble(s); /* g: the multipliers */
            for (int i = 0; i < n && r != NULL; ++i)
                r[i] = -s->tau * s->g[i];
            const double most = s->t + 2 * nc * s->tau;
            if (most < (decides ? open : (1 - GAP) * s->t))
                break;
        }
        out->margin = s->t > open ? marginAt(s, s->x) : s->t;
    }
    out->assured = out->margin > 0;
    if (out->assured && r != NULL)
        memcpy(r, s->x, (size_t)n * sizeof *r);
}

/* Of one-sided contacts alone; closing: as of search(). */
static spragStatus findOneSided(const spragProblem *problem, double ridge, double closing, spragArena *arena, double *r,
                                spragExistence *out)
{
    Search s;
    if (!begin(&s, problem, arena))
        return SPRAG_ERROR_MEMORY;
    search(&s, ridge, closing, r, out);
    return s.no_memory ? SPRAG_ERROR_MEMORY : SPRAG_OK;
}

static double ridgeOf(const spragExistenceAsk *ask)
{
    return ask->modest ? RIDGE_MODEST : RIDGE;
}

/* ---------------------------------------------------------------- variants */

/* A variant of a problem with two-sided contacts, as one of one-sided contacts. */
typedef struct Variant {
    const spragProblem *asked;
    spragProblem problem;
    double *W, *q, *mu;
    int *side; /* (nc) */
} Variant;

static int isTwoSided(const spragProblem *problem, int k)
{
    return spragKindOf(problem, k) == SPRAG_BLOCK_TWO_SIDED;
}

static int beginVariant(Variant *v, const spragProblem *asked, spragArena *arena)
{
    const size_t nc = (size_t)asked->contact_count;
    *v = (Variant){.asked = asked,
                   .problem = *asked,
                   .W = SPRAG_TAKE_RAW(arena, double, 9 * (size_t)asked->block_count),
                   .q = SPRAG_TAKE_RAW(arena, double, 3 * nc),
                   .mu = SPRAG_TAKE_RAW(arena, double, nc),
                   .side = SPRAG_TAKE_RAW(arena, int, nc)};
    v->problem.W = v->W, v->problem.q = v->q, v->problem.mu = v->mu, v->problem.kind = NULL;
    v->problem.bodies = v->problem.linked = NULL;
    return v->W != NULL && v->q != NULL && v->mu != NULL && v->side != NULL;
}

/* Bit j of code: the j-th two-sided contact bears on the other side than in the guess. */
static void takeVariant(Variant *v, const double *guess, int code)
{
    const spragProblem *asked = v->asked;
    for (int k = 0; k < asked->contact_count; ++k) {
        v->side[k] = 1;
        if (isTwoSided(asked, k)) {
            v->side[k] = (guess != NULL && guess[3 * k] < 0) == (code & 1) ? 1 : -1;
            code >>= 1;
        }
        v->mu[k] = v->side[k] > 0 ? asked->mu[k] : spragMuMinusOf(asked, k);
        for (int i = 0; i < 3; ++i)
            v->q[3 * k + i] = (i == 0 ? v->side[k] : 1) * asked->q[3 * k + i];
    }
    for (int k = 0; k < asked->contact_count; ++k)
        for (int e = asked->row_start[k]; e < asked->row_start[k + 1]; ++e)
            for (int i = 0; i < 9; ++i)
                v->W[9 * e + i] =
                    (i / 3 == 0 ? v->side[k] : 1) * (i % 3 == 0 ? v->side[asked->column[e]] : 1) * asked->W[9 * e + i];
}

static spragStatus findVariants(const spragProblem *problem, const spragExistenceAsk *ask, int variants,
                                spragArena *arena, double *r, spragExistence *out)
{
    const int nc = problem->contact_count;
    Variant variant;
    spragStatus status = SPRAG_OK;
    double *own = SPRAG_TAKE(arena, double, 3 * nc);
    *out = (spragExistence){.margin = INFINITY};
    if (own == NULL || !beginVariant(&variant, problem, arena))
        return SPRAG_ERROR_MEMORY;
    int code = 0;
    for (; code < variants && code < ask->variants && out->margin >= -ask->closing; ++code) {
        const spragArenaMark mark = spragArenaMarkGet(arena);
        spragExistence found;
        takeVariant(&variant, ask->guess, code); /* whose margin is wanted: the least of all is told */
        memset(own, 0, 3 * (size_t)nc * sizeof *own);
        status = findOneSided(&variant.problem, ridgeOf(ask), INFINITY, arena, own, &found);
        spragArenaRelease(arena, mark);
        if (status != SPRAG_OK)
            return status;
        if (!(found.margin < out->margin))
            continue;
        out->margin = found.margin;
        for (int i = 0; i < 3 * nc && r != NULL; ++i)
            r[i] = (i % 3 == 0 ? variant.side[i / 3] : 1) * own[i];
    }
    out->assured = out->margin > 0 && code == variants;
    return SPRAG_OK;
}

spragStatus spragExistenceFind(const spragProblem *problem, const spragExistenceAsk *ask, spragArena *arena, double *r,
                               spragExistence *out)
{
    int two_sided = 0;
    for (int k = 0; k < problem->contact_count; ++k)
        two_sided += isTwoSided(problem, k);
    return two_sided == 0 ? findOneSided(problem, ridgeOf(ask), ask->closing, arena, r, out)
                          : findVariants(problem, ask, 1 << (two_sided < 30 ? two_sided : 30), arena, r, out);
}
