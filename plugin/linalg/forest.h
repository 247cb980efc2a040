/* A graph of bodies and of joints between two of them, or between one and the world: each joint of a spanning forest
 * gets a body of its own.
 *
 * A tree of joints has one body more than joints, or as many where the world is one of its ends: a leaf owns the one
 * joint it has, is taken off with it, and so on.  Of the columns of owned bodies a joint then has its own and such
 * as are taken off later: the matrix is triangular by blocks. */
#ifndef SPRAG_LINALG_FOREST_H
#define SPRAG_LINALG_FOREST_H

#include "base/arena.h"

/* of (m x 2): bodies below n, or -1: the world.  owner (m): the body of each joint, -1: it closes a loop.  0: no
 * memory. */
int spragForestFollow(int n, int m, const int *of, int *owner, spragArena *arena);

#endif
