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

enum {
    STEPS_PROMPT = 300, /* of each method, for who asks for less than the tolerance: the way down is long */
    STEPS_DOWN = 12000  /* of all methods on it, for the same */
};

#define CONFLICT 1e4        /* impulses against what stops the island */
#define SHARE_CONFLICT 1e-8 /* of W, by which contacts yield: in conflict, from this on */
#define SHARE_WEDGE 1e-3    /* in a wedge */
#define SHARE_WEDGED 0.11   /* at most */
#define SHARE_LEAST 1e-9    /* then none */
#define SHARE_FIRST 1e-2    /* of W, by which friction yields: from rest */
#define SHARE_RISE 3        /* times that, where no way leads down */
#define SHARE_MOST 1
#define SHARE_STEP 0.1       /* part of the last, on the way down */
#define SHARE_STEP_LEAST 0.7 /* where steps are this short the way ends */
#define SHARE_SAFE 0.5       /* of the share that would be enough if the residual fell with it */
#define ON_THE_WAY 1e-5      /* m/s: good enough to go on from */
#define NEARLY_RIGID 1e-4    /* m/s: the rigid problem is tried from here */
#define CLOSING 1e-6         /* m/s: a wedge that closes more slowly is none */

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
static void soften(spragIsland *island, const double *diagonal, spragSoftened which, double share)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        const double *d = diagonal + 3 * k, compliance = share * (d[0] + d[1] + d[2]) / 3;
        double *W = island->W + 9 * spragProblemDiagonal(&island->problem, k);
        for (int row = 0; row < 3; ++row) {
            const int soft = block->part == SPRAG_PART_CONTACT && !block->unused[row] &&
                             (row > 0 || which == SPRAG_SOFTENED_CONTACTS);
            W[4 * row] = d[row] + (soft ? compliance : 0);
        }
    }
}

/* The answer as the true problem has it. */
static void judge(spragIsland *island)
{
    spragProblemVelocity(&island->problem, island->r, island->u);
    island->solve.residual = spragVelocityResidual(&island->problem, island->r, island->u);
}

static void restart(spragIsland *island)
{
    memset(island->r, 0, 3 * (size_t)island->block_count * sizeof *island->r);
}

/* An answer, with the bounds that it is one for: contacts that part have lost theirs. */
typedef struct Best {
    double *r, *bound; /* (3, 6 block_count); bound NULL: nothing has bounds */
    double residual;
} Best;

static void keep(const spragIsland *island, Best *best)
{
    const size_t n = (size_t)island->block_count;
    best->residual = island->solve.residual;
    memcpy(best->r, island->r, 3 * n * sizeof *best->r);
    if (best->bound != NULL)
        memcpy(best->bound, island->bound, 6 * n * sizeof *best->bound);
}

static void takeBack(spragIsland *island, const Best *best)
{
    const size_t n = (size_t)island->block_count;
    memcpy(island->r, best->r, 3 * n * sizeof *best->r);
    if (best->bound != NULL)
        memcpy(island->bound, best->bound, 6 * n * sizeof *best->bound);
}

/* The island's answer if the judge likes it better than `best`, else that one. */
static void keepBetter(spragIsland *island, Best *best)
{
    judge(island);
    if (island->solve.residual < best->residual || isnan(best->residual))
        keep(island, best);
}

/* An answer in which friction yields. */
typedef struct Yielded {
    double *r;
    double share; /* of W; 0: none yet */
} Yielded;

/* island->r becomes the answer to the present problem that the last two let expect, or the last itself if the judge likes
 * it better. */
static void alongLine(spragIsland *island, const Yielded *last, const Yielded *before, double share)
{
    const size_t n = 3 * (size_t)island->block_count;
    const double part = before->share > 0 ? (last->share - share) / (before->share - last->share) : 0;
    for (size_t i = 0; i < n; ++i)
        island->r[i] = last->r[i] + part * (last->r[i] - before->r[i]);
    if (!(spragProblemResidual(&island->problem, island->r) < spragProblemResidual(&island->problem, last->r)))
        memcpy(island->r, last->r, n * sizeof *island->r);
}

/* Friction yields, and less and less so.  The answers lie on a line while the modes are the same: it leads to the next,
 * and to that of share 0, which is tried as soon as it is near.  (A car whose contacts all but repeat each other: 1500
 * factorisations from rest, where the homotopy ends above 1e-6 m/s after 5000.) */
static spragStatus solveYielding(const spragSolveOptions *options, spragIsland *island, const double *diagonal,
                                 Best *best, int *iterations)
{
    const size_t n = 3 * (size_t)island->block_count;
    const double enough = fmax(options->tolerance, options->enough);
    const int hurried = options->enough > options->tolerance && options->iteration_limit == 0;
    double top = SHARE_FIRST, share = top, factor = SHARE_STEP;
    spragSolveOptions first = *options;
    Yielded last = {.r = SPRAG_TAKE_RAW(&island->lane->arena, double, n)},
            before = {.r = SPRAG_TAKE_RAW(&island->lane->arena, double, n)};
    if (last.r == NULL || before.r == NULL)
        return SPRAG_ERROR_MEMORY;
    if (hurried)
        first.iteration_limit = STEPS_PROMPT;
    keep(island, best);
    restart(island); /* the guess may lead astray: of eleven such islands of a car seven are solved from rest */
    if (spragPartingSolve(spragChainSolve, options, island, iterations) == SPRAG_ERROR_MEMORY)
        return SPRAG_ERROR_MEMORY;
    keepBetter(island, best);
    const int begin = *iterations;
    while (top <= SHARE_MOST && best->residual > enough && !(last.share > 0 && last.share <= SHARE_LEAST) &&
           !(hurried && *iterations - begin > STEPS_DOWN)) {
        soften(island, diagonal, SPRAG_SOFTENED_FRICTION, share);
        if (last.share > 0)
            alongLine(island, &last, &before, share);
        else
            restart(island);
        const spragStatus status = last.share > 0 ? spragPartingSolve(spragChainFollow, options, island, iterations)
                                                  : spragPartingSolve(spragChainSolve, &first, island, iterations);
        const int found = share > 0 && island->solve.residual <= ON_THE_WAY;
        soften(island, diagonal, SPRAG_SOFTENED_FRICTION, 0);
        if (status == SPRAG_ERROR_MEMORY)
            return status;
        keepBetter(island, best);
        if (found) {
            double *const room = before.r;
            before = last, last = (Yielded){.r = room, .share = share};
            memcpy(last.r, island->r, n * sizeof *last.r);
            factor = fmax(SHARE_STEP, fmin(SHARE_SAFE, SHARE_SAFE * enough / island->solve.residual));
            alongLine(island, &last, &before, 0);
            keepBetter(island, best);
        }
        if (found && island->solve.residual <= NEARLY_RIGID) {
            share = 0;
            continue;
        }
        factor = found || share == 0 ? factor : sqrt(factor);
        if (last.share == 0 || factor > SHARE_STEP_LEAST) /* again, from higher up */
            last.share = before.share = 0, factor = SHARE_STEP, share = top *= SHARE_RISE;
        else
            share = factor * last.share;
    }
    takeBack(island, best);
    return SPRAG_OK;
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

/* The wedge yields: with a compliance on all contacts there is a solution.  That is what is solved and judged; W is rigid
 * again afterwards, and u what the rigid contacts do. */
static spragStatus solveWedged(const spragSolveOptions *options, spragIsland *island, const double *diagonal,
                               Best *before, int *iterations)
{
    const double closing = island->wedge;
    const double enough = fmax(closing > 0 ? options->tolerance : SPRAG_MISSED, options->enough);
    const spragSolveInfo info = island->solve;
    spragStatus status = SPRAG_NOT_CONVERGED;
    keep(island, before);
    for (double share = closing > 0 ? SHARE_WEDGE : SHARE_CONFLICT;
         share <= SHARE_WEDGED && status != SPRAG_ERROR_MEMORY && !(island->solve.residual <= enough); share *= 10) {
        restart(island);
        soften(island, diagonal, SPRAG_SOFTENED_CONTACTS, share);
        status = spragPartingSolve(spragChainSolve, options, island, iterations);
        island->wedge = closing > 0 ? closing : share * fastest(island);
    }
    soften(island, diagonal, SPRAG_SOFTENED_CONTACTS, 0);
    if (status != SPRAG_ERROR_MEMORY && !(island->solve.residual <= enough)) { /* no better for it */
        takeBack(island, before);
        island->solve = info;
        island->wedge = 0;
    }
    spragProblemVelocity(&island->problem, island->r, island->u);
    island->rigid = spragVelocityResidual(&island->problem, island->r, island->u);
    return status;
}

spragStatus spragSoftenedSolve(const spragSolveOptions *options, spragIsland *island, spragSoftened which,
                               int *iterations)
{
    const size_t n = 3 * (size_t)island->block_count;
    double *diagonal = SPRAG_TAKE_RAW(&island->lane->arena, double, n);
    Best best = {.r = SPRAG_TAKE_RAW(&island->lane->arena, double, n)};
    if (island->bound != NULL)
        best.bound = SPRAG_TAKE_RAW(&island->lane->arena, double, 2 * n);
    if (diagonal == NULL || best.r == NULL || (island->bound != NULL && best.bound == NULL))
        return SPRAG_ERROR_MEMORY;
    for (int k = 0; k < island->block_count; ++k)
        for (int row = 0; row < 3; ++row)
            diagonal[3 * k + row] = island->W[9 * spragProblemDiagonal(&island->problem, k) + 4 * row];
    spragStatus status = SPRAG_OK;
    const int conflict = which == SPRAG_SOFTENED_CONTACTS && !(island->wedge > 0);
    if (which == SPRAG_SOFTENED_CONTACTS)
        status = solveWedged(options, island, diagonal, &best, iterations);
    if (status != SPRAG_ERROR_MEMORY && !(island->wedge > 0) && !conflict)
        status = solveYielding(options, island, diagonal, &best, iterations);
    if (!(island->wedge > 0))
        judge(island);
    island->solve.fallback = 1;
    if (status == SPRAG_ERROR_MEMORY)
        return status;
    return island->solve.status = island->solve.residual <= options->tolerance ? SPRAG_OK : SPRAG_NOT_CONVERGED;
}

/* m/s, of one row of a contact */
static double yieldOf(const spragIsland *island, size_t i)
{
    const spragBlock *block = &island->block[i / 3];
    const double *W = island->W + 9 * (size_t)spragProblemDiagonal(&island->problem, (int)(i / 3));
    const double own = i % 3 == 0 ? 0 : spragDelassusYield(block, W);
    return block->part == SPRAG_PART_CONTACT ? (block->compliance[i % 3] + own) * island->r[i] : 0;
}

/* What contacts in conflict do at all they do by their compliance: the world's (CFM), and that which infinite friction is
 * given (delassus.c).  Where that is a speed that counts they are a wedge; u is then what rigid ones do. */
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
