/* Bounds of joint friction that rounds of solutions do not settle (ode/bounded.h), in a small island.
 *
 * Eight sweeps and new bounds by turns, many of them, from the best answer: they end where contacts can share a
 * load in many ways.  Then Newton's method for
 *
 *     x = F(x),   x: loads that the bounds are set by, N;   F(x): those of the solution for them,
 *
 * which ends where rounds go to and fro, for a gain beyond -1 or between the pieces of F.  dF is had from as many
 * solutions as there are joints that turn.  A step that brings the bounds no nearer is halved; where none does, x goes
 * a part of the way to F(x).
 *
 * What is left then has, as far as it was looked at, no solution nearby: contacts beside a joint jump to another motion
 * at a certain bound, and no load fits its bound on either side.
 *
 * Tried and dropped: a limit of work for all searches of a step, which may begin again a dozen times as sliding ends
 * turn; or a search only once they stay.  A chain of nine bodies on ten joints took 1.5 s in its first step, not 6.7,
 * but was left at 1e-6 m/s, not at 1e-7. */
#ifndef SPRAG_ODE_SETTLE_H
#define SPRAG_ODE_SETTLE_H

#include "ode/bearing.h"

/* Searches on from the best answer (spragBearingsBest), which leaves *least m/s, until bounds are within `enough` m/s
 * and the residual within the tolerance.  A better answer is kept, and *least says what it leaves.
 * island->solve.iterations: those of the whole search.  0: no memory. */
int spragSettle(const struct spragWorld *world, const spragSolveOptions *options, double enough, spragIsland *island,
                spragBearingRounds *rounds, double *least);

#endif
