/* Motors and limits that hold respond to a contact within the step, like a joint, and so take part in its p and b.
 *
 * Rows B of joints whose force in the last step was strictly within its bounds, and joint
 * friction that held, keep their velocity:
 *     W_kk <- W_kk - H_k,   H_k = W_kB W_BB^-1 W_Bk,      b_k <- b_k + (H_k r_k / h)_n,
 * r_k the contact's own impulse of the last step, whose end the motors make up for (their own last
 * forces are in b_k already).  Without this the foot of a robot whose motors hold looks like that
 * of a limp one, whose p is often below 0.  The rows B are factorised with those of their joints (articulation.h),
 * which costs what the mechanism's length does. */
#ifndef SPRAG_ODE_HELD_H
#define SPRAG_ODE_HELD_H

#include "ode/rows/rows.h"

/* Fills history[k].held (3x3) and shifts free_acceleration; the guess island->r must be there.  0: no memory. */
int spragHeldReduce(struct spragWorld *world, const spragIsland *island, spragContactHistory *history);

#endif
