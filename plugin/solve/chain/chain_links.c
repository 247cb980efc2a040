/* Which methods a problem meets, in which order.
 *
 * The cheapest method comes first.  Each begins at the best answer so far; spragProblemResidual judges what it finds,
 * and the chain ends as soon as an answer is good enough.  nc is the number of blocks:
 *
 *     nc = 1           all solutions of the block; the policy chooses one (single.h)
 *     a few            the modes of the guess, verified (warm.c); then as below
 *     nc <= SMALL      1. the mode search (variant.c); where nothing slides, pivots (pivots.c); where a coefficient is
 *                         1e3 or more, Lemke's method, as Newton's takes thousands of steps there
 *                      2. Newton's method with an interior point (newton.c)
 *                         where `enough` is asked for and friction is high, after it: right along its path, in a
 *                         third of the time of 3
 *                      3. the chain itself on fewer contacts, one more at a time (generation.c);
 *                         where rows have no bounds, on what is left without those (free_rows.c)
 *                      4. in a step, where 2 was kept short: Newton's method with all the work it may take
 *                         (and before it with the rest of its share, where a wedge was looked for after 2)
 *                      5. Lemke's method
 *     nc > SMALL       1. in a step, where the guess is wrong in places only: these for themselves (disturbed.c)
 *                         Newton's method from a guess that is near, where one factorisation costs no more than
 *                         some sweeps
 *                      2. Gauss-Seidel, while the residual falls; after it `enough` is enough; then 1 again
 *                      3. Newton's method with an interior point
 *                      4. where work is limited: contacts one by one (generation.c, up to 120 blocks; right along the
 *                         path before that, and where a wedge was looked for before 3, if `enough` is asked for);
 *                         where it is not: sweeps and the traced path by turns (turns.c)
 *     nc > SMALL, heaps of mechanisms
 *                      sweeps, 64 or until they are near, then Newton's method from there, in place of 1
 *     nc > SMALL, and every contact holds by infinite friction (convex: nothing slides)
 *                      conjugate gradients in the velocities of bodies (glue.c), then Newton's method and, of up to 120
 *                      blocks after some steps of it, pivots, before the sweeps: those carry a
 *                      change no further than from body to body
 *
 * A solution that another method has found for a small island goes through the mode search once more, which alone
 * applies the policy and recognises a separatrix. */
#include "solve/chain/chain_links.h"

#include <math.h>

#include "linalg/vec3.h"
#include "problem/reaches.h"
#include "problem/residual.h"
#include "solve/glue/glue.h"
#include "solve/newton/cones.h"
#include "solve/newton/tangent.h"
#include "solve/search/warm.h"

/* Work on a small problem: WORK_ in products of 3x3 blocks (some ns each), SHARE_ times options->work_limit. */
#define WORK_BEFORE 5e6    /* of Newton's method, before the caller asks for a wedge */
#define WORK_PATIENT 1.5e8 /* of its last run, where `enough` is asked for: some 0.3 s, */
#define SHARE_PATIENT 2    /* and at most that */
#define SHARE_SMALL 8      /* of its first run where the tolerance is asked for: 3600 steps of 50 blocks */
/* And on a large one. */
#define SHARE_SWEEPS 0.5      /* of the work of heaps that tumble */
#define SECONDS_APPROACH 2e-6 /* a block of W: in less time Newton's steps may not end, and sweeps leave less */

#define NEAR 1.5e-3 /* of the largest |q| (spragNear) */
#define SLIDES 1e4  /* times `enough`, m/s: of contacts that slide faster (mostSlide) */
#define STEEP 1e3   /* a coefficient with which a cone is all but a half-space (parting.h) */
#define HIGH 2      /* a coefficient from which the way to an answer has folds, and where a wedge need not lock */
#define COUPLED 0.5 /* in a mechanism joints couple more than this part of all pairs of blocks */

enum {
    /* Steps of Newton's method, of an interior point or along a path, at most. */
    STEPS_SMALL = 10000, /* a path through the folds of mu = 50 or 300 takes 100 to 5000 */
    STEPS_POINTS = 2500, /* where no path can be followed (cones.h): 44 runs that ended took 15 to 2000 */
    STEPS_PROMPT = 250,  /* in a step, of contacts alone: an interior point and a path.  30 to 60 contacts of plates
                               with mu = 100 are solved so in 5 ms; with fewer steps generation took 60 to 90 ms */
    STEPS_BEFORE = 60,   /* of these, at least, before the caller asks for a wedge, which costs as much as 2 to 10 */
    STEPS_GLUED = 60,    /* where pivots come next: in conflict there may be 5000, in vain */
    STEPS_WITHIN = 500,  /* of the problems that generation solves: six contacts spent 35 ms on 10 000, in vain */
    STEPS_SECOND = 2500, /* of the second run, from r = 0, where the guess led astray */

    /* Sweeps, visits of every contact, at most.  Most runs end before, where the residual falls no more. */
    SWEEPS_FIRST = 3000, /* in a step.  Problem files end after 13 to 2200: 30 000 change nothing, with 300 p23 has 4
                            times the residual */
    SWEEPS_LINKED = 40,  /* the same of one mechanism: W is dense, and Newton's equations are not.  Chains of 40 to 100
                            boxes on the ground: with 3000 no step is missed either, in 1.2 to 2.2 times the time */
    SEARCH_CHEAP = 20,   /* blocks: up to here the whole mode search takes less than a millisecond */
    ROUNDS_KNOWN = 6,    /* of the mode search, where its modes should fit at once: if they do not, 60 seldom help */
    PIVOTS_PROMPT = 20,  /* of Lemke's method in a step, for each block.  Of 960 random problems of twelve blocks one
                            misses 1e-6 m/s; with 5 nine do, in twice the time; 80 solve no more */
    STEEP_MOST = 30,     /* blocks of a problem with a steep cone, to which that method comes early, */
    PIVOTS_STEEP = 40    /* with so many for each: of 4200 problems of 1 to 24 blocks all took 0.7 of the time */
};

static int saysEnough(const spragSolveOptions *options)
{
    return options->enough > options->tolerance && options->solver == SPRAG_SOLVER_AUTO;
}

int spragChainIsPrompt(const spragProblem *problem, const spragSolveOptions *options)
{
    return problem->contact_count <= SPRAG_CHAIN_SMALL && saysEnough(options);
}

double spragChainStepWork(int block_count)
{
    const double n = block_count;
    return n * n * n / 3 + SPRAG_TANGENT_PASSES * n * n + spragStepOverhead(block_count);
}

int spragChainStepsWorth(int block_count, double work)
{
    return (int)fmin(STEPS_SMALL, work / spragChainStepWork(block_count));
}

static int stepsWorth(const spragProblem *problem, double work)
{
    return spragChainStepsWorth(problem->contact_count, work);
}

/* How many it may take, from a guess, where it has more than some milliseconds. */
static int stepsMost(const spragChainLinks *chain)
{
    const double work = chain->options->work_limit;
    const int most = spragConesApply(chain->problem) ? STEPS_SMALL : STEPS_POINTS,
              worth = work > 0 ? stepsWorth(chain->problem, SHARE_SMALL * work) : most;
    return (int)fmin(most, fmax(STEPS_PROMPT, worth));
}

static int isBeginning(spragChainPart part)
{
    return part == SPRAG_CHAIN_BEGINNING || part == SPRAG_CHAIN_BEGUN;
}

/* The rest of a large problem's chain goes on, too: its sweeps would end where they did. */
int spragChainGoesOn(const spragProblem *problem, const spragSolveOptions *options, spragChainPart part)
{
    return part == SPRAG_CHAIN_LATER || part == SPRAG_CHAIN_DOUBTED || part == SPRAG_CHAIN_BEGUN ||
           (part == SPRAG_CHAIN_REST && problem->contact_count > SPRAG_CHAIN_SMALL &&
            options->solver == SPRAG_SOLVER_AUTO && !spragProblemIsGlued(problem));
}

/* A limit of the user's takes the place of `limit`. */
static spragChainLink *add(spragChainLinks *chain, const spragSolver *method, int limit, double tolerance)
{
    const int asked = chain->options->iteration_limit;
    spragChainLink *link = &chain->link[chain->count];
    *link = (spragChainLink){.method = method,
                             .run_as = chain->count++ == 0 ? SPRAG_IF_SOLVED : SPRAG_IF_BETTER,
                             .limit = asked > 0 ? asked : limit,
                             .second_limit = SPRAG_NO_SECOND,
                             .tolerance = tolerance};
    return link;
}

/* twice: from r = 0 too, as a guess may lead astray (mu = 50 or 300 in games, contacts on bodies that hardly move). */
static void addNewton(spragChainLinks *chain, int limit, int twice, double tolerance)
{
    const int asked = chain->options->iteration_limit, limited = chain->options->work_limit > 0 && limit > 0;
    spragChainLink *link = add(chain, &spragSolverNewton, limit, tolerance);
    if (twice)
        link->second_limit = asked > 0 ? asked : limited ? (int)fmin(limit, STEPS_SECOND) : STEPS_SECOND;
}

int spragChainRoundsKnown(const spragProblem *problem)
{
    return problem->contact_count > SEARCH_CHEAP ? ROUNDS_KNOWN : 0;
}

/* What is solved again in a step has less work from time to time (ode/islands/parting.c). */
static double patience(const spragSolveOptions *options)
{
    return options->work_limit > 0 ? fmin(WORK_PATIENT, SHARE_PATIENT * options->work_limit) : WORK_PATIENT;
}

/* 1: more contacts slide than stick.  There the last digits cost most, as slips of 1e-6 m/s in the faces that
 * move along may point anywhere, and they are lost in the next step: six crates pushed along took 5 ms a step to 1e-8
 * m/s, and 1.5 to 1e-7.  What rests keeps what its answers leave, and is solved: of 80 towers with a crate that slides
 * along their foot 28 were dragged off by 5 cm in 20 s where that one was reason enough, 12 if they are solved. */
static int mostSlide(const spragProblem *problem, double enough)
{
    int more = 0;
    for (int k = 0; problem->history != NULL && k < problem->contact_count; ++k) {
        const spragContactHistory *history = &problem->history[k];
        if (spragNorm2(history->slip) > SLIDES * enough)
            ++more;
        else if (history->mode == SPRAG_MODE_STICK)
            --more;
    }
    return more > 0;
}

/* 1: some contact's coefficient is at least mu. */
static int hasCoefficient(const spragProblem *problem, double mu)
{
    int has = 0;
    for (int k = 0; k < problem->contact_count && !has; ++k)
        has = spragKindOf(problem, k) == SPRAG_BLOCK_CONTACT && problem->mu[k] >= mu;
    return has;
}

/* Right along the path, where friction is high.  (Of low friction few are solved so, and wedges took 25 ms in place of
 * 10.)  1: there is such a link. */
static int addStraight(spragChainLinks *chain, double tolerance)
{
    const int suits = spragConesApply(chain->problem) && hasCoefficient(chain->problem, HIGH);
    if (suits)
        add(chain, &spragSolverNewtonStraight, 0, tolerance);
    return suits;
}

/* prompt: after some milliseconds `enough` will do, or, where most slides, after the mode search. */
static void chainSmall(spragChainLinks *chain, spragChainPart part)
{
    const spragProblem *problem = chain->problem;
    const spragSolveOptions *options = chain->options;
    const int n = problem->contact_count, prompt = spragChainIsPrompt(problem, options);
    const double tolerance = options->tolerance, content = prompt ? options->enough : tolerance;
    const int glued = spragPivotsSuit(problem), rest = part == SPRAG_CHAIN_REST && prompt;
    add(chain, &spragSolverVariant, glued ? ROUNDS_KNOWN : rest ? spragChainRoundsKnown(problem) : 0, tolerance);
    if (glued)
        add(chain, &spragSolverPivots, 0, tolerance);
    if (n <= STEEP_MOST && hasCoefficient(problem, STEEP))
        add(chain, &spragSolverLemke, PIVOTS_STEEP * n, tolerance);
    chain->soon = chain->count;
    if (part == SPRAG_CHAIN_SOON)
        return;
    const int free = spragProblemHasFreeRows(problem), steps = stepsMost(chain);
    const int few = spragProblemIsPlain(problem) ? STEPS_PROMPT : stepsWorth(problem, SPRAG_WORK_PROMPT);
    const int first = (int)fmin(few, fmax(STEPS_BEFORE, stepsWorth(problem, WORK_BEFORE)));
    const double after = prompt && mostSlide(problem, options->enough) ? content : tolerance;
    if (part == SPRAG_CHAIN_DOUBTED)
        addNewton(chain, few, 0, after);
    else if (isBeginning(part))
        addNewton(chain, prompt ? first : steps, !prompt, after);
    else if (part != SPRAG_CHAIN_DESPITE && part != SPRAG_CHAIN_REST)
        addNewton(chain, prompt || glued ? few : steps, !prompt && !glued, after);
    if (isBeginning(part))
        return;
    const int straight = prompt && addStraight(chain, content);
    if (part != SPRAG_CHAIN_WITHIN && !free) /* the rest of the chain eliminates free rows first */
        add(chain, &spragSolverGeneration, 0, content);
    if (part == SPRAG_CHAIN_DESPITE || part == SPRAG_CHAIN_DOUBTED)
        return;
    if (rest && first < few && !straight) /* what it had in the beginning was not enough */
        addNewton(chain, few, 0, content);
    if (free)
        add(chain, &spragSolverFreeRows, 0, content);
    if (glued && !prompt)
        addNewton(chain, steps, 1, tolerance);
    if (prompt)
        addNewton(chain, part == SPRAG_CHAIN_WITHIN ? STEPS_WITHIN : stepsWorth(problem, patience(options)),
                  part != SPRAG_CHAIN_WITHIN, content);
    if (n <= (prompt ? SPRAG_CHAIN_SMALL / 2 : SPRAG_CHAIN_SMALL)) /* its pivots grow with n^2 */
        add(chain, &spragSolverLemke, prompt ? PIVOTS_PROMPT * n : 0, content);
}

/* 1: joints couple nearly all blocks, each with each. */
static int isOneMechanism(const spragProblem *problem)
{
    const double n = problem->contact_count;
    const spragReaches *reaches = spragReachesOf(problem);
    return problem->linked != NULL && (reaches != NULL ? reaches->entries : problem->block_count) > COUPLED * n * n;
}

double spragNear(const spragProblem *problem)
{
    double most = 0;
    for (int i = 0; i < 3 * problem->contact_count; ++i)
        most = fmax(most, fabs(problem->q[i]));
    return NEAR * most;
}

int spragChainApproaches(const spragProblem *problem, const spragSolveOptions *options)
{
    if (options->time_limit > 0 && options->time_limit < SECONDS_APPROACH * problem->block_count)
        return 0;
    return problem->contact_count > SPRAG_CHAIN_SMALL && problem->linked != NULL && options->work_limit > 0 &&
           options->solver == SPRAG_SOLVER_AUTO && options->iteration_limit == 0 && !spragProblemIsGlued(problem) &&
           !spragProblemIsLean(problem) && !isOneMechanism(problem);
}

int spragChainSearches(const spragProblem *problem, const spragSolveOptions *options)
{
    const int count = problem->contact_count;
    return count > SPRAG_WARM_BLOCKS && (count <= SPRAG_CHAIN_SMALL || problem->linked != NULL) &&
           options->solver == SPRAG_SOLVER_AUTO && options->iteration_limit == 0;
}

/* As many as the work pays for. */
static int sweepsMost(const spragChainLinks *chain)
{
    const double work = chain->options->work_limit;
    const int most = isOneMechanism(chain->problem) ? SWEEPS_LINKED : SWEEPS_FIRST;
    return work > 0 ? (int)fmin(most, work / chain->problem->block_count + 1) : 0;
}

/* Every contact holds by infinite friction. */
static void chainGlued(spragChainLinks *chain, spragChainPart part)
{
    const spragSolveOptions *options = chain->options;
    const int in_velocities = spragGlueSuits(chain->problem), pivots = spragPivotsSuit(chain->problem);
    const int limited = options->work_limit > 0;
    const double tolerance = options->tolerance, content = in_velocities ? fmax(tolerance, options->enough) : tolerance;
    if (in_velocities)
        add(chain, &spragSolverGlue, 0, tolerance);
    addNewton(chain, pivots ? STEPS_GLUED : 0, !limited && !pivots, content);
    if (pivots)
        add(chain, &spragSolverPivots, 0, content);
    add(chain, &spragSolverSweeps, sweepsMost(chain), content);
    chain->soon = chain->count;
    if (part != SPRAG_CHAIN_SOON && !isBeginning(part) && !limited)
        add(chain, &spragSolverGaussSeidel, 0, content);
}

/* Without a limit each method may take as long as it needs: sweeps then take turns with the traced path, if the laws
 * are those of contacts. */
static void chainLarge(spragChainLinks *chain, spragChainPart part)
{
    const spragProblem *problem = chain->problem;
    const spragSolveOptions *options = chain->options;
    const int within = part == SPRAG_CHAIN_WITHIN, despite = part == SPRAG_CHAIN_DESPITE; /* Newton was asked */
    const int limited = options->work_limit > 0, sweeps = sweepsMost(chain);
    const int traced = !limited && options->solver == SPRAG_SOLVER_AUTO && spragProblemIsPlain(problem);
    const double tolerance = options->tolerance, content = saysEnough(options) ? options->enough : tolerance;
    if (spragChainApproaches(problem, options)) {
        const int tumbles = part == SPRAG_CHAIN_TUMBLING;
        add(chain, &spragSolverSweepsNear, tumbles ? (int)(sweeps * SHARE_SWEEPS) + 1 : sweeps, tolerance);
        add(chain, tumbles ? &spragSolverNewtonFewest : &spragSolverNewtonNear, 0, tolerance);
        chain->usual = chain->count;
        if (tumbles)
            return;
    }
    add(chain, &spragSolverSweeps, sweeps, tolerance);
    if (!despite && !within && spragDisturbedSuits(problem, options))
        add(chain, &spragSolverDisturbed, 0, content);
    chain->soon = chain->usual = chain->count; /* Newton's method after sweeps is no exception */
    if (part == SPRAG_CHAIN_SOON)
        return;
    const int few = limited && saysEnough(options) && problem->contact_count <= SPRAG_GENERATION_MOST,
              rest = part == SPRAG_CHAIN_REST || despite;
    if (few && rest)
        addStraight(chain, content);
    if (part == SPRAG_CHAIN_REST && spragChainGoesOn(problem, options, part))
        add(chain, &spragSolverNewtonResumed, 0, content);
    else if (!despite)
        addNewton(chain, 0, !limited && !traced, content);
    if (isBeginning(part))
        return;
    if (few && !rest)
        addStraight(chain, content);
    if (limited && !within && !spragProblemIsLean(problem) && !spragProblemHasFreeRows(problem)) /* as in chainSmall */
        add(chain, &spragSolverGeneration, 0, content);
    if (!limited)
        add(chain, traced ? &spragSolverTurns : &spragSolverGaussSeidel, 0, content);
}

/* Of a part of an island.  (All that small islands have, STEPS_PROMPT and generation too, made the worst steps of
 * falling dominoes three times as long.) */
static void chainLocal(spragChainLinks *chain)
{
    const double tolerance = chain->options->tolerance;
    const int small = chain->problem->contact_count <= SPRAG_CHAIN_SMALL;
    add(chain, small ? &spragSolverVariant : &spragSolverSweeps, small ? 0 : SWEEPS_FIRST, tolerance);
    chain->usual = !small;
    add(chain, &spragSolverNewtonPoints, 0, tolerance);
}

/* A method that the user asks for by name is not limited here. */
void spragChainLinksOf(spragChainLinks *chain, spragChainPart part)
{
    const spragSolveOptions *options = chain->options;
    const int small = chain->problem->contact_count <= SPRAG_CHAIN_SMALL;
    if (part == SPRAG_CHAIN_NEAR) {
        add(chain, &spragSolverSweepsNear, SWEEPS_FIRST, options->tolerance);
        return;
    }
    if (part == SPRAG_CHAIN_SWEPT) {
        add(chain, &spragSolverSweepsCounted, 0, options->tolerance);
        return;
    }
    if (part == SPRAG_CHAIN_LOCAL) {
        chainLocal(chain);
        return;
    }
    switch (options->solver) {
    case SPRAG_SOLVER_VARIANT:
        add(chain, &spragSolverVariant, 0, options->tolerance);
        break;
    case SPRAG_SOLVER_LEMKE:
        add(chain, &spragSolverLemke, 0, options->tolerance);
        break;
    case SPRAG_SOLVER_GAUSS_SEIDEL:
        add(chain, &spragSolverGaussSeidel, 0, options->tolerance);
        break;
    case SPRAG_SOLVER_NEWTON:
        addNewton(chain, 0, small || !(options->work_limit > 0), options->tolerance);
        break;
    default:
        if (small)
            chainSmall(chain, part);
        else if (spragProblemIsGlued(chain->problem))
            chainGlued(chain, part);
        else
            chainLarge(chain, part);
    }
}
