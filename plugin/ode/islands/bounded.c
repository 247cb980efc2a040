#include "ode/islands/bounded.h"

#include <limits.h>
#include <math.h>

#include "base/clock.h"
#include "ode/islands/parting.h"
#include "ode/islands/release.h"
#include "ode/islands/settle.h"
#include "ode/joints/articulation.h"
#include "ode/joints/bearing.h"
#include "ode/matrix/conflict.h"
#include "ode/work/heap.h"
#include "solve/solver.h"

enum {
    ROUNDS_LEAST = 8, /* made even if time is up: early bounds are far off; later rounds start warm and are short */
    ROUNDS_LARGE = 2, /* the same of a large island once LATE_MOST of the time is up: its rounds are not short */
    FEW = 60,         /* blocks of an island that is not large */
    SOLUTIONS_MAX = 60,
    VAIN_MAX = 15,     /* solutions in a row that did not halve what is left */
    VAIN_LATE = 10,    /* as many, if the best so far is within SPRAG_MISSED */
    MISSED_MAX = 4,    /* solutions that are not within SPRAG_MISSED */
    STEPS_AGAIN = 300, /* iterations of each method, where there is no rigid answer */
    SWEEPS = 8,        /* of a round */
    SWEPT_MOST = 40,   /* rounds of sweeps to come that are no longer than a solution */
    PAUSE = 2          /* solutions without sweeps between them, after sweeps that led astray */
};
#define HALF 0.5
#define LATE_MOST 1.1  /* of the time limit */
#define TIME_SHARE 0.8 /* of the time left, to a round; with 0.5 a fall of 160 balls has no time for Newton in 10 ms */
#define ROUGH 1e-3     /* of `off`: as much is left of a solution, for bounds that will change by more, */
#define ROUGHEST 1e-4  /* m/s, at most: with 1e-2 no less time, with 1e-6 most of the gain is lost */
#define WORTH 0.1      /* `off` falls to this part, or sweeps were in vain, and the next solutions mix their bounds */
#define NEARER 0.99    /* `off` falls to this part at least, or sweeps led astray: a rope's may come back to the same */

typedef struct Course {
    /* all in m/s */
    double enough, tolerance;   /* asked of the bounds; of the answer */
    double content;             /* the user's `enough`, of the whole, after some milliseconds; 0: there is none */
    double solved_to;           /* of the present solution (toleranceOf) */
    double off, off_solved;     /* what the last change of bounds is worth; and after the last solution that was kept */
    double left;                /* the larger of residual and off */
    double least, least_solved; /* the least of left so far; and of solutions alone */
    double asked;               /* residual that ends the rounds: of the last solution, or the tolerance if greater */

    int round, solutions, missed; /* so far: rounds, those without sweeps, and those of them not within SPRAG_MISSED */
    int vain;                     /* solutions since one halved what is left */
    int sweeps, swept;            /* 1: the next round is one of sweeps; there were sweeps since the last solution */
    int astray;                   /* 1: sweeps led the last solution astray */
    int pause;                    /* solutions to come before sweeps are tried again */
    int rounds;                   /* made even if the time is up */
} Course;

/* Some milliseconds are spent, and the best answer is enough for the user. */
static int isContent(const Course *course, const spragIsland *island)
{
    return course->least <= course->content && island->work.spent > SPRAG_WORK_PROMPT;
}

static int goesOn(const Course *course, const spragIsland *island, int late)
{
    const double residual = island->solve.residual;
    return (course->off > course->enough || residual > course->asked) && course->solutions < SOLUTIONS_MAX &&
           course->vain < (course->least <= SPRAG_MISSED ? VAIN_LATE : VAIN_MAX) && course->missed < MISSED_MAX &&
           (course->solutions == 0 || island->work.spent <= island->work.most) && !isContent(course, island) &&
           (course->round < course->rounds || !late);
}

/* Asked for as much as the bounds are: an answer within the tolerance would not be swept, and its bounds stay wrong.
 * Within the tolerance it is solved all the same: only what is solved has its ends turned (island_solve.c). */
static spragStatus sweep(const spragSolveOptions *options, const Course *course, spragIsland *island)
{
    int iterations = 0;
    spragSolveOptions some = *options;
    some.tolerance = course->enough;
    some.solver = SPRAG_SOLVER_GAUSS_SEIDEL;
    some.iteration_limit = SWEEPS;
    const spragStatus status = spragPartingSolve(SPRAG_CHAIN_WHOLE, &some, island, &iterations);
    island->solve.iterations = iterations;
    if (status == SPRAG_LIMIT && island->solve.residual <= options->tolerance)
        return island->solve.status = SPRAG_OK;
    return status;
}

/* After a solution: was it any good, and are sweeps next?  Not while contacts yield (island->wedge.speed), of which
 * sweeps know nothing. */
static void look(Course *course, double residual, const spragIsland *island)
{
    const int missed = residual > fmax(course->solved_to, SPRAG_MISSED);
    ++course->solutions;
    course->missed += missed;
    course->asked = course->solved_to > course->tolerance ? course->tolerance : fmax(course->tolerance, residual);
    course->astray = course->swept && !(course->off <= NEARER * course->off_solved);
    const int in_vain = course->swept && !(course->off <= WORTH * course->off_solved);
    course->pause = in_vain ? PAUSE : course->pause > 0 ? course->pause - 1 : 0;
    course->swept = 0;
    course->sweeps = course->pause == 0 && !missed && !(island->wedge.speed > 0);
}

/* Will rounds of sweeps end it soon, at the pace of the last one?  before: what was left then, m/s. */
static int sweepsArrive(const Course *course, double before)
{
    const double left = course->left;
    return left > course->enough && left < before && log(course->enough / left) > SWEPT_MOST * log(left / before);
}

/* After a round of either kind: keeps it if it is the best, and says of which kind the next one is. */
static void compare(Course *course, spragIsland *island, spragBearingRounds *rounds)
{
    const double residual = island->solve.residual, before = course->left;
    course->left = fmax(course->off, residual);
    if (course->left <= HALF * course->least || (!course->sweeps && course->left <= HALF * course->least_solved))
        course->vain = 0;
    else
        course->vain += !course->sweeps;
    if (course->left < course->least) {
        course->least = course->left;
        spragBearingsKeep(island, rounds);
    }
    if (course->sweeps) {
        course->sweeps = course->left <= HALF * before || sweepsArrive(course, before);
        course->swept = 1;
    } else {
        course->least_solved = fmin(course->least_solved, course->left);
        look(course, residual, island);
    }
}

/* m/s: of a solution for bounds that are still so far off, as far as is known. */
static double toleranceOf(const Course *course, const spragSolveOptions *options)
{
    const int may_be_rough =
        isfinite(course->off) && options->solver == SPRAG_SOLVER_AUTO && options->iteration_limit == 0;
    return may_be_rough ? fmax(course->tolerance, fmin(ROUGH * course->off, ROUGHEST)) : course->tolerance;
}

/* One round.  ERROR_MEMORY, or the status of its answer. */
static spragStatus solveRound(const struct spragWorld *world, const spragSolveOptions *options, Course *course,
                              spragIsland *island, spragBearingRounds *rounds)
{
    spragArena *arena = &island->lane->arena;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const int solves = !course->sweeps;
    if (course->astray)
        spragBearingsReturn(world, island, rounds);
    course->astray = 0;
    spragSolveOptions rough = *options;
    rough.tolerance = course->solved_to = toleranceOf(course, options);
    const spragStatus status = solves ? spragReleaseSolve(&rough, island) : sweep(options, course, island);
    const int ready = status != SPRAG_ERROR_MEMORY && spragArticulationsSolve(island);
    spragArenaRelease(arena, mark);
    if (!ready)
        return SPRAG_ERROR_MEMORY;
    course->off = spragBearingsUpdate(world, island, rounds);
    compare(course, island, rounds);
    if (solves && !course->astray) {
        spragBearingsMix(world, island, rounds);
        course->off_solved = course->off;
    }
    return status;
}

/* Time limit of a round, s.  shared: others are to follow, and it gets a part of what is left. */
static double timeOf(const spragSolveOptions *options, double begin, int shared)
{
    const double left = spragTimeLeft(options->time_limit, begin);
    return shared && left > SPRAG_TIME_LEAST ? TIME_SHARE * left : left;
}

/* What contacts miss that are held by joints (island->locked) no force and no round can mend: it is added here. */
static spragStatus judgeLocked(const spragSolveOptions *options, spragIsland *island, spragStatus status)
{
    if (!(island->locked > options->tolerance))
        return status;
    island->solve.residual = fmax(island->solve.residual, island->locked);
    island->solve.fallback = 1;
    return island->solve.status = SPRAG_NOT_CONVERGED;
}

/* Have the rounds found no bounds and solution that fit each other, with no limit of time as the cause? */
static int isUnsettled(const Course *course, const spragSolveOptions *options, const spragIsland *island)
{
    return course->least > fmax(options->tolerance, options->enough) && !(options->time_limit > 0) &&
           !(island->wedge.speed > 0);
}

/* Searches on where rounds are not enough (settle.h), in small islands.  0: no memory. */
static int settle(const struct spragWorld *world, const spragSolveOptions *options, Course *course, spragIsland *island,
                  spragBearingRounds *rounds, int *iterations)
{
    int done = 1;
    if (island->block_count <= FEW && options->solver == SPRAG_SOLVER_AUTO && course->missed < MISSED_MAX) {
        done = spragSettle(world, options, course->enough, island, rounds, &course->least);
        *iterations += island->solve.iterations;
    }
    course->off = course->left = INFINITY; /* the last answer is not the best one: spragBearingsBest is to be called */
    island->unsettled = course->least > fmax(options->tolerance, options->enough);
    return done;
}

/* Rounds until bounds and answer fit each other, or no more come.  Adds to *iterations. */
static spragStatus solveRounds(const struct spragWorld *world, const spragSolveOptions *options, Course *course,
                               spragIsland *island, spragBearingRounds *rounds, int *iterations)
{
    const double begin = options->time_limit > 0 ? spragSeconds() : 0;
    const int large = island->block_count > FEW, shared = rounds->count > 0 && large;
    spragStatus status = SPRAG_OK;
    spragSolveOptions own = *options;
    own.time_limit = timeOf(options, begin, shared);
    while (status != SPRAG_ERROR_MEMORY && goesOn(course, island, own.time_limit == SPRAG_TIME_LEAST)) {
        status = solveRound(world, &own, course, island, rounds);
        *iterations += island->solve.iterations;
        if (island->wedge.speed > 0 && own.iteration_limit == 0 && spragHasInfinite(island))
            own.iteration_limit = STEPS_AGAIN;
        own.time_limit = timeOf(options, begin, shared);
        if (large && spragTimeLeft(LATE_MOST * options->time_limit, begin) == SPRAG_TIME_LEAST)
            course->rounds = ROUNDS_LARGE;
        ++course->round;
    }
    return status;
}

/* The bounds and the answer of the best round, and what they leave.  0: no memory. */
static int takeBest(const Course *course, spragIsland *island, spragBearingRounds *rounds)
{
    const int last_is_best = !(course->left > course->least);
    if (last_is_best)
        spragBearingsStay(island, rounds);
    else if (!spragBearingsBest(island, rounds))
        return 0;
    if (!(course->off <= course->enough && course->left <= course->least)) {
        island->solve.residual = course->least;
        island->solve.fallback |= island->unsettled;
    }
    return 1;
}

spragStatus spragBoundedSolve(const struct spragWorld *world, const spragSolveOptions *options, spragIsland *island)
{
    const int automatic = options->solver == SPRAG_SOLVER_AUTO;
    Course course = {.enough = 0.1 * options->tolerance,
                     .tolerance = options->tolerance,
                     .content = options->enough > options->tolerance ? options->enough : 0,
                     .off = INFINITY,
                     .off_solved = INFINITY,
                     .left = INFINITY,
                     .least = INFINITY,
                     .least_solved = INFINITY,
                     .rounds = ROUNDS_LEAST,
                     .pause = automatic ? 0 : INT_MAX};
    spragBearingRounds rounds;
    int iterations = 0;
    island->unsettled = 0;
    if (!spragBearingsBegin(world, island, &rounds))
        return SPRAG_ERROR_MEMORY;
    course.sweeps = rounds.count > 0 && island->block_count <= FEW && automatic;
    const spragStatus status = solveRounds(world, options, &course, island, &rounds, &iterations);
    if (status == SPRAG_ERROR_MEMORY)
        return status;
    if (rounds.count > 0 && isUnsettled(&course, options, island) &&
        !settle(world, options, &course, island, &rounds, &iterations))
        return SPRAG_ERROR_MEMORY;
    island->solve.iterations = iterations;
    return takeBest(&course, island, &rounds) ? judgeLocked(options, island, status) : SPRAG_ERROR_MEMORY;
}
