/* The blocks and rows that the joints of one island give: of contacts (rows.h), guides (guide.h), and all other joints
 * (joint_rows.h, bearing.h). */
#ifndef SPRAG_ODE_ISLAND_BLOCKS_H
#define SPRAG_ODE_ISLAND_BLOCKS_H

#include "ode/rows.h"

/* Fills island->block and row, in the order of island->joint, from the island's lane; or sets island->declined.
 * Errors: out of memory, a contact that is not sound (spragContactCheck), or a joint (spragJointBlocks). */
spragStatus spragIslandBlocksMake(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island);

#endif
