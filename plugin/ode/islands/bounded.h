/* An island's problem solved together with the bounds that follow from its answer: friction in turning joints
 * (ode/joints/bearing.h), |M| <= mu R F(r), F the force that the joint hands on.
 *
 *     r <- solution for the bounds,   bounds <- mu R F(r),   until what the change is worth is below the tolerance.
 *
 * In a small island, before the first solution and between two solutions, there are rounds of a few sweeps each, with
 * new bounds after each, as long as a round halves the larger of residual and change, or they will arrive in 40 more at
 * the present pace.  This has two reasons.  The first bounds are from the loads of the last step: where something
 * strikes, loads change so much that a solution for the old bounds costs much and is worth nothing.  And where loads
 * can be shared in many ways, as by contacts on both sides of a joint, every solution shares them anew, and solutions
 * alone would go on for ever; sweeps leave the shares as they are.
 *
 * Where a small bound moves a large load (a taut rope) sweeps lead astray: if the solution after them has its bounds no
 * nearer than the solution before them, both are undone.  Then, and where it has them less than ten times nearer, the
 * next two solutions follow without sweeps, and their bounds are mixed.  While bounds are far off solutions are
 * rough. */
#ifndef SPRAG_ODE_BOUNDED_H
#define SPRAG_ODE_BOUNDED_H

#include "ode/world/world.h"

/* Fills r, u, solve (iterations of all rounds; the larger of the answer's residual and what the change of bounds is
 * worth) and the joints' forces, of the best answer it has found.  Gives up after some solutions without progress.
 * ERROR_MEMORY, or the status of the last answer. */
spragStatus spragBoundedSolve(const struct spragWorld *world, const spragSolveOptions *options, spragIsland *island);

#endif
