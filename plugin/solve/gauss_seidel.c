/* Nonlinear block Gauss-Seidel (Jean and Moreau 1992; Jourdan, Alart, Jean 1998): contact after contact, each solved
 * exactly with the others held,
 *
 *     q_k = u_k - W_kk r_k,   u_k = q + sum_j W_kj r_j,   r_k <- the block's law at (W_kk, q_k),
 *
 * The judge's residual is taken now and then, and when the sweep's largest change, |dr_k| w_k, says that it can pass.
 *
 * Anderson's mixing of whole sweeps (anderson.h) takes 3 to 40 times fewer of them on towers, arches and piles; with a
 * window of 8 or 18, or with a looser safeguard, it is no faster or fails on p12 and p16.
 *
 * Rays.  Where contacts are redundant, W has a null space (self-stress), and sweeps that cannot settle there drift: r
 * changes by the same dr every time, some 1e-6 of r, until after 1e5 sweeps a contact opens or slips.  As soon as dr is
 * steady the drift is followed at once to that event, unless a geometric decay would end before it.  Box piles come to
 * 5e-5 in 256 sweeps instead of 1e-3; p09, never solved by sweeps alone, takes 1288.
 *
 * Where sweeps stall (p23, piles that move).  Not slow, unstable: at the solutions of piles of 100 balls the derivative of
 * a sweep has up to two eigenvalues beyond 1, real or in pairs, 1.0001 to 1.008, nine tenths of their modes in 6 to 30
 * contacts.  Relaxation by 1/2 to 1/20 follows the same wandering flow, slower.  trace.c is for them.
 *
 * Tried and dropped: alternating forward and backward sweeps (1.2 to 4 times more sweeps on arches, cards and piles);
 * rays beyond the first event (1.5 times as far, or to the third or tenth event with a projection on the cones: no
 * better). */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/anderson.h"
#include "solve/lorentz.h"
#include "solve/sweep.h"
#include "solve/solver.h"

enum {
    SWEEP_LIMIT = 20000,
    SWEEP_PAYS_LIMIT = 3000,
    THREADS_PAY = 1000,     /* blocks */
    SWEEPS_LEAST = 4,       /* however short the time: fewer would let a pile explode */
    LOOK = 8,               /* sweeps between two looks at the residual */
    SMALL = 200,            /* blocks */
    PATIENT = 24,           /* sweeps, at least, in which the residual must fall to HALF, or in half of those done */
    PATIENT_LIMITED = 1000, /* at most, where work is limited */
    CHEAP = 8 /* times less where Newton's steps cost no more than some sweeps: 300 tumbling boxes take half the time */
};
#define HALF 0.5
#define STEADY 0.1 /* 0.03 and 0.3 are no better */
#define STICKS 1e-9
#define REPEATS_MOST 1e9

/* How often the last change of r, from x, can be repeated until a contact opens or a sticking one begins to slip;
 * infinity: for ever. */
static double repeatsOf(const spragProblem *problem, const double *x, const double *r)
{
    double least = INFINITY;
    for (int k = 0; k < problem->contact_count; ++k) {
        const double mu = problem->mu[k], *now = r + 3 * k, *before = x + 3 * k;
        const double d[3] = {now[0] - before[0], now[1] - before[1], now[2] - before[2]};
        if (now[0] > 0 && d[0] < 0)
            least = fmin(least, -now[0] / d[0]);
        if (now[0] > 0 && spragNorm2(now + 1) < mu * now[0] * (1 - STICKS)) {
            const double scaled[3] = {mu * now[0], now[1], now[2]};
            const double far[3] = {REPEATS_MOST * mu * d[0], REPEATS_MOST * d[1], REPEATS_MOST * d[2]};
            const double part = spragConeStep(scaled, far);
            least = part < 1 ? fmin(least, REPEATS_MOST * part) : least;
        }
    }
    return least;
}

/* x: the end of the ray, if the sweeps go steadily where it leads; 0: they do not. */
static int follow(const spragProblem *problem, spragAnderson *anderson, double *x, const double *r)
{
    if (!(anderson->turn < STEADY))
        return 0;
    const double repeats = repeatsOf(problem, x, r);
    const double limit =
        anderson->ratio < 1 ? anderson->ratio / (1 - anderson->ratio) : INFINITY; /* of a geometric decay */
    if (!(repeats > 1 && repeats < REPEATS_MOST && repeats < limit))
        return 0;
    for (int i = 0; i < 3 * problem->contact_count; ++i)
        x[i] = r[i] + repeats * (r[i] - x[i]);
    spragAndersonRestart(anderson);
    return 1;
}

/* Sweeps in which the residual has to fall to HALF, for sweeps that have to pay: factorisations grow dearer than sweeps. */
static int patienceOf(const spragProblem *problem, const spragSolveOptions *options, const spragSolveInfo *info)
{
    const int cheap =
        info->method_iterations[SPRAG_SOLVER_NEWTON] > 0; /* it has been asked first, so it costs little */
    int patience = problem->contact_count - SMALL;
    if (options->work_limit > 0 && patience > PATIENT_LIMITED)
        patience = PATIENT_LIMITED;
    if (cheap)
        patience /= CHEAP;
    return patience > PATIENT ? patience : PATIENT;
}

/* Sweeps from r until the residual is at most the tolerance, the limit or the deadline is reached or, with patience (0:
 * without end), the residual falls no more.  r: the best iterate seen. */
static spragStatus run(spragSweeper *sweeper, spragAnderson *anderson, const spragSolveOptions *options, int limit,
                       double deadline, int patience, double *x, double *best, double *r, int *iterations)
{
    const spragProblem *problem = sweeper->problem;
    const size_t bytes = 3 * (size_t)problem->contact_count * sizeof *r;
    const int rays = spragProblemIsPlain(problem);
    double least = INFINITY, mark = INFINITY;
    spragStatus status = SPRAG_NOT_CONVERGED;
    memcpy(x, r, bytes);
    for (int k = 1, marked = 0; k <= limit && status == SPRAG_NOT_CONVERGED; ++k) {
        memcpy(r, x, bytes);
        const double change = spragSweep(sweeper, r);
        ++*iterations;
        const int late = deadline < INFINITY && k >= SWEEPS_LEAST && spragSeconds() > deadline;
        if (late && !(least < INFINITY))
            return SPRAG_LIMIT; /* the chain will look */
        if (change <= options->tolerance || k % LOOK == 0 || k == limit || late) {
            const double residual = spragProblemResidual(problem, r);
            if (residual < least) {
                least = residual;
                memcpy(best, r, bytes);
            }
            if (residual < HALF * mark)
                mark = residual, marked = k;
            if (residual <= options->tolerance)
                status = SPRAG_OK;
            else if (late)
                status = SPRAG_LIMIT;
            else if (patience > 0 && k - marked > patience && k - marked > k / 2)
                break;
        }
        spragAndersonLook(anderson, x, r);
        if (!rays || !follow(problem, anderson, x, r))
            spragAndersonMix(anderson, x, r);
    }
    if (least < INFINITY)
        memcpy(r, best, bytes);
    return status;
}

static spragStatus start(const spragProblem *problem, const spragSolveOptions *options, int limit, int patience,
                         spragArena *arena, double *r, spragSolveInfo *info)
{
    spragSweeper sweeper;
    spragAnderson anderson;
    const int n = 3 * problem->contact_count;
    const double deadline = options->time_limit > 0 ? spragSeconds() + options->time_limit : INFINITY;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    double *x = SPRAG_TAKE_RAW(arena, double, n), *best = SPRAG_TAKE_RAW(arena, double, n);
    double *weight = SPRAG_TAKE_RAW(arena, double, n);
    spragStatus status = SPRAG_ERROR_MEMORY;
    spragPool *threads = problem->contact_count >= THREADS_PAY ? spragPoolHere() : NULL;
    if (x != NULL && best != NULL && weight != NULL && spragSweeperInit(&sweeper, problem, threads, arena) &&
        spragAndersonInit(&anderson, n, weight, threads, arena)) {
        for (int i = 0; i < n; ++i)
            weight[i] = sweeper.w[i / 3];
        if (options->iteration_limit > 0)
            limit = options->iteration_limit;
        status = run(&sweeper, &anderson, options, limit, deadline, patience, x, best, r, &info->iterations);
    }
    spragArenaRelease(arena, mark);
    return status;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    return start(problem, options, SWEEP_LIMIT, 0, arena, r, info);
}

static spragStatus solveWhileItPays(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                                    double *r, spragSolveInfo *info)
{
    return start(problem, options, SWEEP_PAYS_LIMIT, patienceOf(problem, options, info), arena, r, info);
}

const spragSolver spragSolverGaussSeidel = {SPRAG_SOLVER_GAUSS_SEIDEL, "gauss-seidel", solve};
const spragSolver spragSolverSweeps = {SPRAG_SOLVER_GAUSS_SEIDEL, "gauss-seidel", solveWhileItPays};
