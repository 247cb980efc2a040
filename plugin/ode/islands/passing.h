/* A slip that passes through zero.
 *
 * A slip that turns round stands still for one step, as a rule: the law at the end of the step has a solution with
 * u_t = 0 wherever friction, within its bound, can take what is left of the slip.  Whether it holds is asked of the
 * motion that follows, q' = q + J (v of its end - v of its beginning), the next step's problem in the geometry of this
 * one.  What slips back there did not stick, it reversed.  (Only in islands of a few blocks, by the mode search alone,
 * and not in a wedge, which has no rigid solution: of balls stuck between pegs the chain took 40 ms, in vain.) */
#ifndef SPRAG_ODE_PASSING_H
#define SPRAG_ODE_PASSING_H

#include "ode/rows/rows.h"

/* Of w mu r_n, the change of slip that friction can take in a step.  A slip can come back only where forces drive it by
 * more than this share; the share is small since contacts share their load, and one may bear little of it.  So boxes
 * that land are not looked at: a thousand of them would cost 30 % more. */
#define SPRAG_PASSING_SHARE 0.1

/* After the island's last solution: sets `passes` of its blocks.  (Without memory none is.) */
void spragPassingFind(const struct spragWorld *world, const spragSolveOptions *options, spragIsland *island);

#endif
