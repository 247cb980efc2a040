#include "ode/work/visits_end.h"

#include "ode/work/fall.h"
#include "ode/work/haste.h"
#include "ode/work/heap.h"

enum {
    W_IS_COSTLY = 3000, /* contacts of an island whose W takes longer than all that haste leaves */
    SETTLES_MOST =
        100 /* contacts of what is steep and settles (with 400 a heap that was pushed was thrown at 11 m/s) */
};
/* m/s, from where W may bring what was found without it to the tolerance.  From 1e-4 it took a third of such a step's
 * time (1000 boxes) and left as much. */
#define NEAR 1e-5
/* m/s: what visits leave so of a small pile may be a wedge, which only what comes after W is asked for: 24 boxes that a
 * wall had pushed into a corner were left at 3 m/s in each step. */
#define FAR_OFF 1e-2
#define THROWS 5.0  /* m/s: what leaves more is asked for a wedge all the same (a wall that presses a heap: 16 m/s) */
#define SETTLES 0.3 /* as SPRAG_SLOW, of what is steep */
#define GAINS 0.25  /* of the guess's residual is left: visits gain */

/* 1: a wedge in it concerns it all.  In heaps that are not pressed together as a whole a wedge is one of two bodies
 * that have sunk into each other.  Visits leave it as it is, and solve the rest; with W all contacts yielded, the whole
 * heap was shaken in each step, and 120 boxes and meshes took 4 to 37 ms. */
static int isPressed(const struct spragWorld *world, const spragIsland *island, double residual)
{
    return residual > THROWS || island->contact_count >= SPRAG_PRESSED * island->body_count ||
           !spragIslandIsHeap(world, island);
}

int spragVisitsMayBeWedged(const struct spragWorld *world, const spragIsland *island)
{
    const double residual = island->solve.residual;
    return residual > FAR_OFF && island->contact_count <= SPRAG_WEDGED_MOST && isPressed(world, island, residual);
}

int spragIslandIsCaught(const struct spragWorld *world, const spragIsland *island)
{
    return island->wedge.speed > 0 && !isPressed(world, island, island->wedge.rigid);
}

int spragIslandSettles(const struct spragWorld *world, const spragIsland *island)
{
    return island->pile.steep && island->contact_count <= SETTLES_MOST && !(world->config.time_limit > 0) &&
           spragIslandIsSlow(&world->snapshot, island, SETTLES);
}

/* W of thousands of contacts takes more than haste leaves: 13 700 of a pyramid 0.2 s of work, and 250 MB that are new,
 * 0.1 to 0.7 s more.  Where such a pile may rest visits go on from step to step, as its contacts stay the same, and
 * are enough while they gain. */
int spragVisitsSuffice(const struct spragWorld *world, const spragIsland *island, const spragGreedy *greedy)
{
    const double residual = island->solve.residual;
    if ((island->pile.sticks || island->pile.steep) &&
        (island->before.haste > 0 || world->config.time_limit > 0)) /* what comes after W leads astray */
        return 1;
    /* (To a rough tolerance a step of a heap that still moves is soon solved, and halves the haste; the next one, with
     * a blow, would have W and its sweeps: 190 ms of 500 boxes and balls, for as much residual.) */
    const int roughly = world->config.tolerance >= SPRAG_ROUGH && !island->pile.flat;
    const int most = roughly ? island->before.haste > 0 : island->before.haste == SPRAG_HASTE_MOST;
    if (most && residual > NEAR && !spragVisitsMayBeWedged(world, island))
        return 1;
    return island->before.haste > 0 && island->contact_count > W_IS_COSTLY && residual < GAINS * greedy->begun &&
           spragIslandMayRest(&world->snapshot, island);
}
