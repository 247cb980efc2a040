#include "solve/sweep/anderson.h"

#include <math.h>
#include <string.h>

#include "linalg/quad.h"

enum { WINDOW = SPRAG_ANDERSON_WINDOW, PRODUCTS = SPRAG_ANDERSON_PRODUCTS, REST_MOST = 3, VECTORS = 5 };
#define RIDGE 1e-10 /* of the trace of dF' dF */

int spragAndersonInit(spragAnderson *anderson, int pieces, const int *start, const double *weight, spragPool *pool,
                      spragArena *arena)
{
    const size_t n = (size_t)start[pieces];
    double *vectors = SPRAG_TAKE_RAW(arena, double, (VECTORS + 2 * WINDOW) * n);
    *anderson = (spragAnderson){.pieces = pieces,
                                .start = start,
                                .weight = weight,
                                .sums = SPRAG_TAKE_RAW(arena, spragAndersonSums, pieces),
                                .slot = -1,
                                .pool = pool,
                                .size_last = INFINITY};
    double **const own[VECTORS] = {&anderson->x, &anderson->G, &anderson->f, &anderson->f_last, &anderson->G_last};
    if (vectors == NULL || anderson->sums == NULL)
        return 0;
    for (int j = 0; j < VECTORS; ++j)
        *own[j] = vectors + (size_t)j * n;
    for (int j = 0; j < WINDOW; ++j) {
        anderson->dF[j] = vectors + (size_t)(VECTORS + j) * n;
        anderson->dG[j] = vectors + (size_t)(VECTORS + WINDOW + j) * n;
    }
    return 1;
}

/* Four sums: the latency of one addition does not bound them, and SSE2 and AVX give the same bits. */
SPRAG_QUAD_INLINE double dot(int n, const double *a, const double *b)
{
    spragQuad sum = {0};
    int i = 0;
    for (; i + SPRAG_QUAD <= n; i += SPRAG_QUAD)
        sum += *(const spragQuadLoose *)(a + i) * *(const spragQuadLoose *)(b + i);
    for (; i < n; ++i)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

typedef struct Piece {
    spragAnderson *of;
    int number;
} Piece;

SPRAG_QUAD_INLINE void gatherPiece(const Piece *piece)
{
    spragAnderson *a = piece->of;
    const int first = a->start[piece->number], n = a->start[piece->number + 1] - first;
    double *f = a->f + first, *product = a->sums[piece->number].product;
    const double *G = a->G + first, *x = a->x + first, *weight = a->weight + first;
    for (int i = 0; i < n; ++i)
        f[i] = weight[i] * (G[i] - x[i]);
    product[2 * WINDOW] = dot(n, f, f);
    if (a->slot < 0)
        return;
    double *dF = a->dF[a->slot] + first, *dG = a->dG[a->slot] + first;
    const double *f_last = a->f_last + first, *G_last = a->G_last + first;
    for (int i = 0; i < n; ++i)
        dF[i] = f[i] - f_last[i], dG[i] = G[i] - G_last[i];
    for (int j = 0; j < a->m; ++j) {
        product[j] = dot(n, a->dF[j] + first, dF);
        product[WINDOW + j] = dot(n, a->dF[j] + first, f);
    }
}

SPRAG_QUAD_CLONES(gather, gatherPiece, const Piece)

/* f, the newest differences and their products. */
void spragAndersonGather(spragAnderson *a, int piece)
{
    gather(&(Piece){a, piece});
}

SPRAG_QUAD_INLINE void spreadPiece(const Piece *piece)
{
    const spragAnderson *a = piece->of;
    const int first = a->start[piece->number], n = a->start[piece->number + 1] - first;
    double *x = a->x + first;
    memcpy(x, a->G_last + first, (size_t)n * sizeof *x);
    for (int j = 0; j < a->m; ++j) {
        const double y = a->y[j], *dG = a->dG[j] + first;
        for (int i = 0; i < n; ++i)
            x[i] -= y * dG[i];
    }
    memcpy(a->G + first, x, (size_t)n * sizeof *x);
}

SPRAG_QUAD_CLONES(spreadOver, spreadPiece, const Piece)

/* Piece of x = G - dG y; of G, which becomes G_last, a new one. */
static void spread(void *data, int worker, int piece)
{
    (void)worker;
    spreadOver(&(Piece){data, piece});
}

/* x = G_last - dG y, m columns, and G = x */
static void spreadAll(spragAnderson *anderson, int m)
{
    anderson->m = m;
    spragPoolRun(anderson->pool, spread, anderson, anderson->pieces);
}

/* Before the gathering of the next sweep. */
static void setSlot(spragAnderson *anderson)
{
    anderson->slot = anderson->known ? anderson->count % WINDOW : -1;
    anderson->m = !anderson->known ? 0 : anderson->count + 1 < WINDOW ? anderson->count + 1 : WINDOW;
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

void spragAndersonRestart(spragAnderson *anderson)
{
    anderson->count = anderson->known = 0;
    anderson->size_last = INFINITY;
    setSlot(anderson);
}

void spragAndersonLook(spragAnderson *anderson)
{
    double product[PRODUCTS] = {0};
    for (int p = 0; p < anderson->pieces; ++p)
        for (int j = 0; j < PRODUCTS; ++j)
            product[j] += anderson->sums[p].product[j];
    anderson->size = sqrt(product[2 * WINDOW]);
    anderson->turn = INFINITY;
    if (!anderson->known)
        return;
    const double before = anderson->size_before * anderson->size_before;
    anderson->turn = sqrt(product[anderson->slot]) / anderson->size;
    anderson->ratio = 0.5 * (product[2 * WINDOW] + before - product[anderson->slot]) / before;
    for (int j = 0; j < anderson->m; ++j) {
        anderson->gram[anderson->slot][j] = anderson->gram[j][anderson->slot] = product[j];
        anderson->y[j] = product[WINDOW + j];
    }
}

static void swap(double **a, double **b)
{
    double *const was = *a;
    *a = *b, *b = was;
}

void spragAndersonMix(spragAnderson *anderson)
{
    if (!(anderson->size <= anderson->size_last)) {
        spreadAll(anderson, 0);
        spragAndersonRestart(anderson);
        anderson->rest_length = anderson->rest_length < REST_MOST ? 2 * anderson->rest_length + 1 : REST_MOST;
        anderson->rest = anderson->rest_length;
        return;
    }
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
    swap(&anderson->G, &anderson->G_last);
    swap(&anderson->f, &anderson->f_last);
    spreadAll(anderson, anderson->m);
    anderson->known = 1;
    anderson->size_before = anderson->size;
    setSlot(anderson);
}
