/* How much work an island is worth that had no answer in its last steps.
 *
 * A pile that moves is hard anew in every step (docs/architecture.md).  From a thousand bodies on the work of a
 * step ends before the tolerance is reached, and most of it was for nothing: 1000 balls end at 5e-4 m/s with
 * all of it, and at 3e-3 with a thirteenth.  So an island that missed has half the work in the next step, down
 * to a 64th, and begins on its bodies' velocities (ode/bare.h); one that was solved has twice the work again.
 * What is solved in every step in some 40 ms never has less; what takes longer has, solved or not: 1000 boxes that
 * tumble took 300 ms a step to 1e-8 m/s, and take 20 to 1e-4.  A program that plays, which has said what is enough, has
 * less patience, and begins with fewer contacts.  Bodies that lie flat on each other and move slowly may come to rest,
 * and never have as little.
 *
 * Islands have no identity from step to step; contacts have.  Each record keeps the haste of its island. */
#ifndef SPRAG_ODE_HASTE_H
#define SPRAG_ODE_HASTE_H

#include "ode/world.h"

/* Of an island that is not solved yet, >= 0: it has 2^-haste of the work. */
int spragHasteOf(const struct spragWorld *world, const spragIsland *island);
/* What the records of its contacts, guides and bearings say of the last step.
 *
 * wedged_before, 1: one was in a wedged island.  What friction locks, it keeps locked: a ball that has sunk between two
 * triangles of the ground, with a mu of 2, took 20 ms in every step until all methods had failed.  So such an island is
 * asked for a wedge after the mode search, and only if it has none by the others (ode/release.c).  2: its guides had to
 * yield too, and do so from the first.
 *
 * hard_before, 1: one was in a hard island, whose answer came late in the chain and took some 30 ms.  A car with
 * mu = 340 stands so for seconds.  (Plates with mu = 100, which Newton's method solves in 250 steps, are none: of what
 * carried in one step four fifths do not carry in the next.) */
void spragHasteLookBack(const struct spragWorld *world, spragIsland *island);
/* 1: it is hard, once it is solved: so, or by what carried before. */
int spragHasteHardens(const spragIsland *island);
/* 1: what was found without W stands, as W would take longer, and hardly bring it to the tolerance. */
int spragHasteEnds(const spragIsland *island);
/* The haste of the next step, once it is solved. */
int spragHasteNext(const struct spragWorld *world, const spragIsland *island);

#endif
