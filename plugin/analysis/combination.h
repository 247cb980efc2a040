/* One combination of what the contacts do (analysis/paradox.c): its linear systems, and what a solution must obey. */
#ifndef SPRAG_ANALYSIS_COMBINATION_H
#define SPRAG_ANALYSIS_COMBINATION_H

#include <sprag/sprag.h>

#include "analysis/affine.h"
#include "analysis/torus.h"

enum { CONTACTS = SPRAG_PARADOX_CONTACT_MAX, ROWS = 3 * CONTACTS };

/* An acceleration is a sum; it counts as zero below this part of the sum of its terms' sizes. */
#define COMBINATION_ZERO 1e-10

typedef enum Role { OPEN, HOLD, SLIDE, START } Role; /* the table of paradox.c */

typedef struct Enumeration {
    const spragContactState *state;
    int nc, n;                /* n = 3 nc */
    double a_size, b_size;    /* largest |A_ij|, |b_i| */
    unsigned char dead[ROWS]; /* a row of zeros: no body moves along it */
    Role role[CONTACTS];
    int sign[CONTACTS];    /* i, of the normal force */
    double e[CONTACTS][2]; /* unit, direction of the slip, where it is known */
    int multiplicity, direction_stable;
    int continuum; /* 1: the directions are one of a continuum */
    TorusSystem *torus;
    TorusZeros *zeros;
    spragSolutionSet *set;
    int out_of_memory;
} Enumeration;

/* The unknowns of a combination: column j is the force pattern of unknown x_j, row i an acceleration that vanishes. */
typedef struct Unknowns {
    int columns, rows;
    double pattern[AFFINE_MAX][ROWS];           /* (columns x n) */
    int row[AFFINE_MAX];                        /* (rows) of A */
    int normal[CONTACTS], tangent[CONTACTS][2]; /* index of the unknown, -1: none */
} Unknowns;

/* The unknowns of the contacts whose role is among `roles` (bit 1 << Role).  START is treated as a slide: its direction
 * e must be known. */
void spragCombinationCollect(const Enumeration *en, unsigned roles, Unknowns *u);
/* A_row . r, m/s^2; r (n) N */
double spragCombinationAcceleration(const Enumeration *en, int row, const double *r);
/* K (rows x columns) of the unknowns. */
void spragCombinationSystem(const Enumeration *en, const Unknowns *u, double *K);

/* Appends the solution with the forces r, inside their cones, if its accelerations agree.  0: they do not. */
int spragCombinationRecord(Enumeration *en, const double *r, int family);
/* The combination with all directions known. */
void spragCombinationSolve(Enumeration *en);

#endif
