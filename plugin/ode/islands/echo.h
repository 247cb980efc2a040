/* What an impulse took of a motion is no force.
 *
 * The impulses r of a step hold what lies, and stop what still moved. Begun with all of them the next step throws the
 * bodies back as fast as they came, and the one after it stops them again: every second step of a wall at rest had to
 * be solved for that. The guess g that a step began with and its answer r are known by what they do to the bodies'
 * velocities in the step, E(g) and E(r), gravity and all; the force that holds has E = 0. So the next step begins from
 *
 *     r + t (g - r),   0 <= t <= 1,   E(r) + t (E(g) - E(r)) least in the norm of kinetic energy.
 *
 * With p = J^T (g - r) and E(g) - E(r) = M^-1 p that is t = - E(r).p / p.M^-1 p. Of g itself, which may leave its
 * cones, only force and moment of each pair of bodies are used (carry.h).
 *
 * Only where Newton ends at the answer. A few visits stop little of a slow motion of the whole pile, and what they do
 * adds up from step to step: without it the pile sways on. */
#ifndef SPRAG_ODE_ECHO_H
#define SPRAG_ODE_ECHO_H

#include "ode/islands/bare.h"

/* Of an island that was bare, whose guess was not the answer, and was solved with blocks: makes island->echo, t (g - r)
 * over the step, where that is anything. */
void spragEchoFind(const struct spragWorld *world, const spragBare *bare, spragIsland *island);

/* The same of a small island with blocks, where W takes the place of the bodies: E(r).p is a(r).(g - r), a the
 * acceleration of the contacts, and p.M^-1 p is (g - r).W (g - r).  It is asked where a guess within the tolerance was
 * not the answer: the next but one would be solved again, for ever.
 *
 * Islands of few blocks are left alone: they are solved at once (warm.h), and their contacts' springs (CFM) would
 * have to come to rest in every step. */

/* Room for the guess, filled, and for its u; NULL: not of this island. */
double *spragEchoKeep(const struct spragWorld *world, const spragIsland *island);
/* Once the island, with the same blocks, is solved. */
void spragEchoFindFew(const struct spragWorld *world, double *guess, spragIsland *island);

#endif
