/* Interior-point iteration for problems of one-sided contacts with friction; the heavy artillery of newton.c. */
#ifndef SPRAG_SOLVE_INTERIOR_H
#define SPRAG_SOLVE_INTERIOR_H

#include <sprag/sprag.h>

#include "base/arena.h"
#include "linalg/block_lu.h"

/* 1 if every block is a CONTACT. */
int spragInteriorApplies(const spragProblem *problem);

/* Improves r until the residual is at most `tolerance`, progress ends or `limit` factorisations are spent; r keeps the
 * best iterate.  lu is analysed for W's pattern, matrix (nb x 3 x 3) is scratch.  deadline: in spragSeconds, 0 = none.
 * Returns iterations, -1: out of memory. */
int spragInteriorSolve(const spragProblem *problem, double tolerance, double deadline, int limit, spragBlockLu *lu,
                       double *matrix, spragArena *arena, double *r);

#endif
