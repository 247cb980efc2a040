#include "problem/problem.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/floats.h"
#include "base/status.h"
#include "problem/residual.h"

#define ASYMMETRY_LIMIT 1e-2 /* relative to max |W|: real files go to 4e-4 by the rounding of their source */
#define GREATEST 1e60        /* of numbers, 1/GREATEST of diagonals: beyond, squares in the judge over- or underflow */
#define ROUNDING 1e-6        /* of max |W|: eigenvalues this far below 0 are taken for rounding of the file's numbers */
enum { WHOLE_MOST = 100 };   /* contacts up to which the whole of W is factored in search of a negative eigenvalue */
enum { POWER_STEPS = 200 };  /* of the search by power iteration beyond */

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
    for (int k = 0; k < p->contact_count; ++k)
        if (p->row_start[k] > p->row_start[k + 1])
            return spragFail(SPRAG_ERROR_SIZE, "row_start[%d] > row_start[%d]", k, k + 1);
    for (int k = 0; k < p->contact_count; ++k) {
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
    for (int k = 0; k < p->contact_count; ++k)
        for (size_t i = 9 * (size_t)p->row_start[k]; i < 9 * (size_t)p->row_start[k + 1]; ++i)
            if (!(fabs(p->W[i]) <= GREATEST))
                return spragFail(SPRAG_ERROR_NOT_FINITE, "W of block (%d, %d) is not finite, or beyond 1e60", k,
                                 p->column[i / 9]);
    for (size_t i = 0; i < 3 * (size_t)p->contact_count; ++i)
        if (!(fabs(p->q[i]) <= GREATEST))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "q of contact %zu is not finite, or beyond 1e60", i / 3);
    for (int k = 0; k < p->contact_count; ++k) {
        const double mu_minus = p->mu_minus != NULL ? p->mu_minus[k] : 0;
        if (!(fabs(p->mu[k]) <= GREATEST && fabs(mu_minus) <= GREATEST))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "mu of contact %d is not finite, or beyond 1e60", k);
        if (p->mu[k] < 0 || mu_minus < 0)
            return spragFail(SPRAG_ERROR_RANGE, "mu of contact %d is %g, expected >= 0", k, fmin(p->mu[k], mu_minus));
    }
    if (!(p->step >= 0) || isinf(p->step))
        return spragFail(SPRAG_ERROR_RANGE, "step = %g s, expected >= 0", p->step);
    return SPRAG_OK;
}

static spragStatus checkHistory(const spragProblem *p)
{
    for (int k = 0; p->history != NULL && k < p->contact_count; ++k) {
        const spragContactHistory *h = &p->history[k];
        const double number[] = {h->slip[0],         h->slip[1],          h->free_acceleration,
                                 h->previous_normal, h->previous_slip[0], h->previous_slip[1]};
        int finite = 1;
        for (size_t i = 0; i < sizeof number / sizeof *number; ++i)
            finite &= isfinite(number[i]) != 0;
        for (size_t i = 0; i < 9; ++i)
            finite &= isfinite(h->held[i]) != 0;
        if (!finite)
            return spragFail(SPRAG_ERROR_NOT_FINITE, "the history of contact %d is not finite", k);
        if (h->mode > SPRAG_MODE_SLIP || h->variant < -1 || h->variant > 1)
            return spragFail(SPRAG_ERROR_RANGE, "history of contact %d: mode %d, variant %d", k, h->mode, h->variant);
    }
    return SPRAG_OK;
}

static spragStatus checkBounds(int k, const double bound[6])
{
    for (int a = 0; a < 3; ++a)
        if (!(bound[a] <= bound[3 + a] && bound[a] < INFINITY && bound[3 + a] > -INFINITY))
            return spragFail(SPRAG_ERROR_RANGE, "block %d, row %d: lo = %g, hi = %g, expected lo <= hi", k, a, bound[a],
                             bound[3 + a]);
    return SPRAG_OK;
}

static spragStatus checkKinds(const spragProblem *p)
{
    for (int k = 0; p->kind != NULL && k < p->contact_count; ++k) {
        if (p->kind[k] > SPRAG_BLOCK_ROLLING)
            return spragFail(SPRAG_ERROR_RANGE, "kind of block %d is %d", k, p->kind[k]);
        if (p->kind[k] == SPRAG_BLOCK_BOX && p->bound == NULL)
            return spragFail(SPRAG_ERROR_NULL, "block %d is BOX but bound is NULL", k);
        if (p->kind[k] == SPRAG_BLOCK_BOX && checkBounds(k, p->bound + 6 * (size_t)k) != SPRAG_OK)
            return SPRAG_ERROR_RANGE;
        if (p->kind[k] == SPRAG_BLOCK_ROLLING &&
            (p->parent == NULL || p->parent[k] < 0 || p->parent[k] >= p->contact_count ||
             p->kind[p->parent[k]] == SPRAG_BLOCK_ROLLING))
            return spragFail(SPRAG_ERROR_SIZE, "block %d is ROLLING but has no contact as parent", k);
    }
    return SPRAG_OK;
}

double spragProblemAsymmetry(const spragProblem *p)
{
    double largest = 0, difference = 0;
    for (size_t i = 0; i < 9 * (size_t)p->block_count; ++i)
        if (fabs(p->W[i]) > largest)
            largest = fabs(p->W[i]);
    for (int k = 0; k < p->contact_count; ++k)
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
            const int mirror = spragProblemBlock(p, p->column[e], k);
            if (mirror < 0)
                return INFINITY;
            const double *A = p->W + 9 * (size_t)e, *B = p->W + 9 * (size_t)mirror;
            for (int a = 0; a < 3; ++a)
                for (int b = 0; b < 3; ++b)
                    if (fabs(A[3 * a + b] - B[3 * b + a]) > difference)
                        difference = fabs(A[3 * a + b] - B[3 * b + a]);
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

/* Is the symmetric part of A (n x n) + shift I positive definite?  Cholesky's factorisation tells; A is overwritten. */
static int isDefinite(int n, double *A, double shift)
{
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) {
            double *a = A + (size_t)i * (size_t)n, *b = A + (size_t)j * (size_t)n;
            double sum = (a[j] + b[i]) / 2 + (i == j ? shift : 0);
            for (int k = 0; k < j; ++k)
                sum -= a[k] * b[k];
            if (i == j && !(sum > 0))
                return 0;
            a[j] = i == j ? sqrt(sum) : sum / b[j];
        }
    return 1;
}

/* A normal force moves its contact; rows of a BOX or ROLLING block may be idle. */
static int bearsOnNormal(const spragProblem *p, int k)
{
    return spragKindOf(p, k) != SPRAG_BLOCK_BOX && spragKindOf(p, k) != SPRAG_BLOCK_ROLLING;
}

/* Necessary conditions on the diagonal blocks: diagonal >= 0, W_nn and trace > 0, no eigenvalue clearly below 0. */
static spragStatus checkDiagonal(const spragProblem *p)
{
    for (int k = 0; k < p->contact_count; ++k) {
        double D[9];
        memcpy(D, p->W + 9 * (size_t)spragProblemDiagonal(p, k), sizeof D);
        const double trace = D[0] + D[4] + D[8];
        if (D[0] < 0 || D[4] < 0 || D[8] < 0 || !(trace >= 1 / GREATEST))
            return spragFail(SPRAG_ERROR_INDEFINITE,
                             "diagonal block %d of W is diag(%g, %g, %g), expected none below 0 and a sum of 1e-60 on",
                             k, D[0], D[4], D[8]);
        if (!(D[0] > 0) && bearsOnNormal(p, k))
            return spragFail(SPRAG_ERROR_INDEFINITE, "W_nn of contact %d is 0, expected > 0: no force moves it", k);
        if (!isDefinite(3, D, ASYMMETRY_LIMIT * trace))
            return spragFail(SPRAG_ERROR_INDEFINITE, "diagonal block %d of W has a negative eigenvalue", k);
    }
    return SPRAG_OK;
}

/* Entries beyond which an eigenvalue below 0 is no rounding: asymmetry a of entries moves eigenvalues by at most a
 * times the longest row. */
static double eigenvalueBound(const spragProblem *p, double *largest)
{
    int longest = 0;
    *largest = 0;
    for (int k = 0; k < p->contact_count; ++k)
        longest = p->row_start[k + 1] - p->row_start[k] > longest ? p->row_start[k + 1] - p->row_start[k] : longest;
    for (size_t i = 0; i < 9 * (size_t)p->block_count; ++i)
        *largest = fmax(*largest, fabs(p->W[i]));
    return -(ROUNDING + 3 * longest * spragProblemAsymmetry(p)) * *largest;
}

static spragStatus failIndefinite(double eigenvalue, double largest)
{
    return spragFail(SPRAG_ERROR_INDEFINITE, "W has an eigenvalue below %g (largest entry %g), expected none below 0",
                     eigenvalue, largest);
}

/* The whole of W, factored. */
static spragStatus checkDefinite(const spragProblem *p)
{
    const size_t n = 3 * (size_t)p->contact_count;
    double largest;
    const double bound = eigenvalueBound(p, &largest);
    double *A = spragAlloc(n * n, sizeof *A);
    if (A == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "out of memory for the check of %d contacts", p->contact_count);
    for (int k = 0; k < p->contact_count; ++k)
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            for (size_t i = 0; i < 9; ++i)
                A[(3 * (size_t)k + i / 3) * n + 3 * (size_t)p->column[e] + i % 3] = p->W[9 * (size_t)e + i];
    const int definite = isDefinite((int)n, A, -bound);
    spragFree(A);
    return definite ? SPRAG_OK : failIndefinite(bound, largest);
}

/* Too large to factor: power iteration on s I - W, with s the greatest row sum of |W|, turns to
 * the least eigenvalue.  A Rayleigh quotient below the bound proves that W is indefinite; that
 * none was found proves nothing, and is accepted. */
static spragStatus checkLeastEigenvalue(const spragProblem *p)
{
    const size_t n = 3 * (size_t)p->contact_count;
    double largest, greatest = 0, least = 0;
    const double bound = eigenvalueBound(p, &largest);
    double *x = spragAlloc(2 * n, sizeof *x);
    if (x == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "out of memory for the check of %d contacts", p->contact_count);
    double *const Wx = x + n;
    for (size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int e = p->row_start[i / 3]; e < p->row_start[i / 3 + 1]; ++e)
            for (size_t j = 0; j < 3; ++j)
                sum += fabs(p->W[9 * (size_t)e + 3 * (i % 3) + j]);
        greatest = fmax(greatest, sum);
        x[i] = cos(1.0 + 2.4 * (double)i); /* no pattern that W could have */
    }
    for (int step = 0; step < POWER_STEPS && least >= bound; ++step) {
        double xx = 0, xWx = 0;
        spragProblemVelocity(p, x, Wx);
        for (size_t i = 0; i < n; ++i) {
            Wx[i] -= p->q[i];
            xx += x[i] * x[i], xWx += x[i] * Wx[i];
        }
        least = xWx / xx;
        for (size_t i = 0; i < n; ++i)
            x[i] = (greatest * x[i] - Wx[i]) / (greatest * sqrt(xx));
    }
    spragFree(x);
    return least >= bound ? SPRAG_OK : failIndefinite(least, largest);
}

spragStatus spragProblemCheckQuick(const spragProblem *problem)
{
    spragDetailClear();
    if (problem == NULL)
        return spragFail(SPRAG_ERROR_NULL, "problem is NULL");
    if (problem->contact_count < 0 || problem->block_count < 0 || problem->contact_count > SPRAG_BLOCKS_MOST ||
        problem->block_count > SPRAG_BLOCKS_MOST)
        return spragFail(SPRAG_ERROR_SIZE, "contact_count = %d, block_count = %d, expected 0 to %d",
                         problem->contact_count, problem->block_count, SPRAG_BLOCKS_MOST);
    if (problem->contact_count == 0 && problem->block_count == 0)
        return SPRAG_OK; /* it needs no arrays */
    if (problem->row_start == NULL || problem->column == NULL || problem->W == NULL || problem->q == NULL ||
        problem->mu == NULL)
        return spragFail(SPRAG_ERROR_NULL, "one of row_start, column, W, q, mu is NULL");
    spragStatus (*const check[])(const spragProblem *) = {checkPattern, checkNumbers,  checkHistory,
                                                          checkKinds,   checkSymmetry, checkDiagonal};
    spragStatus status = SPRAG_OK;
    for (size_t i = 0; status == SPRAG_OK && i < sizeof check / sizeof *check; ++i)
        status = check[i](problem);
    return status;
}

spragStatus spragProblemCheck(const spragProblem *problem)
{
    SPRAG_FLOATS;
    const spragStatus status = spragProblemCheckQuick(problem);
    if (status != SPRAG_OK || problem->contact_count == 0)
        return status;
    return problem->contact_count <= WHOLE_MOST ? checkDefinite(problem) : checkLeastEigenvalue(problem);
}

spragStatus spragProblemFinish(spragProblemData *data, const char *path, spragProblem **out)
{
    const spragStatus status = spragProblemCheck(&data->problem);
    if (status != SPRAG_OK) {
        char detail[256];
        strncpy(detail, spragStatusDetail(), sizeof detail - 1);
        detail[sizeof detail - 1] = '\0';
        spragProblemFree(&data->problem);
        return spragFail(status, "%s: %s", path, detail);
    }
    data->problem.asymmetry = spragProblemAsymmetry(&data->problem);
    *out = &data->problem;
    return SPRAG_OK;
}
