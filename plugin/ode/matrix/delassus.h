/* W = J M^-1 J^T + compliance - what mechanisms take off it (articulation.h), as block rows in the order of the
 * island's blocks.  Blocks are coupled where they share a dynamic body or a mechanism. */
#ifndef SPRAG_ODE_DELASSUS_H
#define SPRAG_ODE_DELASSUS_H

#include "ode/rows/rows.h"

/* Fills pattern and W of island->problem; needs the blocks, island->Y, and the mechanisms.  Of a W of mechanisms that
 * is too costly only the diagonal blocks are made (island->matrix.lean), unless whole is set.  So are those of an
 * island that waits (its `waits`): it gets its W only if its guess is far off, or if methods without W miss.  0: no
 * memory. */
int spragDelassusMake(struct spragWorld *world, spragIsland *island);

/* Tells the problem of its bodies and the joints that hold them, where there are enough blocks.  0: no memory. */
int spragDelassusTell(struct spragWorld *world, spragIsland *island);

/* Makes J_k M^-1 J_k^T (3x3) the diagonal block of W. */
void spragDelassusDiagonal(const spragBlock *block, double W[9]);

/* 1/kg: the compliance that a contact of mu = infinity with this diagonal block W gets along its tangents; 0 for other
 * blocks. */
double spragDelassusYield(const spragBlock *block, const double W[9]);

#endif
