#include "ode/islands/release.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "ode/islands/hold_some.h"
#include "ode/islands/soften.h"
#include "ode/matrix/conflict.h"
#include "ode/work/heap.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"

/* Limit of work where a wedge stands against a rigid solution, in 3x3 products: some 10 ms.  (Of the solutions that are
 * found at all for boxes pushed by a wall, four fifths are found within it; the others took up to 0.4 s.) */
#define WORK_DESPITE 1e7

/* The same at least, whatever its haste, of an island whose contacts yield: to ask for its wedge took longer. */
#define WORK_YIELDING 1e7

/* The same of the first methods of an island of more than FEW blocks, before it is asked for a wedge. */
#define WORK_BEFORE 6e6

#define MU_MODEST 2 /* friction up to which a wedge is rare */
/* Of a heap of mechanisms that tumbles (fall.h), some 8 ms; of what missed FAR_OFF in this step half as much each
 * time, down to an eighth. */
#define WORK_TUMBLING 3e6
#define TUMBLING 1e-4 /* m/s: is enough for one that falls */

/* The same of cones in place of infinite friction, some 0.3 ms.  (With 3e6, ten times the time is spent on the half of
 * what is left; a doll on the ground took 12 ms in a step.) */
#define WORK_CONES 1e5

#define HALF 0.5        /* of all the work of a step: what is solved then has less and less of its limit, */
#define LEAST_LEFT 0.03 /* down to this part of it */

#define TOTAL_LEAST 1e6 /* 3x3 products: a solution has the first methods of the chain, at least */

#define FAR_OFF 1e-3 /* m/s: piles that fall end below it as a rule, with a wedge they do not */

enum {
    ROUNDS_WITH_RETURN = 4,
    LET_GO_MOST = 2, /* times that a contact is let go, before the cone next to its law takes its place */
    ROUNDS_MAX = 8,
    MISSES_TUMBLING = 3,
    MISSES_PATIENT =
        2, /* misses of an island in one step, after which methods get no more than STEPS_PROMPT iterations: */
    STEPS_PROMPT = 300, /* joints in conflict are solved again for each bound, motor and surge */
    VAIN_STEPS = 9,     /* that cones are not tried in after a miss: the same contacts seldom have better luck */
    FEW = 60,           /* blocks that are swept in some microseconds, at most */
    LARGE = 200,        /* blocks: more are asked for a wedge only where they end far off */
    FEW_SQUEEZED = 24   /* blocks of an island that is asked for a squeeze under a limit too: some 0.1 ms */
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

void spragReleaseLaw(spragIsland *island, int k, spragBlockKind kind)
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
            spragReleaseLaw(island, k, SPRAG_BLOCK_CONTACT);
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
    if (!(island->spent > HALF * island->most))
        return limit;
    return limit * fmax(LEAST_LEFT, (1 - island->spent / island->most) / (1 - HALF));
}

/* Of all methods of a solution together; 0: no limit.  A method that is asked for by name, by the user as by
 * solveWedged, has all it needs for the first one of a step. */
static double totalLeft(const spragSolveOptions *options, const spragIsland *island)
{
    const int named = options->solver != SPRAG_SOLVER_AUTO && island->spent == 0;
    return named || !(island->most < INFINITY) ? 0 : fmax(TOTAL_LEAST, island->most - island->spent);
}

/* What has a limit has this one where cones stand for infinite friction. */
static void limitCones(spragSolveOptions *options, const spragIsland *island)
{
    if (!(options->work_total > 0) || !hasCones(island))
        return;
    options->work_limit = fmin(options->work_limit, WORK_CONES);
    options->work_total = fmin(options->work_total, WORK_CONES);
}

/* The rounds of a solution. */
typedef struct Rounds {
    const spragSolveOptions *options;
    spragChainPart part, again; /* of the chain, in the first round and later */
    double begin;               /* s */
    int round, cones;           /* cones: 1: they may take the place of infinite friction */
    double *guess;              /* (3 block_count) r of the last step, if they did there; else NULL */
    double *kept;               /* (12 block_count) r, u, bound before they did, to be taken back; or NULL */
    spragSolveInfo info;        /* the same */
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
        rounds->cones &= block->vain == 0;
        block->let_go = 0;
        if (cone)
            spragReleaseLaw(island, k, SPRAG_BLOCK_BOX);
    }
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
            spragReleaseLaw(island, k, SPRAG_BLOCK_BOX);
            island->block[k].vain = VAIN_STEPS;
        }
    memcpy(island->r, rounds->kept, 3 * n * sizeof *rounds->kept);
    memcpy(island->u, rounds->kept + 3 * n, 3 * n * sizeof *rounds->kept);
    memcpy(island->bound, rounds->kept + 6 * n, 6 * n * sizeof *rounds->kept);
    island->solve = rounds->info;
    rounds->cones = 0;
    rounds->kept = NULL;
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
    island->spent += island->solve.work;
    return status;
}

spragStatus spragPartingSolve(spragChainPart part, const spragSolveOptions *options, spragIsland *island,
                              int *iterations)
{
    spragArena *arena = &island->lane->arena;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const int on = spragChainGoesOn(&island->problem, options, part);
    Rounds rounds = {.options = options,
                     .part = part,
                     .again = on && part != SPRAG_CHAIN_DOUBTED ? SPRAG_CHAIN_WHOLE : part, /* another problem */
                     .begin = options->time_limit > 0 ? spragSeconds() : 0,
                     .cones = island->block_count <= FEW,
                     .iterations = iterations};
    spragStatus status = begin(&rounds, island) ? SPRAG_OK : SPRAG_ERROR_MEMORY;
    int more = status == SPRAG_OK;
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
    spragArenaRelease(arena, mark);
    return status;
}

/* Is the answer too far off to be one?  Huge impulses that miss the tolerance, however little they miss it by, are no
 * answer: they come from a wedge between contacts that are all but rigid.  (Not so where infinite friction is in
 * conflict: that is told of as it is.) */
static int isFar(const spragSolveOptions *options, const spragIsland *island)
{
    const double residual = island->solve.residual;
    return !(residual <= fmax(SPRAG_MISSED, options->enough)) ||
           (residual > options->tolerance && spragImpulsesAreHuge(&island->problem, island->r) &&
            !spragConflicts(island));
}

static int isMissed(const spragSolveOptions *options, const spragIsland *island, spragStatus status)
{
    return status == SPRAG_NOT_CONVERGED && isFar(options, island);
}

/* 1: the island is squeezed (soften.h), or there is no memory.  r: the guess, which is judged. */
static int isSqueezed(const spragSolveOptions *options, spragIsland *island, spragStatus *status)
{
    *status = SPRAG_NOT_CONVERGED;
    if (spragHasInfinite(island))
        return 0;
    if (spragSqueezeFind(island) == SPRAG_ERROR_MEMORY)
        *status = SPRAG_ERROR_MEMORY;
    if (island->squeezed) {
        spragProblemVelocity(&island->problem, island->r, island->u);
        island->solve.residual = spragProblemJudge(&island->problem, island->r, island->u);
    }
    if (*status == SPRAG_ERROR_MEMORY || (island->squeezed && isFar(options, island)))
        return 1;
    island->wedge = island->squeezed = 0; /* the guess is near enough: nothing yields */
    return 0;
}

/* An island that was wedged in the last step may still be: the mode search alone is tried before a wedge is looked for,
 * unless it is squeezed, which costs a tenth of that to ask (and is not asked of what was none in the last steps).
 * Where infinite friction is in conflict still, contacts yield.
 * If it was wedged in this step (again), with other bounds or corrections, not even that is.  1: it is solved, wedged,
 * or there is no memory; 0: neither. */
static int solveWedged(const spragSolveOptions *options, spragIsland *island, int again, int *iterations,
                       spragStatus *status)
{
    spragSolveOptions own = *options;
    if ((!island->wedged_before && !again) || own.solver != SPRAG_SOLVER_AUTO)
        return 0;
    own.solver = SPRAG_SOLVER_VARIANT;
    if (!again && island->unsqueezed == 0 && isSqueezed(options, island, status))
        return 1;
    island->wedge = 0;
    if (!again && island->block_count <= FEW) {
        *status = spragPartingSolve(SPRAG_CHAIN_WHOLE, &own, island, iterations);
    } else {
        island->solve.residual = spragProblemJudge(&island->problem, island->r, island->u);
        *status = SPRAG_NOT_CONVERGED;
    }
    if (*status == SPRAG_ERROR_MEMORY || !isFar(options, island))
        return !again;
    if (spragProblemIsGlued(&island->problem) && spragConflicts(island))
        return 1;
    if (spragWedgeFind(island) == SPRAG_ERROR_MEMORY)
        *status = SPRAG_ERROR_MEMORY;
    island->guides_yield |= island->wedge > 0 && island->wedged_before > 1; /* yielding contacts were not enough */
    return *status == SPRAG_ERROR_MEMORY || island->wedge > 0;
}

/* An island whose answer came from a late link of the chain in the last step: that link is tried first.  1: it is
 * solved, or there is no memory. */
static int solveHard(const spragSolveOptions *options, spragIsland *island, const double *guess, int *iterations,
                     spragStatus *status)
{
    if (!island->hard_before || island->block_count > FEW || options->solver != SPRAG_SOLVER_AUTO || island->vain)
        return 0;
    *status = spragPartingSolve(SPRAG_CHAIN_AGAIN, options, island, iterations);
    island->vain = *status != SPRAG_OK && *status != SPRAG_ERROR_MEMORY;
    island->hard = !island->vain && island->solve.fallback;
    island->solve.fallback = 0; /* it was found, and quickly */
    if (island->vain)
        memcpy(island->r, guess, 3 * (size_t)island->block_count * sizeof *guess);
    return !island->vain;
}

/* The rest of the chain; with less work where a wedge stands against a solution, since contacts can yield instead. */
static spragStatus goOn(const spragSolveOptions *options, spragIsland *island, spragChainPart rest, int *iterations)
{
    spragSolveOptions own = *options;
    if (!(island->wedge > 0))
        return spragPartingSolve(rest, options, island, iterations);
    if (spragHasInfinite(island)) /* what answers there are took 30 to 240 ms */
        return SPRAG_NOT_CONVERGED;
    own.work_limit = own.work_limit > 0 ? fmin(own.work_limit, WORK_DESPITE) : WORK_DESPITE;
    const spragChainPart despite = rest == SPRAG_CHAIN_DOUBTED ? rest : SPRAG_CHAIN_DESPITE;
    const spragStatus status = spragPartingSolve(despite, &own, island, iterations);
    if (status == SPRAG_OK || !isFar(options, island))
        island->wedge = 0;
    return status;
}

/* 1: the first methods have a part of the work, as a miss of theirs may be a wedge, and `enough` is asked for. */
static int isAskedEarly(const spragSolveOptions *options, const spragIsland *island)
{
    return options->solver == SPRAG_SOLVER_AUTO && options->enough > options->tolerance && island->block_count > FEW &&
           (options->work_limit > WORK_BEFORE || island->doubt > 0);
}

/* 1: it may be asked for a wedge as soon as the first methods have failed: it has all the time that it takes. */
static int mayBeAsked(const spragSolveOptions *options, const spragIsland *island)
{
    return options->solver == SPRAG_SOLVER_AUTO && options->work_limit > 0 && options->iteration_limit == 0 &&
           !(options->time_limit > 0) && !spragProblemIsGlued(&island->problem);
}

static int frictionIsModest(const spragIsland *island)
{
    int modest = 1;
    for (int k = 0; k < island->block_count && modest; ++k)
        modest = island->block[k].mu <= MU_MODEST;
    return modest;
}

/* 1: it ended so far off that it may be wedged. */
static int mayBeWedged(const spragSolveOptions *options, const spragIsland *island)
{
    return isFar(options, island) && (island->block_count <= LARGE || !(island->solve.residual <= FAR_OFF));
}

/* The chain to the tolerance.  After the mode search or the sweeps, whichever comes first: a squeeze, which no rigid
 * motion solves, ends it; against a wedge only what may find a solution despite it goes on (not with high friction,
 * where nearly every contact is part of one). */
static spragStatus solveExactly(const spragSolveOptions *options, spragIsland *island, int *iterations)
{
    spragStatus status = spragPartingSolve(SPRAG_CHAIN_SOON, options, island, iterations);
    if (status != SPRAG_NOT_CONVERGED)
        return status;
    const int asked = mayBeWedged(options, island);
    if (asked && spragSqueezeFind(island) == SPRAG_ERROR_MEMORY)
        return SPRAG_ERROR_MEMORY;
    if (island->squeezed)
        return status;
    if (asked && island->block_count <= LARGE && (frictionIsModest(island) || spragHasInfinite(island)) &&
        spragWedgeFind(island) == SPRAG_ERROR_MEMORY)
        return SPRAG_ERROR_MEMORY;
    if (island->wedge > 0)
        return goOn(options, island, SPRAG_CHAIN_DOUBTED, iterations);
    status = spragPartingSolve(SPRAG_CHAIN_LATER, options, island, iterations);
    if (status == SPRAG_NOT_CONVERGED && mayBeWedged(options, island) && spragWedgeFind(island) == SPRAG_ERROR_MEMORY)
        return SPRAG_ERROR_MEMORY;
    return status;
}

/* After a miss.  0: no memory. */
static int findWedge(const spragSolveOptions *options, spragIsland *island)
{
    return !mayBeWedged(options, island) || spragConflicts(island) || spragWedgeFind(island) != SPRAG_ERROR_MEMORY;
}

/* A wedge is looked for after the first links of the chain, which have so much work; then the rest. */
static spragStatus solveDoubted(const spragSolveOptions *options, spragIsland *island, double work, int doubts,
                                int *iterations)
{
    spragSolveOptions first = *options;
    first.work_limit = work;
    const spragStatus status =
        spragPartingSolve(doubts ? SPRAG_CHAIN_SOON : SPRAG_CHAIN_BEGINNING, &first, island, iterations);
    if (status == SPRAG_LIMIT && isFar(options, island)) /* a limit, not a miss: no wedge is looked for */
        return spragPartingSolve(SPRAG_CHAIN_DESPITE, options, island, iterations);
    if (!isMissed(options, island, status))
        return status;
    return findWedge(options, island) ? goOn(options, island, doubts ? SPRAG_CHAIN_WHOLE : SPRAG_CHAIN_REST, iterations)
                                      : SPRAG_ERROR_MEMORY;
}

/* The chain.  Where it misses, a wedge is looked for, which says that there may be no rigid solution.  In small islands
 * with guides, and where spragChainIsPrompt, that is asked after the first links; else after all of them.  With guides,
 * later links seldom find what the first did not: Newton's equations know no interior of the cones of guides
 * (solve/newton/cones.h). */
static spragStatus solveRigid(const spragSolveOptions *options, spragIsland *island, const double *guess, int again,
                              int *iterations)
{
    const int guides = options->solver == SPRAG_SOLVER_AUTO && island->block_count <= FEW && spragHasGuides(island);
    const int large = isAskedEarly(options, island);
    const int conflicts = spragHasInfinite(island) && !spragProblemIsGlued(&island->problem); /* perhaps */
    spragSolveOptions own = *options;
    spragStatus status;
    if (solveWedged(options, island, again, iterations, &status))
        return status;
    if (!again && !island->wedged_before && solveHard(options, island, guess, iterations, &status))
        return status;
    if (large)
        own.work_limit = fmin(own.work_limit, WORK_BEFORE);
    if (!conflicts && (guides || large || spragChainIsPrompt(&island->problem, options)))
        return solveDoubted(options, island, own.work_limit, !guides && island->doubt > 0, iterations);
    if (mayBeAsked(options, island))
        return solveExactly(options, island, iterations);
    status = spragPartingSolve(SPRAG_CHAIN_WHOLE, &own, island, iterations);
    return !isMissed(options, island, status) || findWedge(options, island) ? status : SPRAG_ERROR_MEMORY;
}

/* No wedge is looked for, as what comes next is another problem; but a squeeze is, which stays from step to step: one
 * doll stuck between stairs kept its heap at 1 m/s. */
static spragStatus solveTumbling(const spragSolveOptions *options, spragIsland *island, int again, int *iterations)
{
    spragSolveOptions own = *options;
    spragStatus status;
    if ((again || island->wedged_before) && isSqueezed(options, island, &status))
        return status;
    own.tolerance = fmax(own.tolerance, TUMBLING);
    own.work_limit = ldexp(WORK_TUMBLING, -(island->missed < MISSES_TUMBLING ? island->missed : MISSES_TUMBLING));
    status = spragPartingSolve(SPRAG_CHAIN_TUMBLING, &own, island, iterations);
    if (status != SPRAG_NOT_CONVERGED)
        return status;
    const int far = !(island->solve.residual <= FAR_OFF);
    island->missed += far;
    if (far && !spragHasInfinite(island) && spragSqueezeFind(island) == SPRAG_ERROR_MEMORY)
        return SPRAG_ERROR_MEMORY;
    return island->squeezed ? status : SPRAG_LIMIT;
}

/* Is a wedge that was not asked so yet a squeeze?  (Of a large island the next step asks.)  1: no memory. */
static int nameSqueeze(spragIsland *island, spragStatus *status)
{
    if (!island->wedged_before && island->wedge > 0 && island->block_count <= LARGE &&
        spragSqueezeFind(island) == SPRAG_ERROR_MEMORY)
        *status = SPRAG_ERROR_MEMORY;
    return *status == SPRAG_ERROR_MEMORY;
}

/* A solution, and what the step has learnt of the island before it. */
typedef struct Release {
    spragIsland *island;
    spragSolveOptions options; /* with the time that is left */
    int limited;               /* 1: the user has set a limit on steps or time */
    int asks;                  /* 1: it is asked for wedges */
    int few;                   /* 1: under a time limit it is asked for a squeeze all the same */
    int tumbles;               /* 1: a heap of mechanisms that falls */
    int again;                 /* 1: contacts have yielded in this step */
    double *guess;             /* of what was wedged or hard; else NULL */
    int iterations;
} Release;

/* 1: it ended, by its work or in vain, farther off than is kept without another try. */
static int isLeftFar(const Release *release, spragStatus status)
{
    return status != SPRAG_OK && status != SPRAG_ERROR_MEMORY && isFar(&release->options, release->island);
}

/* Keeps the guess where it is of use to what was wedged or hard.  0: no memory. */
static int keepGuess(Release *release)
{
    const spragIsland *island = release->island;
    const int wanted = release->again || island->wedged_before || island->hard_before;
    if (!wanted || !(release->asks || release->few))
        return 1;
    const size_t n = 3 * (size_t)island->block_count;
    release->guess = SPRAG_TAKE_RAW(&island->lane->arena, double, n);
    if (release->guess != NULL)
        memcpy(release->guess, island->r, n * sizeof *release->guess);
    return release->guess != NULL;
}

/* As if all were rigid. */
static spragStatus solveFirst(Release *release)
{
    const spragSolveOptions *options = &release->options;
    spragIsland *island = release->island;
    spragStatus status = SPRAG_NOT_CONVERGED;
    if (release->tumbles)
        return solveTumbling(options, island, release->again, &release->iterations);
    if (release->asks)
        return solveRigid(options, island, release->guess, release->again, &release->iterations);
    if (release->few && (release->again || island->wedged_before) && isSqueezed(options, island, &status))
        return status;
    const spragChainPart part = island->waits == SPRAG_WAITS_FOR_TRY ? SPRAG_CHAIN_BEGINNING : SPRAG_CHAIN_WHOLE;
    return spragPartingSolve(part, options, island, &release->iterations);
}

/* Where contacts of mu = infinity are in conflict, or wedged, some of them may hold while the others open.  In a
 * larger wedge that lasts that is asked as seldom as whether it is a squeeze (hindsight.h). */
static spragStatus holdSome(Release *release, spragStatus status)
{
    spragIsland *island = release->island;
    if (status == SPRAG_ERROR_MEMORY || !release->asks || release->tumbles || !spragHasInfinite(island) ||
        !(island->wedge > 0 || spragConflicts(island)) ||
        (island->block_count > SPRAG_HOLD_FEW && island->unsqueezed > 0 && (island->wedged_before || release->again)))
        return status;
    const int found = spragHoldSome(&release->options, island, &release->iterations);
    if (found <= 0) {
        island->unsqueezed = SPRAG_UNSQUEEZED;
        return found < 0 ? SPRAG_ERROR_MEMORY : status;
    }
    island->wedge = island->squeezed = 0;
    return SPRAG_OK;
}

/* What contacts that are in conflict or wedged leave far off: they yield. */
static spragStatus yield(Release *release, spragStatus status)
{
    spragIsland *island = release->island;
    if (!isLeftFar(release, status) || !(island->wedge > 0 || spragConflicts(island)) || nameSqueeze(island, &status))
        return status;
    spragSolveOptions *options = &release->options;
    const double most = island->most; /* which the first yielding of a step may go beyond */
    options->work_limit = options->work_limit > 0 ? fmax(options->work_limit, WORK_YIELDING) : 0;
    island->most = release->again ? most : fmax(most, island->spent + WORK_YIELDING);
    const double *guess = release->again || island->wedged_before ? release->guess : NULL;
    status = spragYieldingSolve(options, island, guess, &release->iterations);
    island->most = most;
    return status;
}

/* Under a limit, where nothing has been asked: some sweeps in which contacts yield, and is it a squeeze? */
static spragStatus yieldInHaste(Release *release, spragStatus status)
{
    spragIsland *island = release->island;
    if (release->limited && isLeftFar(release, status) && island->block_count <= FEW && !(island->wedge > 0) &&
        !spragConflicts(island))
        status = spragYieldingSweep(&release->options, island, &release->iterations);
    if (release->limited && isLeftFar(release, status) && !spragProblemIsLean(&island->problem) && !(island->wedge > 0))
        status = spragSlippingSweep(&release->options, island, &release->iterations);
    if (release->few && isLeftFar(release, status) && !(island->wedge > 0) &&
        spragSqueezeFind(island) == SPRAG_ERROR_MEMORY)
        status = SPRAG_ERROR_MEMORY;
    return status;
}

spragStatus spragReleaseSolve(const spragSolveOptions *given, spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const int most = island->lean ? LARGE : SPRAG_WEDGED_MOST, timed = given->time_limit > 0;
    const double begin = timed ? spragSeconds() : 0;
    Release release = {.island = island,
                       .options = *given,
                       .limited = timed || given->iteration_limit > 0,
                       .asks = !island->waits && !timed && island->block_count <= most,
                       .few = timed && given->solver == SPRAG_SOLVER_AUTO && island->block_count <= FEW_SQUEEZED,
                       .tumbles = island->tumbles && spragChainApproaches(&island->problem, given),
                       .again = island->wedge > 0};
    if (release.asks && !release.tumbles && island->haste == 0 && island->missed >= MISSES_PATIENT &&
        given->iteration_limit == 0)
        release.options.iteration_limit = STEPS_PROMPT;
    if (!keepGuess(&release))
        return SPRAG_ERROR_MEMORY;
    island->wedge = island->squeezed = 0;
    spragStatus status = solveFirst(&release);
    release.options.time_limit = spragTimeLeft(given->time_limit, begin);
    status = holdSome(&release, status);
    status = yield(&release, status);
    status = yieldInHaste(&release, status);
    spragArenaRelease(arena, mark);
    island->solve.iterations = release.iterations;
    /* A try that misses is no answer yet. */
    island->missed += !island->waits && isMissed(&release.options, island, status);
    if (status != SPRAG_ERROR_MEMORY && !(island->wedge > 0) && spragConflicts(island))
        spragYieldTell(island);
    return status;
}
