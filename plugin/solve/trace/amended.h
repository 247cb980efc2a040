/* A tangent (tangent.h) some of whose block rows have changed since it was factorised, in the space of contacts.
 *
 * With the rows of contacts c = c_1 .. c_m replaced,
 *
 *     M' = M + E V,   V = dA_c + dB_c (W + soft)   (3m x 3nc),   E (3nc x 3m) the columns of the identity,
 *     M'^-1 g = y - Z (1 + V Z)^-1 V y,   y = M^-1 g,   Z = M^-1 E          (Woodbury 1950)
 *
 * A contact costs a solution once, however often its row changes; 1 + V Z is small and dense, and
 * det M' = det M det (1 + V Z).  Of 2300 contacts among spheres a factorisation costs 35 solutions. */
#ifndef SPRAG_SOLVE_AMENDED_H
#define SPRAG_SOLVE_AMENDED_H

#include "base/arena.h"
#include "solve/newton/tangent.h"

enum { SPRAG_AMENDED_MOST = 32 };

typedef struct spragAmended {
    spragTangent *tangent;           /* the caller's: A, B, soft of the last factorisation */
    int count;                       /* m */
    int contact[SPRAG_AMENDED_MOST]; /* c_i */
    int *place;                      /* (nc) i of c_i = k, else -1 */
    double *A, *B;                   /* (MOST x 3 x 3) the present rows of c_i; the caller's to fill */
    double *Z;                       /* (3 MOST x 3 nc) columns of Z, one after the other */
    double *small;                   /* (3m x 3m) factors of 1 + V Z */
    double *y;                       /* (3m) */
    double *columns, *work;          /* (3 nc x 4) three columns of Z side by side */
    int pivot[3 * SPRAG_AMENDED_MOST];
} spragAmended;

/* 0: no memory. */
int spragAmendedInit(spragAmended *amended, spragTangent *tangent, spragArena *arena);
/* The tangent's A, B and soft as they are; no row is changed.  1, or 0: singular. */
int spragAmendedFactor(spragAmended *amended);
/* From now on the row of contact k is that of A, B at the place returned; < 0: there is no room. */
int spragAmendedPlace(spragAmended *amended, int k);
/* With A and B as they are.  1, or 0: singular. */
int spragAmendedUpdate(spragAmended *amended);
/* Sign of det M'. */
int spragAmendedSign(const spragAmended *amended);
/* x (3 nc) := M'^-1 x */
void spragAmendedSolve(spragAmended *amended, double *x);

#endif
