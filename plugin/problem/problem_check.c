/* Is it a contact problem?  Solvers rely on what is checked here, once, before the first of them.
 *
 * First sizes, pattern and ranges: everything that indices are made of.  Then W = J M^-1 J^T, which is symmetric and
 * positive semidefinite:
 *
 *     |W - W^T| <= ASYMMETRY_LIMIT max |W|       what is less is the rounding of the file's numbers;
 *     D + ASYMMETRY_LIMIT tr(D) I > 0            of every diagonal block D;
 *     W + (ROUNDING + 3 l a) max |W| I > 0       of the whole: entries that are wrong by a max |W| move eigenvalues by
 *                                                no more than that times the longest row, 3 l numbers.
 *
 * Cholesky's factorisation decides on the last one where W is small.  In a large W power iteration seeks a vector x
 * with x^T W x below the bound.  If it finds one, W is indefinite; if it finds none, W may be so all the same. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/floats.h"
#include "base/status.h"
#include "problem/problem.h"
#include "problem/residual.h"

#define ASYMMETRY_LIMIT 1e-2 /* real files go to 4e-4 by the rounding of their source */
#define GREATEST 1e60        /* of numbers, 1/GREATEST of diagonals: beyond, squares in the judge over- or underflow */
#define ROUNDING 1e-6        /* eigenvalues this far below 0 are taken for rounding of the file's numbers */
enum {
    WHOLE_MOST = 100, /* contacts up to which the whole of W is factored */
    POWER_STEPS = 200
};

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

/* The largest |A_ab - B_ba|, or `most`. */
static double largestDifference(const double A[9], const double B[9], double most)
{
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
            const double difference = fabs(A[3 * a + b] - B[3 * b + a]);
            most = difference > most ? difference : most;
        }
    return most;
}

double spragProblemAsymmetry(const spragProblem *p)
{
    double largest = 0, difference = 0;
    int above = 0, below = 0; /* blocks */
    for (size_t i = 0; i < 9 * (size_t)p->block_count; ++i)
        largest = fabs(p->W[i]) > largest ? fabs(p->W[i]) : largest;
    for (int k = 0; k < p->contact_count; ++k)
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
            const int j = p->column[e], mirror = j > k ? spragProblemBlock(p, j, k) : e;
            above += j > k, below += j < k;
            if (mirror < 0)
                return INFINITY;
            if (j >= k)
                difference = largestDifference(p->W + 9 * (size_t)e, p->W + 9 * (size_t)mirror, difference);
        }
    if (above != below)
        return INFINITY;
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

/* 1: the symmetric part of A (n x n) + shift I is positive definite.  A is overwritten. */
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

/* 1: W_nn > 0 is asked of the block.  Rows of a BOX or ROLLING block may be idle. */
static int bearsOnNormal(const spragProblem *p, int k)
{
    return spragKindOf(p, k) != SPRAG_BLOCK_BOX && spragKindOf(p, k) != SPRAG_BLOCK_ROLLING;
}

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

/* The least eigenvalue that may be rounding.  largest: max |W|. */
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

/* Power iteration on s I - W, s the greatest row sum of |W|, turns to the eigenvector of the least eigenvalue. */
static spragStatus checkLeastEigenvalue(const spragProblem *p)
{
    const size_t n = 3 * (size_t)p->contact_count;
    double largest, s = 0, least = 0;
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
        s = fmax(s, sum);
        x[i] = cos(1.0 + 2.4 * (double)i); /* so that no eigenvector with a pattern is orthogonal to it */
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
            x[i] = (s * x[i] - Wx[i]) / (s * sqrt(xx));
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
