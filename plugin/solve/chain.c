/* The chain: cheapest method first, each answer judged by the residual, the best iterate handed over warm.
 *
 *     one block             all its solutions (local.c), the policy's choice
 *     a few blocks          the modes of the guess, verified (warm.c)
 *     up to SMALL blocks    mode search; Newton with an interior point; where rows are free the chain on the rest of them;
 *                           in a step the traced path and Newton with all its time; the traced path; Gauss-Seidel;
 *                           Lemke
 *     more                  Newton from a warm guess, where a step costs no more than some sweeps; Gauss-Seidel while it
 *                           pays; Newton with an interior point; Gauss-Seidel; without a limit of work sweeps
 *                           and the traced path by turns
 *     more, all glued       in the velocities of bodies (glue), then Newton: heaps that hold by infinite friction are
 *                           convex, and nothing slides, so that sweeps carry a change no further than from body to body
 *
 * What another method finds for a small island goes through the mode search once more: it is the one that knows a
 * separatrix when it sees it, and the policy. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "problem/creep.h"
#include "problem/residual.h"
#include "solve/cone_block.h"
#include "solve/glue.h"
#include "solve/policy.h"
#include "solve/solver.h"

/* 3x3 products, some 5 ms, before a small problem contents itself with options->enough.  (A car whose friction is 50
 * stands on forty contacts that all but repeat each other: slips of 1e-7 m/s oppose each other, and 1e-8 takes a second,
 * if it is found at all.) */
#define WORK_PROMPT 1e6
#define WORK_PATIENT 1.5e8 /* the same, some 0.3 s: before it contents itself with what it has */
/* m/s: who asks for no more than this does not pay for sticking contacts that do not creep while others move. */
#define CREEP_MATTERS 1e-7
#define CREEP 5e-13   /* m/s: faster than this nothing creeps */
#define SETTLED 1e-13 /* m/s: and slower than this it has come to rounding */
#define STILL 10      /* tolerances */

#define SECONDS_PER_CUBE 1e-8 /* s, of a dense factorisation for n blocks, over n^3 */
#define TIME_LEAST 1e-9       /* s: the least that is a limit; some sweeps are made all the same */

enum {
    SMALL = 60,          /* blocks, measured: beyond it the mode search costs more than it saves */
    STEPS_SMALL = 10000, /* a path through the folds of friction of 50 or 300 takes 100 to 5000 */
    STEPS_FROM_REST = 2500,
    SWEEPS_LAST = 3000,
    SWEEPS_LATE = 20,
    SWEEPS_PROMPT = 300,
    PIVOTS_PROMPT = 20, /* a contact */
    LINKS_MAX = 8,
    STEPS_TRACED = 600, /* of a path of a small island that leads somewhere; most end after 50 to 300 */
    LINK_PROMPT = 1     /* the last before a small island in a step contents itself with enough */
};

/* ---------------------------------------------------------------- one block */

/* A two-sided contact loaded on its other side is the mirror image. */
static int solveRegular(spragBlockKind kind, const double W[9], const double q[3], double mu, double mu_minus,
                        double r[3])
{
    if (kind == SPRAG_BLOCK_CONTACT || (kind == SPRAG_BLOCK_TWO_SIDED && q[0] < 0))
        return spragLocalRegular(W, q, mu, r);
    if (kind != SPRAG_BLOCK_TWO_SIDED || q[0] == 0)
        return 0;
    const double mirror[9] = {W[0], -W[1], -W[2], -W[3], W[4], W[5], -W[6], W[7], W[8]}, p[3] = {-q[0], q[1], q[2]};
    double s[3];
    if (!spragLocalRegular(mirror, p, mu_minus, s))
        return 0;
    r[0] = -s[0], r[1] = s[1], r[2] = s[2];
    return 1;
}

/* A problem without history tells of the motion before only by q: the contact slides as it would end without force. */
static spragContactHistory historyOf(const spragProblem *problem)
{
    if (problem->history != NULL)
        return problem->history[0];
    return (spragContactHistory){
        .slip = {problem->q[1], problem->q[2]}, .free_acceleration = problem->q[0], .fresh = 1};
}

static void solveSingle(const spragProblem *problem, const spragSolveOptions *options, double *r, spragSolveInfo *info)
{
    const spragBlockKind kind = spragKindOf(problem, 0);
    const double mu = problem->mu[0], mu_minus = spragMuMinusOf(problem, 0);
    const double *W = problem->W, *q = problem->q;
    ++info->iterations;
    if (kind == SPRAG_BLOCK_BOX) {
        spragBoxBlockSolve(W, q, problem->bound, problem->bound + 3, r);
        return;
    }
    if (kind == SPRAG_BLOCK_FORCE_LIMIT) {
        spragDiscBlockSolve(W, q, 0, 0, INFINITY, mu, r);
        return;
    }
    if (solveRegular(kind, W, q, mu, mu_minus, r))
        return;
    spragLocalSolution solution[SPRAG_LOCAL_MAX];
    const int count = spragLocalEnumerate(kind, W, q, mu, mu_minus, solution);
    if (count == 0)
        return;
    const spragContactHistory history = historyOf(problem);
    const spragIndicator two_sided = spragIndicatorTwoSided(W, mu, mu_minus, &history);
    const int pick = kind == SPRAG_BLOCK_TWO_SIDED ? spragLocalPickTwoSided(count, solution, &two_sided, &history, info)
                                                   : spragLocalPick(count, solution, mu, W, &history, problem->step,
                                                                    options->indeterminacy, info);
    if (pick >= 0)
        memcpy(r, solution[pick].r, 3 * sizeof *r);
}

/* ---------------------------------------------------------------- the links */

/* The best answer so far, and room for the next.  Whoever judges r has read W: u is kept, which says what creeps, and which
 * the caller asks for. */
typedef struct Best {
    const spragProblem *problem;
    spragArena *arena;
    double *r, *u;                   /* (3 nc) u = W r + q */
    double *candidate, *candidate_u; /* (3 nc) */
    spragSolveInfo *info;            /* info->residual: of r */
} Best;

/* Which links: all, the first, or those that find the way from the answer of nearly the same problem. */
typedef enum Part { WHOLE, BEGINNING, NEARBY } Part;

/* How a link is run: its answer is kept if the judge likes it better than r, or is as good as asked and PREFERRED. */
typedef enum Manner { BETTER, PREFERRED, FROM_REST } Manner;

/* Runs one method from the best answer so far, or from r = 0. */
static spragStatus tryMethod(Best *best, const spragSolver *method, const spragSolveOptions *options, Manner manner)
{
    const spragProblem *problem = best->problem;
    spragSolveInfo *info = best->info;
    const spragArenaMark mark = spragArenaMarkGet(best->arena);
    const size_t bytes = (size_t)(3 * problem->contact_count) * sizeof *best->r;
    memcpy(best->candidate, best->r, bytes);
    if (manner == FROM_REST)
        memset(best->candidate, 0, bytes);
    const int before = info->iterations;
    const spragStatus status = method->solve(problem, options, best->arena, best->candidate, info);
    spragArenaRelease(best->arena, mark);
    info->method_iterations[method->kind] += info->iterations - before;
    if (status == SPRAG_ERROR_MEMORY)
        return status;
    const int same = memcmp(best->r, best->candidate, bytes) == 0;
    const double residual = same ? info->residual : spragProblemJudge(problem, best->candidate, best->candidate_u);
    if (residual < info->residual || isnan(info->residual) || (manner == PREFERRED && residual <= options->tolerance)) {
        if (!same) {
            memcpy(best->r, best->candidate, bytes);
            memcpy(best->u, best->candidate_u, bytes);
            info->solver = method->kind;
        }
        info->residual = residual;
    }
    return SPRAG_OK;
}

static int isPrompt(const spragProblem *problem, const spragSolveOptions *options)
{
    return problem->contact_count <= SMALL && options->enough > options->tolerance &&
           options->solver == SPRAG_SOLVER_AUTO;
}

/* Newton steps worth some work, each a dense factorisation and some passes over W. */
static int stepsWorth(const spragProblem *problem, double work)
{
    const double n = problem->contact_count;
    return (int)fmin(STEPS_SMALL, work / (n * n * n / 3 + 10 * n * n));
}

/* 1: sweeps and the traced path by turns are the chain's last link. */
static int isTraced(const spragProblem *problem, const spragSolveOptions *options)
{
    return problem->contact_count > SMALL && options->solver == SPRAG_SOLVER_AUTO && !(options->work_limit > 0) &&
           spragProblemIsPlain(problem);
}

/* 1: one method may take what time it needs. */
static int isPatient(const spragProblem *problem, const spragSolveOptions *options)
{
    return (problem->contact_count <= SMALL || !(options->work_limit > 0)) && !isTraced(problem, options);
}

static int isGlued(const spragProblem *problem)
{
    return problem->contact_count > SMALL && spragProblemIsGlued(problem);
}

static int chainOf(const spragProblem *problem, const spragSolveOptions *options, Part part,
                   const spragSolver *chain[LINKS_MAX])
{
    int links = 0;
    if (part == NEARBY && problem->contact_count <= SMALL && options->solver == SPRAG_SOLVER_AUTO &&
        spragTraceSuits(problem)) {
        chain[links++] = &spragSolverVariant;
        chain[links++] = &spragSolverTrace;
        return links;
    }
    switch (options->solver) {
    case SPRAG_SOLVER_VARIANT:
        chain[links++] = &spragSolverVariant;
        break;
    case SPRAG_SOLVER_LEMKE:
        chain[links++] = &spragSolverLemke;
        break;
    case SPRAG_SOLVER_GAUSS_SEIDEL:
        chain[links++] = &spragSolverGaussSeidel;
        break;
    case SPRAG_SOLVER_NEWTON:
        chain[links++] = &spragSolverNewton;
        break;
    default:
        if (problem->contact_count <= SMALL)
            chain[links++] = &spragSolverVariant;
        if (isGlued(problem) && spragGlueSuits(problem))
            chain[links++] = &spragSolverGlue;
        if (isGlued(problem))
            chain[links++] = &spragSolverNewton;
        if (problem->contact_count > SMALL)
            chain[links++] = &spragSolverSweeps;
        if (!isGlued(problem))
            chain[links++] = &spragSolverNewton;
        if (problem->contact_count <= SMALL && spragProblemHasFreeRows(problem))
            chain[links++] = &spragSolverFreeRows;
        if (isPrompt(problem, options)) {
            chain[links++] = &spragSolverTrace;
            chain[links++] = &spragSolverNewton;
        }
        if (problem->contact_count <= SMALL)
            chain[links++] = &spragSolverTrace;
        if (isPatient(problem, options))
            chain[links++] = &spragSolverGaussSeidel;
        if (problem->contact_count <= (isPrompt(problem, options) ? SMALL / 2 : SMALL)) /* its pivots grow with n^2 */
            chain[links++] = &spragSolverLemke;
        else if (isTraced(problem, options))
            chain[links++] = &spragSolverTurns;
        break;
    }
    return links;
}

/* Iterations of a link that has others behind it: patience belongs to a method asked for by name. */
static int limitOf(const spragProblem *problem, const spragSolveOptions *options, int links, int link,
                   const spragSolver *method)
{
    if (options->iteration_limit > 0 || links == 1)
        return options->iteration_limit;
    if (method == &spragSolverTrace)
        return STEPS_TRACED;
    if (isPrompt(problem, options)) {
        if (method == &spragSolverNewton)
            return stepsWorth(problem, link <= LINK_PROMPT ? WORK_PROMPT : WORK_PATIENT);
        if (method == &spragSolverLemke)
            return PIVOTS_PROMPT * problem->contact_count;
        if (method == &spragSolverGaussSeidel)
            return SWEEPS_PROMPT;
    }
    if (method == &spragSolverGaussSeidel)
        return problem->contact_count <= SMALL ? SWEEPS_LAST : 0;
    if (method == &spragSolverSweeps && options->work_limit > 0)
        return (int)fmin(SWEEPS_LAST, options->work_limit / problem->block_count + 1);
    return method == &spragSolverNewton && problem->contact_count <= SMALL ? STEPS_SMALL : 0;
}

/* 1: what holds moves faster than who asks for this tolerance puts up with. */
static int creeps(const Best *best, const spragSolveOptions *options)
{
    return options->iteration_limit == 0 && spragVelocityCreep(best->problem, best->r, best->u) > SETTLED;
}

/* 1: nothing moves that the tolerance can tell from rest. */
static int isStill(const Best *best, double tolerance)
{
    double most = 0;
    for (int i = 0; i < 3 * best->problem->contact_count; ++i)
        most = fmax(most, fabs(best->u[i]));
    return most <= STILL * tolerance;
}

/* From an answer within tolerance on: what holds does not creep.  Newton ends at rounding, and then a pile at rest begins
 * every step with its answer; where that is too dear, and for the last digits, sweeps come nearer from step to step.
 *
 * Tried and dropped: conjugate gradients on the rows that hold.  225 products with W bring 1000 balls at rest from 7e-8
 * to 5e-14 m/s in one step, where eight sweeps a step take 250 steps; but one ball that still rolls at 1e-9 m/s wakes 1e-12
 * m/s everywhere in each step, and the steps after it cost the same. */
static spragStatus calm(Best *best, const spragSolveOptions *options)
{
    const int exact = options->tolerance <= CREEP_MATTERS, plain = best->problem->bodies != NULL;
    const spragSolver *const newton = plain ? &spragSolverPolish : exact ? &spragSolverNewton : NULL;
    const spragSolver *link[3] = {NULL, plain ? &spragSolverCalm : NULL, NULL};
    double creep = spragVelocityCreep(best->problem, best->r, best->u);
    link[creep > CREEP ? 0 : 2] = newton;
    for (int k = 0; k < 3 && creep > SETTLED; ++k) {
        if (link[k] == NULL || (link[k] == newton && creep <= CREEP) ||
            (link[k] == newton && !exact && !isStill(best, options->tolerance)))
            continue;
        if (tryMethod(best, link[k], options, BETTER) == SPRAG_ERROR_MEMORY)
            return SPRAG_ERROR_MEMORY;
        creep = spragVelocityCreep(best->problem, best->r, best->u);
    }
    return SPRAG_OK;
}

/* A guess may lead Newton astray (friction of 50 or 300 in games, contacts on bodies that hardly move): where it failed
 * it starts once more from rest. */
static int isRest(const spragProblem *problem, const double *r)
{
    for (int i = 0; i < 3 * problem->contact_count; ++i)
        if (r[i] != 0)
            return 0;
    return 1;
}

/* m/s, what rounding alone leaves of a residual: much, where impulses are huge (a body that another squeezes which
 * nothing stops). */
static double roundingOf(const spragProblem *problem, const double *r)
{
    double worst = 0;
    for (int k = 0; k < problem->contact_count; ++k) {
        double sum = 0;
        for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e)
            sum += spragNorm3(problem->W + 9 * (size_t)e) * spragNorm3(r + 3 * (size_t)problem->column[e]);
        worst = fmax(worst, sum);
    }
    return 8 * DBL_EPSILON * worst;
}

/* 1: the time is up; else what is left of it. */
static int timeIsUp(const spragSolveOptions *options, double begin, spragSolveOptions *left)
{
    if (!(options->time_limit > 0))
        return 0;
    left->time_limit = options->time_limit - (spragSeconds() - begin);
    return left->time_limit <= 0;
}

/* 1: a few steps of the mode search, a dense factorisation each, would take longer than there is time. */
static int isHurried(const spragProblem *problem, const spragSolveOptions *options, double begin,
                     spragSolveOptions *left)
{
    const double n = problem->contact_count;
    return timeIsUp(options, begin, left) ||
           (left->time_limit > 0 && left->time_limit < 3 * SECONDS_PER_CUBE * n * n * n);
}

/* What a small island gets that has no time for anything else: sweeps, some microseconds' worth if it is late. */
static spragStatus lastSweeps(Best *best, spragSolveOptions *left)
{
    const int late = !(left->time_limit > 0);
    left->iteration_limit = late ? SWEEPS_LATE : 0;
    left->time_limit = late ? 0 : left->time_limit;
    const spragStatus status = tryMethod(best, &spragSolverSweeps, left, BETTER);
    return status != SPRAG_OK || best->info->residual <= left->tolerance ? status : SPRAG_LIMIT;
}

/* A guess may be worse than none: r = 0 leaves max |q| (1 + mu) at most.  What begins beyond that takes longer, or, if its
 * sweeps are numbered, ends there. */
static void dropBadGuess(Best *best)
{
    const spragProblem *problem = best->problem;
    const size_t n = 3 * (size_t)problem->contact_count;
    double most = 0;
    for (size_t i = 0; i < n; ++i)
        most = fmax(most, fabs(problem->q[i]));
    if (best->info->residual <= most)
        return;
    memset(best->candidate, 0, n * sizeof *best->candidate);
    const double residual = spragVelocityResidual(problem, best->candidate, problem->q);
    if (best->info->residual <= residual)
        return;
    memset(best->r, 0, n * sizeof *best->r);
    memcpy(best->u, problem->q, n * sizeof *best->u);
    best->info->residual = residual;
}

static spragStatus runChain(Best *best, const spragSolveOptions *options, Part part, double begin)
{
    const spragProblem *problem = best->problem;
    spragSolveInfo *info = best->info;
    const spragSolver *chain[LINKS_MAX];
    const int links = chainOf(problem, options, part, chain);
    const int links_most = part == BEGINNING && links > LINK_PROMPT ? LINK_PROMPT + 1 : links;
    spragSolveOptions left = *options;
    info->residual = spragProblemJudge(problem, best->r, best->u);
    if (chain[0] == &spragSolverSweeps || chain[0] == &spragSolverGaussSeidel)
        dropBadGuess(best);
    if (chain[0] == &spragSolverVariant && isHurried(problem, options, begin, &left))
        return info->residual <= options->tolerance ? SPRAG_OK : lastSweeps(best, &left);
    const int swept = chain[0] == &spragSolverSweeps && info->residual <= options->tolerance;
    if (swept)
        return creeps(best, options) ? calm(best, &left) : SPRAG_OK;
    if (chain[0] == &spragSolverSweeps && problem->bodies != NULL && options->iteration_limit == 0) {
        const spragStatus status = tryMethod(best, &spragSolverAtOnce, &left, BETTER);
        if (status != SPRAG_OK || info->residual <= options->tolerance)
            return status;
        if (timeIsUp(options, begin, &left))
            left.time_limit = TIME_LEAST;
    }
    const int patient = isPatient(problem, options);
    const spragSolver *const twice = patient ? &spragSolverNewton : NULL; /* who fails begins once more from rest */
    for (int k = 0; k < links_most; ++k) {
        const int again = chain[k] == twice && !isRest(problem, best->r) && !isPrompt(problem, options);
        if (k > LINK_PROMPT && isPrompt(problem, options))
            left.tolerance = options->enough;
        if (k > 0 && chain[0] == &spragSolverGlue)
            left.tolerance = fmax(options->tolerance, options->enough);
        if (info->residual <= left.tolerance && left.tolerance > options->tolerance)
            break;
        info->fallback = k > (chain[0] == &spragSolverSweeps);
        left.iteration_limit = limitOf(problem, options, links, k, chain[k]);
        spragStatus status = tryMethod(best, chain[k], &left, k == 0 ? PREFERRED : BETTER);
        if (status == SPRAG_OK && info->residual > left.tolerance && again && !timeIsUp(options, begin, &left)) {
            if (options->iteration_limit == 0 && patient)
                left.iteration_limit = STEPS_FROM_REST;
            status = tryMethod(best, chain[k], &left, FROM_REST);
        }
        const int solved = info->residual <= options->tolerance;
        const int late = timeIsUp(options, begin, &left);
        left.iteration_limit = options->iteration_limit;
        if (status == SPRAG_OK && solved && k > 0 && chain[0] == &spragSolverVariant && !late)
            status = tryMethod(best, chain[0], &left, PREFERRED);
        if (status == SPRAG_OK && solved && chain[k] == &spragSolverSweeps && !late && creeps(best, options))
            status = calm(best, &left);
        if (status != SPRAG_OK || solved)
            return status;
        if (late)
            return chain[0] == &spragSolverVariant ? lastSweeps(best, &left) : SPRAG_LIMIT;
        if (info->residual <= roundingOf(problem, best->r))
            break;
    }
    return options->iteration_limit > 0 ? SPRAG_LIMIT : SPRAG_NOT_CONVERGED;
}

static int isSingle(const spragProblem *problem)
{
    return problem->contact_count == 1 && spragKindOf(problem, 0) != SPRAG_BLOCK_ROLLING;
}

/* 1: solved by what small islands need most of the time; u may be NULL. */
static int solveSmall(const spragProblem *problem, const spragSolveOptions *options, double *r, double *u,
                      spragSolveInfo *info)
{
    int solved;
    if (isSingle(problem)) {
        solveSingle(problem, options, r, info);
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
    if ((options->solver == SPRAG_SOLVER_AUTO || options->solver == SPRAG_SOLVER_VARIANT) &&
        solveSmall(problem, options, r, u, info))
        return info->status = SPRAG_OK;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const size_t n = 3 * (size_t)problem->contact_count;
    double *room = SPRAG_TAKE_RAW(arena, double, (u == NULL ? 3 : 2) * n);
    Best best = {.problem = problem, .arena = arena, .r = r, .info = info};
    spragStatus status = SPRAG_ERROR_MEMORY;
    if (room != NULL) {
        best.candidate = room, best.candidate_u = room + n, best.u = u == NULL ? room + 2 * n : u;
        status = runChain(&best, options, part, begin);
    }
    spragArenaRelease(arena, mark);
    return info->status = status;
}

spragStatus spragChainSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                            double *u, spragSolveInfo *info)
{
    return solveChain(problem, options, WHOLE, arena, r, u, info);
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

spragStatus spragChainFollow(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                             double *r, double *u, spragSolveInfo *info)
{
    return solveChain(problem, options, NEARBY, arena, r, u, info);
}
