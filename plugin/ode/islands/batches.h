/* Assembles and solves all islands of a step.
 *
 * No island depends on another, so they are shared out to the world's threads (lanes.h) in batches, which are small
 * enough that what one stage writes is still in the cache for the next.  The answers do not depend on the thread. */
#ifndef SPRAG_ODE_BATCHES_H
#define SPRAG_ODE_BATCHES_H

#include "ode/world/world.h"

typedef enum spragIslandsWanted { SPRAG_ISLANDS_ASSEMBLED, SPRAG_ISLANDS_SOLVED } spragIslandsWanted;

/* Assembles the islands; solves them too if asked.  Fills the time of both stages.  Error: bad input or no memory, and
 * nothing in the user's world has changed. */
spragStatus spragIslandsWork(struct spragWorld *world, spragIslandsWanted wanted, double begin);

#endif
