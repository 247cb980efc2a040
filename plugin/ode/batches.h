/* All islands of a step: to assemble and to solve.
 *
 * Nothing in an island depends on another, so they are shared out in batches, small enough that what one stage writes
 * is still in the cache for the next, to the world's threads (lanes.h).  The answers do not depend on who found
 * them. */
#ifndef SPRAG_ODE_BATCHES_H
#define SPRAG_ODE_BATCHES_H

#include "ode/world.h"

typedef enum spragIslandsWanted { SPRAG_ISLANDS_ASSEMBLED, SPRAG_ISLANDS_SOLVED } spragIslandsWanted;

/* Assembles the islands; solves them too if asked.  Fills the time of both stages.  Error: bad input or no memory, and
 * nothing in the user's world has changed. */
spragStatus spragIslandsWork(struct spragWorld *world, spragIslandsWanted wanted, double begin);

#endif
