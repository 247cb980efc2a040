/* Search over modes, with Newton on the slip directions.
 *
 * Every block is in a mode, read off the natural map's argument x = r - u / w (w = trace W_kk / 3):
 *
 *     CONTACT   open  x_n <= 0              r = 0
 *               stick |x_t| <= mu x_n       u = 0
 *               slip  otherwise             u_n = 0,  r_t = mu r_n t,  t = x_t / |x_t|
 *
 * and likewise for the other kinds.  For fixed modes these are 3 nc equations, linear but for t.  A round linearises
 * them, solves, and reads the modes anew: Newton's method on the piecewise smooth system of Alart and Curnier (1991).
 * Where the modes repeat, a round flips exactly those blocks whose conditions fail, as section 10 of theory document 004
 * does with variants, and t converges quadratically.
 *
 * Hyperstatic contacts (a box on four corners) make W singular: infinitely many r, one u.  The linear systems use
 * W + eps I (proximal regularisation); the right side is the true residual, so eps only picks the r nearest to the last.
 *
 * A round that does not reduce the residual is damped; a search that stalls is restarted from other modes; which start
 * comes first is the policy's (solve/policy.h).  A solution that fails the small-friction test is a separatrix
 * (theory/policy.md 3.1) and is only kept if no start finds another.
 */
#include <math.h>
#include <string.h>

#include "linalg/lu.h"
#include "linalg/vec3.h"
#include "problem/cone.h"
#include "problem/residual.h"
#include "solve/policy.h"
#include "solve/solver.h"

#define PROXIMAL 1e-11 /* eps / w: far above rounding (1e-16), far below any stiffness that matters */

typedef struct Search {
    const spragProblem *problem;
    int n;                     /* 3 nc */
    double *W;                 /* (n x n) dense */
    double *w;                 /* (nc) scale of each block, 1/kg */
    double *H;                 /* (n x n) linearised equations */
    double *step;              /* (n) */
    double *r, *u;             /* (n) iterate */
    double *best_r;            /* (n) */
    double *trial_r, *trial_u; /* (n) */
    int *pivot;                /* (n) */
} Search;

static spragBlockKind kindOf(const spragProblem *problem, int k)
{
    return problem->kind != NULL ? (spragBlockKind)problem->kind[k] : SPRAG_BLOCK_CONTACT;
}

static double muMinus(const spragProblem *problem, int k)
{
    return problem->mu_minus != NULL ? problem->mu_minus[k] : problem->mu[k];
}

/* ---------------------------------------------------------------- one round: rows of H step = -equations */

static double *rowOf(Search *s, int i)
{
    return s->H + (size_t)i * (size_t)s->n;
}

/* r_i = value */
static void fixImpulse(Search *s, int i, double value)
{
    double *row = rowOf(s, i);
    memset(row, 0, (size_t)s->n * sizeof *row);
    row[i] = 1;
    s->step[i] = value - s->r[i];
}

/* u_i = 0 */
static void fixVelocity(Search *s, int i)
{
    double *row = rowOf(s, i);
    memcpy(row, s->W + (size_t)i * (size_t)s->n, (size_t)s->n * sizeof *row);
    row[i] += PROXIMAL * s->w[i / 3];
    s->step[i] = -s->u[i];
}

/* The disc rows i, i + 1:  r_t = R t, t = x_t / |x_t|, R = gain r_load, or a constant where load < 0.  Linearised:
 *     dr_t - gain t dr_load - (R / |x_t|) (I - t t') (dr_t - du_t / w) = R t - r_t. */
static void fixOnDisc(Search *s, int i, double radius, double gain, int load)
{
    const int n = s->n;
    const double w = s->w[i / 3];
    const double x[2] = {s->r[i] - s->u[i] / w, s->r[i + 1] - s->u[i + 1] / w};
    const double length = spragNorm2(x);
    const double t[2] = {length > 0 ? x[0] / length : 1, length > 0 ? x[1] / length : 0};
    const double ratio = length > 0 ? fmin(1, radius / length) : 0;
    for (int a = 0; a < 2; ++a) {
        double *row = rowOf(s, i + a);
        memset(row, 0, (size_t)n * sizeof *row);
        for (int b = 0; b < 2; ++b) {
            const double P = ratio * ((a == b) - t[a] * t[b]);
            if (P != 0) {
                const double *W = s->W + (size_t)(i + b) * (size_t)n;
                for (int j = 0; j < n; ++j)
                    row[j] += P / w * W[j];
            }
            row[i + b] += (a == b) - P;
        }
        if (load >= 0)
            row[load] -= gain * t[a];
        s->step[i + a] = (load >= 0 ? gain * s->r[load] : radius) * t[a] - s->r[i + a];
    }
}

/* Rows i, i + 1: stick inside the disc, else on its edge. */
static void discRows(Search *s, int i, double radius, double gain, int load)
{
    const double w = s->w[i / 3];
    const double x[2] = {s->r[i] - s->u[i] / w, s->r[i + 1] - s->u[i + 1] / w};
    if (spragNorm2(x) <= radius && radius > 0) {
        fixVelocity(s, i);
        fixVelocity(s, i + 1);
    } else if (radius > 0) {
        fixOnDisc(s, i, radius, gain, load);
    } else {
        fixImpulse(s, i, 0);
        fixImpulse(s, i + 1, 0);
    }
}

/* Row i: lo <= r_i <= hi. */
static void boxRow(Search *s, int i, double lo, double hi)
{
    const double x = s->r[i] - s->u[i] / s->w[i / 3];
    if (x <= lo)
        fixImpulse(s, i, lo);
    else if (x >= hi)
        fixImpulse(s, i, hi);
    else
        fixVelocity(s, i);
}

/* lo <= r_i <= hi with bounds gain r_load on both sides. */
static void spinRow(Search *s, int i, double gain, int load)
{
    const double limit = gain * fmax(0, s->r[load]);
    const double x = s->r[i] - s->u[i] / s->w[i / 3];
    if (fabs(x) < limit) {
        fixVelocity(s, i);
    } else {
        fixImpulse(s, i, x < 0 ? -limit : limit);
        rowOf(s, i)[load] -= x < 0 ? -gain : gain;
    }
}

static void blockRows(Search *s, int k)
{
    const spragProblem *p = s->problem;
    const int i = 3 * k;
    const double mu = p->mu[k], x_n = s->r[i] - s->u[i] / s->w[k];
    switch (kindOf(p, k)) {
    case SPRAG_BLOCK_CONTACT:
        if (x_n <= 0) {
            fixImpulse(s, i, 0);
            fixImpulse(s, i + 1, 0);
            fixImpulse(s, i + 2, 0);
        } else {
            fixVelocity(s, i);
            discRows(s, i + 1, mu * x_n, mu, i);
        }
        break;
    case SPRAG_BLOCK_TWO_SIDED: {
        const double gain = x_n > 0 ? mu : -muMinus(p, k);
        fixVelocity(s, i);
        discRows(s, i + 1, gain * x_n, gain, i);
        break;
    }
    case SPRAG_BLOCK_FORCE_LIMIT:
        boxRow(s, i, 0, INFINITY);
        discRows(s, i + 1, mu, 0, -1);
        break;
    case SPRAG_BLOCK_BOX:
        for (int a = 0; a < 3; ++a)
            boxRow(s, i + a, p->bound[6 * k + a], p->bound[6 * k + 3 + a]);
        break;
    case SPRAG_BLOCK_ROLLING: {
        const int load = 3 * p->parent[k];
        discRows(s, i, mu * fmax(0, s->r[load]), mu, load);
        spinRow(s, i + 2, muMinus(p, k), load);
        break;
    }
    }
}

static void velocity(const Search *s, const double *r, double *u)
{
    spragProblemVelocity(s->problem, r, u);
}

/* ---------------------------------------------------------------- the search */

/* One damped Newton round; returns the residual reached.  Full steps are right where the modes are; a step that makes
 * the residual much worse is halved, and the last halving is taken all the same, to get out of a cycle. */
static double searchRound(Search *s, double residual)
{
    for (int k = 0; k < s->problem->contact_count; ++k)
        blockRows(s, k);
    spragLuFactor(s->n, s->H, s->pivot, 0);
    spragLuSolve(s->n, s->H, s->pivot, s->step);
    double length = 1, reached = residual;
    for (int halving = 0; halving < 6; ++halving, length *= 0.5) {
        for (int i = 0; i < s->n; ++i)
            s->trial_r[i] = s->r[i] + length * s->step[i];
        velocity(s, s->trial_r, s->trial_u);
        reached = spragVelocityResidual(s->problem, s->trial_r, s->trial_u);
        if (reached < residual || (halving == 0 && reached < 2 * residual))
            break;
    }
    if (isfinite(reached)) {
        memcpy(s->r, s->trial_r, (size_t)s->n * sizeof(double));
        memcpy(s->u, s->trial_u, (size_t)s->n * sizeof(double));
    }
    return reached;
}

/* From s->r.  Leaves the best iterate in s->best_r, returns its residual.  After the tolerance is met one more round
 * takes the answer to rounding: a sticking contact must not creep at the speed of the tolerance. */
static double search(Search *s, double tolerance, int rounds, int *iterations)
{
    velocity(s, s->r, s->u);
    double residual = spragVelocityResidual(s->problem, s->r, s->u), best = residual;
    memcpy(s->best_r, s->r, (size_t)s->n * sizeof(double));
    int polish = 2;
    for (int round = 0; round < rounds && best > 0; ++round) {
        if (best <= tolerance && polish-- == 0)
            break;
        ++*iterations;
        residual = searchRound(s, residual);
        if (!isfinite(residual))
            break;
        if (residual < best) {
            best = residual;
            memcpy(s->best_r, s->r, (size_t)s->n * sizeof(double));
        } else if (best <= tolerance) {
            break;
        }
    }
    return best;
}

/* Small friction: with G = dw_n / dN of the loaded contacts, friction included for those that slip and tangential
 * velocities held for those that stick, every leading minor of G keeps the sign it has without friction (positive).
 * theory/policy.md 3.1 and 3.5: otherwise the branch is a separatrix. */
static int hasSmallFriction(Search *s, const double *r)
{
    const spragProblem *p = s->problem;
    velocity(s, r, s->trial_u);
    const double *u = s->trial_u;
    int sliding = 0;
    for (int k = 0; k < p->contact_count && !sliding; ++k)
        if (kindOf(p, k) <= SPRAG_BLOCK_TWO_SIDED && r[3 * k] != 0 && p->mu[k] > 0)
            sliding = spragNorm2(u + 3 * k + 1) > SPRAG_SLIP_TOLERANCE;
    if (!sliding)
        return 1;
    /* H = the equations at the solution; without friction the slip rows are r_t = 0.  Compare signs of det. */
    memcpy(s->r, r, (size_t)s->n * sizeof(double));
    memcpy(s->u, u, (size_t)s->n * sizeof(double));
    int sign[2];
    for (int friction = 0; friction < 2; ++friction) {
        for (int k = 0; k < p->contact_count; ++k) {
            blockRows(s, k);
            const int i = 3 * k;
            if (kindOf(p, k) > SPRAG_BLOCK_TWO_SIDED || r[i] == 0)
                continue;
            const double ut = spragNorm2(u + i + 1);
            if (ut <= SPRAG_SLIP_TOLERANCE)
                continue;
            for (int a = 1; a < 3; ++a) { /* r_t follows r_n along the slip direction, which is kept */
                fixImpulse(s, i + a, 0);
                const double gain = r[i] > 0 ? p->mu[k] : -muMinus(p, k);
                if (friction)
                    rowOf(s, i + a)[i] = gain * u[i + a] / ut;
            }
        }
        spragLuFactor(s->n, s->H, s->pivot, 0);
        sign[friction] = spragLuSign(s->n, s->H, s->pivot);
    }
    return sign[0] == sign[1];
}

/* ---------------------------------------------------------------- starts */

/* Contacts that slide towards a jam or a lift start where the policy ends. */
static void policyStart(const Search *s, spragIndeterminacy policy, double *r)
{
    const spragProblem *p = s->problem;
    if (p->history == NULL)
        return;
    for (int k = 0; k < p->contact_count; ++k) {
        if (kindOf(p, k) != SPRAG_BLOCK_CONTACT || p->mu[k] == 0)
            continue;
        const double *W = p->W + 9 * (size_t)spragProblemDiagonal(p, k);
        const spragIndicator indicator = spragIndicatorOf(W, p->mu[k], &p->history[k], policy);
        if (indicator.quadrant == SPRAG_QUADRANT_INDETERMINATE && indicator.lifts)
            r[3 * k] = r[3 * k + 1] = r[3 * k + 2] = 0;
        else if (indicator.quadrant >= SPRAG_QUADRANT_INDETERMINATE)
            r[3 * k] = fmax(r[3 * k], spragNorm2(p->history[k].slip) / s->w[k]);
    }
}

static int searchCreate(Search *s, const spragProblem *problem, spragArena *arena)
{
    const int nc = problem->contact_count, n = 3 * nc;
    s->problem = problem;
    s->n = n;
    s->W = SPRAG_TAKE(arena, double, (size_t)n *(size_t)n);
    s->H = SPRAG_TAKE(arena, double, (size_t)n *(size_t)n);
    s->w = SPRAG_TAKE(arena, double, nc);
    double *vectors = SPRAG_TAKE(arena, double, 6 * (size_t)n);
    s->pivot = SPRAG_TAKE(arena, int, n);
    if (s->W == NULL || s->H == NULL || s->w == NULL || vectors == NULL || s->pivot == NULL)
        return 0;
    double **const vector[] = {&s->step, &s->r, &s->u, &s->best_r, &s->trial_r, &s->trial_u};
    for (int k = 0; k < 6; ++k)
        *vector[k] = vectors + (size_t)k * (size_t)n;
    for (int k = 0; k < nc; ++k) {
        for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e)
            for (int a = 0; a < 3; ++a)
                memcpy(s->W + (size_t)(3 * k + a) * (size_t)n + 3 * (size_t)problem->column[e],
                       problem->W + 9 * (size_t)e + 3 * a, 3 * sizeof(double));
        const double *D = problem->W + 9 * (size_t)spragProblemDiagonal(problem, k);
        const double trace = D[0] + D[4] + D[8];
        s->w[k] = trace > 0 ? trace / 3 : 1;
    }
    return 1;
}

enum { START_GUESS, START_OPEN, START_PRESSED, START_COUNT };

static void startFrom(Search *s, int start, const double *guess, spragIndeterminacy policy)
{
    memset(s->r, 0, (size_t)s->n * sizeof(double));
    if (start == START_GUESS) {
        memcpy(s->r, guess, (size_t)s->n * sizeof(double));
        policyStart(s, policy, s->r);
    } else if (start == START_PRESSED) {
        for (int k = 0; k < s->problem->contact_count; ++k) {
            const double *q = s->problem->q + 3 * k;
            if (kindOf(s->problem, k) == SPRAG_BLOCK_CONTACT)
                s->r[3 * k] = spragNorm3(q) / s->w[k];
        }
    }
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    Search s;
    const size_t bytes = (size_t)(3 * problem->contact_count) * sizeof(double);
    double *kept = SPRAG_TAKE(arena, double, 3 * (size_t)problem->contact_count);
    if (kept == NULL || !searchCreate(&s, problem, arena))
        return SPRAG_ERROR_MEMORY;
    const int rounds = options->iteration_limit > 0 ? options->iteration_limit : 40;
    double kept_residual = INFINITY;
    int kept_good = 0;
    for (int start = START_GUESS; start < START_COUNT && !kept_good; ++start) {
        startFrom(&s, start, r, options->indeterminacy);
        const double residual = search(&s, options->tolerance, rounds, &info->iterations);
        const int solved = residual <= options->tolerance;
        if (solved || residual < kept_residual) {
            if (!(kept_residual <= options->tolerance) || solved) {
                memcpy(kept, s.best_r, bytes);
                kept_residual = residual;
            }
        }
        kept_good = solved && hasSmallFriction(&s, kept);
        if (solved && !kept_good)
            info->several = 1;
    }
    memcpy(r, kept, bytes);
    return kept_residual <= options->tolerance ? SPRAG_OK : SPRAG_NOT_CONVERGED;
}

const spragSolver spragSolverVariant = {SPRAG_SOLVER_VARIANT, "variant", solve};
