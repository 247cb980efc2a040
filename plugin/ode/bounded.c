#include "ode/bounded.h"

#include <limits.h>
#include <math.h>

#include "base/clock.h"
#include "ode/articulation.h"
#include "ode/bearing.h"
#include "ode/release.h"
#include "ode/settle.h"
#include "ode/soften.h"
#include "solve/solver.h"

enum {
    ROUNDS_LEAST = 8, /* though the time is up: bounds that do not fit are far off, and the last rounds are warm, */
    ROUNDS_LARGE = 2, /* but not cheap in a large island: so many, and what a tenth of the time more is enough for */
    FEW = 60,         /* blocks */
    SOLUTIONS_MAX = 60,
    VAIN_MAX = 15,  /* solutions after which not half as much is left, */
    VAIN_LATE = 10, /* and where that is an answer */
    MISSED_MAX = 4,
    STEPS_AGAIN = 300, /* of each method, where there is no rigid answer */
    SWEEPS = 8,
    PAUSE = 2 /* solutions without sweeps between them, where these led astray */
};
#define HALF 0.5
#define LATE_MOST 1.1
#define TIME_SHARE 0.8   /* with a half a fall of 160 balls in 10 ms has no time for Newton */
#define SHARE_LEAST 0.03 /* of the work: after a solution that missed the next one has half of it */
#define NEARER 0.99      /* a rope's bounds may come round again */

typedef struct Course {
    double enough, tolerance;         /* m/s, of the bounds; of the answer */
    double off, off_solved;           /* what the bounds are off by; after the last solution that was followed */
    double left, least, least_solved; /* the larger of residual and off; the least so far, of solutions */
    double asked;                     /* what sweeps come to: no less than the solution before them */
    int round, solutions, missed, vain;
    int sweeps, swept, astray; /* the next round, and the last one, has sweeps; the last solution was led astray */
    int pause;                 /* solutions, before the next round with sweeps */
    double share;              /* of the work, that the next solution has */
    int rounds;                /* that are made though it is late */
} Course;

static int goesOn(const Course *course, double residual, int late)
{
    return (course->off > course->enough || residual > course->asked) && course->solutions < SOLUTIONS_MAX &&
           course->vain < (course->least <= SPRAG_MISSED ? VAIN_LATE : VAIN_MAX) && course->missed < MISSED_MAX &&
           (course->round < course->rounds || !late);
}

static spragStatus sweep(const spragSolveOptions *options, spragIsland *island)
{
    int iterations = 0;
    spragSolveOptions some = *options;
    some.solver = SPRAG_SOLVER_GAUSS_SEIDEL;
    some.iteration_limit = SWEEPS;
    const spragStatus status = spragPartingSolve(spragChainSolve, &some, island, &iterations);
    island->solve.iterations = iterations;
    return status;
}

/* After a solution.  Of contacts that yield rigid sweeps know nothing. */
static void look(Course *course, double residual, const spragIsland *island)
{
    const int missed = residual > fmax(course->tolerance, SPRAG_MISSED);
    ++course->solutions;
    course->missed += missed;
    course->asked = fmax(course->tolerance, residual);
    course->astray = course->swept && !(course->off <= NEARER * course->off_solved);
    course->pause = course->astray ? PAUSE : course->pause > 0 ? course->pause - 1 : 0;
    course->swept = 0;
    course->sweeps = course->pause == 0 && !missed && !(island->wedge > 0);
}

/* After either. */
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
        course->sweeps = course->left <= HALF * before;
        course->swept = 1;
    } else {
        course->least_solved = fmin(course->least_solved, course->left);
        look(course, residual, island);
    }
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
    const spragStatus status = solves ? spragReleaseSolve(options, island) : sweep(options, island);
    if (solves)
        course->share = status == SPRAG_OK ? 1 : fmax(HALF * course->share, SHARE_LEAST);
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

/* s, of a round: of a large island a part of what is left where bounds are sought, which need more than one. */
static double timeOf(const spragSolveOptions *options, double begin, int shared)
{
    const double left = spragTimeLeft(options->time_limit, begin);
    return shared && left > SPRAG_TIME_LEAST ? TIME_SHARE * left : left;
}

/* What contacts miss that joints hold: no force does it, and no round. */
static spragStatus judgeLocked(const spragSolveOptions *options, spragIsland *island, spragStatus status)
{
    if (!(island->locked > options->tolerance))
        return status;
    island->solve.residual = fmax(island->solve.residual, island->locked);
    island->solve.fallback = 1;
    return island->solve.status = SPRAG_NOT_CONVERGED;
}

/* Bounds fit no solution, or one that is none. */
static int isUnsettled(const Course *course, const spragSolveOptions *options, const spragIsland *island)
{
    return course->least > fmax(options->tolerance, options->enough) && !(options->time_limit > 0) &&
           !(island->wedge > 0);
}

/* 0: no memory. */
static int settle(const struct spragWorld *world, const spragSolveOptions *options, Course *course, spragIsland *island,
                  spragBearingRounds *rounds, int *iterations)
{
    const int done = island->block_count > FEW || options->solver != SPRAG_SOLVER_AUTO ||
                     course->missed >= MISSED_MAX ||
                     spragSettle(world, options, course->enough, island, rounds, &course->least, iterations);
    course->off = course->left = INFINITY; /* the best answer is another's */
    island->unsettled = course->least > fmax(options->tolerance, options->enough);
    return done;
}

spragStatus spragBoundedSolve(const struct spragWorld *world, const spragSolveOptions *options, spragIsland *island)
{
    const double begin = options->time_limit > 0 ? spragSeconds() : 0;
    Course course = {.enough = 0.1 * options->tolerance,
                     .tolerance = options->tolerance,
                     .off = INFINITY,
                     .off_solved = INFINITY,
                     .left = INFINITY,
                     .least = INFINITY,
                     .least_solved = INFINITY,
                     .share = 1,
                     .rounds = ROUNDS_LEAST,
                     .pause = options->solver == SPRAG_SOLVER_AUTO ? 0 : INT_MAX};
    spragStatus status = SPRAG_OK;
    spragSolveOptions own = *options;
    spragBearingRounds rounds;
    const int large = island->block_count > FEW;
    int iterations = 0;
    island->unsettled = 0;
    if (!spragBearingsBegin(world, island, &rounds))
        return SPRAG_ERROR_MEMORY;
    course.sweeps = rounds.count > 0 && !large && options->solver == SPRAG_SOLVER_AUTO;
    own.time_limit = timeOf(options, begin, rounds.count > 0 && large);
    while (status != SPRAG_ERROR_MEMORY &&
           goesOn(&course, island->solve.residual, own.time_limit == SPRAG_TIME_LEAST)) {
        status = solveRound(world, &own, &course, island, &rounds);
        iterations += island->solve.iterations;
        if (island->wedge > 0 && own.iteration_limit == 0 && spragHasInfinite(island))
            own.iteration_limit = STEPS_AGAIN;
        own.work_limit = course.share * options->work_limit;
        own.time_limit = timeOf(options, begin, rounds.count > 0 && large);
        if (large && spragTimeLeft(LATE_MOST * options->time_limit, begin) == SPRAG_TIME_LEAST)
            course.rounds = ROUNDS_LARGE;
        ++course.round;
    }
    if (status != SPRAG_ERROR_MEMORY && rounds.count > 0 && isUnsettled(&course, options, island) &&
        !settle(world, options, &course, island, &rounds, &iterations))
        status = SPRAG_ERROR_MEMORY;
    island->solve.iterations = iterations;
    if (status != SPRAG_ERROR_MEMORY && course.left > course.least) {
        if (!spragBearingsBest(island, &rounds))
            status = SPRAG_ERROR_MEMORY;
    } else if (status != SPRAG_ERROR_MEMORY) {
        spragBearingsStay(island, &rounds);
    }
    if (status != SPRAG_ERROR_MEMORY && !(course.off <= course.enough && course.left <= course.least)) {
        island->solve.residual = course.least;
        island->solve.fallback |= island->unsettled;
    }
    return status == SPRAG_ERROR_MEMORY ? status : judgeLocked(options, island, status);
}
