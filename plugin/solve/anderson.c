#include "solve/anderson.h"

#include <math.h>
#include <string.h>

enum { WINDOW = SPRAG_ANDERSON_WINDOW, REST_MOST = 3 };
#define RIDGE 1e-10 /* of the trace of dF' dF */

int spragAndersonInit(spragAnderson *anderson, int n, const double *weight, spragArena *arena)
{
    *anderson = (spragAnderson){.n = n,
                                .weight = weight,
                                .f = SPRAG_TAKE(arena, double, n),
                                .f_last = SPRAG_TAKE(arena, double, n),
                                .G_last = SPRAG_TAKE(arena, double, n),
                                .size_last = INFINITY};
    for (int j = 0; j < WINDOW; ++j) {
        anderson->dF[j] = SPRAG_TAKE(arena, double, n);
        anderson->dG[j] = SPRAG_TAKE(arena, double, n);
        if (anderson->dF[j] == NULL || anderson->dG[j] == NULL)
            return 0;
    }
    return anderson->f != NULL && anderson->f_last != NULL && anderson->G_last != NULL;
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* y (m) = argmin |f - dF y| by the normal equations with a ridge: Gauss without pivots, the matrix is positive. */
static void leastSquares(const spragAnderson *anderson, int m, double *y)
{
    double A[WINDOW][WINDOW + 1], trace = 0;
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j <= i; ++j)
            A[i][j] = A[j][i] = dot(anderson->n, anderson->dF[i], anderson->dF[j]);
        A[i][m] = dot(anderson->n, anderson->dF[i], anderson->f);
        trace += A[i][i];
    }
    for (int i = 0; i < m; ++i)
        A[i][i] += RIDGE * trace;
    for (int k = 0; k < m; ++k)
        for (int i = k + 1; i < m; ++i) {
            const double factor = A[i][k] / A[k][k];
            for (int j = k; j <= m; ++j)
                A[i][j] -= factor * A[k][j];
        }
    for (int i = m - 1; i >= 0; --i) {
        y[i] = A[i][m];
        for (int j = i + 1; j < m; ++j)
            y[i] -= A[i][j] * y[j];
        y[i] /= A[i][i];
    }
}

void spragAndersonMix(spragAnderson *anderson, double *x, const double *G)
{
    const int n = anderson->n;
    const size_t bytes = (size_t)n * sizeof *x;
    for (int i = 0; i < n; ++i)
        anderson->f[i] = anderson->weight[i] * (G[i] - x[i]);
    const double size = sqrt(dot(n, anderson->f, anderson->f));
    if (!(size <= anderson->size_last)) {
        memcpy(x, anderson->G_last, bytes);
        anderson->count = 0;
        anderson->size_last = INFINITY;
        anderson->rest_length = anderson->rest_length < REST_MOST ? 2 * anderson->rest_length + 1 : REST_MOST;
        anderson->rest = anderson->rest_length;
        return;
    }
    if (anderson->rest > 0) {
        --anderson->rest;
        memcpy(x, G, bytes);
        return;
    }
    if (anderson->count > 0 && anderson->count % WINDOW == 0)
        anderson->rest_length /= 2;
    memcpy(x, G, bytes);
    if (anderson->size_last < INFINITY && size > 0) {
        const int slot = anderson->count++ % WINDOW, m = anderson->count < WINDOW ? anderson->count : WINDOW;
        for (int i = 0; i < n; ++i) {
            anderson->dF[slot][i] = anderson->f[i] - anderson->f_last[i];
            anderson->dG[slot][i] = G[i] - anderson->G_last[i];
        }
        double y[WINDOW];
        leastSquares(anderson, m, y);
        for (int j = 0; j < m; ++j)
            for (int i = 0; i < n && isfinite(y[j]); ++i)
                x[i] -= y[j] * anderson->dG[j][i];
    }
    memcpy(anderson->f_last, anderson->f, bytes);
    memcpy(anderson->G_last, G, bytes);
    anderson->size_last = size;
}
