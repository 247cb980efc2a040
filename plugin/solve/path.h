/* Continuation along the interior path, through its folds; for high friction, where interior.c is stopped by them. */
#ifndef SPRAG_SOLVE_PATH_H
#define SPRAG_SOLVE_PATH_H

#include <sprag/sprag.h>

#include "base/arena.h"
#include "linalg/block_lu.h"
#include "solve/cones.h"

/* Improves r, of the problem that the cones are made of, until the residual is at most `tolerance`, the path is lost or `limit` factorisations
 * are spent; r keeps the best iterate.  load: length of the start, relative to the mean of r.  lu is analysed for the
 * pattern of the cones' W, matrix (nb x 3 x 3) is scratch.  deadline in spragSeconds, 0 = none.  Returns factorisations, -1: no memory. */
int spragPathSolve(const spragCones *cones, double load, double tolerance, double deadline, int limit, spragBlockLu *lu,
                   double *matrix, spragArena *arena, double *r);

#endif
