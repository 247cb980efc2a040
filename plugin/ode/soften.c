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

enum { SWEEPS = 20, VARIANTS = 64 };
#define CONFLICT 1e4        /* of the impulse that would stop the island: greater ones are in conflict */
#define SHARE_CONFLICT 1e-8 /* of W, the compliance of contacts that yield: the first that is tried in conflict */
#define SHARE_WEDGE 1e-3    /* the same in a wedge */
#define SHARE_MOST 0.11
#define SHARE_SWEPT 0.1  /* the same where there is only time for some sweeps, which then end at rest */
#define NEAR_REST 0.1    /* of mostWithout(): of 1704 answers with a smaller residual, sweeps brought only 41 nearer */
#define SHARE_NAMED 0.01 /* of the sum of a wedge's normal impulses: a contact with less has no part in it */
#define CLOSING 1e-6     /* m/s: a wedge that closes more slowly is none */
#define SQUEEZING 1e-4   /* m/s: existence.c leaves contacts a friction of 1e-6, and nothing slips by 100 m/s */

static int isInfinite(const spragBlock *block)
{
    return block->part == SPRAG_PART_CONTACT && block->kind == SPRAG_BLOCK_BOX;
}

int spragHasInfinite(const spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k)
        if (isInfinite(&island->block[k]))
            return 1;
    return 0;
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
    const int infinite = spragHasInfinite(island);
    double impulse = 0, free = 0; /* m/s */
    for (int k = 0; k < island->block_count && infinite; ++k) {
        impulse = fmax(impulse, spragNorm3(island->r + 3 * k) * scaleOf(island, k));
        free = fmax(free, spragNorm3(p->q + 3 * k));
    }
    return infinite && impulse > CONFLICT * free;
}

static int isGuide(const spragBlock *block)
{
    return block->kind == SPRAG_BLOCK_TWO_SIDED || block->part == SPRAG_PART_ACROSS;
}

int spragHasGuides(const spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k)
        if (isGuide(&island->block[k]))
            return 1;
    return 0;
}

/* Sets the diagonal of W to what it was (diagonal, block_count x 3) and a share of it more: of contacts and, if asked,
 * of guides. */
static void soften(spragIsland *island, const double *diagonal, double share, int guides)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        const double *d = diagonal + 3 * k, compliance = share * (d[0] + d[1] + d[2]) / 3;
        const int yields = block->part == SPRAG_PART_CONTACT || (guides && isGuide(block));
        double *W = island->W + 9 * spragProblemDiagonal(&island->problem, k);
        for (int row = 0; row < 3; ++row)
            W[4 * row] = d[row] + (yields && !block->unused[row] ? compliance : 0);
    }
}

/* An answer, and the bounds that it was found for, since contacts that part have lost theirs (release.h). */
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

/* 1: contacts have a part in the wedge y, as they are in the problem of spragConesContacts; sum of y_n = 1. */
static int contactsBear(const spragIsland *island, const spragCones *cones, const double *y)
{
    for (int k = 0, j = 0; k < cones->problem->contact_count; ++k) {
        if (spragConeIsDisc(cones, k))
            continue;
        const int block = cones->source == NULL ? k : cones->source[3 * k] / 3;
        if (fabs(y[3 * j++]) >= SHARE_NAMED && island->block[block].part == SPRAG_PART_CONTACT)
            return 1;
    }
    return 0;
}

/* Does what closes faster than this, with friction or without?  OK, or ERROR_MEMORY. */
static spragStatus findClosing(spragIsland *island, double closing, int smooth)
{
    spragArena *arena = &island->lane->arena;
    const int has_free = spragProblemHasFreeRows(&island->problem);
    const spragProblem *asked = &island->problem;
    spragCones cones;
    spragProblem rest, contacts;
    spragExistence existence = {0};
    double contradiction = 0;
    island->wedge = 0;
    if (has_free && (spragHasInfinite(island) || island->block_count > SPRAG_FREE_ROWS_MOST))
        return SPRAG_OK;
    if (has_free && !spragFreeRowsEliminate(&island->problem, arena, &rest, &contradiction))
        return SPRAG_ERROR_MEMORY;
    if (contradiction > closing) {
        island->wedge = contradiction;
        island->guides_yield = 1;
        return SPRAG_OK;
    }
    asked = has_free ? &rest : asked;
    if (!spragConesApplyToSides(asked))
        return SPRAG_OK;
    if (!spragConesInit(&cones, asked, arena))
        return SPRAG_ERROR_MEMORY;
    const size_t n = 3 * (size_t)cones.problem->contact_count;
    double *guess = SPRAG_TAKE_RAW(arena, double, n), *y = SPRAG_TAKE(arena, double, n),
           *no_friction = SPRAG_TAKE(arena, double, n / 3);
    if (guess == NULL || y == NULL || no_friction == NULL ||
        !spragConesContacts(&cones, island->r, &contacts, guess, arena))
        return SPRAG_ERROR_MEMORY;
    if (smooth)
        contacts.mu = contacts.mu_minus = no_friction;
    const int huge = island->yielded > 0 || spragImpulsesAreHuge(&island->problem, island->r);
    const spragExistenceAsk ask = {
        .guess = guess, .variants = VARIANTS, .closing = closing, .modest = huge && spragHasGuides(island)};
    if (contacts.contact_count > 0 && spragExistenceFind(&contacts, &ask, arena, y, &existence) != SPRAG_OK)
        return SPRAG_ERROR_MEMORY;
    if (existence.margin < -closing) {
        island->wedge = -existence.margin;
        island->guides_yield |= !contactsBear(island, &cones, y);
    }
    return SPRAG_OK;
}

spragStatus spragWedgeFind(spragIsland *island)
{
    island->squeezed = 0;
    return findClosing(island, CLOSING, 0);
}

spragStatus spragSqueezeFind(spragIsland *island)
{
    const double wedge = island->wedge;
    island->squeezed = 0;
    if (spragHasGuides(island) || spragProblemHasFreeRows(&island->problem))
        return SPRAG_OK;
    const spragStatus status = findClosing(island, SQUEEZING, 1);
    island->squeezed = island->wedge > 0;
    island->wedge = fmax(island->wedge, wedge);
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

/* A copy of the diagonal of W, and room for an answer; NULL: no memory. */
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

/* Solves and judges the problem with a compliance on all contacts, and on guides if they are to yield, with which there
 * is a solution.  guess: in a wedge, where the mode search alone begins, which is tried first; or NULL.  W is rigid
 * again afterwards. */
static spragStatus solveShares(const spragSolveOptions *options, spragIsland *island, const double *diagonal,
                               const double *guess, int *solved, int *iterations)
{
    const size_t n = 3 * (size_t)island->block_count;
    const double closing = island->wedge, first = closing > 0 ? SHARE_WEDGE : SHARE_CONFLICT;
    const double enough = fmax(closing > 0 ? options->tolerance : SPRAG_MISSED, options->enough);
    const int guides = closing > 0 && island->guides_yield;
    spragSolveOptions search = *options;
    search.solver = SPRAG_SOLVER_VARIANT;
    spragStatus status = SPRAG_NOT_CONVERGED;
    island->solve.residual = INFINITY;
    for (double share = closing > 0 ? fmax(first, island->yielded) : first;
         share <= SHARE_MOST && status != SPRAG_ERROR_MEMORY && !(island->solve.residual <= enough); share *= 10) {
        soften(island, diagonal, share, guides);
        if (guess != NULL && closing > 0) {
            memcpy(island->r, guess, n * sizeof *island->r);
            status = spragPartingSolve(SPRAG_CHAIN_WHOLE, &search, island, iterations);
        }
        if (status != SPRAG_ERROR_MEMORY && !(island->solve.residual <= enough)) {
            memset(island->r, 0, n * sizeof *island->r);
            status = spragPartingSolve(SPRAG_CHAIN_WHOLE, options, island, iterations);
        }
        island->wedge = closing > 0 ? closing : share * fastest(island);
        island->yielded = closing > 0 ? share : 0;
    }
    soften(island, diagonal, 0, 0);
    *solved = island->solve.residual <= enough;
    return status;
}

spragStatus spragYieldingSolve(const spragSolveOptions *options, spragIsland *island, const double *guess,
                               int *iterations)
{
    Answer before;
    int solved;
    double *diagonal = room(island, &before);
    if (diagonal == NULL)
        return SPRAG_ERROR_MEMORY;
    keep(island, &before);
    const int others = island->wedge > 0 && !island->guides_yield && spragHasGuides(island);
    spragStatus status = solveShares(options, island, diagonal, guess, &solved, iterations);
    if (status != SPRAG_ERROR_MEMORY && !solved && others) {
        island->guides_yield = 1;
        island->yielded = 0;
        status = solveShares(options, island, diagonal, NULL, &solved, iterations);
    }
    if (status == SPRAG_ERROR_MEMORY)
        return status;
    if (!solved) {
        takeBack(island, &before);
        island->wedge = 0;
    }
    spragProblemVelocity(&island->problem, island->r, island->u);
    island->rigid = spragVelocityResidual(&island->problem, island->r, island->u);
    if (!(island->wedge > 0))
        island->solve.residual = island->rigid;
    island->solve.fallback = 1;
    return island->solve.status = island->solve.residual <= options->tolerance ? SPRAG_OK : SPRAG_NOT_CONVERGED;
}

/* m/s: the fastest motion that r = 0 leaves, max |q|. */
static double mostWithout(const spragIsland *island)
{
    double most = 0;
    for (int i = 0; i < 3 * island->block_count; ++i)
        most = fmax(most, fabs(island->problem.q[i]));
    return most;
}

spragStatus spragYieldingSweep(const spragSolveOptions *options, spragIsland *island, int *iterations)
{
    const size_t n = 3 * (size_t)island->block_count;
    Answer before;
    spragSolveOptions own = *options;
    const int huge = spragImpulsesAreHuge(&island->problem, island->r);
    if (!huge && island->solve.residual < NEAR_REST * mostWithout(island))
        return island->solve.status;
    double *diagonal = room(island, &before);
    if (diagonal == NULL)
        return SPRAG_ERROR_MEMORY;
    own.solver = SPRAG_SOLVER_GAUSS_SEIDEL;
    own.iteration_limit = SWEEPS;
    own.time_limit = 0;
    keep(island, &before);
    memset(island->r, 0, n * sizeof *island->r);
    soften(island, diagonal, SHARE_SWEPT, 0);
    spragStatus status = spragPartingSolve(SPRAG_CHAIN_WHOLE, &own, island, iterations);
    soften(island, diagonal, 0, 0);
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

/* Contacts in conflict move only by their compliance: the world's (CFM), and that which infinite friction is given
 * (delassus.c).  If that makes a speed that counts they are told of as a wedge, and u becomes the motion of rigid
 * ones. */
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
