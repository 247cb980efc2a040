/* The question of spragConflictFind.
 *
 * Let K be the impulses that the laws of all blocks allow.  Without the compliance of 1e-11 W there is an answer only
 * if no self-stress r in K, W r = 0, is driven home, q.r < 0.  Every part of K that is a cone will do to show one: the
 * normals of contacts, r_n >= 0, and all rows of those that hold by infinite friction.  Friction that is bounded,
 * rolling friction, motors and limits are left out (r = 0).  (A contact that parts holds nothing, so there may be an
 * answer all the same, in which one of them does; as a rule late links of the chain alone find it.)  What is left
 * slides nowhere, and pivots (pivots.c) answer it in some 0.1 ms, where Newton's method takes thousands of steps,
 * in vain. */
#include "ode/matrix/conflict.h"

#include <math.h>

#include "linalg/vec3.h"
#include "ode/matrix/delassus.h"
#include "problem/part.h"
#include "problem/residual.h"
#include "solve/solver.h"

#define CONFLICT 1e4   /* of the impulse that would stop the island: greater ones are in conflict */
#define YIELDING 1e-6  /* m/s: contacts that yield more slowly are in none */
#define TOLERANCE 1e-8 /* m/s, of the pivots */

int spragHasInfinite(const spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k)
        if (island->block[k].part == SPRAG_PART_CONTACT && island->block[k].kind == SPRAG_BLOCK_BOX)
            return 1;
    return 0;
}

/* 1: these impulses (3 nc) are out of all proportion to what there is to stop. */
static int areHuge(const spragProblem *p, const double *r)
{
    double impulse = 0, free = 0; /* m/s */
    for (int k = 0; k < p->contact_count; ++k) {
        const double *W = p->W + 9 * spragProblemDiagonal(p, k);
        impulse = fmax(impulse, spragNorm3(r + 3 * k) * (W[0] + W[4] + W[8]) / 3);
        free = fmax(free, spragNorm3(p->q + 3 * k));
    }
    return impulse > CONFLICT * free;
}

int spragConflicts(const spragIsland *island)
{
    return spragHasInfinite(island) && areHuge(&island->problem, island->r);
}

/* m/s, of one row of a contact that bears r */
static double yieldOf(const spragIsland *island, size_t i, double r)
{
    const spragBlock *block = &island->block[i / 3];
    const double *W = island->W + 9 * (size_t)spragProblemDiagonal(&island->problem, (int)(i / 3));
    const double own = i % 3 == 0 ? 0 : spragDelassusYield(block, W);
    return block->part == SPRAG_PART_CONTACT ? (block->compliance[i % 3] + own) * r : 0;
}

void spragYieldTell(spragIsland *island)
{
    const size_t n = 3 * (size_t)island->block_count;
    double most = 0;
    for (size_t i = 0; i < n; ++i)
        most = fmax(most, fabs(yieldOf(island, i, island->r[i])));
    if (!(most > YIELDING))
        return;
    island->wedge.speed = most;
    island->solve.fallback = 1;
    for (size_t i = 0; i < n; ++i)
        island->u[i] -= yieldOf(island, i, island->r[i]);
    island->wedge.rigid = spragVelocityResidual(&island->problem, island->r, island->u);
}

/* Of block k the rows that are a cone, lo and hi as of a BOX: r >= 0, any r, or r = 0. */
static void relax(const spragProblem *p, int k, double bound[6])
{
    const spragBlockKind kind = spragKindOf(p, k);
    for (int i = 0; i < 3; ++i) {
        const double *lo = p->bound + 6 * (size_t)k + i;
        const int normal = kind != SPRAG_BLOCK_BOX && kind != SPRAG_BLOCK_ROLLING && i == 0;
        const int above = normal || (kind == SPRAG_BLOCK_BOX && lo[0] <= 0 && isinf(lo[3]));
        const int below = kind == SPRAG_BLOCK_BOX ? isinf(lo[0]) : normal && kind == SPRAG_BLOCK_TWO_SIDED;
        bound[i] = above && below ? -INFINITY : 0;
        bound[3 + i] = above ? INFINITY : 0;
    }
}

/* What is left of the blocks that have such rows: block (count) of the whole.  0: no memory. */
static int take(const spragIsland *island, int *block, int *count, spragProblem *part)
{
    const spragProblem *p = &island->problem;
    spragArena *arena = &island->lane->arena;
    for (int k = 0; k < p->contact_count; ++k)
        if (spragKindOf(p, k) != SPRAG_BLOCK_ROLLING)
            block[(*count)++] = k;
    double *bound = SPRAG_TAKE_RAW(arena, double, 6 * (size_t)*count);
    unsigned char *kind = SPRAG_TAKE_RAW(arena, unsigned char, *count);
    if (bound == NULL || kind == NULL || !spragPartTake(p, block, *count, arena, part))
        return 0;
    for (int i = 0; i < *count; ++i) {
        relax(p, block[i], bound + 6 * (size_t)i);
        kind[i] = SPRAG_BLOCK_BOX;
    }
    part->bound = bound, part->kind = kind;
    return 1;
}

spragStatus spragConflictFind(spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    const int n = island->block_count;
    int *block = SPRAG_TAKE_RAW(arena, int, n), count = 0;
    double *r = SPRAG_TAKE(arena, double, 3 * (size_t)n), most = 0;
    spragProblem part;
    spragSolveInfo info = {0};
    const spragSolveOptions options = {.tolerance = TOLERANCE};
    island->wedge.speed = 0;
    if (spragProblemIsLean(&island->problem))
        return SPRAG_OK;
    if (block == NULL || r == NULL || !take(island, block, &count, &part))
        return SPRAG_ERROR_MEMORY;
    const spragStatus status = spragSolverPivots.solve(&part, &options, arena, r, &info);
    if (status != SPRAG_OK || !areHuge(&part, r))
        return status == SPRAG_ERROR_MEMORY ? status : SPRAG_OK;
    for (int i = 0; i < 3 * count; ++i)
        most = fmax(most, fabs(yieldOf(island, 3 * (size_t)block[i / 3] + (size_t)(i % 3), r[i])));
    island->wedge.speed = most > YIELDING ? most : 0;
    return SPRAG_OK;
}
