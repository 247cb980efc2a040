/* Sweeps and the traced path by turns: the last link of the chain.
 *
 * A path (trace.c) is as long as the wandering between its start and the solution it leads to, and that is luck: of a
 * pile of 1000 wedged spheres (p23), which has many solutions, paths have 90 to 300 steps, or more than 900, and a change
 * of q by rounding is another path.  Nor is the residual of a start a sign: sweeps go round the solutions between 4e-4
 * and 2e-3 m/s.  So no path is followed for long, and more sweeps are another start.  Of nine copies of
 * p23 that differ by 1e-12 eight take one to eight turns of some 6 s, the last is not solved in sixteen: its sweeps stay in
 * one region, and their paths are alike.  With paths of 900 steps as many turns are taken, of 15 s. */
#include <string.h>

#include "base/clock.h"
#include "problem/residual.h"
#include "solve/solver.h"

enum {
    TURNS = 16,
    SWEEPS_FIRST = 20000,
    SWEEPS_MORE = 10000,
    STEPS = 300 /* of a path */
};

/* 1: no time is left. */
static int isLate(const spragSolveOptions *options, double deadline, spragSolveOptions *left)
{
    *left = *options;
    if (options->time_limit > 0)
        left->time_limit = deadline - spragSeconds();
    return options->time_limit > 0 && left->time_limit <= 0;
}

/* guess (3 nc) becomes r where it is better. */
static double keep(const spragProblem *problem, const double *guess, double residual, double *r)
{
    const double reached = spragProblemResidual(problem, guess);
    if (!(reached < residual))
        return residual;
    memcpy(r, guess, 3 * (size_t)problem->contact_count * sizeof *r);
    return reached;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    const size_t n = 3 * (size_t)problem->contact_count;
    const double deadline = spragSeconds() + options->time_limit;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    double *swept = SPRAG_TAKE_RAW(arena, double, n), *guess = SPRAG_TAKE_RAW(arena, double, n);
    double residual = spragProblemResidual(problem, r);
    spragStatus status = swept != NULL && guess != NULL ? SPRAG_NOT_CONVERGED : SPRAG_ERROR_MEMORY;
    spragSolveOptions left;
    if (status == SPRAG_NOT_CONVERGED)
        memcpy(swept, r, n * sizeof *r);
    for (int turn = 0; turn < TURNS && status == SPRAG_NOT_CONVERGED; ++turn) {
        if (isLate(options, deadline, &left))
            break;
        left.iteration_limit = turn == 0 ? SWEEPS_FIRST : SWEEPS_MORE;
        status = spragSolverGaussSeidel.solve(problem, &left, arena, swept, info);
        residual = status == SPRAG_ERROR_MEMORY ? residual : keep(problem, swept, residual, r);
        if (status == SPRAG_LIMIT)
            status = SPRAG_NOT_CONVERGED;
        if (status != SPRAG_NOT_CONVERGED || isLate(options, deadline, &left))
            break;
        left.iteration_limit = STEPS;
        memcpy(guess, swept, n * sizeof *r);
        status = spragSolverTrace.solve(problem, &left, arena, guess, info);
        residual = status == SPRAG_ERROR_MEMORY ? residual : keep(problem, guess, residual, r);
        if (status == SPRAG_LIMIT)
            status = SPRAG_NOT_CONVERGED;
    }
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverTurns = {SPRAG_SOLVER_NEWTON, "newton", solve};
