#include "ode/ledger/hindsight.h"

#include <math.h>

#include "ode/joints/bearing.h"
#include "ode/joints/guide.h"
#include "ode/work/haste.h"
#include "ode/work/slop.h"
#include "solve/solver.h"

enum {
    STEP_HASTE_MOST = 3, /* halvings: with 5 boxes in hinges miss 1e-3 m/s in 74 of 500 steps, not in 58 */
    ACCORD_STEPS = 8,    /* after one in which contacts asked for what no motion gives */
    ACCORD_VAIN = 8      /* after one in which it was of no use to change that */
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

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Of two contacts, of which 0 knows nothing: to agree goes before not to. */
static int accordOf(int a, int b)
{
    return a > 0 || b > 0 ? larger(a, b) : -larger(-a, -b);
}

void spragIslandLookBack(const struct spragWorld *world, spragIsland *island)
{
    spragHindsight *before = &island->before;
    before->wedged = before->doubt = before->step_haste = before->unsqueezed = before->accord = 0;
    const int any = world->doubt > 0 || world->forewarned > 0;
    for (int i = 0; i < island->joint_count && any; ++i) {
        const int record = recordOf(&world->snapshot.joint[island->joint[i]]);
        if (record < 0)
            continue;
        const spragContactMemory *memory = &world->memory[record];
        before->wedged = larger(before->wedged, memory->wedged);
        before->doubt = larger(before->doubt, memory->doubt);
        before->unsqueezed = larger(before->unsqueezed, memory->unsqueezed);
        before->step_haste = larger(before->step_haste, memory->step_haste);
        before->accord = accordOf(before->accord, memory->accord);
    }
}

int spragIslandStepHasteNext(const struct spragWorld *world, const spragIsland *island)
{
    const spragWork *work = &island->work;
    const int haste = island->before.step_haste, most = larger(haste, STEP_HASTE_MOST),
              missed = island->solve.residual > fmax(fmax(VAIN, world->config.enough), island->locked);
    const double whole = ldexp(work->most, haste); /* what there is without it */
    if (missed && work->spent > HARD && whole < INFINITY && island->before.haste == 0 && !world->config.patient)
        return (int)fmin(fmax(haste, ceil(log2(whole / work->spent))) + 1, fmax(most, log2(whole / HARD)));
    return work->spent > work->most ? (haste < most ? haste + 1 : most) : haste > 0 ? haste - 1 : 0;
}

/* Steps in which its contacts are asked for what a motion gives; negated: in which that is not tried. */
static int accordNext(const struct spragWorld *world, const spragIsland *island)
{
    const spragAccord *accord = &island->accord;
    const int before = island->before.accord;
    if (accord->vain)
        return -ACCORD_VAIN;
    if (accord->made && accord->apart > world->config.tolerance)
        return ACCORD_STEPS;
    return before - (before > 0) + (before < 0);
}

spragHindsight spragIslandLookAhead(const struct spragWorld *world, const spragIsland *island)
{
    const spragWedge *wedge = &island->wedge;
    const int wedged = wedge->speed > 0, doubt = island->before.doubt, unsqueezed = wedge->unsqueezed;
    return (spragHindsight){.haste = spragHasteNext(world, island),
                            .step_haste = spragIslandStepHasteNext(world, island),
                            .slop = spragSlopNext(world, island),
                            .trace = spragTraceNext(world, island),
                            .wedged = wedged ? 1 + wedge->guides : 0,
                            .doubt = wedged      ? SPRAG_DOUBT
                                     : doubt > 0 ? doubt - 1
                                                 : 0,
                            .unsqueezed = wedged && !wedge->squeezed && unsqueezed > 0 ? unsqueezed - 1 : 0,
                            .accord = accordNext(world, island)};
}

void spragIslandNote(const spragIsland *island, spragContactMemory *memory)
{
    const spragHindsight *next = &island->next;
    memory->haste = next->haste;
    memory->heap = next->haste > 0 && !island->pile.flat;
    memory->calmed = island->calmed;
    memory->slop = next->slop;
    memory->trace = next->trace;
    if (island->bare != NULL) /* it has met no method that reads W */
        return;
    memory->wedged = next->wedged;
    memory->doubt = next->doubt;
    memory->unsqueezed = (short)next->unsqueezed;
    memory->step_haste = (short)next->step_haste;
    memory->accord = (short)next->accord;
}
