/* What W is made of, where Sprag made the problem of a world's bodies itself: W = J M^-1 J^T + C, C block
 * diagonal.  A solver may then work in the bodies' velocities (solve/tangent.h).  Problems from files, and of
 * bodies that joints hold together, have W alone. */
#ifndef SPRAG_PROBLEM_BODIES_H
#define SPRAG_PROBLEM_BODIES_H

#include <stddef.h>

typedef struct spragMass {
    double mass, inertia[9];                 /* kg, kg m^2 about the centre of mass, world axes */
    double inverse_mass, inverse_inertia[9]; /* of the same */
} spragMass;

typedef struct spragBodies {
    int count;
    const spragMass *mass;    /* (count) of bodies that move */
    const int *of;            /* (nc x 2) the bodies of a block, -1: none that moves; never twice the same */
    const double *J;          /* of block k: (2 x 3 x 6) at J + k stride; of either body, linear then angular */
    const double *compliance; /* of block k: (3) the diagonal of its C at compliance + k stride */
    size_t stride;
    struct spragBlockLuMemo *memo; /* of the last analysis of their graph (linalg/block_lu.h), or NULL */
} spragBodies;

#endif
