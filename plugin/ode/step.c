/* The step, in order: look at the world, find its islands, write the contact problem of each, solve it, hand the
 * forces to ODE, let ODE step, say what happened.  Nothing in the world changes before spragPark; every error before
 * it leaves the world as it was. */
#include "ode/step.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "ode/articulation.h"
#include "ode/assemble.h"
#include "ode/island.h"
#include "ode/judge.h"
#include "ode/ledger.h"
#include "ode/park.h"
#include "ode/release.h"
#include "ode/report.h"
#include "ode/snapshot.h"
#include "solve/solver.h"

/* A step does not wait for the last digit of a large pile that is still falling: 3x3 products. */
#define WORK_LEAST 2e6
#define WORK_PER_BLOCK 1e3

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Time since the last call goes to the stage. */
static void endStage(struct spragWorld *world, int stage, long long *since)
{
    const long long t = now();
    world->info.nanoseconds[stage] = t - *since;
    *since = t;
}

static spragStatus stepOde(struct spragWorld *world, double step)
{
    const int ok = world->config.stepper == SPRAG_STEPPER_QUICKSTEP ? dWorldQuickStep(world->world, (dReal)step)
                                                                    : dWorldStep(world->world, (dReal)step);
    return ok ? SPRAG_OK : spragFail(SPRAG_ERROR_MEMORY, "ODE had no memory for its step");
}

static spragStatus assemble(struct spragWorld *world)
{
    spragSnapshot *s = &world->snapshot;
    spragPointerMap surfaces;
    spragStatus status = spragLedgerFindSurfaces(world, &surfaces);
    for (int k = 0; status == SPRAG_OK && k < s->island_count; ++k)
        status = spragAssemble(world, &surfaces, &s->island[k]);
    return status;
}

/* The best answer is used even where it misses the tolerance, as long as it is finite: ODE's own would be worse.  Only
 * what has no answer is left to ODE. */
static void solve(struct spragWorld *world, spragIsland *island, double seconds_left)
{
    const spragConfig *config = &world->config;
    const spragSolveOptions options = {.solver = config->solver,
                                       .tolerance = config->tolerance,
                                       .iteration_limit = config->iteration_limit,
                                       .time_limit = seconds_left,
                                       .thread_count = config->thread_count,
                                       .indeterminacy = config->indeterminacy,
                                       .work_limit = WORK_LEAST + WORK_PER_BLOCK * island->problem.block_count};
    spragStatus status;
    int rounds = 0;
    do
        status = spragChainSolve(&island->problem, &options, &world->arena, island->r, island->u, &island->solve);
    while (spragRelease(island, ++rounds));
    if (status != SPRAG_OK && status != SPRAG_NOT_CONVERGED && status != SPRAG_LIMIT)
        island->declined = spragStatusText(status);
    for (int i = 0; i < 3 * island->block_count; ++i)
        if (!isfinite(island->r[i]) || !isfinite(island->u[i]))
            island->declined = "no finite solution was found";
    if (island->declined == NULL && !spragArticulationsSolve(world, island))
        island->declined = "no memory for the forces of its joints";
}

static void count(spragStepInfo *info, const spragIsland *island)
{
    info->joints += island->joint_count - island->contact_count;
    info->contacts += island->contact_count;
    if (island->declined != NULL) {
        ++info->declined;
        return;
    }
    ++info->solved[island->solve.solver];
    info->iterations += island->solve.iterations;
    info->fallbacks += island->solve.fallback;
    info->residual = fmax(info->residual, island->solve.residual);
}

static void solveAll(struct spragWorld *world)
{
    spragSnapshot *s = &world->snapshot;
    const long long start = now();
    world->info.islands = s->island_count;
    for (int k = 0; k < s->island_count; ++k) {
        spragIsland *island = &s->island[k];
        const double limit = world->config.time_limit;
        if (island->declined == NULL)
            solve(world, island, limit > 0 ? fmax(limit - 1e-9 * (double)(now() - start), 1e-9) : 0);
        count(&world->info, island);
    }
}

/* The world seen and written down: the contact problem of every island. */
static spragStatus look(struct spragWorld *world, double step, long long *since)
{
    spragArenaReset(&world->arena);
    spragStatus status = spragSnapshotTake(world, step);
    if (status != SPRAG_OK)
        return status;
    endStage(world, SPRAG_STAGE_LEDGER, since);
    if ((status = spragIslandsFind(&world->arena, &world->snapshot)) != SPRAG_OK ||
        (status = spragLedgerMatch(world)) != SPRAG_OK)
        return status;
    endStage(world, SPRAG_STAGE_ISLANDS, since);
    if ((status = assemble(world)) != SPRAG_OK)
        return status;
    endStage(world, SPRAG_STAGE_ASSEMBLE, since);
    return SPRAG_OK;
}

/* Everything that may fail. */
static spragStatus prepare(struct spragWorld *world, double step, long long *since)
{
    spragStatus status = look(world, step, since);
    if (status != SPRAG_OK)
        return status;
    solveAll(world);
    endStage(world, SPRAG_STAGE_SOLVE, since);
    return spragReportPrepare(world);
}

/* ODE solves and steps all; with SPRAG_ANALYSIS_JUDGE its answer is judged on the way. */
static spragStatus stepStock(struct spragWorld *world, double step, long long *since)
{
    const int judged = world->config.analysis == SPRAG_ANALYSIS_JUDGE;
    spragStatus status = judged ? look(world, step, since) : SPRAG_OK;
    if (judged && status == SPRAG_OK)
        status = spragJudgePrepare(world);
    if (status != SPRAG_OK)
        return status;
    endStage(world, SPRAG_STAGE_APPLY, since);
    status = stepOde(world, step);
    endStage(world, SPRAG_STAGE_ODE, since);
    if (judged)
        spragJudgeStock(world);
    world->snapshot = (spragSnapshot){.step = step}; /* nothing is known of contacts at the next step */
    world->memory_count = world->load_count = 0;
    return status;
}

static spragStatus stepSprag(struct spragWorld *world, double step, long long *since)
{
    spragStatus status = prepare(world, step, since);
    if (status != SPRAG_OK)
        return status;
    spragPark(world);
    endStage(world, SPRAG_STAGE_APPLY, since);
    status = stepOde(world, step);
    spragUnpark(world, status == SPRAG_OK);
    spragLedgerMark(world);
    endStage(world, SPRAG_STAGE_ODE, since);
    return status;
}

spragStatus spragStep(struct spragWorld *world, double step)
{
    const spragStepInfo before = world->info;
    world->info = (spragStepInfo){.step = before.step, .time = before.time};
    long long since = now();
    const spragStatus status =
        world->config.solver == SPRAG_SOLVER_STOCK ? stepStock(world, step, &since) : stepSprag(world, step, &since);
    if (status != SPRAG_OK) {
        world->info = before;
        world->snapshot = (spragSnapshot){0};
        return status;
    }
    world->info.time = before.time + step; /* of events and of the next step */
    spragReport(world);
    endStage(world, SPRAG_STAGE_REPORT, &since);
    ++world->info.step;
    for (int i = 0; world->callback != NULL && i < world->log.count; ++i)
        world->callback(&world->log.event[i], world->callback_user);
    return SPRAG_OK;
}
