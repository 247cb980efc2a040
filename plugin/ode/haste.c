#include "ode/haste.h"

#include <math.h>

#include "ode/bearing.h"
#include "ode/guide.h"
#include "ode/release.h"

enum {
    HASTE_MOST = 6, /* halvings of the work: a 64th */
    LEAST = 400,    /* contacts: a car on sixty of mu = 340 is worth all the work */
    LOOKS = 64,     /* contacts that are asked */
    LATE = 500,     /* iterations: more than the chain's first links have in a step */
    SMALL = 60,     /* blocks of an island that may be hard (solve/chain.c) */
    DEAR = 40000    /* contacts times Newton's steps, some 40 ms: more of them in a step are too many */
};
#define HARD 1e7 /* products of 3x3 blocks, some 30 ms: of dense factorisations and passes over W */
/* m/s, from where W may bring what was found without it to the tolerance.  From 1e-4 it took a third of such a step's
 * time (1000 boxes) and left as much. */
#define NEAR 1e-5

/* 1: how long it takes is left to us. */
static int isOurs(const struct spragWorld *world, const spragIsland *island)
{
    const spragConfig *config = &world->config;
    return !config->patient && config->solver == SPRAG_SOLVER_AUTO && !(config->time_limit > 0) &&
           config->iteration_limit == 0 && island->contact_count > LEAST;
}

int spragHasteOf(const struct spragWorld *world, const spragIsland *island)
{
    int sum = 0, known = 0;
    const int each = island->joint_count / LOOKS + 1;
    for (int i = 0; isOurs(world, island) && i < island->joint_count; i += each) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[i]];
        if (joint->contact == NULL || joint->memory < 0)
            continue;
        sum += world->memory[joint->memory].haste;
        ++known;
    }
    return known > 0 ? (sum + known / 2) / known : 0;
}

/* The record of the last step that a joint has as a contact, as a guide, or as the first end of a bearing; -1: none. */
static int recordOf(const spragJointState *joint)
{
    return joint->contact != NULL   ? joint->memory
           : joint->guide != NULL   ? joint->guide->memory
           : joint->bearing != NULL ? joint->bearing->memory[0]
                                    : -1;
}

void spragHasteLookBack(const struct spragWorld *world, spragIsland *island)
{
    island->wedged_before = island->hard_before = 0;
    const int any = world->wedges > 0 || world->hard > 0;
    for (int i = 0; i < island->joint_count && any; ++i) {
        const int record = recordOf(&world->snapshot.joint[island->joint[i]]);
        if (record < 0)
            continue;
        const spragContactMemory *memory = &world->memory[record];
        island->wedged_before = memory->wedged > island->wedged_before ? memory->wedged : island->wedged_before;
        island->hard_before |= memory->hard;
    }
}

int spragHasteEnds(const spragIsland *island)
{
    return island->haste == HASTE_MOST && island->solve.residual > NEAR;
}

int spragHasteNext(const struct spragWorld *world, const spragIsland *island)
{
    const double enough = fmax(fmax(world->config.tolerance, world->config.enough), SPRAG_MISSED);
    const double spent = (double)island->contact_count * island->solve.method_iterations[SPRAG_SOLVER_NEWTON];
    const int next = island->haste + (island->solve.residual <= enough && spent <= DEAR ? -1 : 1);
    return !isOurs(world, island) || next < 0 ? 0 : next > HASTE_MOST ? HASTE_MOST : next;
}

int spragHasteHardens(const spragIsland *island)
{
    if (island->declined != NULL || island->bare != NULL || island->greedy != NULL || island->block_count > SMALL)
        return 0;
    if (island->hard || !island->solve.fallback || island->vain)
        return island->hard;
    const double n = island->block_count, iterations = island->solve.iterations;
    return iterations > LATE && iterations * (n * n * n / 3 + 10 * n * n) > HARD;
}
