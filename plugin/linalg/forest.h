/* A graph of bodies, and of joints between two of them or between one and the world: each joint of a spanning forest
 * gets a body of its own.
 *
 * A tree of joints has one body more than joints, or as many if it hangs on the world.  A leaf, a body with one joint,
 * owns that joint; both are taken off the tree, and so on until nothing is left.  Besides its own body a joint has then
 * only one that is taken off later: the matrix of joints by owned bodies is triangular by blocks. */
#ifndef SPRAG_LINALG_FOREST_H
#define SPRAG_LINALG_FOREST_H

#include "base/arena.h"

/* of (m x 2): bodies below n, or -1: the world.  owner (m): the body of each joint, -1: it closes a loop.  0: no
 * memory. */
int spragForestFollow(int n, int m, const int *of, int *owner, spragArena *arena);

#endif
