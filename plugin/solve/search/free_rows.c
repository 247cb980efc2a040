/* Rows that nothing bounds, eliminated.
 *
 * A contact with mu = infinity holds its two tangential rows whatever that takes: u_b = 0, an equation.  With W_bb of
 * all such rows
 *
 *     r_b = -W_bb^-1 (q_b + W_ba r_a),     W' = W_aa - W_ab W_bb^-1 W_ba,     q' = q_a - W_ab W_bb^-1 q_b,
 *
 * the other rows are a problem of their own, one of cones (cones.h): the interior methods, which know no such rows, can
 * be asked for it, and sweeps have nothing left to carry to and fro.  Where the rows of two contacts say the same W_bb
 * is singular, and gets a compliance of SOFT; the judge has the last word. */
#include <math.h>
#include <string.h>

#include "linalg/lu.h"
#include "problem/cone.h"
#include "problem/residual.h"
#include "solve/solver.h"

#define SOFT 1e-9      /* of W's own diagonal */
#define SINGULAR 1e-12 /* a pivot, of the largest number */
#define CLOSER 0.1     /* of the tolerance: elimination adds to the residual */
#define LOOSER 5       /* of that: enough */
#define SOFTEST 1e-12  /* W' of W, where it is less: rounding */

static int isFree(const spragProblem *p, int row)
{
    const size_t least = (size_t)(6 * (row / 3) + row % 3);
    return spragKindOf(p, row / 3) == SPRAG_BLOCK_BOX && isinf(p->bound[least]) && isinf(p->bound[least + 3]);
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
    double *factors;       /* (free_count x free_count) of W_bb */
    int *pivot;            /* (free_count) */
    double *X;             /* (n + 1 columns of free_count) W_bb^-1 [W_ba, q_b]; of a free row: nothing */
    double *coupling;      /* (free_count) a row of W_ab: to look for its entries takes most of the time */
    double *W, *q, *bound; /* of what is left: free rows are fixed at 0, uncoupled */
    int *row_start, *column;
} Elimination;

/* Finds the free rows, and takes room.  0: no memory. */
static int begin(Elimination *el, const spragProblem *p, spragArena *arena)
{
    const int nc = p->contact_count, n = 3 * nc;
    *el = (Elimination){.n = n, .row = SPRAG_TAKE(arena, int, n)};
    for (int i = 0; i < n && el->row != NULL; ++i)
        if (isFree(p, i))
            el->row[el->free_count++] = i;
    const int m = el->free_count;
    el->factors = SPRAG_TAKE(arena, double, m *m), el->pivot = SPRAG_TAKE(arena, int, m);
    el->X = SPRAG_TAKE(arena, double, m *(n + 1)), el->coupling = SPRAG_TAKE(arena, double, m);
    el->W = SPRAG_TAKE(arena, double, n *n), el->q = SPRAG_TAKE(arena, double, n);
    el->bound = SPRAG_TAKE(arena, double, 2 * n);
    el->row_start = SPRAG_TAKE(arena, int, nc + 1), el->column = SPRAG_TAKE(arena, int, nc *nc);
    return el->row != NULL && el->factors != NULL && el->pivot != NULL && el->X != NULL && el->W != NULL &&
           el->q != NULL && el->bound != NULL && el->row_start != NULL && el->column != NULL;
}

/* W_bb, softer where it is singular, and X. */
static void factor(Elimination *el, const spragProblem *p)
{
    const int m = el->free_count;
    int rank = 0;
    for (double soft = 0; rank < m && soft <= SOFT; soft += SOFT) {
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < m; ++j)
                el->factors[i * m + j] = entry(p, el->row[i], el->row[j]) * (i == j ? 1 + soft : 1);
        rank = spragLuFactor(m, el->factors, el->pivot, SINGULAR);
    }
    for (int j = 0; j <= el->n; ++j) {
        double *X = el->X + j * m;
        for (int i = 0; i < m; ++i)
            X[i] = j < el->n ? entry(p, el->row[i], j) : p->q[el->row[i]];
        spragLuSolve(m, el->factors, el->pivot, X);
    }
}

/* W' and q'. */
static void reduce(Elimination *el, const spragProblem *p)
{
    const int nc = p->contact_count, n = el->n, m = el->free_count;
    memcpy(el->bound, p->bound, 2 * (size_t)n * sizeof *el->bound);
    for (int i = 0; i < n; ++i) {
        const int free = isFree(p, i);
        for (int l = 0; l < m && !free; ++l)
            el->coupling[l] = entry(p, i, el->row[l]);
        for (int j = 0; j <= n; ++j) {
            double sum = j < n ? entry(p, i, j) : p->q[i];
            for (int l = 0; l < m && !free; ++l)
                sum -= el->coupling[l] * el->X[j * m + l];
            double *to = j < n ? el->W + 9 * (i / 3 * nc + j / 3) + 3 * (i % 3) + j % 3 : el->q + i;
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
}

/* r_b, given r_a. */
static void restore(const Elimination *el, const spragProblem *p, double *r)
{
    const int m = el->free_count;
    for (int i = 0; i < m; ++i) {
        double sum = -el->X[el->n * m + i];
        for (int j = 0; j < el->n; ++j)
            sum -= isFree(p, j) ? 0 : el->X[j * m + i] * r[j];
        r[el->row[i]] = sum;
    }
}

/* The least of W'_kk / W_kk.  A residual in m/s is impulses times W, and it is the impulses that have to be right:
 * where W_bb takes nearly all of W_kk the rest is solved so much closer. */
static double softestOf(const spragProblem *p, const Elimination *el)
{
    double least = 1;
    for (int i = 0; i < el->n; ++i) {
        const double own = entry(p, i, i), left = el->W[9 * (i / 3 * p->contact_count + i / 3) + 4 * (i % 3)];
        least = isFree(p, i) || !(left < least * own) ? least : left / own;
    }
    return fmax(least, SOFTEST);
}

/* Into its cone or its bounds, where the rest's residual does not see that it is out of them by more than rounding. */
static void project(const spragProblem *p, int k, double r[3])
{
    const double x[3] = {r[0], r[1], r[2]};
    if (spragKindOf(p, k) == SPRAG_BLOCK_CONTACT)
        spragConeProject(p->mu[k], x, r);
    for (int i = 0; i < 3 && spragKindOf(p, k) == SPRAG_BLOCK_BOX; ++i)
        r[i] = fmin(fmax(x[i], p->bound[6 * k + i]), p->bound[6 * k + 3 + i]);
}

/* The problem of what is left. */
static spragProblem restOf(const Elimination *el, const spragProblem *problem)
{
    spragProblem rest = *problem;
    rest.block_count = problem->contact_count * problem->contact_count;
    rest.row_start = el->row_start, rest.column = el->column, rest.W = el->W, rest.q = el->q, rest.bound = el->bound;
    rest.bodies = rest.linked = NULL;
    return rest;
}

/* max |q_b - W_bb W_bb^-1 q_b|: rounding, but where W_bb is singular and its rows ask for the impossible. */
static double contradictionOf(const Elimination *el, const spragProblem *p)
{
    const int m = el->free_count;
    const double *x = el->X + el->n * m;
    double most = 0;
    for (int i = 0; i < m; ++i) {
        double sum = -p->q[el->row[i]];
        for (int j = 0; j < m; ++j)
            sum += entry(p, el->row[i], el->row[j]) * x[j];
        most = fmax(most, fabs(sum));
    }
    return most;
}

int spragFreeRowsEliminate(const spragProblem *problem, spragArena *arena, spragProblem *rest, double *contradiction)
{
    Elimination el;
    if (!begin(&el, problem, arena))
        return 0;
    factor(&el, problem);
    reduce(&el, problem);
    *rest = restOf(&el, problem);
    *contradiction = contradictionOf(&el, problem);
    return 1;
}

/* The chain on what is left. */
static spragStatus solveRest(const Elimination *el, const spragProblem *problem, const spragSolveOptions *options,
                             spragArena *arena, double *r, spragSolveInfo *info)
{
    spragSolveInfo inner;
    const spragProblem rest = restOf(el, problem);
    for (int i = 0; i < el->free_count; ++i)
        r[el->row[i]] = 0;
    spragSolveOptions closer = *options;
    closer.tolerance = CLOSER * softestOf(problem, el) * options->tolerance;
    closer.enough =
        options->enough > 0 ? LOOSER * closer.tolerance : 0; /* who says what is enough is not kept waiting */
    const spragStatus status = spragChainSolve(&rest, &closer, arena, r, NULL, &inner);
    for (int k = 0; k < problem->contact_count; ++k)
        project(problem, k, r + 3 * k);
    info->iterations += inner.iterations;
    info->work += inner.work;
    info->several |= inner.several, info->none |= inner.none;
    return status;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    if (problem->contact_count > SPRAG_FREE_ROWS_MOST || !spragProblemHasFreeRows(problem))
        return SPRAG_NOT_CONVERGED;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const size_t n = 3 * (size_t)problem->contact_count;
    Elimination el;
    spragStatus status = SPRAG_ERROR_MEMORY;
    double *s = SPRAG_TAKE_RAW(arena, double, n);
    if (s != NULL && begin(&el, problem, arena)) {
        factor(&el, problem);
        reduce(&el, problem);
        memcpy(s, r, n * sizeof *s);
        status = solveRest(&el, problem, options, arena, s, info);
    }
    if (status != SPRAG_ERROR_MEMORY) {
        restore(&el, problem, s);
        memcpy(r, s, n * sizeof *r);
    }
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverFreeRows = {.kind = SPRAG_SOLVER_NEWTON, .solve = solve, .in_parts = 1};

int spragProblemHasFreeRows(const spragProblem *problem)
{
    for (int i = 0; i < 3 * problem->contact_count; ++i)
        if (isFree(problem, i))
            return 1;
    return 0;
}
