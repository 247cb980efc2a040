/* Dense A = L D L^T of a symmetric positive semidefinite matrix, without pivoting.
 *
 * A row that depends on earlier ones (a redundant constraint) has a pivot of the size of rounding; it is left out:
 * 1 / pivot is taken as 0, which is the solution in which that row carries nothing. */
#ifndef SPRAG_LINALG_LDLT_H
#define SPRAG_LINALG_LDLT_H

/* A (n x n, lower triangle read) in; out L below the diagonal (unit diagonal implied).  inverse_pivot (n) = 1 / D. */
void spragLdltFactor(int n, double *A, double *inverse_pivot);
/* X (n x columns, row-major) <- L^-1 X */
void spragLdltForward(int n, const double *L, int columns, double *X);
/* x (n) <- L^-T x */
void spragLdltBackward(int n, const double *L, double *x);

#endif
