#include "ode/islands/soften.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "ode/islands/parting.h"
#include "ode/ledger/hindsight.h"
#include "ode/matrix/conflict.h"
#include "ode/work/heap.h"
#include "problem/residual.h"
#include "solve/newton/cones.h"
#include "solve/newton/existence.h"
#include "solve/solver.h"

enum {
    SWEEPS = 20,
    VARIANTS = 64,
    SEARCHED_MOST =
        60, /* blocks: more are not searched for modes; sweeps and Newton's method take a tenth of the time */

    /* Blocks of an island whose contacts yield along their normals alone; larger ones, as crowds that a wall pushes,
     * then rest too, but take twice the time. */
    NORMALS_MOST = 24
};
#define SHARE_CONFLICT 1e-8 /* of W, the compliance of contacts that yield: the first that is tried in conflict, */
#define SHARE_INFINITE 1e-5 /* where bounded friction or rolling friction has a part in it, */
#define SHARE_WEDGE 1e-3    /* and in a wedge */
#define SHARE_MOST 0.11
#define SHARE_SWEPT 0.1  /* the same where there is only time for some sweeps, which then end at rest */
#define NEAR_REST 0.1    /* of mostWithout(): of 1704 answers with a smaller residual, sweeps brought only 41 nearer */
#define NEARER 0.1       /* of what the rigid answer leaves: yielding that misses is of use too */
#define SHARE_NAMED 0.01 /* of the sum of a wedge's normal impulses: a contact with less has no part in it */
#define APPROACHES 0.1   /* of the approach that r = 0 leaves: more is left, so bodies fall into each other */
#define MU_LESS 1        /* friction with which sweeps lead somewhere */
#define MU_STICKS 2      /* friction up to which contacts are asked to yield along their normals alone */
#define CLOSING 1e-6     /* m/s: a wedge that closes more slowly is none */
#define SQUEEZING 1e-4   /* m/s: existence.c leaves contacts a friction of 1e-6, and nothing slips by 100 m/s */

/* 1/kg, mean of the diagonal of W_kk */
static double scaleOf(const spragIsland *island, int k)
{
    const double *W = island->W + 9 * spragProblemDiagonal(&island->problem, k);
    return (W[0] + W[4] + W[8]) / 3;
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

/* What yields: contacts along their normals (since |r_t| <= mu r_n that bounds all of r, and what friction holds does
 * not creep: with three rows a box in the jaws of a gripper sank by 0.07 mm/s); in all their rows, as where mu is large
 * r_n may be next to nothing; and guides. */
typedef enum Yielding { NORMALS, CONTACTS, GUIDES } Yielding;

static int rowsOf(const spragBlock *block, Yielding what)
{
    if (block->part == SPRAG_PART_ROLLING)
        return what == NORMALS ? 0 : 3;
    if (block->part != SPRAG_PART_CONTACT)
        return what == GUIDES && isGuide(block) ? 3 : 0;
    return what == NORMALS && block->kind == SPRAG_BLOCK_CONTACT ? 1 : 3;
}

/* Sets the diagonal of W to what it was (diagonal, block_count x 3) and a share of it more. */
static void soften(spragIsland *island, const double *diagonal, double share, Yielding what)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        const double *d = diagonal + 3 * k, compliance = share * (d[0] + d[1] + d[2]) / 3;
        const int rows = rowsOf(block, what);
        double *W = island->W + 9 * spragProblemDiagonal(&island->problem, k);
        for (int row = 0; row < 3; ++row)
            W[4 * row] = d[row] + (row < rows && !block->unused[row] ? compliance : 0);
    }
}

/* An answer, and the bounds and kinds that it was found for, since contacts that part have lost theirs (parting.h). */
typedef struct Answer {
    double *r, *bound; /* (3, 6 block_count); bound NULL: nothing has bounds */
    unsigned char *kind;
    spragSolveInfo info;
} Answer;

static void keep(const spragIsland *island, Answer *answer)
{
    const size_t n = (size_t)island->block_count;
    answer->info = island->solve;
    memcpy(answer->r, island->r, 3 * n * sizeof *answer->r);
    if (answer->bound != NULL)
        memcpy(answer->bound, island->bound, 6 * n * sizeof *answer->bound);
    if (answer->kind != NULL)
        memcpy(answer->kind, island->kind, n);
}

static void takeBack(spragIsland *island, const Answer *answer)
{
    const size_t n = (size_t)island->block_count;
    island->solve = answer->info;
    memcpy(island->r, answer->r, 3 * n * sizeof *answer->r);
    if (answer->bound != NULL)
        memcpy(island->bound, answer->bound, 6 * n * sizeof *answer->bound);
    for (int k = 0; k < island->block_count && answer->kind != NULL; ++k)
        if (answer->kind[k] != island->kind[k])
            spragPartingLaw(island, k, answer->kind[k]);
}

/* 1: contacts have a part in the wedge y, as they are in the problem of spragConesContacts; sum of y_n = 1, or up to 3
 * with rolling friction. */
static int contactsBear(const spragIsland *island, const spragCones *cones, int rolling, const double *y)
{
    for (int k = 0, j = 0; k < cones->problem->contact_count; ++k) {
        if (spragConeIsDisc(cones, k)) {
            j += rolling && spragConeRolls(cones, k);
            continue;
        }
        const int block = cones->source == NULL ? k : cones->source[3 * k] / 3;
        if (fabs(y[3 * j++]) >= SHARE_NAMED && island->block[block].part == SPRAG_PART_CONTACT)
            return 1;
    }
    return 0;
}

static int anyRolls(const spragCones *cones)
{
    int any = 0;
    for (int k = 0; k < cones->problem->contact_count && !any; ++k)
        any = spragConeRolls(cones, k);
    return any;
}

/* What stands against a motion: contacts without any friction, with it, and with rolling friction, too. */
typedef enum Question { SMOOTH, FRICTION, ROLLING } Question;

/* What is locked, if it closes faster than `closing`.  OK, or ERROR_MEMORY. */
static spragStatus findLocked(spragIsland *island, const spragCones *cones, double closing, Question question)
{
    const int rolling = question == ROLLING;
    spragArena *arena = &island->lane->arena;
    spragProblem contacts;
    spragExistence existence = {0};
    const size_t n = 3 * (size_t)cones->problem->contact_count;
    double *guess = SPRAG_TAKE_RAW(arena, double, n), *y = SPRAG_TAKE(arena, double, n),
           *no_friction = SPRAG_TAKE(arena, double, n / 3);
    if (guess == NULL || y == NULL || no_friction == NULL ||
        !spragConesContacts(cones, rolling, island->r, &contacts, guess, arena))
        return SPRAG_ERROR_MEMORY;
    if (question == SMOOTH)
        contacts.mu = contacts.mu_minus = no_friction;
    const int huge = island->wedge.yielded > 0 || spragImpulsesAreHuge(&island->problem, island->r);
    const spragExistenceAsk ask = {
        .guess = guess, .variants = VARIANTS, .closing = closing, .modest = huge && spragHasGuides(island)};
    if (contacts.contact_count > 0 && spragExistenceFind(&contacts, &ask, arena, y, &existence) != SPRAG_OK)
        return SPRAG_ERROR_MEMORY;
    if (existence.margin < -closing) {
        island->wedge.speed = -existence.margin;
        island->wedge.guides |= !contactsBear(island, cones, rolling, y);
    }
    return SPRAG_OK;
}

/* Does what closes faster than this?  Of rolling friction only what is not locked without, as it has two to three times
 * the cones.  OK, or ERROR_MEMORY. */
static spragStatus findClosing(spragIsland *island, double closing, Question question)
{
    spragArena *arena = &island->lane->arena;
    const int has_free = spragProblemHasFreeRows(&island->problem);
    const spragProblem *asked = &island->problem;
    spragCones cones;
    spragProblem rest;
    double contradiction = 0;
    island->wedge.speed = 0;
    if (has_free && island->block_count > SPRAG_FREE_ROWS_MOST)
        return SPRAG_OK;
    if (has_free && !spragFreeRowsEliminate(&island->problem, arena, &rest, &contradiction))
        return SPRAG_ERROR_MEMORY;
    if (contradiction > closing) {
        island->wedge.speed = contradiction;
        island->wedge.guides |= !spragHasInfinite(island);
        return SPRAG_OK;
    }
    asked = has_free ? &rest : asked;
    if (!spragConesApplyToSides(asked))
        return SPRAG_OK;
    if (!spragConesInit(&cones, asked, arena))
        return SPRAG_ERROR_MEMORY;
    const int rolling = question == ROLLING;
    const spragStatus status = findLocked(island, &cones, closing, rolling ? FRICTION : question);
    if (status != SPRAG_OK || !rolling || island->wedge.speed > 0 || !anyRolls(&cones))
        return status;
    return findLocked(island, &cones, closing, ROLLING);
}

spragStatus spragWedgeFind(spragIsland *island)
{
    island->wedge.squeezed = 0;
    const spragStatus status = spragHasInfinite(island) ? spragConflictFind(island) : SPRAG_OK;
    return status != SPRAG_OK || island->wedge.speed > 0 ? status : findClosing(island, CLOSING, ROLLING);
}

spragStatus spragSqueezeFind(spragIsland *island)
{
    const double wedge = island->wedge.speed;
    island->wedge.squeezed = 0;
    if (spragHasGuides(island) || spragProblemHasFreeRows(&island->problem))
        return SPRAG_OK;
    const spragStatus status = findClosing(island, SQUEEZING, SMOOTH);
    island->wedge.squeezed = island->wedge.speed > 0;
    island->wedge.unsqueezed = island->wedge.squeezed ? 0 : SPRAG_UNSQUEEZED;
    island->wedge.speed = fmax(island->wedge.speed, wedge);
    island->wedge.rigid = island->solve.residual; /* unless contacts yield */
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
    answer->kind = island->bound == NULL ? NULL : SPRAG_TAKE_RAW(arena, unsigned char, n / 3);
    if (diagonal == NULL || answer->r == NULL ||
        (island->bound != NULL && (answer->bound == NULL || answer->kind == NULL)))
        return NULL;
    for (int k = 0; k < island->block_count; ++k)
        for (int row = 0; row < 3; ++row)
            diagonal[3 * k + row] = island->W[9 * spragProblemDiagonal(&island->problem, k) + 4 * row];
    return diagonal;
}

/* 1: a few plain contacts alone, with friction that is nowhere so large that r_n need not be. */
static int normalsMayDo(const spragIsland *island)
{
    int may = island->row_count == 0 && island->block_count <= NORMALS_MOST;
    for (int k = 0; k < island->block_count && may; ++k)
        may = island->block[k].part == SPRAG_PART_ROLLING ||
              (island->block[k].part == SPRAG_PART_CONTACT && island->block[k].mu <= MU_STICKS);
    return may;
}

/* The mode search from the guess, unless that is NULL, and if that is not enough the chain from rest. */
static spragStatus solveYielding(const spragSolveOptions *options, spragIsland *island, const double *guess,
                                 double enough, int *iterations)
{
    const size_t n = 3 * (size_t)island->block_count;
    spragSolveOptions search = *options;
    search.solver = SPRAG_SOLVER_VARIANT;
    if (guess != NULL && island->block_count <= SEARCHED_MOST) {
        memcpy(island->r, guess, n * sizeof *island->r);
        const spragStatus status = spragPartingSolve(SPRAG_CHAIN_WHOLE, &search, island, iterations);
        if (status == SPRAG_ERROR_MEMORY || island->solve.residual <= enough)
            return status;
    }
    memset(island->r, 0, n * sizeof *island->r);
    return spragPartingSolve(SPRAG_CHAIN_WHOLE, options, island, iterations);
}

static double firstShare(const spragIsland *island)
{
    if (!spragHasInfinite(island))
        return SHARE_WEDGE;
    return spragProblemIsGlued(&island->problem) ? SHARE_CONFLICT : SHARE_INFINITE;
}

/* What yields first; share: the first compliance of a wedge. */
static Yielding yieldingFirst(const spragIsland *island, double share)
{
    if (!(island->wedge.speed > 0))
        return CONTACTS;
    if (island->wedge.guides)
        return GUIDES;
    return island->wedge.yielded <= share && normalsMayDo(island) ? NORMALS : CONTACTS;
}

/* Solves and judges the problem with a compliance with which there is a solution, on the normals of contacts, if that
 * will not do on contacts, and on guides if they are to yield.  guess: in a wedge, where to begin, or NULL.  W is rigid
 * again afterwards. */
static spragStatus solveShares(const spragSolveOptions *options, spragIsland *island, const double *diagonal,
                               const double *guess, int *solved, int *iterations)
{
    const double closing = island->wedge.speed, first = firstShare(island);
    const double enough = fmax(closing > 0 ? options->tolerance : SPRAG_MISSED, options->enough);
    Yielding what = yieldingFirst(island, first);
    spragSolveOptions left = *options;
    const double begin = options->time_limit > 0 ? spragSeconds() : 0;
    spragStatus status = SPRAG_NOT_CONVERGED;
    island->solve.residual = INFINITY;
    for (double share = closing > 0 ? fmax(first, island->wedge.yielded) : first;
         share <= SHARE_MOST && status != SPRAG_ERROR_MEMORY && !(island->solve.residual <= enough);) {
        soften(island, diagonal, share, what);
        left.time_limit = spragTimeLeft(options->time_limit, begin);
        status = solveYielding(&left, island, closing > 0 ? guess : NULL, enough, iterations);
        island->wedge.speed = closing > 0 ? closing : share * fastest(island);
        island->wedge.yielded = closing > 0 ? share : 0;
        if (what == NORMALS)
            what = CONTACTS;
        else
            share *= 10;
    }
    soften(island, diagonal, 0, CONTACTS);
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
    const int others = island->wedge.speed > 0 && !island->wedge.guides && spragHasGuides(island);
    spragStatus status = solveShares(options, island, diagonal, guess, &solved, iterations);
    if (status != SPRAG_ERROR_MEMORY && !solved && others) {
        island->wedge.guides = 1;
        island->wedge.yielded = 0;
        status = solveShares(options, island, diagonal, NULL, &solved, iterations);
    }
    if (status == SPRAG_ERROR_MEMORY)
        return status;
    if (!solved && !(island->wedge.speed > 0 && island->solve.residual < NEARER * before.info.residual)) {
        takeBack(island, &before);
        island->wedge.speed = 0;
    }
    spragProblemVelocity(&island->problem, island->r, island->u);
    island->wedge.rigid = spragVelocityResidual(&island->problem, island->r, island->u);
    if (island->wedge.rigid <= options->tolerance) /* nothing yields: it was solved on the way */
        island->wedge.speed = island->wedge.squeezed = 0;
    if (!(island->wedge.speed > 0))
        island->solve.residual = island->wedge.rigid;
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

/* J, by which impulses r (3 n) that leave u change the bodies' kinetic energy: r.(q + u) / 2 + sum c_k r_n, as q and u
 * are short of the corrections of position c_k. */
static double gainOf(const spragIsland *island, const double *r, const double *u)
{
    double sum = 0;
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        for (int i = 3 * k; i < 3 * k + 3; ++i)
            sum += r[i] * (island->problem.q[i] + u[i]) / 2;
        sum += block->part == SPRAG_PART_CONTACT ? block->correction * r[3 * k] : 0;
    }
    return sum;
}

/* m/s: the fastest approach of a contact's bodies, u as they are. */
static double approachOf(const spragIsland *island, const double *u)
{
    double most = 0;
    for (int k = 0; k < island->block_count; ++k)
        most = island->block[k].part == SPRAG_PART_CONTACT ? fmax(most, -u[3 * k]) : most;
    return most;
}

/* 1: some friction is high; mu (2 n): coefficients up to MU_LESS. */
static int cutFriction(const spragIsland *island, double *mu)
{
    const int n = island->block_count;
    int high = 0;
    for (int k = 0; k < n; ++k) {
        const int contact = island->block[k].part == SPRAG_PART_CONTACT &&
                            island->block[k].kind == SPRAG_BLOCK_CONTACT; /* not a force */
        const double other = island->problem.mu_minus != NULL ? island->problem.mu_minus[k] : 0;
        high |= contact && island->problem.mu[k] > MU_LESS;
        mu[k] = contact ? fmin(island->problem.mu[k], MU_LESS) : island->problem.mu[k];
        mu[n + k] = contact ? fmin(other, MU_LESS) : other;
    }
    return high;
}

spragStatus spragSlippingSweep(const spragSolveOptions *options, spragIsland *island, int *iterations)
{
    spragArena *arena = &island->lane->arena;
    const int n = island->block_count;
    double *r = SPRAG_TAKE_RAW(arena, double, 8 * (size_t)n), *u = r + 3 * n, *mu = u + 3 * n;
    if (r == NULL)
        return SPRAG_ERROR_MEMORY;
    if (!(approachOf(island, island->u) > APPROACHES * approachOf(island, island->problem.q)) ||
        !cutFriction(island, mu))
        return island->solve.status;
    spragProblem slipping = island->problem;
    spragSolveInfo info;
    const spragSolveOptions own = {
        .solver = SPRAG_SOLVER_GAUSS_SEIDEL, .tolerance = options->tolerance, .iteration_limit = SWEEPS};
    slipping.mu = mu;
    slipping.mu_minus = island->problem.mu_minus != NULL ? mu + n : NULL;
    memset(r, 0, 3 * (size_t)n * sizeof *r);
    const spragStatus status = spragChainSolve(&slipping, &own, arena, r, u, &info);
    *iterations += info.iterations;
    if (status == SPRAG_ERROR_MEMORY || !(gainOf(island, r, u) < gainOf(island, island->r, island->u)))
        return status == SPRAG_ERROR_MEMORY ? status : island->solve.status;
    memcpy(island->r, r, 3 * (size_t)n * sizeof *r);
    memcpy(island->u, u, 3 * (size_t)n * sizeof *u);
    island->solve.residual = spragVelocityResidual(&island->problem, island->r, island->u);
    return island->solve.status = SPRAG_LIMIT;
}
