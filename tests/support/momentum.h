/* Block Gauss-Seidel with Nesterov's momentum on u = W r + q, W dense, as simply as it can be written. */
#ifndef TESTS_SUPPORT_MOMENTUM_H
#define TESTS_SUPPORT_MOMENTUM_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/lu.h"
#include "support/check.h"

/* blocks of `size` rows; of one row r >= 0, of more u = 0 */
typedef struct Momentum {
    int blocks, size;
    double *W, *q, *r; /* (rows x rows), (rows), (rows) */
    double *weight;    /* (rows) 1/kg, of changes that go along with those since the last sweep */
    int restarts;      /* of all sweeps, */
    int capped;        /* and those whose momentum was the most there is */
} Momentum;

static inline Momentum *momentumCreate(int blocks, int size)
{
    const size_t rows = (size_t)blocks * (size_t)size;
    Momentum *m = calloc(1, sizeof *m);
    assert_non_null(m);
    *m = (Momentum){.blocks = blocks, .size = size, .W = calloc((rows + 3) * rows, sizeof *m->W)};
    assert_non_null(m->W);
    m->q = m->W + rows * rows, m->r = m->q + rows, m->weight = m->r + rows;
    return m;
}

static inline void momentumFree(Momentum *m)
{
    free(m->W), free(m);
}

/* y of a block becomes its answer to all others. */
static inline void momentumVisit(const Momentum *m, int block, double *y)
{
    enum { MOST = 6 };
    const int rows = m->blocks * m->size, first = block * m->size;
    double own[MOST * MOST], u[MOST];
    int pivot[MOST];
    for (int i = 0; i < m->size; ++i) {
        const double *row = m->W + (size_t)(first + i) * (size_t)rows;
        u[i] = m->q[first + i];
        for (int j = 0; j < rows; ++j)
            u[i] += row[j] * y[j];
        memcpy(own + i * m->size, row + first, (size_t)m->size * sizeof *own);
    }
    assert_int_equal(spragLuFactor(m->size, own, pivot, 0), m->size);
    spragLuSolve(m->size, own, pivot, u);
    for (int i = 0; i < m->size; ++i)
        y[first + i] = m->size > 1 ? y[first + i] - u[i] : fmax(y[first + i] - u[i], 0);
}

/* order (blocks): which comes when */
static inline void momentumRun(Momentum *m, const int *order, int sweeps)
{
    const int rows = m->blocks * m->size;
    double *before = calloc(3 * (size_t)rows, sizeof *before), *y = before + rows, *ahead = y + rows;
    assert_non_null(before);
    memcpy(before, m->r, (size_t)rows * sizeof *before);
    double t = 1, share = 0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        double along = 0;
        for (int i = 0; i < rows; ++i)
            y[i] = ahead[i] = m->r[i] + share * (m->r[i] - before[i]);
        for (int k = 0; k < m->blocks; ++k)
            momentumVisit(m, order[k], y);
        for (int i = 0; i < rows; ++i)
            along += m->weight[i] * (y[i] - ahead[i]) * (y[i] - m->r[i]);
        memcpy(before, m->r, (size_t)rows * sizeof *before);
        memcpy(m->r, y, (size_t)rows * sizeof *y);
        m->restarts += along < 0;
        t = along < 0 ? 1 : t;
        const double next = (1 + sqrt(1 + 4 * t * t)) / 2;
        share = fmin((t - 1) / next, 0.9);
        m->capped += share == 0.9;
        t = next;
    }
    free(before);
}

#endif
