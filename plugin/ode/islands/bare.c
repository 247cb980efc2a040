/* Which islands are bare, and their answer by visits (matrix_free.h): like any other's, of a heap that is stirred, or
 * of what seems to rest. */
#include "ode/islands/bare.h"

#include <math.h>

#include "base/clock.h"
#include "ode/islands/bare_rows.h"
#include "ode/rows/contact_law.h"
#include "ode/work/heap.h"
#include "ode/work/visits_end.h"
#include "problem/creep.h"
#include "solve/greedy/greedy_solve.h"

/* ---------------------------------------------------------------- who */

/* Has one of the first `count` contacts rolling friction? */
static int roll(const spragSnapshot *s, const spragIsland *island, int count)
{
    for (int k = 0; k < count; ++k) {
        const dContact *contact = s->joint[island->joint[k]].contact;
        if (contact != NULL && spragContactIsRoller(contact, 1))
            return 1;
    }
    return 0;
}

/* m/s, the creep that Newton's method was asked to end in vain, as the island's records say (spragBareCalmed). */
static double calmedOf(const struct spragWorld *world, const spragIsland *island)
{
    for (int k = 0; k < island->joint_count; ++k) {
        const int record = world->snapshot.joint[island->joint[k]].memory;
        if (record >= 0)
            return world->memory[record].calmed;
    }
    return 0;
}

void spragBareMake(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    const spragConfig *config = &world->config;
    const int n = island->joint_count;
    island->bare = NULL;
    island->pile.stirred = 0;
    /* Wanted: its answer may be rough, or must come soon.  What rests comes here too where an exact answer is asked
     * for: its guess may be that. */
    const int wanted = spragMatrixFreeWanted(world, island, n), heap = spragIslandSparesW(world, island),
              exact = !wanted || spragMatrixFreeIsEasy(world) || heap;
    const spragRest rests = exact && n > SPRAG_BLOCKS_MANY ? spragMatrixFreeRests(world, island) : SPRAG_REST_NONE;
    if (island->contact_count != n || !(wanted || rests))
        return;
    const int weighs = rests != SPRAG_REST_FULL; /* with sleepers at rest blocks are exact sooner */
    spragBareRows rows = {.world = world,
                          .island = island,
                          .surfaces = surfaces,
                          .sticks = island->pile.sticks || config->time_limit > 0 || config->tolerance >= SPRAG_ROUGH,
                          .rolls = roll(s, island, 1)};
    if (!spragBareIsPlain(&rows, &s->joint[island->joint[0]])) /* then, as a rule, none is */
        return;
    rows.weighs = weighs && (heap || rows.rolls);
    int made = spragBareRowsMake(&rows);
    if (!made && !rows.rolls && roll(s, island, n)) {
        rows.rolls = 1;
        rows.weighs = weighs;
        made = spragBareRowsMake(&rows);
    }
    if (!made)
        return;
    island->bare = rows.bare;
    island->pile.stirred = heap && rests != SPRAG_REST_NONE && (rests < SPRAG_REST_FULL || island->before.haste > 0);
    rows.bare->rests = rests;
    island->calmed = rests ? calmedOf(world, island) : 0;
    island->block_count = island->row_count = 0;
}

/* ---------------------------------------------------------------- answer */

#define STIRRED_LEFT 1e-4 /* m/s, of an island that is stirred: the next step goes on from there */
#define VAIN 0.1          /* of the creep is left: Newton's method was asked in vain */
#define GROWS 2           /* times what it left: then it is asked again */
#define CALMED_MOST 1e-10 /* m/s */
#define SLACK 4           /* times the creep that visits end: so much may the next step begin with, */
#define LESS 0.9          /* and with less and less in those that follow, by so much in each */
enum { MANY = 2000 };     /* contacts whose W takes longer than many visits */

/* Visits it like any other, from what visits of what is stirred have left. */
static spragStatus visitLonger(const spragSolveOptions *options, spragIsland *island)
{
    spragBare *bare = island->bare;
    const int before = island->solve.iterations;
    const spragStatus status = spragGreedySolve(options, &bare->greedy, bare->others, bare->u, &island->solve);
    island->solve.iterations += before;
    island->solve.method_iterations[SPRAG_SOLVER_GAUSS_SEIDEL] += before;
    return status;
}

/* A heap that rests but for a few bodies.  With mu = infinity it may be a row that two walls press together, which
 * visits let fall: what they leave of it goes on to W.  So does what may be a wedge: boxes that had sunk into each
 * other were left at 2300 m/s, and thrown. */
static spragStatus solveStirred(const struct spragWorld *world, const spragSolveOptions *options, spragIsland *island)
{
    spragBare *bare = island->bare;
    spragSolveOptions rough = *options;
    if (bare->rests == SPRAG_REST_MOST)
        rough.tolerance = fmax(options->tolerance, SPRAG_MISSED);
    spragStatus status = spragGreedySolveStirred(&rough, &bare->greedy, bare->others, bare->u, &island->solve);
    if (!(island->solve.residual <= STIRRED_LEFT)) /* a blow */
        status = visitLonger(options, island);
    const int holds = island->pile.sticks && island->before.haste == 0 && !(island->solve.residual <= STIRRED_LEFT),
              goes_on = holds || (!island->pile.sticks && !island->pile.steep && spragVisitsMayBeWedged(world, island));
    return status == SPRAG_NOT_CONVERGED && !goes_on ? SPRAG_LIMIT : status;
}

/* A large island that rests and creeps, and for which W would have to be made and Newton's method: some visits, as long
 * as steps begin with less and less creep, as the records say (-calmed: with how much the next one may).  Towers of 125
 * cubes that touch, 3600 contacts, took 60 to 110 ms in each of ten steps, and 300 in one that began just above the
 * tolerance; they take 5, and rest after as many steps.  (Rows of ten towers of ten, 1000 contacts, whose visits end it
 * slowly, took three times as long so.) */
static int endsCreep(const spragSolveOptions *options, spragIsland *island)
{
    spragGreedy *greedy = &island->bare->greedy;
    const double most = island->calmed < 0 ? -island->calmed : SLACK * greedy->creep;
    if (options->time_limit > 0 || island->contact_count <= MANY || greedy->creep > most ||
        spragGreedyCalm(options, greedy, island->bare->u, &island->solve) != SPRAG_OK)
        return 0;
    island->calmed = -LESS * most;
    return 1;
}

/* Does it cost too much to have the answer to rounding?  Then Newton has been asked, and declined.  (Its factors may be
 * known all the same, from steps that had more work.) */
static int factorCostsTooMuch(const struct spragWorld *world, const spragIsland *island)
{
    const spragBlockLuMemo *memo = &world->memo;
    return island == world->largest && memo->size > 0 && memo->n == island->body_count && memo->refused;
}

/* An island that seems to rest, from its guess.  In haste, and under a time limit: what is worse than the tolerance,
 * and for which the chain has no time, is visited like any other. */
static spragStatus solveRest(struct spragWorld *world, const spragSolveOptions *options, spragIsland *island)
{
    spragBare *bare = island->bare;
    const double begin = spragSeconds(), slow = fmax(SPRAG_CREEP_SLOW, GROWS * island->calmed);
    const int roughly = factorCostsTooMuch(world, island);
    const spragStatus status =
        spragGreedySolveRest(options, roughly, slow, &bare->greedy, bare->others, bare->u, &island->solve);
    spragSolveOptions left = *options;
    left.time_limit = spragTimeLeft(options->time_limit, begin);
    if (status != SPRAG_NOT_CONVERGED)
        return status;
    if (!roughly && endsCreep(options, island))
        return SPRAG_OK;
    if (!(options->time_limit > 0))
        return island->before.haste > 0 && !(island->solve.residual <= STIRRED_LEFT) ? visitLonger(options, island)
                                                                                     : status;
    if (spragGreedyMayEnd(&bare->greedy, left.time_limit))
        return status;
    if (island->solve.residual <= options->tolerance)
        return island->solve.status = SPRAG_OK;
    return visitLonger(&left, island);
}

double spragBareCalmed(const spragIsland *island, double before)
{
    if (island->declined != NULL || island->greedy != NULL)
        return 0;
    const double left = spragVelocityCreep(&island->problem, island->r, island->u);
    return left > VAIN * before && left <= CALMED_MOST ? left : 0;
}

int spragBareSolve(struct spragWorld *world, const spragSolveOptions *options, spragIsland *island)
{
    spragBare *bare = island->bare;
    const spragStatus status = island->pile.stirred ? solveStirred(world, options, island)
                               : bare->rests
                                   ? solveRest(world, options, island)
                                   : spragGreedySolve(options, &bare->greedy, bare->others, bare->u, &island->solve);
    if (status == SPRAG_NOT_CONVERGED && !spragVisitsSuffice(world, island, &bare->greedy))
        return 0;
    if (!isfinite(island->solve.residual))
        spragIslandFail(island, "no finite solution was found");
    else
        spragMatrixFreeImpulses(&world->snapshot, island, &bare->greedy);
    return 1;
}

int spragBareContactOf(const spragIsland *island, int block)
{
    int low = 0, high = island->joint_count - 1; /* ascending */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (island->joint[middle] < island->block[block].joint)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
