/* The chain again and again, until what parts is free, what presses is held, and what slips does so with its kinetic
 * coefficient.
 *
 * With mu = infinity contacts are BOX blocks whose tangential rows hold without bound.  With an infinite coefficient
 * (dContactApprox1) what is not pressed is not held, else it would be glue.  Contacts that part lose their tangential
 * bounds, those that press again get them back, and the island is solved again.
 *
 * Of more than 16 such contacts (24, where there are joints), if nothing else has friction, all that stick and all
 * that are open are looked for at once first (sticking.h), and once more with contacts in accord (accord.h): bricks of
 * a wall that sink ask for what no motion gives, and a set of them that holds would be followed by another one, eight
 * times.
 *
 * Some have several: in small islands what carried no load and departs, as the guess has it, is let go at once, and
 * what did carry some is held (docs/theory.md 6).
 *
 * Some have no such answer: held they pull, let go they press, as the tip of a rod that is dragged behind.  The limit
 * of Coulomb's law for mu to infinity has: r_n = 0, u_n = 0, and finite friction against the slip, by which the bodies
 * come no nearer.  So what is let go twice and presses, of a contact alone at once, becomes the cone next to its law,
 * mu = SPRAG_COEFFICIENT_INFINITE, and with it all others that are let go; their guess is that of the step, if some
 * contact slid so in the last one.  (Two and more may flip though some set of them holds: where a slide begins sets
 * come before cones, hold_some.h.)  What that does not solve soon is taken back, and not tried again for some steps
 * (unless the contact is alone); beyond 60 blocks it is not tried.  What presses then slides without friction, and is
 * told of as one that slips.
 *
 * A cone with mu = 1e3 in place of every infinity was tried: right as well, but one random island in twenty missed
 * 1e-8. */
#ifndef SPRAG_ODE_PARTING_H
#define SPRAG_ODE_PARTING_H

#include "ode/rows/rows.h"
#include "solve/solver.h"

/* The law of a contact with an infinite coefficient: BOX, or CONTACT, the cone next to it. */
void spragPartingLaw(spragIsland *island, int k, spragBlockKind kind);

/* The same part of the chain in each round; fills r, u and solve, and adds to *iterations. */
spragStatus spragPartingSolve(spragChainPart part, const spragSolveOptions *options, spragIsland *island,
                              int *iterations);

#endif
