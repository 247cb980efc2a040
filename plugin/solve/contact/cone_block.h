/* One block with everything else fixed, fast: what Gauss-Seidel does a million times.
 *
 * Given q (the block's velocity with its own impulse removed), find r with u = W r + q and the block's law.  Eliminate
 * the normal row: K = W_tt - W_tn W_nt' / W_nn, c = q_t - W_tn q_n / W_nn, then with a slip multiplier nu >= 0, defined
 * by u_t = -nu r_t,
 *
 *     r_t(nu) = -(K + nu)^-1 c,   r_n(nu) = -(q_n + W_nt . r_t) / W_nn,   u_n = 0.
 *
 * nu = 0 is sticking.  If that leaves the cone, slip is a root of h(nu) = mu r_n / |r_t| - 1, which is negative at 0
 * and grows to infinity since q_n < 0: a bracketed Newton search, started from the last sweep's nu, ends at machine
 * precision in two or three steps.  (The secular equation of trust regions, Conn, Gould, Toint 2000, 7.3.1, with a cone
 * for the ball; Ivanov 2009, 5.14 to 5.21, has the quartic it replaces.) */
#ifndef SPRAG_SOLVE_CONE_BLOCK_H
#define SPRAG_SOLVE_CONE_BLOCK_H

#include <sprag/sprag.h>

typedef struct spragConeBlock {
    double inverse_nn;   /* 1 / W_nn */
    double W_tn[2];      /* column n of the tangential rows */
    double W_nt[2];      /* row n */
    double K[4];         /* (2 x 2) Schur complement */
    double inverse_K[4]; /* (2 x 2) */
    double mu, mu_minus; /* of r_n > 0 and r_n < 0 */
    double nu;           /* slip multiplier of the last solve, 1/kg */
    double slack;        /* N s, by which |r_t| may miss mu r_n where the root is taken; 0: to machine precision */
} spragConeBlock;

/* W (3 x 3) with rows [n t1 t2]. */
void spragConeBlockInit(spragConeBlock *block, const double W[9], double mu, double mu_minus);

/* u = 0, whatever that takes. */
static inline void spragConeBlockHold(const spragConeBlock *block, const double q[3], double r[3])
{
    const double normal = q[0] * block->inverse_nn,
                 c[2] = {q[1] - block->W_tn[0] * normal, q[2] - block->W_tn[1] * normal};
    r[1] = -(block->inverse_K[0] * c[0] + block->inverse_K[1] * c[1]);
    r[2] = -(block->inverse_K[2] * c[0] + block->inverse_K[3] * c[1]);
    r[0] = -(q[0] + block->W_nt[0] * r[1] + block->W_nt[1] * r[2]) * block->inverse_nn;
}

/* r_n >= 0, |r_t| <= mu r_n.  Where q_n >= 0 the answer is r = 0, also if others exist. */
void spragConeBlockSolve(spragConeBlock *block, const double q[3], double r[3]);
/* u_n = 0, r_n of either sign, |r_t| <= mu |r_n| or mu_minus |r_n|. */
void spragConeBlockSolveTwoSided(spragConeBlock *block, const double q[3], double r[3]);

/* A pair of rows on a disc and one row on an interval, both fixed: FORCE_LIMIT and ROLLING.  line is the index of the
 * interval row, 0 or 2. */
void spragDiscBlockSolve(const double W[9], const double q[3], int line, double lo, double hi, double radius,
                         double r[3]);
/* lo <= r <= hi, row by row. */
void spragBoxBlockSolve(const double W[9], const double q[3], const double lo[3], const double hi[3], double r[3]);

/* Block k of a problem by the law of its kind; cone: of kinds CONTACT and TWO_SIDED;
 * load: r_n of a ROLLING block's contact. */
void spragLawSolve(const spragProblem *problem, int k, const double W[9], spragConeBlock *cone, double load,
                   const double q[3], double r[3]);

#endif
