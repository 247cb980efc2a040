/* Sweeps of block Gauss-Seidel; shared by the Gauss-Seidel solver, the mode search and Newton's safeguard. */
#ifndef SPRAG_SOLVE_SWEEP_H
#define SPRAG_SOLVE_SWEEP_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/pool.h"
#include "solve/contact/cone_block.h"

enum { SPRAG_PARTS_MOST = 32 };

/* What is done with a part of x after its visits, by the thread that has it in its cache. */
typedef void spragPartFn(void *data, int part);

/* W without its diagonal, packed for streaming in the order of visits: block e is three columns of four doubles, the
 * last of each zero.  Part p of the visits is coupled to parts p - 1 and p + 1 alone.  Impulses and all else are kept
 * by visit (x = r in the order of visits), so that a thread's parts are memory of its own. */
typedef struct spragSweeper {
    const spragProblem *problem;
    int *order;              /* (nc) block visited */
    double *w, *q;           /* (nc) trace(W_kk) / 3; (3 nc) */
    spragConeBlock *block;   /* (nc) kinds CONTACT and TWO_SIDED */
    const double **diagonal; /* (nc) W_kk */
    int *parent;             /* (nc) visit of a ROLLING block's contact; NULL: there are none */
    int *start, *column;     /* (nc + 1), (nb - nc) visit */
    double *packed;          /* ((nb - nc) x 3 x 4), or NULL: W is not read (problem/reaches.h) */
    int part_count, part_start[SPRAG_PARTS_MOST + 1]; /* visits */
    double (*visit)(struct spragSweeper *sweeper, int first, int end, double *x);
    spragPool *pool;    /* may be NULL */
    spragPartFn *after; /* or NULL */
    void *after_data;
    double *x;                                                  /* of the present sweep */
    int sweeps;                                                 /* made so far, the present one included */
    int walkers;                                                /* threads that share a sweep */
    int loose;                                                  /* 1: laws are kept only as far as sweeps go, */
    double slack;                                               /* m/s, in the present one */
    atomic_int taken[SPRAG_PARTS_MOST], done[SPRAG_PARTS_MOST]; /* the last sweep that visits, has visited each part */
    double largest[SPRAG_PARTS_MOST];                           /* of each part: (|dr_k| w_k)^2 */
} spragSweeper;

/* pool may be NULL.  0: out of memory. */
int spragSweeperInit(spragSweeper *sweeper, const spragProblem *problem, spragPool *pool, spragArena *arena);
/* x := r, r := x */
void spragSweeperTake(const spragSweeper *sweeper, const double *r, double *x);
void spragSweeperGive(const spragSweeper *sweeper, const double *x, double *r);
/* Every block once; the same bits with and without a pool.  Returns the largest |dr_k| w_k, m/s. */
double spragSweep(spragSweeper *sweeper, double *x);

#endif
