/* A body on very many contacts, a box on a fine mesh: most of them bear nothing, and W would be a full square.
 *
 * A contact with u_n >= 0 is content with r = 0, whatever its friction.  So the problem is written and solved for a
 * working set of the contacts of each such pair of bodies: those that bore load in the last step and those farthest out
 * and deepest.  The others are asked for their u_n after it; where some are violated, the worst and the farthest out
 * join and the island is solved again.  The answer is one of the whole problem, at a cost linear in the number of
 * contacts.  Islands with joint rows are left whole. */
#ifndef SPRAG_ODE_WORKING_SET_H
#define SPRAG_ODE_WORKING_SET_H

#include "ode/rows/rows.h"

/* Orders the blocks: those of the working set first, island->block_count of them.  0: no memory. */
int spragWorkingSetChoose(const struct spragWorld *world, spragIsland *island);

/* After a solve: u of the idle blocks.  1: some joined and the problem is written anew;
 * 0: none had to; -1: no memory. */
int spragWorkingSetGrow(struct spragWorld *world, spragIsland *island);

/* All blocks belong to the island again, the idle ones with r = 0. */
void spragWorkingSetEnd(spragIsland *island);

#endif
