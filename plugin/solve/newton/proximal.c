#include "solve/newton/proximal.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "linalg/vec3.h"
#include "problem/residual.h"

enum {
    INNER_MAX = 12,
    INNER_EASY = 4,
    INNER_ROUND = 4,
    SHORT = 30, /* steps: a run that is longer is a hard one */
    CHORDS_MAX = 3,
    POLISH_STEPS = 6,
    INNER_POLISH = 4,
    FEW = 16,
    CHEAP = 60
};
#define LAMBDA_JUMP 1e-6 /* below this what fails goes on with LAMBDA_RETRY */
#define LAMBDA_RETRY 1e-3
#define CHORD_GAIN 0.1    /* of the residual is left: the next chord is worth it */
#define LAMBDA_HOLD 30    /* after a step of a polish that was none */
#define LAMBDA_LEAST 1e-8 /* rounding in singular directions is 1e-16 / lambda */
#define LAMBDA_MOST 1.0
#define LAMBDA_FALL 0.3      /* after an easy problem */
#define LAMBDA_FALL_SLOW 0.5 /* the same once one was not solved, in a run beyond SHORT */
#define LOOK_GAIN 0.1        /* of the best at the last look */
#define LAMBDA_RISE 4        /* after one that was not solved */
#define LAG_FIRST 0.1        /* and the same of the lag */
#define LAG_LEAST 1e-3       /* below it: none */
#define LAG_MU 2             /* what lag_mu begins with */
#define LAG_FALL 0.35
#define LAG_RISE 1.5
#define INNER_SHARE 0.01     /* a proximal problem counts as solved at this part of its own displacement, squared */
#define INNER_SHARE_MORE 0.1 /* of more than CHEAP blocks: vehicles on tracks take 0.92 of the time (0.3, 1: 0.9) */
#define SURE 1e-3            /* or at this part of the tolerance */
/* What is in the way of piles that move: a proximal problem that is solved changes the modes of 0 to 5 contacts; one
 * that is not goes round between two modes of a single contact or, two steps later, changes those of hundreds and never
 * comes back.  Both are folds: lambda fell below the rate of a mode that grows.  To go on to INNER_MAX cost 56 of 100
 * steps on 300 balls.  So of more than CHEAP blocks a problem ends when |F|^2 has not come to FALLS of its least for
 * INNER_ROUND steps (2 or 3 end some of boxes that would arrive).  In a run beyond SHORT lambda then falls more slowly;
 * and one below LAMBDA_JUMP begins again far above the fold: on the way down other modes change, and the next pass gets
 * through. */
#define FALLS 0.25
/* A polish moves the forces of hyperstatic contacts by lambda^-1: closer than a first try it does not leave its modes.
 * Of more than FEW blocks they move by more than many a contact carries that is nearly open, or near the edge of its
 * cone: what W's null space asks for is rounding, and over 9e-7 it changed modes until the polish had failed, in every
 * second step of stacks at rest.  What moves is of the size of W, and ends all the same. */
#define LAMBDA_POLISH 9e-7
#define LAMBDA_POLISH_MORE 3e-4
/* Of more than CHEAP blocks, where a point has several steps: what rounding, 1e-16 m/s, moves over it is below the
 * 1e-12 m/s that are asked for.  (201 polishes of walls and pyramids at rest end below that, after 3.2 steps; with 3e-5
 * one does not, with 1e-6 22, with 3e-4 12.  With 1e-7 and a single step a point 50 do not, after 5.1.) */
#define LAMBDA_POLISH_MANY 1e-4
/* Of plain contacts: what it leaves below STALL of the tolerance is what compliance of 1e-9 W asks
 * for, forces that go there by a hundredth in each step, while modes change.  Then the last point was
 * enough (a house of cards: half the time). */
#define STALL 3e-4
#define STALLED 0.95
#define DIVERGED 1e12 /* growth of |F|^2 that ends an attempt; 1e4 ends many that would have come back */
/* Of a warm start: it has to fit at once.  Where work is limited, in steps, every problem with so small a lambda is
 * held to that from far away: without, a step of a crowd took more than 10 000 iterations, and falling boxes under a
 * limit were worse than by QuickStep in more than one state of forty.  But a step that leaves less than LOST times the
 * tolerance, |F|, is none that diverged: at a center with |F| = 1e-7 m/s a first step to 1e-4 is on the way.  (Where it
 * was one, pyramids, walls, boxes on a lorry and crowds between walls went round at 1e-8 to 1e-7 m/s, ten points from
 * LAMBDA_RETRY down to the one that failed, for hundreds to thousands of steps.)  1e10 and no bound solve as many; but
 * of up to CHEAP blocks contacts with mu = 300, and chains with friction in joints, seldom return from beyond 1e5. */
#define DIVERGED_WARM 1e4
#define LOST 1e8
#define LOST_FEW 1e5

/* ---------------------------------------------------------------- the laws */

/* Of one block. */
typedef struct State {
    const double *r, *u; /* (3) */
    double w;
} State;

/* Rows a, a+1: F = w (r - P_R(x)), R fixed. */
static void discLaw(spragBlockLaw *law, int a, double radius, const State *at, double direction[2])
{
    const double *r = at->r, *u = at->u, w = at->w;
    const double x[2] = {r[a] - u[a] / w, r[a + 1] - u[a + 1] / w};
    const double size = spragNorm2(x);
    direction[0] = direction[1] = 0;
    if (size <= radius && radius > 0) {
        for (int i = 0; i < 2; ++i) {
            law->F[a + i] = u[a + i];
            law->B[4 * (a + i)] = 1;
        }
        return;
    }
    const double scale = size > 0 ? 1 / size : 0, e[2] = {scale * x[0], scale * x[1]}, ratio = scale * radius;
    for (int i = 0; i < 2; ++i) {
        direction[i] = e[i];
        law->F[a + i] = w * (r[a + i] - radius * e[i]);
        for (int j = 0; j < 2; ++j) {
            const double across = ratio * ((i == j) - e[i] * e[j]);
            law->A[3 * (a + i) + a + j] = w * ((i == j) - across);
            law->B[3 * (a + i) + a + j] = across;
        }
    }
}

/* Row i: F = w (r - clamp(x)) */
static void lineLaw(spragBlockLaw *law, int i, double lo, double hi, const State *at)
{
    const double *r = at->r, *u = at->u, w = at->w, x = r[i] - u[i] / w;
    if (x >= lo && x <= hi && lo < hi) {
        law->F[i] = u[i];
        law->B[4 * i] = 1;
    } else {
        law->F[i] = w * (r[i] - (x < lo ? lo : hi));
        law->A[4 * i] = w;
    }
}

/* slide: mu |u_t| of the center.  With lag > 0 the normal row is u_n + lag (slide + mu e . u_t), e = x_t / |x_t|, where
 * the contact slips. */
static void contactLaw(spragBlockLaw *law, double mu, double lag, double slide, const State *at)
{
    const double *r = at->r, *u = at->u, w = at->w;
    const double x_t[2] = {r[1] - u[1] / w, r[2] - u[2] / w}, size = spragNorm2(x_t);
    const double slip = size > 0 ? (x_t[0] * u[1] + x_t[1] * u[2]) / size : 0;
    const double part = size > mu * fmax(0, r[0]) && slip < 0 ? lag * mu : 0;
    const double normal = u[0] + lag * slide + part * slip, x_n = r[0] - normal / w;
    if (x_n <= 0) {
        for (int i = 0; i < 3; ++i)
            law->F[i] = w * r[i], law->A[4 * i] = w;
        return;
    }
    double e[2];
    discLaw(law, 1, mu * x_n, at, e);
    law->F[0] = normal;
    law->B[0] = 1;
    if (part > 0)
        law->B[1] = part * x_t[0] / size, law->B[2] = part * x_t[1] / size;
    for (int i = 0; i < 2; ++i) { /* the disc grows with x_n */
        law->A[3 * (1 + i)] -= mu * e[i] * w;
        for (int j = 0; j < 3; ++j)
            law->B[3 * (1 + i) + j] += mu * e[i] * law->B[j];
    }
}

/* The disc's radius is mu |x_n|. */
static void twoSidedLaw(spragBlockLaw *law, double mu, double mu_minus, const State *at)
{
    const double *r = at->r, *u = at->u, w = at->w, x_n = r[0] - u[0] / w, gain = x_n > 0 ? mu : -mu_minus;
    double e[2];
    law->F[0] = u[0], law->B[0] = 1;
    discLaw(law, 1, gain * x_n, at, e);
    for (int i = 0; i < 2; ++i) {
        law->A[3 * (1 + i)] = -w * gain * e[i];
        law->B[3 * (1 + i)] = gain * e[i];
    }
}

/* The limits grow with the parent's load. */
static void rollingLaw(spragBlockLaw *law, double mu, double mu_minus, double load, const State *at)
{
    double e[2];
    const double *r = at->r, *u = at->u, w = at->w;
    const double carried = fmax(0, load), limit = mu_minus * carried, spin = r[2] - u[2] / w;
    discLaw(law, 0, mu * carried, at, e);
    lineLaw(law, 2, -limit, limit, at);
    if (load < 0)
        return;
    law->load[0] = -w * mu * e[0], law->load[1] = -w * mu * e[1];
    if (fabs(spin) >= limit)
        law->load[2] = spin < 0 ? w * mu_minus : -w * mu_minus;
}

static void blockLaw(const spragProximal *proximal, int k, const double *r_all, const double *u, spragBlockLaw *law)
{
    const spragProblem *problem = proximal->problem;
    const State at = {r_all + 3 * k, u, proximal->w[k]};
    const double mu = problem->mu[k];
    const double mu_minus = spragMuMinusOf(problem, k);
    double e[2];
    memset(law, 0, sizeof *law);
    switch (spragKindOf(problem, k)) {
    case SPRAG_BLOCK_TWO_SIDED:
        twoSidedLaw(law, mu, mu_minus, &at);
        break;
    case SPRAG_BLOCK_FORCE_LIMIT:
        lineLaw(law, 0, 0, INFINITY, &at);
        discLaw(law, 1, mu, &at, e);
        break;
    case SPRAG_BLOCK_BOX:
        for (int i = 0; i < 3; ++i)
            lineLaw(law, i, problem->bound[6 * k + i], problem->bound[6 * k + 3 + i], &at);
        break;
    case SPRAG_BLOCK_ROLLING:
        rollingLaw(law, mu, mu_minus, r_all[3 * problem->parent[k]], &at);
        break;
    default:
        contactLaw(law, mu, mu > proximal->lag_mu ? 0 : proximal->lag, proximal->slide[k], &at);
    }
}

/* ---------------------------------------------------------------- steps */

typedef struct Pass {
    spragProximal *proximal;
    const double *r;
    double sum[SPRAG_RANGES_MOST];
} Pass;

/* 1: evaluate fills A and B of the tangent.  (Among bodies solutions are refined by the A and B that the factors were
 * made of, and factors may be older than the last point.) */
static int keepsLaws(const spragProximal *proximal)
{
    return proximal->tangent.bodies == NULL;
}

/* The law's derivatives at the last point, of which a step may come next. */
static void keepLaw(const spragTangent *tangent, int k, const spragBlockLaw *law)
{
    memcpy(tangent->A + 9 * (size_t)k, law->A, sizeof law->A);
    memcpy(tangent->B + 9 * (size_t)k, law->B, sizeof law->B);
    if (tangent->load != NULL)
        memcpy(tangent->load + 3 * (size_t)k, law->load, sizeof law->load);
}

static void evaluateRange(void *data, int range, int first, int end)
{
    Pass *pass = data;
    spragProximal *proximal = pass->proximal;
    const double *r = pass->r;
    const int keeps = keepsLaws(proximal);
    double sum = 0;
    spragBlockLaw law;
    for (int k = first; k < end; ++k) {
        const double soft = proximal->lambda * proximal->w[k];
        for (int i = 3 * k; i < 3 * k + 3; ++i)
            proximal->u[i] += soft * (r[i] - proximal->center[i]);
        blockLaw(proximal, k, r, proximal->u + 3 * k, &law);
        memcpy(proximal->F + 3 * k, law.F, sizeof law.F);
        if (keeps)
            keepLaw(&proximal->tangent, k, &law);
        sum += spragDot3(law.F, law.F);
    }
    pass->sum[range] = sum;
}

const double *spragProximalMotion(spragProximal *proximal, const double *r)
{
    const size_t bytes = 3 * (size_t)proximal->problem->contact_count * sizeof *r;
    if (!proximal->sees || memcmp(proximal->seen, r, bytes) != 0) {
        spragProblemVelocity(proximal->problem, r, proximal->motion);
        memcpy(proximal->seen, r, bytes);
        proximal->sees = 1;
    }
    return proximal->motion;
}

/* The judge's word on r. */
static double residualAt(spragProximal *proximal, const double *r)
{
    return spragProblemJudgeMotion(proximal->problem, r, spragProximalMotion(proximal, r));
}

/* u and F of the proximal problem at r; returns |F|^2. */
static double evaluate(spragProximal *proximal, const double *r)
{
    const int nc = proximal->problem->contact_count;
    Pass pass = {.proximal = proximal, .r = r};
    memcpy(proximal->u, spragProximalMotion(proximal, r), 3 * (size_t)nc * sizeof *r);
    spragRangesRun(nc, evaluateRange, &pass);
    double sum = 0;
    for (int k = 0; k < spragRangeCount(nc); ++k)
        sum += pass.sum[k];
    return sum;
}

static void lineariseRange(void *data, int range, int first, int end)
{
    (void)range;
    const Pass *pass = data;
    const spragProximal *proximal = pass->proximal;
    const spragTangent *tangent = &proximal->tangent;
    const int kept = keepsLaws(proximal);
    spragBlockLaw law;
    for (int k = first; k < end; ++k) {
        tangent->soft[k] = proximal->lambda * proximal->w[k];
        if (kept)
            continue;
        blockLaw(proximal, k, pass->r, proximal->u + 3 * k, &law);
        keepLaw(tangent, k, &law);
    }
}

/* A, B of A + B (W + lambda w) at r, where evaluate was last. */
static void linearise(spragProximal *proximal, const double *r)
{
    spragRangesRun(proximal->problem->contact_count, lineariseRange, &(Pass){.proximal = proximal, .r = r});
}

int spragProximalInitWithin(spragProximal *proximal, const spragProblem *problem, spragTangentSpace space,
                            double products_most, spragArena *arena)
{
    const size_t nc = (size_t)problem->contact_count, n = 3 * nc;
    *proximal = (spragProximal){.problem = problem};
    const int ready = spragTangentInit(&proximal->tangent, problem, problem->parent, space, products_most, arena);
    if (ready <= 0)
        return ready;
    proximal->w = SPRAG_TAKE(arena, double, nc);
    proximal->slide = SPRAG_TAKE(arena, double, nc);
    double *vectors = SPRAG_TAKE(arena, double, 7 * n);
    if (proximal->w == NULL || proximal->slide == NULL || vectors == NULL)
        return 0;
    proximal->F = vectors;
    proximal->u = vectors + n;
    proximal->step = vectors + 2 * n;
    proximal->center = vectors + 3 * n;
    proximal->best = vectors + 4 * n;
    proximal->seen = vectors + 5 * n;
    proximal->motion = vectors + 6 * n;
    proximal->best_residual = INFINITY;
    proximal->lag_first = LAG_FIRST;
    proximal->lag_mu = LAG_MU;
    for (int k = 0; k < problem->contact_count; ++k) {
        const double *W = problem->W + 9 * (size_t)spragProblemDiagonal(problem, k);
        const double trace = W[0] + W[4] + W[8];
        proximal->w[k] = trace > 0 ? trace / 3 : 1;
    }
    return 1;
}

int spragProximalInit(spragProximal *proximal, const spragProblem *problem, spragArena *arena)
{
    return spragProximalInitWithin(proximal, problem, SPRAG_TANGENT_CONTACTS, INFINITY, arena);
}

void spragProximalReset(spragProximal *proximal, const double *r)
{
    proximal->best_residual = residualAt(proximal, r);
    memcpy(proximal->best, r, 3 * (size_t)proximal->problem->contact_count * sizeof *r);
    proximal->factored = 0;
}

/* r -= (last factors)^-1 F */
static void takeStep(spragProximal *proximal, double *r)
{
    const int n = 3 * proximal->problem->contact_count;
    for (int i = 0; i < n; ++i)
        proximal->step[i] = -proximal->F[i];
    spragTangentSolve(&proximal->tangent, proximal->step);
    for (int i = 0; i < n; ++i)
        r[i] += proximal->step[i];
}

/* One full Newton step at r, where evaluate was last.  |F|^2 after it; infinity: singular matrix. */
static double newtonStep(spragProximal *proximal, double *r)
{
    linearise(proximal, r);
    proximal->factored = spragTangentFactor(&proximal->tangent);
    if (!proximal->factored)
        return INFINITY;
    takeStep(proximal, r);
    return evaluate(proximal, r);
}

/* |lambda w (r - center)|^2: what solving the proximal problem exactly would leave of F. */
static double proximalDistance(const spragProximal *proximal, const double *r)
{
    double sum = 0;
    for (int i = 0; i < 3 * proximal->problem->contact_count; ++i) {
        const double soft = proximal->lambda * proximal->w[i / 3] * (r[i] - proximal->center[i]);
        sum += soft * soft;
    }
    return sum;
}

/* r becomes the center. */
static void moveCenter(spragProximal *proximal, const double *r)
{
    const spragProblem *problem = proximal->problem;
    memcpy(proximal->center, r, 3 * (size_t)problem->contact_count * sizeof *r);
    if (proximal->lag == 0)
        return;
    const double *u = spragProximalMotion(proximal, r);
    for (int k = 0; k < problem->contact_count; ++k)
        proximal->slide[k] = problem->mu[k] * spragNorm2(u + 3 * k + 1);
}

/* 1: the time is up, or would be before half of another step, if that takes as long as the last one: of some hundred
 * blocks one takes 0.3 to 1 ms.  last: when this was asked in the same problem, 0: not yet. */
static int isLate(spragProximal *proximal, double deadline, double *last)
{
    if (!(deadline > 0))
        return 0;
    const double now = spragSeconds();
    if (*last > 0)
        proximal->took = now - *last;
    *last = now;
    return now + proximal->took / 2 > deadline;
}

/* Full steps on the problem of the present center and lambda; 1: solved well enough to move the center. */
static int proximalProblem(spragProximal *proximal, const spragStop *stop, double *r, int *inner)
{
    const double first = evaluate(proximal, r);
    const int large = proximal->problem->contact_count > CHEAP;
    const double most = proximal->patient ? 0 : (large ? LOST : LOST_FEW) * stop->tolerance, lost = most * most;
    const double share = large ? INNER_SHARE_MORE : INNER_SHARE,
                 sure = fmax(SURE * stop->tolerance, proximal->rounding);
    double least = INFINITY, last = 0;
    int stalled = 0;
    for (*inner = 0; *inner < stop->limit && !isLate(proximal, stop->deadline, &last);) {
        const double merit = newtonStep(proximal, r);
        ++*inner;
        if (!(merit < (proximal->warm ? fmax(DIVERGED_WARM * first, lost) : DIVERGED * first)))
            return 0;
        if (merit <= sure * sure || merit <= share * proximalDistance(proximal, r))
            return 1;
        stalled = merit < FALLS * least ? 0 : stalled + 1;
        if (stalled == 0)
            least = merit;
        else if (large && stalled == INNER_ROUND)
            return 0;
    }
    return 0;
}

spragStatus spragProximalPoints(spragProximal *proximal, double lambda, const spragStop *stop, double *r,
                                int *iterations)
{
    const size_t bytes = 3 * (size_t)proximal->problem->contact_count * sizeof *r;
    proximal->lambda = lambda;
    proximal->lag = lambda < LAMBDA_JUMP ? 0 : proximal->lag_first;
    double fall = LAMBDA_FALL;
    int looked = 0;
    double then = INFINITY; /* the best at the last look */
    for (int count = 0;;) {
        /* the first point may be the best so far, which has been judged */
        const int judged = count == 0 && memcmp(r, proximal->best, bytes) == 0;
        const double residual = judged ? proximal->best_residual : residualAt(proximal, r);
        const int stalls =
            count > 0 && proximal->best_residual <= proximal->stall && !(residual < STALLED * proximal->best_residual);
        if (residual < proximal->best_residual) {
            proximal->best_residual = residual;
            memcpy(proximal->best, r, bytes);
        }
        if (residual <= stop->tolerance)
            return SPRAG_OK;
        if (spragIsLate(stop->deadline))
            return SPRAG_LIMIT;
        const int looks = count == 0 || (proximal->look > 0 && count >= looked + proximal->look),
                  in_vain = looks && count > 0 && !(proximal->best_residual <= LOOK_GAIN * then);
        if (looks)
            then = proximal->best_residual, looked = count;
        if (count >= stop->limit || stalls || in_vain || isnan(residual)) /* no start: there is no way back from it */
            return SPRAG_NOT_CONVERGED;
        moveCenter(proximal, r);
        proximal->warm = proximal->lambda < LAMBDA_JUMP && (count == 0 || !proximal->patient);
        int inner;
        spragStop within = *stop;
        within.limit = stop->limit - count < INNER_MAX ? stop->limit - count : INNER_MAX;
        const int solved = proximalProblem(proximal, &within, r, &inner);
        count += inner;
        *iterations += inner;
        if (!solved) {
            memcpy(r, proximal->center, bytes);
            fall = count > SHORT ? LAMBDA_FALL_SLOW : fall;
            proximal->lambda =
                proximal->lambda < LAMBDA_JUMP ? LAMBDA_RETRY : fmin(LAMBDA_RISE * proximal->lambda, LAMBDA_MOST);
            proximal->lag = fmin(1, fmax(LAG_RISE * proximal->lag, proximal->lag_first));
        } else if (inner <= INNER_EASY) {
            proximal->lambda = fmax(fall * proximal->lambda, LAMBDA_LEAST);
            proximal->lag = LAG_FALL * proximal->lag < LAG_LEAST ? 0 : LAG_FALL * proximal->lag;
        }
    }
}

/* A step from r with the factors at hand, taken back if the judge does not like it.  What it reaches. */
static double chordStep(spragProximal *proximal, double residual, double *r)
{
    const size_t bytes = 3 * (size_t)proximal->problem->contact_count * sizeof *r;
    memcpy(proximal->center, r, bytes);
    evaluate(proximal, r);
    takeStep(proximal, r);
    const double reached = residualAt(proximal, r);
    proximal->factored = reached < CHORD_GAIN * residual;
    if (!(reached < residual))
        memcpy(r, proximal->center, bytes);
    return reached;
}

/* Proximal points, each from the best so far.  A first step that ends the motion moves hyperstatic forces too, and some
 * contacts that are nearly open, or near the edge of their cone, must change their modes for that: the next steps of
 * the same point see to it, and it ends as soon as the judge likes what is reached.  If he never does it is taken back,
 * and the next is held closer.  Of walls and piles: an arch likes the points above better. */
static double polishSteps(spragProximal *proximal, double enough, double residual, int limit, double *r,
                          int *iterations)
{
    const size_t bytes = 3 * (size_t)proximal->problem->contact_count * sizeof *r;
    proximal->lambda = LAMBDA_POLISH_MANY;
    int steps = 0;
    while (steps < limit && residual > enough && proximal->lambda <= LAMBDA_MOST && !spragIsLate(proximal->deadline)) {
        memcpy(proximal->center, r, bytes);
        evaluate(proximal, r);
        double reached = INFINITY;
        const int end = steps + INNER_POLISH < limit ? steps + INNER_POLISH : limit;
        for (; steps < end && !(reached < residual) && !spragIsLate(proximal->deadline); ++steps) {
            newtonStep(proximal, r);
            ++*iterations;
            reached = residualAt(proximal, r);
        }
        if (reached < residual) {
            residual = reached;
        } else {
            memcpy(r, proximal->center, bytes);
            proximal->lambda *= LAMBDA_HOLD;
        }
    }
    for (int k = 0; k < CHORDS_MAX && proximal->factored && residual <= enough && !spragIsLate(proximal->deadline); ++k)
        residual = fmin(residual, chordStep(proximal, residual, r)); /* to rounding: a pile rests longer from there */
    return residual;
}

double spragProximalPolish(spragProximal *proximal, double tolerance, double residual, double *r, int *iterations)
{
    const size_t bytes = 3 * (size_t)proximal->problem->contact_count * sizeof *r;
    const int cheap = proximal->problem->contact_count <= CHEAP;
    const double enough = SPRAG_EXACT * tolerance,
                 stall = cheap && spragProblemIsPlain(proximal->problem) ? STALL * tolerance : 0;
    int stalls = 0;
    proximal->lag = 0;
    for (int round = 0;
         round < CHORDS_MAX && proximal->factored && residual > enough && !spragIsLate(proximal->deadline); ++round) {
        const double reached = chordStep(proximal, residual, r);
        stalls = residual <= stall && !(reached < STALLED * residual);
        residual = fmin(residual, reached);
    }
    if (residual > enough && !cheap)
        return polishSteps(proximal, enough, residual, 3 * POLISH_STEPS, r, iterations);
    if (residual > enough && !stalls && !spragIsLate(proximal->deadline)) {
        memcpy(proximal->best, r, bytes);
        proximal->best_residual = residual;
        proximal->factored = 0;
        proximal->stall = stall;
        proximal->rounding = spragProblemRounding(proximal->problem, r);
        const spragStop stop = {.tolerance = enough, .deadline = proximal->deadline, .limit = POLISH_STEPS};
        const int few = proximal->problem->contact_count <= FEW;
        spragProximalPoints(proximal, few ? LAMBDA_POLISH : LAMBDA_POLISH_MORE, &stop, r, iterations);
        proximal->stall = proximal->rounding = 0;
        memcpy(r, proximal->best, bytes);
        residual = proximal->best_residual;
    }
    return residual;
}
