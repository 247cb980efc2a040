/* Sparse LU of a matrix of bxb blocks, b = 3 (contacts) or 6 (bodies), with symmetric pattern, A = L U, in the order of
 * least degree (AMD), pivoting only inside the diagonal blocks.  Made for systems near W + rho I or M + J^T S J, whose
 * leading blocks are safe pivots; the caller checks what it gets.  Pattern once, numbers often.
 *
 * Rows of which A has the diagonal block alone, as those of open contacts (bare rows), give their x at once; the
 * factors are those of the other rows and columns, within the same pattern.
 *
 * A symmetric positive definite matrix is A = R^T R, with R in the place of U and R^T in that of L.  That is half the
 * work and half the memory, and a block of condition 1e11 loses half its digits: its root is inverted, where LU inverts
 * the block itself and loses all. */
#ifndef SPRAG_LINALG_BLOCK_LU_H
#define SPRAG_LINALG_BLOCK_LU_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/pool.h"

/* Of a matrix A of blocks: which of them there are, each row's in any order. */
typedef struct spragBlockPattern {
    int size, n;          /* b, block rows */
    const int *row_start; /* (n + 1) */
    const int *column;
} spragBlockPattern;

typedef struct spragBlockLu {
    int n;                    /* block rows */
    int size, padded;         /* b; numbers of a block of U: b rows of spragBlockLuStride */
    int symmetric;            /* 1: A = R^T R */
    const int *row_start;     /* (n + 1) of A, as given */
    const int *column;        /* of A */
    int leaders;              /* rows that are ordered; those from there on follow them */
    const int *after;         /* (n - leaders) which row each comes right after, -1: after all; NULL: there are none */
    int *order, *position;    /* (n): row order[i] of A is row i of the factors; position is its inverse */
    int *u_start, *u_column;  /* U: strictly upper blocks by rows, columns ascending */
    int *l_start, *l_column;  /* L: strictly lower blocks by rows, columns in the order of elimination */
    unsigned char *bare;      /* (n) 1: of row i of the factors A has the diagonal block alone */
    int bare_count;           /* bare rows of the last factorisation */
    const int *u_end, *l_end; /* (n) what rows have of their patterns: up to here, in u_live, l_live */
    const int *u_live, *l_live; /* u_column, l_column, without bare rows if there are any */
    int *room;                  /* for these four, if there are */
    double *L;                  /* blocks (b x b); NULL: symmetric */
    double *U;                  /* blocks (padded): rows of 4 or 8 for vector operations */
    double *inverse;            /* (n x b x b) inverses of U's diagonal blocks, or of R's */
    double *work;               /* (n x padded), zero between uses */
    double *solution;           /* (n x stride), 0 beside blocks, and before the first one */
    spragPool *pool;            /* or NULL */
    double *works;              /* (threads x n x padded) as work, of each thread */
    atomic_int *done;           /* (n) the factorisation in which a row was last finished */
    int round;                  /* factorisations so far */
    atomic_int next, failed;    /* row to be taken; 1: a diagonal block is singular */
    const double *A;            /* of the last factorisation: must be there until the last solution */
    double products;            /* of 3x3 blocks, or as many as take the time of one factorisation: its price */
} spragBlockLu;

/* Numbers of a row of a block of U, and of its work. */
static inline int spragBlockLuStride(int size)
{
    return (size + 3) / 4 * 4;
}

/* The last analysis.  Piles at rest ask for the same one in every step, and it takes longer than a factorisation. */
typedef struct spragBlockLuMemo {
    int size, n, blocks; /* size 0: none */
    double products;
    int whole;   /* 0: it cost too much, so only the pattern and the price are known */
    int refused; /* 1: it cost too much for who asked last */
    int *number; /* row_start, column; order, position, u_start, l_start, u_column, l_column */
    size_t room;
} spragBlockLuMemo;

/* Orders the rows and finds the pattern of the factors, in the arena's memory.  1: done; 0: out of memory; -1: a
 * factorisation would take more than `products_most` products of 3x3 blocks, so no memory was taken for it. */
int spragBlockLuAnalyse(spragBlockLu *lu, const spragBlockPattern *A, double products_most, spragArena *arena);
/* Of a saddle, whose rows from `leaders` on have no safe pivots of their own: row leaders + i is eliminated right after
 * row after[i], no two after the same, or after all (-1). */
int spragBlockLuAnalyseSaddle(spragBlockLu *lu, const spragBlockPattern *A, int leaders, const int *after,
                              double products_most, spragArena *arena);
/* Of a symmetric positive definite matrix, both of its triangles given. */
int spragBlockLuAnalyseSymmetric(spragBlockLu *lu, const spragBlockPattern *A, double products_most, spragArena *arena);
/* The same as the first, from the memo (or NULL) if it is of this pattern, and into it if not. */
int spragBlockLuAnalyseAgain(spragBlockLu *lu, spragBlockLuMemo *memo, const spragBlockPattern *A, double products_most,
                             spragArena *arena);
void spragBlockLuMemoFree(spragBlockLuMemo *memo);
/* Factorisations by the threads of a pool, with the same bits; it must last as long as they are made.  0: no memory. */
int spragBlockLuShare(spragBlockLu *lu, spragPool *pool, spragArena *arena);
/* A (blocks x b x b) in the pattern given.  1, or 0: a diagonal block became singular, or not positive definite. */
int spragBlockLuFactor(spragBlockLu *lu, const double *A);
/* Sign of det A from the factors, b = 3: -1, 0, +1. */
int spragBlockLuSign(const spragBlockLu *lu);
/* x (b n) := A^-1 x */
void spragBlockLuSolve(spragBlockLu *lu, double *x);
/* The same of four right-hand sides, for blocks of 3 of no symmetric matrix, in the time of little more than one: x
 * (3n x 4), one in each lane, and work, as large: both aligned to 32 bytes. */
void spragBlockLuSolveFour(const spragBlockLu *lu, double *x, double *work);
/* Columns 3k .. 3k + 2 of the inverse, for blocks of 3, in the time of less than one solution.  columns (3n x 4, the
 * last one unused) and work, as large: both aligned to 32 bytes. */
void spragBlockLuColumns(const spragBlockLu *lu, int k, double *columns, double *work);

#endif
