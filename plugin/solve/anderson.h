/* Anderson's mixing (1965; type II of Fang and Saad 2009) of a fixed-point iteration x <- G(x), safeguarded.
 *
 * With f_k = G(x_k) - x_k and the last m differences dF = (f_j - f_{j-1}), dG = (G_j - G_{j-1}):
 *
 *     x_{k+1} = G(x_k) - dG y,   y = argmin | f_k - dF y |.
 *
 * On sweeps of Gauss-Seidel it finds the slow modes of long chains.  A mix after which |f| did not fall is undone: the
 * window starts again from the last G, after a rest of plain sweeps that doubles with every failure.
 *
 * All products are sums over fixed pieces of the vectors, so that threads do not change their bits. */
#ifndef SPRAG_SOLVE_ANDERSON_H
#define SPRAG_SOLVE_ANDERSON_H

#include "base/arena.h"
#include "base/pool.h"

enum { SPRAG_ANDERSON_WINDOW = 5, SPRAG_ANDERSON_PRODUCTS = 2 * SPRAG_ANDERSON_WINDOW + 1 };

typedef struct spragAnderson {
    int n, count;                /* unknowns; differences taken since the last start */
    const double *weight;        /* (n) |f| is that of weight * f */
    double *f, *f_last, *G_last; /* (n) */
    double *dF[SPRAG_ANDERSON_WINDOW], *dG[SPRAG_ANDERSON_WINDOW]; /* (n) */
    double gram[SPRAG_ANDERSON_WINDOW][SPRAG_ANDERSON_WINDOW];     /* dF' dF */
    double (*partial)[SPRAG_ANDERSON_PRODUCTS];                    /* of each piece: dF_j . dF_new, dF_j . f, |f|^2 */
    double y[SPRAG_ANDERSON_WINDOW];
    int slot, m;            /* the newest difference; differences in use */
    int rest, rest_length;  /* plain sweeps left; after the next failure */
    double size, size_last; /* |f| here; of the last mix, infinity after a start */
    double size_before;     /* of f_last */
    double turn, ratio;     /* |f - f_last| / |f|, infinity after a start; f . f_last / |f_last|^2 */
    int known;              /* 1: f_last and G_last are of the sweep before */
    spragPool *pool;        /* may be NULL */
    double *x;              /* of the present mix */
    const double *G;
} spragAnderson;

/* 0: out of memory. */
int spragAndersonInit(spragAnderson *anderson, int n, const double *weight, spragPool *pool, spragArena *arena);
/* Looks at a sweep from x to G (n). */
void spragAndersonLook(spragAnderson *anderson, double *x, const double *G);
/* After a look at the same: x becomes the next point to sweep from. */
void spragAndersonMix(spragAnderson *anderson, double *x, const double *G);
/* Forgets what it knows: the next sweep starts somewhere else. */
void spragAndersonRestart(spragAnderson *anderson);

#endif
