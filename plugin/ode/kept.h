/* What an island that begins again keeps of the problem it had.
 *
 * A limit or motor that breaks its bound (joint_blocks.h) is one row less of its own mechanism, and a block more.  The
 * factors of every other mechanism, what its blocks reach in them and W_kl, where no mechanism of both k and l has
 * changed, are those of before to the bit.  Nobody has to say what has changed: rows and blocks are the same if all
 * their numbers are.  Bodies keep their free motion, which no limit or motor has a part in. */
#ifndef SPRAG_ODE_KEPT_H
#define SPRAG_ODE_KEPT_H

#include "ode/rows.h"

typedef struct spragKept {
    const spragIsland *before; /* its arrays are still there */
    int copied;                /* 1: rows and blocks are copies, but for those of joints that broke */
    int *block;                /* (block_count) which it was before, or -1 */
    int *row;                  /* (row_count) which it was before, or -1 */
    int *now;                  /* (before->row_count) which it is now, or -1 */
    int *mechanism;            /* (before->row_count) */
} spragKept;

/* 1: the island's rows and blocks can be copied: no solution has changed them, but sweeps have found what broke. */
int spragKeptCopies(const spragIsland *before);
/* Makes the rows and blocks, in place of spragIslandBlocksMake and all that follows up to spragKeptFind, and fills
 * island->kept, of which `before` is known: copies, but joints that broke are asked anew. */
spragStatus spragKeptCopy(struct spragWorld *world, spragIsland *island);

/* Fills island->kept, whose `before` is known, once the rows and blocks are there.  0: no memory. */
int spragKeptFind(spragIsland *island);

/* 1: the mechanisms that both blocks are on are as they were. */
int spragKeptCoupling(const spragIsland *island, int k, int l);

#endif
