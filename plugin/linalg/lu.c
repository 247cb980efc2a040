#include "linalg/lu.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "linalg/quad.h"

static inline double larger(double a, double b) /* fmax is a call */
{
    return a > b ? a : b;
}

/* max |x_i|, in four lanes: one would wait for itself. */
static inline double largestOf(size_t n, const double *x)
{
    double lane[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t l = 0; l < 4; ++l)
            lane[l] = larger(fabs(x[i + l]), lane[l]);
    for (; i < n; ++i)
        lane[0] = larger(fabs(x[i]), lane[0]);
    return larger(larger(lane[0], lane[1]), larger(lane[2], lane[3]));
}

/* The power of two in (x / 2, x]; 1 where x is 0 or denormal.  Its inverse is exact. */
static inline double powerBelow(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0x7ff0000000000000u; /* the exponent */
    memcpy(&x, &bits, sizeof x);
    return x > 0 ? x : 1;
}

void spragLuEquilibrate(int n, double *A, double *row, double *column)
{
    for (int j = 0; j < n; ++j)
        column[j] = 0;
    for (int i = 0; i < n; ++i) {
        const double *const restrict a = A + (size_t)i * (size_t)n;
        for (int j = 0; j < n; ++j)
            column[j] = larger(fabs(a[j]), column[j]);
    }
    for (int j = 0; j < n; ++j)
        column[j] = 1 / powerBelow(column[j]);
    for (int i = 0; i < n; ++i) {
        double *const restrict a = A + (size_t)i * (size_t)n;
        for (int j = 0; j < n; ++j)
            a[j] *= column[j];
        row[i] = powerBelow(largestOf((size_t)n, a));
        const double inverse = 1 / row[i];
        for (int j = 0; j < n; ++j)
            a[j] *= inverse;
    }
    for (int j = 0; j < n; ++j)
        column[j] = 1 / column[j];
}

typedef struct Elimination {
    int n, *pivot;
    double *A, zero; /* (n x n); the least pivot */
    int rank;
} Elimination;

SPRAG_QUAD_INLINE void eliminateBody(Elimination *e)
{
    const int n = e->n;
    double *const A = e->A;
    e->rank = n;
    for (int k = 0; k < n; ++k) {
        double *const restrict row_k = A + (size_t)k * (size_t)n;
        int best = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(A[(size_t)i * (size_t)n + (size_t)k]) > fabs(A[(size_t)best * (size_t)n + (size_t)k]))
                best = i;
        e->pivot[k] = best;
        if (best != k) {
            double *const row_b = A + (size_t)best * (size_t)n;
            for (int j = 0; j < n; ++j) {
                const double swap = row_k[j];
                row_k[j] = row_b[j];
                row_b[j] = swap;
            }
        }
        if (fabs(row_k[k]) <= e->zero) {
            if (e->rank == n)
                e->rank = k;
            continue;
        }
        const double inverse = 1 / row_k[k];
        for (int i = k + 1; i < n; ++i) {
            double *const restrict row_i = A + (size_t)i * (size_t)n;
            if (row_i[k] == 0)
                continue; /* contact matrices are sparse: most rows are skipped */
            const double factor = row_i[k] *= inverse;
            for (int j = k + 1; j < n; ++j)
                row_i[j] -= factor * row_k[j];
        }
    }
}

SPRAG_QUAD_CLONES(eliminate, eliminateBody, Elimination)

int spragLuFactor(int n, double *A, int *pivot, double zero)
{
    Elimination e = {.n = n, .pivot = pivot, .A = A, .zero = zero * largestOf((size_t)n * (size_t)n, A)};
    eliminate(&e);
    return e.rank;
}

void spragLuSolve(int n, const double *A, const int *pivot, double *x)
{
    for (int k = 0; k < n; ++k) {
        const double swap = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = swap;
    }
    for (int i = 1; i < n; ++i) {
        const double *row = A + (size_t)i * (size_t)n;
        double sum = x[i];
        for (int j = 0; j < i; ++j)
            sum -= row[j] * x[j];
        x[i] = sum;
    }
    for (int i = n - 1; i >= 0; --i) {
        const double *row = A + (size_t)i * (size_t)n;
        double sum = x[i];
        for (int j = i + 1; j < n; ++j)
            sum -= row[j] * x[j];
        x[i] = sum / row[i];
    }
}

void spragLuSolveScaled(int n, const double *A, const int *pivot, const double *row, const double *column, double *x)
{
    for (int i = 0; i < n; ++i)
        x[i] /= row[i];
    spragLuSolve(n, A, pivot, x);
    for (int i = 0; i < n; ++i)
        x[i] /= column[i];
}

int spragLuSign(int n, const double *A, const int *pivot)
{
    int sign = 1;
    for (int k = 0; k < n; ++k) {
        const double d = A[(size_t)k * (size_t)n + (size_t)k];
        if (d == 0)
            return 0;
        if (d < 0)
            sign = -sign;
        if (pivot[k] != k)
            sign = -sign;
    }
    return sign;
}
