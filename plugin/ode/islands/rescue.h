/* Large islands that have no answer: W does not fit into memory, or what was found is not finite.
 *
 * They would be ODE's, whose dWorldStep takes time like the cube of the contacts and memory like their square: with
 * seven thousand contacts hours and 7 GB, with ten thousand it does not end.  So they are swept: block Gauss-Seidel
 * over contacts, limits and joints in the velocities of bodies, as QuickStep has it, but with Sprag's rows and laws,
 *
 *     u_k = q_k + C_k r_k + J_k v,   r_k <- the block's law,   v = M^-1 (J^T r + E^T lambda).
 *
 * W, and the factors of mechanisms, are never formed: memory is linear in the contacts, and time is bounded.  The best
 * answer by the judge is taken and counts as a fallback; its residual is told like any other. */
#ifndef SPRAG_ODE_RESCUE_H
#define SPRAG_ODE_RESCUE_H

#include "ode/world/world.h"

/* Joints of an island that dWorldStep takes seconds for. */
enum { SPRAG_RESCUE_LEAST = 300 };

/* From an island that is declined as it has no answer; r, u and the impulses of its rows, island->rescued and solve.
 * 0: not even that can be had, and it is declined as it was. */
int spragRescue(struct spragWorld *world, const spragPointerMap *surfaces, const spragSolveOptions *options,
                spragIsland *island);

#endif
