#include "solve/anderson.h"

#include <math.h>
#include <string.h>

enum { WINDOW = SPRAG_ANDERSON_WINDOW, PRODUCTS = SPRAG_ANDERSON_PRODUCTS, REST_MOST = 3, PIECE = 1024 };
#define RIDGE 1e-10 /* of the trace of dF' dF */

static int pieces(int n)
{
    return (n + PIECE - 1) / PIECE;
}

int spragAndersonInit(spragAnderson *anderson, int n, const double *weight, spragPool *pool, spragArena *arena)
{
    *anderson = (spragAnderson){.n = n,
                                .weight = weight,
                                .f = SPRAG_TAKE_RAW(arena, double, n),
                                .f_last = SPRAG_TAKE_RAW(arena, double, n),
                                .G_last = SPRAG_TAKE_RAW(arena, double, n),
                                .partial = spragArenaTakeRaw(arena, (size_t)pieces(n), sizeof *anderson->partial),
                                .pool = pool,
                                .size_last = INFINITY};
    for (int j = 0; j < WINDOW; ++j) {
        anderson->dF[j] = SPRAG_TAKE_RAW(arena, double, n);
        anderson->dG[j] = SPRAG_TAKE_RAW(arena, double, n);
        if (anderson->dF[j] == NULL || anderson->dG[j] == NULL)
            return 0;
    }
    return anderson->f != NULL && anderson->f_last != NULL && anderson->G_last != NULL && anderson->partial != NULL;
}

/* Four sums: the latency of one addition does not bound them, and SSE2 and AVX give the same bits. */
static double dot(int n, const double *a, const double *b)
{
    double sum[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int j = 0; j < 4; ++j)
            sum[j] += a[i + j] * b[i + j];
    for (; i < n; ++i)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static int pieceSize(int n, int piece)
{
    const int left = n - piece * PIECE;
    return left < PIECE ? left : PIECE;
}

/* f, the newest differences and their products. */
static void gather(void *data, int worker, int piece)
{
    (void)worker;
    spragAnderson *a = data;
    const int first = piece * PIECE, n = pieceSize(a->n, piece);
    double *f = a->f + first, *partial = a->partial[piece];
    const double *G = a->G + first, *x = a->x + first, *weight = a->weight + first;
    for (int i = 0; i < n; ++i)
        f[i] = weight[i] * (G[i] - x[i]);
    partial[2 * WINDOW] = dot(n, f, f);
    if (a->slot < 0)
        return;
    double *dF = a->dF[a->slot] + first, *dG = a->dG[a->slot] + first;
    const double *f_last = a->f_last + first, *G_last = a->G_last + first;
    for (int i = 0; i < n; ++i)
        dF[i] = f[i] - f_last[i], dG[i] = G[i] - G_last[i];
    for (int j = 0; j < a->m; ++j) {
        partial[j] = dot(n, a->dF[j] + first, dF);
        partial[WINDOW + j] = dot(n, a->dF[j] + first, f);
    }
}

/* x = G - dG y, and f, G for the next differences. */
static void spread(void *data, int worker, int piece)
{
    (void)worker;
    const spragAnderson *a = data;
    const int first = piece * PIECE, n = pieceSize(a->n, piece);
    double *x = a->x + first;
    memcpy(x, a->G + first, (size_t)n * sizeof *x);
    memcpy(a->G_last + first, x, (size_t)n * sizeof *x);
    memcpy(a->f_last + first, a->f + first, (size_t)n * sizeof *x);
    for (int j = 0; j < a->m; ++j) {
        const double y = a->y[j], *dG = a->dG[j] + first;
        for (int i = 0; i < n; ++i)
            x[i] -= y * dG[i];
    }
}

/* y = argmin |f - dF y| by the normal equations with a ridge: Gauss without pivots, the matrix is positive.  y: in the
 * right side dF' f. */
static void leastSquares(spragAnderson *anderson)
{
    const int m = anderson->m;
    double A[WINDOW][WINDOW + 1], trace = 0, *y = anderson->y;
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j)
            A[i][j] = anderson->gram[i][j];
        A[i][m] = y[i];
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
    for (int i = 0; i < m; ++i)
        if (!isfinite(y[i]))
            anderson->m = 0;
}

/* Sums of the pieces: products (PRODUCTS) in the order of `partial`. */
static void collect(const spragAnderson *anderson, double *product)
{
    memset(product, 0, PRODUCTS * sizeof *product);
    for (int p = 0; p < pieces(anderson->n); ++p)
        for (int j = 0; j < PRODUCTS; ++j)
            product[j] += anderson->partial[p][j];
}

void spragAndersonRestart(spragAnderson *anderson)
{
    anderson->count = anderson->known = 0;
    anderson->size_last = INFINITY;
}

void spragAndersonLook(spragAnderson *anderson, double *x, const double *G)
{
    double product[PRODUCTS];
    anderson->x = x, anderson->G = G;
    anderson->slot = anderson->known ? anderson->count % WINDOW : -1;
    anderson->m = !anderson->known ? 0 : anderson->count + 1 < WINDOW ? anderson->count + 1 : WINDOW;
    spragPoolRun(anderson->pool, gather, anderson, pieces(anderson->n));
    collect(anderson, product);
    anderson->size = sqrt(product[2 * WINDOW]);
    anderson->turn = INFINITY;
    if (anderson->known) {
        const double before = anderson->size_before * anderson->size_before;
        anderson->turn = sqrt(product[anderson->slot]) / anderson->size;
        anderson->ratio = 0.5 * (product[2 * WINDOW] + before - product[anderson->slot]) / before;
        for (int j = 0; j < anderson->m; ++j) {
            anderson->gram[anderson->slot][j] = anderson->gram[j][anderson->slot] = product[j];
            anderson->y[j] = product[WINDOW + j];
        }
    }
}

void spragAndersonMix(spragAnderson *anderson, double *x, const double *G)
{
    if (!(anderson->size <= anderson->size_last)) {
        memcpy(x, anderson->G_last, (size_t)anderson->n * sizeof *x);
        spragAndersonRestart(anderson);
        anderson->rest_length = anderson->rest_length < REST_MOST ? 2 * anderson->rest_length + 1 : REST_MOST;
        anderson->rest = anderson->rest_length;
        return;
    }
    anderson->x = x, anderson->G = G;
    if (anderson->rest > 0 || !anderson->known || !(anderson->size > 0)) {
        anderson->m = 0;
        anderson->rest -= anderson->rest > 0;
    } else {
        if (anderson->count > 0 && anderson->count % WINDOW == 0)
            anderson->rest_length /= 2;
        ++anderson->count;
        leastSquares(anderson);
        anderson->size_last = anderson->size;
    }
    if (!(anderson->size_last < INFINITY) && anderson->rest == 0)
        anderson->size_last = anderson->size;
    spragPoolRun(anderson->pool, spread, anderson, pieces(anderson->n));
    anderson->known = 1;
    anderson->size_before = anderson->size;
}
