/* Gathers the rows of one island: J of its blocks, u = J v - rhs, from contacts (rows.h) and guides (guide.h), and
 * from limits, motors and friction of all other joints; E of the equality rows of those, E v + c lambda = rhs
 * (joint_blocks.h, bearing.h). */
#ifndef SPRAG_ODE_ISLAND_BLOCKS_H
#define SPRAG_ODE_ISLAND_BLOCKS_H

#include "ode/rows/rows.h"

/* Fills island->block and row, in the order of island->joint, from the island's lane; or sets island->declined.
 * Errors: out of memory, a contact that is not sound (spragContactCheck), or a joint (spragJointBlocks). */
spragStatus spragIslandBlocksMake(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island);

#endif
