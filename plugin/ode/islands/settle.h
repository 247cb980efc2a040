/* Bounds of joint friction that rounds of solutions do not settle (ode/islands/bounded.h), in a small island.
 *
 * The bounds are right at a fixed point
 *
 *     x = F(x),   x (n) N: the joints' loads from which bounds are set,   F(x): the loads in the solution for them.
 *
 * First from the best answer many turns of eight sweeps and new bounds: these converge where contacts can share a load
 * in many ways.  Then Newton's method on F(x) - x, which converges where iteration oscillates, as the gain dF is beyond
 * -1 or F has a kink.  dF comes from differences, one solution for each joint that turns.  A step that brings the
 * bounds no nearer is halved; if no part of it does, x goes a part of the way to F(x).
 *
 * Islands that are left then have, as far as was seen, no solution nearby: at a certain bound contacts beside a joint
 * jump to another motion, and on neither side of it does the load fit the bound. */
#ifndef SPRAG_ODE_SETTLE_H
#define SPRAG_ODE_SETTLE_H

#include "ode/joints/bearing.h"

/* Searches on from the best answer (spragBearingsBest), which leaves *least m/s, until bounds are within `enough` m/s
 * and the residual within the tolerance.  A better answer is kept, and *least says what it leaves.
 * island->solve.iterations: those of the whole search.  0: no memory. */
int spragSettle(const struct spragWorld *world, const spragSolveOptions *options, double enough, spragIsland *island,
                spragBearingRounds *rounds, double *least);

#endif
