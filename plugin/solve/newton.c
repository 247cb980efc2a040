/* Semismooth Newton with a proximal term, for hard and hyperstatic systems.
 *
 * Alart and Curnier (1991) write the law of block k as F_k = 0 with x = r - u / w_k, w_k = trace(W_kk) / 3:
 *
 *     CONTACT   F_n = w (r_n - max(0, x_n)),   F_t = w (r_t - P_R(x_t)),   R = mu max(0, x_n),
 *
 * P_R the projection on the disc of radius R; the other kinds likewise with their own sets.  With dF_k = A_k dr_k +
 * B_k du_k and du = W dr a Newton step solves (A + B W) dr = -F.
 *
 * W is singular where contacts outnumber freedoms (a box on four corners), so Newton works on proximal problems,
 * u = W r + q + lambda w (r - center), matrix A + B (W + lambda w); the solution is the next center (Rockafellar 1976).
 * lambda falls while they are easy and rises where full Newton steps do not solve one.
 *
 * Tried and dropped: a line search on |F|^2 (ends in steps of 1/32 on the box piles; full steps solve the same proximal
 * problems in 3 to 8); Gauss-Seidel sweeps after a failed step (undo what the proximal points gained).
 *
 * Where that does not end soon and all blocks are contacts, the interior-point iteration (interior.c) goes first: it does
 * not mind degenerate sets of solutions, and its iterate is polished here. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/block_lu.h"
#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/interior.h"
#include "solve/solver.h"
#include "solve/sweep.h"

enum { NEWTON_LIMIT = 2000, SWEEP_FIRST = 40, STEPS_FIRST = 30, INNER_MAX = 12, INNER_EASY = 4 };
#define LAMBDA_FIRST 1e-2
#define LAMBDA_LEAST 1e-12
#define LAMBDA_MOST 1.0
#define INNER_SHARE 0.01 /* a proximal problem counts as solved at this part of its own displacement, squared */
#define DIVERGED 1e4     /* growth of |F|^2 that ends an attempt */

typedef struct Newton {
    const spragProblem *problem;
    spragSweeper sweeper;
    spragBlockLu lu;
    double *matrix; /* (nb x 3 x 3) A + B (W + lambda w) */
    double *F, *u;  /* (3 nc) of the proximal problem */
    double *step;   /* (3 nc) */
    double *center; /* (3 nc) proximal center */
    double lambda;  /* its weight relative to w */
    double *best;   /* (3 nc) least residual so far */
    double *swept;  /* (3 nc) after the first sweeps */
    double best_residual;
} Newton;

/* F (3), and where A != NULL dF = A dr + B du of block k. */
typedef struct Law {
    double F[3], A[9], B[9];
} Law;

/* Rows a, a+1: F = w (r - P_R(x)), R fixed. */
static void discLaw(Law *law, int a, double radius, const double *r, const double *u, double w, double direction[2],
                    double *inside)
{
    const double x[2] = {r[a] - u[a] / w, r[a + 1] - u[a + 1] / w};
    const double size = spragNorm2(x);
    direction[0] = direction[1] = 0;
    if (size <= radius) {
        for (int i = 0; i < 2; ++i) {
            law->F[a + i] = u[a + i];
            law->B[4 * (a + i)] = 1;
        }
        *inside = 1;
        return;
    }
    *inside = 0;
    const double e[2] = {x[0] / size, x[1] / size}, ratio = radius / size;
    for (int i = 0; i < 2; ++i) {
        direction[i] = e[i];
        law->F[a + i] = w * (r[a + i] - radius * e[i]);
        for (int j = 0; j < 2; ++j) {
            const double across = ratio * ((i == j) - e[i] * e[j]);
            law->A[3 * (a + i) + a + j] = w * ((i == j) - across);
            law->B[3 * (a + i) + a + j] = across;
        }
    }
}

/* Row i: F = w (r - clamp(x)) */
static void lineLaw(Law *law, int i, double lo, double hi, const double *r, const double *u, double w)
{
    const double x = r[i] - u[i] / w;
    if (x >= lo && x <= hi && lo < hi) {
        law->F[i] = u[i];
        law->B[4 * i] = 1;
    } else {
        law->F[i] = w * (r[i] - (x < lo ? lo : hi));
        law->A[4 * i] = w;
    }
}

static void contactLaw(Law *law, double mu, const double *r, const double *u, double w)
{
    const double x_n = r[0] - u[0] / w;
    if (x_n <= 0) {
        for (int i = 0; i < 3; ++i)
            law->F[i] = w * r[i], law->A[4 * i] = w;
        return;
    }
    double e[2], inside;
    law->F[0] = u[0], law->B[0] = 1;
    discLaw(law, 1, mu * x_n, r, u, w, e, &inside);
    for (int i = 0; i < 2; ++i) { /* the disc grows with x_n = r_n - u_n / w */
        law->A[3 * (1 + i)] = -w * mu * e[i];
        law->B[3 * (1 + i)] = mu * e[i];
    }
}

static void twoSidedLaw(Law *law, double mu, const double *r, const double *u, double w)
{
    const double side = r[0] < 0 ? -1 : 1;
    double e[2], inside;
    law->F[0] = u[0], law->B[0] = 1;
    discLaw(law, 1, mu * fabs(r[0]), r, u, w, e, &inside);
    for (int i = 0; i < 2; ++i)
        law->A[3 * (1 + i)] = -w * mu * side * e[i];
}

static void blockLaw(const Newton *newton, int k, const double *r_all, const double *u, Law *law)
{
    const spragProblem *problem = newton->problem;
    const double *r = r_all + 3 * k, w = newton->sweeper.w[k], mu = problem->mu[k];
    const double mu_minus = problem->mu_minus != NULL ? problem->mu_minus[k] : mu;
    double e[2], inside;
    memset(law, 0, sizeof *law);
    switch (problem->kind != NULL ? (spragBlockKind)problem->kind[k] : SPRAG_BLOCK_CONTACT) {
    case SPRAG_BLOCK_TWO_SIDED:
        twoSidedLaw(law, r[0] > 0 ? mu : mu_minus, r, u, w);
        break;
    case SPRAG_BLOCK_FORCE_LIMIT:
        lineLaw(law, 0, 0, INFINITY, r, u, w);
        discLaw(law, 1, mu, r, u, w, e, &inside);
        break;
    case SPRAG_BLOCK_BOX:
        for (int i = 0; i < 3; ++i)
            lineLaw(law, i, problem->bound[6 * k + i], problem->bound[6 * k + 3 + i], r, u, w);
        break;
    case SPRAG_BLOCK_ROLLING: { /* the dependence of the limits on the parent is left to the next iterate */
        const double load = fmax(0, r_all[3 * problem->parent[k]]);
        discLaw(law, 0, mu * load, r, u, w, e, &inside);
        lineLaw(law, 2, -mu_minus * load, mu_minus * load, r, u, w);
        break;
    }
    default:
        contactLaw(law, mu, r, u, w);
    }
}

/* u and F of the proximal problem at r; returns |F|^2. */
static double evaluate(Newton *newton, const double *r)
{
    double sum = 0;
    Law law;
    spragProblemVelocity(newton->problem, r, newton->u);
    for (int k = 0; k < newton->problem->contact_count; ++k) {
        const double soft = newton->lambda * newton->sweeper.w[k];
        for (int i = 3 * k; i < 3 * k + 3; ++i)
            newton->u[i] += soft * (r[i] - newton->center[i]);
        blockLaw(newton, k, r, newton->u + 3 * k, &law);
        memcpy(newton->F + 3 * k, law.F, sizeof law.F);
        sum += spragDot3(law.F, law.F);
    }
    return sum;
}

/* matrix = A + B (W + lambda w) */
static void assemble(Newton *newton, const double *r)
{
    const spragProblem *problem = newton->problem;
    Law law;
    for (int k = 0; k < problem->contact_count; ++k) {
        blockLaw(newton, k, r, newton->u + 3 * k, &law);
        const double soft = newton->lambda * newton->sweeper.w[k];
        for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e) {
            const double *W = problem->W + 9 * (size_t)e;
            double *M = newton->matrix + 9 * (size_t)e;
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    M[3 * i + j] = law.B[3 * i] * W[j] + law.B[3 * i + 1] * W[3 + j] + law.B[3 * i + 2] * W[6 + j];
            if (problem->column[e] == k)
                for (int i = 0; i < 9; ++i)
                    M[i] += law.A[i] + soft * law.B[i];
        }
    }
}

static int newtonInit(Newton *newton, const spragProblem *problem, spragArena *arena)
{
    const size_t n = 3 * (size_t)problem->contact_count;
    *newton = (Newton){.problem = problem,
                       .matrix = SPRAG_TAKE(arena, double, 9 * (size_t)problem->block_count),
                       .F = SPRAG_TAKE(arena, double, n),
                       .u = SPRAG_TAKE(arena, double, n),
                       .step = SPRAG_TAKE(arena, double, n),
                       .center = SPRAG_TAKE(arena, double, n),
                       .best = SPRAG_TAKE(arena, double, n),
                       .swept = SPRAG_TAKE(arena, double, n)};
    return newton->matrix != NULL && newton->F != NULL && newton->u != NULL && newton->step != NULL &&
           newton->center != NULL && newton->best != NULL && newton->swept != NULL &&
           spragSweeperInit(&newton->sweeper, problem, arena) &&
           spragBlockLuAnalyse(&newton->lu, problem->contact_count, problem->row_start, problem->column, arena);
}

/* One full step for the present proximal problem.  Returns |F|^2 after it; infinity where the matrix is singular. */
static double newtonStep(Newton *newton, double *r)
{
    const int n = 3 * newton->problem->contact_count;
    assemble(newton, r);
    if (!spragBlockLuFactor(&newton->lu, newton->matrix))
        return INFINITY;
    for (int i = 0; i < n; ++i)
        newton->step[i] = -newton->F[i];
    spragBlockLuSolve(&newton->lu, newton->step);
    for (int i = 0; i < n; ++i)
        r[i] += newton->step[i];
    return evaluate(newton, r);
}

/* |lambda w (r - center)|^2: what solving the proximal problem exactly would leave of F. */
static double proximalDistance(const Newton *newton, const double *r)
{
    double sum = 0;
    for (int i = 0; i < 3 * newton->problem->contact_count; ++i) {
        const double soft = newton->lambda * newton->sweeper.w[i / 3] * (r[i] - newton->center[i]);
        sum += soft * soft;
    }
    return sum;
}

/* Proximal points from r until the residual is at most the tolerance or `limit` Newton steps are spent.  A proximal
 * problem that INNER_MAX full steps do not solve gets a larger lambda; one that is solved at once a smaller one. */
static spragStatus proximalPoint(Newton *newton, const spragSolveOptions *options, double deadline, int limit,
                                 double *r, spragSolveInfo *info)
{
    const size_t bytes = 3 * (size_t)newton->problem->contact_count * sizeof *r;
    newton->lambda = LAMBDA_FIRST;
    for (int count = 0;;) {
        const double residual = spragProblemResidual(newton->problem, r);
        if (residual < newton->best_residual) {
            newton->best_residual = residual;
            memcpy(newton->best, r, bytes);
        }
        if (residual <= options->tolerance)
            return SPRAG_OK;
        if (deadline > 0 && spragSeconds() > deadline)
            return SPRAG_LIMIT;
        if (count >= limit)
            return SPRAG_NOT_CONVERGED;
        memcpy(newton->center, r, bytes);
        const double first = evaluate(newton, r);
        int inner = 0, solved = 0;
        while (inner < INNER_MAX && !solved) {
            const double merit = newtonStep(newton, r);
            ++inner;
            if (!(merit < DIVERGED * first))
                break;
            solved = merit <= INNER_SHARE * proximalDistance(newton, r) || merit <= 1e-30 * first;
        }
        count += inner;
        info->iterations += inner;
        if (!solved) {
            memcpy(r, newton->center, bytes);
            newton->lambda = fmin(4 * newton->lambda, LAMBDA_MOST);
        } else if (inner <= INNER_EASY) {
            newton->lambda = fmax(0.3 * newton->lambda, LAMBDA_LEAST);
        }
    }
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    Newton newton;
    const double deadline = options->time_limit > 0 ? spragSeconds() + options->time_limit : 0;
    const int limit = options->iteration_limit > 0 ? options->iteration_limit : NEWTON_LIMIT;
    const size_t bytes = 3 * (size_t)problem->contact_count * sizeof *r;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    if (!newtonInit(&newton, problem, arena)) {
        spragArenaRelease(arena, mark);
        return SPRAG_ERROR_MEMORY;
    }
    newton.best_residual = spragProblemResidual(problem, r);
    memcpy(newton.best, r, bytes);
    for (int k = 0; k < SWEEP_FIRST; ++k)
        spragSweep(&newton.sweeper, r);
    memcpy(newton.swept, r, bytes);
    const int interior = spragInteriorApplies(problem);
    spragStatus status = proximalPoint(&newton, options, deadline, interior ? STEPS_FIRST : limit, r, info);
    if (status == SPRAG_NOT_CONVERGED && interior) {
        memcpy(r, newton.swept, bytes); /* the proximal points lead it astray where mu is large */
        const int steps =
            spragInteriorSolve(problem, options->tolerance, deadline, &newton.lu, newton.matrix, arena, r);
        info->iterations += steps > 0 ? steps : 0;
        status = proximalPoint(&newton, options, deadline, limit, r, info);
    }
    memcpy(r, newton.best, bytes);
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverNewton = {SPRAG_SOLVER_NEWTON, "newton", solve};
