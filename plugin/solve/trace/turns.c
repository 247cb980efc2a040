/* Sweeps and the traced path by turns: the last link of the chain.
 *
 * A path (trace.c) is as long as the wandering between its start and the solution it leads to, and that is luck: of a
 * pile of 1000 wedged spheres (p23), which has many solutions, t falls to some 0.05 in 100 steps and then wanders, to 0
 * after 290 to 530 steps or for thousands, and a change of q by rounding is another path.  Nothing of the start tells
 * which: not its residual (solved from 1.3e-3 m/s, not from 5e-4), nor t after 100 steps.  So a path is left that gets
 * nowhere, and another start is taken.
 *
 * More sweeps from the same point are another start once or twice, then they go round one region, with the same least
 * residual.  So each turn from the third on takes what the second's sweeps left, makes every contact's impulse longer
 * or shorter by some percent, and sweeps again: half of such starts end elsewhere, a tenth of |r| away.  Tried and
 * dropped as starts: ramps of friction (mu times 0.6 to 0.95 are solved in 0 to 220 steps, but their answers are no
 * nearer: 2e-3 m/s where sweeps alone come to 8e-4); proximal points followed by paths, softness 1e-3, 3e-4, 1e-4 (15
 * to 150 steps each, down to 2e-4 m/s, but the rest takes as long as ever); impulses changed by a half (1e-3 to 3e-3
 * m/s after 5000 sweeps, and t stays above 0.1). */
#include <string.h>

#include "base/clock.h"
#include "solve/solver.h"

enum {
    TURNS = 24,           /* of sweeps and a path each */
    SWEEPS_FIRST = 20000, /* of the first turn */
    SWEEPS_MORE = 10000,  /* of the second turn */
    SWEEPS_OTHER = 4000,  /* of a jittered start */
    STEPS = 900           /* of a path */
};
#define JITTER 0.03 /* of each impulse of a start */
#define SEED 0x9e3779b97f4a7c15u

/* 1: no time is left. */
static int isLate(const spragSolveOptions *options, double deadline, spragSolveOptions *left)
{
    *left = *options;
    if (options->time_limit > 0)
        left->time_limit = deadline - spragSeconds();
    return options->time_limit > 0 && left->time_limit <= 0;
}

/* guess (3 nc) becomes r where it is better. */
static double keep(const spragProblem *problem, const double *guess, double residual, double *r)
{
    const double reached = spragProblemResidual(problem, guess);
    if (!(reached < residual))
        return residual;
    memcpy(r, guess, 3 * (size_t)problem->contact_count * sizeof *r);
    return reached;
}

/* Uniform on -1 .. 1, from a state that is never 0 (xorshift, Marsaglia 2003): the same numbers in every run. */
static double draw(unsigned long long *state)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

/* Each contact's impulse (3 nc), longer or shorter by up to JITTER. */
static void jitter(const spragProblem *problem, unsigned long long *state, double *r)
{
    for (int k = 0; k < problem->contact_count; ++k) {
        const double scale = 1 + JITTER * draw(state);
        for (int i = 3 * k; i < 3 * k + 3; ++i)
            r[i] *= scale;
    }
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    const size_t n = 3 * (size_t)problem->contact_count;
    const double deadline = spragSeconds() + options->time_limit;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    double *swept = SPRAG_TAKE_RAW(arena, double, n), *guess = SPRAG_TAKE_RAW(arena, double, n);
    double residual = spragProblemResidual(problem, r);
    spragStatus status = swept != NULL && guess != NULL ? SPRAG_NOT_CONVERGED : SPRAG_ERROR_MEMORY;
    unsigned long long random = SEED;
    spragSolveOptions left;
    if (status == SPRAG_NOT_CONVERGED)
        memcpy(guess, r, n * sizeof *r);
    for (int turn = 0; turn < TURNS && status == SPRAG_NOT_CONVERGED; ++turn) {
        if (isLate(options, deadline, &left))
            break;
        if (turn > 0)
            memcpy(guess, swept, n * sizeof *r);
        if (turn > 1)
            jitter(problem, &random, guess);
        left.iteration_limit = turn == 0 ? SWEEPS_FIRST : turn == 1 ? SWEEPS_MORE : SWEEPS_OTHER;
        status = spragSolverGaussSeidel.solve(problem, &left, arena, guess, info);
        residual = status == SPRAG_ERROR_MEMORY ? residual : keep(problem, guess, residual, r);
        if (status == SPRAG_LIMIT)
            status = SPRAG_NOT_CONVERGED;
        if (status != SPRAG_NOT_CONVERGED || isLate(options, deadline, &left))
            break;
        if (turn <= 1)
            memcpy(swept, guess, n * sizeof *r);
        left.iteration_limit = STEPS;
        status = spragSolverTrace.solve(problem, &left, arena, guess, info);
        residual = status == SPRAG_ERROR_MEMORY ? residual : keep(problem, guess, residual, r);
        if (status == SPRAG_LIMIT)
            status = SPRAG_NOT_CONVERGED;
    }
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverTurns = {.kind = SPRAG_SOLVER_NEWTON, .solve = solve};
