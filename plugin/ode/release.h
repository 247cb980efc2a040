/* Islands whose contacts ask for too much: the chain, and what is done where its answer is none.
 *
 * With mu = infinity contacts are BOX blocks whose tangential rows hold without bound.
 *
 * Parting.  With an infinite coefficient (dContactApprox1) what is not pressed is not held, else it would be glue.
 * Those that part lose their tangential bounds, those that press again get them back, and the island is solved again.
 *
 * Conflict.  Such contacts can ask for what no motion gives: two that hold a body against two that push it out.  The
 * impulses of the answer are then without limit but for a compliance of 1e-11 W (delassus.c), with which there is one.
 * Where they are that, and no answer was found (rounding alone leaves 1e-6 m/s of 1e9 N s), all contacts yield by 1e-8 of
 * W, ODE's CFM in a world of kilograms, and by ten times that until an answer is found.  Where contacts yield by a
 * micrometre a second and more the island is told of as a wedge, below: what is solved and judged has the compliance of
 * the world's CFM, of W's, and this one; `rigid` has none.
 *
 * Yielding.  Finite coefficients of 5 to 340, which games have, lead to much the same: problems whose rigid answer nobody
 * finds from where it starts, or that have none.  Where an island was missed, its friction gets a compliance s w, w the
 * mean of the diagonal of W_kk, with s = 1e-4 or, failing that, 1e-2; from there s goes down to 0 by tenths, each answer
 * the start of the next, as far as answers are found (a homotopy in s).
 *
 * Wedged.  Where an island was missed some milliseconds of the chain ago, existence.c is asked whether some motion
 * parts all contacts faster than it slides.  If so a solution exists, and the rest of the chain and what follows below
 * go on looking for it.  If not, friction locks a wedge: impulses inside the cones which stop each other (W r = 0) and
 * which the motion drives home (q.r < 0), as between the planks that a game has let a door sink into, all pushing it
 * out.  No rigid solution is known then, and none has been seen (stormbaancoureur: all of 20).  So all contacts yield:
 * a compliance s w on the diagonal, s = 1e-3 or, if need be, 1e-2 or 1e-1, with which a solution exists by the same
 * criterion.  That problem is solved and judged; the closing speed and the residual of the rigid one are kept beside it
 * (island->wedge, rigid), counted and told on their own.
 *
 * Whatever was softened on the way, W is the true one in the end: the answer that is kept is the best by the judge of the
 * problem that was asked (of a conflict or a wedge: the softened one), and so is its residual.  Such islands count as
 * fallbacks.
 *
 * A cone with mu = 1e3 in place of infinity was tried: right as well, but one random island in twenty missed 1e-8. */
#ifndef SPRAG_ODE_RELEASE_H
#define SPRAG_ODE_RELEASE_H

#include "ode/rows.h"

#define SPRAG_MISSED 1e-6 /* m/s: what misses by more is no answer */

/* Solves the island's problem from island->r: fills r, u and solve (its iterations: of all attempts).  Status as the
 * chain's. */
spragStatus spragReleaseSolve(const spragSolveOptions *options, spragIsland *island);

#endif
