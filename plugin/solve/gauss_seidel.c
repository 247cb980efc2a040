/* Nonlinear block Gauss-Seidel (Jean and Moreau 1992; Jourdan, Alart, Jean 1998): contact after contact, each solved
 * exactly with the others held,
 *
 *     q_k = u_k - W_kk r_k,   u_k = q + sum_j W_kj r_j,   r_k <- the block's law at (W_kk, q_k),
 *
 * in the order given.  The judge's residual is taken only when the sweep's largest change, |dr_k| w_k, says that it can
 * pass.  Anderson's mixing of whole sweeps (anderson.h) takes 3 to 40 times fewer of them on towers, arches and piles; with a
 * window of 8 or 18, or with a looser safeguard, it is no faster or fails on p12 and p16.  Alternating forward and backward sweeps was tried: 1.2 to 4 times more sweeps on the arches, cards and piles. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/anderson.h"
#include "solve/sweep.h"
#include "solve/solver.h"

enum { SWEEP_LIMIT = 20000 };

static spragBlockKind kindOf(const spragProblem *problem, int k)
{
    return problem->kind != NULL ? (spragBlockKind)problem->kind[k] : SPRAG_BLOCK_CONTACT;
}

int spragSweeperInit(spragSweeper *sweeper, const spragProblem *problem, spragArena *arena)
{
    const int nc = problem->contact_count;
    *sweeper = (spragSweeper){.problem = problem,
                              .block = SPRAG_TAKE(arena, spragConeBlock, nc),
                              .diagonal = SPRAG_TAKE(arena, const double *, nc),
                              .w = SPRAG_TAKE(arena, double, nc)};
    if (sweeper->block == NULL || sweeper->diagonal == NULL || sweeper->w == NULL)
        return 0;
    for (int k = 0; k < nc; ++k) {
        const double *W = problem->W + 9 * (size_t)spragProblemDiagonal(problem, k);
        sweeper->diagonal[k] = W;
        sweeper->w[k] = (W[0] + W[4] + W[8]) / 3;
        spragConeBlockInit(&sweeper->block[k], W, problem->mu[k],
                           problem->mu_minus != NULL ? problem->mu_minus[k] : problem->mu[k]);
    }
    return 1;
}

static void blockSolve(spragSweeper *sweeper, int k, const double q[3], const double *r_all, double r[3])
{
    const spragProblem *problem = sweeper->problem;
    switch (kindOf(problem, k)) {
    case SPRAG_BLOCK_TWO_SIDED:
        spragConeBlockSolveTwoSided(&sweeper->block[k], q, r);
        break;
    case SPRAG_BLOCK_FORCE_LIMIT:
        spragDiscBlockSolve(sweeper->diagonal[k], q, 0, 0, INFINITY, problem->mu[k], r);
        break;
    case SPRAG_BLOCK_BOX:
        spragBoxBlockSolve(sweeper->diagonal[k], q, problem->bound + 6 * (size_t)k, problem->bound + 6 * (size_t)k + 3,
                           r);
        break;
    case SPRAG_BLOCK_ROLLING: {
        const double load = fmax(0, r_all[3 * problem->parent[k]]);
        const double spin = sweeper->block[k].mu_minus * load;
        spragDiscBlockSolve(sweeper->diagonal[k], q, 2, -spin, spin, problem->mu[k] * load, r);
        break;
    }
    default:
        spragConeBlockSolve(&sweeper->block[k], q, r);
    }
}

/* One visit of block k; returns |dr| w. */
static double visit(spragSweeper *sweeper, int k, double *r)
{
    const spragProblem *problem = sweeper->problem;
    const double *old = r + 3 * k, *W = sweeper->diagonal[k];
    double q[3] = {problem->q[3 * k], problem->q[3 * k + 1], problem->q[3 * k + 2]}, fresh[3];
    const int end = problem->row_start[k + 1];
    for (int e = problem->row_start[k]; e < end; ++e) {
        const double *block = problem->W + 9 * (size_t)e;
        if (block != W)
            spragMulAdd33(q, block, r + 3 * problem->column[e]);
    }
    blockSolve(sweeper, k, q, r, fresh);
    const double change[3] = {fresh[0] - old[0], fresh[1] - old[1], fresh[2] - old[2]};
    memcpy(r + 3 * k, fresh, sizeof fresh);
    return spragNorm3(change) * sweeper->w[k];
}

double spragSweep(spragSweeper *sweeper, double *r)
{
    const int nc = sweeper->problem->contact_count;
    double change = 0;
    for (int i = 0; i < nc; ++i)
        change = fmax(change, visit(sweeper, i, r));
    return change;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    spragSweeper sweeper;
    spragAnderson anderson;
    const double start = options->time_limit > 0 ? spragSeconds() : 0;
    const int limit = options->iteration_limit > 0 ? options->iteration_limit : SWEEP_LIMIT;
    const int n = 3 * problem->contact_count;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    spragStatus status = SPRAG_NOT_CONVERGED;
    double *x = SPRAG_TAKE(arena, double, n), *weight = SPRAG_TAKE(arena, double, n);
    if (x == NULL || weight == NULL || !spragSweeperInit(&sweeper, problem, arena) ||
        !spragAndersonInit(&anderson, n, weight, arena)) {
        spragArenaRelease(arena, mark);
        return SPRAG_ERROR_MEMORY;
    }
    for (int i = 0; i < n; ++i)
        weight[i] = sweeper.w[i / 3];
    memcpy(x, r, (size_t)n * sizeof *x);
    for (int k = 0; k < limit && status == SPRAG_NOT_CONVERGED; ++k) {
        memcpy(r, x, (size_t)n * sizeof *x);
        const double change = spragSweep(&sweeper, r);
        ++info->iterations;
        if (change <= options->tolerance && spragProblemResidual(problem, r) <= options->tolerance)
            status = SPRAG_OK;
        else if (options->time_limit > 0 && spragSeconds() - start > options->time_limit)
            status = SPRAG_LIMIT;
        else
            spragAndersonMix(&anderson, x, r);
    }
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverGaussSeidel = {SPRAG_SOLVER_GAUSS_SEIDEL, "gauss-seidel", solve};
