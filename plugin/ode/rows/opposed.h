/* Contacts of one pair of bodies that push against each other: a slider in a slot, a peg in a hole.
 *
 * Two sets of contacts with normals n and -n that overlap on both sides ask for  u_n >= c+  and  -u_n >= c-, c = erp
 * depth / h: together impossible, and a solver answers with a preload that only compliance bounds.  Rigid bodies with
 * vanishing clearance have none (docs/theory.md 3: of two antipodal points one at most is loaded).  So the common part
 * of what they ask is taken out,
 *     c_i <- c_i - M - slack,    M = max ( c_i - f(x_i) on the + side,  c_i + f(x_i) on the - side ),
 * f the affine field of normal velocity, a rigid motion, that leaves the least to be taken: with it no contact is
 * violated.  So the body is still centred and straightened in the slot.  A slack above the tolerance of the solver, on
 * contacts that bore no load in the last step, lets only one side of a pair bear load. */
#ifndef SPRAG_ODE_OPPOSED_H
#define SPRAG_ODE_OPPOSED_H

#include "ode/rows/rows.h"

/* Changes rhs and correction of opposed blocks.  0: no memory. */
int spragOpposedRelax(struct spragWorld *world, spragIsland *island);

#endif
