/* The contact problem of one island:  u = W r + q  with
 *
 *     W = J M^-1 J^T + compliance,    q = J v_free + h Jdot v - rhs.
 *
 * Blocks are coupled where they share a dynamic body (W is block-sparse), and where joints hold their bodies together:
 * equality rows E of joints, E v = rhs_e, are eliminated,  A = E M^-1 E^T + cfm / h,
 *     W <- W - (J M^-1 E^T) A^-1 (J M^-1 E^T)^T,   q <- q - (J M^-1 E^T) A^-1 (E v_free - rhs_e). */
#ifndef SPRAG_ODE_ASSEMBLE_H
#define SPRAG_ODE_ASSEMBLE_H

#include "ode/rows.h"

/* Builds island->block, problem and the guess r; or sets island->declined.  Error: out of memory. */
spragStatus spragAssemble(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island);

#endif
