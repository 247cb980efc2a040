/* Nonlinear block Gauss-Seidel (Jean and Moreau 1992; Jourdan, Alart, Jean 1998): contact after contact, each solved
 * exactly with the others held,
 *
 *     q_k = u_k - W_kk r_k,   u_k = q + sum_j W_kj r_j,   r_k <- the block's law at (W_kk, q_k),
 *
 * until spragProblemResidual is within the tolerance.  The residual is computed every few sweeps, and when the largest
 * change of a sweep, |dr_k| w_k, is within the tolerance.
 *
 * Anderson's mixing of whole sweeps (anderson.h) takes 3 to 40 times fewer of them on towers, arches and piles; with a
 * window of 8 or 18, or with a looser safeguard, it is no faster or fails on p12 and p16.
 *
 * Momentum.  In large piles that move too many contacts change their mode for Anderson's mixing to gain.  There the
 * first sweeps of a step are extrapolated by MOMENTUM of the last change (heavy ball, Polyak 1964): 1000 tumbling boxes
 * come to 3e-3 m/s in 200 sweeps in place of 700, 1000 balls to 5e-4 in 200 in place of 400.  Near an answer, and on
 * fewer contacts, Anderson's mixing is better.  Heaps of mechanisms, whose modes change as much, are approached so in
 * 64 sweeps at most: ragdolls that land, 190 blocks, come from 0.8 m/s to 0.3 in place of 0.8.
 *
 * Rays.  Where contacts are redundant W has a null space (self-stress), in which sweeps may drift: r changes by the
 * same dr in every sweep, some 1e-6 of r, until after 1e5 sweeps a contact opens or slips.  As soon as dr is steady, r
 * goes along it at once to that event, unless a geometric decay would end before.  Box piles come to 5e-5 in 256 sweeps
 * instead of 1e-3; p09, never solved by sweeps alone, takes 1288.
 *
 * Where sweeps stall (p23, piles that move) they are not slow but unstable: at the solutions of piles of 100 balls the
 * derivative of a sweep has up to two eigenvalues beyond 1, real or in pairs, 1.0001 to 1.008, with nine tenths of
 * their modes in 6 to 30 contacts.  Relaxation by 1/2 to 1/20 follows the same wandering flow, more slowly.  trace.c is
 * for such problems. */
#include <math.h>
#include <string.h>

#include "linalg/block_lu.h"
#include "linalg/vec3.h"
#include "problem/bodies.h"
#include "problem/reaches.h"
#include "problem/residual.h"
#include "solve/solver.h"
#include "solve/stop.h"
#include "solve/sweep/anderson.h"
#include "solve/sweep/sweep.h"

enum {
    SWEEP_LIMIT = 20000,     /* without a limit of the caller's, */
    SWEEP_PAYS_LIMIT = 3000, /* and as long as sweeps pay */
    THREADS_PAY = 1000,      /* blocks */
    SWEEPS_LEAST = 4,        /* however short the time: fewer would let a pile explode, */
    LEAST_LINKED = 12,       /* or, of mechanisms, so many: they take less than it took to write the problem, */
    LEAST_FEW = 30,          /* and so many, with W, of up to */
    FEW = 400,               /* blocks */
    LOOK = 8,                /* sweeps between two looks at the residual */
    SWEEPS_CALM = LOOK,      /* of an answer that creeps, in each step */
    UNSEEN = -1,             /* patience: the chain judges the few sweeps */
    SMALL = 200,             /* blocks */
    PATIENT = 24,            /* sweeps, at least, in which the residual must fall to HALF, */
    PART = 2,                /* or in half of those done, */
    PART_PROMPT = 4,        /* or, up to CALM, in a quarter, where Newton is cheap and less than the tolerance enough */
    PATIENT_LIMITED = 1000, /* at most, where work is limited, */
    PATIENT_NEAR = 200,     /* and from CALM on */
    MANY = 2000,            /* blocks */
    STEPS_FOLLOW = 20,      /* of Newton, for which there is work */
    MOMENTUM_SHARE = 5,     /* blocks a sweep with momentum */
    APPROACH = 64,          /* sweeps, at most; 48 and 96 are as good */
    CHEAP = 8 /* times less where Newton's steps cost no more than some sweeps: 300 tumbling boxes take half the time */
};
#define HALF 0.5
#define MOMENTUM 0.8 /* of the last change; 0.7 as good, 0.9 ends a third higher after 400 sweeps, 0.95 ten times */
#define MOMENTUM_LINKED 0.9 /* the same of mechanisms, where 0.8 leaves more, and 0.95 too, after 120 sweeps */
#define CALM 1e-4           /* m/s: from here Anderson's mixing is faster */
#define STEADY 0.1          /* 0.03 and 0.3 are no better */
#define STICKS 1e-9         /* of mu r_n: how far inside its cone a contact sticks */
#define REPEATS_MOST 1e9    /* of a change along a ray */

/* How long sweeps go on. */
typedef struct Patience {
    int limit;        /* of sweeps, where the caller has none */
    int sweeps, part; /* the residual must fall to HALF in so many, or in a part of those done; 0: it need not */
    int approaches;   /* 1: with momentum, of a heap of mechanisms */
    int loose;        /* 1: laws need not be kept to rounding */
    double enough;    /* m/s: the residual at which they end */
} Patience;

/* What a run works with; x and all vectors of `anderson` are by visit. */
typedef struct Run {
    spragSweeper sweeper;
    spragAnderson anderson;
    double *best, *seen;             /* (3 nc) the best answer, and the one to be judged */
    double *last;                    /* (3 nc) by visit: what the sweep before left, while they have momentum */
    int start[SPRAG_PARTS_MOST + 1]; /* first unknown of each part */
    const spragSolveOptions *options;
    spragStop stop;
    Patience patience;
    int fewest;                      /* sweeps that are made however short the time is */
    double residual;                 /* m/s, of `best`; INFINITY: nobody has looked yet */
    double mark;                     /* m/s, the residual when it last fell to HALF, */
    int marked;                      /* in this sweep */
    int pushed;                      /* sweeps at the beginning that have momentum: */
    double momentum;                 /* of the last change */
    double repeats;                  /* of the last change */
    double least[SPRAG_RANGES_MOST]; /* of each range */
} Run;

/* How often d can be added to x until x_0 = |x_t|: the first positive root of c + 2 b s + a s^2, c > 0. */
static double repeatsInCone(const double x[3], const double d[3])
{
    const double a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2], b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    const double t = spragNorm2(x + 1), c = (x[0] - t) * (x[0] + t), discriminant = b * b - a * c;
    if (a >= 0 && (b >= 0 || discriminant < 0))
        return INFINITY;
    const double root = sqrt(fmax(0, discriminant));
    return b < 0 ? c / (root - b) : (-b - root) / a;
}

/* How often the last change, from x to G, can be repeated until a contact opens or a sticking one begins to slip;
 * infinity: for ever. */
static void repeatsRange(void *data, int range, int first, int end)
{
    Run *run = data;
    double least = INFINITY;
    for (int k = first; k < end; ++k) {
        const double mu = run->sweeper.block[k].mu, *now = run->anderson.G + 3 * k, *before = run->anderson.x + 3 * k;
        const double d[3] = {now[0] - before[0], now[1] - before[1], now[2] - before[2]};
        if (now[0] > 0 && d[0] < 0)
            least = fmin(least, -now[0] / d[0]);
        if (now[0] > 0 && spragNorm2(now + 1) < mu * now[0] * (1 - STICKS)) {
            const double scaled[3] = {mu * now[0], now[1], now[2]}, along[3] = {mu * d[0], d[1], d[2]};
            least = fmin(least, repeatsInCone(scaled, along));
        }
    }
    run->least[range] = least;
}

static void repeatRange(void *data, int range, int first, int end)
{
    (void)range;
    Run *run = data;
    double *x = run->anderson.x, *G = run->anderson.G;
    for (int i = 3 * first; i < 3 * end; ++i)
        x[i] = G[i] = G[i] + run->repeats * (G[i] - x[i]);
}

/* Follows the drift to its first event, if the sweeps are steady; 0: they are not, or blocks have no cones. */
static int follow(Run *run)
{
    spragAnderson *anderson = &run->anderson;
    const int nc = run->sweeper.problem->contact_count;
    if (!(anderson->turn < STEADY) || !spragProblemIsPlain(run->sweeper.problem))
        return 0;
    spragRangesRun(nc, repeatsRange, run);
    run->repeats = INFINITY;
    for (int k = 0; k < spragRangeCount(nc); ++k)
        run->repeats = fmin(run->repeats, run->least[k]);
    const double limit =
        anderson->ratio < 1 ? anderson->ratio / (1 - anderson->ratio) : INFINITY; /* of a geometric decay */
    if (!(run->repeats > 1 && run->repeats < REPEATS_MOST && run->repeats < limit))
        return 0;
    spragRangesRun(nc, repeatRange, run);
    spragAndersonRestart(anderson);
    return 1;
}

/* Sweeps in which the residual has to fall to HALF, for sweeps that have to pay:
 * factorisations grow costlier than sweeps. */
static Patience patienceOf(const spragProblem *problem, const spragSolveOptions *options, const spragSolveInfo *info,
                           spragArena *arena)
{
    if (options->time_limit > 0 && options->time_limit <= SPRAG_TIME_LEAST) /* for PATIENT sweeps there is no time */
        return (Patience){.limit = SWEEP_PAYS_LIMIT, .sweeps = PATIENT, .part = PART};
    const int asked = info->method_iterations[SPRAG_SOLVER_NEWTON] > 0; /* first, so it costs little */
    const int crowd = spragIsCrowd(problem, options);
    const int cheap = asked || (crowd && spragNewtonIsCheap(problem, options, arena));
    int sweeps = problem->contact_count - SMALL;
    if (options->work_limit > 0 && sweeps > PATIENT_LIMITED)
        sweeps = PATIENT_LIMITED;
    if (cheap)
        sweeps /= CHEAP;
    const int prompt = crowd && cheap && options->enough > options->tolerance;
    return (Patience){
        .limit = SWEEP_PAYS_LIMIT, .sweeps = sweeps > PATIENT ? sweeps : PATIENT, .part = prompt ? PART_PROMPT : PART};
}

static void gather(void *anderson, int part)
{
    spragAndersonGather(anderson, part);
}

/* Sweeps at the beginning that have momentum. */
static int momentumOf(const spragProblem *problem, const spragSolveOptions *options)
{
    return options->work_limit > 0 && problem->contact_count >= MANY ? problem->contact_count / MOMENTUM_SHARE : 0;
}

/* 1: Newton comes after the sweeps.  What it costs is known where it has been asked first. */
static int newtonFollows(const spragProblem *problem, const spragSolveOptions *options)
{
    const spragBlockLuMemo *memo = problem->bodies != NULL ? problem->bodies->memo : NULL;
    return memo != NULL && memo->size > 0 && STEPS_FOLLOW * memo->products <= options->work_limit;
}

static void carryRange(void *data, int range, int first, int end)
{
    (void)range;
    const Run *run = data;
    double *x = run->anderson.x, *G = run->anderson.G, *last = run->last;
    for (int i = 3 * first; i < 3 * end; ++i) {
        const double now = G[i];
        x[i] = G[i] = now + run->momentum * (now - last[i]);
        last[i] = now;
    }
}

/* Begins Anderson's mixing at r. */
static void settle(Run *run, const double *r)
{
    run->sweeper.after = gather;
    spragSweeperTake(&run->sweeper, r, run->anderson.x);
    spragSweeperTake(&run->sweeper, r, run->anderson.G);
}

/* 1: after k sweeps the residual falls no more (patience 0: it is not asked).  Near an answer, in a step, a patience of
 * 200 sweeps in place of 1000 will do: of 399 solves of piles of 1000 and 1200 balls that come to rest 42 end sooner,
 * which saves two fifths of all sweeps, and 179 reach 1e-6 m/s in place of 185. */
static int isInVain(const Run *run, int k)
{
    const int near = run->mark < CALM, since = k - run->marked;
    int sweeps = run->patience.sweeps;
    if (run->options->work_limit > 0 && near && sweeps > PATIENT_NEAR)
        sweeps = PATIENT_NEAR;
    return sweeps > 0 && since > sweeps && since > k / (near ? PART : run->patience.part);
}

/* Judges what the last sweep left, and keeps it if it is the best so far. */
static double look(Run *run)
{
    spragSweeperGive(&run->sweeper, run->anderson.G, run->seen);
    const double residual = spragProblemResidual(run->sweeper.problem, run->seen);
    if (residual < run->residual) {
        double *const seen = run->seen;
        run->residual = residual;
        run->seen = run->best, run->best = seen;
    }
    return residual;
}

/* Sweeps that are made however short the time is.  (After 12 a heap of bodies that joints hold in a plane is left worse
 * than by 20 of QuickStep's iterations in half of its steps, after 30 in one of twenty.) */
static int leastOf(const spragProblem *problem)
{
    const int few = problem->contact_count <= FEW && !spragProblemIsLean(problem);
    return problem->linked == NULL ? SWEEPS_LEAST : few ? LEAST_FEW : LEAST_LINKED;
}

/* Sweeps begin at r. */
static void begin(Run *run, const double *r)
{
    const spragProblem *problem = run->sweeper.problem;
    const int approaches = run->patience.approaches;
    run->fewest = leastOf(problem);
    run->residual = run->mark = INFINITY;
    run->marked = 0;
    run->pushed = approaches ? APPROACH : momentumOf(problem, run->options);
    run->momentum = approaches ? MOMENTUM_LINKED : MOMENTUM;
    settle(run, r);
    if (run->pushed == 0)
        return;
    run->sweeper.after = NULL;
    memcpy(run->last, run->anderson.x, 3 * (size_t)problem->contact_count * sizeof *run->last);
}

/* 1: the k-th sweep, which changed x by so much, m/s, is the last one.  Looks at the residual where that may say so. */
static int ends(Run *run, int k, double change, spragStatus *status)
{
    const spragStop *stop = &run->stop;
    const int late = k >= run->fewest && spragIsLate(stop->deadline), last = k == stop->limit;
    if (late && !(run->residual < INFINITY)) { /* the chain will look */
        *status = SPRAG_LIMIT;
        return 1;
    }
    if (run->patience.sweeps == UNSEEN || !(change <= stop->tolerance || k % LOOK == 0 || last || late))
        return last;
    const double residual = look(run);
    if (residual < HALF * run->mark)
        run->mark = residual, run->marked = k;
    if (residual < CALM && run->pushed > k)
        run->pushed = k;
    *status = residual <= stop->tolerance ? SPRAG_OK : late ? SPRAG_LIMIT : SPRAG_NOT_CONVERGED;
    return last || *status != SPRAG_NOT_CONVERGED || residual <= run->patience.enough || isInVain(run, k);
}

/* Between the k-th sweep and the next: momentum, then a ray if there is one, or Anderson's mixing.  r: the start. */
static void extrapolate(Run *run, int k, const double *r)
{
    if (k < run->pushed) {
        spragRangesRun(run->sweeper.problem->contact_count, carryRange, run);
    } else if (k == run->pushed) {
        settle(run, run->residual < INFINITY ? run->best : r);
    } else {
        spragAndersonLook(&run->anderson);
        if (!follow(run))
            spragAndersonMix(&run->anderson);
    }
}

/* Sweeps from r until run->stop or, with patience, until the residual falls no more.  r: the best iterate seen; where
 * nobody looks (UNSEEN) the last. */
static spragStatus sweep(Run *run, double *r, int *iterations)
{
    spragStatus status = SPRAG_NOT_CONVERGED;
    begin(run, r);
    for (int k = 1; k <= run->stop.limit; ++k) {
        const double change = spragSweep(&run->sweeper, run->anderson.G);
        ++*iterations;
        if (ends(run, k, change, &status))
            break;
        extrapolate(run, k, r);
    }
    if (run->residual < INFINITY)
        memcpy(r, run->best, 3 * (size_t)run->sweeper.problem->contact_count * sizeof *r);
    else
        spragSweeperGive(&run->sweeper, run->anderson.G, r);
    return status;
}

/* 0: out of memory. */
static int init(Run *run, const spragProblem *problem, spragArena *arena)
{
    spragPool *threads = problem->contact_count >= THREADS_PAY ? spragPoolHere() : NULL;
    const size_t n = 3 * (size_t)problem->contact_count;
    spragSweeper *sweeper = &run->sweeper;
    double *weight = SPRAG_TAKE_RAW(arena, double, n);
    run->best = SPRAG_TAKE_RAW(arena, double, n);
    run->seen = SPRAG_TAKE_RAW(arena, double, n);
    run->last = SPRAG_TAKE_RAW(arena, double, n);
    if (weight == NULL || run->best == NULL || run->seen == NULL || run->last == NULL ||
        !spragSweeperInit(sweeper, problem, threads, arena))
        return 0;
    for (size_t i = 0; i < n; ++i)
        weight[i] = sweeper->w[i / 3];
    for (int p = 0; p <= sweeper->part_count; ++p)
        run->start[p] = 3 * sweeper->part_start[p];
    sweeper->after_data = &run->anderson;
    return spragAndersonInit(&run->anderson, sweeper->part_count, run->start, weight, threads, arena);
}

/* 3x3 products of a sweep. */
static double priceOf(const spragProblem *problem)
{
    return spragProductPrice(problem) + spragStepOverhead(problem->contact_count);
}

static spragStatus start(const spragProblem *problem, const spragSolveOptions *options, Patience patience,
                         spragArena *arena, double *r, spragSolveInfo *info)
{
    Run run;
    run.options = options;
    run.stop = spragStopOf(options, patience.limit);
    run.patience = patience;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    spragStatus status = SPRAG_ERROR_MEMORY;
    if (patience.sweeps > 0 && momentumOf(problem, options) > 0 && newtonFollows(problem, options))
        run.stop.limit = run.stop.limit / 2 + 1; /* with momentum they get as far, and Newton goes on */
    if (init(&run, problem, arena)) {
        run.sweeper.loose |= patience.loose;
        const int before = info->iterations;
        status = sweep(&run, r, &info->iterations);
        info->work += (info->iterations - before) * priceOf(problem);
    }
    spragArenaRelease(arena, mark);
    return status;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    const double paid = options->work_total > 0 ? options->work_total / priceOf(problem) + 1 : SWEEP_LIMIT;
    return start(problem, options, (Patience){.limit = (int)fmin(SWEEP_LIMIT, paid)}, arena, r, info);
}

static spragStatus solveWhileItPays(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                                    double *r, spragSolveInfo *info)
{
    return start(problem, options, patienceOf(problem, options, info, arena), arena, r, info);
}

static spragStatus sweepNear(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                             double *r, spragSolveInfo *info)
{
    const Patience patience = {
        .limit = APPROACH, .sweeps = APPROACH, .part = PART, .approaches = 1, .enough = spragNear(problem)};
    spragSolveOptions some = *options;
    if (options->iteration_limit > APPROACH)
        some.iteration_limit = APPROACH;
    return start(problem, &some, patience, arena, r, info);
}

/* So many sweeps whatever the residual is. */
static spragStatus sweepCounted(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                                double *r, spragSolveInfo *info)
{
    spragSolveOptions some = *options;
    some.tolerance = 0;
    return start(problem, &some, (Patience){.limit = SWEEPS_CALM, .sweeps = UNSEEN, .loose = 1}, arena, r, info);
}

static spragStatus calm(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                        spragSolveInfo *info)
{
    spragSolveOptions some = *options;
    some.tolerance = 0, some.iteration_limit = SWEEPS_CALM;
    return start(problem, &some, (Patience){.limit = SWEEPS_CALM, .sweeps = UNSEEN}, arena, r, info);
}

const spragSolver spragSolverSweepsCounted = {.kind = SPRAG_SOLVER_GAUSS_SEIDEL, .solve = sweepCounted};
const spragSolver spragSolverSweepsCalm = {.kind = SPRAG_SOLVER_GAUSS_SEIDEL, .solve = calm};
const spragSolver spragSolverGaussSeidel = {.kind = SPRAG_SOLVER_GAUSS_SEIDEL, .solve = solve};
const spragSolver spragSolverSweepsNear = {.kind = SPRAG_SOLVER_GAUSS_SEIDEL, .solve = sweepNear, .sweeps = 1};
const spragSolver spragSolverSweeps = {.kind = SPRAG_SOLVER_GAUSS_SEIDEL, .solve = solveWhileItPays, .sweeps = 1};
