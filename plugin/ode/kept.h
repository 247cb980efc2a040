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
    int *block;                /* (block_count) which it was before, or -1 */
    int *row;                  /* (row_count) which it was before, or -1 */
    int *now;                  /* (before->row_count) which it is now, or -1 */
    int *mechanism;            /* (before->row_count) */
} spragKept;

/* Fills island->kept, whose `before` is known, once the rows and blocks are there.  0: no memory. */
int spragKeptFind(spragIsland *island);

/* 1: the mechanisms that both blocks are on are as they were. */
int spragKeptCoupling(const spragIsland *island, int k, int l);

#endif
