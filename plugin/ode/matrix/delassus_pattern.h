/* The pattern of W = J M^-1 J^T - (what mechanisms take off it), delassus.h: W_kl is stored iff blocks k and l
 * share a group, which is a moving body in no mechanism, or all bodies of one mechanism. */
#ifndef SPRAG_ODE_DELASSUS_PATTERN_H
#define SPRAG_ODE_DELASSUS_PATTERN_H

#include "ode/world/world.h"

/* Blocks of W that an island may have, 2.4 GB.  With more (ten thousand balls inside each other, demo_space_stress) it
 * is rescued. */
enum { SPRAG_PATTERN_MOST = 1 << 25 };

/* The island's blocks by groups: those on group p are list[start[p]] .. list[start[p + 1] - 1], ascending; p is the
 * place of the group's first body. */
typedef struct spragAdjacency {
    int *start, *list;
    int (*group)[2]; /* (block_count) of either side, or -1: nothing that moves, or the same as on the other side */
} spragAdjacency;

/* The lists are the island's too (island->on).  0: no memory. */
int spragAdjacencyMake(struct spragWorld *world, spragIsland *island, spragAdjacency *adjacency);

/* No less than the number of blocks of W. */
size_t spragPatternBound(const spragIsland *island, const spragAdjacency *adjacency);

/* Pattern of island->problem; of more than SPRAG_PATTERN_MOST the island fails.  0: no memory. */
int spragPatternMake(spragIsland *island, const spragAdjacency *adjacency, size_t bound);
/* That of the diagonal blocks alone. */
int spragPatternMakeDiagonal(spragIsland *island);

#endif
