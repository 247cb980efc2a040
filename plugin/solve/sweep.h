/* One sweep of block Gauss-Seidel; shared by the Gauss-Seidel solver and by Newton's safeguard. */
#ifndef SPRAG_SOLVE_SWEEP_H
#define SPRAG_SOLVE_SWEEP_H

#include "base/arena.h"
#include "solve/cone_block.h"

typedef struct spragSweeper {
    const spragProblem *problem;
    spragConeBlock *block;   /* (nc), kinds CONTACT and TWO_SIDED */
    const double **diagonal; /* (nc) W_kk */
    double *w;               /* (nc) trace(W_kk) / 3 */
} spragSweeper;

int spragSweeperInit(spragSweeper *sweeper, const spragProblem *problem, spragArena *arena); /* 0: out of memory */
/* Every block once, in order.  Returns the largest |dr_k| w_k, m/s. */
double spragSweep(spragSweeper *sweeper, double *r);

#endif
