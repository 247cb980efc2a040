#include "ode/soften.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/delassus.h"
#include "ode/release.h"
#include "problem/residual.h"
#include "solve/cones.h"
#include "solve/existence.h"
#include "solve/solver.h"

enum { SWEEPS = 20 };
#define CONFLICT 1e4        /* impulses against what stops the island */
#define SHARE_CONFLICT 1e-8 /* of W, by which contacts yield: in conflict, from this on */
#define SHARE_WEDGE 1e-3    /* in a wedge */
#define SHARE_MOST 0.11
#define SHARE_SWEPT 0.1 /* where there is time for some sweeps, which end at rest then */
#define CLOSING 1e-6    /* m/s: a wedge that closes more slowly is none */

static int isInfinite(const spragBlock *block)
{
    return block->part == SPRAG_PART_CONTACT && block->kind == SPRAG_BLOCK_BOX;
}

/* 1/kg, mean of the diagonal of W_kk */
static double scaleOf(const spragIsland *island, int k)
{
    const double *W = island->W + 9 * spragProblemDiagonal(&island->problem, k);
    return (W[0] + W[4] + W[8]) / 3;
}

int spragConflicts(const spragIsland *island)
{
    const spragProblem *p = &island->problem;
    double impulse = 0, free = 0; /* m/s */
    int infinite = 0;
    for (int k = 0; k < island->block_count && !infinite; ++k)
        infinite = isInfinite(&island->block[k]);
    for (int k = 0; k < island->block_count && infinite; ++k) {
        impulse = fmax(impulse, spragNorm3(island->r + 3 * k) * scaleOf(island, k));
        free = fmax(free, spragNorm3(p->q + 3 * k));
    }
    return infinite && impulse > CONFLICT * free;
}

/* The diagonal of W: what it was (diagonal, block_count x 3) and a share of it. */
static void soften(spragIsland *island, const double *diagonal, double share)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        const double *d = diagonal + 3 * k, compliance = share * (d[0] + d[1] + d[2]) / 3;
        double *W = island->W + 9 * spragProblemDiagonal(&island->problem, k);
        for (int row = 0; row < 3; ++row)
            W[4 * row] = d[row] + (block->part == SPRAG_PART_CONTACT && !block->unused[row] ? compliance : 0);
    }
}

/* An answer, with the bounds that it is one for: contacts that part have lost theirs. */
typedef struct Answer {
    double *r, *bound; /* (3, 6 block_count); bound NULL: nothing has bounds */
    spragSolveInfo info;
} Answer;

static void keep(const spragIsland *island, Answer *answer)
{
    const size_t n = (size_t)island->block_count;
    answer->info = island->solve;
    memcpy(answer->r, island->r, 3 * n * sizeof *answer->r);
    if (answer->bound != NULL)
        memcpy(answer->bound, island->bound, 6 * n * sizeof *answer->bound);
}

static void takeBack(spragIsland *island, const Answer *answer)
{
    const size_t n = (size_t)island->block_count;
    island->solve = answer->info;
    memcpy(island->r, answer->r, 3 * n * sizeof *answer->r);
    if (answer->bound != NULL)
        memcpy(island->bound, answer->bound, 6 * n * sizeof *answer->bound);
}

spragStatus spragWedgeFind(spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    spragCones cones;
    spragProblem contacts;
    spragExistence existence = {0};
    island->wedge = 0;
    if (!spragConesApply(&island->problem))
        return SPRAG_OK;
    if (!spragConesInit(&cones, &island->problem, arena) || !spragConesContacts(&cones, &contacts, arena))
        return SPRAG_ERROR_MEMORY;
    const spragStatus status =
        contacts.contact_count > 0 ? spragExistenceFind(&contacts, arena, NULL, &existence) : SPRAG_OK;
    if (status == SPRAG_OK && existence.margin < -CLOSING)
        island->wedge = -existence.margin;
    return status;
}

/* m/s: max w |r| of contacts, w as in soften. */
static double fastest(const spragIsland *island)
{
    double most = 0;
    for (int k = 0; k < island->block_count; ++k)
        if (island->block[k].part == SPRAG_PART_CONTACT)
            most = fmax(most, scaleOf(island, k) * spragNorm3(island->r + 3 * k));
    return most;
}

/* The diagonal of W, and room for an answer; NULL: no memory. */
static double *room(const spragIsland *island, Answer *answer)
{
    const size_t n = 3 * (size_t)island->block_count;
    spragArena *arena = &island->lane->arena;
    double *diagonal = SPRAG_TAKE_RAW(arena, double, n);
    answer->r = SPRAG_TAKE_RAW(arena, double, n);
    answer->bound = island->bound == NULL ? NULL : SPRAG_TAKE_RAW(arena, double, 2 * n);
    if (diagonal == NULL || answer->r == NULL || (island->bound != NULL && answer->bound == NULL))
        return NULL;
    for (int k = 0; k < island->block_count; ++k)
        for (int row = 0; row < 3; ++row)
            diagonal[3 * k + row] = island->W[9 * spragProblemDiagonal(&island->problem, k) + 4 * row];
    return diagonal;
}

/* With a compliance on all contacts there is a solution.  That is what is solved and judged; W is rigid again
 * afterwards, and u what the rigid contacts do. */
static spragStatus solveYielding(const spragSolveOptions *options, spragIsland *island, const double *diagonal,
                                 Answer *before, int *iterations)
{
    const double closing = island->wedge;
    const double enough = fmax(closing > 0 ? options->tolerance : SPRAG_MISSED, options->enough);
    spragStatus status = SPRAG_NOT_CONVERGED;
    keep(island, before);
    island->solve.residual = INFINITY;
    for (double share = closing > 0 ? SHARE_WEDGE : SHARE_CONFLICT;
         share <= SHARE_MOST && status != SPRAG_ERROR_MEMORY && !(island->solve.residual <= enough); share *= 10) {
        memset(island->r, 0, 3 * (size_t)island->block_count * sizeof *island->r);
        soften(island, diagonal, share);
        status = spragPartingSolve(spragChainSolve, options, island, iterations);
        island->wedge = closing > 0 ? closing : share * fastest(island);
    }
    soften(island, diagonal, 0);
    const int solved = island->solve.residual <= enough;
    if (status != SPRAG_ERROR_MEMORY && !solved) {
        takeBack(island, before);
        island->wedge = 0;
    }
    spragProblemVelocity(&island->problem, island->r, island->u);
    island->rigid = spragVelocityResidual(&island->problem, island->r, island->u);
    return status;
}

spragStatus spragYieldingSolve(const spragSolveOptions *options, spragIsland *island, int *iterations)
{
    Answer before;
    double *diagonal = room(island, &before);
    if (diagonal == NULL)
        return SPRAG_ERROR_MEMORY;
    if (solveYielding(options, island, diagonal, &before, iterations) == SPRAG_ERROR_MEMORY)
        return SPRAG_ERROR_MEMORY;
    if (!(island->wedge > 0))
        island->solve.residual = island->rigid;
    island->solve.fallback = 1;
    return island->solve.status = island->solve.residual <= options->tolerance ? SPRAG_OK : SPRAG_NOT_CONVERGED;
}

spragStatus spragYieldingSweep(const spragSolveOptions *options, spragIsland *island, int *iterations)
{
    const size_t n = 3 * (size_t)island->block_count;
    Answer before;
    spragSolveOptions own = *options;
    double *diagonal = room(island, &before);
    if (diagonal == NULL)
        return SPRAG_ERROR_MEMORY;
    const int huge = spragImpulsesAreHuge(&island->problem, island->r);
    own.solver = SPRAG_SOLVER_GAUSS_SEIDEL;
    own.iteration_limit = SWEEPS;
    own.time_limit = 0;
    keep(island, &before);
    memset(island->r, 0, n * sizeof *island->r);
    soften(island, diagonal, SHARE_SWEPT);
    spragStatus status = spragPartingSolve(spragChainSolve, &own, island, iterations);
    soften(island, diagonal, 0);
    if (status == SPRAG_ERROR_MEMORY)
        return status;
    island->solve.residual = spragProblemJudge(&island->problem, island->r, island->u);
    if (!huge && !(island->solve.residual < before.info.residual)) {
        takeBack(island, &before);
        spragProblemVelocity(&island->problem, island->r, island->u);
    }
    return island->solve.status = SPRAG_LIMIT;
}

/* m/s, of one row of a contact */
static double yieldOf(const spragIsland *island, size_t i)
{
    const spragBlock *block = &island->block[i / 3];
    const double *W = island->W + 9 * (size_t)spragProblemDiagonal(&island->problem, (int)(i / 3));
    const double own = i % 3 == 0 ? 0 : spragDelassusYield(block, W);
    return block->part == SPRAG_PART_CONTACT ? (block->compliance[i % 3] + own) * island->r[i] : 0;
}

/* What contacts in conflict do at all they do by their compliance: the world's (CFM), and that which infinite friction
 * is given (delassus.c).  Where that is a speed that counts they are a wedge; u is then what rigid ones do. */
void spragYieldTell(spragIsland *island)
{
    const size_t n = 3 * (size_t)island->block_count;
    double most = 0;
    for (size_t i = 0; i < n; ++i)
        most = fmax(most, fabs(yieldOf(island, i)));
    if (!(most > CLOSING))
        return;
    island->wedge = most;
    island->solve.fallback = 1;
    for (size_t i = 0; i < n; ++i)
        island->u[i] -= yieldOf(island, i);
    island->rigid = spragVelocityResidual(&island->problem, island->r, island->u);
}
