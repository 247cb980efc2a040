/* Are visits enough?  An island that was solved without W, in its bodies' velocities (bare.h, matrix_free.h), has what
 * they left; to make W and go on takes longer than they did, and is worth it only where it brings a solution near, or a
 * wedge (soften.h) that visits know nothing of. */
#ifndef SPRAG_ODE_VISITS_END_H
#define SPRAG_ODE_VISITS_END_H

#include "ode/world/world.h"
#include "solve/greedy/greedy.h"

/* 1: the answer that was found without W is kept: to make W would take longer, and hardly reach the tolerance. */
int spragVisitsSuffice(const struct spragWorld *world, const spragIsland *island, const spragGreedy *greedy);
/* 1: what visits have left of a small pile may be a wedge. */
int spragVisitsMayBeWedged(const struct spragWorld *world, const spragIsland *island);
/* Of a solved island.  1: it was wedged, but two of its bodies are caught in each other, and visits leave them so. */
int spragIslandIsCaught(const struct spragWorld *world, const spragIsland *island);
/* 1: what has high coefficients (island->pile.steep), and all but rests.  Visits alone may never end it: arches of 21
 * stones with mu = 5 to 100, 90 contacts, crept on for ever, or fell, in four of twelve runs.  So W is asked for up to
 * SPRAG_HASTE_ASKS, and haste that would grow beyond the most begins again there. */
int spragIslandSettles(const struct spragWorld *world, const spragIsland *island);

#endif
