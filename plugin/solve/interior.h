/* Interior-point iteration for problems of second-order cones (cones.h); the heavy artillery of newton.c. */
#ifndef SPRAG_SOLVE_INTERIOR_H
#define SPRAG_SOLVE_INTERIOR_H

#include <sprag/sprag.h>

#include "base/arena.h"
#include "linalg/block_lu.h"
#include "solve/cones.h"

/* Improves r, of the problem that the cones are made of, until the residual is at most `tolerance`, progress ends or `limit` factorisations are spent; r keeps the
 * best iterate.  lu is analysed for the pattern of the cones' W, matrix (nb x 3 x 3) is scratch.  deadline: in spragSeconds, 0 = none.
 * Returns iterations, -1: out of memory. */
int spragInteriorSolve(const spragCones *cones, double tolerance, double deadline, int limit, spragBlockLu *lu,
                       double *matrix, spragArena *arena, double *r);

#endif
