/* An order of elimination for joints, edges between groups (bodies) of which most are trees: the edge that parts them
 * most evenly comes last, then those that do so in either part.  Paths up the elimination tree of a chain of n joints
 * have log2 n joints then, not n; what closes a loop comes last of all. */
#ifndef SPRAG_LINALG_DISSECTION_H
#define SPRAG_LINALG_DISSECTION_H

#include "base/arena.h"

/* order (n): edge order[i] is the i-th to be eliminated.  group (n x 2): -1 is none.  0: no memory. */
int spragDissect(int n, const int (*group)[2], int group_count, int *order, spragArena *arena);

#endif
