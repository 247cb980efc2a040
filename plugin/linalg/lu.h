/* Dense LU with partial pivoting, row-major. */
#ifndef SPRAG_LINALG_LU_H
#define SPRAG_LINALG_LU_H

/* Factors A (n x n, row stride n) in place; pivot (n).  Returns the rank found: n, or the first column whose pivot is at
 * most `zero` times the largest entry of A. */
int spragLuFactor(int n, double *A, int *pivot, double zero);

/* x (n) := A^-1 x, from the factors. */
void spragLuSolve(int n, const double *A, const int *pivot, double *x);

/* Sign of det A from the factors: -1, 0, +1. */
int spragLuSign(int n, const double *A, const int *pivot);

#endif
