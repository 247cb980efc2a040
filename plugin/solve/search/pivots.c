/* Small problems in which nothing slides: every row has no bounds, or r >= 0, or r = 0, as contacts with mu = infinity
 * have.  A linear complementarity problem of a positive semidefinite matrix, by pivots of whole blocks (Kostreva 1978;
 * Judice and Pires 1994): rows that press are taken to hold, the equations are solved, all that then break a bound
 * change sides, and where that helps no more the last of them alone, which ends (Murty 1974) unless S is singular.
 *
 * Rows without bounds are eliminated first, W_bb = L D L^T, and the others are
 *
 *     w = S z + s,   S = W_aa - L_a D L_a^T,   s = q_a - L_a y,   L y = q_b,   z >= 0 _|_ w >= 0.
 *
 * Contacts in conflict have nothing but 1e-11 of W to yield by (ode/matrix/delassus.c), so all this is in long double.
 * Newton's method took 5000 and more steps for them, 30 to 400 ms for 15 to 28 contacts; pivots take 0.02 to 0.2.  Of a
 * tower loads by pivots are those of as few of its points as can bear it, others in each step, and it does not come to
 * rest by them: there Newton's method comes first (chain_links.h). */
#include <float.h>
#include <math.h>

#include "linalg/fine.h"
#include "problem/reaches.h"
#include "problem/residual.h"
#include "solve/solver.h"

#define REDUNDANT 1e-16L /* a pivot, of W's own diagonal: a row that says what others say carries nothing */
#define WITHIN 1e-3      /* of the tolerance: w may be as negative */
enum {
    MOST = 120,        /* blocks: they take some 10 ms */
    BLOCK_TRIES = 8,   /* pivots of all rows that no longer break fewer bounds */
    PIVOTS_LEAST = 30, /* at most, */
    PIVOTS_PER_ROW = 2 /* and for each row */
};

typedef struct Pivots {
    const spragProblem *problem;
    int free_count, count; /* rows without bounds, which come first; all that are not fixed */
    int *row;              /* (count) of the problem */
    spragFine *A;          /* (count x count) of the lower triangle: L, and S */
    spragFine *inverse;    /* (free_count) 1 / D */
    spragFine *x;          /* (count) y, and s */
    spragFine *F;          /* (count - free_count)^2, factor of the rows of S that hold */
    spragFine *z, *w;      /* (count - free_count) */
    spragFine *own;        /* (count) the diagonal of W */
    unsigned char *holds;  /* (count - free_count) */
} Pivots;

int spragPivotsSuit(const spragProblem *problem)
{
    if (problem->contact_count > MOST || problem->bound == NULL || spragProblemIsLean(problem))
        return 0;
    for (int k = 0; k < problem->contact_count; ++k)
        for (int i = 0; i < 3; ++i) {
            const double lo = problem->bound[6 * k + i], hi = problem->bound[6 * k + 3 + i];
            if (spragKindOf(problem, k) != SPRAG_BLOCK_BOX ||
                !((lo == 0 && (hi == 0 || isinf(hi))) || (isinf(lo) && isinf(hi))))
                return 0;
        }
    return 1;
}

static int isFree(const spragProblem *p, int i)
{
    return p->bound[6 * (i / 3) + i % 3] < -DBL_MAX;
}

static int isFixed(const spragProblem *p, int i)
{
    return p->bound[6 * (i / 3) + 3 + i % 3] == 0;
}

/* 0: no memory. */
static int begin(Pivots *pivots, const spragProblem *p, const double *r, spragArena *arena)
{
    const int rows = 3 * p->contact_count;
    int *place = SPRAG_TAKE_RAW(arena, int, rows);
    *pivots = (Pivots){.problem = p, .row = SPRAG_TAKE_RAW(arena, int, rows)};
    if (place == NULL || pivots->row == NULL)
        return 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < rows; ++i) {
            if (isFixed(p, i))
                place[i] = -1;
            else if (isFree(p, i) == !pass)
                pivots->row[place[i] = pivots->count++] = i;
        }
        pivots->free_count = pass == 0 ? pivots->count : pivots->free_count;
    }
    const int n = pivots->count, bounded = n - pivots->free_count;
    pivots->A = SPRAG_TAKE(arena, spragFine, n * n), pivots->F = SPRAG_TAKE_RAW(arena, spragFine, bounded * bounded);
    pivots->inverse = SPRAG_TAKE_RAW(arena, spragFine, n), pivots->x = SPRAG_TAKE_RAW(arena, spragFine, n);
    pivots->z = SPRAG_TAKE(arena, spragFine, bounded), pivots->w = SPRAG_TAKE(arena, spragFine, bounded);
    pivots->own = SPRAG_TAKE_RAW(arena, spragFine, n), pivots->holds = SPRAG_TAKE_RAW(arena, unsigned char, bounded);
    if (pivots->A == NULL || pivots->F == NULL || pivots->inverse == NULL || pivots->x == NULL || pivots->z == NULL ||
        pivots->w == NULL || pivots->own == NULL || pivots->holds == NULL)
        return 0;
    for (int k = 0; k < p->contact_count; ++k)
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            for (int entry = 0; entry < 9; ++entry) {
                const int a = place[3 * k + entry / 3], b = place[3 * p->column[e] + entry % 3];
                if (a >= 0 && b >= 0 && b <= a)
                    pivots->A[a * n + b] = p->W[9 * (size_t)e + (size_t)entry];
            }
    for (int i = 0; i < n; ++i) {
        pivots->x[i] = p->q[pivots->row[i]];
        pivots->own[i] = pivots->A[i * n + i];
    }
    for (int i = 0; i < bounded; ++i)
        pivots->holds[i] = r[pivots->row[pivots->free_count + i]] > 0;
    return 1;
}

/* L, 1 / D, S, y and s. */
static void eliminate(Pivots *pivots)
{
    const int n = pivots->count, m = pivots->free_count;
    for (int i = 0; i < n; ++i) {
        spragFine *Li = pivots->A + i * n;
        for (int j = 0; j <= i; ++j) { /* L_ij D_j, for now */
            const spragFine *Lj = pivots->A + j * n;
            spragFine sum = Li[j];
            const int end = j < m ? j : m;
            for (int k = 0; k < end; ++k)
                sum -= (j == i ? Li[k] * pivots->inverse[k] : Li[k]) * (j == i ? Li[k] : Lj[k]);
            Li[j] = sum;
        }
        for (int k = 0; k < i && k < m; ++k) {
            Li[k] *= pivots->inverse[k];
            pivots->x[i] -= Li[k] * pivots->x[k];
        }
        if (i < m)
            pivots->inverse[i] = Li[i] > REDUNDANT * pivots->own[i] ? 1 / Li[i] : 0;
    }
}

static spragFine entryOf(const Pivots *pivots, int i, int j)
{
    const int m = pivots->free_count, a = m + (i > j ? i : j), b = m + (i > j ? j : i);
    return pivots->A[a * pivots->count + b];
}

/* z of the rows that hold, and w of the others. */
static void solveHolding(Pivots *pivots)
{
    const int m = pivots->free_count, n = pivots->count - m;
    for (int i = 0; i < n; ++i) {
        spragFine *Fi = pivots->F + i * n, sum = pivots->holds[i] ? -pivots->x[m + i] : 0;
        for (int j = 0; j <= i; ++j) {
            const spragFine *Fj = pivots->F + j * n;
            const int both = pivots->holds[i] && pivots->holds[j];
            spragFine left = both ? entryOf(pivots, i, j) : 0;
            for (int k = 0; k < j && both; ++k)
                left -= Fi[k] * Fj[k];
            if (j < i)
                Fi[j] = left * Fj[j];
            else
                Fi[i] = left > REDUNDANT * pivots->own[m + i] ? 1 / sqrtl(left) : 0;
        }
        for (int k = 0; k < i; ++k)
            sum -= Fi[k] * pivots->z[k];
        pivots->z[i] = sum * Fi[i];
    }
    for (int i = n - 1; i >= 0; --i) {
        spragFine sum = pivots->z[i];
        for (int k = i + 1; k < n; ++k)
            sum -= pivots->F[k * n + i] * pivots->z[k];
        pivots->z[i] = sum * pivots->F[i * n + i];
    }
    for (int i = 0; i < n; ++i) {
        pivots->w[i] = pivots->holds[i] ? 0 : pivots->x[m + i];
        for (int j = 0; j < n && !pivots->holds[i]; ++j)
            pivots->w[i] += entryOf(pivots, i, j) * pivots->z[j];
    }
}

static int breaks(const Pivots *pivots, int i, spragFine within)
{
    return pivots->holds[i] ? pivots->z[i] * pivots->own[pivots->free_count + i] < -within : pivots->w[i] < -within;
}

/* Pivots until no row breaks its bound.  How many, or -1: it did not end. */
static int pivot(Pivots *pivots, double within)
{
    const int n = pivots->count - pivots->free_count, most = PIVOTS_LEAST + PIVOTS_PER_ROW * n;
    int fewest = n + 1, tries = BLOCK_TRIES;
    for (int count = 1; count <= most; ++count) {
        int broken = 0, last = 0;
        solveHolding(pivots);
        for (int i = 0; i < n; ++i)
            if (breaks(pivots, i, within))
                ++broken, last = i;
        if (broken == 0)
            return count;
        tries = broken < fewest ? BLOCK_TRIES : tries - 1;
        fewest = broken < fewest ? broken : fewest;
        for (int i = tries > 0 ? 0 : last; i <= last; ++i)
            if (breaks(pivots, i, within))
                pivots->holds[i] = !pivots->holds[i];
    }
    return -1;
}

/* L^T r_b = -(y / D + L_a^T z) */
static void restore(const Pivots *pivots, double *r)
{
    const int n = pivots->count, m = pivots->free_count;
    spragFine *x = pivots->x;
    for (int i = m; i < n; ++i)
        r[pivots->row[i]] = (double)(pivots->holds[i - m] ? spragFineMax(0, pivots->z[i - m]) : 0);
    for (int i = m - 1; i >= 0; --i) {
        x[i] = -x[i] * pivots->inverse[i];
        for (int k = m; k < n; ++k)
            x[i] -= pivots->A[k * n + i] * r[pivots->row[k]];
        for (int k = i + 1; k < m; ++k)
            x[i] -= pivots->A[k * n + i] * x[k];
        r[pivots->row[i]] = (double)x[i];
    }
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    const spragArenaMark mark = spragArenaMarkGet(arena);
    Pivots pivots;
    if (!spragPivotsSuit(problem))
        return SPRAG_NOT_CONVERGED;
    if (!begin(&pivots, problem, r, arena)) {
        spragArenaRelease(arena, mark);
        return SPRAG_ERROR_MEMORY;
    }
    eliminate(&pivots);
    const int count = pivot(&pivots, WITHIN * options->tolerance);
    if (count > 0) {
        for (int k = 0; k < 3 * problem->contact_count; ++k)
            r[k] = 0;
        restore(&pivots, r);
    }
    info->iterations += count > 0 ? count : PIVOTS_LEAST;
    info->work += (pivots.free_count + 2.0 * (count > 0 ? count : PIVOTS_LEAST)) * pivots.count * pivots.count / 9;
    spragArenaRelease(arena, mark);
    return count > 0 ? SPRAG_OK : SPRAG_NOT_CONVERGED;
}

const spragSolver spragSolverPivots = {.kind = SPRAG_SOLVER_LEMKE, .solve = solve, .final = 1};
