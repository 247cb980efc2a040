/* The chain: which methods a problem meets, in which order.
 *
 * The cheapest method comes first.  Each begins at the best answer so far; spragProblemResidual judges what it finds,
 * and the chain ends as soon as an answer is good enough.  nc is the number of blocks:
 *
 *     nc = 1           all solutions of the block; the policy chooses one (single.h)
 *     a few            the modes of the guess, verified (warm.c); then as below
 *     nc <= SMALL      1. the mode search (variant.c)
 *                      2. Newton's method with an interior point (newton.c)
 *                      3. the chain itself on fewer contacts, one more at a time (generation.c);
 *                         where rows have no bounds, on what is left without those (free_rows.c)
 *                      4. the traced path (trace.c)
 *                      5. in a step, where 2 was kept short: Newton's method with all the work it may take
 *                      6. Lemke's method
 *     nc > SMALL       1. Newton's method from the guess, where one factorisation costs no more than some sweeps
 *                      2. Gauss-Seidel, while the residual falls; after it `enough` is enough
 *                      3. Newton's method with an interior point
 *                      4. where work is limited: contacts one by one (generation.c, up to 120 blocks);
 *                         where it is not: sweeps and the traced path by turns (turns.c)
 *     nc > SMALL, and every contact holds by infinite friction (convex: nothing slides)
 *                      conjugate gradients in the velocities of bodies (glue.c), then Newton's method, before the
 *                      sweeps: those carry a change no further than from body to body
 *
 * What another method than the mode search finds for a small island goes through that search once more: it alone knows
 * the policy, and a separatrix when it sees one. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "problem/creep.h"
#include "problem/reaches.h"
#include "problem/residual.h"
#include "solve/cones.h"
#include "solve/glue.h"
#include "solve/proximal.h"
#include "solve/single.h"
#include "solve/solver.h"

/* Work, in products of 3x3 blocks, of Newton's method on a small problem for which the caller has said what is enough
 * (options->enough).  WORK_PROMPT, some 5 ms, is for the tolerance itself; after it `enough` will do.  (A car with mu =
 * 50 stands on forty contacts that all but repeat each other: slips of 1e-7 m/s oppose each other, and 1e-8 takes a
 * second, if it is found at all.)  WORK_PATIENT, some 0.3 s, is for `enough`. */
#define WORK_PROMPT 1e6
#define WORK_PATIENT 1.5e8

/* m/s, of a polish where the tolerance is SPRAG_CREEP_MATTERS or more.  It ends at SPRAG_EXACT of it: where creep
 * is rounding.  (With a tolerance of 1e-6 it ended at 1e-10, while rest asks for creep of 5e-13: 300 boxes at rest got
 * their W in nearly every step, and eight sweeps.  A pile that Newton has brought to rounding rests for some ten steps
 * on its guesses alone.  Below that tolerance it ends near enough; asked for more, a wall of 85 bricks crept at
 * 5.6e-9 in 16 of 300 steps.) */
#define TOLERANCE_POLISH (SPRAG_CREEP_ROUNDING / SPRAG_EXACT)

#define COUPLED 0.5           /* a mechanism: joints couple more than this part of all pairs of blocks */
#define SECONDS_PER_CUBE 1e-8 /* s: a dense factorisation of n blocks takes this times n^3 */

enum {
    SMALL = 60, /* blocks, measured: beyond it the mode search costs more than it saves */

    /* Steps of Newton's method, of an interior point or along a path, at most. */
    STEPS_SMALL = 10000,    /* a path through the folds of mu = 50 or 300 takes 100 to 5000 */
    STEPS_POINTS = 2500,    /* where no path can be followed (cones.h): 44 runs that ended took 15 to 2000 */
    STEPS_PROMPT = 250,     /* in a step, of contacts alone: an interior point and a path.  30 to 60 contacts of plates
                               with mu = 100 are solved so in 5 ms; with fewer steps generation took 60 to 90 ms */
    STEPS_WITHIN = 500,     /* of the problems that generation solves: six contacts spent 35 ms on 10 000, in vain */
    STEPS_FROM_REST = 2500, /* of the second run, from r = 0, where the guess led astray */
    STEPS_TRACED = 900,     /* of a traced path of a small island; most that arrive take 50 to 300 */

    /* Sweeps, visits of every contact, at most.  Most runs end before, where the residual falls no more. */
    SWEEPS_FIRST = 3000, /* in a step.  Problem files end after 13 to 2200: 30 000 change nothing, with 300 p23 has 4
                            times the residual */
    SWEEPS_LINKED = 40,  /* the same of one mechanism: W is dense, and Newton's equations are not.  Chains of 40 to 100
                            boxes on the ground: with 3000 no step is missed either, in 1.2 to 2.2 times the time */
    SWEEPS_LATE = 20,    /* of a small island whose time is up.  Twelve contacts, each coupled with each, take 0.04 ms
                            and end at 2e-6 m/s in the mean; 5 end at 2e-2, 80 in 0.06 ms at 2e-8 */
    SEARCH_CHEAP = 20,   /* blocks: up to here the whole mode search takes less than a millisecond */
    ROUNDS_KNOWN = 6,    /* of the mode search, where its modes should fit at once: if they do not, 60 seldom help */
    PIVOTS_PROMPT = 20,  /* of Lemke's method in a step, for each block.  Of 960 random problems of twelve blocks one
                            misses 1e-6 m/s; with 5 nine do, in twice the time; 80 solve no more */
    LINKS_MAX = 9
};

/* ---------------------------------------------------------------- which links */

/* How a method is run.  Its answer is kept if its residual is less than that of r; PREFERRED: also if it is within the
 * tolerance.  FROM_REST: it begins at r = 0. */
typedef enum Manner { BETTER, PREFERRED, FROM_REST } Manner;

/* A method, and how far it goes. */
typedef struct Link {
    const spragSolver *method;
    Manner manner;
    int limit;        /* iterations; 0: the method's own */
    int from_rest;    /* the same, of a second run from r = 0 where the first fails; NO_SECOND */
    double tolerance; /* m/s, what it is asked for; rougher than the user's: where that is reached the chain ends */
} Link;

enum { NO_SECOND = -1 };

typedef struct Chain {
    const spragProblem *problem;
    const spragSolveOptions *options;
    Link link[LINKS_MAX];
    int count;
} Chain;

/* Which links of the chain. */
typedef enum Part {
    WHOLE,
    AGAIN,     /* of a small problem: what found the last step's answer, if the beginning did not */
    BEGINNING, /* some milliseconds in a step: before anybody asks whether there is a solution */
    REST,      /* what follows the beginning */
    DESPITE,   /* of the rest, what is tried although a wedge stands against a solution */
    SWEPT,     /* sweeps alone, as many as asked for */
    WITHIN     /* what generation solves its own problems by: all but generation */
} Part;

static int saysEnough(const spragSolveOptions *options)
{
    return options->enough > options->tolerance && options->solver == SPRAG_SOLVER_AUTO;
}

static int isPrompt(const spragProblem *problem, const spragSolveOptions *options)
{
    return problem->contact_count <= SMALL && saysEnough(options);
}

/* How many Newton steps the work pays for: each is a dense factorisation and some passes over W. */
static int stepsWorth(const spragProblem *problem, double work)
{
    const double n = problem->contact_count;
    return (int)fmin(STEPS_SMALL, work / (n * n * n / 3 + 10 * n * n));
}

/* A limit of the user's takes the place of `limit`. */
static Link *add(Chain *chain, const spragSolver *method, int limit, double tolerance)
{
    const int asked = chain->options->iteration_limit;
    Link *link = &chain->link[chain->count];
    *link = (Link){.method = method,
                   .manner = chain->count++ == 0 ? PREFERRED : BETTER,
                   .limit = asked > 0 ? asked : limit,
                   .from_rest = NO_SECOND,
                   .tolerance = tolerance};
    return link;
}

/* twice: from r = 0 too, as a guess may lead astray (mu = 50 or 300 in games, contacts on bodies that hardly move). */
static void addNewton(Chain *chain, int limit, int twice, double tolerance)
{
    const int asked = chain->options->iteration_limit;
    Link *link = add(chain, &spragSolverNewton, limit, tolerance);
    if (twice)
        link->from_rest = asked > 0 ? asked : STEPS_FROM_REST;
}

/* Of the mode search where it is shown an answer, or what was one in the last step; 0: no limit. */
static int roundsKnown(const spragProblem *problem)
{
    return problem->contact_count > SEARCH_CHEAP ? ROUNDS_KNOWN : 0;
}

/* prompt: after some milliseconds `enough` will do. */
static void chainSmall(Chain *chain, Part part)
{
    const spragProblem *problem = chain->problem;
    const spragSolveOptions *options = chain->options;
    const int n = problem->contact_count, prompt = isPrompt(problem, options);
    const double tolerance = options->tolerance, content = prompt ? options->enough : tolerance;
    if (part == AGAIN) {
        add(chain, &spragSolverVariant, roundsKnown(problem), tolerance); /* else it would be hard for ever */
        add(chain, &spragSolverAgain, 0, tolerance);
        return;
    }
    add(chain, &spragSolverVariant, 0, tolerance);
    const int free = spragProblemHasFreeRows(problem), steps = spragConesApply(problem) ? STEPS_SMALL : STEPS_POINTS;
    const int few = spragProblemIsPlain(problem) ? STEPS_PROMPT : stepsWorth(problem, WORK_PROMPT);
    if (part != REST && part != DESPITE)
        addNewton(chain, prompt ? few : steps, !prompt, tolerance);
    if (part == BEGINNING)
        return;
    if (part != WITHIN && !free) /* the rest of the chain eliminates free rows first */
        add(chain, &spragSolverGeneration, 0, content);
    if (part == DESPITE)
        return;
    if (free)
        add(chain, &spragSolverFreeRows, 0, content);
    add(chain, &spragSolverTrace, STEPS_TRACED, content);
    if (prompt)
        addNewton(chain, part == WITHIN ? STEPS_WITHIN : stepsWorth(problem, WORK_PATIENT), part != WITHIN, content);
    if (n <= (prompt ? SMALL / 2 : SMALL)) /* its pivots grow with n^2 */
        add(chain, &spragSolverLemke, prompt ? PIVOTS_PROMPT * n : 0, content);
}

/* 1: joints couple nearly all blocks, each with each. */
static int isOneMechanism(const spragProblem *problem)
{
    const double n = problem->contact_count;
    const spragReaches *reaches = spragReachesOf(problem);
    return problem->linked != NULL && (reaches != NULL ? reaches->entries : problem->block_count) > COUPLED * n * n;
}

static void chainLarge(Chain *chain, Part part)
{
    const spragProblem *problem = chain->problem;
    const spragSolveOptions *options = chain->options;
    const int glued = spragProblemIsGlued(problem), in_velocities = glued && spragGlueSuits(problem);
    const int limited = options->work_limit > 0;
    const int traced = !limited && options->solver == SPRAG_SOLVER_AUTO && spragProblemIsPlain(problem);
    const int patient = !limited && !traced; /* each method may take as long as it needs */
    const double tolerance = options->tolerance;
    const double content =
        in_velocities || (!glued && saysEnough(options)) ? fmax(tolerance, options->enough) : tolerance;
    const int most = isOneMechanism(problem) ? SWEEPS_LINKED : SWEEPS_FIRST;
    if (in_velocities)
        add(chain, &spragSolverGlue, 0, tolerance);
    if (glued)
        addNewton(chain, 0, patient, content);
    add(chain, &spragSolverSweeps, limited ? (int)fmin(most, options->work_limit / problem->block_count + 1) : 0,
        glued ? content : tolerance);
    if (!glued)
        addNewton(chain, 0, patient, content);
    if (limited && !glued && part != WITHIN && !spragProblemIsLean(problem) &&
        !spragProblemHasFreeRows(problem)) /* as in chainSmall */
        add(chain, &spragSolverGeneration, 0, content);
    if (patient)
        add(chain, &spragSolverGaussSeidel, 0, content);
    if (traced)
        add(chain, &spragSolverTurns, 0, content);
}

/* A method that the user asks for by name has no limit of ours. */
static void chainOf(Chain *chain, Part part)
{
    const spragSolveOptions *options = chain->options;
    const int small = chain->problem->contact_count <= SMALL;
    if (part == SWEPT) {
        add(chain, &spragSolverProbe, 0, options->tolerance);
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
        else
            chainLarge(chain, part);
    }
}

/* ---------------------------------------------------------------- one link */

/* The best answer so far, and room for the next.  To judge r is to multiply by W, so u is kept: the caller asks for it,
 * and it says what creeps. */
typedef struct Run {
    const spragProblem *problem;
    const spragSolveOptions *options;
    spragSolveOptions left; /* what the present link is asked for, in what is left of the time */
    double begin;           /* s */
    spragArena *arena;
    double *r, *u;                   /* (3 nc) u = W r + q */
    double *candidate, *candidate_u; /* (3 nc) */
    spragSolveInfo *info;            /* info->residual: of r */
} Run;

static int isSolved(const Run *run)
{
    return run->info->residual <= run->options->tolerance;
}

/* 1: the time is up.  Else run->left has what is left of it. */
static int timeIsUp(Run *run)
{
    if (!(run->options->time_limit > 0))
        return 0;
    run->left.time_limit = run->options->time_limit - (spragSeconds() - run->begin);
    return run->left.time_limit <= 0;
}

/* Runs one method from the best answer so far, or from r = 0. */
static spragStatus tryMethod(Run *run, const spragSolver *method, Manner manner)
{
    const spragProblem *problem = run->problem;
    spragSolveInfo *info = run->info;
    const spragArenaMark mark = spragArenaMarkGet(run->arena);
    const size_t bytes = (size_t)(3 * problem->contact_count) * sizeof *run->r;
    memcpy(run->candidate, run->r, bytes);
    if (manner == FROM_REST)
        memset(run->candidate, 0, bytes);
    const int before = info->iterations;
    const spragStatus status = method->solve(problem, &run->left, run->arena, run->candidate, info);
    spragArenaRelease(run->arena, mark);
    info->method_iterations[method->kind] += info->iterations - before;
    if (status == SPRAG_ERROR_MEMORY)
        return status;
    const int same = memcmp(run->r, run->candidate, bytes) == 0;
    const double residual = same ? info->residual : spragProblemJudge(problem, run->candidate, run->candidate_u);
    const int good = manner == PREFERRED && residual <= run->left.tolerance;
    if (residual < info->residual || isnan(info->residual) || good) {
        if (!same) {
            memcpy(run->r, run->candidate, bytes);
            memcpy(run->u, run->candidate_u, bytes);
            info->solver = method->kind;
        }
        info->residual = residual;
    }
    return SPRAG_OK;
}

static int isRest(const Run *run)
{
    for (int i = 0; i < 3 * run->problem->contact_count; ++i)
        if (run->r[i] != 0)
            return 0;
    return 1;
}

static spragStatus tryLink(Run *run, const Link *link)
{
    const int again = link->from_rest != NO_SECOND && !isRest(run);
    run->left.tolerance = link->tolerance;
    run->left.iteration_limit = link->limit;
    spragStatus status = tryMethod(run, link->method, link->manner);
    if (again && status == SPRAG_OK &&
        run->info->residual > fmax(link->tolerance, spragProblemRounding(run->problem, run->r)) && !timeIsUp(run)) {
        run->left.iteration_limit = link->from_rest;
        status = tryMethod(run, link->method, FROM_REST);
    }
    run->left.iteration_limit = run->options->iteration_limit;
    return status;
}

/* ---------------------------------------------------------------- what comes before and after */

/* (m/s)^2, sum of the squares of all contacts' residuals. */
static double squaresOf(const spragProblem *problem, const double *r, const double *u)
{
    double sum = 0;
    for (int k = 0; k < problem->contact_count; ++k) {
        const double residual = spragBlockResidual(problem, k, r, u + 3 * k);
        sum += residual * residual;
    }
    return sum;
}

#define FEW 0.1 /* of the sum of squares of r = 0: below it only a few contacts are wrong */

/* r = 0 in place of a guess that is worse than none: from there sweeps take longer, or their number does not suffice.
 *
 * The residual of r = 0 is max |q| (1 + mu) at most.  Where the guess has more, a few contacts may be the reason, as
 * when a ball lands on a pile at rest, whose other impulses are right; so the sums of the squares of all residuals
 * decide.  (Judged by the worst contact alone such steps of 1200 balls took 1700 sweeps to 5e-5 .. 6e-6 m/s; now they
 * take 264 to 568 to 1e-6.  Their sums are 0.01 to 0.07 of that of r = 0.  Piles of boxes that shake have 0.1 to 0.8,
 * and come to rest sooner from r = 0, which has no self-stress.) */
static void dropBadGuess(Run *run)
{
    const spragProblem *problem = run->problem;
    const size_t n = 3 * (size_t)problem->contact_count;
    double most = 0;
    for (size_t i = 0; i < n; ++i)
        most = fmax(most, fabs(problem->q[i]));
    if (run->info->residual <= most)
        return;
    memset(run->candidate, 0, n * sizeof *run->candidate);
    if (squaresOf(problem, run->r, run->u) <= FEW * squaresOf(problem, run->candidate, problem->q))
        return;
    memset(run->r, 0, n * sizeof *run->r);
    memcpy(run->u, problem->q, n * sizeof *run->u);
    run->info->residual = spragVelocityResidual(problem, run->r, run->u);
}

/* 1: there is no time for three steps of the mode search, each a dense factorisation. */
static int isHurried(Run *run)
{
    const double n = run->problem->contact_count;
    return timeIsUp(run) || (run->left.time_limit > 0 && run->left.time_limit < 3 * SECONDS_PER_CUBE * n * n * n);
}

/* A small island without time for anything else is swept: as long as there is time, or SWEEPS_LATE times if there is
 * none. */
static spragStatus lastSweeps(Run *run)
{
    spragSolveOptions *left = &run->left;
    dropBadGuess(run);
    const int late = !(left->time_limit > 0);
    left->iteration_limit = late ? SWEEPS_LATE : 0;
    left->time_limit = late ? 0 : left->time_limit;
    const spragStatus status = tryMethod(run, &spragSolverSweeps, BETTER);
    return status != SPRAG_OK || run->info->residual <= left->tolerance ? status : SPRAG_LIMIT;
}

/* 1: what holds moves, and by more than rounding.  Who limits the iterations has asked for no more than that. */
static int creeps(const Run *run)
{
    return run->options->iteration_limit == 0 &&
           spragVelocityCreep(run->problem, run->r, run->u) > SPRAG_CREEP_ROUNDING;
}

/* Ends the creeping of an answer within tolerance (problem/creep.h).  Newton's method ends at rounding, and then a pile
 * at rest begins every step with its answer.  Where that costs too much, and for the last digits, a few sweeps in every
 * step come nearer from step to step.
 *
 * Tried and dropped: conjugate gradients on the rows that hold.  225 products with W bring 1000 balls at rest from 7e-8
 * to 5e-14 m/s in one step, where eight sweeps a step take 250 steps; but one ball that still rolls at 1e-9 m/s wakes
 * 1e-12 m/s everywhere in each step, and the steps after it cost the same. */
static spragStatus calm(Run *run)
{
    const int exact = run->left.tolerance <= SPRAG_CREEP_MATTERS, has_bodies = run->problem->bodies != NULL;
    const int matters = spragCreepMatters(run->left.tolerance, run->u, run->problem->contact_count);
    const int cheap = has_bodies || run->problem->linked != NULL;
    const spragSolver *const newton = cheap ? &spragSolverPolish : exact ? &spragSolverNewton : NULL;
    const spragSolver *method[3] = {NULL, has_bodies ? &spragSolverCalm : NULL, NULL};
    double creep = spragVelocityCreep(run->problem, run->r, run->u);
    method[creep > SPRAG_CREEP_SLOW ? 0 : 2] = newton;
    spragStatus status = SPRAG_OK;
    for (int k = 0; k < 3 && creep > SPRAG_CREEP_ROUNDING && status != SPRAG_ERROR_MEMORY; ++k) {
        if (method[k] == NULL || (method[k] == newton && (creep <= SPRAG_CREEP_SLOW || !matters)))
            continue;
        const double asked = run->left.tolerance;
        run->left.tolerance =
            method[k] == &spragSolverPolish && asked >= SPRAG_CREEP_MATTERS ? TOLERANCE_POLISH : asked;
        status = tryMethod(run, method[k], BETTER);
        run->left.tolerance = asked;
        creep = spragVelocityCreep(run->problem, run->r, run->u);
    }
    return status == SPRAG_ERROR_MEMORY ? status : SPRAG_OK;
}

/* ---------------------------------------------------------------- the chain */

/* Before a large problem is swept: its guess may be an answer, or so near that Newton's method ends at once. */
static spragStatus tryGuess(Run *run)
{
    dropBadGuess(run);
    if (isSolved(run))
        return creeps(run) ? calm(run) : SPRAG_OK;
    if ((run->problem->bodies == NULL && run->problem->linked == NULL) || run->options->iteration_limit > 0)
        return SPRAG_OK;
    const spragStatus status = timeIsUp(run) ? SPRAG_OK : tryMethod(run, &spragSolverAtOnce, BETTER);
    if (!isSolved(run) && timeIsUp(run))
        run->left.time_limit = SPRAG_TIME_LEAST;
    return status;
}

/* After a link that solved the problem: of a small one the mode search, which knows the policy; of a large one the end
 * of creeping. */
static spragStatus finish(Run *run, const Link *link, const Link *first)
{
    if (link != first && first->method == &spragSolverVariant) {
        const int limit = roundsKnown(run->problem);
        run->left.iteration_limit = limit > 0 ? limit : run->left.iteration_limit;
        const spragStatus status = tryMethod(run, &spragSolverVariant, PREFERRED);
        run->left.iteration_limit = run->options->iteration_limit;
        return status;
    }
    return link->method == &spragSolverSweeps && creeps(run) ? calm(run) : SPRAG_OK;
}

static spragStatus runChain(Run *run, Part part)
{
    spragSolveInfo *info = run->info;
    Chain chain = {.problem = run->problem, .options = run->options};
    chainOf(&chain, part);
    const Link *first = chain.link;
    const int searched = first->method == &spragSolverVariant, swept = first->method == &spragSolverSweeps;
    spragStatus status = SPRAG_OK;
    info->residual = spragProblemJudge(run->problem, run->r, run->u);
    if (searched && isHurried(run)) {
        status = isSolved(run) ? SPRAG_OK : lastSweeps(run);
        if (status != SPRAG_LIMIT || timeIsUp(run))
            return status;
        status = SPRAG_OK;
    }
    if (swept)
        status = tryGuess(run);
    else if (first->method == &spragSolverGaussSeidel || part == SWEPT)
        dropBadGuess(run);
    if (status != SPRAG_OK || (swept && isSolved(run)))
        return status;
    for (const Link *link = first; link < first + chain.count; ++link) {
        if (link->tolerance > run->options->tolerance && info->residual <= link->tolerance)
            break;
        info->fallback = link > first + swept; /* Newton's method after sweeps is no exception */
        status = tryLink(run, link);
        const int solved = isSolved(run), late = timeIsUp(run);
        if (status == SPRAG_OK && solved && !late)
            status = finish(run, link, first);
        if (status != SPRAG_OK || solved)
            return status;
        if (late)
            return searched ? lastSweeps(run) : SPRAG_LIMIT;
        if (info->residual <= spragProblemRounding(run->problem, run->r))
            break;
    }
    return run->options->iteration_limit > 0 ? SPRAG_LIMIT : SPRAG_NOT_CONVERGED;
}

/* What most small islands need in most steps.  1: that solved it.  u may be NULL. */
static int solveSmall(const spragProblem *problem, const spragSolveOptions *options, double *r, double *u,
                      spragSolveInfo *info)
{
    int solved;
    if (spragSingleIs(problem)) {
        spragSingleSolve(problem, options, r, info);
        info->residual = spragProblemResidual(problem, r);
        solved = info->residual <= options->tolerance;
        if (solved && u != NULL)
            spragProblemVelocity(problem, r, u);
    } else {
        solved = spragVariantWarm(problem, options, r, u, info);
        info->residual = solved ? info->residual : NAN; /* that of the guess is not known yet */
        if (!solved && u != NULL && problem->contact_count <= SMALL)
            solved = spragVariantRests(problem, options, r, u, info);
    }
    info->method_iterations[SPRAG_SOLVER_VARIANT] = info->iterations;
    return solved;
}

static spragStatus solveChain(const spragProblem *problem, const spragSolveOptions *options, Part part,
                              spragArena *arena, double *r, double *u, spragSolveInfo *info)
{
    *info = (spragSolveInfo){.residual = NAN, .solver = SPRAG_SOLVER_VARIANT};
    const double begin = options->time_limit > 0 ? spragSeconds() : 0;
    if ((options->solver == SPRAG_SOLVER_AUTO || options->solver == SPRAG_SOLVER_VARIANT) && part != SWEPT &&
        solveSmall(problem, options, r, u, info))
        return info->status = SPRAG_OK;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const size_t n = 3 * (size_t)problem->contact_count;
    double *room = SPRAG_TAKE_RAW(arena, double, (u == NULL ? 4 : 3) * n);
    Run run = {
        .problem = problem, .options = options, .left = *options, .begin = begin, .arena = arena, .r = r, .info = info};
    spragStatus status = SPRAG_ERROR_MEMORY;
    if (room != NULL) {
        double *const guess = room + 2 * n;
        run.candidate = room, run.candidate_u = room + n;
        run.u = u == NULL ? room + 3 * n : u;
        memcpy(guess, r, n * sizeof *r);
        status = runChain(&run, part);
        if (status == SPRAG_ERROR_MEMORY) /* of a later link */
            memcpy(r, guess, n * sizeof *r);
    }
    spragArenaRelease(arena, mark);
    return info->status = status;
}

spragStatus spragChainSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                            double *u, spragSolveInfo *info)
{
    return solveChain(problem, options, WHOLE, arena, r, u, info);
}

spragStatus spragChainAgain(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                            double *u, spragSolveInfo *info)
{
    spragSolveOptions own = *options;
    own.work_limit = own.work_limit > 0 ? fmin(own.work_limit, WORK_PROMPT) : WORK_PROMPT;
    return solveChain(problem, &own, AGAIN, arena, r, u, info);
}

int spragChainHastens(const spragProblem *problem, const spragSolveOptions *options)
{
    return isPrompt(problem, options);
}

spragStatus spragChainBegin(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                            double *u, spragSolveInfo *info)
{
    return solveChain(problem, options, BEGINNING, arena, r, u, info);
}

spragStatus spragChainGoOn(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                           double *u, spragSolveInfo *info)
{
    return solveChain(problem, options, REST, arena, r, u, info);
}

spragStatus spragChainDespite(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                              double *r, double *u, spragSolveInfo *info)
{
    return solveChain(problem, options, DESPITE, arena, r, u, info);
}

spragStatus spragChainProbe(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                            double *u, spragSolveInfo *info)
{
    return solveChain(problem, options, SWEPT, arena, r, u, info);
}

spragStatus spragChainWithin(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                             double *r, double *u, spragSolveInfo *info)
{
    return solveChain(problem, options, WITHIN, arena, r, u, info);
}
