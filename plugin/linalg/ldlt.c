#include "linalg/ldlt.h"

/* A pivot below this part of its diagonal entry is rounding. */
#define REDUNDANT 1e-13

void spragLdltFactor(int n, double *A, double *inverse_pivot)
{
    for (int i = 0; i < n; ++i) {
        double *row = A + i * n;
        const double diagonal = row[i];
        for (int j = 0; j < i; ++j) { /* row[j] becomes L_ij D_j, then L_ij */
            const double *other = A + j * n;
            for (int k = 0; k < j; ++k)
                row[j] -= row[k] * other[k];
        }
        double pivot = diagonal;
        for (int j = 0; j < i; ++j) {
            const double l = row[j] * inverse_pivot[j];
            pivot -= l * row[j];
            row[j] = l;
        }
        row[i] = pivot;
        inverse_pivot[i] = pivot > REDUNDANT * diagonal ? 1 / pivot : 0;
    }
}

void spragLdltForward(int n, const double *L, int columns, double *X)
{
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < i; ++k)
            for (int c = 0; c < columns; ++c)
                X[i * columns + c] -= L[i * n + k] * X[k * columns + c];
}

void spragLdltBackward(int n, const double *L, double *x)
{
    for (int i = n - 1; i >= 0; --i)
        for (int k = i + 1; k < n; ++k)
            x[i] -= L[k * n + i] * x[k];
}
