/* Semismooth Newton on proximal problems: the engine of the mode search (variant.c) and of the Newton solver.
 *
 * Alart and Curnier (1991) write the law of block k as F_k = 0 with x = r - u / w_k, w_k = trace(W_kk) / 3:
 *
 *     CONTACT   F_n = w (r_n - max(0, x_n)),   F_t = w (r_t - P_R(x_t)),   R = mu max(0, x_n),
 *
 * P_R the projection on the disc of radius R; the other kinds likewise with their own sets.  Where x lies says the
 * mode: open x_n <= 0, stick |x_t| <= R, slip outside.  With dF_k = A_k dr_k + B_k du_k and du = W dr a step solves
 * (A + B W) dr = -F: the equations of the modes, linearised in the slip directions.
 *
 * W is singular where contacts outnumber freedoms (a box on four corners), so Newton works on proximal problems,
 * u = W r + q + lambda w (r - center), matrix A + B (W + lambda w); the solution is the next center (Rockafellar 1976).
 *
 * Friction makes these not monotone, and where lambda is small full steps may go round.  What is not monotone is De
 * Saxce's mu |u_t| in the cone's normal row: with it held at its value at the center the problem is convex (Acary,
 * Cadoux, Lemarechal, Malick 2011).  So a contact's normal row lags by a share of it,
 *     F_n = u_n + lag (mu |u_t|_center - mu |u_t|),
 * which is u_n again when the center stands still; lag rises where steps fail, and falls to 0.  |u_t| is taken from u
 * along the slip: taken from x it errs by the square of what r_t turns (p26: twice the steps).  Where mu is large
 * the convex problem is another one: without lag of contacts beyond lag_mu plates and cars with mu of 20 to 340 take a
 * third to a half of the time.  (What that does not end likes it again after cones and paths: newton.c.) */
#ifndef SPRAG_SOLVE_PROXIMAL_H
#define SPRAG_SOLVE_PROXIMAL_H

#include <sprag/sprag.h>

#include "base/arena.h"
#include "solve/newton/tangent.h"
#include "solve/stop.h"

/* First lambda where the modes of the guess may be right: then one step ends at rounding. */
#define SPRAG_LAMBDA_WARM 1e-7
/* Part of the tolerance at which no polish is needed: sticking contacts do not creep. */
#define SPRAG_EXACT 1e-4

typedef struct spragProximal {
    const spragProblem *problem;
    spragTangent tangent;  /* A + B (W + lambda w) */
    double *w;             /* (nc) trace(W_kk) / 3 */
    double *F, *u;         /* (3 nc) of the proximal problem */
    double *seen, *motion; /* (3 nc) the last r that was looked at, and W r + q of it */
    int sees;              /* 1: they are there */
    double *step;          /* (3 nc) */
    double *center;        /* (3 nc) proximal center */
    double lambda;         /* its weight relative to w */
    int patient;           /* 1: work is not limited, and only the first problem of a warm start has to fit at once */
    int warm;              /* 1: the present problem has to */
    double *slide;         /* (nc) mu |u_t| of the center, where lag > 0 */
    double lag;            /* share of it in the normal rows, 0 to 1 */
    double lag_mu;         /* friction of a contact beyond which its row does not lag */
    double lag_first;      /* what it begins with, and has at least after a problem that was not solved */
    int look;              /* > 0: points end once so many steps have not brought the best to a tenth */
    double stall;          /* m/s: once the best is below it, a point that gains nothing is the last; 0: never */
    double rounding;       /* m/s: |F| below it is nothing */
    int factored;          /* tangent holds factors of a recent matrix */
    double *best;          /* (3 nc) least residual so far */
    double best_residual;
    double deadline; /* of spragProximalPolish, in spragSeconds; 0: none */
    double took;     /* s, the last step, where there is a deadline; 0: not known */
    double accuracy; /* m/s, residual of what the small-friction test is asked about; 0: exact */
} spragProximal;

/* F (3) of one block and dF = A dr + B du + load d(r_n of the parent). */
typedef struct spragBlockLaw {
    double F[3], A[9], B[9], load[3];
} spragBlockLaw;

/* Memory from the arena; 0: out of memory.  In the space of contacts: tangent.matrix is in the pattern of W. */
int spragProximalInit(spragProximal *proximal, const spragProblem *problem, spragArena *arena);
/* In the space given; -1 where a factorisation would take more than `products_most` products of 3x3 blocks. */
int spragProximalInitWithin(spragProximal *proximal, const spragProblem *problem, spragTangentSpace space,
                            double products_most, spragArena *arena);

/* W r + q (3 nc), until the next call of any of these functions: a point that was just judged is not multiplied by W
 * again. */
const double *spragProximalMotion(spragProximal *proximal, const double *r);

/* Forgets the best; the next point is compared with r alone. */
void spragProximalReset(spragProximal *proximal, const double *r);

/* Proximal points from r, the first with the given lambda, until `stop`; the best is kept in ->best. */
spragStatus spragProximalPoints(spragProximal *proximal, double lambda, const spragStop *stop, double *r,
                                int *iterations);

/* From an answer within tolerance to rounding: a sticking contact must not creep at the speed of the tolerance.  Chord
 * steps with the factors at hand, then a few Newton steps; the best is kept.  Returns the residual. */
double spragProximalPolish(spragProximal *proximal, double tolerance, double residual, double *r, int *iterations);

#endif
