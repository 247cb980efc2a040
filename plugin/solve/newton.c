/* Newton for hard and hyperstatic systems: sweeps, then proximal points (solve/proximal.h).
 *
 * lambda falls while the proximal problems are easy and rises where full Newton steps do not solve one.
 *
 * Tried and dropped: a line search on |F|^2 (ends in steps of 1/32 on the box piles; full steps solve the same proximal
 * problems in 3 to 8); Gauss-Seidel sweeps after a failed step (undo what the proximal points gained).
 *
 * Where that does not end soon and all blocks are contacts, the interior-point iteration (interior.c) goes first: it does
 * not mind degenerate sets of solutions, and its iterate is polished here. */
#include <string.h>

#include "base/clock.h"
#include "solve/interior.h"
#include "solve/proximal.h"
#include "solve/solver.h"
#include "solve/sweep.h"

enum { NEWTON_LIMIT = 6000, SWEEP_FIRST = 40, STEPS_FIRST = 30, STEPS_WARM = 4 };
#define LAMBDA_FIRST 1e-2

/* A guess without impulses says nothing. */
static int isWarm(const spragProblem *problem, const double *r)
{
    for (int i = 0; i < 3 * problem->contact_count; ++i)
        if (r[i] != 0)
            return 1;
    return 0;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    spragProximal newton;
    spragSweeper sweeper;
    const double deadline = options->time_limit > 0 ? spragSeconds() + options->time_limit : 0;
    const int limit = options->iteration_limit > 0 ? options->iteration_limit : NEWTON_LIMIT;
    const size_t bytes = 3 * (size_t)problem->contact_count * sizeof *r;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    double *swept = SPRAG_TAKE(arena, double, 3 * (size_t)problem->contact_count);
    if (swept == NULL || !spragProximalInit(&newton, problem, arena) || !spragSweeperInit(&sweeper, problem, arena)) {
        spragArenaRelease(arena, mark);
        return SPRAG_ERROR_MEMORY;
    }
    spragProximalReset(&newton, r);
    if (isWarm(problem, r) && spragProximalPoints(&newton, SPRAG_LAMBDA_WARM, options->tolerance, deadline, STEPS_WARM,
                                                  r, &info->iterations) == SPRAG_OK) {
        spragProximalPolish(&newton, options->tolerance, newton.best_residual, r, &info->iterations);
        spragArenaRelease(arena, mark);
        return SPRAG_OK;
    }
    memcpy(r, newton.best, bytes);
    for (int k = 0; k < SWEEP_FIRST; ++k)
        spragSweep(&sweeper, r);
    memcpy(swept, r, bytes);
    const int interior = spragInteriorApplies(problem);
    spragStatus status = spragProximalPoints(&newton, LAMBDA_FIRST, options->tolerance, deadline,
                                             interior ? STEPS_FIRST : limit, r, &info->iterations);
    if (status == SPRAG_NOT_CONVERGED && interior) {
        memcpy(r, swept, bytes); /* the proximal points lead it astray where mu is large */
        const int steps =
            spragInteriorSolve(problem, options->tolerance, deadline, &newton.lu, newton.matrix, arena, r);
        info->iterations += steps > 0 ? steps : 0;
        newton.factored = 0;
        status = spragProximalPoints(&newton, LAMBDA_FIRST, options->tolerance, deadline, limit, r, &info->iterations);
    }
    memcpy(r, newton.best, bytes);
    if (status == SPRAG_OK)
        spragProximalPolish(&newton, options->tolerance, newton.best_residual, r, &info->iterations);
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverNewton = {SPRAG_SOLVER_NEWTON, "newton", solve};
