/* The judge; products with W; what the optional arrays of a problem say.  Used by every solver. */
#ifndef SPRAG_PROBLEM_RESIDUAL_H
#define SPRAG_PROBLEM_RESIDUAL_H

#include <sprag/sprag.h>

#include "linalg/vec3.h"

/* Of all of these: r (3 nc) N s, u (3 nc) m/s; the judge's word is spragProblemResidual, m/s; NaN where a number is. */

/* u = W r + q */
void spragProblemVelocity(const spragProblem *problem, const double *r, double *u);
/* The judge's word on r, and u = W r + q (NULL: not wanted): W is read once. */
double spragProblemJudge(const spragProblem *problem, const double *r, double *u);
/* The judge's word, to the bit, where u = W r + q is known: W is read only where impulses are huge. */
double spragProblemJudgeMotion(const spragProblem *problem, const double *r, const double *u);

/* Residual of one block, m/s, given its r and u = W r + q.  r_all (3 nc) is read for the parent of ROLLING blocks. */
double spragBlockResidual(const spragProblem *problem, int block, const double *r_all, const double u[3]);

/* Residual of one block of each kind, m/s; w: the mean of the diagonal of W_kk, 1/kg.
 * Of a CONTACT, in any frame [n t1 t2]. */
double spragContactResidual(double mu, const double r[3], const double u[3], double w);
/* Of a BOX block of a contact with mu = infinity; glued: it holds where it does not press, too. */
double spragStickResidual(int glued, const double r[3], const double u[3], double w);
/* Of such a block, 1: it does not press, and r_t = 0 is nearer to its law than u_t = 0. */
int spragStickParts(const double r[3], const double u[3], double w);
/* Of one ROLLING block whose contact bears `load` N s. */
double spragRollingResidual(double mu, double mu_minus, double load, const double r[3], const double u[3], double w);
/* The judge where u is known already: max over blocks.  Where impulses are huge rounding has hidden what u is, and only
 * spragProblemJudge can say whether they are an answer. */
double spragVelocityResidual(const spragProblem *problem, const double *r, const double *u);
/* m/s, the residual that rounding alone may leave.  It is large where impulses are huge, as between two bodies that a
 * third presses together and nothing stops. */
double spragProblemRounding(const spragProblem *problem, const double *r);
/* 1: a residual of r is no more than that.  Most are far above it, which is seen without reading W. */
int spragProblemIsAtRounding(const spragProblem *problem, const double *r, double residual);
/* Rounding changes a sum by about so many epsilons, of the sum of its terms' sizes, at most. */
#define SPRAG_ROUNDINGS 8
/* 1: w |r| of some block is beyond SPRAG_IMPULSE_HUGE: from there on rounding counts (residual.c). */
#define SPRAG_IMPULSE_HUGE 1e4 /* m/s */
int spragImpulsesAreHuge(const spragProblem *problem, const double *r);

static inline spragBlockKind spragKindOf(const spragProblem *problem, int k)
{
    return problem->kind != NULL ? (spragBlockKind)problem->kind[k] : SPRAG_BLOCK_CONTACT;
}

/* 1: every block is a CONTACT. */
int spragProblemIsPlain(const spragProblem *problem);
/* 1: of BOX blocks alone, whose solutions are those of a convex program. */
int spragProblemIsGlued(const spragProblem *problem);

/* mu where r_n < 0. */
static inline double spragMuMinusOf(const spragProblem *problem, int k)
{
    return problem->mu_minus != NULL ? problem->mu_minus[k] : problem->mu[k];
}

/* Index of block (k, j) in W, -1 if it is not stored. */
int spragProblemBlock(const spragProblem *problem, int k, int j);

/* Index of the diagonal block of block row k in W. */
int spragProblemDiagonal(const spragProblem *problem, int k);

#endif
