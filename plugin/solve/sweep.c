/* One visit of block k, the others held:
 *
 *     q_k = q + sum_{j != k} W_kj r_j,   r_k <- the block's law at (W_kk, q_k).
 *
 * The sum is what costs: a packed column of W_kj times one number of r_j is one vector operation, and three independent
 * sums, one per column, hide the latency of addition.  The same source is compiled for AVX2 too and chosen when it runs;
 * without fused multiply-add both give the same bits.
 *
 * Threads.  Blocks by levels of a breadth-first search (Cuthill and McKee 1969): a level is coupled to its neighbours
 * alone, so that of parts of whole levels the even ones can be visited at once, then the odd ones: two waits a sweep, where
 * colours of single blocks need eight to seventeen.  The parts do not depend on the number of threads.  The order of
 * visits hardly matters for convergence (natural, breadth-first, even and odd parts, colours: equal on piles). */
#include "solve/sweep.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "problem/residual.h"

typedef double Vector4 __attribute__((vector_size(32)));

enum { PACKED = 12 };

static void pack(double *out, const double W[9])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out[4 * j + i] = W[3 * i + j];
    out[3] = out[7] = out[11] = 0;
}

enum {
    PARTS_LEAST = 512, /* blocks: smaller problems are one part, visited in their own order */
    PART_LEAST = 64    /* blocks of a part */
};

static void blockSolve(spragSweeper *sweeper, int visit, const double q[3], const double *r_all, double r[3])
{
    const spragProblem *problem = sweeper->problem;
    const int k = sweeper->order[visit];
    switch (spragKindOf(problem, k)) {
    case SPRAG_BLOCK_TWO_SIDED:
        spragConeBlockSolveTwoSided(&sweeper->block[visit], q, r);
        break;
    case SPRAG_BLOCK_FORCE_LIMIT:
        spragDiscBlockSolve(sweeper->diagonal[visit], q, 0, 0, INFINITY, problem->mu[k], r);
        break;
    case SPRAG_BLOCK_BOX:
        spragBoxBlockSolve(sweeper->diagonal[visit], q, problem->bound + 6 * (size_t)k,
                           problem->bound + 6 * (size_t)k + 3, r);
        break;
    case SPRAG_BLOCK_ROLLING: {
        const double load = fmax(0, r_all[3 * problem->parent[k]]);
        const double spin = sweeper->block[visit].mu_minus * load;
        spragDiscBlockSolve(sweeper->diagonal[visit], q, 2, -spin, spin, problem->mu[k] * load, r);
        break;
    }
    default:
        spragConeBlockSolve(&sweeper->block[visit], q, r);
    }
}

/* Returns the largest (|dr_k| w_k)^2. */
static inline __attribute__((always_inline)) double visitBlocks(spragSweeper *sweeper, int first, int last, double *r)
{
    const spragProblem *problem = sweeper->problem;
    const int *column = sweeper->column;
    double largest = 0;
    for (int visit = first; visit < last; ++visit) {
        const int k = sweeper->order[visit], end = sweeper->start[visit + 1];
        const double *free_velocity = problem->q + 3 * k;
        Vector4 n = {free_velocity[0], free_velocity[1], free_velocity[2], 0}, t1 = {0, 0, 0, 0}, t2 = {0, 0, 0, 0};
        for (int e = sweeper->start[visit]; e < end; ++e) {
            const Vector4 *W = (const Vector4 *)(const void *)(sweeper->packed + PACKED * (size_t)e);
            const double *x = r + 3 * column[e];
            n += W[0] * x[0];
            t1 += W[1] * x[1];
            t2 += W[2] * x[2];
        }
        const Vector4 total = n + (t1 + t2);
        const double q[3] = {total[0], total[1], total[2]};
        double fresh[3], *old = r + 3 * k;
        if (spragKindOf(problem, k) == SPRAG_BLOCK_CONTACT)
            spragConeBlockSolve(&sweeper->block[visit], q, fresh);
        else
            blockSolve(sweeper, visit, q, r, fresh);
        const double change[3] = {fresh[0] - old[0], fresh[1] - old[1], fresh[2] - old[2]};
        const double w = sweeper->w[k], size = spragDot3(change, change) * (w * w);
        largest = size > largest ? size : largest;
        memcpy(old, fresh, sizeof fresh);
    }
    return largest;
}

static double visitPlain(spragSweeper *sweeper, int first, int last, double *r)
{
    return visitBlocks(sweeper, first, last, r);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static double visitAvx2(spragSweeper *sweeper, int first, int last, double *r)
{
    return visitBlocks(sweeper, first, last, r);
}

static int hasAvx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define visitAvx2 visitPlain
static int hasAvx2(void)
{
    return 0;
}
#endif

/* ---------------------------------------------------------------- parts */

/* Blocks connected with `root`, nearest first: order[0 .. count-1], level[i] of order[i].  mark: set to `seen`. */
static int search(const spragProblem *problem, int root, int *order, int *level, int *mark, int seen)
{
    int count = 1;
    order[0] = root, level[0] = 0, mark[root] = seen;
    for (int i = 0; i < count; ++i)
        for (int e = problem->row_start[order[i]]; e < problem->row_start[order[i] + 1]; ++e) {
            const int j = problem->column[e];
            if (mark[j] != seen) {
                mark[j] = seen;
                level[count] = level[i] + 1;
                order[count++] = j;
            }
        }
    return count;
}

/* Parts of whole levels, then the even ones before the odd ones.  0: out of memory. */
static int makeParts(spragSweeper *sweeper, spragArena *arena)
{
    const spragProblem *problem = sweeper->problem;
    const int nc = problem->contact_count;
    const spragArenaMark memory = spragArenaMarkGet(arena);
    int *found = SPRAG_TAKE(arena, int, nc), *level = SPRAG_TAKE(arena, int, nc), *mark = SPRAG_TAKE(arena, int, nc);
    if (found == NULL || level == NULL || mark == NULL)
        return 0;
    int done = 0;
    for (int k = 0; k < nc; ++k) {
        if (mark[k] != 0)
            continue;
        const int count = search(problem, k, found + done, level + done, mark, 1); /* the last one found is far out */
        done += search(problem, found[done + count - 1], found + done, level + done, mark, 2);
    }
    const int least = nc / SPRAG_PARTS_MOST + 1 > PART_LEAST ? nc / SPRAG_PARTS_MOST + 1 : PART_LEAST;
    int start[SPRAG_PARTS_MOST + 2] = {0}, parts = 1;
    for (int i = 1; i < nc; ++i)
        if (level[i] != level[i - 1] && i - start[parts - 1] >= least && nc - i >= least)
            start[parts++] = i;
    start[parts] = nc;
    sweeper->part_count = parts;
    int at = 0, part = 0;
    for (int phase = 0; phase < 2; ++phase)
        for (int p = phase; p < parts; p += 2) {
            memcpy(sweeper->order + at, found + start[p], (size_t)(start[p + 1] - start[p]) * sizeof *found);
            sweeper->part_start[part++] = at;
            at += start[p + 1] - start[p];
        }
    sweeper->part_start[parts] = nc;
    spragArenaRelease(arena, memory);
    return 1;
}

/* ---------------------------------------------------------------- sweeps */

/* Visits first .. end - 1: their blocks, as the sweeps read them. */
static void packRange(void *data, int range, int first, int end)
{
    (void)range;
    spragSweeper *sweeper = data;
    const spragProblem *problem = sweeper->problem;
    for (int visit = first; visit < end; ++visit) {
        const int k = sweeper->order[visit];
        int count = sweeper->start[visit];
        for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e) {
            const double *W = problem->W + 9 * (size_t)e;
            if (problem->column[e] == k) {
                sweeper->diagonal[visit] = W;
                sweeper->w[k] = (W[0] + W[4] + W[8]) / 3;
                spragConeBlockInit(&sweeper->block[visit], W, problem->mu[k], spragMuMinusOf(problem, k));
                continue;
            }
            sweeper->column[count] = problem->column[e];
            pack(sweeper->packed + PACKED * (size_t)count++, W);
        }
    }
}

int spragSweeperInit(spragSweeper *sweeper, const spragProblem *problem, spragPool *pool, spragArena *arena)
{
    const int nc = problem->contact_count, blocks = problem->block_count - nc;
    *sweeper = (spragSweeper){.problem = problem,
                              .w = SPRAG_TAKE_RAW(arena, double, nc),
                              .order = SPRAG_TAKE_RAW(arena, int, nc),
                              .block = SPRAG_TAKE_RAW(arena, spragConeBlock, nc),
                              .diagonal = SPRAG_TAKE_RAW(arena, const double *, nc),
                              .start = SPRAG_TAKE_RAW(arena, int, nc + 1),
                              .column = SPRAG_TAKE_RAW(arena, int, blocks),
                              .packed = SPRAG_TAKE_RAW(arena, double, PACKED *(size_t)blocks),
                              .part_count = 1,
                              .part_start = {0, nc},
                              .visit = hasAvx2() ? visitAvx2 : visitPlain,
                              .pool = pool};
    if (sweeper->w == NULL || sweeper->order == NULL || sweeper->block == NULL || sweeper->diagonal == NULL ||
        sweeper->start == NULL || sweeper->column == NULL || sweeper->packed == NULL)
        return 0;
    for (int k = 0; k < nc; ++k)
        sweeper->order[k] = k;
    if (nc >= PARTS_LEAST && !makeParts(sweeper, arena))
        return 0;
    sweeper->start[0] = 0;
    for (int visit = 0; visit < nc; ++visit) {
        const int k = sweeper->order[visit];
        sweeper->start[visit + 1] = sweeper->start[visit] + problem->row_start[k + 1] - problem->row_start[k] - 1;
    }
    spragRangesRun(nc, packRange, sweeper);
    return 1;
}

static void visitPart(void *data, int worker, int piece)
{
    (void)worker;
    spragSweeper *sweeper = data;
    const int p = sweeper->phase + piece;
    sweeper->largest[p] = sweeper->visit(sweeper, sweeper->part_start[p], sweeper->part_start[p + 1], sweeper->r);
}

double spragSweep(spragSweeper *sweeper, double *r)
{
    const int even = (sweeper->part_count + 1) / 2;
    sweeper->r = r;
    sweeper->phase = 0;
    spragPoolRun(sweeper->pool, visitPart, sweeper, even);
    sweeper->phase = even;
    spragPoolRun(sweeper->pool, visitPart, sweeper, sweeper->part_count - even);
    double largest = 0;
    for (int p = 0; p < sweeper->part_count; ++p)
        largest = fmax(largest, sweeper->largest[p]);
    return sqrt(largest);
}
