/* A slip that passes through zero.
 *
 * A slip that turns round stands still for one step, as a rule: the law at the end of the step has a solution with
 * u_t = 0 wherever friction, within its bound, can take what is left of the slip.  Whether it holds is asked of the
 * motion that follows, q' = q + J (v of its end - v of its beginning), the next step's problem in the geometry of this
 * one.  What slips back there did not stick, it reversed.  (Islands of a few blocks; in a pile nobody asks.) */
#ifndef SPRAG_ODE_PASSING_H
#define SPRAG_ODE_PASSING_H

#include "ode/rows.h"

/* After the island's last solution: sets `passes` of its blocks.  (Without memory none is.) */
void spragPassingFind(const struct spragWorld *world, const spragSolveOptions *options, spragIsland *island);

#endif
