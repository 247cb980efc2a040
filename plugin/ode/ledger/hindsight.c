#include "ode/ledger/hindsight.h"

#include <math.h>

#include "ode/joints/bearing.h"
#include "ode/joints/guide.h"
#include "solve/solver.h"

enum {
    SMALL = 60,    /* blocks of an island that may be hard (solve/chain/chain_links.h) */
    DEAR_MOST = 3, /* halvings: with 5 boxes in hinges miss 1e-3 m/s in 74 of 500 steps, not in 58 */
    LATE = 500     /* iterations: more than the chain's first links have in a step */
};
#define VAIN 1e-3 /* m/s: work was in vain on an island that misses by more */
#define HARD 1e7  /* products of 3x3 blocks, some 30 ms: of dense factorisations and passes over W */

/* The record of the last step that a joint has as a contact, as a guide, or as the first end of a bearing; -1: none. */
static int recordOf(const spragJointState *joint)
{
    return joint->contact != NULL   ? joint->memory
           : joint->guide != NULL   ? joint->guide->memory
           : joint->bearing != NULL ? joint->bearing->memory[0]
                                    : -1;
}

void spragIslandLookBack(const struct spragWorld *world, spragIsland *island)
{
    island->wedged_before = island->hard_before = island->doubt = island->dear = island->unsqueezed = 0;
    const int any = world->wedges > 0 || world->hard > 0;
    for (int i = 0; i < island->joint_count && any; ++i) {
        const int record = recordOf(&world->snapshot.joint[island->joint[i]]);
        if (record < 0)
            continue;
        const spragContactMemory *memory = &world->memory[record];
        island->wedged_before = memory->wedged > island->wedged_before ? memory->wedged : island->wedged_before;
        island->doubt = memory->doubt > island->doubt ? memory->doubt : island->doubt;
        island->unsqueezed = memory->unsqueezed > island->unsqueezed ? memory->unsqueezed : island->unsqueezed;
        island->hard_before |= memory->hard;
        island->dear = memory->dear > island->dear ? memory->dear : island->dear;
    }
}

int spragIslandHardens(const spragIsland *island)
{
    if (island->declined != NULL || island->bare != NULL || island->greedy != NULL || island->block_count > SMALL)
        return 0;
    if (island->hard || !island->solve.fallback || island->vain)
        return island->hard;
    return island->solve.iterations > LATE && island->spent > HARD;
}

int spragIslandDearNext(const struct spragWorld *world, const spragIsland *island)
{
    const int most = island->dear > DEAR_MOST ? island->dear : DEAR_MOST,
              missed = island->solve.residual > fmax(fmax(VAIN, world->config.enough), island->locked);
    const double whole = ldexp(island->most, island->dear); /* what there is where dear = 0 */
    if (missed && island->spent > HARD && whole < INFINITY && island->haste == 0 && !world->config.patient)
        return (int)fmin(fmax(island->dear, ceil(log2(whole / island->spent))) + 1, fmax(most, log2(whole / HARD)));
    return island->spent > island->most ? (island->dear < most ? island->dear + 1 : most)
           : island->dear > 0           ? island->dear - 1
                                        : 0;
}
