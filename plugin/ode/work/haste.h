/* How much work an island is given whose last steps ended above the tolerance.
 *
 * A pile that moves is hard anew in every step (docs/architecture.md).  From a thousand bodies on its work limit ends a
 * step before the tolerance is reached, and most of that work is wasted: 1000 balls end at 5e-4 m/s with all of it, and
 * at 3e-3 with a thirteenth.  So an island has 2^-haste of its work limit:
 *
 *     haste + 1  (at most 6, a 64th)   after a step that missed, or took more than some 40 ms (heaps: 10),
 *     haste - 1  (at least 0)          after any other;
 *
 * with haste > 0 it begins in its bodies' velocities (bare.h).  1000 boxes that tumble took 300 ms a step to 1e-8
 * m/s, and take 20 to 1e-4.  In a program that plays (it has said what residual is `enough`) a step takes long from
 * half the time that it stands for.  An island that moves slowly, of bodies that lie flat on each other, may come to
 * rest, and its haste stays lower.
 *
 * Walls, towers and arches of 100 to 400 contacts (where the program plays, or in a fall, they count as large) have
 * haste only after a step that took long, at most 1, until a step is solved, and keep their W: their steps are mostly
 * cheap.  (At most 2 gained nothing in the mean and missed 1e-6 m/s in 207 of 8100 steps, it is 82.)
 *
 * In a large world an island whose contacts are new, or whose bodies move against each other, begins with haste, a heap
 * (heap.h) sooner and longer: all the work spent on its first hard step froze the program for seconds, and what was
 * left a while later was the same.  One that may come to rest does so only if it is large itself: walls that begin to
 * stand are solved by all of the work.
 *
 * Islands have no identity from step to step, but contacts have: each record keeps the haste of its island. */
#ifndef SPRAG_ODE_HASTE_H
#define SPRAG_ODE_HASTE_H

#include "ode/world/world.h"

enum {
    SPRAG_HASTE_MOST = 6, /* halvings of the work: a 64th */
    SPRAG_HASTE_ASKS = 4  /* where what is steep settles, W is asked for up to there (visits_end.h) */
};

/* The haste of an island that is to be solved, from the records of its contacts, the size of the world and how its
 * bodies move; >= 0.  flat, sticks, steep and falls of its pile are known. */
int spragHasteOf(const struct spragWorld *world, const spragIsland *island);
/* 1: in such haste that it begins in its bodies' velocities, without W. */
int spragHasteSkips(const struct spragWorld *world, const spragIsland *island);
/* The haste of the next step, once it is solved. */
int spragHasteNext(const struct spragWorld *world, const spragIsland *island);

#endif
