/* A homotopy from the convex problem to Coulomb's, followed from event to event.
 *
 * What makes friction hard is De Saxce's mu |u_t| in the cone's normal row: held fixed at a slide s_k the problem is
 * convex and u is unique (Acary, Cadoux, Lemarechal, Malick 2011).  So with a share t of it held,
 *
 *     u = W r + q + t d + soft w (r - r0),     u_n + t s_k + (1 - t) mu |u_t| in place of u_n + mu |u_t|,
 *
 * t = 1 is convex and t = 0 the problem itself.  s is the slide of the guess, and d is chosen such that the guess, put
 * on the law's graph by Minty's pair (r0, v), x = r - v / w, r0 = P_K(x), v = w (r0 - x), solves it at t = 1: a good
 * guess starts near the end.  Where all motions that part the contacts bound the impulses (existence.c) the path can
 * neither go to infinity nor come back to t = 1, so that it leads to a solution (Allgower and Georg 1990, chapter 11),
 * although t may rise on the way as often as it likes.
 *
 * With the mode of every contact held, open, stick or slip, the equations F(r, t) = 0 are smooth (trace_law.h).
 * One linearisation of dF/dr gives the tangent; t falls along it where det dF/dr > 0 and rises where det < 0, an
 * orientation that holds across modes.  A piece ends where the first margin of a mode does.
 *
 * That contact changes its mode, and the next tangent follows.  What makes an event cheap: only its
 * contact's row of dF/dr has changed, so that the factors are amended (amended.h), a new factorisation
 * comes every sixth event; Broyden's updates in place of new factors within a correction; and corrections
 * that aim at the end of the margin itself.
 *
 * What loses a path is rounding.  Along self-stresses r errs by 1 / SOFT of what F does, so margins end and begin again
 * by noise: an event within AT_ONCE of the last one is taken as it stands, else the steps to it shrink for ever (p23
 * stopped there from every second start).  A contact that enters its cone near the apex leaves it on the other side at
 * once: the exit is the other root of |r_t| = mu r_n, not the one it has just passed.
 *
 * Contacts that all but repeat each other slip at 1e-8 m/s, where W answers 1e-9 m/s with impulses that turn a slip
 * round.  So a margin is zero at rounding only: with 1e-8 of the mean motion for zero contacts of a car that were to
 * stay open began to slip.  The law of a slip goes on behind the apex, r_n < 0, as smooth as before it, where e would
 * turn round: of 239 paths of 300 islands 72 ended in corrections that failed, most of them there, of 245 since then 6.
 * And a slip that turns comes near rest and leaves it again: where a margin did not end as predicted the next step may
 * be four times as long (of one path 619 of 800 steps had gone as far as the same wrong prediction).
 *
 * A path ends early only where t has not fallen for PATIENCE factorisations or a third of what it may take.  Near a
 * solution it rises and falls by factors of three and more: p23, left where it rose threefold from 0.005, was at 0
 * another 130 factorisations on.
 *
 * How long a path is, what was tried in place of it, and why clusters of contacts do not do it: docs/research.md. */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/newton/proximal.h"
#include "solve/solver.h"
#include "solve/trace/amended.h"
#include "solve/trace/trace_law.h"

enum {
    LIMIT = 4000,       /* factorisations, of all paths */
    POINTS = 30,        /* proximal points after a path */
    THREADS_PAY = 500,  /* blocks */
    ROUNDS = 16,        /* of one correction, */
    ROUNDS_EASY = 10,   /* after more of which the next step has new factors */
    FACTORS = 4,        /* new ones within a correction */
    TRIES = 30,         /* lengths of one step */
    AGAINST_MOST = 100, /* events of the contact that had the last event too */
    PATIENCE = 200      /* factorisations, or a third of the limit, in which t must fall below all before */
};
/* Lengths are in the norm of product().  The mean speed has De Saxce's mu |u_t| in it, the mean motion has not. */
#define SOFT 1e-7       /* the softness, part of w */
#define EXACT 1e-9      /* part of the mean speed: max |F| of a point on the path, */
#define ROUNDED 1e-10   /* and part of the mean motion: along self-stresses r errs by 1 / SOFT of it */
#define LOOSE 1e-5      /* part of the mean motion: with less |F| a trial can be asked for events before it */
#define AT_EVENT 1e-12  /* part of the mean motion: a smaller margin is zero */
#define NEAR_EVENT 1e-2 /* part of a margin where the step begins: a smaller one is as good as zero */
#define AT_ONCE 1e-5    /* a length: an event that is nearer has come */
#define SLOW 0.6        /* part of |F| of the last round: a correction that leaves more asks for new factors, */
#define SLOW_TWO 0.1    /* unless two rounds together leave less than this: Broyden's steps are uneven */
#define LENGTH_FIRST 0.1
#define LENGTH_LEAST 1e-13 /* shorter: rounding has ended the path, or the event is here */
#define LENGTH_MOST 1e6
#define NEARBY 1e-5      /* part of a step over which margins are differentiated */
#define SPEED_LEAST 1e-2 /* m/s, of both means: what rests has no more digits */
#define T_MOST 1.5       /* a path whose t rises above it leads nowhere */
#define FALLS 0.9        /* part of the least t so far: below it t has fallen */
#define PROGRESS 0.7     /* part of the residual: where a path leaves more it is the last */
#define EVENT_PRICE 3    /* times what comes with a step of Newton's method, with each factorisation */

typedef struct Trace {
    const spragProblem *problem;
    spragTangent *matrix;                         /* dF/dr = A + B (W + soft) */
    spragAmended amended;                         /* the same, with the modes of some contacts changed since */
    int stale;                                    /* 1: corrections with it were slow */
    double *w, *slide;                            /* (nc) */
    double *margin;                               /* (nc x SPRAG_TRACE_MARGINS) at the last point */
    double *drift, *center;                       /* (3 nc) d, r0 */
    unsigned char *mode;                          /* (nc) */
    double *r, *trial, *u, *F;                    /* (3 nc) point, next point, velocity and F of either */
    double *change, *slope, *tangent, *tangent_u; /* (3 nc) slope: dr/dt of the factors at hand */
    double *taken[ROUNDS];                        /* (3 nc) steps of the present correction */
    double taken_t[ROUNDS];
    double *bend, bend_t;                /* (3 nc) of the path from the tangent, by length squared */
    double t, tangent_t, trial_t, along; /* along: <tangent, (slope, 1)> */
    double length;                       /* of the next step, at most */
    double speed, motion;                /* m/s, means; a car with mu = 340 has a speed of hundreds */
    double stretch; /* > 1 after a margin that did not end where it was predicted to: so much further */
    int factors;
} Trace;

/* ---------------------------------------------------------------- the equations */

static spragTraceBlock blockOf(const Trace *trace, int k)
{
    return (spragTraceBlock){(spragTraceMode)trace->mode[k], trace->w[k], trace->problem->mu[k], trace->slide[k]};
}

/* r, u: of block k. */
static void lawOf(const Trace *trace, int k, const double *r, const double *u, double t, spragTraceLaw *law)
{
    const spragTraceBlock block = blockOf(trace, k);
    spragTraceLawAt(&block, r, u, t, law);
}

static int marginsOf(const Trace *trace, int k, const double *r, const double *u, double t,
                     spragTraceMargin margin[SPRAG_TRACE_MARGINS])
{
    const spragTraceBlock block = blockOf(trace, k);
    return spragTraceMarginsAt(&block, r, u, t, margin);
}

/* u and F; returns max |F|. */
static double evaluate(Trace *trace, const double *r, double t)
{
    double worst = 0;
    spragTraceLaw law;
    spragProblemVelocity(trace->problem, r, trace->u);
    for (int k = 0; k < trace->problem->contact_count; ++k) {
        const double soft = SOFT * trace->w[k];
        for (int i = 3 * k; i < 3 * k + 3; ++i)
            trace->u[i] += soft * (r[i] - trace->center[i]) + t * trace->drift[i];
        lawOf(trace, k, r + 3 * k, trace->u + 3 * k, t, &law);
        memcpy(trace->F + 3 * k, law.F, sizeof law.F);
        for (int i = 0; i < 3; ++i)
            worst = fabs(law.F[i]) > worst || isnan(law.F[i]) ? fabs(law.F[i]) : worst;
    }
    return worst;
}

typedef enum Factors { AMENDED, ANEW } Factors;

/* dF/dr, factorised anew or amended where modes have changed, and slope = -(dF/dr)^-1 dF/dt,
 * where evaluate was last.  0: singular. */
static int linearise(Trace *trace, const double *r, double t, Factors factors)
{
    const int anew = factors == ANEW;
    spragTangent *matrix = trace->matrix;
    spragAmended *amended = &trace->amended;
    spragTraceLaw law;
    for (int k = 0; k < trace->problem->contact_count; ++k) {
        const double *drift = trace->drift + 3 * k;
        const int place = amended->place[k];
        lawOf(trace, k, r + 3 * k, trace->u + 3 * k, t, &law);
        const double push[3] = {-drift[0] - law.share, -drift[1], -drift[2]};
        spragMul33(trace->slope + 3 * k, law.B, push);
        if (!anew && place < 0)
            continue;
        memcpy(anew ? matrix->A + 9 * (size_t)k : amended->A + 9 * place, law.A, sizeof law.A);
        memcpy(anew ? matrix->B + 9 * (size_t)k : amended->B + 9 * place, law.B, sizeof law.B);
        matrix->soft[k] = SOFT * trace->w[k];
    }
    ++trace->factors;
    trace->stale = 0;
    if (!(anew ? spragAmendedFactor(amended) : spragAmendedUpdate(amended)))
        return 0;
    spragAmendedSolve(amended, trace->slope);
    return 1;
}

/* <(a, a_t), (b, b_t)>: impulses count by the speed they give, against the mean speed. */
static double product(const Trace *trace, const double *a, double a_t, const double *b, double b_t)
{
    const int nc = trace->problem->contact_count;
    double sum = 0;
    for (int k = 0; k < nc; ++k) {
        const double scale = trace->w[k] / trace->speed;
        sum += scale * scale * spragDot3(a + 3 * k, b + 3 * k);
    }
    return sum / nc + a_t * b_t;
}

/* ---------------------------------------------------------------- steps */

/* The guess becomes the solution at t = 1. */
static void begin(Trace *trace, const double *guess)
{
    const spragProblem *problem = trace->problem;
    const int nc = problem->contact_count, n = 3 * nc;
    spragProblemVelocity(problem, guess, trace->u);
    trace->speed = trace->motion = 0;
    for (int k = 0; k < nc; ++k) {
        const double *W = problem->W + 9 * (size_t)spragProblemDiagonal(problem, k), mu = problem->mu[k];
        const double trace_W = W[0] + W[4] + W[8], w = trace_W > 0 ? trace_W / 3 : 1, *u = trace->u + 3 * k;
        double x[3], *r = trace->r + 3 * k, *v = trace->drift + 3 * k;
        trace->w[k] = w, trace->slide[k] = mu * spragNorm2(u + 1);
        for (int i = 0; i < 3; ++i)
            x[i] = guess[3 * k + i] - (u[i] + (i == 0 ? trace->slide[k] : 0)) / w;
        const spragTraceBlock block = blockOf(trace, k);
        trace->mode[k] = (unsigned char)spragTraceProject(&block, x, r);
        for (int i = 0; i < 3; ++i)
            v[i] = w * (r[i] - x[i]);
        v[0] -= trace->slide[k];
        trace->speed += (spragNorm3(v) + trace->slide[k]) / nc;
        trace->motion += spragNorm3(u) / nc;
    }
    trace->speed = fmax(trace->speed, SPEED_LEAST);
    trace->motion = fmin(trace->speed, fmax(trace->motion, SPEED_LEAST));
    memcpy(trace->center, trace->r, (size_t)n * sizeof *trace->r);
    spragProblemVelocity(problem, trace->r, trace->u);
    for (int i = 0; i < n; ++i)
        trace->drift[i] -= trace->u[i];
    trace->t = 1, trace->length = LENGTH_FIRST, trace->stretch = 1;
}

/* A contact that changes its mode. */
typedef struct Event {
    int contact; /* -1: none */
    spragTraceMode before, after;
} Event;

static const Event no_event = {.contact = -1};

/* The margin that ends in an event, and how it changes with the contact's r and u and with t. */
typedef struct Target {
    Event event;                          /* contact < 0: none */
    double by_r[3], by_u[3], by_t, along; /* along: the slope of the factors at hand */
} Target;

/* Which margin of contact k that leads back to the mode before `event` changes how fast along the tangent, m/s. */
static double entering(const Trace *trace, const Event *event)
{
    const int k = event->contact;
    double r[3], u[3];
    spragTraceMargin here[SPRAG_TRACE_MARGINS], there[SPRAG_TRACE_MARGINS];
    for (int i = 0; i < 3; ++i) {
        r[i] = trace->r[3 * k + i] + NEARBY * trace->tangent[3 * k + i];
        u[i] = trace->u[3 * k + i] + NEARBY * trace->tangent_u[3 * k + i];
    }
    const int count = marginsOf(trace, k, trace->r + 3 * k, trace->u + 3 * k, trace->t, here);
    marginsOf(trace, k, r, u, trace->t + NEARBY * trace->tangent_t, there);
    for (int i = 0; i < count; ++i)
        if (here[i].next == event->before)
            return (there[i].value - here[i].value) / NEARBY;
    return 0;
}

/* The tangent at the point, and du along it.  *on: how it goes on from the last one, > 0 if as it should: into the mode
 * that begins, or in the same sense.  0: singular. */
static int direct(Trace *trace, const Event *last, Factors factors, double *on)
{
    const spragProblem *problem = trace->problem;
    const int n = 3 * problem->contact_count;
    if (!linearise(trace, trace->r, trace->t, factors))
        return 0;
    const double size = sqrt(product(trace, trace->slope, 1, trace->slope, 1)), before = trace->tangent_t;
    *on = product(trace, trace->slope, 0, trace->tangent, 0) + before;
    trace->tangent_t = -spragAmendedSign(&trace->amended) / size;
    *on *= trace->tangent_t;
    for (int i = 0; i < n; ++i)
        trace->tangent[i] = trace->tangent_t * trace->slope[i];
    trace->along = product(trace, trace->tangent, trace->tangent_t, trace->slope, 1);
    spragProblemVelocity(problem, trace->tangent, trace->tangent_u);
    for (int i = 0; i < n; ++i)
        trace->tangent_u[i] +=
            SOFT * trace->w[i / 3] * trace->tangent[i] + trace->tangent_t * trace->drift[i] - problem->q[i];
    if (last->contact >= 0)
        *on = entering(trace, last);
    return isfinite(size) && trace->tangent_t != 0;
}

/* The tangent and the margins at the point.  0: singular. */
static int turn(Trace *trace, const Event *last)
{
    const Factors factors = trace->amended.count == 0 || trace->stale ? ANEW : AMENDED;
    double on;
    evaluate(trace, trace->r, trace->t);
    int regular = direct(trace, last, factors, &on);
    if (factors == AMENDED && !(regular && on > 0))
        regular = direct(trace, last, ANEW, &on);
    for (int k = 0; k < trace->problem->contact_count && regular; ++k) {
        spragTraceMargin margin[SPRAG_TRACE_MARGINS];
        const int count = marginsOf(trace, k, trace->r + 3 * k, trace->u + 3 * k, trace->t, margin);
        for (int i = 0; i < count; ++i)
            trace->margin[SPRAG_TRACE_MARGINS * k + i] = margin[i].value;
    }
    return regular;
}

/* Where the first margin ends if all goes on as it begins. */
static double predict(const Trace *trace, const Event *last, Event *event)
{
    const double far = NEARBY * fmin(trace->length, 1);
    double least = INFINITY;
    *event = no_event;
    for (int k = 0; k < trace->problem->contact_count; ++k) {
        double r[3], u[3];
        spragTraceMargin margin[SPRAG_TRACE_MARGINS];
        for (int i = 0; i < 3; ++i) {
            r[i] = trace->r[3 * k + i] + far * trace->tangent[3 * k + i];
            u[i] = trace->u[3 * k + i] + far * trace->tangent_u[3 * k + i];
        }
        const int count = marginsOf(trace, k, r, u, trace->t + far * trace->tangent_t, margin);
        for (int i = 0; i < count; ++i) {
            const double here = trace->margin[SPRAG_TRACE_MARGINS * k + i], fall = here - margin[i].value;
            const int returns = k == last->contact && margin[i].next == last->before;
            double end = fall > 0 && !returns ? fmax(0, here) * far / fall : INFINITY;
            if (trace->mode[k] == SPRAG_TRACE_STICK && !(returns && fall > 0))
                end = spragTraceExit(trace->problem->mu[k], trace->r + 3 * k, trace->tangent + 3 * k, returns);
            if (end < least)
                least = end, *event = (Event){k, (spragTraceMode)trace->mode[k], margin[i].next};
        }
    }
    return least;
}

static void predictor(Trace *trace, double length, int at_end)
{
    for (int i = 0; i < 3 * trace->problem->contact_count; ++i)
        trace->trial[i] = trace->r[i] + length * (trace->tangent[i] + length * trace->bend[i]);
    trace->trial_t = at_end ? 0 : trace->t + length * (trace->tangent_t + length * trace->bend_t);
}

/* What the trial at `length` tells of the path's bend; length 0: nothing. */
static void setBend(Trace *trace, double length)
{
    const double scale = length > 0 ? 1 / (length * length) : 0;
    for (int i = 0; i < 3 * trace->problem->contact_count; ++i)
        trace->bend[i] = scale * (trace->trial[i] - trace->r[i] - length * trace->tangent[i]);
    trace->bend_t = scale * (trace->trial_t - trace->t - length * trace->tangent_t);
}

static int refactor(Trace *trace, const double *r, double t)
{
    const int regular = linearise(trace, r, t, ANEW);
    trace->along = product(trace, trace->tangent, trace->tangent_t, trace->slope, 1);
    return regular;
}

/* The first margin to end on the way to the trial, of those that have ended there or all but; returns at which part of
 * the way.  *passed: one has ended too far back. */
static double firstEnd(const Trace *trace, const Event *last, const Event *target, Event *event, int *passed)
{
    const double zero = AT_EVENT * trace->motion;
    double first = 1;
    spragTraceMargin margin[SPRAG_TRACE_MARGINS];
    *passed = 0, *event = no_event;
    for (int k = 0; k < trace->problem->contact_count; ++k) {
        const int count = marginsOf(trace, k, trace->trial + 3 * k, trace->u + 3 * k, trace->trial_t, margin);
        for (int i = 0; i < count; ++i) {
            const int returns = k == last->contact && margin[i].next == last->before;
            const double before = fmax(trace->margin[SPRAG_TRACE_MARGINS * k + i], zero),
                         near = fmax(zero, NEAR_EVENT * before);
            const double part = before / (before - fmin(margin[i].value, 0.5 * before));
            if (margin[i].value > (returns ? -10 * zero : near) ||
                (k == target->contact && margin[i].next == target->after))
                continue;
            *passed |= margin[i].value < -near;
            if (event->contact < 0 || part < first)
                first = part, *event = (Event){k, (spragTraceMode)trace->mode[k], margin[i].next};
        }
    }
    return first;
}

/* The margin of the event at r, u of its contact and t; INFINITY: there is none. */
static double marginOf(const Trace *trace, const Event *event, const double r[3], const double u[3], double t)
{
    spragTraceMargin margin[SPRAG_TRACE_MARGINS];
    const int count = marginsOf(trace, event->contact, r, u, t, margin);
    for (int i = 0; i < count; ++i)
        if (margin[i].next == event->after)
            return margin[i].value;
    return INFINITY;
}

/* du of contact k for a change dr (3 nc), dt. */
static void motionOf(const Trace *trace, int k, const double *dr, double dt, double du[3])
{
    const spragProblem *p = trace->problem;
    for (int i = 0; i < 3; ++i)
        du[i] = SOFT * trace->w[k] * dr[3 * k + i] + dt * trace->drift[3 * k + i];
    for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
        spragMulAdd33(du, p->W + 9 * (size_t)e, dr + 3 * (size_t)p->column[e]);
}

static double changeOf(const Trace *trace, const Target *target, const double *dr, double dt)
{
    double du[3];
    const int k = target->event.contact;
    motionOf(trace, k, dr, dt, du);
    return spragDot3(target->by_r, dr + 3 * (size_t)k) + spragDot3(target->by_u, du) + target->by_t * dt;
}

/* Derivatives of the margin that is to end at the trial; where it does not change along the path it is no target. */
static void aim(const Trace *trace, Target *target)
{
    const int k = target->event.contact;
    if (k < 0)
        return;
    const double *r = trace->trial + 3 * (size_t)k, *u = trace->u + 3 * (size_t)k, t = trace->trial_t;
    const double size_u = NEARBY * (spragNorm3(u) + AT_EVENT * trace->motion), size_r = size_u / trace->w[k];
    const double value = marginOf(trace, &target->event, r, u, t);
    for (int i = 0; i < 3; ++i) {
        double s[3] = {r[0], r[1], r[2]}, v[3] = {u[0], u[1], u[2]};
        s[i] += size_r, v[i] += size_u;
        target->by_r[i] = (marginOf(trace, &target->event, s, u, t) - value) / size_r;
        target->by_u[i] = (marginOf(trace, &target->event, r, v, t) - value) / size_u;
    }
    target->by_t = (marginOf(trace, &target->event, r, u, t + NEARBY) - value) / NEARBY;
    target->along = changeOf(trace, target, trace->slope, 1);
    if (!isfinite(value) || !(fabs(target->along) > 0) || !isfinite(target->along))
        target->event = no_event;
}

/* The step of round `count`, change = -F on entry, by the factors at hand and what the steps before it have told of
 * their error (Broyden 1965; Kelley 1995, section 7.3): towards the target's margin 0, or at t fixed, or across the
 * tangent.  It is kept in taken. */
static void chord(Trace *trace, int count, int at_end, const Target *target, double margin)
{
    const int n = 3 * trace->problem->contact_count;
    double *const step = trace->taken[count];
    spragAmendedSolve(&trace->amended, trace->change);
    double dt = at_end                       ? 0
                : target->event.contact >= 0 ? -(margin + changeOf(trace, target, trace->change, 0)) / target->along
                                             : -product(trace, trace->tangent, 0, trace->change, 0) / trace->along;
    for (int i = 0; i < n; ++i)
        step[i] = trace->change[i] + dt * trace->slope[i];
    for (int j = 0; j < count; ++j) {
        const double *s = trace->taken[j], s_t = trace->taken_t[j];
        const double part = product(trace, s, s_t, step, dt) / product(trace, s, s_t, s, s_t);
        const int newest = j + 1 == count;
        const double scale = newest ? 1 / (1 - part) : 1;
        for (int i = 0; i < n; ++i)
            step[i] = newest ? scale * step[i] : step[i] + part * trace->taken[j + 1][i];
        dt = newest ? scale * dt : dt + part * trace->taken_t[j + 1];
    }
    trace->taken_t[count] = dt;
}

/* What became of a correction: it failed, it has an event before it, or is on the path. */
typedef enum Outcome { FAILED, PASSED, REACHED } Outcome;

/* New factors, as the correction is slow: at the trial; or where it leads astray at the predicted point, from which it
 * begins again, but only once.  0: none. */
static int renew(Trace *trace, double length, int at_end, int astray, int once, double *size)
{
    if (astray && !once)
        return 0;
    if (astray) {
        predictor(trace, length, at_end);
        *size = evaluate(trace, trace->trial, trace->trial_t);
    }
    return refactor(trace, trace->trial, trace->trial_t);
}

/* Quasi-Newton from the point `length` along the tangent, to the target's event, or in the plane across the tangent
 * (at_end: at t = 0), with the factors at hand while they are good.  As soon as it is near the path the first event
 * before it is looked for, and becomes the target. */
static Outcome correct(Trace *trace, double length, int at_end, const Event *last_event, Target *target, double *part)
{
    const int n = 3 * trace->problem->contact_count;
    double last = INFINITY, before = INFINITY; /* sizes of the two rounds before */
    int factors = 0, count = 0, looked = 0;    /* count: steps with these factors */
    predictor(trace, length, at_end);
    for (int round = 0; round < ROUNDS; ++round) {
        double size = evaluate(trace, trace->trial, trace->trial_t), margin = 0;
        if (round == 0)
            aim(trace, target);
        if (target->event.contact >= 0) {
            const size_t k = 3 * (size_t)target->event.contact;
            margin = marginOf(trace, &target->event, trace->trial + k, trace->u + k, trace->trial_t);
            size = fmax(size, fabs(margin));
        }
        const int slow = round > 0 && !(size < SLOW * last) && !(size < SLOW_TWO * before);
        const int exact = size <= EXACT * trace->speed && (size <= ROUNDED * trace->motion || slow);
        if (exact || (!looked && size <= LOOSE * trace->motion)) {
            int passed;
            Event event;
            *part = firstEnd(trace, last_event, &target->event, &event, &passed), looked = 1;
            trace->stale |= round > ROUNDS_EASY;
            if (passed || (exact && target->event.contact < 0))
                target->event = event;
            if (passed || exact)
                return passed ? PASSED : REACHED;
        }
        if (slow) {
            if (++factors > FACTORS || target->event.contact >= 0 ||
                !renew(trace, length, at_end, !(size < last), factors == 1, &size))
                return FAILED;
            count = 0;
        }
        for (int i = 0; i < n; ++i)
            trace->change[i] = -trace->F[i];
        chord(trace, count, at_end, target, margin);
        for (int i = 0; i < n; ++i)
            trace->trial[i] += trace->taken[count][i];
        trace->trial_t += trace->taken_t[count++];
        before = last, last = size;
    }
    return FAILED;
}

/* The trial becomes the point.  first: the length at which a margin was to end. */
static void arrive(Trace *trace, const Event *event, double length, double first)
{
    memcpy(trace->r, trace->trial, 3 * (size_t)trace->problem->contact_count * sizeof *trace->r);
    trace->t = trace->trial_t;
    trace->length = fmin(fmax(trace->length, 4 * length), LENGTH_MOST);
    trace->stretch = event->contact >= 0 ? 1 : length >= first ? 4 * length / first : trace->stretch;
}

/* One step along the tangent, to an event or as far as the corrections go.  0: no further. */
static int step(Trace *trace, const Event *last, Event *event)
{
    Target target;
    const double first = predict(trace, last, &target.event);
    *event = target.event;
    if (event->contact >= 0 && first <= LENGTH_LEAST)
        return 1;
    double length = fmin(trace->stretch * first, trace->length);
    int at_end = trace->tangent_t < 0 && trace->t + length * trace->tangent_t <= 0;
    if (at_end)
        length = -trace->t / trace->tangent_t;
    if (at_end || length != first)
        target.event = no_event;
    setBend(trace, 0);
    for (int k = 0; k < TRIES && length > LENGTH_LEAST; ++k) {
        const int factors = trace->factors;
        double part;
        const int aimed = target.event.contact >= 0;
        const Outcome outcome = correct(trace, length, at_end, last, &target, &part);
        *event = target.event;
        if (outcome == PASSED && length < AT_ONCE) {
            trace->stretch = 1;
            return 1;
        }
        if (outcome == REACHED) {
            arrive(trace, event, length, first);
            return 1;
        }
        at_end = 0;
        if (outcome == PASSED) {
            const int returns = event->contact == last->contact && event->after == last->before;
            setBend(trace, length);
            length *= returns ? 0.5 : fmin(fmax(part, 0.02), 0.98);
            if (returns) /* it was there and left: another end of the same margin, or none */
                target.event = no_event;
            continue;
        }
        setBend(trace, 0);
        target.event = no_event;
        length *= aimed ? 1 : 0.25;
        if (!aimed)
            trace->length = fmax(length, LENGTH_LEAST);
        evaluate(trace, trace->r, trace->t);
        if (trace->factors > factors && !refactor(trace, trace->r, trace->t))
            return 0;
    }
    return 0;
}

static int traceInit(Trace *trace, const spragProblem *problem, spragArena *arena)
{
    const size_t nc = (size_t)problem->contact_count, n = 3 * nc;
    double **const part[] = {&trace->w, &trace->slide};
    double **const vector[] = {&trace->drift,   &trace->center,    &trace->r,      &trace->trial,
                               &trace->u,       &trace->F,         &trace->change, &trace->slope,
                               &trace->tangent, &trace->tangent_u, &trace->bend};
    for (size_t k = 0; k < sizeof part / sizeof *part; ++k)
        if ((*part[k] = SPRAG_TAKE(arena, double, nc)) == NULL)
            return 0;
    for (size_t k = 0; k < sizeof vector / sizeof *vector; ++k)
        if ((*vector[k] = SPRAG_TAKE(arena, double, n)) == NULL)
            return 0;
    for (int k = 0; k < ROUNDS; ++k)
        if ((trace->taken[k] = SPRAG_TAKE_RAW(arena, double, n)) == NULL)
            return 0;
    trace->margin = SPRAG_TAKE(arena, double, SPRAG_TRACE_MARGINS *nc);
    trace->mode = SPRAG_TAKE(arena, unsigned char, nc);
    return trace->margin != NULL && trace->mode != NULL;
}

/* One path from r, which becomes its best point where that is better.  1: it arrived. */
static int follow(Trace *trace, const spragStop *stop, double *r)
{
    const spragProblem *problem = trace->problem;
    const size_t bytes = 3 * (size_t)problem->contact_count * sizeof *r;
    double best = spragProblemResidual(problem, r);
    Event last = no_event, event;
    const int patience = stop->limit / 3 > PATIENCE ? stop->limit / 3 : PATIENCE;
    int against = 0, lowest_at = trace->factors;
    double lowest = 1;
    begin(trace, r);
    while (trace->factors < stop->limit && !spragIsLate(stop->deadline) && turn(trace, &last) &&
           step(trace, &last, &event)) {
        const double residual = spragProblemResidual(problem, trace->r);
        if (residual < best) {
            best = residual;
            memcpy(r, trace->r, bytes);
        }
        against += event.contact >= 0 && event.contact == last.contact;
        if (trace->t < FALLS * lowest)
            lowest = trace->t, lowest_at = trace->factors;
        if (best <= stop->tolerance || trace->t <= 0 || trace->t > T_MOST || against > AGAINST_MOST ||
            trace->factors - lowest_at > patience)
            break;
        if (event.contact >= 0) {
            trace->mode[event.contact] = (unsigned char)event.after;
            trace->stale |= spragAmendedPlace(&trace->amended, event.contact) < 0;
        }
        last = event;
    }
    return trace->t <= 0;
}

/* Path after path.  Each ends beside a solution, as F is soft; from there proximal points find it, or the next path is
 * short. */
static spragStatus run(Trace *trace, spragProximal *proximal, const spragSolveOptions *options, double *r,
                       int *iterations)
{
    const spragProblem *problem = trace->problem;
    const size_t bytes = 3 * (size_t)problem->contact_count * sizeof *r;
    const spragStop stop = spragStopOf(options, LIMIT), last = {stop.tolerance, stop.deadline, POINTS};
    spragStatus status = SPRAG_NOT_CONVERGED;
    double before, residual = spragProblemResidual(problem, r);
    do {
        before = residual;
        const int arrived = follow(trace, &stop, r);
        if (arrived || spragProblemResidual(problem, r) <= options->tolerance) {
            spragProximalReset(proximal, r);
            if (arrived) /* its modes are right, which those of the best point need not be */
                memcpy(r, trace->r, bytes);
            status = spragProximalPoints(proximal, arrived ? SOFT : SPRAG_LAMBDA_WARM, &last, r, iterations);
            memcpy(r, proximal->best, bytes);
        }
        residual = spragProblemResidual(problem, r);
    } while (status == SPRAG_NOT_CONVERGED && trace->factors < stop.limit && residual <= PROGRESS * before);
    *iterations += trace->factors;
    if (status == SPRAG_OK)
        spragProximalPolish(proximal, options->tolerance, proximal->best_residual, r, iterations);
    return status;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    if (!spragProblemIsPlain(problem))
        return SPRAG_NOT_CONVERGED;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    spragProximal proximal;
    Trace trace = {.problem = problem, .matrix = &proximal.tangent};
    spragStatus status = SPRAG_ERROR_MEMORY;
    if (traceInit(&trace, problem, arena) &&
        spragProximalInitWithin(&proximal, problem, SPRAG_TANGENT_CONTACTS, INFINITY, arena) > 0 &&
        spragAmendedInit(&trace.amended, &proximal.tangent, arena)) {
        spragPool *pool = problem->contact_count >= THREADS_PAY ? spragPoolHere() : NULL;
        const int before = info->iterations;
        if (spragTangentShare(&proximal.tangent, pool, arena))
            status = run(&trace, &proximal, options, r, &info->iterations);
        info->work += (info->iterations - before) *
                      (proximal.tangent.price + EVENT_PRICE * spragStepOverhead(problem->contact_count));
    }
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverTrace = {.kind = SPRAG_SOLVER_NEWTON, .solve = solve};
