/* Search over modes: which contacts are open, stick or slip, on which side a two-sided contact is loaded, which limits
 * act; with Newton on the slip directions.
 *
 * For fixed modes the equations are linear but for the directions.  A round solves them linearised and reads the modes
 * anew (proximal.h): it flips exactly the blocks whose conditions fail, as Nikolsky and Smirnov (1990, section
 * 10) flip variants.  Simultaneous flips can cycle; a round that does not end is followed by proximal points, whose
 * modes differ less from their neighbours', and at last by other starts.
 *
 * Which start comes first is the policy's (solve/contact/policy.h).  A solution that fails the small-friction test is a
 * separatrix (docs/theory.md 4) and is only kept if no start finds another. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "problem/creep.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"
#include "solve/newton/proximal.h"
#include "solve/search/small_friction.h"
#include "solve/search/warm.h"
#include "solve/solver.h"
#include "solve/sweep/sweep.h"

enum {
    /* Newton steps: */
    ROUNDS_FIRST = 60, /* from the guess; */
    ROUNDS_WARM = 6,   /* where its modes may fit so many, then SWEEPS sweeps, then all of them; */
    ROUNDS_OTHER = 12, /* from another start */
    SWEEPS = 20,
    /* Blocks, at most: */
    STARTS_MAX = 8, /* of an island that has other starts where the first led to no solution */
    GUIDES_MAX = 3, /* of one whose guides are asked why they stop or start (motionChanged) */
    COMBINE_MAX = 4 /* frictional ones, whose 3^m modes are tried */
};
#define LAMBDA_COLD 1e-3  /* of the proximal points, from r = 0, */
#define LAMBDA_SWEPT 1e-2 /* and after sweeps that are not yet near */
#define NEARLY 1e-2       /* part of the tolerance within which a guess is left as it is if nothing creeps */

static int isFrictional(const spragProblem *problem, int k)
{
    return spragKindOf(problem, k) <= SPRAG_BLOCK_TWO_SIDED;
}

/* ---------------------------------------------------------------- starts */

/* Sliding contacts that may lift or jam start where the policy ends. */
static void policyStart(const spragProblem *p, spragIndeterminacy policy, double *r)
{
    if (p->history == NULL)
        return;
    for (int k = 0; k < p->contact_count; ++k) {
        if (spragKindOf(p, k) != SPRAG_BLOCK_CONTACT || p->mu[k] == 0 || p->history[k].judged)
            continue;
        const double *W = p->W + 9 * (size_t)spragProblemDiagonal(p, k);
        if (W[0] > 0 && p->history[k].held[0] == 0 && W[0] * W[0] > p->mu[k] * p->mu[k] * (W[1] * W[1] + W[2] * W[2]))
            continue; /* p > 0 whatever the slip */
        const spragIndicator indicator = spragIndicatorOf(W, p->mu[k], &p->history[k], policy);
        if (indicator.quadrant < SPRAG_QUADRANT_INDETERMINATE ||
            (indicator.quadrant == SPRAG_QUADRANT_INCONSISTENT && r[3 * k] > 0))
            continue; /* nothing to choose, or a guess that presses already */
        r[3 * k] = r[3 * k + 1] = r[3 * k + 2] = 0;
        if (indicator.quadrant == SPRAG_QUADRANT_INDETERMINATE && indicator.lifts)
            continue;
        spragLocalSolution local[SPRAG_LOCAL_MAX];
        const int count = spragLocalEnumerate(SPRAG_BLOCK_CONTACT, W, p->q + 3 * k, p->mu[k], p->mu[k], local);
        for (int i = 0; i < count; ++i)
            if (local[i].mode == SPRAG_MODE_STICK)
                memcpy(r + 3 * k, local[i].r, sizeof local[i].r);
    }
}

/* Sliding had no solution where the indicator says so and the slip has ended. */
static int endedInconsistent(const spragProblem *p, const double *r, const double *u)
{
    if (p->history == NULL)
        return 0;
    for (int k = 0; k < p->contact_count; ++k) {
        if (!isFrictional(p, k) || r[3 * k] == 0 || spragNorm2(u + 3 * k + 1) > SPRAG_SLIP_TOLERANCE)
            continue;
        const double *W = p->W + 9 * (size_t)spragProblemDiagonal(p, k);
        const double mu_minus = spragMuMinusOf(p, k);
        const spragIndicator indicator =
            spragKindOf(p, k) == SPRAG_BLOCK_TWO_SIDED
                ? spragIndicatorTwoSided(W, p->mu[k], mu_minus, &p->history[k])
                : spragIndicatorOf(W, p->mu[k], &p->history[k], SPRAG_INDETERMINACY_HISTORY);
        if (indicator.quadrant == SPRAG_QUADRANT_INCONSISTENT)
            return 1;
    }
    return 0;
}

/* A contact that slid and now sticks: a jam if it could slide on, and motion goes before jam (docs/theory.md 5, class
 * 3).  Of one-sided ones only where the impulse is out of proportion to what they have to stop.  A guide that was at
 * rest and now slides: rest, if it can last, goes before that. */
static int motionChanged(const spragProblem *p, const double *r, const double *u)
{
    static const double usual = 10; /* as in an event of this name: docs/theory.md 6 */
    if (p->history == NULL || p->contact_count > GUIDES_MAX)
        return 0;
    for (int k = 0; k < p->contact_count; ++k) {
        const int slid = spragNorm2(p->history[k].slip) > SPRAG_SLIP_TOLERANCE;
        if (!isFrictional(p, k) || slid == (spragNorm2(u + 3 * k + 1) > SPRAG_SLIP_TOLERANCE))
            continue;
        const double change = r[3 * k] * p->W[9 * (size_t)spragProblemDiagonal(p, k)]; /* m/s */
        if (spragKindOf(p, k) == SPRAG_BLOCK_TWO_SIDED || (slid && change > usual * fabs(p->q[3 * k])))
            return 1;
    }
    return spragIsBraced(p, r);
}

/* Modes of a combination: base 3, the digit of block k; slip first. */
enum { COMBINE_SLIP, COMBINE_OTHER /* open; two-sided: slip with r_n < 0 */, COMBINE_STICK };

/* r of a combination's modes, linear with the slip directions of history or of q.
 * code < 0: all stick.  0: singular. */
static int combinedStart(spragProximal *s, int code, double *r)
{
    const spragProblem *p = s->problem;
    memcpy(s->tangent.matrix, p->W, 9 * (size_t)p->block_count * sizeof(double));
    for (int k = 0; k < p->contact_count; ++k) {
        const int two_sided = spragKindOf(p, k) == SPRAG_BLOCK_TWO_SIDED;
        const int digit = isFrictional(p, k) && code >= 0 ? code % 3 : COMBINE_STICK;
        code = isFrictional(p, k) && code >= 0 ? code / 3 : code;
        const double *before = p->history != NULL ? p->history[k].slip : NULL;
        const double *slip = before != NULL && spragNorm2(before) > SPRAG_SLIP_TOLERANCE ? before : p->q + 3 * k + 1;
        const double speed = spragNorm2(slip);
        const double mu = digit != COMBINE_SLIP ? -spragMuMinusOf(p, k) : p->mu[k];
        for (int a = 0; a < 3; ++a)
            r[3 * k + a] = -p->q[3 * k + a];
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
            double *M = s->tangent.matrix + 9 * (size_t)e;
            const int diagonal = p->column[e] == k;
            for (int a = 0; a < 3; ++a) {
                if (diagonal)
                    M[4 * a] += SPRAG_LAMBDA_WARM * s->w[k];
                if (digit == COMBINE_STICK || (a == 0 && (digit == COMBINE_SLIP || two_sided)))
                    continue;
                M[3 * a] = M[3 * a + 1] = M[3 * a + 2] = 0;
                r[3 * k + a] = 0;
                if (diagonal) {
                    M[4 * a] = s->w[k];
                    if (a > 0 && speed > 0)
                        M[3 * a] = s->w[k] * mu * slip[a - 1] / speed;
                }
            }
        }
    }
    s->factored = 0;
    if (!spragBlockLuFactor(&s->tangent.lu, s->tangent.matrix))
        return 0;
    spragBlockLuSolve(&s->tangent.lu, r);
    for (int i = 0; i < 3 * p->contact_count; ++i)
        if (!isfinite(r[i]))
            return 0;
    return 1;
}

/* Start 0 is the guess; then the combinations of modes of a tiny island, or all stick and all open.  Returns lambda, 0
 * after the last start, -1: skip this one. */
static double startFrom(spragProximal *s, int start, const double *guess, spragIndeterminacy policy, double *r)
{
    const spragProblem *p = s->problem;
    const int n = 3 * p->contact_count;
    if (start == 0) {
        double largest = 0;
        memcpy(r, guess, (size_t)n * sizeof *r);
        policyStart(p, policy, r);
        for (int i = 0; i < n; ++i)
            largest = fmax(largest, fabs(r[i]));
        return largest > 0 ? SPRAG_LAMBDA_WARM : LAMBDA_COLD;
    }
    int frictional = 0, all = 1;
    for (int k = 0; k < p->contact_count; ++k)
        frictional += isFrictional(p, k);
    for (int k = 0; k < frictional && frictional <= COMBINE_MAX; ++k)
        all *= 3;
    if (frictional > COMBINE_MAX) {
        if (start == 1)
            return combinedStart(s, -1, r) ? SPRAG_LAMBDA_WARM : -1;
        memset(r, 0, (size_t)n * sizeof *r);
        return start == 2 ? LAMBDA_COLD : 0;
    }
    if (start > all)
        return 0;
    return combinedStart(s, start - 1, r) ? SPRAG_LAMBDA_WARM : -1;
}

int spragVariantWarm(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                     double *u, spragSolveInfo *info)
{
    double guess[3 * SPRAG_WARM_ALL], velocity[3 * SPRAG_WARM_ALL];
    const size_t bytes = 3 * (size_t)problem->contact_count * sizeof *r;
    if (problem->contact_count > SPRAG_WARM_ALL)
        return 0;
    memcpy(guess, r, bytes);
    policyStart(problem, options->indeterminacy, r);
    u = u != NULL ? u : velocity;
    const double deadline = spragDeadline(options->time_limit);
    if (!spragWarmSolve(problem, options->tolerance, deadline, arena, r, u, info)) {
        memcpy(r, guess, bytes);
        return 0;
    }
    info->none |= endedInconsistent(problem, r, u);
    return 1;
}

int spragVariantRests(const spragProblem *problem, const spragSolveOptions *options, const double *r, double *u,
                      spragSolveInfo *info)
{
    info->residual = spragProblemJudge(problem, r, u);
    const double exact = SPRAG_EXACT * options->tolerance;
    if (!(info->residual <= exact) &&
        !(info->residual <= NEARLY * options->tolerance && spragVelocityCreep(problem, r, u) <= exact))
        return 0;
    for (int k = 0; k < problem->contact_count; ++k) {
        const int slid = problem->history != NULL && spragNorm2(problem->history[k].slip) > SPRAG_SLIP_TOLERANCE;
        /* On the edge of its cone it may move, but with the same guess a little faster in every step. */
        const double load = fabs(r[3 * k]) * problem->W[9 * (size_t)spragProblemDiagonal(problem, k)],
                     creep = fmin(spragNorm2(u + 3 * k + 1), load);
        if (isFrictional(problem, k) && (slid || creep > fmax(0.5 * exact, SPRAG_CREEP_ROUNDING)))
            return 0;
    }
    return 1;
}

/* ---------------------------------------------------------------- the search */

/* What a start led to, the better the larger. */
typedef enum Rank {
    RANK_NONE,       /* no solution */
    RANK_SEPARATRIX, /* one that fails the small-friction test */
    RANK_CHANGE,     /* one in which the motion changes without need (motionChanged) */
    RANK_GOOD
} Rank;

typedef struct Trial {
    Rank rank;
    double residual, blow; /* m/s: the judge's word; spragGreatestBlow */
    spragStatus status;
    double *r; /* (3 nc) */
} Trial;

typedef struct Search {
    spragProximal proximal;
    double tolerance, deadline; /* m/s; s, 0: none */
    double lambda;              /* of the next trial, */
    int rounds;                 /* and its rounds */
    double *u;                  /* (3 nc) m/s, W r + q of the last one */
    spragArena *arena;
    spragSolveInfo *info;
} Search;

/* Proximal points from r, at most so many. */
static spragStatus points(Search *search, double lambda, int rounds, double *r)
{
    const spragStop stop = {search->tolerance, search->deadline, rounds};
    return spragProximalPoints(&search->proximal, lambda, &stop, r, &search->info->iterations);
}

/* Newton from r; where the modes do not fit, sweeps find better ones first.  From r = 0, too: Newton knows no order of
 * blocks, and what is its own mirror image gets an answer that is, while sweeps prefer the block that comes first.  (Of
 * a few blocks, whose modes are tried one by one, sweeps come first: a bipod in guides jams so.) */
static spragStatus searchModes(Search *search, double *r)
{
    const spragProximal *s = &search->proximal;
    if (search->rounds < ROUNDS_FIRST)
        return points(search, search->lambda, search->rounds, r);
    if (search->lambda == SPRAG_LAMBDA_WARM || s->problem->contact_count > COMBINE_MAX) {
        const spragStatus status = points(search, search->lambda, ROUNDS_WARM, r);
        if (status != SPRAG_NOT_CONVERGED)
            return status;
        memcpy(r, s->best, 3 * (size_t)s->problem->contact_count * sizeof *r);
    }
    const spragArenaMark mark = spragArenaMarkGet(search->arena);
    spragSweeper sweeper;
    double *x = SPRAG_TAKE_RAW(search->arena, double, 3 * (size_t)s->problem->contact_count);
    if (x == NULL || !spragSweeperInit(&sweeper, s->problem, NULL, search->arena))
        return SPRAG_ERROR_MEMORY;
    spragSweeperTake(&sweeper, r, x);
    for (int k = 0; k < SWEEPS; ++k)
        spragSweep(&sweeper, x);
    spragSweeperGive(&sweeper, x, r);
    spragArenaRelease(search->arena, mark);
    const int near = spragProblemResidual(s->problem, r) <= spragNear(s->problem);
    return points(search, near ? SPRAG_LAMBDA_WARM : LAMBDA_SWEPT, search->rounds, r);
}

static void runTrial(Search *search, Trial *trial)
{
    spragProximal *s = &search->proximal;
    const spragProblem *p = s->problem;
    spragProximalReset(s, trial->r);
    trial->status = searchModes(search, trial->r);
    memcpy(trial->r, s->best, 3 * (size_t)p->contact_count * sizeof(double));
    trial->residual = s->best_residual;
    trial->rank = RANK_NONE;
    if (trial->status != SPRAG_OK)
        return;
    trial->residual = spragProximalPolish(s, search->tolerance, trial->residual, trial->r, &search->info->iterations);
    memcpy(search->u, spragProximalMotion(s, trial->r), 3 * (size_t)p->contact_count * sizeof(double));
    s->accuracy = trial->residual;
    const int verdict = spragSmallFriction(s, search->arena, trial->r, search->u);
    if (verdict < 0)
        trial->status = SPRAG_ERROR_MEMORY;
    trial->blow = spragGreatestBlow(p, trial->r);
    trial->rank = verdict <= 0 ? RANK_SEPARATRIX : motionChanged(p, trial->r, search->u) ? RANK_CHANGE : RANK_GOOD;
}

/* Of one rank: nearer to the answer; of two answers the one with far less force. */
static int isBetter(const Trial *trial, const Trial *best)
{
    static const double far = 0.5;
    if (trial->rank != best->rank)
        return trial->rank > best->rank;
    if (trial->rank == RANK_CHANGE && trial->blow < far * best->blow)
        return 1;
    return !(trial->rank == RANK_CHANGE && best->blow < far * trial->blow) && trial->residual < best->residual;
}

/* The trial becomes the best; its memory is that of the best before. */
static void takeTrial(Trial *trial, Trial *best)
{
    double *const r = best->r;
    *best = *trial;
    trial->r = r;
}

/* 3x3 products so far; before: the iterations then. */
static double workOf(const Search *search, int before)
{
    return spragTangentCharge(&search->proximal.tangent) * (search->info->iterations - before);
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    const size_t n = 3 * (size_t)problem->contact_count, bytes = n * sizeof(double);
    const int before = info->iterations;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    Search search = {.tolerance = options->tolerance,
                     .deadline = spragDeadline(options->time_limit),
                     .u = SPRAG_TAKE(arena, double, n),
                     .arena = arena,
                     .info = info};
    Trial best = {.residual = INFINITY, .status = SPRAG_NOT_CONVERGED, .r = SPRAG_TAKE(arena, double, n)};
    Trial trial = {.r = SPRAG_TAKE(arena, double, n)};
    if (best.r == NULL || trial.r == NULL || search.u == NULL || !spragProximalInit(&search.proximal, problem, arena)) {
        spragArenaRelease(arena, mark);
        return SPRAG_ERROR_MEMORY;
    }
    search.proximal.deadline = search.deadline;
    for (int start = 0; best.rank < RANK_GOOD && trial.status != SPRAG_LIMIT; ++start) {
        if (start > 0 && best.rank == RANK_NONE && problem->contact_count > STARTS_MAX)
            break; /* a large island that does not converge is not a matter of starts */
        if (start > 0 && options->work_total > 0 && workOf(&search, before) >= options->work_total)
            break;
        search.lambda = startFrom(&search.proximal, start, r, options->indeterminacy, trial.r);
        if (search.lambda == 0)
            break;
        if (search.lambda < 0)
            continue;
        const int own = start == 0 ? ROUNDS_FIRST : ROUNDS_OTHER;
        search.rounds = options->iteration_limit > 0 ? options->iteration_limit : own;
        runTrial(&search, &trial);
        if (trial.status == SPRAG_ERROR_MEMORY) {
            spragArenaRelease(arena, mark);
            return SPRAG_ERROR_MEMORY;
        }
        info->several |= trial.rank == RANK_SEPARATRIX || (trial.rank == RANK_GOOD && best.rank == RANK_CHANGE);
        if (isBetter(&trial, &best))
            takeTrial(&trial, &best);
    }
    info->work += workOf(&search, before);
    memcpy(r, best.r, bytes);
    if (best.rank >= RANK_CHANGE) {
        spragProblemVelocity(problem, r, search.u);
        info->none |= endedInconsistent(problem, r, search.u);
    }
    spragArenaRelease(arena, mark);
    return best.status;
}

const spragSolver spragSolverVariant = {.kind = SPRAG_SOLVER_VARIANT, .solve = solve};
