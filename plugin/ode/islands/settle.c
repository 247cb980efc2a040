#include "ode/islands/settle.h"

#include <math.h>
#include <string.h>

#include "linalg/lu.h"
#include "ode/islands/parting.h"
#include "ode/islands/release.h"
#include "ode/joints/articulation.h"
#include "ode/work/heap.h"
#include "solve/solver.h"

enum {
    CHAIN = 0,  /* in place of a number of sweeps: the whole chain */
    SWEEPS = 8, /* in a turn */
    TURNS_MAX = 100,
    TURNS_VAIN = 30, /* turns in a row that do not halve what is left */
    STEPS_MAX = 40,
    STEPS_VAIN = 12,
    HALVINGS = 6,
    ITERATIONS_NEAR = 1000, /* of all solutions together, within SPRAG_MISSED; and else: */
    ITERATIONS_MAX = 5000   /* Newton's method asks for hundreds of solutions */
};
#define HALF 0.5
#define DELTA 1e-4 /* of a load: how much it is changed to find a column of dF */
#define LEAST 0.1  /* of the mean load: loads that are smaller are changed as if they were this */
#define PART 0.25  /* of the way to F(x): the step where Newton's method has none */
#define LESS 0.1   /* of the gain that a step promises: a step with as much is taken */
#define ZERO_PIVOT 1e-10

typedef struct Search {
    const struct spragWorld *world;
    const spragSolveOptions *options;
    spragIsland *island;
    spragBearingRounds *rounds;
    int n, iterations;
    int no_memory;
    double enough, *least;      /* m/s; least: what the best answer so far leaves */
    double off, residual, left; /* m/s, of the last answer: change of bounds, residual, the larger of both */
    double *x, *F, *r;          /* (n) (n) N, (3 block_count): where the search is */
    double *step, *next;        /* (n) N */
    double *J;                  /* (n x n) dF - 1 */
    int *pivot;                 /* (n) */
} Search;

/* From the island's impulses: the joints' loads, new bounds, and how good the answer is. */
static void look(Search *search)
{
    spragIsland *island = search->island;
    search->iterations += island->solve.iterations;
    search->residual = island->solve.residual;
    search->off = spragBearingsUpdate(search->world, island, search->rounds);
    search->left = fmax(search->off, search->residual);
    if (search->left < *search->least) {
        *search->least = search->left;
        spragBearingsKeep(island, search->rounds);
    }
}

static int isDone(const Search *search)
{
    return search->off <= search->enough && search->residual <= search->options->tolerance;
}

/* Solves for the bounds that are set, by so many sweeps or by the chain (CHAIN). */
static void solve(Search *search, int sweeps)
{
    spragIsland *island = search->island;
    const spragArenaMark mark = spragArenaMarkGet(&island->lane->arena);
    spragSolveOptions options = *search->options;
    spragStatus status;
    int iterations = 0;
    if (sweeps != CHAIN) {
        options.solver = SPRAG_SOLVER_GAUSS_SEIDEL;
        options.iteration_limit = sweeps;
        options.tolerance = search->enough; /* as of rounds (bounded.c) */
        status = spragPartingSolve(SPRAG_CHAIN_WHOLE, &options, island, &iterations);
        island->solve.iterations = iterations;
    } else {
        status = spragReleaseSolve(&options, island);
    }
    search->no_memory |= status == SPRAG_ERROR_MEMORY || !spragArticulationsSolve(island);
    spragArenaRelease(&island->lane->arena, mark);
    if (!search->no_memory)
        look(search);
}

static void sweepByTurns(Search *search)
{
    double mark = *search->least;
    for (int k = 0, vain = 0; k < TURNS_MAX && vain < TURNS_VAIN && !search->no_memory; ++k) {
        solve(search, SWEEPS);
        if (isDone(search))
            return;
        ++vain;
        if (search->left <= HALF * mark) {
            mark = search->left;
            vain = 0;
        }
    }
}

/* ---------------------------------------------------------------- Newton's method */

/* Finds the solution for these loads, beginning with the impulses where the search is (search->r). */
static void answer(Search *search, const double *load)
{
    spragIsland *island = search->island;
    memcpy(island->r, search->r, 3 * (size_t)island->block_count * sizeof *island->r);
    spragBearingsSet(search->world, island, load, search->rounds);
    solve(search, CHAIN);
}

/* Moves the search to the last answer, which is that for these loads. */
static void stay(Search *search, const double *load)
{
    const size_t bytes = (size_t)search->n * sizeof *load;
    memcpy(search->x, load, bytes);
    memcpy(search->F, search->rounds->found, bytes);
    memcpy(search->r, search->island->r, 3 * (size_t)search->island->block_count * sizeof *search->r);
}

/* Within SPRAG_MISSED it is not worth as much. */
static int isSpent(const Search *search)
{
    const int most = *search->least <= SPRAG_MISSED ? ITERATIONS_NEAR : ITERATIONS_MAX;
    return search->no_memory || search->iterations >= most || search->island->work.spent > search->island->work.most;
}

static int goesOn(const Search *search)
{
    return !isDone(search) && *search->least > fmax(search->options->tolerance, search->options->enough) &&
           !isSpent(search);
}

/* step = (dF - 1)^-1 (x - F).  0: there is none. */
static int newtonStep(Search *search)
{
    const int n = search->n;
    double mean = 0, *x = search->x;
    for (int j = 0; j < n; ++j)
        mean += search->F[j] / n;
    for (int j = 0; j < n; ++j) {
        const double kept = x[j], delta = DELTA * fmax(search->F[j], LEAST * mean);
        if (!(delta > 0) || isSpent(search))
            return 0;
        x[j] += delta;
        answer(search, x);
        x[j] = kept;
        for (int i = 0; i < n; ++i)
            search->J[n * i + j] = (search->rounds->found[i] - search->F[i]) / delta - (i == j);
        search->step[j] = kept - search->F[j];
    }
    if (spragLuFactor(n, search->J, search->pivot, ZERO_PIVOT) < n)
        return 0;
    spragLuSolve(n, search->J, search->pivot, search->step);
    return 1;
}

/* Along the step, as far as that brings the bounds nearer than `before`, m/s.  0: it does not. */
static int descend(Search *search, double before)
{
    double share = 1;
    for (int k = 0; k < HALVINGS && !search->no_memory; ++k, share *= HALF) {
        for (int i = 0; i < search->n; ++i)
            search->next[i] = fmax(0, search->x[i] + share * search->step[i]);
        answer(search, search->next);
        if (search->left < (1 - LESS * share) * before || isDone(search))
            return 1;
    }
    return 0;
}

static void newton(Search *search)
{
    memcpy(search->next, search->rounds->found, (size_t)search->n * sizeof *search->next);
    memcpy(search->r, search->island->r, 3 * (size_t)search->island->block_count * sizeof *search->r);
    answer(search, search->next);
    double mark = search->left;
    for (int k = 0, vain = 0; k < STEPS_MAX && vain < STEPS_VAIN && goesOn(search); ++k, ++vain) {
        const double before = search->left;
        stay(search, search->next);
        if (!newtonStep(search) || !descend(search, before)) {
            for (int i = 0; i < search->n; ++i)
                search->next[i] = search->x[i] + PART * (search->F[i] - search->x[i]);
            if (!search->no_memory)
                answer(search, search->next);
        }
        if (search->left <= HALF * mark) {
            mark = search->left;
            vain = 0;
        }
    }
}

int spragSettle(const struct spragWorld *world, const spragSolveOptions *options, double enough, spragIsland *island,
                spragBearingRounds *rounds, double *least)
{
    spragArena *arena = &island->lane->arena;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const size_t n = (size_t)rounds->count;
    Search search = {.world = world,
                     .options = options,
                     .island = island,
                     .rounds = rounds,
                     .n = rounds->count,
                     .enough = enough,
                     .least = least};
    double *room = SPRAG_TAKE_RAW(arena, double, 4 * n + n * n);
    search.r = SPRAG_TAKE_RAW(arena, double, 3 * (size_t)island->block_count);
    search.pivot = SPRAG_TAKE_RAW(arena, int, n);
    if (room == NULL || search.r == NULL || search.pivot == NULL || !spragBearingsBest(island, rounds))
        return 0;
    search.x = room, search.F = room + n, search.step = room + 2 * n, search.next = room + 3 * n;
    search.J = room + 4 * n;
    spragBearingsUpdate(world, island, rounds);
    sweepByTurns(&search);
    if (goesOn(&search))
        newton(&search);
    island->solve.iterations = search.iterations;
    spragArenaRelease(arena, mark);
    return !search.no_memory;
}
