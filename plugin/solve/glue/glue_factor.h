/* A factor of glue's whole matrix M + J^T S J, R^T R in blocks of bodies: cheap where a body has a few contacts.
 *
 * S holds up to 1e10 kg beside masses of grams.  Cholesky's method is backward stable: its factor is that of a matrix
 * nearer to this one than 1e-16 of its largest numbers, and what is soft is right to five digits. */
#ifndef SPRAG_SOLVE_GLUE_FACTOR_H
#define SPRAG_SOLVE_GLUE_FACTOR_H

#include "linalg/block_lu.h"
#include "solve/glue/glue_coarse.h"

typedef struct spragGlueFactor {
    spragBlockLu lu;
    const spragGlueHeap *heap;
    double *matrix;  /* blocks (6 x 6) */
    int (*entry)[4]; /* (contacts) blocks of a contact: of body 0 with 0, with 1; of 1 with 0, with 1; -1: the world */
} spragGlueFactor;

/* The heap has to outlive the factor.  1; 0: no memory; -1: a factorisation would take more than `price_most` products
 * of 3x3 blocks. */
int spragGlueFactorInit(spragGlueFactor *factor, const spragGlueHeap *heap, double price_most, spragArena *arena);
/* After a change of S or of what is pressed.  0: not positive definite, by rounding. */
int spragGlueFactorMake(spragGlueFactor *factor);

#endif
