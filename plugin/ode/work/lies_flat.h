/* Do the bodies of an island lie flat on each other, as what has been built does?
 *
 * Of the pairs of bodies that touch, nearly all then touch along a face or an edge, with two and more points of one
 * normal: all pairs of walls, pyramids, towers, arches and houses of cards do, and 0.97 of dry walls of random stones;
 * of heaps of boxes 0.4 to 0.82, of boxes and convex meshes 0.3 to 0.78, of capsules or cylinders 0.1 to 0.2.  A ball
 * touches in a point whatever it lies on, so a few balls are left out.  It is pairs that are counted: how many contacts
 * a body has says less (an arch has 4.1, a heap of meshes 6 to 7, as colliders name up to 8 points of a pair). */
#ifndef SPRAG_ODE_LIES_FLAT_H
#define SPRAG_ODE_LIES_FLAT_H

#include "ode/world/world.h"

/* 1: they do, and have more than 60 contacts.  A heap in haste stays one for a while longer. */
int spragIslandLiesFlat(const struct spragWorld *world, const spragIsland *island);

#endif
