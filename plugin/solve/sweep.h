/* Sweeps of block Gauss-Seidel; shared by the Gauss-Seidel solver, the mode search and Newton's safeguard. */
#ifndef SPRAG_SOLVE_SWEEP_H
#define SPRAG_SOLVE_SWEEP_H

#include "base/arena.h"
#include "base/pool.h"
#include "solve/cone_block.h"

enum { SPRAG_PARTS_MOST = 32 };

/* W without its diagonal, packed for streaming in the order of visits: block e is three columns of four doubles, the last
 * of each zero.  Part p of the visits is coupled to parts p - 1 and p + 1 alone; the even parts go first. */
typedef struct spragSweeper {
    const spragProblem *problem;
    double *w;                                        /* (nc) trace(W_kk) / 3 */
    int *order;                                       /* (nc) block visited */
    spragConeBlock *block;                            /* (nc) by visit; kinds CONTACT and TWO_SIDED */
    const double **diagonal;                          /* (nc) by visit: W_kk */
    int *start, *column;                              /* (nc + 1) by visit, (nb - nc) */
    double *packed;                                   /* ((nb - nc) x 3 x 4) */
    int part_count, part_start[SPRAG_PARTS_MOST + 1]; /* visits */
    double (*visit)(struct spragSweeper *sweeper, int first, int end, double *r);
    spragPool *pool;                  /* may be NULL */
    double *r;                        /* of the present sweep */
    int phase;                        /* the first part of its phase */
    double largest[SPRAG_PARTS_MOST]; /* of each part: (|dr_k| w_k)^2 */
} spragSweeper;

/* pool may be NULL.  0: out of memory. */
int spragSweeperInit(spragSweeper *sweeper, const spragProblem *problem, spragPool *pool, spragArena *arena);
/* Every block once; the same bits with and without a pool.  Returns the largest |dr_k| w_k, m/s. */
double spragSweep(spragSweeper *sweeper, double *r);

#endif
