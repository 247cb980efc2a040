/* Rows that nothing bounds, eliminated.
 *
 * A contact with mu = infinity holds its two tangential rows whatever that takes: u_b = 0, an equation.  With W_bb of all
 * such rows
 *
 *     r_b = -W_bb^-1 (q_b + W_ba r_a),     W' = W_aa - W_ab W_bb^-1 W_ba,     q' = q_a - W_ab W_bb^-1 q_b,
 *
 * the other rows are a problem of their own, one of cones (cones.h): the interior methods, which know no such rows, can be
 * asked for it, and sweeps have nothing left to carry to and fro.  Where the rows of two contacts say the same W_bb is
 * singular, and gets a compliance of SOFT; the judge has the last word. */
#include <math.h>
#include <string.h>

#include "linalg/lu.h"
#include "problem/residual.h"
#include "solve/solver.h"

enum { BLOCKS_MOST = 60 }; /* dense */
#define SOFT 1e-9          /* of W's own diagonal */
#define SINGULAR 1e-12     /* a pivot, of the largest number */

static int isFree(const spragProblem *p, int row)
{
    const double *bound = p->bound + 6 * (size_t)(row / 3);
    return spragKindOf(p, row / 3) == SPRAG_BLOCK_BOX && isinf(bound[row % 3]) && isinf(bound[3 + row % 3]);
}

/* Of block e of W the number at (i, j). */
static double entry(const spragProblem *p, int row, int column)
{
    const int e = spragProblemBlock(p, row / 3, column / 3);
    return e < 0 ? 0 : p->W[9 * (size_t)e + (size_t)(3 * (row % 3) + column % 3)];
}

typedef struct Elimination {
    int free_count, n;     /* rows eliminated, of all */
    int *row;              /* (free_count) */
    double *X;             /* (n + 1 columns of free_count) W_bb^-1 [W_ba, q_b]; of a free row: nothing */
    double *W, *q, *bound; /* of what is left: free rows are fixed at 0, uncoupled */
    int *row_start, *column;
} Elimination;

/* 0: no memory. */
static int reduce(Elimination *el, const spragProblem *p, spragArena *arena)
{
    const int nc = p->contact_count, n = el->n = 3 * nc;
    const size_t size = (size_t)n, blocks = (size_t)nc * (size_t)nc;
    el->row = SPRAG_TAKE(arena, int, size);
    for (int i = 0; i < n && el->row != NULL; ++i)
        if (isFree(p, i))
            el->row[el->free_count++] = i;
    const int m = el->free_count;
    double *factors = SPRAG_TAKE(arena, double, (size_t)m *(size_t)m);
    int *pivot = SPRAG_TAKE(arena, int, (size_t)m);
    el->X = SPRAG_TAKE(arena, double, (size_t)m *(size + 1));
    el->W = SPRAG_TAKE(arena, double, 9 * blocks), el->q = SPRAG_TAKE(arena, double, size);
    el->bound = SPRAG_TAKE(arena, double, 2 * size);
    el->row_start = SPRAG_TAKE(arena, int, (size_t)nc + 1), el->column = SPRAG_TAKE(arena, int, blocks);
    if (el->row == NULL || factors == NULL || pivot == NULL || el->X == NULL || el->W == NULL || el->q == NULL ||
        el->bound == NULL || el->row_start == NULL || el->column == NULL)
        return 0;
    int rank = 0;
    for (double soft = 0; rank < m && soft <= SOFT; soft += SOFT) {
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < m; ++j)
                factors[i * m + j] = entry(p, el->row[i], el->row[j]) * (i == j ? 1 + soft : 1);
        rank = spragLuFactor(m, factors, pivot, SINGULAR);
    }
    for (int j = 0; j <= n; ++j) {
        double *X = el->X + (size_t)j * (size_t)m;
        for (int i = 0; i < m; ++i)
            X[i] = j < n ? entry(p, el->row[i], j) : p->q[el->row[i]];
        spragLuSolve(m, factors, pivot, X);
    }
    memcpy(el->bound, p->bound, 2 * size * sizeof *el->bound);
    for (int i = 0; i < n; ++i) {
        const int free = isFree(p, i);
        for (int j = 0; j <= n; ++j) {
            double sum = j < n ? entry(p, i, j) : p->q[i];
            for (int l = 0; l < m && !free; ++l)
                sum -= entry(p, i, el->row[l]) * el->X[(size_t)j * (size_t)m + (size_t)l];
            double *to = j < n ? el->W + 9 * (size_t)(i / 3 * nc + j / 3) + 3 * (i % 3) + j % 3 : el->q + i;
            *to = !free && !(j < n && isFree(p, j)) ? sum : j == i ? entry(p, i, i) : 0;
        }
        if (free)
            el->bound[6 * (i / 3) + i % 3] = el->bound[6 * (i / 3) + 3 + i % 3] = 0;
    }
    for (int k = 0; k < nc; ++k) {
        el->row_start[k + 1] = nc * (k + 1);
        for (int j = 0; j < nc; ++j)
            el->column[nc * k + j] = j;
    }
    return 1;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    if (problem->contact_count > BLOCKS_MOST || !spragProblemHasFreeRows(problem))
        return SPRAG_NOT_CONVERGED;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    Elimination el = {0};
    spragSolveInfo inner;
    spragStatus status = SPRAG_ERROR_MEMORY;
    double *s = SPRAG_TAKE_RAW(arena, double, 3 * (size_t)problem->contact_count);
    if (s != NULL && reduce(&el, problem, arena)) {
        spragProblem rest = *problem;
        rest.block_count = problem->contact_count * problem->contact_count;
        rest.row_start = el.row_start, rest.column = el.column, rest.W = el.W, rest.q = el.q, rest.bound = el.bound;
        rest.bodies = NULL;
        memcpy(s, r, 3 * (size_t)problem->contact_count * sizeof *s);
        for (int i = 0; i < el.free_count; ++i)
            s[el.row[i]] = 0;
        status = spragChainSolve(&rest, options, arena, s, NULL, &inner);
        info->iterations += inner.iterations;
        info->several |= inner.several, info->none |= inner.none;
    }
    if (status != SPRAG_ERROR_MEMORY) {
        memcpy(r, s, 3 * (size_t)problem->contact_count * sizeof *r);
        for (int i = 0; i < el.free_count; ++i) {
            double sum = -el.X[(size_t)el.n * (size_t)el.free_count + (size_t)i];
            for (int j = 0; j < el.n; ++j)
                sum -= isFree(problem, j) ? 0 : el.X[(size_t)j * (size_t)el.free_count + (size_t)i] * s[j];
            r[el.row[i]] = sum;
        }
    }
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverFreeRows = {SPRAG_SOLVER_NEWTON, "newton", solve};

int spragProblemHasFreeRows(const spragProblem *problem)
{
    for (int i = 0; i < 3 * problem->contact_count; ++i)
        if (isFree(problem, i))
            return 1;
    return 0;
}
