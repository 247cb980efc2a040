#include "ode/islands/parting.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "ode/islands/hold_some.h"
#include "ode/matrix/accord.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"
#include "solve/search/sticking.h"

/* Limit of the work of cones in place of infinite friction, in 3x3 products: some 0.3 ms.  (With 3e6, ten times the
 * time is spent on the half of what is left; a doll on the ground took 12 ms in a step.) */
#define WORK_CONES 1e5

#define HALF 0.5        /* of all the work of a step: what is solved then has less and less of its limit, */
#define LEAST_LEFT 0.03 /* down to this part of it */

#define PRODUCTS_A_SECOND 1e8 /* 3x3 products, of factorisations, at least */
#define TOTAL_LEAST 1e6       /* 3x3 products: a solution has the first methods of the chain, at least */

enum {
    ROUNDS_MAX = 8,
    ROUNDS_WITH_RETURN = 4, /* first ones, in which what was let go and presses is held again, cones or not */
    LET_GO_MOST = 2,        /* times that a contact is let go, before the cone next to its law takes its place */
    STEPS_BARRED = 9,       /* after a miss, in which no cones are tried: the same contacts seldom have better luck */
    /* Blocks of an island, at most: */
    FEW = 60,        /* in which cones are tried, */
    CHOOSES = 8,     /* and in which what departs is let go at once: of heaps the guess is too crude to say */
    SINGLY = 16,     /* and in which sets that hold are solved one after the other, */
    SETS = 24,       /* as where there are joints, and with cones where sticking misses */
    STEPS_APART = 25 /* of sticking, before contacts are in accord: what takes more is in conflict as a rule */
};

static void setTangential(double *bound, const unsigned char unused[3], double limit)
{
    for (int row = 1; row < 3; ++row) {
        bound[row] = unused[row] ? 0 : -limit;
        bound[3 + row] = unused[row] ? 0 : limit;
    }
}

static void setCoefficients(spragIsland *island, int k, const double mu[2])
{
    island->mu[k] = island->block[k].mu = mu[0];
    island->block[k].mu_minus = mu[1];
    if (island->mu_minus != NULL)
        island->mu_minus[k] = mu[1];
}

void spragPartingLaw(spragIsland *island, int k, spragBlockKind kind)
{
    const double mu = kind == SPRAG_BLOCK_CONTACT ? SPRAG_COEFFICIENT_INFINITE : 0;
    island->kind[k] = (unsigned char)kind;
    island->block[k].kind = kind;
    setCoefficients(island, k, (double[2]){mu, mu});
}

static int isHeld(const double bound[6])
{
    return bound[4] > 0 || bound[5] > 0;
}

/* 1: contact k has an infinite coefficient, as a BOX still. */
static int mayPart(const spragIsland *island, int k)
{
    return island->block[k].parts && island->block[k].kind == SPRAG_BLOCK_BOX;
}

static int isCone(const spragIsland *island, int k)
{
    return island->block[k].parts && island->block[k].kind == SPRAG_BLOCK_CONTACT;
}

static int hasCones(const spragIsland *island)
{
    int any = 0;
    for (int k = 0; k < island->block_count && !any; ++k)
        any = isCone(island, k);
    return any;
}

/* 1: contact k was open, or not there, and its guess is none. */
static int carriesNone(const spragIsland *island, int k)
{
    const spragContactHistory *past = &island->problem.history[k];
    const double *r = island->r + 3 * k;
    return (past->fresh || past->mode == SPRAG_MODE_OPEN) && !(r[0] > 0) && r[1] == 0 && r[2] == 0;
}

/* 1: some contact presses that was let go, and would be let go again if it were held, as a contact alone is at once. */
static int holdsInVain(const spragIsland *island, int round)
{
    const int most = island->block_count == 1 ? 1 : LET_GO_MOST;
    int vain = hasCones(island);
    for (int k = 0; k < island->block_count && !vain; ++k)
        vain = mayPart(island, k) && !isHeld(island->bound + 6 * k) && island->r[3 * k] > 0 &&
               (round >= ROUNDS_WITH_RETURN || island->block[k].let_go >= most);
    return vain;
}

/* Contact k is let go. */
static void release(spragIsland *island, int k)
{
    spragBlock *block = &island->block[k];
    setTangential(island->bound + 6 * k, block->unused, 0);
    island->r[3 * k + 1] = island->r[3 * k + 2] = 0;
    block->let_go = (unsigned char)(block->let_go + (block->let_go < LET_GO_MOST));
}

/* cones: 1: they may take the place of infinite friction.  1: some contact has another law now. */
static int releaseParting(spragIsland *island, int round, int cones)
{
    const int in_vain = cones && holdsInVain(island, round);
    int changed = 0;
    for (int k = 0; k < island->block_count; ++k) {
        if (!mayPart(island, k))
            continue;
        double *bound = island->bound + 6 * k, *r = island->r + 3 * k;
        const int held = isHeld(bound), presses = r[0] > 0;
        const int pulls = held && !presses && spragNorm2(r + 1) > 0 && island->u[3 * k] > SPRAG_SLIP_TOLERANCE;
        if (pulls)
            release(island, k);
        if (in_vain && (pulls || !held))
            spragPartingLaw(island, k, SPRAG_BLOCK_CONTACT);
        else if (!held && presses && (cones || round < ROUNDS_WITH_RETURN))
            setTangential(bound, island->block[k].unused, INFINITY);
        else if (!pulls)
            continue;
        changed = 1;
    }
    return changed;
}

/* A contact that slips back within the step stood still in between: it gets mu_static, which may hold it.  One that has
 * mu_static and slips all the same gets its kinetic coefficient.  1: some coefficient changed. */
static int holdOrSlip(spragIsland *island)
{
    const double still = spragStill(island->solve.residual);
    int changed = 0;
    for (int k = 0; k < island->block_count; ++k) {
        spragBlock *block = &island->block[k];
        const double *u = island->u + 3 * k + 1, *before = island->problem.history[k].slip;
        if (!block->differ || !(spragNorm2(u) > still))
            continue;
        if (block->hold == SPRAG_HOLD_NOT && u[0] * before[0] + u[1] * before[1] < 0) {
            setCoefficients(island, k, block->resting);
            block->hold = SPRAG_HOLD_STATIC;
        } else if (block->hold == SPRAG_HOLD_STATIC) {
            setCoefficients(island, k, block->kinetic);
            block->hold = SPRAG_HOLD_LOST;
        } else {
            continue;
        }
        changed = 1;
    }
    return changed;
}

static double workLeft(const spragIsland *island, double limit)
{
    if (!(island->work.spent > HALF * island->work.most))
        return limit;
    return limit * fmax(LEAST_LEFT, (1 - island->work.spent / island->work.most) / (1 - HALF));
}

/* Of all methods of a solution together; 0: no limit.  A method that is asked for by name, by the user as by
 * solveWedged, has all it needs for the first one of a step. */
static double totalLeft(const spragSolveOptions *options, const spragIsland *island)
{
    const int named = options->solver != SPRAG_SOLVER_AUTO && island->work.spent == 0;
    return named || !(island->work.most < INFINITY) ? 0 : fmax(TOTAL_LEAST, island->work.most - island->work.spent);
}

/* What has a limit has this one where cones stand for infinite friction. */
static void limitCones(spragSolveOptions *options, const spragIsland *island)
{
    if (!(options->work_total > 0) || !hasCones(island))
        return;
    options->work_limit = fmin(options->work_limit, WORK_CONES);
    options->work_total = fmin(options->work_total, WORK_CONES);
}

/* Of several motions the one that docs/theory.md 6 names.  In the limit of mu any force outweighs the separatrix, so
 * what carried none is let go where it departs, as the guess has it (LIFT: where it does without any force). */
static void letLeave(spragIndeterminacy policy, spragIsland *island)
{
    const int lift = policy == SPRAG_INDETERMINACY_LIFT;
    int known = 0;
    if (island->block_count > CHOOSES || policy == SPRAG_INDETERMINACY_JAM)
        return;
    for (int k = 0; k < island->block_count; ++k) {
        if (!mayPart(island, k) || !isHeld(island->bound + 6 * k) || !(lift || carriesNone(island, k)))
            continue;
        if (!known && !lift)
            spragProblemVelocity(&island->problem, island->r, island->u);
        known = 1;
        if ((lift ? island->problem.q : island->u)[3 * k] >= 0)
            setTangential(island->bound + 6 * k, island->block[k].unused, 0);
    }
}

/* The rounds of a solution. */
typedef struct Rounds {
    const spragSolveOptions *options;
    spragChainPart part, again; /* of the chain, in the first round and later */
    double begin;               /* s */
    int round;
    int cones;           /* 1: they may take the place of infinite friction */
    double *guess;       /* (3 block_count) r of the last step, if cones did so there; else NULL */
    double *kept;        /* (12 block_count) r, u, bound before cones did so in this step, to go back to; or NULL */
    spragSolveInfo info; /* as it was then */
    int *iterations;
} Rounds;

/* Begins without cones.  What was before says whether they are in vain, and what their guess is, if some contact slid
 * at the edge of one.  0: no memory. */
static int begin(Rounds *rounds, spragIsland *island)
{
    const size_t n = 3 * (size_t)island->block_count;
    int slid = 0;
    for (int k = 0; k < island->block_count; ++k) {
        spragBlock *block = &island->block[k];
        const double *r = island->r + 3 * k;
        const int cone = isCone(island, k);
        slid |=
            cone || (block->parts && spragNorm2(r + 1) > r[0] && island->problem.history[k].mode == SPRAG_MODE_SLIP);
        rounds->cones &= block->cone_barred == 0 || island->block_count == 1; /* one contact alone never misses */
        block->let_go = 0;
        if (cone)
            spragPartingLaw(island, k, SPRAG_BLOCK_BOX);
    }
    letLeave(rounds->options->indeterminacy, island);
    if (!slid || !rounds->cones)
        return 1;
    rounds->guess = SPRAG_TAKE_RAW(&island->lane->arena, double, n);
    if (rounds->guess != NULL)
        memcpy(rounds->guess, island->r, n * sizeof *rounds->guess);
    return rounds->guess != NULL;
}

/* Where cones are about to take the place of infinite friction, keeps what they may be taken back to.  0: no memory. */
static int keepBefore(Rounds *rounds, const spragIsland *island)
{
    const size_t n = (size_t)island->block_count;
    if (!rounds->cones || hasCones(island) || !holdsInVain(island, rounds->round))
        return 1;
    rounds->kept = SPRAG_TAKE_RAW(&island->lane->arena, double, 12 * n);
    if (rounds->kept == NULL)
        return 0;
    memcpy(rounds->kept, island->r, 3 * n * sizeof *rounds->kept);
    memcpy(rounds->kept + 3 * n, island->u, 3 * n * sizeof *rounds->kept);
    memcpy(rounds->kept + 6 * n, island->bound, 6 * n * sizeof *rounds->kept);
    rounds->info = island->solve;
    return 1;
}

/* What cones did not solve slides without friction. */
static void takeBefore(Rounds *rounds, spragIsland *island)
{
    const size_t n = (size_t)island->block_count;
    for (int k = 0; k < island->block_count; ++k)
        if (isCone(island, k)) {
            spragPartingLaw(island, k, SPRAG_BLOCK_BOX);
            island->block[k].cone_barred = STEPS_BARRED;
        }
    memcpy(island->r, rounds->kept, 3 * n * sizeof *rounds->kept);
    memcpy(island->u, rounds->kept + 3 * n, 3 * n * sizeof *rounds->kept);
    memcpy(island->bound, rounds->kept + 6 * n, 6 * n * sizeof *rounds->kept);
    island->solve = rounds->info;
    rounds->cones = 0;
    rounds->kept = NULL;
}

/* Before cones: a set of the contacts that holds while the others are open, unless a slide at the edge goes on, which
 * it may (docs/theory.md 6).  1: it is the answer; -1: no memory. */
static int holdsSome(Rounds *rounds, spragIsland *island)
{
    spragSolveOptions own = *rounds->options;
    if (rounds->guess != NULL)
        return 0;
    own.time_limit = spragTimeLeft(own.time_limit, rounds->begin);
    const int found = spragHoldSome(&own, island, rounds->iterations);
    if (found != 0)
        rounds->kept = NULL;
    return found;
}

/* 1: there is another round. */
static int goesOn(Rounds *rounds, spragIsland *island, spragStatus *status)
{
    const int before = hasCones(island);
    if (*status == SPRAG_ERROR_MEMORY || ++rounds->round >= ROUNDS_MAX)
        return 0;
    if (!keepBefore(rounds, island)) {
        *status = SPRAG_ERROR_MEMORY;
        return 0;
    }
    const int found = rounds->kept != NULL && !before ? holdsSome(rounds, island) : 0;
    if (found != 0) {
        *status = found < 0 ? SPRAG_ERROR_MEMORY : SPRAG_OK;
        return 0;
    }
    const int changed = releaseParting(island, rounds->round, rounds->cones) | holdOrSlip(island);
    if (rounds->guess != NULL && !before && hasCones(island))
        memcpy(island->r, rounds->guess, 3 * (size_t)island->block_count * sizeof *island->r);
    return changed;
}

static spragStatus solveRound(const Rounds *rounds, spragIsland *island)
{
    const spragSolveOptions *options = rounds->options;
    spragSolveOptions own = *options;
    own.time_limit = spragTimeLeft(options->time_limit, rounds->begin);
    own.work_limit = workLeft(island, ldexp(options->work_limit, -rounds->round)); /* from the last round's answer */
    own.work_total = totalLeft(&own, island);
    limitCones(&own, island);
    const spragStatus status = spragChainSolvePart(rounds->round > 0 ? rounds->again : rounds->part, &island->problem,
                                                   &own, &island->lane->arena, island->r, island->u, &island->solve);
    *rounds->iterations += island->solve.iterations;
    island->work.spent += island->solve.work;
    return status;
}

/* ---------------------------------------------------------------- who sticks, all at once */

static int beginsAnew(spragChainPart part)
{
    return part == SPRAG_CHAIN_WHOLE || part == SPRAG_CHAIN_SOON || part == SPRAG_CHAIN_BEGINNING ||
           part == SPRAG_CHAIN_BEGUN;
}

/* Contact k of those that may part holds as sticks (nc) has it, or all do (NULL). */
static void hold(spragIsland *island, const unsigned char *parts, const unsigned char *sticks)
{
    for (int k = 0; k < island->block_count; ++k)
        if (parts[k])
            setTangential(island->bound + 6 * k, island->block[k].unused, sticks == NULL || sticks[k] ? INFINITY : 0);
}

/* From the guess.  1: solved, and told; 0: not; -1: no memory. */
static int stick(const Rounds *rounds, spragIsland *island, const unsigned char *parts, unsigned char *sticks,
                 int steps)
{
    const spragSolveOptions *options = rounds->options;
    spragSolveOptions own = *options;
    spragSolveInfo info = {.solver = SPRAG_SOLVER_NEWTON};
    own.iteration_limit = steps;
    own.time_limit = spragTimeLeft(options->time_limit, rounds->begin);
    if (own.time_limit > 0) /* what a factorisation may cost */
        own.work_limit = fmin(own.work_limit > 0 ? own.work_limit : INFINITY, PRODUCTS_A_SECOND * own.time_limit);
    hold(island, parts, NULL);
    const spragStatus status =
        spragStickingSolve(&island->problem, parts, &own, &island->lane->arena, island->r, sticks, &info);
    *rounds->iterations += info.iterations;
    island->work.spent += info.work;
    if (status != SPRAG_OK)
        return status == SPRAG_ERROR_MEMORY ? -1 : 0;
    hold(island, parts, sticks);
    info.residual = spragProblemJudge(&island->problem, island->r, island->u);
    if (!(info.residual <= options->tolerance))
        return 0;
    info.status = SPRAG_OK;
    info.method_iterations[SPRAG_SOLVER_NEWTON] = info.iterations;
    island->solve = info;
    return 1;
}

/* The same, with contacts in accord if they can be, and are not yet.  kept (3 nc): the guess. */
static int stickInAccord(const Rounds *rounds, spragIsland *island, const unsigned char *parts, unsigned char *sticks,
                         const double *kept)
{
    const int anew = island->before.accord >= 0 && spragAccordSuits(island);
    const int found = stick(rounds, island, parts, sticks, anew ? STEPS_APART : 0);
    const double left = spragTimeLeft(rounds->options->time_limit, rounds->begin);
    if (found != 0 || !anew || (left > 0 && left <= SPRAG_TIME_LEAST))
        return found;
    if (!spragAccordMake(island))
        return -1;
    if (!(island->accord.apart > rounds->options->tolerance))
        spragAccordTakeBack(island);
    memcpy(island->r, kept, 3 * (size_t)island->block_count * sizeof *kept);
    return stick(rounds, island, parts, sticks, 0);
}

/* What has been let go is not held again. */
static void goOnFromSticking(Rounds *rounds)
{
    rounds->round = ROUNDS_WITH_RETURN;
    rounds->cones = 0;
    rounds->guess = NULL;
}

static int someSlides(const spragIsland *island, const unsigned char *parts, const unsigned char *sticks)
{
    int any = 0;
    for (int k = 0; k < island->block_count; ++k)
        any |= parts[k] && !sticks[k] && island->r[3 * k] > 0;
    return any;
}

/* All that stick at once, before each set of them is a problem of its own (sticking.h).  Where that misses, the rounds
 * of a larger island begin with what stuck in the end, and hold no more than that.  Few contacts of which one slides
 * have sets that hold, and cones.  1: it is the answer; -1: no memory. */
static int findSticking(Rounds *rounds, spragIsland *island)
{
    const size_t n = (size_t)island->block_count;
    spragArena *arena = &island->lane->arena;
    const spragSolveOptions *options = rounds->options;
    const int alone = island->contact_count == island->joint_count;
    if (n <= (alone ? SINGLY : SETS) || island->bound == NULL || (n <= SETS && rounds->guess != NULL) ||
        options->solver != SPRAG_SOLVER_AUTO || options->iteration_limit > 0)
        return 0;
    unsigned char *parts = SPRAG_TAKE_RAW(arena, unsigned char, n), *sticks = SPRAG_TAKE_RAW(arena, unsigned char, n);
    double *kept = SPRAG_TAKE_RAW(arena, double, 9 * n);
    if (parts == NULL || sticks == NULL || kept == NULL)
        return -1;
    for (int k = 0; k < island->block_count; ++k)
        parts[k] = mayPart(island, k) != 0;
    if (!spragStickingSuits(&island->problem, parts))
        return 0;
    if (!beginsAnew(rounds->part)) { /* it has missed before */
        if (n > SETS)
            goOnFromSticking(rounds);
        return 0;
    }
    if (spragProblemJudge(&island->problem, island->r, island->u) <= options->tolerance)
        return 0;
    memcpy(kept, island->r, 3 * n * sizeof *kept);
    memcpy(kept + 3 * n, island->bound, 6 * n * sizeof *kept);
    const int found = stickInAccord(rounds, island, parts, sticks, kept);
    if (found < 0 || (found > 0 && (n > SETS || !someSlides(island, parts, sticks))))
        return found;
    memcpy(island->r, kept, 3 * n * sizeof *kept);
    memcpy(island->bound, kept + 3 * n, 6 * n * sizeof *kept);
    if (n > SETS) {
        hold(island, parts, sticks);
        goOnFromSticking(rounds);
    }
    return 0;
}

spragStatus spragPartingSolve(spragChainPart part, const spragSolveOptions *options, spragIsland *island,
                              int *iterations)
{
    spragArena *arena = &island->lane->arena;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const int on = spragChainGoesOn(&island->problem, options, part);
    Rounds rounds = {.options = options,
                     .part = part,
                     .again = part == SPRAG_CHAIN_BEGUN           ? SPRAG_CHAIN_BEGINNING /* another problem */
                              : on && part != SPRAG_CHAIN_DOUBTED ? SPRAG_CHAIN_WHOLE
                                                                  : part,
                     .begin = options->time_limit > 0 ? spragSeconds() : 0,
                     .cones = island->block_count <= FEW,
                     .iterations = iterations};
    spragStatus status = begin(&rounds, island) ? SPRAG_OK : SPRAG_ERROR_MEMORY;
    const int found = status == SPRAG_OK ? findSticking(&rounds, island) : 0;
    status = found < 0 ? SPRAG_ERROR_MEMORY : status;
    int more = status == SPRAG_OK && found == 0;
    while (more) {
        status = solveRound(&rounds, island);
        more = goesOn(&rounds, island, &status);
        if (more || status == SPRAG_ERROR_MEMORY || rounds.kept == NULL ||
            island->solve.residual <= fmax(options->tolerance, options->enough))
            continue;
        takeBefore(&rounds, island);
        status = island->solve.status;
        more = goesOn(&rounds, island, &status);
    }
    if (hasCones(island)) /* paradoxes of their coefficient, not of an infinite one */
        island->solve.several = island->solve.none = 0;
    spragArenaRelease(arena, mark);
    return status;
}
