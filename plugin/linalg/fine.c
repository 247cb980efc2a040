#include "linalg/fine.h"

#include <stddef.h>

static void swap(spragFine *a, spragFine *b)
{
    const spragFine kept = *a;
    *a = *b, *b = kept;
}

int spragFineFactor(int n, spragFine *A, int *pivot)
{
    const size_t stride = (size_t)n;
    int sign = 1;
    for (int k = 0; k < n; ++k) {
        spragFine *const restrict row_k = A + (size_t)k * stride;
        int best = k;
        for (int i = k + 1; i < n; ++i)
            if (fabsl(A[(size_t)i * stride + (size_t)k]) > fabsl(A[(size_t)best * stride + (size_t)k]))
                best = i;
        pivot[k] = best;
        for (int j = 0; j < n && best != k; ++j)
            swap(&row_k[j], &A[(size_t)best * stride + (size_t)j]);
        if (row_k[k] == 0)
            return 0;
        sign = (row_k[k] < 0) != (best != k) ? -sign : sign;
        const spragFine inverse = 1 / row_k[k];
        for (int i = k + 1; i < n; ++i) {
            spragFine *const restrict row_i = A + (size_t)i * stride;
            const spragFine factor = row_i[k] *= inverse;
            for (int j = k + 1; j < n && factor != 0; ++j)
                row_i[j] -= factor * row_k[j];
        }
    }
    return sign;
}

void spragFineSolve(int n, const spragFine *A, const int *pivot, spragFine *x)
{
    for (int k = 0; k < n; ++k)
        if (pivot[k] != k)
            swap(&x[k], &x[pivot[k]]);
    for (int i = 1; i < n; ++i)
        for (int j = 0; j < i; ++j)
            x[i] -= A[(size_t)i * (size_t)n + (size_t)j] * x[j];
    for (int i = n - 1; i >= 0; --i) {
        for (int j = i + 1; j < n; ++j)
            x[i] -= A[(size_t)i * (size_t)n + (size_t)j] * x[j];
        x[i] /= A[(size_t)i * (size_t)n + (size_t)i];
    }
}
