#include "solve/chain/components.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "problem/part.h"
#include "problem/residual.h"

typedef struct Component {
    int first, count; /* its blocks are block[first] .. block[first + count - 1] */
} Component;

typedef struct Components {
    const spragProblem *whole;
    spragArena *arena;
    int count, *block;    /* (nc) component by component, ascending in each */
    int *place;           /* (nc) -1: for problem/part.h */
    Component *component; /* (count) the smallest first */
} Components;

static int compareInts(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int compareComponents(const void *a, const void *b)
{
    const Component *p = a, *q = b;
    return p->count != q->count ? p->count - q->count : p->first - q->first;
}

/* From block `start`: all it reaches go to block[], and are seen.  How many they are. */
static int reach(const spragProblem *problem, int start, unsigned char *seen, int *block)
{
    int count = 1;
    block[0] = start, seen[start] = 1;
    for (int i = 0; i < count; ++i)
        for (int e = problem->row_start[block[i]]; e < problem->row_start[block[i] + 1]; ++e)
            if (!seen[problem->column[e]]) {
                seen[problem->column[e]] = 1;
                block[count++] = problem->column[e];
            }
    return count;
}

/* 1: W couples every block with the one that loads it, as it does where both are between the same bodies. */
static int parentsAreCoupled(const spragProblem *problem)
{
    for (int k = 0; k < problem->contact_count && problem->parent != NULL; ++k)
        if (problem->parent[k] >= 0 && spragProblemBlock(problem, k, problem->parent[k]) < 0)
            return 0;
    return 1;
}

/* 1: it is one part, without a search.  (That takes 0.2 us, a third of what one contact does.) */
static int isOne(const spragProblem *problem)
{
    const double nc = problem->contact_count;
    return problem->block_count == nc * nc || problem->linked != NULL || !parentsAreCoupled(problem);
}

/* 0: no memory. */
static int find(const spragProblem *problem, spragArena *arena, Components *found)
{
    const int nc = problem->contact_count;
    unsigned char *seen = SPRAG_TAKE(arena, unsigned char, nc);
    *found = (Components){.whole = problem,
                          .arena = arena,
                          .block = SPRAG_TAKE_RAW(arena, int, nc),
                          .place = SPRAG_TAKE_RAW(arena, int, nc),
                          .component = SPRAG_TAKE_RAW(arena, Component, nc)};
    if (seen == NULL || found->block == NULL || found->place == NULL || found->component == NULL)
        return 0;
    for (int k = 0; k < nc; ++k)
        found->place[k] = -1;
    for (int k = 0, first = 0; k < nc; ++k)
        if (!seen[k]) {
            const int count = reach(problem, k, seen, found->block + first);
            qsort(found->block + first, (size_t)count, sizeof *found->block, compareInts);
            found->component[found->count++] = (Component){first, count};
            first += count;
        }
    qsort(found->component, (size_t)found->count, sizeof *found->component, compareComponents);
    return 1;
}

static spragStatus worse(spragStatus a, spragStatus b)
{
    return a == SPRAG_OK ? b : b == SPRAG_OK || b == SPRAG_LIMIT ? a : b;
}

static void add(spragSolveInfo *info, const spragSolveInfo *part)
{
    info->iterations += part->iterations;
    info->work += part->work;
    for (int s = 0; s < SPRAG_SOLVER_COUNT; ++s)
        info->method_iterations[s] += part->method_iterations[s];
    info->solver = part->solver;
    info->fallback |= part->fallback;
    info->several |= part->several, info->none |= part->none;
}

/* The component's impulses in r (3 nc), from those in it. */
static spragStatus solveOne(const Components *all, const Component *component, const spragSolveOptions *options,
                            double *r, spragSolveInfo *info)
{
    spragArena *arena = all->arena;
    const int count = component->count, *block = all->block + component->first;
    spragProblem part;
    spragSolveInfo own;
    double *s = SPRAG_TAKE_RAW(arena, double, 3 * (size_t)count);
    if (s == NULL || !spragPartTakeBy(all->whole, block, count, all->place, arena, &part))
        return SPRAG_ERROR_MEMORY;
    for (int i = 0; i < count; ++i)
        memcpy(s + 3 * i, r + 3 * block[i], 3 * sizeof *r);
    const spragStatus status = spragChainSolve(&part, options, arena, s, NULL, &own);
    for (int i = 0; i < count; ++i)
        memcpy(r + 3 * block[i], s + 3 * i, 3 * sizeof *r);
    add(info, &own);
    return status;
}

static spragStatus solveAll(const Components *all, const spragSolveOptions *options, double *r, spragSolveInfo *info)
{
    const double begin = options->time_limit > 0 ? spragSeconds() : 0;
    spragStatus status = SPRAG_OK;
    for (int c = 0; c < all->count && status != SPRAG_ERROR_MEMORY; ++c) {
        const spragArenaMark mark = spragArenaMarkGet(all->arena);
        spragSolveOptions own = *options;
        own.time_limit = spragTimeLeft(options->time_limit, begin);
        const double part = (double)all->component[c].count / all->whole->contact_count;
        own.work_limit *= part;
        own.work_total *= part;
        const spragStatus now = solveOne(all, &all->component[c], &own, r, info);
        status = now == SPRAG_ERROR_MEMORY ? now : worse(status, now);
        spragArenaRelease(all->arena, mark);
    }
    return status;
}

static spragStatus solveParts(const Components *all, const spragSolveOptions *options, double *r, double *u,
                              spragSolveInfo *info)
{
    const size_t n = 3 * (size_t)all->whole->contact_count;
    double *parts = SPRAG_TAKE_RAW(all->arena, double, n);
    double *velocity = u != NULL ? u : SPRAG_TAKE_RAW(all->arena, double, n);
    if (parts == NULL || velocity == NULL)
        return info->status = SPRAG_ERROR_MEMORY;
    memcpy(parts, r, n * sizeof *r);
    info->status = solveAll(all, options, parts, info);
    if (info->status != SPRAG_ERROR_MEMORY) {
        memcpy(r, parts, n * sizeof *r);
        info->residual = spragProblemJudge(all->whole, r, velocity);
    }
    return info->status;
}

spragStatus spragComponentsSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                                 double *r, double *u, spragSolveInfo *info)
{
    if (isOne(problem))
        return spragChainSolve(problem, options, arena, r, u, info);
    const spragArenaMark mark = spragArenaMarkGet(arena);
    Components all = {0};
    *info = (spragSolveInfo){.residual = NAN, .solver = options->solver};
    spragStatus status = info->status = SPRAG_ERROR_MEMORY;
    const int found = find(problem, arena, &all);
    if (found && all.count > 1)
        status = solveParts(&all, options, r, u, info);
    spragArenaRelease(arena, mark);
    return found && all.count <= 1 ? spragChainSolve(problem, options, arena, r, u, info) : status;
}
