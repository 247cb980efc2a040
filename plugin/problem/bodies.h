/* What W is made of, where Sprag made the problem of a world's bodies itself: W = J M^-1 J^T + C, C block diagonal.
 * A solver may then work in the bodies' velocities (solve/newton/tangent.h).  Problems from files have W alone.
 *
 * Where joints hold bodies together (spragProblem.linked), W r = J v + C r with
 *
 *     M v + E^T lambda = J^T r,     E v - c lambda = 0.
 *
 * A product with W then costs as much as the joints that its blocks reach (problem/reaches.h), or as much as its blocks
 * where there are none. */
#ifndef SPRAG_PROBLEM_BODIES_H
#define SPRAG_PROBLEM_BODIES_H

#include <stddef.h>

typedef struct spragMass {
    double mass, inertia[9];                 /* kg, kg m^2 about the centre of mass, world axes */
    double inverse_mass, inverse_inertia[9]; /* of the same */
} spragMass;

/* The rows of joints, up to six each. */
typedef struct spragLinks {
    int count;              /* joints */
    const int *of;          /* (count x 2) the bodies of a joint, -1: none that moves */
    const double *E;        /* (count x 2 x 6 x 6) its rows for either body; 0 where there is no row */
    const double *diagonal; /* (count x 6) -c of a row; 1 where there is no row */
} spragLinks;

typedef struct spragBodies {
    int count;
    const spragMass *mass;         /* (count) of bodies that move */
    const int *of;                 /* (nc x 2) the bodies of a block, -1: none that moves; never twice the same */
    const double *J;               /* of block k: (2 x 3 x 6) at J + k stride; of either body, linear then angular */
    const double *compliance;      /* of block k: (3) the diagonal of its C at compliance + k stride */
    size_t stride;                 /* numbers from one block's J, or compliance, to the next */
    struct spragBlockLuMemo *memo; /* of the last analysis of their graph (linalg/block_lu.h), or NULL */
    const spragLinks *links;       /* what holds them together, or NULL */
    const double *own;             /* of links or reaches: (nc x 3 x 3) W_kk - C_k */
    const struct spragReaches *reaches; /* products with W that do not read it, where they are cheaper; or NULL */
} spragBodies;

#endif
