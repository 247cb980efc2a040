/* A = L D L^T of a symmetric positive semidefinite matrix, without pivoting, within its envelope: row i is zero left of
 * column first[i], and so is row i of L.  Joints in the order of a chain give a narrow one.
 *
 * A row that depends on earlier ones (a redundant constraint) has a pivot of the size of rounding; it is left out:
 * 1 / pivot is taken as 0, which is the solution in which that row carries nothing. */
#ifndef SPRAG_LINALG_LDLT_H
#define SPRAG_LINALG_LDLT_H

#define SPRAG_LDLT_REDUNDANT 1e-13 /* part of its diagonal entry: a pivot below it is rounding */

/* A (n x n, lower triangle read) in; out L below the diagonal (unit diagonal implied).  first (n) <= row.
 * inverse_pivot (n) = 1 / D. */
void spragLdltFactor(int n, const int *first, double *A, double *inverse_pivot);
/* X (n x columns, row-major, columns 1 to 3) <- L^-1 X; rows above `top` are zero. */
void spragLdltForward(int n, const int *first, const double *L, int columns, int top, double *X);
/* x (n) <- L^-T x */
void spragLdltBackward(int n, const int *first, const double *L, double *x);

#endif
