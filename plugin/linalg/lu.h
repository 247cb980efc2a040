/* Dense LU with partial pivoting, row-major. */
#ifndef SPRAG_LINALG_LU_H
#define SPRAG_LINALG_LU_H

/* A = R A' C, A' in place of A (n x n): first the columns, then the rows are divided by the power of two
 * below their largest entry, exactly.  Then a pivot can be told from zero whatever units rows and
 * columns have.  row, column (n): R and C. */
void spragLuEquilibrate(int n, double *A, double *row, double *column);

/* Factors A (n x n, row stride n) in place; pivot (n).  Returns the rank found: n, or the first column whose pivot is
 * at most `zero` times the largest entry of A. */
int spragLuFactor(int n, double *A, int *pivot, double zero);

/* x (n) := A^-1 x, from the factors. */
void spragLuSolve(int n, const double *A, const int *pivot, double *x);

/* The same where the factors are those of A' (spragLuEquilibrate): x := C^-1 A'^-1 R^-1 x. */
void spragLuSolveScaled(int n, const double *A, const int *pivot, const double *row, const double *column, double *x);

/* Sign of det A from the factors: -1, 0, +1. */
int spragLuSign(int n, const double *A, const int *pivot);

#endif
