/* An order of elimination for joints: edges of a graph whose nodes are groups (bodies), most of it trees.
 *
 * The edge that parts a tree most evenly comes last, before it those that do so with either part, and so on (nested
 * dissection).  Paths up the elimination tree of a chain of n joints have log2 n joints then, not n.  Edges that close
 * loops come last of all. */
#ifndef SPRAG_LINALG_DISSECTION_H
#define SPRAG_LINALG_DISSECTION_H

#include "base/arena.h"

/* order (n): edge order[i] is the i-th to be eliminated.  group (n x 2): -1 is none.  0: no memory. */
int spragDissect(int n, const int (*group)[2], int group_count, int *order, spragArena *arena);

#endif
