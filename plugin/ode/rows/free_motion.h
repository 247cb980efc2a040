/* Velocity of a body at the end of the step if nothing constrained it:  v + h M^-1 (f + m g + gyroscopic).
 *
 * The gyroscopic torque is ODE's, implicit and damped (Lacoursiere 2006), or the one that keeps the angular momentum
 * L under ODE's own update of the orientation.  w0 belongs to the middle of the last step, w1 to the middle of this
 * one, and the step's moments P, N m s, come between both: find w1 = w(P) with
 *     I(q_1/2(w1)) w1 = I(q_-1/2) w0 + P,   I(q_1/2) = Q I(q0) Q^T,  Q the rotation ODE makes of w1 in half a step,
 * by iterating w1 <- Q I(q0)^-1 Q^T (L + P).
 *
 * What is not known yet of P, the moment C of contacts, is answered by I(q0)^-1, as a contact problem needs a symmetric
 * W: with a guess G of it
 *     w1 = w(P_outer + G) + I(q0)^-1 (C - G),
 * which misses w(P_outer + C) by about h/2 (w x I^-1 - I^-1 w x) (C - G).  With G = C nothing is missed; with that of
 * the last step what one step misses the next makes good, as the differences C - G add up to nothing.  The torque
 * applied is I(q0) (w(P_outer + G) - w0) - P_outer - G over h.
 *
 * That is for what turns on the rim of a cylinder.  (With G = 0 coins that spin gained or lost up to 4 % of their
 * energy in 8 s of 240 steps a second.)  All else has P = 0 in its place, P_outer with C: an error of first order, but
 * of nothing else, and the spin of a top is kept to rounding.  SPRAG_GYROSCOPIC_CONTACTS: all that turns has G. */
#ifndef SPRAG_ODE_FREE_MOTION_H
#define SPRAG_ODE_FREE_MOTION_H

#include "ode/world/world.h"

/* Fills free_velocity, gyroscopic and own_gyroscopic of a body in a solved island.
 * foreseen (3): G, or NULL: there is none; so it is of all that spragMomentMatters says no to. */
void spragFreeMotion(const struct spragWorld *world, spragBodyState *body, const double *foreseen);

/* Does w(P) differ from w(0) + I(q0)^-1 P?  Not where a body turns by less than SPRAG_TURNS_LITTLE, rad, in a step:
 * that is all of P that it would be.  (Then what rests is not disturbed.) */
#define SPRAG_TURNS_LITTLE 1e-6
int spragMomentMatters(const struct spragWorld *world, const spragBodyState *body);

/* moment (body_count x 3, zeros) becomes G of the island's bodies, of contacts that press as in the last step; NAN of
 * bodies with a new one, which has a share of the load, and of those that have none (above).  0: none has, as there are
 * joints of which nothing is foreseen, or nothing turns. */
int spragMomentsForesee(const struct spragWorld *world, const spragPointerMap *surfaces, const spragIsland *island,
                        double (*moment)[3]);

#endif
