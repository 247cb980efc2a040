/* Contacts that ask for too much.
 *
 * With mu = infinity they are BOX blocks whose tangential rows hold without bound.
 *
 * Parting.  With an infinite coefficient (dContactApprox1) what is not pressed is not held, else it would be glue.
 * Those that part lose their tangential bounds, those that press again get them back, and the island is solved again.
 *
 * Conflict.  Such contacts can ask for what no motion gives: two that hold a body against two that push it out.  The
 * impulses of the answer are then without limit (1e9 times what stops the body).  The contacts are softened by a
 * millionth of W, and the answer is the least violation in the sense of that compliance, with sane impulses.
 *
 * Ease.  Finite coefficients of 5 to 340, which games have, lead to much the same: problems whose rigid answer nobody
 * finds, or that have none.  Where an island was missed by more than a millionth of a metre a second, its friction gets a
 * compliance of a ten-thousandth, then of a hundredth of W, and the answer is one of that surface; it counts as fallback.
 *
 * A cone with mu = 1e3 in their place was tried: right as well, but one random island in twenty missed 1e-8. */
#ifndef SPRAG_ODE_RELEASE_H
#define SPRAG_ODE_RELEASE_H

#include "ode/rows.h"

/* After a solve: 1 if the problem was changed, solve again.  round counts from 1; it ends in spite of what happens. */
int spragRelease(spragIsland *island, int round);

#endif
