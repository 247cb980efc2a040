#include "solve/greedy.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/prefetch.h"
#include "linalg/oct.h"
#include "linalg/vec3.h"
#include "problem/creep.h"
#include "problem/residual.h"
#include "solve/greedy_lanes.h"

#define GAIN_LEAST 0.03 /* a contact that was open, or content, is not forgotten */
#define GAIN_FIRST 0.5
#define LONG_ENOUGH 0.9   /* of itself: a guess that is right but for its last digits is left alone */
#define ACCURACY 1e-2     /* of slip multipliers: the next visit goes on from there */
#define STIFF_LEAST 1e-13 /* of the trace: what a direction that cannot move is given, */
#define STIFF_SINGLE 1e-6 /* and in single precision */
enum {
    CLOCK = 256,      /* visits between two looks at it */
    AHEAD = 3,        /* visits, of what is fetched */
    AHEAD_SHARED = 6, /* the same where others do some of them */
    AHEAD_BODIES = 8, /* contacts that are looked at one after the other, of whose bodies are */
    LANES_FEW = 8,    /* visits of each contact, below which the way into the lanes is not worth it, */
    SWEEPS_MANY = 24, /* or sweeps are not */
    ROOT_STEP_MAX = 40,
    PART_BODIES = 2000, /* bodies lie much in the order in which they were made: few contacts are between so many */
    PARTS_LEAST = 2,
    PARTS_MOST = 8,
    ROUND_SHARED = 256,   /* visits, in some 20 us */
    SUM_SHARED = 512,     /* contacts of a sum, in some 10 us */
    PAIR = 2 * SPRAG_QUAD /* contacts that are looked at together */
};

static int paddedCount(int count)
{
    return (count + PAIR - 1) / PAIR * PAIR;
}

int spragGreedyInit(spragGreedy *greedy, int contact_count, int body_count, spragArena *arena)
{
    *greedy = (spragGreedy){.contact_count = contact_count, .body_count = body_count, .arena = arena};
    greedy->contact = SPRAG_TAKE_RAW(arena, spragGreedyContact, contact_count);
    greedy->body = SPRAG_TAKE_RAW(arena, spragGreedyBody, body_count + 1);
    const int padded = paddedCount(contact_count);
    greedy->seen = SPRAG_TAKE_RAW(arena, double, padded);
    greedy->gain = SPRAG_TAKE_RAW(arena, double, padded);
    greedy->pair = spragArenaTakeRaw(arena, (size_t)padded, sizeof *greedy->pair);
    greedy->list = SPRAG_TAKE_RAW(arena, int, padded);
    greedy->part = SPRAG_TAKE_RAW(arena, unsigned char, padded);
    greedy->part_count = body_count / PART_BODIES < PARTS_LEAST  ? PARTS_LEAST
                         : body_count / PART_BODIES > PARTS_MOST ? PARTS_MOST
                                                                 : body_count / PART_BODIES;
    greedy->part_each = (double)greedy->part_count / body_count;
    greedy->best = SPRAG_TAKE_RAW(arena, double, 3 * contact_count);
    greedy->moved = SPRAG_TAKE_RAW(arena, double, body_count + 1);
    return greedy->contact != NULL && greedy->body != NULL && greedy->seen != NULL && greedy->gain != NULL &&
           greedy->pair != NULL && greedy->moved != NULL && greedy->list != NULL && greedy->part != NULL &&
           greedy->best != NULL;
}

int spragGreedyWiden(spragGreedy *greedy)
{
    if (greedy->lanes == NULL && greedy->contact_count >= SPRAG_LANES_LEAST)
        greedy->lanes = spragGreedyLanesTake(greedy->contact_count, greedy->body_count, greedy->arena);
    return greedy->lanes != NULL || greedy->contact_count < SPRAG_LANES_LEAST;
}

/* ---------------------------------------------------------------- products */

/* All rows are aligned: the arena aligns the arrays, and their elements are multiples of 32 bytes. */
_Static_assert(sizeof(spragGreedyBody) % sizeof(spragQuad) == 0, "rows of bodies are aligned");
_Static_assert(sizeof(spragGreedyContact) % sizeof(spragQuad) == 0, "rows of contacts are aligned");
#define ROW(x) (*(const spragQuad *)(const void *)(x))
#define CHANGE(x) (*(spragQuad *)(void *)(x))
#define LANE_ROW(x) (*(spragOctRow *)(void *)(x))
#define INLINE SPRAG_QUAD_INLINE
#define TURNED(x) __builtin_shufflevector(x, x, 1, 2, 0, 3)

/* a x b, turned by one place: (z, x, y). */
INLINE spragQuad crossTurned(spragQuad a, spragQuad b)
{
    return a * TURNED(b) - TURNED(a) * b;
}

/* The sums of three vectors whose fourth numbers are zero. */
INLINE spragQuad sums(spragQuad a, spragQuad b, spragQuad c)
{
    const spragQuad ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const spragQuad cc = __builtin_shufflevector(c, c, 0, 4, 2, 6) + __builtin_shufflevector(c, c, 1, 5, 3, 7);
    return __builtin_shufflevector(ab, cc, 0, 1, 4, 5) + __builtin_shufflevector(ab, cc, 2, 3, 6, 7);
}

/* J_k v */
INLINE spragQuad motion(const spragGreedyContact *c, const spragGreedyBody *a, const spragGreedyBody *b)
{
    const spragQuad turning =
        crossTurned(ROW(a->velocity[1]), ROW(c->arm[0])) - crossTurned(ROW(b->velocity[1]), ROW(c->arm[1]));
    const spragQuad v = ROW(a->velocity[0]) - ROW(b->velocity[0]) + TURNED(turning);
    return sums(ROW(c->direction[0]) * v, ROW(c->direction[1]) * v, ROW(c->direction[2]) * v);
}

/* M^-1 J_k^T r into the velocities */
INLINE void push(const spragGreedyContact *c, const double r[3], spragGreedyBody *a, spragGreedyBody *b)
{
    const spragQuad p = ROW(c->direction[0]) * r[0] + ROW(c->direction[1]) * r[1] + ROW(c->direction[2]) * r[2];
    const spragQuad s = crossTurned(ROW(c->arm[0]), p), t = crossTurned(ROW(c->arm[1]), p);
    CHANGE(a->velocity[0]) += p * a->inverse_mass;
    CHANGE(b->velocity[0]) -= p * b->inverse_mass;
    CHANGE(a->velocity[1]) +=
        ROW(a->inverse_inertia[0]) * s[1] + ROW(a->inverse_inertia[1]) * s[2] + ROW(a->inverse_inertia[2]) * s[0];
    CHANGE(b->velocity[1]) -=
        ROW(b->inverse_inertia[0]) * t[1] + ROW(b->inverse_inertia[1]) * t[2] + ROW(b->inverse_inertia[2]) * t[0];
}

void spragGreedyMotion(const spragGreedy *greedy, int contact, double u[3])
{
    const spragGreedyContact *c = &greedy->contact[contact];
    const spragQuad sum = motion(c, &greedy->body[c->body[0]], &greedy->body[c->body[1]]);
    u[0] = sum[0], u[1] = sum[1], u[2] = sum[2];
}

/* What single precision has come to. */
INLINE void fromLane(spragGreedy *greedy, int k)
{
    const spragGreedyLanes *lanes = greedy->lanes;
    spragGreedyContact *c = &greedy->contact[k];
    CHANGE(c->r) = __builtin_convertvector(LANE_ROW(lanes->contact[k].r[lanes->current]), spragQuad);
    c->nu = c->r[3];
    c->r[3] = 0;
    greedy->gain[k] = (double)lanes->gain[k];
}

INLINE void askBodies(const spragGreedy *greedy, int k, size_t bytes)
{
    for (int side = 0; side < 2 && k < greedy->contact_count; ++side)
        spragPrefetch(&greedy->body[greedy->contact[k].body[side]], bytes);
}

/* ---------------------------------------------------------------- parts */

static int partOf(const spragGreedy *greedy, const int pair[2])
{
    const double each = greedy->part_each;
    const int first = (int)(each * pair[0]), second = (int)(each * pair[1]), world = greedy->body_count;
    return first == second || pair[1] == world ? first : pair[0] == world ? second : greedy->part_count;
}

/* Is the contact of parts first .. end - 1?  Part part_count is what is between two. */
INLINE int isOf(const spragGreedy *greedy, int k, int first, int end)
{
    return greedy->part[k] >= first && greedy->part[k] < end;
}

typedef void PartsFn(void *data, int first, int end);

typedef struct PartsJob {
    PartsFn *run;
    void *data;
} PartsJob;

static void runPart(void *data, int worker, int part)
{
    (void)worker;
    const PartsJob *job = data;
    job->run(job->data, part, part + 1);
}

/* All parts, then what is between them.  Parts have nothing in common: one after the other, or all at once in the order
 * of their contacts, they give the same bits. */
static void runParts(const spragGreedy *greedy, PartsFn *run, void *data)
{
    const int count = greedy->part_count;
    spragPool *pool = spragPoolHere();
    if (pool != NULL)
        spragPoolRun(pool, runPart, &(PartsJob){run, data}, count);
    else
        run(data, 0, count);
    run(data, count, count + 1);
}

typedef struct SumParts {
    spragGreedy *greedy;
    int first, end;
} SumParts;

INLINE void sumParts(const SumParts *own)
{
    spragGreedy *greedy = own->greedy;
    const int ahead = greedy->lanes != NULL && greedy->lanes->ahead, world = greedy->body_count;
    spragGreedyBody still = {0}; /* the world never moves, and is in every part */
    for (int k = 0; k < greedy->contact_count; ++k) {
        if (!isOf(greedy, k, own->first, own->end))
            continue;
        const spragGreedyContact *c = &greedy->contact[k];
        askBodies(greedy, k + AHEAD_BODIES, sizeof *greedy->body);
        if (ahead)
            fromLane(greedy, k);
        if (c->r[0] != 0 || c->r[1] != 0 || c->r[2] != 0)
            push(c, c->r, c->body[0] < world ? &greedy->body[c->body[0]] : &still,
                 c->body[1] < world ? &greedy->body[c->body[1]] : &still);
    }
}

SPRAG_QUAD_CLONES(sumRows, sumParts, const SumParts)

static void runSum(void *data, int first, int end)
{
    sumRows(&(SumParts){data, first, end});
}

void spragGreedySum(spragGreedy *greedy)
{
    for (int i = 0; i <= greedy->body_count; ++i)
        memset(greedy->body[i].velocity, 0, sizeof greedy->body[i].velocity);
    if (greedy->contact_count < SUM_SHARED)
        runSum(greedy, 0, greedy->part_count + 1);
    else
        runParts(greedy, runSum, greedy);
    if (greedy->lanes != NULL)
        greedy->lanes->ahead = 0;
}

/* ---------------------------------------------------------------- what a contact is */

/* Adds [x]^T I^-1 [x], the response in translation of a point at arm x to impulses on it, by columns. */
INLINE void addTurning(const spragGreedyBody *body, spragQuad x, spragQuad response[3])
{
    const spragQuad h[3] = {ROW(body->inverse_inertia[1]) * x[2] - ROW(body->inverse_inertia[2]) * x[1],
                            ROW(body->inverse_inertia[2]) * x[0] - ROW(body->inverse_inertia[0]) * x[2],
                            ROW(body->inverse_inertia[0]) * x[1] - ROW(body->inverse_inertia[1]) * x[0]};
    for (int j = 0; j < 3; ++j) {
        const spragQuad turned = crossTurned(h[j], x);
        response[j] += TURNED(turned);
    }
}

/* A direction without a row is given the mean of the others, as W has it (ode/delassus.c). */
INLINE void fillEmpty(spragGreedyContact *c)
{
    double mean = 0;
    int used = 0;
    for (int i = 0; i < 3; ++i)
        mean += c->own[i][i] + c->own[i][3], used += c->own[i][i] + c->own[i][3] > 0;
    for (int i = 0; i < 3 && used < 3; ++i)
        if (!(c->own[i][i] + c->own[i][3] > 0))
            c->own[i][3] = used > 0 ? mean / used : 1;
}

INLINE void fillContact(const spragGreedy *greedy, spragGreedyContact *c)
{
    spragQuad response[3] = {{0}, {0}, {0}};
    double trace = 0;
    c->arm[0][3] = c->arm[1][3] = 0;
    for (int side = 0; side < 2; ++side) {
        const spragGreedyBody *body = &greedy->body[c->body[side]];
        response[0][0] += body->inverse_mass, response[1][1] += body->inverse_mass,
            response[2][2] += body->inverse_mass;
        addTurning(body, ROW(c->arm[side]), response);
        const double sum = response[0][0] + response[1][1] + response[2][2];
        c->arm[side][3] = (sum - trace) / 3;
        trace = sum;
    }
    double compliance[3];
    for (int j = 0; j < 3; ++j) {
        const double *d = c->direction[j];
        const spragQuad moved = response[0] * d[0] + response[1] * d[1] + response[2] * d[2];
        compliance[j] = c->own[j][3];
        CHANGE(c->own[j]) =
            sums(ROW(c->direction[0]) * moved, ROW(c->direction[1]) * moved, ROW(c->direction[2]) * moved);
    }
    for (int j = 0; j < 3; ++j)
        c->own[j][3] = compliance[j];
    fillEmpty(c);
    c->inverse_nn = 1 / (c->own[0][0] + c->own[0][3]);
    c->K[0] = c->own[1][1] + c->own[1][3] - c->own[0][1] * c->own[0][1] * c->inverse_nn;
    c->K[1] = c->own[1][2] - c->own[0][1] * c->own[0][2] * c->inverse_nn;
    c->K[2] = c->own[2][2] + c->own[2][3] - c->own[0][2] * c->own[0][2] * c->inverse_nn;
    const double least = STIFF_LEAST * (c->K[0] + c->K[2] + 1 / c->inverse_nn);
    if (c->K[0] * c->K[2] - c->K[1] * c->K[1] < least * (c->K[0] + c->K[2] + least))
        c->K[0] += least, c->K[2] += least;
    c->inverse_det = 1 / (c->K[0] * c->K[2] - c->K[1] * c->K[1]);
}

/* The same in single precision. */
INLINE void fillLane(const spragGreedyContact *c, spragLaneContact *to)
{
    for (int i = 0; i < 3; ++i)
        LANE_ROW(to->direction[i]) = __builtin_convertvector(ROW(c->direction[i]), spragOctRow);
    for (int side = 0; side < 2; ++side)
        LANE_ROW(to->arm[side]) = __builtin_convertvector(ROW(c->arm[side]), spragOctRow);
    const spragQuad first = {c->own[0][0] + c->own[0][3], c->own[0][1], c->own[0][2], c->own[1][1]};
    const spragQuad rest = {c->own[1][2], c->own[2][2], c->own[0][0], c->inverse_nn};
    LANE_ROW(to->own[0]) = __builtin_convertvector(first, spragOctRow);
    LANE_ROW(to->own[1]) = __builtin_convertvector(rest, spragOctRow);
    const double least = STIFF_SINGLE * (c->K[0] + c->K[2] + first[0]);
    const double more = c->K[0] * c->K[2] - c->K[1] * c->K[1] < least * (c->K[0] + c->K[2] + least) ? least : 0;
    to->direction[0][3] = (float)(c->K[0] + more);
    to->direction[1][3] = (float)c->K[1];
    to->direction[2][3] = (float)(c->K[2] + more);
}

typedef struct Range {
    spragGreedy *greedy;
    int first, end;
} Range;

INLINE void fillRange(const Range *range)
{
    spragGreedy *greedy = range->greedy;
    for (int k = range->first; k < range->end; ++k) {
        fillContact(greedy, &greedy->contact[k]);
        memcpy(greedy->pair[k], greedy->contact[k].body, sizeof greedy->pair[k]);
        greedy->part[k] = (unsigned char)partOf(greedy, greedy->pair[k]);
        if (greedy->lanes != NULL)
            fillLane(&greedy->contact[k], &greedy->lanes->contact[k]);
    }
}

SPRAG_QUAD_CLONES(fillRows, fillRange, const Range)

void spragGreedyFill(spragGreedy *greedy, int first, int end)
{
    const Range range = {greedy, first, end};
    fillRows(&range);
}

INLINE void fillLanesOf(spragGreedy *greedy)
{
    for (int k = 0; k < greedy->contact_count; ++k)
        fillLane(&greedy->contact[k], &greedy->lanes->contact[k]);
}

SPRAG_QUAD_CLONES(fillLanes, fillLanesOf, spragGreedy)

/* ---------------------------------------------------------------- visits */

/* On the cone and with u_n = 0, as in solve/cone_block.h, but the slip multiplier only to ACCURACY. */
INLINE void slipRoughly(spragGreedyContact *c, const double q[3], const double free[2], double r[3])
{
    const double w[2] = {c->own[0][1], c->own[0][2]}, mu = c->mu;
    double lo = 0, hi = INFINITY, nu = c->nu, size = 0, t[2] = {0, 0};
    for (int step = 0; step < ROOT_STEP_MAX; ++step) {
        const double a = c->K[0] + nu, d = c->K[2] + nu, scale = -1 / (a * d - c->K[1] * c->K[1]);
        t[0] = scale * (d * free[0] - c->K[1] * free[1]);
        t[1] = scale * (a * free[1] - c->K[1] * free[0]);
        const double square = t[0] * t[0] + t[1] * t[1];
        size = sqrt(square);
        const double normal = -(q[0] + w[0] * t[0] + w[1] * t[1]) * c->inverse_nn, excess = mu * normal - size;
        *(excess < 0 ? &lo : &hi) = nu;
        const double dt[2] = {scale * (d * t[0] - c->K[1] * t[1]), scale * (a * t[1] - c->K[1] * t[0])};
        const double dnormal = -(w[0] * dt[0] + w[1] * dt[1]) * c->inverse_nn;
        double next = nu - square * excess / (mu * (dnormal * square - normal * (t[0] * dt[0] + t[1] * dt[1])));
        if (!(next >= lo && next <= hi && next < INFINITY)) { /* equal: nu is the root */
            if (hi < INFINITY)
                next = lo > 0 ? sqrt(lo * hi) : 0.125 * hi;
            else
                next = 4 * nu + c->K[0] + c->K[2];
        }
        nu = next;
        if (fabs(excess) < ACCURACY * size)
            break;
    }
    c->nu = nu;
    const double e[2] = {t[0] / size, t[1] / size};
    const double along = 1 / c->inverse_nn + mu * (w[0] * e[0] + w[1] * e[1]);
    double normal = -q[0] / along;
    if (!(along > 0 && normal > 0)) /* a branch of negative slope: keep what the root says */
        normal = size / mu;
    r[0] = normal, r[1] = mu * normal * e[0], r[2] = mu * normal * e[1];
}

INLINE void solveRoughly(spragGreedyContact *c, const double q[3], double r[3])
{
    const double ratio = q[0] * c->inverse_nn, *w = &c->own[0][1];
    r[0] = r[1] = r[2] = 0;
    if (q[0] >= 0)
        return;
    if (!(c->mu > 0)) {
        r[0] = -ratio;
        return;
    }
    const double free[2] = {q[1] - w[0] * ratio, q[2] - w[1] * ratio};
    r[1] = (c->K[1] * free[1] - c->K[2] * free[0]) * c->inverse_det;
    r[2] = (c->K[1] * free[0] - c->K[0] * free[1]) * c->inverse_det;
    r[0] = -(q[0] + w[0] * r[1] + w[1] * r[2]) * c->inverse_nn;
    if (r[0] < 0 || r[1] * r[1] + r[2] * r[2] > c->mu * c->mu * r[0] * r[0])
        slipRoughly(c, q, free, r);
}

/* Returns |dr_k|, N s. */
INLINE double visit(spragGreedyContact *c, spragGreedyBody *a, spragGreedyBody *b)
{
    const spragQuad sum =
        motion(c, a, b) + ROW(c->q) - (ROW(c->own[0]) * c->r[0] + ROW(c->own[1]) * c->r[1] + ROW(c->own[2]) * c->r[2]);
    const double q[3] = {sum[0], sum[1], sum[2]};
    double fresh[3];
    solveRoughly(c, q, fresh);
    const double change[3] = {fresh[0] - c->r[0], fresh[1] - c->r[1], fresh[2] - c->r[2]};
    memcpy(c->r, fresh, sizeof fresh);
    push(c, change, a, b);
    return sqrt(spragDot3(change, change));
}

typedef struct Round {
    spragGreedy *greedy;
    double threshold, deadline;
    long least;
    double greatest; /* m/s, seen pending */
    int count;       /* of what had more than the threshold pending */
} Round;

/* moved of one body of each of four contacts */
INLINE spragQuad movedOf(const double *moved, int (*const pair)[2], int side)
{
    return (spragQuad){moved[pair[0][side]], moved[pair[1][side]], moved[pair[2][side]], moved[pair[3][side]]};
}

/* Lists what has more than the threshold pending. */
INLINE void listRound(Round *round)
{
    const spragGreedy *greedy = round->greedy;
    const double *const moved = greedy->moved;
    const spragQuad threshold = spragQuadOf(round->threshold);
    spragQuad greatest = {0};
    int count = 0, *const list = greedy->list;
    for (int k = 0; k < greedy->contact_count; k += PAIR) {
        spragQuadMask above[2];
        for (int part = 0; part < 2; ++part) {
            const int first = k + part * SPRAG_QUAD;
            int(*const pair)[2] = greedy->pair + first;
            const spragQuad hope = ROW(greedy->gain + first) *
                                   (movedOf(moved, pair, 0) + movedOf(moved, pair, 1) - ROW(greedy->seen + first));
            greatest = spragQuadMax(hope, greatest);
            above[part] = hope > threshold;
        }
        if (!spragQuadAny(above[0] | above[1]))
            continue;
        for (int i = 0; i < PAIR; ++i) {
            list[count] = k + i;
            count -= (int)above[i / SPRAG_QUAD][i % SPRAG_QUAD];
        }
    }
    round->count = count;
    round->greatest = fmax(fmax(greatest[0], greatest[1]), fmax(greatest[2], greatest[3]));
}

INLINE void askVisit(const spragGreedy *greedy, int k)
{
    spragPrefetch(&greedy->contact[k], sizeof *greedy->contact);
    for (int side = 0; side < 2; ++side)
        spragPrefetch(&greedy->body[greedy->pair[k][side]], sizeof *greedy->body);
}

/* body, moved: of the contact's bodies. */
INLINE void visitContact(spragGreedy *greedy, int k, spragGreedyBody *const body[2], double *const moved[2])
{
    spragGreedyContact *c = &greedy->contact[k];
    const double pending = *moved[0] + *moved[1] - greedy->seen[k];
    const double size = visit(c, body[0], body[1]);
    *moved[0] += size * c->arm[0][3];
    *moved[1] += size * c->arm[1][3];
    greedy->seen[k] = *moved[0] + *moved[1];
    const double gain = pending > 0 ? size * (c->arm[0][3] + c->arm[1][3]) / pending : GAIN_FIRST;
    greedy->gain[k] = gain > GAIN_LEAST ? gain : GAIN_LEAST;
}

/* Visits them, if not too late. */
INLINE void visitRound(Round *round)
{
    spragGreedy *greedy = round->greedy;
    double *const moved = greedy->moved;
    long visits = greedy->visits, look = visits + CLOCK;
    for (int i = 0; i < round->count; ++i) {
        const int k = greedy->list[i], *pair = greedy->pair[k];
        if (i + AHEAD < round->count)
            askVisit(greedy, greedy->list[i + AHEAD]);
        visitContact(greedy, k, (spragGreedyBody *[2]){&greedy->body[pair[0]], &greedy->body[pair[1]]},
                     (double *[2]){&moved[pair[0]], &moved[pair[1]]});
        if (++visits >= look) {
            look = visits + CLOCK;
            if (visits >= round->least && spragSeconds() > round->deadline)
                break;
        }
    }
    greedy->visits = visits;
}

typedef struct RoundParts {
    const Round *round;
    int first, end;
} RoundParts;

INLINE void visitParts(const RoundParts *own)
{
    spragGreedy *greedy = own->round->greedy;
    const int count = own->round->count, *const list = greedy->list;
    spragGreedyBody world = greedy->body[greedy->body_count]; /* it never moves, and is in every part */
    double world_moved = 0;
    for (int i = 0; i < count; ++i) {
        const int k = list[i], *pair = greedy->pair[k];
        if (i + AHEAD_SHARED < count && isOf(greedy, list[i + AHEAD_SHARED], own->first, own->end))
            askVisit(greedy, list[i + AHEAD_SHARED]);
        if (!isOf(greedy, k, own->first, own->end))
            continue;
        spragGreedyBody *body[2];
        double *moved[2];
        for (int side = 0; side < 2; ++side) {
            const int moves = pair[side] < greedy->body_count;
            body[side] = moves ? &greedy->body[pair[side]] : &world;
            moved[side] = moves ? &greedy->moved[pair[side]] : &world_moved;
        }
        visitContact(greedy, k, body, moved);
    }
}

SPRAG_QUAD_CLONES(listRows, listRound, Round)
SPRAG_QUAD_CLONES(visitRows, visitRound, Round)
SPRAG_QUAD_CLONES(visitPartsRows, visitParts, const RoundParts)

static void runVisits(void *data, int first, int end)
{
    visitPartsRows(&(RoundParts){data, first, end});
}

static Round runRound(spragGreedy *greedy, double threshold, long least, double deadline)
{
    Round round = {.greedy = greedy, .threshold = threshold, .deadline = deadline, .least = least};
    listRows(&round);
    if (deadline < INFINITY || round.count < ROUND_SHARED) {
        visitRows(&round);
        return round;
    }
    runParts(greedy, runVisits, &round);
    greedy->visits += round.count;
    return round;
}

typedef struct JudgedSums {
    double worst, creep; /* m/s */
    double work, square; /* J, r.q and r.W r */
} JudgedSums;

/* Of all contacts: what each may gain by a visit is its residual from now on. */
typedef struct Judgement {
    spragGreedy *greedy;
    double *u, *others; /* as in greedy.h, or NULL */
    JudgedSums sums, range[SPRAG_RANGES_MOST];
} Judgement;

/* sum: m/s, q + J v */
INLINE void toLane(spragGreedy *greedy, int k, spragQuad sum, double residual)
{
    const spragGreedyContact *c = &greedy->contact[k];
    spragLaneContact *to = &greedy->lanes->contact[k];
    spragQuad r = ROW(c->r);
    sum[3] = c->mu;
    r[3] = c->nu;
    LANE_ROW(to->q) = __builtin_convertvector(sum, spragOctRow);
    LANE_ROW(to->r[0]) = LANE_ROW(to->r[1]) = __builtin_convertvector(r, spragOctRow);
    greedy->lanes->gain[k] = (float)greedy->gain[k];
    greedy->lanes->seen[k] = (float)(-residual / greedy->gain[k]);
}

/* What a range of contacts adds to it. */
typedef struct JudgedRange {
    const Judgement *all;
    int first, end;
    JudgedSums own;
} JudgedRange;

INLINE void judgeAll(JudgedRange *range)
{
    const Judgement *all = range->all;
    JudgedSums *own = &range->own;
    spragGreedy *greedy = all->greedy;
    for (int k = range->first; k < range->end; ++k) {
        const spragGreedyContact *c = &greedy->contact[k];
        askBodies(greedy, k + AHEAD_BODIES, sizeof c->q);
        const spragQuad moved = motion(c, &greedy->body[c->body[0]], &greedy->body[c->body[1]]),
                        sum = moved + ROW(c->q);
        double u[3], trace = 0;
        for (int i = 0; i < 3; ++i) {
            u[i] = sum[i] + c->own[i][3] * c->r[i];
            trace += c->own[i][i] + c->own[i][3];
        }
        const double residual = spragContactResidual(c->mu, c->r, u, trace / 3);
        own->creep = fmax(own->creep, spragContactCreep(c->mu, c->r, u));
        if (all->u != NULL)
            memcpy(all->u + 3 * k, u, sizeof u);
        if (all->others != NULL)
            all->others[k] = moved[0] - (c->own[0][0] * c->r[0] + c->own[1][0] * c->r[1] + c->own[2][0] * c->r[2]);
        own->work += spragDot3(c->r, c->q);
        own->square += c->r[0] * moved[0] + c->r[1] * moved[1] + c->r[2] * moved[2];
        greedy->seen[k] = greedy->moved[c->body[0]] + greedy->moved[c->body[1]] - residual / greedy->gain[k];
        if (greedy->lanes != NULL)
            toLane(greedy, k, sum, residual);
        if (!(residual <= own->worst) && !isnan(own->worst)) /* keeps a NaN */
            own->worst = residual;
    }
}

SPRAG_QUAD_CLONES(judgeRows, judgeAll, JudgedRange)

static void judgeRange(void *data, int number, int first, int end)
{
    Judgement *judgement = data;
    JudgedRange range = {.all = judgement, .first = first, .end = end};
    judgeRows(&range);
    judgement->range[number] = range.own;
}

static void keepRange(void *data, int range, int first, int end)
{
    (void)range;
    const spragGreedy *greedy = data;
    for (int k = first; k < end; ++k)
        memcpy(greedy->best + 3 * k, greedy->contact[k].r, 3 * sizeof *greedy->best);
}

static double judge(spragGreedy *greedy, Judgement *judgement)
{
    const int count = greedy->contact_count;
    spragRangesRun(count, judgeRange, judgement);
    for (int k = 0; k < spragRangeCount(count); ++k) {
        const JudgedSums *range = &judgement->range[k];
        JudgedSums *sums = &judgement->sums;
        sums->creep = fmax(sums->creep, range->creep);
        sums->work += range->work;
        sums->square += range->square;
        if (!(range->worst <= sums->worst) && !isnan(sums->worst))
            sums->worst = range->worst;
    }
    greedy->creep = judgement->sums.creep;
    if (greedy->lanes != NULL)
        greedy->lanes->judged = 1;
    if (judgement->sums.worst < greedy->best_residual) {
        greedy->best_residual = judgement->sums.worst;
        if (greedy->best != NULL)
            spragRangesRun(count, keepRange, greedy);
    }
    return judgement->sums.worst;
}

double spragGreedyResidual(spragGreedy *greedy, double *u)
{
    return judge(greedy, &(Judgement){.greedy = greedy, .u = u});
}

/* A guess from another load is made shorter: s r, 0 <= s <= 1, of the least energy
 * s^2 (r.W r) / 2 + s (r.q).  1: it was. */
static int shortenGuess(spragGreedy *greedy, const Judgement *guess)
{
    const double work = guess->sums.work, square = guess->sums.square;
    if (!(square > 0) || -work >= LONG_ENOUGH * square)
        return 0;
    const double scale = fmax(-work / square, 0);
    for (int k = 0; k < greedy->contact_count; ++k) {
        for (int i = 0; i < 3; ++i)
            greedy->contact[k].r[i] *= scale;
        if (guess->others != NULL)
            guess->others[k] *= scale;
    }
    for (int b = 0; b < greedy->body_count; ++b)
        for (int i = 0; i < 4; ++i) {
            greedy->body[b].velocity[0][i] *= scale;
            greedy->body[b].velocity[1][i] *= scale;
        }
    return 1;
}

void spragGreedyBegin(spragGreedy *greedy, double *others, double *u)
{
    spragGreedySum(greedy);
    memset(greedy->moved, 0, ((size_t)greedy->body_count + 1) * sizeof *greedy->moved);
    for (int k = 0; k < paddedCount(greedy->contact_count); ++k)
        greedy->gain[k] = GAIN_FIRST;
    for (int k = greedy->contact_count; k < paddedCount(greedy->contact_count); ++k) {
        memcpy(greedy->pair[k], greedy->pair[greedy->contact_count - 1], sizeof greedy->pair[k]);
        greedy->seen[k] = INFINITY;
    }
    greedy->visits = 0;
    greedy->best_residual = INFINITY;
    if (greedy->lanes != NULL)
        spragGreedyLanesFill(greedy);
    Judgement guess = {.greedy = greedy, .others = others, .u = u};
    judge(greedy, &guess);
    if (shortenGuess(greedy, &guess))
        spragGreedyResidual(greedy, u);
}

double spragGreedyBest(spragGreedy *greedy, double *u)
{
    for (int k = 0; k < greedy->contact_count; ++k)
        memcpy(greedy->contact[k].r, greedy->best + 3 * k, 3 * sizeof *greedy->best);
    spragGreedySum(greedy);
    return spragGreedyResidual(greedy, u);
}

/* Are so many visits left that single precision is worth it, and does it see
 * what is wrong?  Then there is room for it. */
static int isForLanes(spragGreedy *greedy, long visits)
{
    if (visits < (long)LANES_FEW * greedy->contact_count || !(greedy->best_residual > SPRAG_LANES_FLOOR))
        return 0;
    if (greedy->lanes == NULL && spragGreedyWiden(greedy) && greedy->lanes != NULL) {
        fillLanes(greedy);
        spragGreedyLanesFill(greedy);
    }
    return greedy->lanes != NULL && !greedy->lanes->done;
}

void spragGreedyRun(spragGreedy *greedy, double enough, long least, long most, double deadline)
{
    if (isForLanes(greedy, most - greedy->visits)) {
        const double rough = fmax(enough, 0.5 * SPRAG_LANES_FLOOR);
        if (most - greedy->visits >= (long)SWEEPS_MANY * greedy->contact_count) {
            spragGreedyLanesSweep(greedy, rough, most, deadline);
            spragGreedyResidual(greedy, NULL);
        }
        spragGreedyLanesRun(greedy, rough, least, most, deadline);
        greedy->lanes->done = rough > enough && greedy->visits < most;
        return;
    }
    if (greedy->lanes != NULL)
        greedy->lanes->judged = 0;
    double share = SPRAG_GREEDY_SHARE;
    Round round = runRound(greedy, INFINITY, least, deadline);
    while (round.greatest > enough && round.greatest < INFINITY && greedy->visits < most) {
        round = runRound(greedy, share * round.greatest, least, deadline);
        share = spragGreedyShare(share, round.count, greedy->contact_count);
        if (deadline < INFINITY && greedy->visits >= least && spragSeconds() > deadline)
            break;
    }
}
