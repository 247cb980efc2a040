/* The step, as a table of contents (docs/architecture.md, One step, has what each part writes):
 *
 *     stepAll
 *         stepSprag               (stepStock where ODE solves all)
 *             prepare             all that may fail:
 *                 look            bodies and joints (spragSnapshotTake), points that the collider does not name
 *                                 (spragManifoldKeep), contacts that go on (spragLedgerMatch) and islands, and their
 *                                 problems, written and solved (spragIslandsWork)
 *             spragPark           forces to ODE, the first change to the user's world: an error before it leaves it
 *                                 as it was
 *             stepParked          ODE's step, and joints as they were
 *             spragReportRecords  contacts, for the next step and the user
 *         spragReport             events
 *         noteStep                what the next step goes by
 */
#include "ode/step/step.h"

#include <math.h>

#include "base/clock.h"
#include "base/status.h"
#include "ode/islands/batches.h"
#include "ode/islands/rescue.h"
#include "ode/joints/bearing.h"
#include "ode/ledger/hindsight.h"
#include "ode/ledger/ledger.h"
#include "ode/look/island.h"
#include "ode/look/manifold.h"
#include "ode/look/snapshot.h"
#include "ode/look/stray.h"
#include "ode/step/judge.h"
#include "ode/step/park.h"
#include "ode/step/report.h"
#include "ode/world/lanes.h"
#include "ode/world/layout.h"

/* Other threads help if the last step had at least as many joints: with fewer, their part of the work, less than a
 * millisecond, does not pay for waking them. */
enum { JOINTS_SHARED = 500 };

/* Is the next step made by one thread alone?  Never under a time limit. */
static int isAlone(const struct spragWorld *world)
{
    return !(world->config.time_limit > 0) && spragThreadChoiceIsAlone(&world->thread_choice);
}

/* Counts the time since the last call as this stage's. */
static void endStage(struct spragWorld *world, int stage, double *since)
{
    const double t = spragSeconds();
    world->info.nanoseconds[stage] = (long long)(1e9 * (t - *since));
    *since = t;
}

/* Asks the world's own threads for as many jobs as any step may have.  ODE makes room for more in the step that first
 * needs them, and there aborts, or loses jobs, if a thread has not yet given back those of the last step, for which no
 * step waits (DoPreallocateJobInfos).  Under Sprag steps of one thread (park.h) come before others, and one world in
 * some 20 000 aborted so. */
static void makeRoomForJobs(const struct spragWorld *world)
{
    dThreadingImplementationID own;
    const dThreadingFunctionsInfo *const functions = spragLayoutThreading(world->world, &own);
    if (functions == NULL)
        return;
    const ddependencycount_t threads = 1 + functions->retrieve_thread_count(own);
    const ddependencycount_t each = 3 * threads + 8; /* dWorldQuickStep's for one island; dWorldStep: 2 threads + 4 */
    functions->preallocate_resources_for_calls(own, 1 + threads * (each + 1));
}

static spragStatus stepOde(struct spragWorld *world, double step)
{
    const int quick = world->config.stepper == SPRAG_STEPPER_QUICKSTEP || world->info.quick;
    makeRoomForJobs(world);
    spragFloatsGive(&world->floats);
    const int ok = quick ? dWorldQuickStep(world->world, (dReal)step) : dWorldStep(world->world, (dReal)step);
    world->floats = spragFloatsTake();
    return ok ? SPRAG_OK : spragFail(SPRAG_ERROR_MEMORY, "ODE had no memory for its step");
}

/* Adds an island to the step's info.  One without an answer is left to ODE.  dWorldStep would take hours for a large
 * one, so the whole step is dWorldQuickStep's then (info->quick).  Islands that Sprag has solved, whose joints are
 * parked, move alike in both. */
static void count(spragStepInfo *info, spragStepper stepper, const spragIsland *island)
{
    info->joints += island->joint_count - island->contact_count;
    info->contacts += island->contact_count;
    if (island->declined != NULL) {
        ++info->declined;
        info->quick |= stepper == SPRAG_STEPPER_STEP && island->failed && island->joint_count >= SPRAG_RESCUE_LEAST;
        return;
    }
    ++info->solved[island->solve.solver];
    info->iterations += island->solve.iterations + (island->lone == NULL ? island->asked : 0);
    info->fallbacks += island->solve.fallback;
    info->rescued += island->lone == NULL && island->rescued != NULL;
    info->residual = fmax(info->residual, island->solve.residual);
    if (island->lone == NULL && island->wedge.speed > 0) {
        ++info->wedged;
        info->residual_rigid = fmax(info->residual_rigid, island->wedge.rigid);
    }
}

/* 1: its contacts' records will tell the next step something that few do (hindsight.h). */
static int isForewarned(const spragIsland *island)
{
    return island->lone == NULL && (island->next.step_haste > 0 || island->next.accord != 0);
}

static void countAll(struct spragWorld *world)
{
    world->info.islands = world->snapshot.island_count;
    world->forewarned = 0;
    for (int k = 0; k < world->snapshot.island_count; ++k) {
        count(&world->info, world->config.stepper, &world->snapshot.island[k]);
        world->forewarned += isForewarned(&world->snapshot.island[k]);
    }
}

static spragStatus findIslands(spragWorldID world)
{
    spragStraysFind(world);
    return spragIslandsFind(&world->arena, &world->snapshot);
}

/* Forgets all of the last step (spragConfig.forgetful).  Where several motions obey the laws, as when a box that turns
 * shares its load among four corners, the last step decides which one is found; and the last digits always depend on
 * it. */
static void forget(struct spragWorld *world)
{
    world->pace = (spragPace){0};
    world->memory_count = world->named_count = world->load_count = world->doubt = world->forewarned = 0;
    world->memo.size = 0;
}

/* Parts what is remembered from what the program has destroyed since.  0: no memory. */
static int forgetGone(struct spragWorld *world)
{
    spragGone gone;
    if (!spragGoneRead(&world->gone, &world->arena, &gone))
        return 0;
    if (gone.count > 0) {
        spragLedgerForget(world, &gone);
        spragManifoldForget(world, &gone);
        spragStaticsForget(&world->statics, &gone);
        spragBearingsForget(world, &gone);
    }
    return 1;
}

/* Looks at the world and writes the contact problem of every island, and if asked solves it. */
static spragStatus look(struct spragWorld *world, double step, spragIslandsWanted wanted, double *since)
{
    spragArenaReset(&world->arena);
    if (world->config.forgetful)
        forget(world);
    if (!forgetGone(world))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for what is gone");
    spragStatus status = spragLanesMake(world);
    world->island_pool = isAlone(world) ? NULL : world->pool;
    world->loop_pool = world->snapshot.joint_count >= JOINTS_SHARED ? world->island_pool : NULL;
    if (status == SPRAG_OK)
        status = spragSnapshotTake(world, step);
    spragStaticsBegin(&world->statics, &world->arena, world->info.step);
    if (status == SPRAG_OK && wanted == SPRAG_ISLANDS_SOLVED && !spragManifoldKeep(world))
        status = spragFail(SPRAG_ERROR_MEMORY, "no memory for the points of %d contacts", world->snapshot.joint_count);
    if (status != SPRAG_OK)
        return status;
    endStage(world, SPRAG_STAGE_LEDGER, since);
    if ((status = spragLedgerMatch(world, findIslands)) != SPRAG_OK)
        return status;
    endStage(world, SPRAG_STAGE_ISLANDS, since);
    status = wanted == SPRAG_ISLANDS_SOLVED ? spragReportReserve(world) : SPRAG_OK;
    if (status == SPRAG_OK)
        status = spragIslandsWork(world, wanted, *since);
    *since = world->solved;
    return status;
}

/* Does all that may fail. */
static spragStatus prepare(struct spragWorld *world, double step, double *since)
{
    spragStatus status = look(world, step, SPRAG_ISLANDS_SOLVED, since);
    if (status != SPRAG_OK)
        return status;
    countAll(world);
    return spragReportPrepare(world);
}

/* Lets ODE solve and step all; with SPRAG_ANALYSIS_JUDGE its answer is judged. */
static spragStatus stepStock(struct spragWorld *world, double step, double *since)
{
    const int judged = world->config.analysis == SPRAG_ANALYSIS_JUDGE;
    spragStatus status = judged ? look(world, step, SPRAG_ISLANDS_ASSEMBLED, since) : SPRAG_OK;
    if (judged && status == SPRAG_OK)
        status = spragJudgePrepare(world);
    if (status != SPRAG_OK)
        return status;
    endStage(world, SPRAG_STAGE_APPLY, since);
    world->marked = 0;
    status = stepOde(world, step);
    endStage(world, SPRAG_STAGE_ODE, since);
    if (judged)
        spragJudgeStock(world);
    world->snapshot = (spragSnapshot){.step = step}; /* nothing is known of contacts at the next step */
    world->memory_count = world->next_memory_count = world->named_count = world->load_count = 0;
    return status;
}

typedef struct OdeStep {
    struct spragWorld *world;
    double step, *since;
    spragStatus status;
} OdeStep;

static void stepParked(void *data)
{
    OdeStep *ode = data;
    ode->status = stepOde(ode->world, ode->step);
    spragUnpark(ode->world, ode->status == SPRAG_OK);
    spragLedgerMark(ode->world);
    endStage(ode->world, SPRAG_STAGE_ODE, ode->since);
}

/* While one thread makes ODE's step the others make the records of contacts.  Where a moved callback of the user may
 * destroy the joints that those are of, the records come first. */
static spragStatus stepSprag(struct spragWorld *world, double step, double *since)
{
    spragStatus status = prepare(world, step, since);
    if (status != SPRAG_OK)
        return status;
    OdeStep ode = {.world = world, .step = step, .since = since};
    const int listens = spragPark(world);
    endStage(world, SPRAG_STAGE_APPLY, since);
    spragReportRecords(world, listens ? NULL : stepParked, &ode);
    if (listens)
        stepParked(&ode);
    return ode.status;
}

/* What the next step goes by: how long steps are, whether wedges may come back, who makes it, and in what time. */
static void noteStep(struct spragWorld *world, double step, double end)
{
    spragPaceNote(&world->pace, step);
    world->doubt = world->info.wedged > 0 ? SPRAG_DOUBT : world->doubt > 0 ? world->doubt - 1 : 0;
    if (world->pool != NULL && world->info.contacts > 0 && world->config.solver != SPRAG_SOLVER_STOCK)
        spragThreadChoiceNote(&world->thread_choice, end - world->begin, world->snapshot.joint_count);
    const double after = end - world->solved;
    world->after = world->after > 0 ? fmin(after, 2 * world->after) : after; /* the system may have held one step up */
}

static spragStatus stepAll(struct spragWorld *world, double step)
{
    const spragStepInfo before = world->info;
    world->info = (spragStepInfo){.step = before.step, .time = before.time};
    double since = world->begin = world->solved = spragSeconds();
    if (world->snapshot.joint_count >= JOINTS_SHARED && !isAlone(world))
        spragPoolExpect(world->pool);
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
    noteStep(world, step, since);
    return SPRAG_OK;
}

void spragStepContactMade(struct spragWorld *world)
{
    const int half = world->snapshot.joint_count / 2;
    if (++world->made == half && world->snapshot.joint_count >= JOINTS_SHARED && !isAlone(world))
        spragPoolExpect(world->pool);
}

spragStatus spragStep(struct spragWorld *world, double step)
{
    world->made = 0;
    world->stage = SPRAG_WITHIN_STEP;
    world->floats = spragFloatsTake();
    const spragStatus status = stepAll(world, step);
    spragFloatsGive(&world->floats);
    spragPoolExpectNone(world->pool);
    world->stage = SPRAG_TELLING_EVENTS;
    for (int i = 0; status == SPRAG_OK && world->callback != NULL && i < world->log.count; ++i)
        world->callback(&world->log.event[i], world->callback_user);
    world->stage = SPRAG_BETWEEN_STEPS;
    return status;
}
