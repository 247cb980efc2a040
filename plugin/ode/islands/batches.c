#include "ode/islands/batches.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/status.h"
#include "ode/islands/bare.h"
#include "ode/islands/impulse_sum.h"
#include "ode/islands/island_solve.h"
#include "ode/islands/lone.h"
#include "ode/islands/rescue.h"
#include "ode/ledger/hindsight.h"
#include "ode/ledger/ledger.h"
#include "ode/matrix/assemble.h"
#include "ode/work/fall.h"
#include "ode/work/haste.h"
#include "ode/work/heap.h"
#include "ode/work/lies_flat.h"
#include "ode/work/slop.h"

enum { BATCH_JOINTS = 64 }; /* at least, of a batch: some 100 kB of memory */

#define LATER 1.5 /* time of an island that is still to be assembled, relative to one that is assembled */

typedef struct Work {
    struct spragWorld *world;
    spragPointerMap surfaces;
    int *start;        /* (count + 1) first island of each batch */
    int *turn;         /* (count) the batches in the order in which they are worked on, or NULL: as they are */
    int count, solve;  /* batches; 1: islands are solved too, not assembled alone */
    atomic_int failed; /* least island that failed, or INT_MAX */
    atomic_int joints; /* of the islands not yet solved */
} Work;

/* Joints of the largest island of a batch. */
static int largestOf(const Work *work, int batch)
{
    int most = 0;
    for (int k = work->start[batch]; k < work->start[batch + 1]; ++k) {
        const int joints = work->world->snapshot.island[k].joint_count;
        most = joints > most ? joints : most;
    }
    return most;
}

/* Under a time limit batches with the largest islands come last: small islands seldom need all of their share, and what
 * they leave is for those whose work grows faster than their joints.  (By the joints of the whole batch an island of 48
 * and one of 20 came before four of 20.)  But each of several threads begins with the last of its own part: there the
 * largest come first, which shares out the work evenly.  0: no memory. */
static int takeTurns(Work *work)
{
    spragArena *arena = &work->world->arena;
    if (!(work->world->config.time_limit > 0))
        return 1;
    int most = 0;
    for (int b = 0; b < work->count; ++b)
        most = largestOf(work, b) > most ? largestOf(work, b) : most;
    int *place = SPRAG_TAKE(arena, int, most + 2); /* of the first batch whose largest island has so many joints */
    work->turn = SPRAG_TAKE_RAW(arena, int, work->count);
    if (place == NULL || work->turn == NULL)
        return 0;
    for (int b = 0; b < work->count; ++b)
        ++place[largestOf(work, b) + 1];
    for (int joints = 0; joints < most; ++joints)
        place[joints + 1] += place[joints];
    for (int b = 0; b < work->count; ++b)
        work->turn[place[largestOf(work, b)]++] = b;
    return 1;
}

/* Cuts the list of islands into batches.  0: no memory. */
static int makeBatches(Work *work)
{
    const spragSnapshot *s = &work->world->snapshot;
    work->start = SPRAG_TAKE_RAW(&work->world->arena, int, s->island_count + 1);
    if (work->start == NULL)
        return 0;
    int joints = BATCH_JOINTS;
    for (int k = 0; k < s->island_count; ++k) {
        if (joints >= BATCH_JOINTS) {
            work->start[work->count++] = k;
            joints = 0;
        }
        joints += s->island[k].joint_count;
    }
    work->start[work->count] = s->island_count;
    return takeTurns(work);
}

/* Time limit of an island, s; 0: none.  What is left of the step's time is shared in proportion to joints, of this
 * island and of the `others` not yet solved.  ODE's step and the report, which come after the islands, are taken to
 * last as long as in the last step. */
static double shareOf(const Work *work, const spragIsland *island, int others)
{
    const struct spragWorld *world = work->world;
    const double limit = world->config.time_limit;
    if (!(limit > 0))
        return 0;
    const double left = limit - (spragSeconds() - world->begin) - world->after;
    const double share = (double)world->lane_count * island->joint_count / (island->joint_count + LATER * others);
    return fmax(left * fmin(share, 1), SPRAG_TIME_LEAST);
}

/* Leaves to ODE an island in which a body, or a kinematic body that it touches, has absurd numbers. */
static void declineAbsurd(const spragSnapshot *s, spragIsland *island)
{
    int absurd = 0;
    for (int i = 0; i < island->body_count; ++i)
        absurd |= s->body[island->body[i]].absurd;
    for (int i = 0; i < island->joint_count; ++i)
        for (int side = 0; side < 2; ++side) {
            const int body = s->joint[island->joint[i]].body[side];
            absurd |= body >= 0 && s->body[body].absurd;
        }
    if (absurd)
        island->declined = spragAbsurdity;
}

/* Sweeps a large island without an answer (rescue.h).  Where that fails too, it is left to ODE if the program asked for
 * ODE's step; if it called Sprag by name, the step fails.  0: it fails. */
static int rescue(Work *work, spragIsland *island)
{
    struct spragWorld *world = work->world;
    if (!island->failed || island->joint_count < SPRAG_RESCUE_LEAST)
        return 1;
    const double share = shareOf(work, island, atomic_load(&work->joints));
    const spragSolveOptions options = spragIslandSolveOptions(&world->config, share);
    if (spragRescue(world, &work->surfaces, &options, island))
        spragImpulseSum(&world->snapshot, island);
    return island->declined == NULL || world->lenient;
}

static void noteFailure(Work *work, int island)
{
    int least = atomic_load(&work->failed);
    while (island < least && !atomic_compare_exchange_weak(&work->failed, &least, island))
        ;
}

/* Time since the lane's last call, s.  (Once for a batch, not for each island: reading the clock takes a tenth of the
 * time of a body on one contact.) */
static double passed(spragLane *lane)
{
    const double since = lane->since;
    lane->since = spragSeconds();
    return lane->since - since;
}

/* What is known of it before it has a problem; each asks for what was set before it. */
static void lookAt(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island)
{
    spragPile *pile = &island->pile;
    spragHindsight *before = &island->before;
    pile->flat = spragIslandLiesFlat(world, island);
    pile->sticks = spragIslandSticks(world, island);
    pile->steep = spragIslandIsSteep(world, island);
    pile->falls = spragIslandFalls(world, island);
    before->haste = spragHasteOf(world, island);
    before->slop = spragSlopOf(world, island);
    before->trace = spragTraceOf(world, island);
    spragIslandLookBack(world, island);
    island->wedge.unsqueezed = before->unsqueezed;
    spragBareMake(world, surfaces, island);
    if (island->bare == NULL && pile->steep && before->haste > 0) { /* it is not visited: as any other */
        pile->steep = 0;
        before->haste = spragHasteOf(world, island);
    }
}

/* Makes the island's problem, or the rows of an island that needs no blocks (bare.h). */
static void prepareIsland(Work *work, spragLane *lane, int k)
{
    struct spragWorld *world = work->world;
    spragIsland *island = &world->snapshot.island[k];
    island->lane = lane;
    if (island->lone != NULL)
        return;
    memset((char *)island + offsetof(spragIsland, pile), 0, sizeof *island - offsetof(spragIsland, pile));
    if (island->declined != NULL)
        return;
    if (work->solve)
        lookAt(world, &work->surfaces, island);
    if (island->bare == NULL && !spragIslandAssemble(world, &work->surfaces, island))
        noteFailure(work, k);
}

static void finishIsland(Work *work, int k)
{
    spragIsland *island = &work->world->snapshot.island[k];
    int done = 1;
    if (island->lone != NULL)
        return;
    const int others = atomic_fetch_sub(&work->joints, island->joint_count) - island->joint_count;
    const double share = shareOf(work, island, others);
    if (island->declined == NULL)
        done = spragIslandSolve(work->world, &work->surfaces, island, share);
    if (!done || !rescue(work, island))
        noteFailure(work, k);
    island->next = spragIslandLookAhead(work->world, island);
}

/* Islands that were solved at once have no share. */
static void countLones(Work *work, int first, int end)
{
    const spragIsland *island = work->world->snapshot.island;
    int joints = 0;
    for (int k = first; k < end; ++k)
        joints += island[k].lone != NULL ? island[k].joint_count : 0;
    atomic_fetch_sub(&work->joints, joints);
}

/* 1: an island before this one failed, and the step with it. */
static int isPointless(Work *work, int k)
{
    return k >= atomic_load_explicit(&work->failed, memory_order_relaxed);
}

static void workOnBatch(void *context, int worker, int turn)
{
    Work *work = context;
    const int batch = work->turn != NULL ? work->turn[turn] : turn;
    struct spragWorld *world = work->world;
    spragLane *lane = &world->lane[worker];
    if (worker > 0)
        lane->since = spragSeconds(); /* it may have waited */
    const int first = work->start[batch], end = work->start[batch + 1];
    for (int k = first; k < end && world->lenient; ++k)
        declineAbsurd(&world->snapshot, &world->snapshot.island[k]);
    const int lone = work->solve ? spragLonesSolve(world, &work->surfaces, lane, first, end) : 0;
    const int left = end - first - lone;
    if (lone > 0) {
        countLones(work, first, end);
        lane->solving += passed(lane);
    }
    for (int k = first; k < end && !isPointless(work, k); ++k)
        prepareIsland(work, lane, k);
    if (left > 0)
        lane->assembling += passed(lane);
    for (int k = first; k < end && work->solve && !isPointless(work, k); ++k)
        finishIsland(work, k);
    if (left > 0)
        lane->solving += passed(lane);
}

/* Divides the time that has passed between the two stages, in proportion to what all threads spent on each. */
static void fillTimes(struct spragWorld *world, double passed)
{
    double assembling = 0, solving = 0;
    for (int i = 0; i < world->lane_count; ++i) {
        assembling += world->lane[i].assembling;
        solving += world->lane[i].solving;
    }
    const double share = assembling + solving > 0 ? solving / (assembling + solving) : 0;
    world->info.nanoseconds[SPRAG_STAGE_SOLVE] = (long long)(1e9 * share * passed);
    world->info.nanoseconds[SPRAG_STAGE_ASSEMBLE] = (long long)(1e9 * (1 - share) * passed);
}

spragStatus spragIslandsWork(struct spragWorld *world, spragIslandsWanted wanted, double begin)
{
    Work work = {.world = world, .solve = wanted == SPRAG_ISLANDS_SOLVED};
    atomic_init(&work.failed, INT_MAX);
    atomic_init(&work.joints, 0);
    world->largest = NULL;
    for (int k = 0; k < world->snapshot.island_count; ++k) {
        spragIsland *island = &world->snapshot.island[k];
        atomic_fetch_add(&work.joints, island->joint_count);
        if (world->largest == NULL || island->body_count > world->largest->body_count)
            world->largest = island;
    }
    spragStatus status = spragLedgerFindSurfaces(world, &work.surfaces);
    if (status == SPRAG_OK && !makeBatches(&work))
        status = spragFail(SPRAG_ERROR_MEMORY, "no memory to share out %d islands", world->snapshot.island_count);
    if (status != SPRAG_OK)
        return status;
    for (int i = 0; i < world->lane_count; ++i) {
        spragArenaReset(&world->lane[i].arena);
        world->lane[i].assembling = world->lane[i].solving = 0;
        world->lane[i].since = begin;
    }
    spragPoolRun(world->island_pool, workOnBatch, &work, work.count);
    world->solved = work.count == 1 && world->lane_count == 1 ? world->lane[0].since : spragSeconds();
    fillTimes(world, world->solved - begin);
    const int failed = atomic_load(&work.failed);
    if (failed == INT_MAX)
        return SPRAG_OK;
    /* The error's text belongs to the thread that found it, perhaps another: the island fails again on this one. */
    spragIsland *island = &world->snapshot.island[failed];
    island->lane = &world->lane[0];
    spragAssembleReset(world, island);
    status = spragAssemble(world, &work.surfaces, island);
    return status != SPRAG_OK ? status : spragFail(SPRAG_ERROR_MEMORY, "no memory for an island");
}
