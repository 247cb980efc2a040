/* An island's problem solved together with the bounds that follow from its answer: friction in turning joints
 * (ode/bearing.h), |M| <= mu R F(r), F the force that the joint hands on.
 *
 *     r <- solution for the bounds,   bounds <- mu R F(r),   until what the change is worth is below the tolerance.
 *
 * Before the first solution of a small island, for whose bounds there are the loads of the last step, and between two
 * of them, a few sweeps and new bounds take turns as long as that halves what is left of both.  Where something
 * strikes, the loads are others by far: a solution for the old ones is dear, and worth nothing.  Where loads can be
 * shared in many ways, as by contacts on both sides of a joint, every solution shares them anew, and solutions alone
 * would go on for ever; sweeps leave the shares as they are.  Where a small bound moves a large load (a taut rope)
 * sweeps lead astray: if the solution after them has its bounds no nearer than the one before, it is as if they had
 * not been, and the next two solutions follow each other, then four, and so on.
 *
 * Tried and dropped: 6 solutions in vain, not 15, and 4 turns of sliding ends, not 16, where contacts of more than 40
 * blocks yield.  A first step of eight boxes on ten joints took 1.2 s, not 5.2, but ended at 0.2 m/s, not at 8e-9. */
#ifndef SPRAG_ODE_BOUNDED_H
#define SPRAG_ODE_BOUNDED_H

#include "ode/world.h"

/* Fills r, u, solve (its iterations: of all rounds; its residual: the bounds' too) and the joints' forces.  Ends where
 * an island that has no answer has shown so for some bounds, and with the best it has seen. */
spragStatus spragBoundedSolve(const struct spragWorld *world, const spragSolveOptions *options, spragIsland *island);

#endif
