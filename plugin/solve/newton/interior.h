/* Interior-point iteration for problems of second-order cones (cones.h); the heavy artillery of newton.c. */
#ifndef SPRAG_SOLVE_INTERIOR_H
#define SPRAG_SOLVE_INTERIOR_H

#include <sprag/sprag.h>

#include "solve/newton/cones.h"
#include "solve/newton/tangent.h"
#include "solve/stop.h"

/* Improves r, of the problem that the cones are made of, until `stop` or where progress ends; r keeps the best iterate.
 * tangent is of the cones' problem and loads.  Returns iterations, -1: out of memory. */
int spragInteriorSolve(const spragCones *cones, const spragStop *stop, spragTangent *tangent, spragArena *arena,
                       double *r);

#endif
