/* Newton's method for what the mode search and sweeps leave: hard and hyperstatic problems.
 *
 * The laws of all blocks are equations F(r) = 0, u = W r + q (proximal.h).  Five stages solve them, each from the best
 * answer so far, 3 and 4 from the swept guess:
 *
 *   0. Where such a run has ended before (spragSolverNewtonResumed): proximal points from there.
 *   1. The guess as it is, with the least lambda: where its modes fit, one step ends at rounding.  (Not where joints
 *      hold the bodies: the methods before this one have tried.)
 *   2. Sweeps, then proximal points: lambda falls while they are easy and rises where full Newton steps fail.
 *   3. The interior-point iteration (interior.c), which does not mind degenerate sets of solutions.
 *   4. The homotopy of path.c, which goes through the folds that stop 3, until proximal points end it.
 *
 * Stages 3 and 4 are for laws of cones (cones.h); proximal points polish what they come to.  Equations of bodies lose
 * their digits where mu is large; outside crowds those of contacts take over then, and for all paths.
 *
 * Where 2 and 3 had their turn in vain, and in a hurry, 4 follows the sweeps (spragSolverNewtonStraight), with sparse
 * factors that are not pivoted: half as many steps in a quarter of the time solve three quarters of what 4 does.
 *
 * How much of the work stage 2 gets, where that is limited, before stages 3 and 4:
 *
 *     crowds (spragIsCrowd)   STEPS_FIRST points, STEPS_FIRST_LONG of what rolls or is asked for `enough`; if they are
 *                             near some of stage 3, and if that is near points with all that is left
 *     other islands           STEPS_FIRST_LIMITED points, and if they are near more: contacts and what rolls half of
 *                             what is left, mechanisms all of it
 *
 * since points are the better the nearer they are, and a step of cones that have equations of their own costs three
 * times as much (rolling friction) to ten times (mechanisms, whose cones have equations among contacts alone). */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "problem/reaches.h"
#include "problem/residual.h"
#include "solve/newton/interior.h"
#include "solve/newton/path.h"
#include "solve/newton/proximal.h"
#include "solve/solver.h"
#include "solve/sweep/sweep.h"

enum {
    /* Steps, a factorisation each.  Of all stages: */
    NEWTON_LIMIT = 6000, /* at most */
    NEWTON_LEAST = 60,   /* at least, where no limit is given */
    STEPS_LEAST = 20,    /* a factorisation of which the limits leave fewer costs too much */
    /* Proximal points of stage 0 (400 and more make the worst steps longer) and of stage 1: */
    STEPS_AGAIN = 200,
    STEPS_WARM = 4,
    /* Of stage 2, before stages 3 and 4.  (Crowds: of 242 hard steps of falling piles, 90 to 570 contacts, to 1e-8 m/s
     * 201 are solved so, and 189 without stage 3.  Others: of 40 starts on moving piles of 300 balls 130 points solve
     * 30, 56 a start; 30 points, and then stages 3 and 4, solve fewer in twice as many.) */
    STEPS_FIRST = 30,
    STEPS_FIRST_LONG = 100,
    STEPS_FIRST_LIMITED = 150,
    /* Stage 3: */
    INTERIOR_LEAST = 60, /* it takes so many to get anywhere */
    INTERIOR_SOON = 100, /* most that arrive take 60 to 80 */
    INTERIOR_MOST = 700, /* in crowds, with what comes after it: of 12 islands 11 are missed, and were after 5000 */
    /* Proximal points after stages 3 and 4: */
    STEPS_SURE = 6,  /* of least lambda, from nearby, */
    STEPS_SOON = 30, /* then where stage 4 is better, */
    STEPS_NEAR = 60, /* where it is as good, */
    STEPS_FAR = 200, /* and from far away */
    /* Stage 4 alone, with sparse factors: of 189 hard islands of cars with mu of 5 to 400 that the first steps had
     * missed 110 are solved with 250, 6 ms a piece. */
    STEPS_STRAIGHT = 500,
    /* spragSolverNewtonNear and NewtonFewest: */
    STEPS_NEARBY = 24, /* points go on while each so many gain a digit, */
    STEPS_ON = 200,    /* up to so many; */
    STEPS_ARRIVE = 20, /* with fewer none are made from far away; */
    STEPS_LAST = 8,    /* from nearby so many points are made at least; */
    STEPS_FEWEST = 4,  /* of a factorisation that is worth its analysis where work is short */
    /* spragSolverNewtonWarm: */
    STEPS_AT_ONCE = 12,
    /* other */
    SWEEP_FIRST = 40,  /* sweeps of stage 2 */
    SMALL = 60,        /* blocks */
    THREADS_PAY = 500, /* blocks */
    PATH_SHARE = 2,    /* stage 4 has the work that is left over this */
    FINE_FEW = 30,     /* cones of a path that goes on where rounding shortens it, where work is limited */
    PIVOTED_MOST = 70  /* cones whose factors are made with partial pivoting */
};
#define LAMBDA_FIRST 1e-2
#define LAMBDA_BETWEEN 1e-3 /* from less than FAR */
#define LAMBDA_SURE 1e-8
/* Residuals, in spragNear: */
#define FAR 10      /* lambda begins as from anywhere beyond it */
#define ARRIVES 3   /* from here few steps arrive */
#define IN_VAIN 100 /* of 349 runs of STEPS_AT_ONCE from further off 4 arrive */
/* Residuals, in m/s: */
#define NEAR 1e-3       /* from here the proximal points find the way, */
#define HANDS_OVER 1e-4 /* and here those of the path are tried, */
#define CLOSE 1e-2      /* in crowds from here, before stage 3 */
/* Work: */
#define WORK 5e8          /* 3x3 products spent on factorisations where no limit is given: about 5 s */
#define CONES_STEP 100.0  /* 3x3 products that a step of stages 3 and 4 is worth besides what it factorises, */
#define CONES_BLOCK 250.0 /* and for each block (spragStepOverhead) */
#define PRICE_AT_ONCE 5.0 /* 3x3 products a block of W: the costliest factorisation of NewtonWarm */
#define SECONDS_PER_PRODUCT 5e-9
#define SECONDS_PER_BLOCK 1e-6 /* of W: the analysis for a factorisation among contacts */
#define SECONDS_BODIES 5e-8    /* of W, among bodies: a few steps' passes over it, which cost more than the analysis */
#define LAG_CROWD 0.03         /* 0 to 0.03 take a third fewer steps for crowds than 0.1, which p26 likes */
#define REFUSED 0.1 /* of all steps in the space of bodies: where more are refused, contacts have their turn */

/* What is asked for, and of what: as it is set before the run. */
typedef struct Asked {
    double tolerance, deadline; /* m/s; in spragSeconds, 0: none */
    double enough;              /* m/s: paths are for what is above it; 0: for all */
    int limited;                /* 1: the work is limited, and there are more than a few contacts, */
    int crowd;                  /* 1: and more than generation.c takes on (spragIsCrowd) */
    int hurried;                /* 1: no crowd, but limited, or `enough` is more than the tolerance */
    int counted;                /* 1: the user limits steps, not work */
    int content;                /* 1: asked for `enough`, not for the user's tolerance */
    int straight;               /* 1: stage 4 follows the sweeps */
    int goes_on;                /* 1: stage 0: the guess is what such a run has ended with */
} Asked;

typedef struct Newton {
    const spragProblem *problem;
    Asked asked;
    spragTangentSpace space;
    spragProximal proximal;
    spragSweeper sweeper;
    double *swept;          /* (3 nc) */
    spragPool *pool;        /* or NULL */
    int limit, *iterations; /* of factorisations; spent */
    int first;              /* *iterations at the start */
    double most;            /* 3x3 products: where *work is this, all that the methods have together is spent */
    double step, *work;     /* 3x3 products: of a step, as the limit counts it; spent */
    int left;               /* 1: bodies were left for contacts */
} Newton;

/* What the interior methods factorise: the proximal points' tangent, or one of the cones' own. */
typedef struct Inner {
    spragCones cones;
    spragTangent own, *tangent;
    double charge; /* 3x3 products of a step */
    double paid;   /* steps of the proximal points that the limit counts it as */
} Inner;

/* A guess without impulses says nothing. */
static int isWarm(const spragProblem *problem, const double *r)
{
    for (int i = 0; i < 3 * problem->contact_count; ++i)
        if (r[i] != 0)
            return 1;
    return 0;
}

/* As spragTangentCharge, of stages 3 and 4, in long double. */
static double chargeOfCones(const spragTangent *tangent)
{
    const int count = tangent->problem->contact_count;
    return spragTangentStep(tangent) + (count <= SMALL ? CONES_STEP + CONES_BLOCK * count : 0);
}

static int stepsLeft(const Newton *newton)
{
    return newton->limit - (*newton->iterations - newton->first);
}

/* How many of these are paid for by what all methods have together. */
static int stepsPaid(const Newton *newton, int steps, double charge)
{
    return (int)fmin(steps, fmax(0, newton->most - *newton->work) / charge + 1);
}

static spragStatus points(Newton *newton, double lambda, int steps, double *r)
{
    const spragProximal *proximal = &newton->proximal;
    const double charge = spragTangentCharge(&proximal->tangent);
    const int most = stepsPaid(newton, stepsLeft(newton), charge);
    const spragStop stop = {newton->asked.tolerance, newton->asked.deadline, steps < most ? steps : most};
    const int before = *newton->iterations;
    const spragStatus status = spragProximalPoints(&newton->proximal, lambda, &stop, r, newton->iterations);
    *newton->work += charge * (*newton->iterations - before);
    if (spragProblemIsAtRounding(newton->problem, proximal->best, proximal->best_residual)) /* nothing comes nearer */
        newton->limit = 0;
    return status;
}

static void takeBest(const Newton *newton, double *r)
{
    memcpy(r, newton->proximal.best, 3 * (size_t)newton->problem->contact_count * sizeof *r);
}

/* 1: steps are factorised among bodies that joints hold; those of the cones would be among contacts. */
static int conesAreCostly(const Newton *newton)
{
    return newton->problem->linked != NULL && newton->proximal.tangent.bodies == newton->problem->linked;
}

/* 1; 0: no memory; -1: the cones of bodies that joints hold have a factorisation among contacts alone, and it is worth
 * more than what is left. */
static int innerInit(Inner *inner, Newton *newton, spragArena *arena)
{
    const int costly = conesAreCostly(newton);
    const double most = costly ? newton->step * stepsLeft(newton) / STEPS_LEAST : INFINITY;
    if (!spragConesInit(&inner->cones, newton->problem, arena))
        return 0;
    const spragProblem *problem = inner->cones.problem;
    inner->tangent = problem == newton->problem ? &newton->proximal.tangent : &inner->own;
    inner->charge = chargeOfCones(&newton->proximal.tangent);
    inner->paid = 1;
    if (problem == newton->problem)
        return 1;
    const int found = spragTangentInit(&inner->own, problem, inner->cones.load, newton->space, most, arena);
    if (found <= 0)
        return found;
    inner->charge = fmax(newton->step, chargeOfCones(&inner->own));
    if (!newton->asked.counted && (!newton->proximal.patient || costly))
        inner->paid = fmax(1, spragTangentStep(&inner->own) / newton->step);
    return spragTangentShare(&inner->own, newton->pool, arena);
}

/* 1: on to the equations of contacts, from those of bodies: paths lose their digits there, and so does stage 3 where
 * solutions were refused. */
static int leavesBodies(Newton *newton, const Inner *inner, int start)
{
    const spragTangent *own = &newton->proximal.tangent;
    newton->left =
        !newton->asked.crowd && inner->tangent == own && own->bodies != NULL && (start > 0 || own->refused > 0);
    newton->limit = newton->left ? 0 : newton->limit;
    return newton->left;
}

/* After so many steps of stage 3 or 4; -1: no memory for any. */
static void countCones(Newton *newton, const Inner *inner, int steps)
{
    newton->proximal.factored = 0;
    if (steps <= 0)
        return;
    *newton->iterations += steps;
    *newton->work += steps * inner->charge;
    newton->limit -= (int)(steps * (inner->paid - 1));
}

/* How many steps of stage 3 or 4 are left. */
static int conesLeft(const Newton *newton, const Inner *inner)
{
    return stepsPaid(newton, (int)(stepsLeft(newton) / inner->paid), inner->charge);
}

/* Proximal points from what stage 3 or 4 came to: `far` of them, or `near` if that is near (0: half of all that are
 * left).  There the modes are right, or nearly, and a few plain steps come first, which end at rounding; no others do
 * at high friction. */
static spragStatus pointsFromCones(Newton *newton, int near, int far, double *r)
{
    const int is_near = spragProblemResidual(newton->problem, r) <= NEAR;
    spragStatus status = SPRAG_NOT_CONVERGED;
    if (is_near) {
        status = points(newton, LAMBDA_SURE, STEPS_SURE, r);
        takeBest(newton, r);
    }
    if (status != SPRAG_NOT_CONVERGED)
        return status;
    return points(newton, LAMBDA_FIRST, !is_near ? far : near > 0 ? near : stepsLeft(newton) / 2, r);
}

/* Stage 3.  soon: no more of it than what most take. */
static spragStatus interior(Newton *newton, const Inner *inner, int soon, spragArena *arena, double *r)
{
    const int left = conesLeft(newton, inner);
    const spragStop stop = {newton->asked.tolerance, newton->asked.deadline,
                            soon && left > INTERIOR_SOON ? INTERIOR_SOON : left};
    memcpy(r, newton->swept, 3 * (size_t)newton->problem->contact_count * sizeof *r);
    countCones(newton, inner, spragInteriorSolve(&inner->cones, &stop, inner->tangent, arena, r));
    if (leavesBodies(newton, inner, 0))
        return SPRAG_NOT_CONVERGED;
    /* Stage 4 is better, where motors and limits meet high friction.  Contacts alone (islands of falling boxes) the
     * proximal points solve as well, at a third to a sixth of its price. */
    if (soon || (inner->cones.problem->contact_count <= PIVOTED_MOST && !spragProblemIsPlain(newton->problem)))
        return pointsFromCones(newton, STEPS_SOON, STEPS_SOON, r);
    return newton->asked.hurried ? pointsFromCones(newton, STEPS_NEAR, STEPS_SOON, r)
                                 : pointsFromCones(newton, 0, STEPS_FAR, r);
}

/* 1: a path has all the steps, and ends where rounding shortens them. */
static int isBrief(const Asked *asked)
{
    return asked->hurried || asked->content;
}

/* Along a path.  Where it has come near, a few plain points end it, as its modes are right; they are tried at each
 * digit.  (To its own end it takes up to twenty times the steps: contacts are so near to the boundary there that
 * rounding shortens them.) */
static spragStatus follow(Newton *newton, const Inner *inner, int fine, spragArena *arena, double *r)
{
    const double tolerance = newton->asked.tolerance;
    spragPath *const way = spragPathBegin(&inner->cones, fine, newton->swept, arena);
    const int kept = isBrief(&newton->asked) ? 0 : conesLeft(newton, inner) / PATH_SHARE; /* for points after it */
    spragStatus status = SPRAG_NOT_CONVERGED;
    memcpy(r, newton->swept, 3 * (size_t)newton->problem->contact_count * sizeof *r);
    for (double digit = HANDS_OVER, near = INFINITY; status == SPRAG_NOT_CONVERGED && near > tolerance; digit *= 0.1) {
        near = fmax(digit, tolerance);
        const spragStop stop = {near, newton->asked.deadline, conesLeft(newton, inner) - kept};
        countCones(newton, inner, way == NULL ? -1 : spragPathGo(way, &stop, inner->tangent, r));
        if (way == NULL || !(spragProblemResidual(newton->problem, r) <= near))
            return pointsFromCones(newton, 0, STEPS_FAR, r);
        status = points(newton, LAMBDA_SURE, STEPS_SURE, r);
    }
    return status;
}

/* Stage 4, or where stage 3 has come near the proximal points in its place. */
static spragStatus path(Newton *newton, const Inner *inner, spragArena *arena, double *r)
{
    const double residual = newton->proximal.best_residual;
    if (residual <= newton->asked.enough || leavesBodies(newton, inner, 1))
        return SPRAG_NOT_CONVERGED;
    if (newton->asked.limited && residual <= NEAR) {
        takeBest(newton, r);
        return points(newton, newton->proximal.lambda, stepsLeft(newton), r);
    }
    if (inner->cones.problem->contact_count <= PIVOTED_MOST && !spragTangentPivot(inner->tangent, arena))
        return SPRAG_ERROR_MEMORY;
    const int few = inner->cones.problem->contact_count <= FINE_FEW;
    return follow(newton, inner, few || !isBrief(&newton->asked), arena, r);
}

/* Stages 3 and 4, each from the swept guess: the proximal points lead it astray where mu is large.  soon: some of stage
 * 3 alone. */
static spragStatus throughCones(Newton *newton, int soon, spragArena *arena, double *r)
{
    Inner inner;
    const int ready = innerInit(&inner, newton, arena);
    if (ready <= 0)
        return ready == 0 ? SPRAG_ERROR_MEMORY : SPRAG_NOT_CONVERGED;
    newton->proximal.lag_mu = INFINITY;
    spragStatus status = SPRAG_NOT_CONVERGED;
    if (stepsLeft(newton) > 0)
        status = interior(newton, &inner, soon, arena, r);
    if (status == SPRAG_NOT_CONVERGED && !soon && stepsLeft(newton) > 0)
        status = path(newton, &inner, arena, r);
    return status;
}

/* Some sweeps from the best point so far: where stages 2 to 4 begin. */
static void sweepFirst(Newton *newton, double *r)
{
    takeBest(newton, r);
    spragSweeperTake(&newton->sweeper, r, newton->swept);
    for (int k = 0; k < SWEEP_FIRST; ++k)
        spragSweep(&newton->sweeper, newton->swept);
    spragSweeperGive(&newton->sweeper, newton->swept, r);
    memcpy(newton->swept, r, 3 * (size_t)newton->problem->contact_count * sizeof *r);
}

/* 1: contacts, and what rolls on them: the proximal points solve them better than stages 3 and 4. */
static int isOfContacts(const spragProblem *problem)
{
    int contacts = 1;
    for (int k = 0; k < problem->contact_count && contacts; ++k) {
        const spragBlockKind kind = spragKindOf(problem, k);
        contacts = kind == SPRAG_BLOCK_CONTACT || kind == SPRAG_BLOCK_ROLLING;
    }
    return contacts;
}

/* Stage 2, and some of stage 3 in crowds.  cones: stages 3 and 4 are to come. */
static spragStatus pointsFromSweeps(Newton *newton, int cones, spragArena *arena, double *r)
{
    const Asked *asked = &newton->asked;
    const spragProximal *proximal = &newton->proximal;
    double *accuracy = &newton->proximal.tangent.accuracy;
    const int costly = conesAreCostly(newton);
    const int exact = asked->crowd && cones && asked->enough == 0 && !costly;
    const int again = asked->hurried && newton->space == SPRAG_TANGENT_CONTACTS; /* bodies had theirs */
    const int contacts = isOfContacts(newton->problem), rolls = contacts && !spragProblemIsPlain(newton->problem);
    const int soon = asked->content || rolls ? STEPS_FIRST_LONG : STEPS_FIRST;
    const int first = exact ? soon : asked->limited && !again ? STEPS_FIRST_LIMITED : STEPS_FIRST;
    sweepFirst(newton, r);
    *accuracy = asked->crowd ? SPRAG_TANGENT_ROUGH : *accuracy;
    spragStatus status = points(newton, LAMBDA_FIRST, cones ? first : stepsLeft(newton), r);
    if (status == SPRAG_NOT_CONVERGED && exact && proximal->best_residual <= NEAR &&
        stepsLeft(newton) >= INTERIOR_SOON + STEPS_SOON) {
        status = throughCones(newton, 1, arena, r);
        takeBest(newton, r);
    }
    const int half = asked->limited && contacts;
    const int all = asked->crowd || (asked->hurried && costly);
    if (status == SPRAG_NOT_CONVERGED && (all || half) && proximal->best_residual <= (asked->crowd ? CLOSE : NEAR))
        status = points(newton, proximal->lambda, stepsLeft(newton) / (all ? 1 : 2), r);
    *accuracy = SPRAG_TANGENT_REFINED;
    return status;
}

/* Stage 4 alone, with factors that are sparse and not pivoted. */
static spragStatus straight(Newton *newton, spragArena *arena, double *r)
{
    Inner inner;
    sweepFirst(newton, r);
    const int ready = innerInit(&inner, newton, arena);
    if (ready <= 0)
        return ready == 0 ? SPRAG_ERROR_MEMORY : SPRAG_NOT_CONVERGED;
    newton->proximal.lag_mu = INFINITY;
    newton->limit = (int)fmin(newton->limit, STEPS_STRAIGHT * inner.paid);
    return follow(newton, &inner, 0, arena, r);
}

static spragStatus run(Newton *newton, spragArena *arena, double *r)
{
    const spragProblem *problem = newton->problem;
    const Asked *asked = &newton->asked;
    const int cones = spragConesApply(problem) && !spragProblemIsLean(problem); /* their equations need W */
    spragStatus status = SPRAG_NOT_CONVERGED;
    spragProximalReset(&newton->proximal, r);
    if (asked->goes_on) /* stage 0 */
        status = points(newton, LAMBDA_FIRST, STEPS_AGAIN, r);
    else if (isWarm(problem, r) && problem->linked == NULL)
        status = points(newton, SPRAG_LAMBDA_WARM, STEPS_WARM, r);
    if (status == SPRAG_NOT_CONVERGED)
        status = asked->straight ? straight(newton, arena, r) : pointsFromSweeps(newton, cones, arena, r);
    if (asked->crowd && stepsLeft(newton) > INTERIOR_MOST)
        newton->limit -= stepsLeft(newton) - INTERIOR_MOST;
    if (status == SPRAG_NOT_CONVERGED && cones && !asked->straight &&
        stepsLeft(newton) >= (asked->limited ? INTERIOR_LEAST : 0))
        status = throughCones(newton, 0, arena, r);
    takeBest(newton, r);
    if (status == SPRAG_OK) {
        const int before = *newton->iterations;
        spragProximalPolish(&newton->proximal, asked->tolerance, newton->proximal.best_residual, r, newton->iterations);
        *newton->work += spragTangentCharge(&newton->proximal.tangent) * (*newton->iterations - before);
    }
    return status;
}

/* products: of one step, with what it does besides factorising. */
static int limitOf(const spragSolveOptions *options, double products)
{
    if (options->iteration_limit > 0)
        return options->iteration_limit;
    return (int)fmin(NEWTON_LIMIT, options->work_limit > 0 ? options->work_limit / (products + 1)
                                                           : fmax(NEWTON_LEAST, WORK / (products + 1)));
}

/* The costliest factorisation that the limits leave room for a few of: sweeps make better use of less. */
static double productsMost(spragTangentSpace space, const spragProblem *problem, const spragSolveOptions *options)
{
    const int linked = space != SPRAG_TANGENT_CONTACTS && problem->linked != NULL,
              among_bodies = linked || (space == SPRAG_TANGENT_BODIES && problem->bodies != NULL);
    const double before = (among_bodies ? SECONDS_BODIES : SECONDS_PER_BLOCK) * spragProductPrice(problem);
    double most =
        options->work_limit > 0 && options->iteration_limit == 0 ? options->work_limit / STEPS_LEAST : INFINITY;
    if (options->time_limit > 0)
        most = fmin(most, (options->time_limit - before) / (STEPS_LEAST * SECONDS_PER_PRODUCT));
    return most;
}

/* A run in one space, and why another is worth trying. */
typedef struct Attempt {
    spragTangentSpace space;
    int local;    /* 1: work is limited of few blocks, too */
    int goes_on;  /* 1: from what another run has ended with */
    int straight; /* 1: along the path at once */
    int refused;  /* factorisations whose solutions were not good enough to be used */
    int left;     /* 1: bodies were left for contacts */
} Attempt;

static Asked askedOf(const Attempt *attempt, const spragProblem *problem, const spragSolveOptions *options)
{
    const int automatic = options->solver == SPRAG_SOLVER_AUTO, crowd = spragIsCrowd(problem, options),
              limited = options->work_limit > 0 && (attempt->local || problem->contact_count > SMALL);
    const double enough = automatic && options->enough > options->tolerance ? options->enough : 0;
    return (Asked){.tolerance = options->tolerance,
                   .deadline = spragDeadline(options->time_limit),
                   .enough = enough,
                   .limited = limited,
                   .crowd = crowd,
                   .hurried = !crowd && (limited || enough > 0),
                   .counted = options->iteration_limit > 0,
                   .content = automatic && options->enough > 0 && options->enough >= options->tolerance,
                   .straight = attempt->straight,
                   .goes_on = attempt->goes_on};
}

/* What all runs have in common. */
static Newton newtonOf(const Asked *asked, const spragProblem *problem, spragTangentSpace space,
                       const spragSolveOptions *options, spragSolveInfo *info)
{
    return (Newton){.problem = problem,
                    .asked = *asked,
                    .space = space,
                    .iterations = &info->iterations,
                    .work = &info->work,
                    .most = options->work_total > 0 ? info->work + options->work_total : INFINITY,
                    .first = info->iterations};
}

static spragStatus solveIn(Attempt *attempt, const spragProblem *problem, const spragSolveOptions *options,
                           spragArena *arena, double *r, spragSolveInfo *info)
{
    const spragTangentSpace space = attempt->space;
    const Asked asked = askedOf(attempt, problem, options);
    Newton newton = newtonOf(&asked, problem, space, options, info);
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const double most = productsMost(space, problem, options);
    spragStatus status = SPRAG_ERROR_MEMORY;
    if (!(most > 0))
        return SPRAG_NOT_CONVERGED;
    newton.swept = SPRAG_TAKE(arena, double, 3 * (size_t)problem->contact_count);
    const int ready = newton.swept != NULL && spragSweeperInit(&newton.sweeper, problem, NULL, arena)
                          ? spragProximalInitWithin(&newton.proximal, problem, space, most, arena)
                          : 0;
    const spragTangent *tangent = &newton.proximal.tangent;
    spragPool *pool = problem->contact_count >= THREADS_PAY ? spragPoolHere() : NULL;
    newton.sweeper.pool = newton.pool = pool;
    newton.proximal.deadline = asked.deadline;
    newton.proximal.patient = !(options->work_limit > 0);
    if (asked.crowd)
        newton.proximal.lag_first = LAG_CROWD;
    const int shared = ready <= 0 || spragTangentShare(&newton.proximal.tangent, pool, arena);
    if (ready > 0 && shared) {
        newton.step = spragTangentStep(tangent);
        newton.limit = limitOf(options, newton.step);
        status = run(&newton, arena, r);
    } else if (ready < 0) {
        status = SPRAG_NOT_CONVERGED;
    }
    attempt->left = newton.left;
    attempt->refused = ready > 0 ? tangent->refused : 0;
    spragArenaRelease(arena, mark);
    return status;
}

static spragStatus solveAs(int local, int goes_on, const spragProblem *problem, const spragSolveOptions *options,
                           spragArena *arena, double *r, spragSolveInfo *info)
{
    const spragTangentSpace space = productsMost(SPRAG_TANGENT_CHEAPER, problem, options) > 0 || problem->bodies == NULL
                                        ? SPRAG_TANGENT_CHEAPER
                                        : SPRAG_TANGENT_BODIES;
    Attempt cheaper = {.space = space, .local = local, .goes_on = goes_on},
            contacts = {.space = SPRAG_TANGENT_CONTACTS, .local = local, .goes_on = goes_on};
    const int before = info->iterations;
    const double begin = options->time_limit > 0 ? spragSeconds() : 0, spent = info->work;
    spragSolveOptions left = *options;
    const double accepted = spragIsCrowd(problem, options) ? REFUSED : 0;
    const spragStatus status = solveIn(&cheaper, problem, options, arena, r, info);
    const int again = cheaper.left || cheaper.refused > accepted * (info->iterations - before);
    if (status != SPRAG_NOT_CONVERGED || !again)
        return status;
    left.time_limit = spragTimeLeft(options->time_limit, begin);
    left.work_total -= options->work_total > 0 ? info->work - spent : 0;
    if (options->work_total > 0 && !(left.work_total > 0))
        return status;
    return solveIn(&contacts, problem, &left, arena, r, info);
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    return solveAs(0, 0, problem, options, arena, r, info);
}

static spragStatus solveResumed(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                                double *r, spragSolveInfo *info)
{
    return solveAs(0, 1, problem, options, arena, r, info);
}

static spragStatus solveStraight(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                                 double *r, spragSolveInfo *info)
{
    Attempt contacts = {.space = SPRAG_TANGENT_CONTACTS, .straight = 1};
    if (!spragConesApply(problem) || spragProblemIsLean(problem))
        return SPRAG_NOT_CONVERGED;
    return solveIn(&contacts, problem, options, arena, r, info);
}

static spragStatus solvePoints(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                               double *r, spragSolveInfo *info)
{
    return solveAs(1, 0, problem, options, arena, r, info);
}

/* The costliest factorisation that is tried before sweeps: of bodies without W it costs less than their W would. */
static double mostAtOnce(const spragProblem *problem, const spragSolveOptions *options)
{
    const spragReaches *reaches = spragReachesOf(problem);
    return fmin(PRICE_AT_ONCE * (reaches != NULL ? reaches->entries : problem->block_count),
                productsMost(SPRAG_TANGENT_BODIES, problem, options));
}

int spragNewtonIsCheap(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena)
{
    const spragArenaMark mark = spragArenaMarkGet(arena);
    spragTangent tangent;
    const int found =
        spragTangentInit(&tangent, problem, problem->parent, SPRAG_TANGENT_BODIES, mostAtOnce(problem, options), arena);
    spragArenaRelease(arena, mark);
    return found > 0;
}

/* Steps with the least lambda, which end where the modes of the guess all but fit.  polishes: so does the answer. */
typedef struct Few {
    spragTangentSpace space;
    double products_most; /* of a factorisation */
    int steps, polishes;
} Few;

static spragStatus solveFew(const Few *few, const spragProblem *problem, const spragSolveOptions *options,
                            spragArena *arena, double *r, spragSolveInfo *info)
{
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const spragStop stop = {options->tolerance, spragDeadline(options->time_limit), few->steps};
    const int before = info->iterations;
    spragProximal proximal;
    const int ready = spragProximalInitWithin(&proximal, problem, few->space, few->products_most, arena);
    spragStatus status = ready == 0 ? SPRAG_ERROR_MEMORY : SPRAG_NOT_CONVERGED;
    if (ready > 0) {
        spragProximalReset(&proximal, r);
        status = spragProximalPoints(&proximal, SPRAG_LAMBDA_WARM, &stop, r, &info->iterations);
        memcpy(r, proximal.best, 3 * (size_t)problem->contact_count * sizeof *r);
        proximal.deadline = stop.deadline;
        if (status == SPRAG_OK && few->polishes)
            spragProximalPolish(&proximal, options->tolerance, proximal.best_residual, r, &info->iterations);
        info->work += spragTangentCharge(&proximal.tangent) * (info->iterations - before);
    }
    spragArenaRelease(arena, mark);
    return status;
}

/* From where the last time step ended, if together they cost no more than some sweeps, whatever the options say. */
static spragStatus solveWarm(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                             double *r, spragSolveInfo *info)
{
    if (!isWarm(problem, r) || info->residual > IN_VAIN * spragNear(problem))
        return SPRAG_NOT_CONVERGED;
    const Few few = {.space = SPRAG_TANGENT_BODIES,
                     .products_most = mostAtOnce(problem, options),
                     .steps = STEPS_AT_ONCE,
                     .polishes = problem->linked == NULL}; /* whose products with W cost more */
    return solveFew(&few, problem, options, arena, r, info);
}

/* From where sweeps have ended, which is near if the modes all but fit.  Points go on as long as each STEPS_NEARBY of
 * them gain a digit. */
static spragStatus runNear(Newton *newton, double *r)
{
    const double near = spragNear(newton->problem);
    spragProximal *proximal = &newton->proximal;
    spragProximalReset(proximal, r);
    const double residual = proximal->best_residual;
    const double lambda = residual > FAR * near ? LAMBDA_FIRST : residual > near ? LAMBDA_BETWEEN : SPRAG_LAMBDA_WARM;
    if (residual > near)
        proximal->lag_first = LAG_CROWD;
    newton->limit += stepsLeft(newton) < STEPS_LAST ? STEPS_LAST - stepsLeft(newton) : 0;
    const spragStatus status = points(newton, lambda, stepsLeft(newton), r);
    takeBest(newton, r);
    return status;
}

/* few: as many steps as the work pays for, and none where these are too few to arrive. */
static spragStatus solveNearby(int few, const spragProblem *problem, const spragSolveOptions *options,
                               spragArena *arena, double *r, spragSolveInfo *info)
{
    const double passes = SPRAG_TANGENT_PASSES * spragProductPrice(problem), far = ARRIVES * spragNear(problem);
    if (few && info->residual > far && options->work_limit < STEPS_ARRIVE * passes)
        return SPRAG_NOT_CONVERGED;
    const Asked asked = {.tolerance = options->tolerance, .deadline = spragDeadline(options->time_limit), .counted = 1};
    Newton newton = newtonOf(&asked, problem, SPRAG_TANGENT_CHEAPER, options, info);
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const double most =
        few ? options->work_limit / STEPS_FEWEST : productsMost(SPRAG_TANGENT_CHEAPER, problem, options);
    const int ready = spragProximalInitWithin(&newton.proximal, problem, newton.space, most, arena);
    spragStatus status = ready == 0 ? SPRAG_ERROR_MEMORY : SPRAG_NOT_CONVERGED;
    if (ready > 0) {
        newton.step = spragTangentStep(&newton.proximal.tangent);
        const int paid = limitOf(options, newton.step);
        newton.limit = few ? paid : (int)fmax(STEPS_NEARBY, fmin(STEPS_ON, paid));
        newton.proximal.look = few ? 0 : STEPS_NEARBY;
        newton.proximal.tangent.accuracy = SPRAG_TANGENT_ROUGH;
    }
    if (ready > 0 && !(few && info->residual > far && newton.limit < STEPS_ARRIVE))
        status = runNear(&newton, r);
    spragArenaRelease(arena, mark);
    return status;
}

static spragStatus solveNear(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                             double *r, spragSolveInfo *info)
{
    return solveNearby(0, problem, options, arena, r, info);
}

static spragStatus solveFewest(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                               double *r, spragSolveInfo *info)
{
    return solveNearby(1, problem, options, arena, r, info);
}

/* From an answer within tolerance to rounding, if that costs no more than some sweeps. */
static spragStatus polish(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                          spragSolveInfo *info)
{
    if (info->residual <= SPRAG_EXACT * options->tolerance)
        return SPRAG_OK;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const double most = mostAtOnce(problem, options);
    const double deadline = spragDeadline(options->time_limit);
    const int before = info->iterations;
    spragProximal proximal;
    const int ready = spragProximalInitWithin(&proximal, problem, SPRAG_TANGENT_BODIES, most, arena);
    proximal.deadline = deadline;
    if (ready > 0) {
        spragProximalPolish(&proximal, options->tolerance, info->residual, r, &info->iterations);
        info->work += spragTangentCharge(&proximal.tangent) * (info->iterations - before);
    }
    spragArenaRelease(arena, mark);
    return ready == 0 ? SPRAG_ERROR_MEMORY : SPRAG_OK;
}

const spragSolver spragSolverNewtonFewest = {.kind = SPRAG_SOLVER_NEWTON, .solve = solveFewest};
const spragSolver spragSolverNewtonNear = {.kind = SPRAG_SOLVER_NEWTON, .solve = solveNear};
const spragSolver spragSolverNewtonPolish = {.kind = SPRAG_SOLVER_NEWTON, .solve = polish};
const spragSolver spragSolverNewtonWarm = {.kind = SPRAG_SOLVER_NEWTON, .solve = solveWarm};
const spragSolver spragSolverNewtonPoints = {.kind = SPRAG_SOLVER_NEWTON, .solve = solvePoints};
const spragSolver spragSolverNewtonStraight = {.kind = SPRAG_SOLVER_NEWTON, .solve = solveStraight, .in_parts = 1};
const spragSolver spragSolverNewtonResumed = {.kind = SPRAG_SOLVER_NEWTON, .solve = solveResumed};
const spragSolver spragSolverNewton = {.kind = SPRAG_SOLVER_NEWTON, .solve = solve};
