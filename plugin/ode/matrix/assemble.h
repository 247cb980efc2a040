/* The contact problem of one island:  u = W r + q  with
 *
 *     W = J M^-1 J^T + compliance,    q = J v_free + h Jdot v - rhs.
 *
 * Blocks are coupled where they share a dynamic body (W is block-sparse), and where joints hold their bodies together
 * (articulation.h). */
#ifndef SPRAG_ODE_ASSEMBLE_H
#define SPRAG_ODE_ASSEMBLE_H

#include "ode/rows/rows.h"

/* Builds island->block, problem and the guess r; or sets island->declined.  Of a loose island W has its diagonal blocks
 * alone, and joints stay rows: of one that is to be rescued (rescue.h), and of large heaps of glue (solve/glue/glue.h).
 * Error: out of memory. */
spragStatus spragAssemble(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island);

/* As before spragAssemble, which may then be called again. */
void spragAssembleReset(struct spragWorld *world, spragIsland *island);

/* The problem anew for the island's blocks, of which the first `solved` keep their r.  0: no memory. */
int spragAssembleAgain(struct spragWorld *world, spragIsland *island, int solved);

/* All of W, where only its diagonal blocks were there (matrix_free.h).  0: no memory. */
int spragAssembleCouple(struct spragWorld *world, spragIsland *island);

#endif
