/* Continuation along the interior path, through its folds; for high friction, where interior.c is stopped by them. */
#ifndef SPRAG_SOLVE_PATH_H
#define SPRAG_SOLVE_PATH_H

#include <sprag/sprag.h>

#include "solve/newton/cones.h"
#include "solve/newton/tangent.h"
#include "solve/stop.h"

/* Improves r, of the problem that the cones are made of, until `stop` or where the path is lost; r keeps the best
 * iterate.  The start is twice as long as r is in the mean.  tangent is of the cones' problem and loads.  Returns
 * factorisations, -1: no memory. */
int spragPathSolve(const spragCones *cones, const spragStop *stop, spragTangent *tangent, spragArena *arena, double *r);

#endif
