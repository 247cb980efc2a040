#include "ode/islands/release.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "ode/islands/hold_some.h"
#include "ode/islands/parting.h"
#include "ode/islands/soften.h"
#include "ode/ledger/hindsight.h"
#include "ode/matrix/accord.h"
#include "ode/matrix/conflict.h"
#include "ode/work/heap.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"

/* Limits of work, in 3x3 products.
 *
 * BEFORE: of the first methods of an island of more than FEW blocks, before it is asked for a wedge.  DESPITE: where a
 * wedge stands against a rigid solution, some 10 ms.  (Of the solutions that are found at all for boxes pushed by a
 * wall, four fifths are found within it; the others took up to 0.4 s.)  YIELDING: at least, of an island whose contacts
 * yield, whatever its haste: to ask for its wedge took longer.  TUMBLING: of a heap of mechanisms that falls (fall.h),
 * some 8 ms; after each miss of a step half as much. */
#define WORK_BEFORE 6e6
#define WORK_DESPITE 1e7
#define WORK_YIELDING 1e7
#define WORK_TUMBLING 3e6
/* Velocities, m/s: */
#define TUMBLING 1e-4  /* enough for such a heap */
#define SQUEEZING 1e-4 /* half of how fast what corrections squeeze closes is less */
#define FAR_OFF 1e-3   /* piles that fall end below it as a rule, with a wedge they do not */

#define MU_MODEST 2 /* friction up to which a wedge is rare */

enum {
    MISSES_TUMBLING = 3, /* more of them halve the work no further */
    MISSES_PATIENT = 2,  /* of an island in one step: after these methods have at most STEPS_PROMPT iterations, */
    STEPS_PROMPT = 300,  /* as joints in conflict are solved again for each bound, motor and surge */
    /* Blocks: */
    FEW = 60,         /* are swept in some microseconds, at most */
    LARGE = 200,      /* more are asked for a wedge only where they end far off */
    FEW_SQUEEZED = 24 /* are asked for a squeeze under a limit too: some 0.1 ms */
};

/* A solution, and what the step has learnt of the island before it. */
typedef struct Release {
    spragIsland *island;
    spragSolveOptions options; /* with the time that is left */
    int limited;               /* 1: the user has set a limit on steps or time */
    int asks;                  /* 1: it is asked for wedges */
    int few;                   /* 1: under a time limit it is asked for a squeeze all the same */
    int tumbles;               /* 1: a heap of mechanisms that falls */
    int again;                 /* 1: contacts have yielded in this step */
    double *guess;             /* (block_count x 3) N s, if it asks or is few; else NULL */
    int iterations;
} Release;

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
    if (island->wedge.squeezed) {
        spragProblemVelocity(&island->problem, island->r, island->u);
        island->solve.residual = spragProblemJudge(&island->problem, island->r, island->u);
    }
    if (*status == SPRAG_ERROR_MEMORY || (island->wedge.squeezed && isFar(options, island)))
        return 1;
    island->wedge.speed = island->wedge.squeezed = 0; /* the guess is near enough: nothing yields */
    return 0;
}

/* An island that was wedged in the last step may still be: the mode search alone is tried before a wedge is looked for,
 * unless it is squeezed, which costs a tenth of that to ask (and is not asked of what was none in the last steps).
 * Where infinite friction is in conflict still, contacts yield.
 * If it was wedged in this step (again), with other bounds or corrections, not even that is.  1: it is solved, wedged,
 * or there is no memory; 0: neither. */
static int solveWedged(Release *release, spragStatus *status)
{
    const spragSolveOptions *options = &release->options;
    spragIsland *island = release->island;
    const int again = release->again;
    spragSolveOptions own = *options;
    if ((!island->before.wedged && !again) || own.solver != SPRAG_SOLVER_AUTO)
        return 0;
    own.solver = SPRAG_SOLVER_VARIANT;
    if (!again && island->wedge.unsqueezed == 0 && isSqueezed(options, island, status))
        return 1;
    island->wedge.speed = 0;
    if (!again && island->block_count <= FEW) {
        *status = spragPartingSolve(SPRAG_CHAIN_WHOLE, &own, island, &release->iterations);
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
    if (island->before.wedged > 1 && island->wedge.speed > 0) /* yielding contacts were not enough */
        island->wedge.guides = 1;
    return *status == SPRAG_ERROR_MEMORY || island->wedge.speed > 0;
}

/* The rest of the chain; with less work where a wedge stands against a solution, since contacts can yield instead. */
static spragStatus goOn(Release *release, spragChainPart rest)
{
    const spragSolveOptions *options = &release->options;
    spragIsland *island = release->island;
    spragSolveOptions own = *options;
    if (!(island->wedge.speed > 0))
        return spragPartingSolve(rest, options, island, &release->iterations);
    if (spragHasInfinite(island)) /* what answers there are took 30 to 240 ms */
        return SPRAG_NOT_CONVERGED;
    own.work_limit = own.work_limit > 0 ? fmin(own.work_limit, WORK_DESPITE) : WORK_DESPITE;
    const spragChainPart despite = rest == SPRAG_CHAIN_DOUBTED ? rest : SPRAG_CHAIN_DESPITE;
    const spragStatus status = spragPartingSolve(despite, &own, island, &release->iterations);
    if (status == SPRAG_OK || !isFar(options, island))
        island->wedge.speed = 0;
    return status;
}

/* 1: the first methods have a part of the work, as a miss of theirs may be a wedge, and `enough` is asked for. */
static int isAskedEarly(const spragSolveOptions *options, const spragIsland *island)
{
    return options->solver == SPRAG_SOLVER_AUTO && options->enough > options->tolerance && island->block_count > FEW &&
           (options->work_limit > WORK_BEFORE || island->before.doubt > 0);
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

/* After a search in vain: once more from the guess, with contacts in accord (accord.h), as what the first has come to
 * leads nowhere.  Where that is in vain too, all is as it was. */
static spragStatus solveInAccord(Release *release)
{
    spragIsland *island = release->island;
    const spragSolveOptions *options = &release->options;
    const size_t n = 3 * (size_t)island->block_count;
    spragArena *arena = &island->lane->arena;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    double *ended = SPRAG_TAKE_RAW(arena, double, n);
    if (ended == NULL || !spragAccordMake(island))
        return SPRAG_ERROR_MEMORY;
    spragStatus status = SPRAG_NOT_CONVERGED;
    if (island->accord.apart > options->tolerance) {
        memcpy(ended, island->r, n * sizeof *ended);
        memcpy(island->r, release->guess, n * sizeof *ended);
        status = spragPartingSolve(SPRAG_CHAIN_SOON, options, island, &release->iterations);
        if (status == SPRAG_NOT_CONVERGED) {
            spragAccordTakeBack(island);
            memcpy(island->r, ended, n * sizeof *ended);
        }
    }
    spragArenaRelease(arena, mark);
    return status;
}

/* The chain to the tolerance.  After the mode search or the sweeps, whichever comes first: a squeeze, which no rigid
 * motion solves, ends it; against a wedge only what may find a solution despite it goes on (not with high friction,
 * where nearly every contact is part of one). */
static spragStatus solveExactly(Release *release)
{
    const spragSolveOptions *options = &release->options;
    spragIsland *island = release->island;
    spragStatus status = spragPartingSolve(SPRAG_CHAIN_SOON, options, island, &release->iterations);
    if (status != SPRAG_NOT_CONVERGED)
        return status;
    const int asked = mayBeWedged(options, island);
    if (asked && spragSqueezeFind(island) == SPRAG_ERROR_MEMORY)
        return SPRAG_ERROR_MEMORY;
    if (island->wedge.squeezed)
        return status;
    if (asked && island->block_count <= LARGE && (frictionIsModest(island) || spragHasInfinite(island)) &&
        spragWedgeFind(island) == SPRAG_ERROR_MEMORY)
        return SPRAG_ERROR_MEMORY;
    if (island->wedge.speed > 0)
        return goOn(release, SPRAG_CHAIN_DOUBTED);
    if (island->before.accord >= 0 && spragAccordSuits(island))
        status = solveInAccord(release);
    if (status != SPRAG_NOT_CONVERGED)
        return status;
    status = spragPartingSolve(SPRAG_CHAIN_LATER, options, island, &release->iterations);
    if (status == SPRAG_NOT_CONVERGED && mayBeWedged(options, island) && spragWedgeFind(island) == SPRAG_ERROR_MEMORY)
        return SPRAG_ERROR_MEMORY;
    return status;
}

/* After a miss.  0: no memory. */
static int findWedge(const spragSolveOptions *options, spragIsland *island)
{
    return !mayBeWedged(options, island) || spragConflicts(island) || spragWedgeFind(island) != SPRAG_ERROR_MEMORY;
}

/* The first links of the chain; of contacts alone, where friction is high, accord comes before Newton's method, and
 * before it a squeeze, if what contacts ask for differs enough from what a motion gives.  (Robots and dolls took 1.0 to
 * 1.3 of the time so.) */
static spragStatus beginDoubted(Release *release, const spragSolveOptions *first, int doubts)
{
    spragIsland *island = release->island;
    const int alone = island->contact_count == island->joint_count,
              accords = alone && island->before.accord >= 0 && spragAccordSuits(island);
    const spragChainPart part = doubts || accords ? SPRAG_CHAIN_SOON : SPRAG_CHAIN_BEGINNING;
    spragStatus status = spragPartingSolve(part, first, island, &release->iterations);
    if (!accords || status != SPRAG_NOT_CONVERGED)
        return status;
    if (mayBeWedged(&release->options, island) && spragAccordApart(island) > SQUEEZING &&
        spragSqueezeFind(island) == SPRAG_ERROR_MEMORY)
        return SPRAG_ERROR_MEMORY;
    if (island->wedge.squeezed)
        return status;
    status = solveInAccord(release);
    if (status != SPRAG_NOT_CONVERGED || doubts)
        return status;
    return spragPartingSolve(SPRAG_CHAIN_BEGUN, first, island, &release->iterations);
}

/* A wedge is looked for after the first links of the chain, which have so much work; then the rest. */
static spragStatus solveDoubted(Release *release, double work, int doubts)
{
    const spragSolveOptions *options = &release->options;
    spragIsland *island = release->island;
    spragSolveOptions first = *options;
    first.work_limit = work;
    const spragStatus status = beginDoubted(release, &first, doubts);
    if (island->wedge.squeezed)
        return status;
    if (status == SPRAG_LIMIT && isFar(options, island)) /* a limit, not a miss: no wedge is looked for */
        return spragPartingSolve(SPRAG_CHAIN_DESPITE, options, island, &release->iterations);
    if (!isMissed(options, island, status))
        return status;
    return findWedge(options, island) ? goOn(release, doubts ? SPRAG_CHAIN_WHOLE : SPRAG_CHAIN_REST)
                                      : SPRAG_ERROR_MEMORY;
}

/* The chain.  Where it misses, a wedge is looked for, which says that there may be no rigid solution.  In small islands
 * with guides, and where spragChainIsPrompt, that is asked after the first links; else after all of them.  With guides,
 * later links seldom find what the first did not: Newton's equations know no interior of the cones of guides
 * (solve/newton/cones.h). */
static spragStatus solveRigid(Release *release)
{
    const spragSolveOptions *options = &release->options;
    spragIsland *island = release->island;
    const int guides = options->solver == SPRAG_SOLVER_AUTO && island->block_count <= FEW && spragHasGuides(island);
    const int large = isAskedEarly(options, island);
    const int conflicts = spragHasInfinite(island) && !spragProblemIsGlued(&island->problem); /* perhaps */
    spragSolveOptions own = *options;
    spragStatus status;
    if (solveWedged(release, &status))
        return status;
    if (large)
        own.work_limit = fmin(own.work_limit, WORK_BEFORE);
    if (!conflicts && (guides || large || spragChainIsPrompt(&island->problem, options)))
        return solveDoubted(release, own.work_limit, !guides && island->before.doubt > 0);
    if (mayBeAsked(options, island))
        return solveExactly(release);
    status = spragPartingSolve(SPRAG_CHAIN_WHOLE, &own, island, &release->iterations);
    return !isMissed(options, island, status) || findWedge(options, island) ? status : SPRAG_ERROR_MEMORY;
}

/* No wedge is looked for, as what comes next is another problem; but a squeeze is, which stays from step to step: one
 * doll stuck between stairs kept its heap at 1 m/s. */
static spragStatus solveTumbling(Release *release)
{
    const spragSolveOptions *options = &release->options;
    spragIsland *island = release->island;
    spragSolveOptions own = *options;
    spragStatus status;
    if ((release->again || island->before.wedged) && isSqueezed(options, island, &status))
        return status;
    own.tolerance = fmax(own.tolerance, TUMBLING);
    own.work_limit =
        ldexp(WORK_TUMBLING, -(island->work.missed < MISSES_TUMBLING ? island->work.missed : MISSES_TUMBLING));
    status = spragPartingSolve(SPRAG_CHAIN_TUMBLING, &own, island, &release->iterations);
    if (status != SPRAG_NOT_CONVERGED)
        return status;
    const int far = !(island->solve.residual <= FAR_OFF);
    island->work.missed += far;
    if (far && !spragHasInfinite(island) && spragSqueezeFind(island) == SPRAG_ERROR_MEMORY)
        return SPRAG_ERROR_MEMORY;
    return island->wedge.squeezed ? status : SPRAG_LIMIT;
}

/* Is a wedge that was not asked so yet a squeeze?  (Of a large island the next step asks.)  1: no memory. */
static int nameSqueeze(spragIsland *island, spragStatus *status)
{
    if (!island->before.wedged && island->wedge.speed > 0 && island->block_count <= LARGE &&
        spragSqueezeFind(island) == SPRAG_ERROR_MEMORY)
        *status = SPRAG_ERROR_MEMORY;
    return *status == SPRAG_ERROR_MEMORY;
}

/* 1: it ended, by its work or in vain, farther off than is kept without another try. */
static int isLeftFar(const Release *release, spragStatus status)
{
    return status != SPRAG_OK && status != SPRAG_ERROR_MEMORY && isFar(&release->options, release->island);
}

/* Keeps the guess, for what was wedged, or is searched again in accord.  (Whether that suits is not known yet: a slip
 * that turns round may have a greater mu, as it stands still.)  0: no memory. */
static int keepGuess(Release *release)
{
    const spragIsland *island = release->island;
    if (!(release->asks || release->few))
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
        return solveTumbling(release);
    if (release->asks)
        return solveRigid(release);
    if (release->few && (release->again || island->before.wedged) && isSqueezed(options, island, &status))
        return status;
    const spragChainPart part = island->matrix.waits == SPRAG_WAITS_FOR_TRY ? SPRAG_CHAIN_BEGINNING : SPRAG_CHAIN_WHOLE;
    return spragPartingSolve(part, options, island, &release->iterations);
}

/* Where contacts of mu = infinity are in conflict, or wedged: once more from the guess, in accord.  What is locked all
 * the same is so by forces, and yields; where contacts agreed as they were, the next steps do not ask for it. */
static spragStatus agree(Release *release, spragStatus status)
{
    spragIsland *island = release->island;
    spragAccord *accord = &island->accord;
    const int locked = spragHasInfinite(island) && (island->wedge.speed > 0 || spragConflicts(island)),
              anew = release->guess != NULL && island->before.accord >= 0 && spragAccordSuits(island);
    if (status == SPRAG_ERROR_MEMORY || release->tumbles || !locked || accord->vain || !(anew || accord->made))
        return status;
    if (anew && !spragAccordMake(island))
        return SPRAG_ERROR_MEMORY;
    if (!(accord->apart > release->options.tolerance))
        spragAccordTakeBack(island);
    if (!anew || accord->vain)
        return status;
    memcpy(island->r, release->guess, 3 * (size_t)island->block_count * sizeof *release->guess);
    island->wedge.speed = island->wedge.squeezed = 0;
    return solveFirst(release);
}

/* Where contacts of mu = infinity are in conflict, or wedged, some of them may hold while the others open.  In a
 * larger wedge that lasts that is asked as seldom as whether it is a squeeze (hindsight.h). */
static spragStatus holdSome(Release *release, spragStatus status)
{
    spragIsland *island = release->island;
    if (status == SPRAG_ERROR_MEMORY || !release->asks || release->tumbles || !spragHasInfinite(island) ||
        !(island->wedge.speed > 0 || spragConflicts(island)) ||
        (island->block_count > SPRAG_HOLD_FEW && island->wedge.unsqueezed > 0 &&
         (island->before.wedged || release->again)))
        return status;
    const int found = spragHoldSome(&release->options, island, &release->iterations);
    if (found <= 0) {
        island->wedge.unsqueezed = SPRAG_UNSQUEEZED;
        return found < 0 ? SPRAG_ERROR_MEMORY : status;
    }
    island->wedge.speed = island->wedge.squeezed = 0;
    return SPRAG_OK;
}

/* What contacts that are in conflict or wedged leave far off: they yield. */
static spragStatus yield(Release *release, spragStatus status)
{
    spragIsland *island = release->island;
    if (!isLeftFar(release, status) || !(island->wedge.speed > 0 || spragConflicts(island)) ||
        nameSqueeze(island, &status))
        return status;
    spragSolveOptions *options = &release->options;
    const double most = island->work.most; /* which the first yielding of a step may go beyond */
    options->work_limit = options->work_limit > 0 ? fmax(options->work_limit, WORK_YIELDING) : 0;
    island->work.most = release->again ? most : fmax(most, island->work.spent + WORK_YIELDING);
    const double *guess = release->again || island->before.wedged ? release->guess : NULL;
    status = spragYieldingSolve(options, island, guess, &release->iterations);
    island->work.most = most;
    return status;
}

/* Under a limit, where nothing has been asked: some sweeps in which contacts yield, and is it a squeeze? */
static spragStatus yieldInHaste(Release *release, spragStatus status)
{
    spragIsland *island = release->island;
    if (release->limited && isLeftFar(release, status) && island->block_count <= FEW && !(island->wedge.speed > 0) &&
        !spragConflicts(island))
        status = spragYieldingSweep(&release->options, island, &release->iterations);
    if (release->limited && isLeftFar(release, status) && !spragProblemIsLean(&island->problem) &&
        !(island->wedge.speed > 0))
        status = spragSlippingSweep(&release->options, island, &release->iterations);
    if (release->few && isLeftFar(release, status) && !(island->wedge.speed > 0) &&
        spragSqueezeFind(island) == SPRAG_ERROR_MEMORY)
        status = SPRAG_ERROR_MEMORY;
    return status;
}

spragStatus spragReleaseSolve(const spragSolveOptions *given, spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const int most = island->matrix.lean ? LARGE : SPRAG_WEDGED_MOST, timed = given->time_limit > 0;
    const double begin = timed ? spragSeconds() : 0;
    Release release = {.island = island,
                       .options = *given,
                       .limited = timed || given->iteration_limit > 0,
                       .asks = !island->matrix.waits && !timed && island->block_count <= most,
                       .few = timed && given->solver == SPRAG_SOLVER_AUTO && island->block_count <= FEW_SQUEEZED,
                       .tumbles = island->pile.tumbles && spragChainApproaches(&island->problem, given),
                       .again = island->wedge.speed > 0};
    if (release.asks && !release.tumbles && island->before.haste == 0 && island->work.missed >= MISSES_PATIENT &&
        given->iteration_limit == 0)
        release.options.iteration_limit = STEPS_PROMPT;
    const int accords = (island->before.accord > 0 || island->accord.wanted) && spragAccordSuits(island);
    if (!keepGuess(&release) || (accords && !spragAccordMake(island)))
        return SPRAG_ERROR_MEMORY;
    island->wedge.speed = island->wedge.squeezed = 0;
    spragStatus status = solveFirst(&release);
    release.options.time_limit = spragTimeLeft(given->time_limit, begin);
    status = agree(&release, status);
    release.options.time_limit = spragTimeLeft(given->time_limit, begin);
    status = holdSome(&release, status);
    status = yield(&release, status);
    status = yieldInHaste(&release, status);
    spragArenaRelease(arena, mark);
    island->solve.iterations = release.iterations;
    /* A try that misses is no answer yet. */
    island->work.missed += !island->matrix.waits && isMissed(&release.options, island, status);
    if (status != SPRAG_ERROR_MEMORY && !(island->wedge.speed > 0) && spragConflicts(island))
        spragYieldTell(island);
    return status;
}
