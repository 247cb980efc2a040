#include "linalg/lu.h"

#include <math.h>
#include <stddef.h>

int spragLuFactor(int n, double *A, int *pivot, double zero)
{
    double largest = 0;
    for (size_t i = 0; i < (size_t)n * (size_t)n; ++i)
        if (fabs(A[i]) > largest) /* fmax is a call */
            largest = fabs(A[i]);
    int rank = n;
    for (int k = 0; k < n; ++k) {
        double *const restrict row_k = A + (size_t)k * (size_t)n;
        int best = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(A[(size_t)i * (size_t)n + (size_t)k]) > fabs(A[(size_t)best * (size_t)n + (size_t)k]))
                best = i;
        pivot[k] = best;
        if (best != k) {
            double *const row_b = A + (size_t)best * (size_t)n;
            for (int j = 0; j < n; ++j) {
                const double swap = row_k[j];
                row_k[j] = row_b[j];
                row_b[j] = swap;
            }
        }
        if (fabs(row_k[k]) <= zero * largest) {
            if (rank == n)
                rank = k;
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
    return rank;
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
