/* Sweeps of block Gauss-Seidel; shared by the Gauss-Seidel solver, the mode search and Newton's safeguard. */
#ifndef SPRAG_SOLVE_SWEEP_H
#define SPRAG_SOLVE_SWEEP_H

#include "base/arena.h"
#include "solve/cone_block.h"

/* W without its diagonal, packed for streaming: block e is three columns of four doubles, the last of each zero. */
typedef struct spragSweeper {
    const spragProblem *problem;
    spragConeBlock *block;   /* (nc), kinds CONTACT and TWO_SIDED */
    const double **diagonal; /* (nc) W_kk */
    double *w;               /* (nc) trace(W_kk) / 3 */
    int *start, *column;     /* (nc + 1), (nb - nc) */
    double *packed;          /* ((nb - nc) x 3 x 4) */
    double (*sweep)(struct spragSweeper *sweeper, double *r);
} spragSweeper;

int spragSweeperInit(spragSweeper *sweeper, const spragProblem *problem, spragArena *arena); /* 0: out of memory */
/* Every block once, in order.  Returns the largest |dr_k| w_k, m/s. */
double spragSweep(spragSweeper *sweeper, double *r);

#endif
