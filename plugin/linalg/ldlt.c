#include "linalg/ldlt.h"

#include <stddef.h>

static int later(int a, int b)
{
    return a > b ? a : b;
}

void spragLdltFactor(int n, const int *first, double *A, double *inverse_pivot)
{
    for (int i = 0; i < n; ++i) {
        double *row = A + (size_t)i * (size_t)n;
        const double diagonal = row[i];
        for (int j = first[i]; j < i; ++j) { /* row[j] becomes L_ij D_j, then L_ij */
            const double *other = A + (size_t)j * (size_t)n;
            double sum = row[j];
            for (int k = later(first[i], first[j]); k < j; ++k)
                sum -= row[k] * other[k];
            row[j] = sum;
        }
        double pivot = diagonal;
        for (int j = first[i]; j < i; ++j) {
            const double l = row[j] * inverse_pivot[j];
            pivot -= l * row[j];
            row[j] = l;
        }
        row[i] = pivot;
        inverse_pivot[i] = pivot > SPRAG_LDLT_REDUNDANT * diagonal ? 1 / pivot : 0;
    }
}

/* A few columns, their number known to the compiler: sums stay in registers. */
static inline void forward(int n, const int *first, const double *L, int columns, int top, double *X)
{
    for (int i = top; i < n; ++i) {
        const double *row = L + (size_t)i * (size_t)n;
        double sum[3] = {0, 0, 0};
        for (int k = later(first[i], top); k < i; ++k)
            for (int c = 0; c < columns; ++c)
                sum[c] += row[k] * X[k * columns + c];
        for (int c = 0; c < columns; ++c)
            X[i * columns + c] -= sum[c];
    }
}

void spragLdltForward(int n, const int *first, const double *L, int columns, int top, double *X)
{
    switch (columns) {
    case 1:
        forward(n, first, L, 1, top, X);
        break;
    case 2:
        forward(n, first, L, 2, top, X);
        break;
    default:
        forward(n, first, L, 3, top, X);
    }
}

void spragLdltBackward(int n, const int *first, const double *L, double *x)
{
    for (int k = n - 1; k >= 0; --k)
        for (int i = first[k]; i < k; ++i)
            x[i] -= L[(size_t)k * (size_t)n + (size_t)i] * x[k];
}
