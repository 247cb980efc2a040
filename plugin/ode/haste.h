/* How much work an island is given whose last steps ended above the tolerance.
 *
 * A pile that moves is hard anew in every step (docs/architecture.md).  From a thousand bodies on its work limit ends a
 * step before the tolerance is reached, and most of that work is wasted: 1000 balls end at 5e-4 m/s with all of it, and
 * at 3e-3 with a thirteenth.  So an island has 2^-haste of its work limit:
 *
 *     haste + 1  (at most 6, a 64th)   after a step that missed, or took more than some 40 ms (heaps: 10),
 *     haste - 1  (at least 0)          after any other;
 *
 * with haste > 0 it begins in its bodies' velocities (ode/bare.h).  1000 boxes that tumble took 300 ms a step to 1e-8
 * m/s, and take 20 to 1e-4.  In a program that plays (it has said what residual is `enough`) a step takes long from
 * half the time that it stands for.  An island that moves slowly, of bodies that lie flat on each other, may come to
 * rest, and its haste stays lower.
 *
 * Heaps are all that do not lie flat, from 100 contacts on (with joints, of which visits carry little, from 400).
 * (They were solved to the tolerance up to 400: 120 boxes that fell into a bin took 18 ms a step in the mean and up to
 * 113, mixed bodies 25 and 146; it is 1.0 and 30, 1.9 and 44, and they come to rest as soon or sooner, with 0.02 of
 * half their thickness in overlap, as QuickStep 0.03.)
 * Walls, towers and arches of 100 to 400 contacts (where the program plays, or in a fall, they count as large) have
 * haste only after a step that took long, at most 1, until a step is solved, and keep their W: their steps are mostly
 * cheap.  (At most 2 gained nothing in the mean and missed 1e-6 m/s in 207 of 8100 steps, it is 82.)
 *
 * In a large world an island whose contacts are new, or whose bodies move against each other, begins with haste, a heap
 * sooner and longer: all the work spent on its first hard step froze the program for seconds, and what was left a while
 * later was the same.  What is left of its steps keeps no heap moving (ode/slop.h).
 * One that may come to rest does so only if it is large itself: walls that begin to stand are solved by all of the
 * work.
 *
 * Islands have no identity from step to step, but contacts have: each record keeps the haste of its island. */
#ifndef SPRAG_ODE_HASTE_H
#define SPRAG_ODE_HASTE_H

#include "ode/world.h"

/* 1: its bodies lie flat on each other, of more than a few contacts: nearly all pairs touch along faces and edges, but
 * for a few balls.  A heap in haste stays one for a while longer. */
int spragHasteIsFlat(const struct spragWorld *world, const spragIsland *island);
/* 1: it is a heap: of more than 100 contacts that do not lie flat; with joints, or where the user has said how much
 * work it gets (a limit, a method, patient), of more than 400. */
int spragHasteLoose(const struct spragWorld *world, const spragIsland *island);
/* Has an island that is to be solved more than a few contacts, not flat on each other, some with mu = infinity?
 * 1: as a force, so that what holds is known (solve/glue.h); 2: as a coefficient. */
int spragHasteSticks(const struct spragWorld *world, const spragIsland *island);
/* 1: the island is a part of a pile that falls and strikes: more than 100 contacts and no other joints, in a
 * world of more than 400 joints awake, of bodies that do not lie flat on each other, more than half of which move
 * faster than a quarter of what gravity gives in a step, in the world and against the rigid motion nearest to
 * theirs (what a ship or a turntable carries stays as it is). In the next step it is another island, and an exact
 * answer is lost; so it has the most haste from its first step on, and counts as large. 300 boxes that fall into
 * a bin pass through some ten steps with three to five such islands of 100 to 400 contacts, 10 to 40 ms each.
 * island->sticks is known, and such ones do not. */
int spragHasteFalls(const struct spragWorld *world, const spragIsland *island);
/* 1: a heap of mechanisms that falls, as of ragdolls: 100 to 400 contacts, less than two a body, no less than four
 * mechanisms, all but a tenth of its bodies are theirs, and they move about their mean by more than half of what
 * gravity gives in a step.  Where it strikes sweeps leave 0.1 to 1 m/s; to solve that took ten times a usual step, and
 * the next one is another problem.  So it has sweeps, as many steps of an interior point or of Newton's method as some
 * milliseconds pay for, and one look for limits that do not hold; 1e-4 m/s are enough.  What is squeezed yields.
 * (Larger ones have their haste, and it would take as long.)  The island is assembled. */
int spragHasteTumbles(const struct spragWorld *world, const spragIsland *island);
/* The haste of an island that is to be solved, from the records of its contacts, the size of the world and how its
 * bodies move; >= 0.  island->falls is known. */
int spragHasteOf(const struct spragWorld *world, const spragIsland *island);
/* 1: in such haste that it begins in its bodies' velocities, without W. */
int spragHasteSkips(const struct spragWorld *world, const spragIsland *island);
/* Fills wedged_before and hard_before from the records of its contacts, guides and bearings.
 *
 * wedged_before, 1: one was in a wedged island.  A wedge lasts: a ball that had sunk between two triangles of the
 * ground, with a mu of 2, took 20 ms in every step until all methods had failed.  So in such an island a wedge is
 * looked for right after the mode search, and the other methods come only if there is none (ode/release.c).  2: its
 * guides had to yield too, and do so from the start.
 *
 * hard_before, 1: one was in a hard island, whose answer came late in the chain and took some 30 ms.  A car with mu
 * = 340 stands so for seconds.  (Plates with mu = 100, which Newton's method solves in 250 steps, do not count as
 * hard: four fifths of the contacts that carry in one step do not carry in the next.) */
void spragHasteLookBack(const struct spragWorld *world, spragIsland *island);
/* Of a solved island.  1: it is hard: its answer came late, or from the contacts that carried before. */
int spragHasteHardens(const spragIsland *island);
/* 1: what visits have left of a small pile may be a wedge. */
int spragHasteMayBeWedged(const struct spragWorld *world, const spragIsland *island);
/* 1: the answer that was found without W is kept: to make W would take longer, and hardly reach the tolerance. */
int spragHasteEnds(const struct spragWorld *world, const spragIsland *island);
/* 1: a heap, of bodies that do not lie flat on each other, whose work is for us to choose.  While a few of its
 * bodies move and all others rest W is not worth its price, and SPRAG_MISSED is enough: 2000 balls of which ten still
 * rolled, at 17 mm/s, took 40 to 130 ms a step to 1e-8 m/s, and take 12 to some 1e-6.  (With 24 visits a contact in
 * place of 48 they leave 1e-5.)  Its haste waits meanwhile for what comes next, and falls once the tolerance is met.
 *
 * Up to 400 contacts only with haste, which is known: what has had none is solved.  (A plate on sixteen balls keeps
 * what its first step leaves: 1e-5 m/s had grown to 7e-4 after a minute, and 15 mm.) */
int spragHasteIsHeap(const struct spragWorld *world, const spragIsland *island);
/* The haste of the next step, once it is solved. */
int spragHasteNext(const struct spragWorld *world, const spragIsland *island);

#endif
