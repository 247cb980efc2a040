/* Velocity of a body at the end of the step if nothing constrained it:  v + h M^-1 (f + m g + gyroscopic).
 *
 * The gyroscopic torque is ODE's, implicit and damped (Lacoursiere 2006), or the one that keeps the angular momentum
 * L of the torque-free motion under ODE's own update of the orientation.  w0 belongs to the middle of the last step,
 * w1 to the middle of this one: find w1 with
 *     I(q_1/2(w1)) w1 = L = I(q_-1/2) w0,   I(q_1/2) = Q I(q0) Q^T,  Q the rotation ODE makes of w1 in half a step,
 * by iterating w1 <- Q I(q0)^-1 Q^T L, and apply I(q0) (w1 - w0) / h. */
#ifndef SPRAG_ODE_FREE_MOTION_H
#define SPRAG_ODE_FREE_MOTION_H

#include "ode/world/world.h"

/* Fills free_velocity, gyroscopic and own_gyroscopic of a body in a solved island. */
void spragFreeMotion(const struct spragWorld *world, spragBodyState *body);

#endif
