/* Interior-point iteration for problems of second-order cones (cones.h); the heavy artillery of newton.c. */
#ifndef SPRAG_SOLVE_INTERIOR_H
#define SPRAG_SOLVE_INTERIOR_H

#include <sprag/sprag.h>

#include "solve/cones.h"
#include "solve/tangent.h"

/* Improves r, of the problem that the cones are made of, until the residual is at most `tolerance`, progress ends or
 * `limit` factorisations are spent; r keeps the best iterate.  tangent is of the cones' problem and loads.  deadline:
 * in spragSeconds, 0 = none. Returns iterations, -1: out of memory. */
int spragInteriorSolve(const spragCones *cones, double tolerance, double deadline, int limit, spragTangent *tangent,
                       spragArena *arena, double *r);

#endif
