/* Mechanisms: sets of bodies that joints hold together, before their equations are made (ode/articulation.h).
 *
 * Two bodies that a joint's rows tie are in one mechanism.  Blocks on its bodies touch it. */
#ifndef SPRAG_ODE_MECHANISM_H
#define SPRAG_ODE_MECHANISM_H

#include "ode/world.h"

/* Finds the island's mechanisms from its rows: island->articulation, each with its rows, joints, bodies and blocks, in
 * their order in the island; body.place becomes the number of the body's group (delassus_pattern.h).  Blocks learn
 * which mechanisms they touch.  0: no memory. */
int spragMechanismsFind(spragSnapshot *s, spragIsland *island);

/* Chooses the order in which the joints are eliminated, and analyses the factor.  They keep the order they were made
 * in; or it is turned round, where that leaves fewer blocks of L (a robot that is built from its trunk outwards is then
 * eliminated from its feet inwards); or they are dissected, where that costs half as much (a contact on a long chain
 * reaches few joints then).  0: no memory. */
int spragMechanismOrder(const spragSnapshot *s, spragIsland *island, struct spragArticulation *art);

#endif
