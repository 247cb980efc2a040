/* The coarse space of solve/glue/glue's gradients: what moves a heap, or a part of it, as a whole.
 *
 * Balls that hold each other in many contacts can turn and move as one, and grow: v = a + w x p + s p, the
 * similarities.  No contact between two balls slides then, so M + J^T S J resists them 1 / e times less than anything
 * else, and the 6 x 6 blocks of bodies know nothing of them.  The heap is cut into parts, Z has the seven similarities
 * of each about its center of mass, and the preconditioner is
 *
 *     D^-1 + Z (Z^T (M + J^T S J) Z)^-1 Z^T,     D the blocks of bodies
 *
 * (Nicolaides 1987, additively).  One part takes two thirds of the products off dense heaps, where all touch all; what
 * is less dense is softer the larger it is, and gains by more parts. */
#ifndef SPRAG_SOLVE_GLUE_COARSE_H
#define SPRAG_SOLVE_GLUE_COARSE_H

#include "base/arena.h"
#include "problem/bodies.h"

/* A contact as the products see it, in world axes. */
typedef struct spragGlueContact {
    double n[3], arm[2][3];    /* arm: from the body's center */
    double normal, tangential; /* S: 1 / max(C, e); kg */
    double soft[3];            /* what of that is not C: rows without have no center */
    int body[2];               /* the last one is the world */
} spragGlueContact;

/* Bodies, and the contacts between them and with the world. */
typedef struct spragGlueHeap {
    int bodies, contacts;
    const spragMass *mass;     /* (bodies) */
    spragGlueContact *contact; /* (contacts) */
    unsigned char *pressed;    /* (contacts) 1: r_n > 0, the normal row counts */
} spragGlueHeap;

/* The sides of contacts on each body i and on the world: list[first[i]] .. list[first[i + 1] - 1], contact and side
 * of s are s / 2 and s % 2.  0: no memory. */
int spragGlueSides(const spragGlueHeap *heap, int **first, int **list, spragArena *arena);

/* Of a body, linear then angular: a velocity, or a momentum.  Arrays have one of the world too, which does not move. */
typedef struct spragTwist {
    double at[6];
} spragTwist;

typedef struct spragGlueCoarse {
    const spragGlueHeap *heap;
    int size;           /* 7 for each part */
    int *part;          /* (bodies) the first row of a body's part */
    double (*place)[3]; /* (bodies) from the center of its part */
    double *matrix;     /* (size x size) factors of Z^T A Z */
    double *pivot;      /* (size) one over their pivots */
    double *y;          /* (size) */
    int *first;         /* (size) 0: envelopes */
} spragGlueCoarse;

/* Cuts the heap into `parts` at most; it has to outlive the coarse space.  0: no memory. */
int spragGlueCoarseInit(spragGlueCoarse *coarse, const spragGlueHeap *heap, int parts, spragArena *arena);
/* After a change of S or of what is pressed. */
void spragGlueCoarseFactor(spragGlueCoarse *coarse);
/* out += Z (Z^T A Z)^-1 Z^T x */
void spragGlueCoarseAdd(const spragGlueCoarse *coarse, const spragTwist *x, spragTwist *out);

#endif
