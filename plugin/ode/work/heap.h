/* Walls and heaps: what is large, and how much of it may be left unsolved.
 *
 * Islands of many contacts are of two kinds.  What has been built, as walls, towers and arches, lies flat
 * (lies_flat.h): it may come to rest, and what is left of its steps keeps it moving.  All others are heaps: they are
 * hard while they move, and what is left of their steps keeps none moving (ode/work/slop.h).
 *
 * Heaps are all that do not lie flat, from 100 contacts on (with joints, of which visits carry little, from 400).
 * (They were solved to the tolerance up to 400: 120 boxes that fell into a bin took 18 ms a step in the mean and up to
 * 113, mixed bodies 25 and 146; it is 1.0 and 30, 1.9 and 44, and they come to rest as soon or sooner, with 0.02 of
 * half their thickness in overlap, as QuickStep 0.03.) */
#ifndef SPRAG_ODE_HEAP_H
#define SPRAG_ODE_HEAP_H

#include "ode/world/world.h"

#define SPRAG_MISSED 1e-6 /* m/s: what misses by more is no answer */

enum {
    /* Blocks of an island that is asked for a wedge, at most: of 350 that takes 5 ms, half of what such a pile may
     * take. */
    SPRAG_WEDGED_MOST = 600,
    /* Contacts of an island that is large: in haste it begins without W, and has haste for what it misses; where it is
     * a heap, or the program plays, from fewer on (heap.c). */
    SPRAG_LARGE = 400,
    /* The same, and of one that may be hurried, where some have mu = infinity: heaps of them ask for what no motion
     * gives.  Twenty boxes took 8 ms a step and up to 270.  The same with a high coefficient in place of infinity
     * (SPRAG_GREEDY_STEEP), where there are contacts alone, and nothing is pressed; and with rolling friction half as
     * many, which took 10 to 17 ms in the mean. */
    SPRAG_LARGE_STICKY = 60,
    /* Contacts a body of a heap that is pressed together as a whole (visits_end.c). */
    SPRAG_PRESSED = 10,
    SPRAG_LOOKS = 64 /* contacts of an island that are looked at, where some speak for all */
};

/* From one of those contacts that are looked at to the next. */
static inline int spragLookStep(const spragIsland *island)
{
    return island->joint_count / SPRAG_LOOKS + 1;
}

/* 1: the program plays: it has said what residual is enough. */
static inline int spragPlays(const spragConfig *config)
{
    return config->enough > config->tolerance;
}

/* The functions below read island->pile: all of them `flat`, all but MayStick and Sticks `sticks`, and those after
 * IsSteep `steep`.  So batches.c sets these in this order. */

/* 1: it has so many contacts that it sticks if some have mu = infinity. */
int spragIslandMayStick(const struct spragWorld *world, const spragIsland *island);
/* 0, or: it may stick, does not lie flat, and some of its contacts have mu = infinity and do not give way
 * (dContactSlip1 and 2, or soft_cfm: what these ask for some motion gives); 1: as a force, so that what holds is known
 * (solve/glue/glue.h); 2: as a coefficient. */
int spragIslandSticks(const struct spragWorld *world, const spragIsland *island);
/* 1: some of its contacts have high coefficients (SPRAG_GREEDY_STEEP), and none sticks.  It is hurried only once it has
 * been missed: card houses with mu = 5 are solved. */
int spragIslandIsSteep(const struct spragWorld *world, const spragIsland *island);
/* 1: its work is for Sprag to choose: the user has set none (no limit, no method by name, not patient), and it has more
 * than 100 contacts. */
int spragIslandIsOurs(const struct spragWorld *world, const spragIsland *island);
/* 1: it is a heap: of more than 100 contacts that do not lie flat; with joints, or where its work is not for us to
 * choose, of more than 400. */
int spragIslandIsHeap(const struct spragWorld *world, const spragIsland *island);
/* 1: of more than 400 contacts; of more than 100 where it is a heap or the program plays; or island->pile.falls. */
int spragIslandIsLarge(const struct spragWorld *world, const spragIsland *island);
/* 1: a heap whose work is for us to choose.  While a few of its bodies move and all others rest W is not worth its
 * price, and SPRAG_MISSED is enough: 2000 balls of which ten still rolled, at 17 mm/s, took 40 to 130 ms a step to 1e-8
 * m/s, and take 12 to some 1e-6.  (With 24 visits a contact in place of 48 they leave 1e-5.)  Its haste waits meanwhile
 * for what comes next, and falls once the tolerance is met.
 *
 * Up to 400 contacts only with haste, which is known: what has had none is solved.  (A plate on sixteen balls keeps
 * what its first step leaves: 1e-5 m/s had grown to 7e-4 after a minute, and 15 mm.) */
int spragIslandSparesW(const struct spragWorld *world, const spragIsland *island);

#endif
