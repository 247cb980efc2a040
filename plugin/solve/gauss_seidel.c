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

enum {
    SWEEP_LIMIT = 20000,
    SWEEP_PAYS_LIMIT = 400,
    THREADS_PAY = 1000, /* blocks */
    LOOK = 8,           /* sweeps between two looks at the residual */
    PATIENT = 24        /* sweeps in which it must fall to HALF, or in half of those done so far */
};
#define HALF 0.5

/* Sweeps from r until the residual is at most the tolerance, the limit or the deadline is reached or, where only what
 * pays is wanted, the residual falls no more.  r: the best iterate seen. */
static spragStatus run(spragSweeper *sweeper, spragAnderson *anderson, const spragSolveOptions *options, int limit,
                       int while_it_pays, double *x, double *best, double *r, int *iterations)
{
    const spragProblem *problem = sweeper->problem;
    const size_t bytes = 3 * (size_t)problem->contact_count * sizeof *r;
    const double deadline = options->time_limit > 0 ? spragSeconds() + options->time_limit : INFINITY;
    double least = INFINITY, mark = INFINITY;
    spragStatus status = SPRAG_NOT_CONVERGED;
    memcpy(x, r, bytes);
    for (int k = 1, marked = 0; k <= limit && status == SPRAG_NOT_CONVERGED; ++k) {
        memcpy(r, x, bytes);
        const double change = spragSweep(sweeper, r);
        ++*iterations;
        const int late = deadline < INFINITY && spragSeconds() > deadline;
        if (change <= options->tolerance || k % LOOK == 0 || k == limit || late) {
            const double residual = spragProblemResidual(problem, r);
            if (residual < least) {
                least = residual;
                memcpy(best, r, bytes);
            }
            if (residual < HALF * mark)
                mark = residual, marked = k;
            if (residual <= options->tolerance)
                status = SPRAG_OK;
            else if (late)
                status = SPRAG_LIMIT;
            else if (while_it_pays && k - marked > PATIENT && k - marked > k / 2)
                break;
        }
        spragAndersonMix(anderson, x, r);
    }
    if (least < INFINITY)
        memcpy(r, best, bytes);
    return status;
}

static spragStatus start(const spragProblem *problem, const spragSolveOptions *options, int limit, int while_it_pays,
                         spragArena *arena, double *r, spragSolveInfo *info)
{
    spragSweeper sweeper;
    spragAnderson anderson;
    const int n = 3 * problem->contact_count;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    double *x = SPRAG_TAKE(arena, double, n), *best = SPRAG_TAKE(arena, double, n);
    double *weight = SPRAG_TAKE(arena, double, n);
    spragStatus status = SPRAG_ERROR_MEMORY;
    spragPool pool;
    spragPoolStart(&pool, problem->contact_count >= THREADS_PAY ? options->thread_count : 1);
    spragPool *threads = pool.count > 1 ? &pool : NULL;
    if (x != NULL && best != NULL && weight != NULL && spragSweeperInit(&sweeper, problem, threads, arena) &&
        spragAndersonInit(&anderson, n, weight, threads, arena)) {
        for (int i = 0; i < n; ++i)
            weight[i] = sweeper.w[i / 3];
        if (options->iteration_limit > 0)
            limit = options->iteration_limit;
        status = run(&sweeper, &anderson, options, limit, while_it_pays, x, best, r, &info->iterations);
    }
    spragPoolEnd(&pool);
    spragArenaRelease(arena, mark);
    return status;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    return start(problem, options, SWEEP_LIMIT, 0, arena, r, info);
}

static spragStatus solveWhileItPays(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                                    double *r, spragSolveInfo *info)
{
    return start(problem, options, SWEEP_PAYS_LIMIT, 1, arena, r, info);
}

const spragSolver spragSolverGaussSeidel = {SPRAG_SOLVER_GAUSS_SEIDEL, "gauss-seidel", solve};
const spragSolver spragSolverSweeps = {SPRAG_SOLVER_GAUSS_SEIDEL, "gauss-seidel", solveWhileItPays};
