/* Arithmetic finer than double where the machine has it: 64 bits of mantissa on x86, 113 (slowly) on most others, and
 * 53 where long double is double.  For numbers that have to tell 1 - 1e-14 from 1, and small matrices of them. */
#ifndef SPRAG_LINALG_FINE_H
#define SPRAG_LINALG_FINE_H

#include <math.h>

typedef long double spragFine;

static inline spragFine spragFineMax(spragFine a, spragFine b)
{
    return a > b ? a : b;
}

static inline spragFine spragFineMin(spragFine a, spragFine b)
{
    return a < b ? a : b;
}

static inline spragFine spragFineDot3(const spragFine a[3], const spragFine b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline spragFine spragFineNorm2(const spragFine a[2])
{
    return sqrtl(a[0] * a[0] + a[1] * a[1]);
}

static inline spragFine spragFineNorm3(const spragFine a[3])
{
    return sqrtl(spragFineDot3(a, a));
}

/* out = M x; out may not alias x */
static inline void spragFineMul33(spragFine out[3], const spragFine M[9], const spragFine x[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = M[3 * i] * x[0] + M[3 * i + 1] * x[1] + M[3 * i + 2] * x[2];
}

/* Factors A (n x n, row-major) in place with partial pivoting; pivot (n).  Sign of det A, 0: singular. */
int spragFineFactor(int n, spragFine *A, int *pivot);
/* x (n) := A^-1 x, from the factors. */
void spragFineSolve(int n, const spragFine *A, const int *pivot, spragFine *x);

#endif
