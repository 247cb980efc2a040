/* The chain: runs the methods of chain_links.h one after the other.
 *
 * Each begins at the best answer so far; spragProblemResidual judges what it finds, and the chain ends as soon as an
 * answer is good enough. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "problem/creep.h"
#include "problem/residual.h"
#include "solve/chain/chain_links.h"
#include "solve/contact/single.h"
#include "solve/newton/proximal.h"

/* m/s, of a polish where the tolerance is SPRAG_CREEP_MATTERS or more.  It ends at SPRAG_EXACT of it: where creep
 * is rounding.  (With a tolerance of 1e-6 it ended at 1e-10, while rest asks for creep of 5e-13: 300 boxes at rest got
 * their W in nearly every step, and eight sweeps.  A pile that Newton has brought to rounding rests for some ten steps
 * on its guesses alone.  Below that tolerance it ends near enough; asked for more, a wall of 85 bricks crept at
 * 5.6e-9 in 16 of 300 steps.) */
#define TOLERANCE_POLISH (SPRAG_CREEP_ROUNDING / SPRAG_EXACT)

#define SECONDS_PER_CUBE 1e-8 /* s: a dense factorisation of n blocks takes this times n^3 */

/* Of the tolerance: in a step an answer of a small island that leaves more is refined. */
#define COARSE 1e-2
#define ROUGH 1e-2          /* of spragNear: a tolerance beyond it is no wish for more */
enum { STEPS_REFINE = 60 }; /* of Newton's method; most answers take some 45 with its sweeps */

/* Sweeps, visits of every contact, of a small island whose time is up.  Twelve contacts, each coupled with each, take
 * 0.04 ms and end at 2e-6 m/s in the mean; 5 end at 2e-2, 80 in 0.06 ms at 2e-8. */
enum { SWEEPS_LATE = 20 };

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
    int tumbles;                     /* 1: what it leaves may creep */
} Run;

/* 1: all the work is done.  Else run->left has what is left of it. */
static int workIsUp(Run *run)
{
    const double total = run->options->work_total, left = total - run->info->work;
    if (!(total > 0))
        return 0;
    run->left.work_total = fmax(left, 1);
    if (run->options->work_limit > 0)
        run->left.work_limit = fmin(run->options->work_limit, run->left.work_total);
    return left <= 0;
}

/* Steps of a link that are left of `limit`; 0, the method's own: it goes by left.work_limit, as of a large problem. */
static int stepsLeft(const Run *run, int limit)
{
    const int count = run->problem->contact_count;
    if (!(run->left.work_total > 0) || count > SPRAG_CHAIN_SMALL || limit == 0)
        return limit;
    const int left = spragChainStepsWorth(count, run->left.work_total) + 1;
    return limit < left ? limit : left;
}

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

/* Each method counts its own work.  Steps on a small problem count as dense ones at least, by which its limits were
 * measured (sparse ones take down to a fifth), but for the methods that solve parts, generation.c and free_rows.c, and
 * for the path with sparse factors.  before: with it, info->work was so much. */
static void countWork(const Run *run, const spragSolver *method, int iterations, double before)
{
    const int count = run->problem->contact_count, swept = method->kind == SPRAG_SOLVER_GAUSS_SEIDEL;
    if (count <= SPRAG_CHAIN_SMALL && !method->in_parts && !swept)
        run->info->work = fmax(run->info->work, before + iterations * spragChainStepWork(count));
}

/* Runs one method from the best answer so far, or from r = 0. */
static spragStatus tryMethod(Run *run, const spragSolver *method, spragLinkRun run_as)
{
    const spragProblem *problem = run->problem;
    spragSolveInfo *info = run->info;
    const spragArenaMark mark = spragArenaMarkGet(run->arena);
    const size_t bytes = (size_t)(3 * problem->contact_count) * sizeof *run->r;
    memcpy(run->candidate, run->r, bytes);
    if (run_as == SPRAG_FROM_ZERO)
        memset(run->candidate, 0, bytes);
    const int before = info->iterations;
    const double work = info->work;
    const spragStatus status = method->solve(problem, &run->left, run->arena, run->candidate, info);
    spragArenaRelease(run->arena, mark);
    info->method_iterations[method->kind] += info->iterations - before;
    countWork(run, method, info->iterations - before, work);
    if (status == SPRAG_ERROR_MEMORY)
        return status;
    const int same = memcmp(run->r, run->candidate, bytes) == 0;
    const double residual = same ? info->residual : spragProblemJudge(problem, run->candidate, run->candidate_u);
    const int good = run_as == SPRAG_IF_SOLVED && residual <= run->left.tolerance;
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

static int isZero(const Run *run)
{
    for (int i = 0; i < 3 * run->problem->contact_count; ++i)
        if (run->r[i] != 0)
            return 0;
    return 1;
}

static spragStatus tryLink(Run *run, const spragChainLink *link)
{
    const int again = link->second_limit != SPRAG_NO_SECOND && !isZero(run);
    run->left.tolerance = link->tolerance;
    run->left.iteration_limit = stepsLeft(run, link->limit);
    spragStatus status = tryMethod(run, link->method, link->run_as);
    if (again && status == SPRAG_OK && run->info->residual > link->tolerance &&
        !spragProblemIsAtRounding(run->problem, run->r, run->info->residual) && !timeIsUp(run) && !workIsUp(run)) {
        run->left.iteration_limit = stepsLeft(run, link->second_limit);
        status = tryMethod(run, link->method, SPRAG_FROM_ZERO);
    }
    run->left.iteration_limit = run->options->iteration_limit;
    return status;
}

/* ---------------------------------------------------------------- what comes before and after */

/* r = 0 in place of a guess that is worse than none: from there sweeps take longer, or their number does not suffice.
 * (The residual of r = 0 is max |q| (1 + mu) at most.) */
static void dropBadGuess(Run *run)
{
    const spragProblem *problem = run->problem;
    const size_t n = 3 * (size_t)problem->contact_count;
    double most = 0;
    for (size_t i = 0; i < n; ++i)
        most = fmax(most, fabs(problem->q[i]));
    if (run->info->residual <= most)
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
    left->tolerance = run->options->tolerance; /* the last link's may be `enough` */
    left->iteration_limit = late ? SWEEPS_LATE : 0;
    left->time_limit = late ? 0 : left->time_limit;
    const spragStatus status = tryMethod(run, &spragSolverSweeps, SPRAG_IF_BETTER);
    return status != SPRAG_OK || run->info->residual <= left->tolerance ? status : SPRAG_LIMIT;
}

/* m/s, of what holds. */
static double creepOf(const Run *run)
{
    return spragVelocityCreep(run->problem, run->r, run->u);
}

/* 1: what holds moves, and by more than rounding.  Who limits the iterations has asked for no more than that. */
static int creeps(const Run *run)
{
    return run->options->iteration_limit == 0 && !run->tumbles && creepOf(run) > SPRAG_CREEP_ROUNDING;
}

/* Newton's method from an answer. */
static spragStatus polish(Run *run)
{
    const double asked = run->left.tolerance;
    run->left.tolerance = asked >= SPRAG_CREEP_MATTERS ? TOLERANCE_POLISH : asked;
    const spragStatus status = tryMethod(run, &spragSolverNewtonPolish, SPRAG_IF_BETTER);
    run->left.tolerance = asked;
    return status;
}

/* Ends the creeping of an answer within tolerance (problem/creep.h), in worlds, whose problems have bodies: files have
 * no next step.  Newton's method ends at rounding, and then a pile at rest begins every step with its answer.  Where
 * that costs too much, and for the last digits, a few sweeps in every step come nearer from step to step. */
static spragStatus calm(Run *run)
{
    const spragProblem *problem = run->problem;
    const int swept = problem->bodies != NULL, fast = creepOf(run) > SPRAG_CREEP_SLOW,
              polished = (swept || problem->linked != NULL) &&
                         spragCreepMatters(run->left.tolerance, run->u, problem->contact_count);
    spragStatus status = SPRAG_OK;
    if (fast && polished)
        status = polish(run);
    if (swept && status == SPRAG_OK && creepOf(run) > SPRAG_CREEP_ROUNDING)
        status = tryMethod(run, &spragSolverSweepsCalm, SPRAG_IF_BETTER);
    if (!fast && polished && status == SPRAG_OK && creepOf(run) > SPRAG_CREEP_SLOW)
        status = polish(run);
    return status;
}

/* ---------------------------------------------------------------- the chain */

/* m/s: what is above it came in this step, as a blow.  (What creeps is Newton's, who ends it among bodies: the rubble
 * of a wall took 1.5 times the time.) */
#define STRUCK 1e-3
#define FAST 0.1 /* m/s: walls that begin to stand are slower, and come to rest by answers to rounding */

/* A guess that is wrong in places only (disturbed.c).  Its answer is not polished: what was struck moves on. */
static spragStatus tryDisturbed(Run *run)
{
    double most = 0;
    for (int i = 0; i < 3 * run->problem->contact_count; ++i)
        most = fmax(most, fabs(run->u[i]));
    if (!(run->info->residual > STRUCK && most > FAST) || isZero(run) ||
        !spragDisturbedSuits(run->problem, run->options))
        return SPRAG_NOT_CONVERGED;
    const spragStatus status = tryMethod(run, &spragSolverDisturbed, SPRAG_IF_BETTER);
    return status == SPRAG_OK && !isSolved(run) ? SPRAG_NOT_CONVERGED : status;
}

/* Before a large problem is swept: its guess may be an answer, or so near that Newton's method ends at once (which
 * approached problems meet as a link). */
static spragStatus tryGuess(Run *run, int approached)
{
    const spragStatus locally = tryDisturbed(run);
    if (locally != SPRAG_NOT_CONVERGED)
        return locally;
    dropBadGuess(run);
    if (isSolved(run))
        return creeps(run) ? calm(run) : SPRAG_OK;
    if ((run->problem->bodies == NULL && run->problem->linked == NULL) || run->options->iteration_limit > 0)
        return SPRAG_OK;
    const int asked = !timeIsUp(run) && !approached;
    const spragStatus status = asked ? tryMethod(run, &spragSolverNewtonWarm, SPRAG_IF_BETTER) : SPRAG_OK;
    if (!isSolved(run) && timeIsUp(run))
        run->left.time_limit = SPRAG_TIME_LEAST;
    return status;
}

/* After a link that solved the problem: of a small one the mode search, which knows the policy; of a large one the end
 * of creeping. */
static spragStatus finish(Run *run, const spragChainLink *link, const spragChainLink *first)
{
    if (link != first && first->method == &spragSolverVariant && !link->method->final) {
        const int limit = spragChainRoundsKnown(run->problem);
        run->left.iteration_limit = limit > 0 ? limit : run->left.iteration_limit;
        run->left.tolerance = run->options->tolerance; /* the link's may be `enough`, and its answer is better */
        const spragStatus status = tryMethod(run, &spragSolverVariant, SPRAG_IF_SOLVED);
        run->left.iteration_limit = run->options->iteration_limit;
        return status;
    }
    return link->method->sweeps && creeps(run) ? calm(run) : SPRAG_OK;
}

/* 1: the problem of a step, small, with joints that drive its bodies, and its polish has ended far from rounding.  (Of
 * 1e6 kg on 1 kg rounding is more than COARSE of the tolerance.  Without forces but gravity nothing is gained: three
 * boxes of 1, 1 and 1e4 kg that rest were refined in two of three steps, and took five times as long; ragdolls that lie
 * and chains of rigid joints took 1.1 to 1.4 times.) */
static int isCoarse(Run *run, spragChainPart part)
{
    const spragSolveOptions *options = run->options;
    const int of_whole = part != SPRAG_CHAIN_SWEPT && part != SPRAG_CHAIN_NEAR && part != SPRAG_CHAIN_WITHIN &&
                         part != SPRAG_CHAIN_LOCAL;
    return of_whole && run->problem->contact_count <= SPRAG_CHAIN_SMALL && run->problem->driven &&
           options->solver == SPRAG_SOLVER_AUTO && options->work_limit > 0 && options->iteration_limit == 0 &&
           isSolved(run) && options->tolerance <= ROUGH * spragNear(run->problem) &&
           run->info->residual > COARSE * options->tolerance &&
           !spragProblemIsAtRounding(run->problem, run->r, run->info->residual) && !timeIsUp(run) && !workIsUp(run);
}

/* Asks Newton's method for COARSE of the tolerance, and the mode search for the last digits.
 *
 * Where contacts slip at 1e-6 m/s and less, as when a braked car comes to rest, many sets of modes leave less than the
 * tolerance, and the polish's few steps do not get from one to the right one.  Such answers part a contact by some
 * 1e-10 m a step.  After a few of them its overlap is gone (spragCorrection), it falls for a step and hits at 0.2 m/s:
 * cars on five and six wheels, whose forces no motion tells, rocked so for ever.  An exact answer is there. */
static spragStatus refine(Run *run)
{
    const double asked = run->left.tolerance;
    const int steps = spragChainStepsWorth(run->problem->contact_count, SPRAG_WORK_PROMPT);
    run->left.tolerance = COARSE * run->options->tolerance;
    run->left.iteration_limit = stepsLeft(run, steps < STEPS_REFINE ? steps : STEPS_REFINE);
    spragStatus status = tryMethod(run, &spragSolverNewton, SPRAG_IF_BETTER);
    run->left.iteration_limit = spragChainRoundsKnown(run->problem);
    if (status == SPRAG_OK && run->info->residual <= run->left.tolerance && !timeIsUp(run))
        status = tryMethod(run, &spragSolverVariant, SPRAG_IF_SOLVED);
    run->left.iteration_limit = run->options->iteration_limit;
    run->left.tolerance = asked;
    return status;
}

/* The links from `begin` on, one after the other, up to the one that solves it. */
static spragStatus runLinks(Run *run, const spragChainLinks *chain, int begin)
{
    spragSolveInfo *info = run->info;
    const spragChainLink *const first = chain->link;
    for (const spragChainLink *link = first + begin; link < first + chain->count; ++link) {
        if (link->tolerance > run->options->tolerance && info->residual <= link->tolerance)
            break;
        info->fallback = link > first + chain->usual && !link->method->final;
        spragStatus status = tryLink(run, link);
        const int solved = isSolved(run), late = timeIsUp(run);
        if (status == SPRAG_OK && solved && !late)
            status = finish(run, link, first);
        if (status != SPRAG_OK || solved)
            return status;
        if (late)
            return first->method == &spragSolverVariant ? lastSweeps(run) : SPRAG_LIMIT;
        if (workIsUp(run) || spragProblemIsAtRounding(run->problem, run->r, info->residual))
            break;
    }
    return run->options->iteration_limit > 0 ? SPRAG_LIMIT : SPRAG_NOT_CONVERGED;
}

/* Judges the guess, and runs the part's links from there.  A small problem without time for the first of them is swept;
 * a large one is looked at before it is swept. */
static spragStatus runChain(Run *run, spragChainPart part)
{
    spragSolveInfo *info = run->info;
    spragChainLinks chain = {.problem = run->problem, .options = run->options};
    spragChainLinksOf(&chain, part);
    const spragChainLink *first = chain.link;
    const int searched = first->method == &spragSolverVariant, approached = first->method == &spragSolverSweepsNear,
              swept = first->method->sweeps, goes_on = spragChainGoesOn(run->problem, run->options, part);
    spragStatus status = SPRAG_OK;
    run->tumbles = part == SPRAG_CHAIN_TUMBLING;
    info->residual = spragProblemJudge(run->problem, run->r, run->u);
    if (part == SPRAG_CHAIN_SWEPT && isSolved(run))
        return SPRAG_OK;
    if (goes_on && spragProblemIsAtRounding(run->problem, run->r, info->residual))
        return SPRAG_NOT_CONVERGED;
    if (searched && isHurried(run)) {
        status = isSolved(run) ? SPRAG_OK : lastSweeps(run);
        if (status != SPRAG_LIMIT || timeIsUp(run))
            return status;
        status = SPRAG_OK;
    }
    if (swept && !goes_on)
        status = tryGuess(run, approached);
    else if (first->method == &spragSolverGaussSeidel || part == SPRAG_CHAIN_SWEPT)
        dropBadGuess(run);
    if (status != SPRAG_OK || (swept && isSolved(run)))
        return status;
    const int is_near = approached && info->residual <= spragNear(run->problem);
    return runLinks(run, &chain, goes_on ? chain.soon : is_near);
}

/* What most small islands need in most steps.  1: that solved it.  u may be NULL. */
static int solveSmall(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                      double *u, spragSolveInfo *info)
{
    int solved;
    if (spragSingleIs(problem)) {
        spragSingleSolve(problem, options, r, info);
        info->residual = spragProblemResidual(problem, r);
        solved = info->residual <= options->tolerance;
        if (solved && u != NULL)
            spragProblemVelocity(problem, r, u);
    } else {
        /* Rolling friction is twice the blocks: a look at the guess costs less than a step. */
        const int looks = u != NULL && problem->contact_count <= SPRAG_CHAIN_SMALL, first = problem->parent != NULL;
        solved = looks && first && spragVariantRests(problem, options, r, u, info);
        solved = solved || spragVariantWarm(problem, options, arena, r, u, info);
        info->residual = solved ? info->residual : NAN; /* that of the guess is not known yet */
        if (!solved && looks && !first)
            solved = spragVariantRests(problem, options, r, u, info);
    }
    info->method_iterations[SPRAG_SOLVER_VARIANT] = info->iterations;
    info->work = info->iterations * spragChainStepWork(problem->contact_count);
    return solved;
}

#define APART 10 /* tolerances: answers that are further apart are two */

/* Of one contact the policy has the last word, whichever method was asked for by name: it may have come upon the
 * separatrix, or upon another solution than history says. */
static void obeyPolicy(Run *run)
{
    const spragProblem *problem = run->problem;
    spragSolveInfo *info = run->info;
    double *chosen = run->candidate, apart = 0;
    memcpy(chosen, run->r, 3 * sizeof *chosen);
    spragSingleSolve(problem, run->options, chosen, info);
    --info->iterations; /* the method's own are counted */
    const double residual = spragProblemJudge(problem, chosen, run->candidate_u),
                 w = (problem->W[0] + problem->W[4] + problem->W[8]) / 3;
    for (int i = 0; i < 3; ++i)
        apart = fmax(apart, w * fabs(chosen[i] - run->r[i]));
    if (!(residual <= run->options->tolerance) || !(apart > APART * run->options->tolerance))
        return;
    memcpy(run->r, chosen, 3 * sizeof *chosen);
    memcpy(run->u, run->candidate_u, 3 * sizeof *chosen);
    info->residual = residual;
}

/* A limit on all methods is one on each. */
static double workOf(const spragSolveOptions *options)
{
    const double each = options->work_limit > 0 ? options->work_limit : options->work_total;
    return options->work_total > 0 ? fmin(each, options->work_total) : each;
}

spragStatus spragChainSolvePart(spragChainPart part, const spragProblem *problem, const spragSolveOptions *given,
                                spragArena *arena, double *r, double *u, spragSolveInfo *info)
{
    *info = (spragSolveInfo){.residual = NAN, .solver = SPRAG_SOLVER_VARIANT};
    spragSolveOptions options = *given;
    options.work_limit = workOf(given);
    const double begin = options.time_limit > 0 ? spragSeconds() : 0;
    if ((options.solver == SPRAG_SOLVER_AUTO || options.solver == SPRAG_SOLVER_VARIANT) && part != SPRAG_CHAIN_SWEPT &&
        part != SPRAG_CHAIN_NEAR && !spragChainGoesOn(problem, &options, part) &&
        solveSmall(problem, &options, arena, r, u, info))
        return info->status = SPRAG_OK;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const size_t n = 3 * (size_t)problem->contact_count;
    double *room = SPRAG_TAKE_RAW(arena, double, (u == NULL ? 4 : 3) * n);
    Run run = {
        .problem = problem, .options = &options, .left = options, .begin = begin, .arena = arena, .r = r, .info = info};
    spragStatus status = SPRAG_ERROR_MEMORY;
    if (room != NULL) {
        double *const guess = room + 2 * n;
        run.candidate = room, run.candidate_u = room + n;
        run.u = u == NULL ? room + 3 * n : u;
        memcpy(guess, r, n * sizeof *r);
        workIsUp(&run); /* which limits the first link */
        status = runChain(&run, part);
        if (status == SPRAG_OK && isCoarse(&run, part))
            status = refine(&run);
        if (status == SPRAG_ERROR_MEMORY) /* of a later link */
            memcpy(r, guess, n * sizeof *r);
        else if (status == SPRAG_OK && options.solver != SPRAG_SOLVER_AUTO && spragSingleIs(problem))
            obeyPolicy(&run);
    }
    spragArenaRelease(arena, mark);
    return info->status = status;
}

spragStatus spragChainSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                            double *u, spragSolveInfo *info)
{
    return spragChainSolvePart(SPRAG_CHAIN_WHOLE, problem, options, arena, r, u, info);
}
