/* Anderson's mixing (1965; type II of Fang and Saad 2009) of a fixed-point iteration x <- G(x), safeguarded.
 *
 * With f_k = G(x_k) - x_k and the last m differences dF = (f_j - f_{j-1}), dG = (G_j - G_{j-1}):
 *
 *     x_{k+1} = G(x_k) - dG y,   y = argmin | f_k - dF y |.
 *
 * On sweeps of Gauss-Seidel it finds the slow modes of long chains.  A mix after which |f| did not fall is undone: the
 * window starts again from the last G, after a rest of plain sweeps that doubles with every failure.
 *
 * All products are sums over fixed pieces of the vectors, so that threads do not change their bits.  An iteration:
 *
 *     G <- G(x), in any pieces;  spragAndersonGather of each;  spragAndersonLook;  spragAndersonMix: next x, G = x */
#ifndef SPRAG_SOLVE_ANDERSON_H
#define SPRAG_SOLVE_ANDERSON_H

#include "base/arena.h"
#include "base/pool.h"

enum { SPRAG_ANDERSON_WINDOW = 5, SPRAG_ANDERSON_PRODUCTS = 2 * SPRAG_ANDERSON_WINDOW + 1 };

/* What a piece adds to the products, in cache lines of its own (the arena aligns
 * by 64): dF_j . dF_new, dF_j . f, |f|^2. */
typedef struct spragAndersonSums {
    _Alignas(64) double product[SPRAG_ANDERSON_PRODUCTS];
} spragAndersonSums;

typedef struct spragAnderson {
    int pieces;
    const int *start;                                              /* (pieces + 1) first unknown of each */
    int count;                                                     /* differences taken since the last start */
    const double *weight;                                          /* (n = start[pieces]) |f| is that of weight * f */
    double *x, *G;                                                 /* (n) */
    double *f, *f_last, *G_last;                                   /* (n) */
    double *dF[SPRAG_ANDERSON_WINDOW], *dG[SPRAG_ANDERSON_WINDOW]; /* (n) */
    double gram[SPRAG_ANDERSON_WINDOW][SPRAG_ANDERSON_WINDOW];     /* dF' dF */
    spragAndersonSums *sums;                                       /* (pieces) */
    double y[SPRAG_ANDERSON_WINDOW];
    int slot, m;            /* the newest difference, -1: there is none; differences in use */
    int rest, rest_length;  /* plain sweeps left; after the next failure */
    double size, size_last; /* |f| here; of the last mix, infinity after a start */
    double size_before;     /* of f_last */
    double turn, ratio;     /* |f - f_last| / |f|, infinity after a start; f . f_last / |f_last|^2 */
    int known;              /* 1: f_last and G_last are of the sweep before */
    spragPool *pool;        /* may be NULL */
} spragAnderson;

/* 0: out of memory.  The caller fills x, and G with the same. */
int spragAndersonInit(spragAnderson *anderson, int pieces, const int *start, const double *weight, spragPool *pool,
                      spragArena *arena);
/* A piece of a sweep from x to G. */
void spragAndersonGather(spragAnderson *anderson, int piece);
/* All of them. */
void spragAndersonLook(spragAnderson *anderson);
/* After a look: x and G become the next point to sweep from. */
void spragAndersonMix(spragAnderson *anderson);
/* Forgets what it knows: the next sweep starts somewhere else. */
void spragAndersonRestart(spragAnderson *anderson);

#endif
