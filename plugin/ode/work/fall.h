/* Does a heap fall, or may an island come to rest?  How its bodies move, against what gravity gives in a step. */
#ifndef SPRAG_ODE_FALL_H
#define SPRAG_ODE_FALL_H

#include "ode/world/world.h"

/* Times the velocity that gravity gives in a step, root mean square about the bodies' mean: heaps may travel together.
 */
#define SPRAG_STILL 0.5 /* an island moves that is faster, */
#define SPRAG_SLOW 2    /* and one that is no faster may come to rest */

/* 1: its bodies are no faster than so many times that velocity, about their mean. */
int spragIslandIsSlow(const spragSnapshot *s, const spragIsland *island, double times);
/* 1: it may come to rest: it lies flat (island->pile.flat) and is slow. */
int spragIslandMayRest(const spragSnapshot *s, const spragIsland *island);
/* 1: the island is a part of a pile that falls and strikes: more than 100 contacts and no other joints, in a
 * world of more than 400 joints awake, of bodies that do not lie flat on each other, more than half of which move
 * faster than a quarter of what gravity gives in a step, in the world and against the rigid motion nearest to
 * theirs (what a ship or a turntable carries stays as it is). In the next step it is another island, and an exact
 * answer is lost; so it has the most haste from its first step on, and counts as large. 300 boxes that fall into
 * a bin pass through some ten steps with three to five such islands of 100 to 400 contacts, 10 to 40 ms each.
 * island->pile.sticks is known, and such ones do not. */
int spragIslandFalls(const struct spragWorld *world, const spragIsland *island);
/* 1: a heap of mechanisms that falls, as of ragdolls: 100 to 400 contacts, less than two a body, no less than four
 * mechanisms, all but a tenth of its bodies are theirs, and they move about their mean by more than half of what
 * gravity gives in a step.  Where it strikes sweeps leave 0.1 to 1 m/s; to solve that took ten times a usual step, and
 * the next one is another problem.  So it has sweeps, as many steps of an interior point or of Newton's method as some
 * milliseconds pay for, and one look for limits that do not hold; 1e-4 m/s are enough.  What is squeezed yields.
 * (Larger ones have their haste, and it would take as long.)  The island is assembled. */
int spragIslandTumbles(const struct spragWorld *world, const spragIsland *island);

#endif
