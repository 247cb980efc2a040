/* A = L D L^T of a sparse symmetric positive semidefinite matrix in blocks of up to six rows, without pivoting: the
 * equality rows of joints, one block row a joint.  Two block rows meet in A where they share a group (a body).
 *
 * Row i of L reaches from the first block row of each of its groups up the elimination tree to i (J. W. H. Liu, The
 * role of elimination trees in sparse factorization, 1990): all rows of a group meet, so each lies on the path of the
 * first.  The same paths say where L^-1 b is not zero.  Blocks are kept transposed, the rows of i side by side as
 * lanes, so that all is done by  Y <- Y - M X  on panels of lanes.
 *
 * A row that depends on earlier ones (a redundant constraint) has a pivot of the size of rounding; it is left out:
 * 1 / pivot is taken as 0, which is the solution in which that row carries nothing. */
#ifndef SPRAG_LINALG_BLOCK_LDLT_H
#define SPRAG_LINALG_BLOCK_LDLT_H

#include "base/arena.h"

enum {
    SPRAG_JOINED_ROWS = 6,   /* most rows of a block */
    SPRAG_JOINED_STRIDE = 8, /* lanes of a block: two quads */
    SPRAG_JOINED_BLOCK = SPRAG_JOINED_ROWS * SPRAG_JOINED_STRIDE,
    SPRAG_JOINED_LANES = 4 /* of a right-hand side */
};

typedef struct spragBlockLdlt {
    int n;                 /* block rows */
    int *size;             /* (n) rows of each */
    const int (*group)[2]; /* (n) groups of each, -1: none */
    int *first;            /* (groups) first block row, or n */
    int *parent;           /* (n) elimination tree; n: none */
    int *start, *column;   /* (n + 1), (start[n]): blocks left of the diagonal by rows, ascending */
    int *place;            /* (n) work, -1 between uses */
    double *L;             /* (start[n] x 6 x 8) A_ij^T, then L_ij^T */
    double *diagonal;      /* (n x 6 x 8) A_ii, then L_ii below its diagonal */
    double *inverse_pivot; /* (n x 6) */
} spragBlockLdlt;

/* The pattern of L for block rows in this order; group (n) with numbers below group_count stays the caller's.  Memory
 * from the arena.  0: none. */
int spragBlockLdltAnalyse(spragBlockLdlt *f, spragArena *arena, int n, const int (*group)[2], int group_count);
/* Room for the numbers: sizes 0, blocks not set.  0: no memory. */
int spragBlockLdltTake(spragBlockLdlt *f, spragArena *arena);
/* size is set; L and diagonal hold A, lanes beyond a block's rows zero. */
void spragBlockLdltFactor(spragBlockLdlt *f);

/* Block rows in which L^-1 b is not zero, b that of a row of these groups: ascending; returns how many of list (n). */
int spragBlockLdltReach(const spragBlockLdlt *f, const int group[2], int *list);
/* X (count x 6 x 4) <- L^-1 X, of the block rows in list (count), a reach, or NULL: of all. */
void spragBlockLdltForward(const spragBlockLdlt *f, int count, const int *list, double *X);
/* x (n x 6) <- L^-T x */
void spragBlockLdltBackward(const spragBlockLdlt *f, double *x);

#endif
