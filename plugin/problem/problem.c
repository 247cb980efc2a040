#include "problem/problem.h"

#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "problem/residual.h"

#define ASYMMETRY_LIMIT 1e-2 /* relative to max |W|: real files go to 4e-4 by the rounding of their source */

spragProblemData *spragProblemCreate(int contact_count, int block_count)
{
    spragProblemData *data = spragAlloc(1, sizeof *data);
    if (data == NULL)
        return NULL;
    const size_t nc = (size_t)contact_count, nb = (size_t)block_count;
    data->row_start = spragAlloc(nc + 1, sizeof(int));
    data->column = spragAlloc(nb, sizeof(int));
    data->parent = spragAlloc(nc, sizeof(int));
    data->body = spragAlloc(2 * nc, sizeof(int));
    data->W = spragAlloc(9 * nb, sizeof(double));
    data->q = spragAlloc(3 * nc, sizeof(double));
    data->mu = spragAlloc(nc, sizeof(double));
    data->mu_minus = spragAlloc(nc, sizeof(double));
    data->bound = spragAlloc(6 * nc, sizeof(double));
    data->kind = spragAlloc(nc, 1);
    data->history = spragAlloc(nc, sizeof *data->history);
    data->problem = (spragProblem){.contact_count = contact_count,
                                   .block_count = block_count,
                                   .row_start = data->row_start,
                                   .column = data->column,
                                   .W = data->W,
                                   .q = data->q,
                                   .mu = data->mu,
                                   .mu_minus = data->mu_minus,
                                   .kind = data->kind,
                                   .bound = data->bound,
                                   .parent = data->parent,
                                   .body = data->body,
                                   .history = data->history};
    if (!data->row_start || !data->column || !data->parent || !data->body || !data->W || !data->q || !data->mu ||
        !data->mu_minus || !data->bound || !data->kind || !data->history) {
        spragProblemFree(&data->problem);
        return NULL;
    }
    for (size_t k = 0; k < nc; ++k) {
        data->parent[k] = data->body[2 * k] = data->body[2 * k + 1] = -1;
        data->history[k].fresh = 1;
    }
    return data;
}

void spragProblemFree(spragProblem *problem)
{
    if (problem == NULL)
        return;
    spragProblemData *data = (spragProblemData *)problem;
    void *const owned[] = {data->row_start, data->column,   data->parent, data->body, data->W,      data->q,
                           data->mu,        data->mu_minus, data->bound,  data->kind, data->history};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k)
        spragFree(owned[k]);
    spragFree(data);
}

/* ---------------------------------------------------------------- checks */

static spragStatus checkPattern(const spragProblem *p)
{
    if (p->row_start[0] != 0 || p->row_start[p->contact_count] != p->block_count)
        return spragFail(SPRAG_ERROR_SIZE, "row_start runs from %d to %d, expected 0 to block_count = %d",
                         p->row_start[0], p->row_start[p->contact_count], p->block_count);
    for (int k = 0; k < p->contact_count; ++k) {
        if (p->row_start[k] > p->row_start[k + 1])
            return spragFail(SPRAG_ERROR_SIZE, "row_start[%d] > row_start[%d]", k, k + 1);
        int diagonal = 0;
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
            const int j = p->column[e];
            if (j < 0 || j >= p->contact_count)
                return spragFail(SPRAG_ERROR_SIZE, "block %d of row %d is in column %d of %d", e, k, j,
                                 p->contact_count);
            if (e > p->row_start[k] && j <= p->column[e - 1])
                return spragFail(SPRAG_ERROR_SIZE, "columns of row %d are not ascending at block %d", k, e);
            diagonal |= j == k;
        }
        if (!diagonal)
            return spragFail(SPRAG_ERROR_SIZE, "row %d has no diagonal block", k);
    }
    return SPRAG_OK;
}

static spragStatus checkNumbers(const spragProblem *p)
{
    for (int i = 0; i < 9 * p->block_count; ++i)
        if (!isfinite(p->W[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "W of block %d is not finite", i / 9);
    for (int i = 0; i < 3 * p->contact_count; ++i)
        if (!isfinite(p->q[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "q of contact %d is not finite", i / 3);
    for (int k = 0; k < p->contact_count; ++k) {
        const double mu_minus = p->mu_minus != NULL ? p->mu_minus[k] : 0;
        if (isnan(p->mu[k]) || isnan(mu_minus) || isinf(p->mu[k]) || isinf(mu_minus))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "mu of contact %d is not finite", k);
        if (p->mu[k] < 0 || mu_minus < 0)
            return spragFail(SPRAG_ERROR_RANGE, "mu of contact %d is negative", k);
    }
    return SPRAG_OK;
}

static spragStatus checkKinds(const spragProblem *p)
{
    for (int k = 0; p->kind != NULL && k < p->contact_count; ++k) {
        if (p->kind[k] > SPRAG_BLOCK_ROLLING)
            return spragFail(SPRAG_ERROR_RANGE, "kind of block %d is %d", k, p->kind[k]);
        if (p->kind[k] == SPRAG_BLOCK_BOX && p->bound == NULL)
            return spragFail(SPRAG_ERROR_NULL, "block %d is BOX but bound is NULL", k);
        if (p->kind[k] == SPRAG_BLOCK_BOX)
            for (int a = 0; a < 3; ++a)
                if (!(p->bound[6 * k + a] <= p->bound[6 * k + 3 + a]))
                    return spragFail(SPRAG_ERROR_RANGE, "block %d, row %d: lo > hi", k, a);
        if (p->kind[k] == SPRAG_BLOCK_ROLLING &&
            (p->parent == NULL || p->parent[k] < 0 || p->parent[k] >= p->contact_count))
            return spragFail(SPRAG_ERROR_SIZE, "block %d is ROLLING but has no parent", k);
    }
    return SPRAG_OK;
}

/* Block (k, j), or NULL. */
static const double *findBlock(const spragProblem *p, int k, int j)
{
    for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
        if (p->column[e] == j)
            return p->W + 9 * (size_t)e;
    return NULL;
}

double spragProblemAsymmetry(const spragProblem *p)
{
    double largest = 0, difference = 0;
    for (int i = 0; i < 9 * p->block_count; ++i)
        largest = fmax(largest, fabs(p->W[i]));
    for (int k = 0; k < p->contact_count; ++k)
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
            const double *A = p->W + 9 * (size_t)e, *B = findBlock(p, p->column[e], k);
            if (B == NULL)
                return INFINITY;
            for (int a = 0; a < 3; ++a)
                for (int b = 0; b < 3; ++b)
                    difference = fmax(difference, fabs(A[3 * a + b] - B[3 * b + a]));
        }
    return largest > 0 ? difference / largest : 0;
}

static spragStatus checkSymmetry(const spragProblem *p)
{
    const double asymmetry = spragProblemAsymmetry(p);
    if (isinf(asymmetry))
        return spragFail(SPRAG_ERROR_NOT_SYMMETRIC, "the pattern of W is not symmetric");
    if (asymmetry > ASYMMETRY_LIMIT)
        return spragFail(SPRAG_ERROR_NOT_SYMMETRIC, "|W - W'| is %g of the largest entry, at most %g is accepted",
                         asymmetry, ASYMMETRY_LIMIT);
    return SPRAG_OK;
}

/* Necessary conditions on the diagonal blocks: diagonal >= 0, 2 x 2 minors >= 0, normal entry > 0. */
static spragStatus checkDefinite(const spragProblem *p)
{
    for (int k = 0; k < p->contact_count; ++k) {
        const double *D = p->W + 9 * (size_t)spragProblemDiagonal(p, k);
        const double size = D[0] + D[4] + D[8];
        if (D[0] < 0 || D[4] < 0 || D[8] < 0 || !(size > 0))
            return spragFail(SPRAG_ERROR_INDEFINITE, "diagonal block %d is diag(%g, %g, %g)", k, D[0], D[4], D[8]);
        const double slack = ASYMMETRY_LIMIT * size * size;
        const double minor[3] = {D[0] * D[4] - D[1] * D[3], D[0] * D[8] - D[2] * D[6], D[4] * D[8] - D[5] * D[7]};
        for (int i = 0; i < 3; ++i)
            if (minor[i] < -slack)
                return spragFail(SPRAG_ERROR_INDEFINITE, "a 2 x 2 minor of diagonal block %d is %g", k, minor[i]);
    }
    return SPRAG_OK;
}

spragStatus spragProblemCheck(const spragProblem *problem)
{
    spragDetailClear();
    if (problem == NULL)
        return spragFail(SPRAG_ERROR_NULL, "problem is NULL");
    if (problem->contact_count < 0 || problem->block_count < 0)
        return spragFail(SPRAG_ERROR_SIZE, "contact_count = %d, block_count = %d", problem->contact_count,
                         problem->block_count);
    if (problem->row_start == NULL || problem->column == NULL || problem->W == NULL || problem->q == NULL ||
        problem->mu == NULL)
        return spragFail(SPRAG_ERROR_NULL, "one of row_start, column, W, q, mu is NULL");
    spragStatus status = checkPattern(problem);
    if (status == SPRAG_OK)
        status = checkNumbers(problem);
    if (status == SPRAG_OK)
        status = checkKinds(problem);
    if (status == SPRAG_OK)
        status = checkSymmetry(problem);
    if (status == SPRAG_OK)
        status = checkDefinite(problem);
    return status;
}
