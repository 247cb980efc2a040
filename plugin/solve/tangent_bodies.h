/* The equations of tangent.h in the space of bodies and joints:
 *
 *     (M + J^T S J) v + E^T lambda = J^T D^-1 g,    E v - c lambda = 0,    x = D^-1 (g - B J v),
 *
 * with D = A + B (C + soft), S = D^-1 B, and what rounding leaves of (A + B (W + soft)) x = g refined. */
#ifndef SPRAG_SOLVE_TANGENT_BODIES_H
#define SPRAG_SOLVE_TANGENT_BODIES_H

#include "solve/tangent.h"

/* The graph of bodies and joints, and its factors' pattern.  1; 0: no memory; -1: a factorisation costs more than
 * price_most. */
int spragTangentBodiesAnalyse(spragTangent *tangent, double price_most, spragArena *arena);
/* 0: singular. */
int spragTangentBodiesFactor(spragTangent *tangent);
/* x (3 nc): in g, out the solution. */
void spragTangentBodiesSolve(spragTangent *tangent, double *x);

#endif
