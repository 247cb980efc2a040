/* One visit of block k, the others held:
 *
 *     q_k = q + sum_{j != k} W_kj r_j,   r_k <- the block's law at (W_kk, q_k).
 *
 * The sum is what costs: a packed column of W_kj times one number of r_j is one vector operation, and three independent
 * sums, one per column, hide the latency of addition.  The same source is compiled for AVX2 too and chosen when it
 * runs; without fused multiply-add both give the same bits.
 *
 * Threads.  Blocks by levels of a breadth-first search (Cuthill and McKee 1969): a level is coupled to its neighbours
 * alone, so that of parts of whole levels the even ones can be visited at once, and an odd one when both its neighbours
 * are done: one wait a sweep, where colours of single blocks need eight to seventeen.  The parts do not depend on the
 * number of threads.  The order of visits hardly matters for convergence (natural, breadth-first, even and odd parts,
 * colours: equal on piles).  With r in the problem's order every line of it would go from cache to cache in every
 * sweep, which takes longer than the sums. */
#include "solve/sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "linalg/quad.h"
#include "linalg/vec3.h"
#include "problem/reaches.h"
#include "problem/residual.h"

enum { PACKED = 12 };

/* Where sweeps only come near, as in heaps of mechanisms, the laws are kept to this part of the largest change in the
 * sweep before: one step to the root of a contact that slips in place of two or three. */
#define SLACK 1e-3

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

static void blockSolve(spragSweeper *sweeper, int visit, const double q[3], const double *x, double r[3])
{
    const int k = sweeper->order[visit], rolls = spragKindOf(sweeper->problem, k) == SPRAG_BLOCK_ROLLING;
    spragLawSolve(sweeper->problem, k, sweeper->diagonal[visit], &sweeper->block[visit],
                  rolls ? x[3 * sweeper->parent[visit]] : 0, q, r);
}

/* Returns the largest (|dr_k| w_k)^2. */
SPRAG_QUAD_INLINE double visitBlocks(spragSweeper *sweeper, int first, int last, double *all)
{
    const int *column = sweeper->column, plain = sweeper->problem->kind == NULL;
    double largest = 0;
    for (int visit = first; visit < last; ++visit) {
        const int end = sweeper->start[visit + 1];
        const double *free_velocity = sweeper->q + 3 * visit;
        spragQuad n = {free_velocity[0], free_velocity[1], free_velocity[2], 0}, t1 = {0, 0, 0, 0}, t2 = {0, 0, 0, 0};
        for (int e = sweeper->start[visit]; e < end; ++e) {
            const spragQuad *W = (const spragQuad *)(const void *)(sweeper->packed + PACKED * (size_t)e);
            const double *x = all + 3 * column[e];
            n += W[0] * x[0];
            t1 += W[1] * x[1];
            t2 += W[2] * x[2];
        }
        const spragQuad total = n + (t1 + t2);
        const double q[3] = {total[0], total[1], total[2]};
        double fresh[3], *old = all + 3 * visit;
        sweeper->block[visit].slack = sweeper->slack / sweeper->w[visit];
        if (plain || spragKindOf(sweeper->problem, sweeper->order[visit]) == SPRAG_BLOCK_CONTACT)
            spragConeBlockSolve(&sweeper->block[visit], q, fresh);
        else
            blockSolve(sweeper, visit, q, all, fresh);
        const double change[3] = {fresh[0] - old[0], fresh[1] - old[1], fresh[2] - old[2]};
        const double w = sweeper->w[visit], size = spragDot3(change, change) * (w * w);
        largest = size > largest ? size : largest;
        memcpy(old, fresh, sizeof fresh);
    }
    return largest;
}

/* The same without W, of all blocks in their own order. */
SPRAG_QUAD_INLINE double visitReaching(spragSweeper *sweeper, double *all)
{
    const spragProblem *problem = sweeper->problem;
    const spragBodies *bodies = spragBodiesOf(problem);
    double largest = 0;
    spragReachesClear(bodies);
    for (int k = 0; k < problem->contact_count; ++k)
        spragReachesPush(bodies, k, all + 3 * k);
    for (int k = 0; k < problem->contact_count; ++k) {
        double q[3], fresh[3], felt[3], own[3], *old = all + 3 * k;
        spragReachesFeel(bodies, k, felt);
        spragMul33(own, bodies->own + 9 * (size_t)k, old);
        for (int i = 0; i < 3; ++i)
            q[i] = sweeper->q[3 * k + i] + (felt[i] - own[i]);
        blockSolve(sweeper, k, q, all, fresh);
        const double change[3] = {fresh[0] - old[0], fresh[1] - old[1], fresh[2] - old[2]};
        const double w = sweeper->w[k], size = spragDot3(change, change) * (w * w);
        largest = size > largest ? size : largest;
        memcpy(old, fresh, sizeof fresh);
        spragReachesPush(bodies, k, change);
    }
    return largest;
}

static double reachNarrow(spragSweeper *sweeper, int first, int last, double *x)
{
    (void)first, (void)last;
    return visitReaching(sweeper, x);
}

SPRAG_QUAD_WIDE static double reachWide(spragSweeper *sweeper, int first, int last, double *x)
{
    (void)first, (void)last;
    return visitReaching(sweeper, x);
}

static double visitNarrow(spragSweeper *sweeper, int first, int last, double *x)
{
    return visitBlocks(sweeper, first, last, x);
}

SPRAG_QUAD_WIDE static double visitWide(spragSweeper *sweeper, int first, int last, double *x)
{
    return visitBlocks(sweeper, first, last, x);
}

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

/* The order of visits and its parts of whole levels.  0: out of memory. */
static int makeParts(spragSweeper *sweeper, spragArena *arena)
{
    const spragProblem *problem = sweeper->problem;
    const int nc = problem->contact_count;
    const spragArenaMark memory = spragArenaMarkGet(arena);
    int *found = sweeper->order, *level = SPRAG_TAKE(arena, int, nc), *mark = SPRAG_TAKE(arena, int, nc);
    if (level == NULL || mark == NULL)
        return 0;
    int done = 0;
    for (int k = 0; k < nc; ++k) {
        if (mark[k] != 0)
            continue;
        const int count = search(problem, k, found + done, level + done, mark, 1); /* the last one found is far out */
        done += search(problem, found[done + count - 1], found + done, level + done, mark, 2);
    }
    const int least = nc / SPRAG_PARTS_MOST + 1 > PART_LEAST ? nc / SPRAG_PARTS_MOST + 1 : PART_LEAST;
    int *start = sweeper->part_start, parts = 1;
    for (int i = 1; i < nc; ++i)
        if (level[i] != level[i - 1] && i - start[parts - 1] >= least && nc - i >= least)
            start[parts++] = i;
    start[parts] = nc;
    sweeper->part_count = parts;
    spragArenaRelease(arena, memory);
    return 1;
}

/* ---------------------------------------------------------------- sweeps */

typedef struct Packing {
    spragSweeper *sweeper;
    const int *position; /* (nc) visit of a block */
} Packing;

/* Visits first .. end - 1, as the sweeps read them. */
static void packRange(void *data, int range, int first, int end)
{
    (void)range;
    const Packing *packing = data;
    spragSweeper *sweeper = packing->sweeper;
    const spragProblem *problem = sweeper->problem;
    for (int visit = first; visit < end; ++visit) {
        const int k = sweeper->order[visit];
        int count = sweeper->start[visit];
        memcpy(sweeper->q + 3 * (size_t)visit, problem->q + 3 * (size_t)k, 3 * sizeof *sweeper->q);
        if (sweeper->parent != NULL)
            sweeper->parent[visit] = problem->parent[k] >= 0 ? packing->position[problem->parent[k]] : -1;
        for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e) {
            const double *W = problem->W + 9 * (size_t)e;
            if (problem->column[e] == k) {
                sweeper->diagonal[visit] = W;
                sweeper->w[visit] = (W[0] + W[4] + W[8]) / 3;
                spragConeBlockInit(&sweeper->block[visit], W, problem->mu[k], spragMuMinusOf(problem, k));
                continue;
            }
            if (sweeper->packed == NULL)
                continue;
            sweeper->column[count] = packing->position[problem->column[e]];
            pack(sweeper->packed + PACKED * (size_t)count++, W);
        }
    }
}

/* 0: out of memory. */
static int packAll(spragSweeper *sweeper, spragArena *arena)
{
    const spragProblem *problem = sweeper->problem;
    const int nc = problem->contact_count;
    const spragArenaMark memory = spragArenaMarkGet(arena);
    int *position = SPRAG_TAKE_RAW(arena, int, nc);
    if (position == NULL)
        return 0;
    sweeper->start[0] = 0;
    for (int visit = 0; visit < nc; ++visit) {
        const int k = sweeper->order[visit];
        position[k] = visit;
        sweeper->start[visit + 1] = sweeper->start[visit] + problem->row_start[k + 1] - problem->row_start[k] - 1;
    }
    spragRangesRun(nc, packRange, &(Packing){sweeper, position});
    spragArenaRelease(arena, memory);
    return 1;
}

int spragSweeperInit(spragSweeper *sweeper, const spragProblem *problem, spragPool *pool, spragArena *arena)
{
    const int nc = problem->contact_count, reaching = spragReachesOf(problem) != NULL;
    const int blocks = reaching ? 0 : problem->block_count - nc;
    *sweeper = (spragSweeper){.problem = problem,
                              .loose = problem->linked != NULL,
                              .order = SPRAG_TAKE_RAW(arena, int, nc),
                              .w = SPRAG_TAKE_RAW(arena, double, nc),
                              .q = SPRAG_TAKE_RAW(arena, double, 3 * (size_t)nc),
                              .block = SPRAG_TAKE_RAW(arena, spragConeBlock, nc),
                              .diagonal = SPRAG_TAKE_RAW(arena, const double *, nc),
                              .parent = problem->parent != NULL ? SPRAG_TAKE_RAW(arena, int, nc) : NULL,
                              .start = SPRAG_TAKE_RAW(arena, int, nc + 1),
                              .column = SPRAG_TAKE_RAW(arena, int, blocks),
                              .packed = reaching ? NULL : SPRAG_TAKE_RAW(arena, double, PACKED *(size_t)blocks),
                              .part_count = 1,
                              .part_start = {0, nc},
                              .visit = reaching ? (spragQuadIsWide() ? reachWide : reachNarrow)
                                                : (spragQuadIsWide() ? visitWide : visitNarrow),
                              .pool = pool};
    if (sweeper->order == NULL || sweeper->w == NULL || sweeper->q == NULL || sweeper->block == NULL ||
        sweeper->diagonal == NULL || (problem->parent != NULL && sweeper->parent == NULL) || sweeper->start == NULL ||
        sweeper->column == NULL || (sweeper->packed == NULL && !reaching))
        return 0;
    for (int k = 0; k < nc; ++k)
        sweeper->order[k] = k;
    if (nc >= PARTS_LEAST && !reaching && !makeParts(sweeper, arena))
        return 0;
    return packAll(sweeper, arena);
}

typedef struct Order {
    const int *order;
    const double *from;
    double *to;
} Order;

static void takeRange(void *data, int range, int first, int end)
{
    (void)range;
    const Order *o = data;
    for (int visit = first; visit < end; ++visit)
        memcpy(o->to + 3 * (size_t)visit, o->from + 3 * (size_t)o->order[visit], 3 * sizeof *o->to);
}

static void giveRange(void *data, int range, int first, int end)
{
    (void)range;
    const Order *o = data;
    for (int visit = first; visit < end; ++visit)
        memcpy(o->to + 3 * (size_t)o->order[visit], o->from + 3 * (size_t)visit, 3 * sizeof *o->to);
}

void spragSweeperTake(const spragSweeper *sweeper, const double *r, double *x)
{
    spragRangesRun(sweeper->problem->contact_count, takeRange, &(Order){sweeper->order, r, x});
}

void spragSweeperGive(const spragSweeper *sweeper, const double *x, double *r)
{
    spragRangesRun(sweeper->problem->contact_count, giveRange, &(Order){sweeper->order, x, r});
}

static void visitPart(spragSweeper *sweeper, int p)
{
    sweeper->largest[p] = sweeper->visit(sweeper, sweeper->part_start[p], sweeper->part_start[p + 1], sweeper->x);
    if (sweeper->after != NULL)
        sweeper->after(sweeper->after_data, p);
}

static int isDone(spragSweeper *sweeper, int p)
{
    return p < 0 || p >= sweeper->part_count ||
           atomic_load_explicit(&sweeper->done[p], memory_order_acquire) == sweeper->sweeps;
}

/* Visits part p unless another walker has it, or it has to wait for its neighbours; 1: it is left to do. */
static int tryPart(spragSweeper *sweeper, int p)
{
    int before = sweeper->sweeps - 1;
    if (atomic_load_explicit(&sweeper->taken[p], memory_order_relaxed) != before)
        return 0;
    if (p % 2 != 0 && !(isDone(sweeper, p - 1) && isDone(sweeper, p + 1)))
        return 1;
    if (atomic_compare_exchange_strong(&sweeper->taken[p], &before, sweeper->sweeps)) {
        visitPart(sweeper, p);
        atomic_store_explicit(&sweeper->done[p], sweeper->sweeps, memory_order_release);
    }
    return 0;
}

/* One walker: even parts, then odd ones as their neighbours are done, its own before others'.  Those of even number
 * walk up from the first of their own, the others down from the last, so that two meet where both may go on. */
static void walk(void *data, int worker, int piece)
{
    (void)worker;
    spragSweeper *sweeper = data;
    const int count = sweeper->part_count, down = piece % 2;
    const int first = down ? count * (piece + 1) / sweeper->walkers - 1 : count * piece / sweeper->walkers;
    for (int odd = 0; odd < 2; ++odd)
        for (int left = 1, rounds = 0; left > 0; ++rounds) {
            left = 0;
            for (int k = 0; k < count; ++k) {
                const int p = (down ? first - k + count : first + k) % count;
                if (p % 2 == odd)
                    left += tryPart(sweeper, p);
            }
            if (left > 0)
                spragPoolRest(rounds);
        }
}

double spragSweep(spragSweeper *sweeper, double *x)
{
    sweeper->x = x;
    ++sweeper->sweeps;
    sweeper->walkers = spragPoolSize(sweeper->pool) < sweeper->part_count ? spragPoolSize(sweeper->pool) : 1;
    spragPoolRun(sweeper->pool, walk, sweeper, sweeper->walkers);
    double largest = 0;
    for (int p = 0; p < sweeper->part_count; ++p)
        largest = fmax(largest, sweeper->largest[p]);
    sweeper->slack = sweeper->loose ? SLACK * sqrt(largest) : 0;
    return sqrt(largest);
}
