/* Mechanisms: the connected components of the graph whose nodes are an island's moving bodies and whose edges are its
 * joints with equality rows.  Bodies without a joint are in none; a block touches the mechanisms of its two bodies.
 * Their equations are made in ode/joints/articulation.h. */
#ifndef SPRAG_ODE_MECHANISM_H
#define SPRAG_ODE_MECHANISM_H

#include "ode/world/world.h"

/* Finds the island's mechanisms from its rows: island->articulation, each with its rows, joints, bodies and blocks, in
 * their order in the island; body.place becomes the number of the body's group (delassus_pattern.h).  Blocks learn
 * which mechanisms they touch.  0: no memory. */
int spragMechanismsFind(spragSnapshot *s, spragIsland *island);

/* Chooses the order in which the joints are eliminated, and analyses the factor L of A = E M^-1 E^T = L D L^T.  The
 * order is that in which they were made; or its reverse, if L has fewer blocks then (a robot that is built from its
 * trunk outwards is eliminated from its feet inwards); or a dissection, if that costs at most half (a contact on a
 * long chain then reaches few joints).  0: no memory. */
int spragMechanismOrder(const spragSnapshot *s, spragIsland *island, struct spragArticulation *art);

#endif
