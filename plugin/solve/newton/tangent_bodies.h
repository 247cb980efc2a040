/* The equations of tangent.h in the space of bodies and joints:
 *
 *     (M + J^T S J) v + E^T lambda = J^T D^-1 g,    E v - c lambda = 0,    x = D^-1 (g - B J v),
 *
 * with D = A + B (C + soft), S = D^-1 B, and what rounding leaves of (A + B (W + soft)) x = g refined. */
#ifndef SPRAG_SOLVE_TANGENT_BODIES_H
#define SPRAG_SOLVE_TANGENT_BODIES_H

#include "solve/newton/tangent.h"

/* Products of 3x3 blocks: the time of adding a contact to the bodies' matrix. */
#define SPRAG_TANGENT_PER_CONTACT 25

/* 1: B of an open contact, whose row does not ask for the others' impulses. */
static inline int spragTangentIsOpen(const double B[9])
{
    for (int i = 0; i < 9; ++i)
        if (B[i] != 0)
            return 0;
    return 1;
}

/* The graph of bodies and joints, and its factors' pattern.  1; 0: no memory; -1: a factorisation costs more than
 * price_most. */
int spragTangentBodiesAnalyse(spragTangent *tangent, double price_most, spragArena *arena);
/* 0: singular. */
int spragTangentBodiesFactor(spragTangent *tangent);
/* x (3 nc): in g, out the solution. */
void spragTangentBodiesSolve(spragTangent *tangent, double *x);

#endif
