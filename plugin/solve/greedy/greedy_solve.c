#include "solve/greedy/greedy_solve.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "problem/creep.h"
#include "solve/greedy/greedy_hold.h"
#include "solve/greedy/greedy_lanes.h"

enum {
    /* However short the time, n contacts get SWEEPS_LEAST n + VISITS_LEAST visits (small islands come last), but no
     * more than SWEEPS_LATE n, which is what QuickStep makes. */
    SWEEPS_LEAST = 3,
    /* Sweeps of lanes take 5 to 9 ns a contact, all else in the step a thousand.  A limit too short for a heap pressed
     * it together, and three times the contacts then took twice the time that it takes without a limit.  (What begins
     * below SPRAG_LANES_FLOOR has visits in double precision, of 100 ns each.) */
    SWEEPS_LEAST_WIDE = 30,
    VISITS_LEAST = 500,
    SWEEPS_LATE = 20,

    /* Visits of each contact after which W is worth its price; in wide lanes, where visits are cheap, more.  In haste
     * balls gain nothing by more than 60, and 1000 boxes come to rest with 120, and do not with 80; 180 would take half
     * the time more for half of the residual. */
    SWEEPS_MOST = 60,
    SWEEPS_WIDE = 180,
    SWEEPS_HASTY = 120,
    SWEEPS_BALLS = 60,

    LOOKS_MOST = 40,   /* of the judge, who says what the residual is */
    LOOKS_IN_TIME = 5, /* of the judge in SWEEPS_LATE visits of each contact, under a time limit */
    LOOKS_FIRST = 3    /* visits of each contact before the judge's first look, where nothing is limited */
};
#define SECONDS_W 4e-8      /* a block of W: to make it, for some sweeps; where less time is left these do not begin */
#define SECONDS_REST 1.2e-7 /* the same, and Newton's method to its end from the guess of what seems to rest */
#define JUDGING 0.9         /* time of the judge's last look, relative to the first one's */
#define LEFT 0.4            /* of the tolerance: smaller changes are left undone */

/* A pile at rest.  One ball that topples stirs what it leans on by a hundredth of its own speed in each step, and in
 * the end all of the pile.  So the contacts that are stirred most are visited, and a blow is answered where it falls.
 * (Sweeps of all contacts stir the whole pile: one blow on 10 000 balls left 7e-4 m/s.) */
enum {
    VISITS_AT_REST = 24,  /* of each contact, at most */
    VISITS_POLISHING = 2, /* the same once all is within tolerance: enough that creep does not grow, */
    VISITS_CREEPING = 8,  /* and where it is above CREEP_ENOUGH: enough that it falls */
    VISITS_CALMING = 8    /* the same where creep is too slow to call Newton's method for */
};
#define STIRRED 0.1      /* of the residual: smaller changes are left undone */
#define STIRRED_MOST 0.2 /* of the tolerance, the same: less than CREEP_ENOUGH, so that creep can fall to that */
#define FALLS 0.7        /* the residual falls to this part between two looks, or it is time for W */
#define CREEP_ENOUGH 0.3 /* of the tolerance: slower creep is left to the next step */
#define CALMS 0.5        /* of the creep is left: visits end it */
#define CALM 0.3         /* of the creep that is rounding: smaller changes are left undone */

/* Of W: pairs of contacts that share a body.  INFINITY: no memory. */
static double blocksOf(const spragGreedy *greedy)
{
    const spragArenaMark mark = spragArenaMarkGet(greedy->arena);
    int *count = SPRAG_TAKE(greedy->arena, int, greedy->body_count + 1);
    double blocks = 0;
    for (int k = 0; k < 2 * greedy->contact_count && count != NULL; ++k)
        ++count[greedy->pair[k / 2][k % 2]];
    for (int i = 0; i < greedy->body_count && count != NULL; ++i)
        blocks += (double)count[i] * count[i];
    spragArenaRelease(greedy->arena, mark);
    return count != NULL ? blocks : INFINITY;
}

int spragGreedyMayEnd(const spragGreedy *greedy, double seconds)
{
    return SECONDS_REST * blocksOf(greedy) < seconds;
}

/* In haste, of each contact, once single precision has done what it can: these take twenty times as long.  (What is
 * left of 120 took 100 ms in steps of 2000 bodies that all but rest.) */
enum { VISITS_AFTER = 8 };

/* Visits of an island's contacts. */
typedef struct Visits {
    spragGreedy *greedy;
    double tolerance;       /* m/s, at which they end */
    double begin, deadline; /* in spragSeconds; INFINITY: none */
    long each;              /* before the judge's first look; twice as many before each next one */
    long least, most;       /* counted by greedy->visits: before the deadline ends them, and at all */
    double *others, *u;
} Visits;

/* Visits until all is within the tolerance, `most` are made, or the deadline is past; the residual.  Without
 * greedy->best the last answer is the one that is wanted. */
static double visitAll(const Visits *visits)
{
    spragGreedy *greedy = visits->greedy;
    const double enough = LEFT * visits->tolerance, deadline = visits->deadline;
    const long least = visits->least;
    long each = visits->each, most = visits->most;
    double residual;
    int late, looks = 0;
    do {
        const long until = greedy->visits + each < most ? greedy->visits + each : most;
        spragGreedyRun(greedy, enough, least < most ? least : most, until, deadline);
        late = greedy->visits >= least && spragSeconds() > deadline;
        residual = spragGreedyResidual(greedy, visits->u);
        /* Without visits to come what was found stays: it may be better than nothing in all but one contact. */
        if (looks == 0 && greedy->visits < most && greedy->best != NULL)
            residual = spragGreedyDrop(greedy, 1, residual, visits->others, visits->u);
        each *= 2;
        const long after = greedy->visits + (long)VISITS_AFTER * greedy->contact_count;
        if (looks == 0 && greedy->many && deadline == INFINITY && greedy->lanes != NULL && greedy->lanes->done)
            most = after < most ? after : most;
    } while (!late && residual > visits->tolerance && greedy->visits < most && ++looks < LOOKS_MOST);
    if (residual <= greedy->best_residual || greedy->best == NULL)
        return residual;
    return spragGreedyBest(greedy, visits->u); /* or it is NaN */
}

/* Where friction is high visits may lead away, and r = 0 is not worse by its worst contact; but it lets all bodies fall
 * into each other, and then ERP throws them: 400 boxes with mu = 2.5 left their bin at 80 m/s.  So what is left with
 * more than BAD of that residual is visited again, from r = 0, with no more friction than LESS, which leads somewhere,
 * and of the two answers that one is taken which takes more energy.  Under a time limit, which ends the first visits
 * too soon for that, those with less friction come first, from the guess, and have half of the time, or all where that
 * is little. */
#define LESS 1.0
#define BAD 0.1
enum { FEW = 30, ROUNDS = 3 };

static int hasHighFriction(const spragGreedy *greedy)
{
    for (int k = 0; k < greedy->contact_count; ++k)
        if (greedy->contact[k].mu > LESS && isfinite(greedy->contact[k].mu))
            return 1;
    return 0;
}

/* 1: contacts approach by no more than BAD of what they do without impulses.  The residual does not tell: that of r = 0
 * is the approach over sqrt(1 + mu^2). */
static int isStopped(const spragGreedy *greedy)
{
    double most = 0, left = 0;
    for (int k = 0; k < greedy->contact_count; ++k) {
        double u[3];
        spragGreedyMotion(greedy, k, u);
        most = fmax(most, -greedy->contact[k].q[0]);
        left = fmax(left, -greedy->contact[k].q[0] - u[0]);
    }
    return left <= BAD * most;
}

/* An answer to go back to. */
typedef struct Kept {
    double *r;     /* (contact_count x 3) N s */
    double energy; /* J */
} Kept;

static void keep(const spragGreedy *greedy, Kept *kept)
{
    kept->energy = greedy->energy;
    for (int k = 0; k < greedy->contact_count; ++k)
        memcpy(kept->r + 3 * k, greedy->contact[k].r, 3 * sizeof *kept->r);
}

/* The answer that takes more energy; its residual. */
static double takeBetter(spragGreedy *greedy, const Kept *kept, double residual, double *u)
{
    if (greedy->energy <= kept->energy)
        return residual;
    for (int k = 0; k < greedy->contact_count; ++k)
        memcpy(greedy->contact[k].r, kept->r + 3 * k, 3 * sizeof *kept->r);
    spragGreedySum(greedy);
    return spragGreedyResidual(greedy, u);
}

/* visits->most visits from here, with less friction, of which mu (contact_count) is room for the true one; the residual
 * by the law as it is. */
static double visitWithLess(const Visits *visits, double deadline, double *mu)
{
    spragGreedy *greedy = visits->greedy;
    Visits some = *visits;
    some.each = visits->most, some.most = greedy->visits + visits->most, some.deadline = deadline;
    for (int k = 0; k < greedy->contact_count; ++k) {
        mu[k] = greedy->contact[k].mu;
        greedy->contact[k].mu = fmin(mu[k], LESS);
    }
    double *const best = greedy->best;
    greedy->best = NULL;
    if (greedy->lanes != NULL)
        greedy->lanes->done = 0;
    spragGreedyResidual(greedy, visits->u);
    visitAll(&some);
    greedy->best = best;
    for (int k = 0; k < greedy->contact_count; ++k)
        greedy->contact[k].mu = mu[k];
    greedy->best_residual = INFINITY;
    return spragGreedyResidual(greedy, visits->u);
}

static double visitSteep(const Visits *visits)
{
    spragGreedy *greedy = visits->greedy;
    const double begin = visits->begin, deadline = visits->deadline;
    double *mu = SPRAG_TAKE_RAW(greedy->arena, double, 4 * greedy->contact_count);
    Kept kept = {.r = mu + greedy->contact_count};
    if (mu == NULL)
        return visitAll(visits);
    if (deadline < INFINITY) {
        spragGreedyDrop(greedy, 1, greedy->begun, visits->others, visits->u);
        const double less = visitWithLess(visits, begin + (deadline - begin) / 2, mu);
        if (greedy->visits < (long)FEW * greedy->contact_count)
            return less <= visits->tolerance ? less : visitWithLess(visits, deadline, mu);
        keep(greedy, &kept);
    }
    Visits more = *visits;
    more.most += greedy->visits;
    double residual = visitAll(&more);
    if (!(residual > BAD * spragGreedyNone(greedy)) && isStopped(greedy))
        return residual;
    if (!(deadline < INFINITY)) {
        keep(greedy, &kept);
        spragGreedyDrop(greedy, 0, INFINITY, visits->others, visits->u);
        residual = visitWithLess(visits, deadline, mu);
    }
    return takeBetter(greedy, &kept, residual, visits->u);
}

/* The same where contacts have an infinite coefficient: in rounds, between which what parts holds no more; and one more
 * where high ones, taken for infinite, turn out to slip. */
static double visitSticky(const Visits *visits)
{
    spragGreedy *greedy = visits->greedy;
    double *const best = greedy->best, *const mu = SPRAG_TAKE_RAW(greedy->arena, double, greedy->contact_count);
    const double seconds = visits->deadline < INFINITY ? visits->deadline - visits->begin : 0;
    const long each = visits->most / ROUNDS;
    const int steep = visits->others != NULL;
    Visits some = *visits;
    some.each = visits->each < each ? visits->each : each;
    some.least = visits->least / ROUNDS;
    if (mu == NULL)
        return visitAll(visits);
    greedy->best = NULL;
    if (steep)
        spragGreedyHoldSteep(greedy, mu);
    spragGreedyHoldFirst(greedy);
    for (int round = 1; round <= ROUNDS; ++round) {
        some.most = greedy->visits + each;
        some.deadline = visits->deadline < INFINITY ? visits->begin + seconds * round / ROUNDS : INFINITY;
        spragGreedyResidual(greedy, visits->u);
        visitAll(&some);
        if (round < ROUNDS && !spragGreedyHoldAgain(greedy, round == 1, 1))
            break;
    }
    if (steep && spragGreedyHoldLess(greedy, mu, 0)) {
        some.most = greedy->visits + each;
        spragGreedyResidual(greedy, visits->u);
        visitAll(&some);
    }
    if (steep)
        spragGreedyHoldLess(greedy, mu, 1);
    greedy->best = best;
    return spragGreedyResidual(greedy, visits->u);
}

/* Of each contact, at most, as long as nothing is said of them. */
static int sweepsOf(const spragGreedy *greedy, int timed)
{
    if (greedy->contact_count < SPRAG_LANES_LEAST)
        return SWEEPS_MOST;
    if (timed || !greedy->many)
        return SWEEPS_WIDE;
    return spragGreedyIsBalls(greedy) ? SWEEPS_BALLS : SWEEPS_HASTY;
}

spragStatus spragGreedySolve(const spragSolveOptions *options, spragGreedy *greedy, double *others, double *u,
                             spragSolveInfo *solve)
{
    const long n = greedy->contact_count;
    const int timed = options->time_limit > 0, hasty = !timed && greedy->many && n >= SPRAG_LANES_LEAST,
              sweeps = sweepsOf(greedy, timed),
              limited = options->iteration_limit > 0 && options->iteration_limit < sweeps;
    Visits visits = {.greedy = greedy,
                     .tolerance = options->tolerance,
                     .begin = spragSeconds(),
                     .deadline = INFINITY,
                     .most = n * (limited ? options->iteration_limit : sweeps),
                     .others = others,
                     .u = u};
    *solve = (spragSolveInfo){.solver = SPRAG_SOLVER_GAUSS_SEIDEL};
    spragGreedyBegin(greedy, others, NULL);
    if (timed)
        visits.deadline = visits.begin + options->time_limit - JUDGING * (spragSeconds() - visits.begin);
    const long late = n * SWEEPS_LATE, some = n * SWEEPS_LEAST + VISITS_LEAST;
    const int wide = greedy->lanes != NULL && greedy->best_residual > SPRAG_LANES_FLOOR;
    visits.least = wide ? n * SWEEPS_LEAST_WIDE : some < late ? some : late;
    /* Sweeps with momentum (of lanes, or of rolling friction) are not to be interrupted. */
    visits.each = greedy->lanes != NULL || hasty ? visits.most
                  : timed                        ? late / LOOKS_IN_TIME
                  : limited                      ? n
                                                 : LOOKS_FIRST * n;
    /* (Blocks may be opposed, others is NULL: what holds then would be in conflict, and thrown.) */
    solve->residual = spragGreedySticks(greedy, others != NULL) ? visitSticky(&visits)
                      : hasHighFriction(greedy)                 ? visitSteep(&visits)
                                                                : visitAll(&visits);
    solve->iterations = (int)(greedy->visits / n);
    solve->method_iterations[SPRAG_SOLVER_GAUSS_SEIDEL] = solve->iterations;
    if (solve->residual <= options->tolerance)
        return solve->status = SPRAG_OK;
    const double left = visits.deadline - spragSeconds(); /* too little to make W, or none */
    const int ends = timed && (left < 0 || SECONDS_W * blocksOf(greedy) > left);
    return solve->status = ends || limited ? SPRAG_LIMIT : SPRAG_NOT_CONVERGED;
}

/* Visits of each contact until the judge looks again, and at most. */
enum { VISITS_EACH = 8, VISITS_STIRRED = 48 };

spragStatus spragGreedySolveStirred(const spragSolveOptions *options, spragGreedy *greedy, double *others, double *u,
                                    spragSolveInfo *solve)
{
    const long n = greedy->contact_count;
    *solve = (spragSolveInfo){.solver = SPRAG_SOLVER_GAUSS_SEIDEL};
    spragGreedyBegin(greedy, others, u);
    solve->residual = greedy->best_residual;
    const long most = VISITS_STIRRED * n;
    /* (What visits do not change, as it is rounding, would be looked at after each of them.) */
    for (int k = 0; k < LOOKS_MOST && !(solve->residual <= options->tolerance) && greedy->visits < most; ++k) {
        const long before = greedy->visits;
        spragGreedyRun(greedy, fmin(STIRRED * solve->residual, STIRRED_MOST * options->tolerance), 0,
                       before + VISITS_EACH * n, INFINITY);
        solve->residual = spragGreedyResidual(greedy, u);
        if (greedy->visits == before)
            break;
    }
    if (!(solve->residual <= greedy->best_residual)) /* or it is NaN */
        solve->residual = spragGreedyBest(greedy, u);
    solve->iterations = (int)(greedy->visits / n);
    solve->method_iterations[SPRAG_SOLVER_GAUSS_SEIDEL] = solve->iterations;
    return solve->status = solve->residual <= options->tolerance ? SPRAG_OK : SPRAG_LIMIT;
}

spragStatus spragGreedySolveRest(const spragSolveOptions *options, int roughly, double slow, spragGreedy *greedy,
                                 double *others, double *u, spragSolveInfo *solve)
{
    const long n = greedy->contact_count, most = (roughly ? SWEEPS_HASTY : VISITS_AT_REST) * n;
    const double deadline = options->time_limit > 0 ? spragDeadline(options->time_limit) : INFINITY;
    double *const best = greedy->best;
    *solve = (spragSolveInfo){.solver = SPRAG_SOLVER_GAUSS_SEIDEL};
    greedy->best = NULL; /* the last answer is the one that is wanted */
    spragGreedyBegin(greedy, others, u);
    solve->residual = greedy->best_residual;
    roughly |= !spragCreepMatters(options->tolerance, u,
                                  greedy->contact_count);    /* with W, too, Newton's method would not be called */
    double enough = SPRAG_CREEP_ROUNDING, before = INFINITY; /* of creep; the residual */
    while (roughly && (greedy->creep > enough || solve->residual > options->tolerance) && greedy->visits < most &&
           solve->residual < FALLS * before) {
        before = solve->residual;
        const int creeps = greedy->creep > CREEP_ENOUGH * options->tolerance;
        const long until = before > options->tolerance ? most : (creeps ? VISITS_CREEPING : VISITS_POLISHING) * n;
        spragGreedyRun(greedy, fmin(STIRRED * before, STIRRED_MOST * options->tolerance), 0, until, deadline);
        solve->residual = spragGreedyResidual(greedy, u);
        enough = CREEP_ENOUGH * options->tolerance;
    }
    if (!roughly && solve->residual <= options->tolerance && greedy->creep > enough && greedy->creep <= slow) {
        spragGreedyRun(greedy, CALM * enough, 0, VISITS_CALMING * n, deadline);
        solve->residual = spragGreedyResidual(greedy, u);
        enough = slow;
    }
    greedy->best = best;
    solve->iterations = (int)(greedy->visits / greedy->contact_count);
    solve->method_iterations[SPRAG_SOLVER_GAUSS_SEIDEL] = solve->iterations;
    const int rests = solve->residual <= options->tolerance && (roughly || greedy->creep <= enough);
    return solve->status = rests ? SPRAG_OK : SPRAG_NOT_CONVERGED;
}

spragStatus spragGreedyCalm(const spragSolveOptions *options, spragGreedy *greedy, double *u, spragSolveInfo *solve)
{
    const double before = greedy->creep;
    double *const best = greedy->best;
    greedy->best = NULL;
    spragGreedyRun(greedy, STIRRED * solve->residual, 0, greedy->visits + VISITS_AT_REST * (long)greedy->contact_count,
                   INFINITY);
    solve->residual = spragGreedyResidual(greedy, u);
    greedy->best = best;
    solve->iterations = (int)(greedy->visits / greedy->contact_count);
    solve->method_iterations[SPRAG_SOLVER_GAUSS_SEIDEL] = solve->iterations;
    const int calms = solve->residual <= options->tolerance && greedy->creep <= CALMS * before;
    return solve->status = calms ? SPRAG_OK : SPRAG_NOT_CONVERGED;
}
