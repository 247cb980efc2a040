/* The modes of a guess, verified: what most steps of most small islands need. */
#ifndef SPRAG_SOLVE_WARM_H
#define SPRAG_SOLVE_WARM_H

#include <sprag/sprag.h>

#include "base/arena.h"

enum {
    SPRAG_WARM_BLOCKS = 16, /* of the largest island it takes, but for rolling friction's, */
    SPRAG_WARM_ALL = 32     /* and of all */
};

/* 1: r (3 nc) is the answer, with u (3 nc) = W r + q and its residual in *info; 0: r is of no use, ask another method.
 * deadline: in spragSeconds, 0 = none.  Without memory it is 0. */
int spragWarmSolve(const spragProblem *problem, double tolerance, double deadline, spragArena *arena, double *r,
                   double *u, spragSolveInfo *info);

#endif
