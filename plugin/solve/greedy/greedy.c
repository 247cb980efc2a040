#include "solve/greedy/greedy.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/pool.h"
#include "linalg/vec3.h"
#include "solve/greedy/greedy_list.h"
#include "solve/greedy/greedy_roll.h"
#include "solve/greedy/greedy_row.h"

#define GAIN_LEAST 0.03 /* a contact that was open, or content, is not forgotten */
#define INLINE SPRAG_QUAD_INLINE
enum {
    CLOCK = 256,        /* visits between two looks at it */
    AHEAD = 3,          /* visits, of what is fetched */
    AHEAD_SHARED = 6,   /* the same where others do some of them; */
    AHEAD_PAIRS = 18,   /* there of what says which bodies these are */
    AHEAD_SUM = 24,     /* contacts of a sum */
    LANES_FEW = 8,      /* visits of each contact, below which the way into the lanes is not worth it, */
    SWEEPS_MANY = 24,   /* or sweeps are not */
    PART_BODIES = 2000, /* bodies lie much in the order in which they were made: few contacts are between so many */
    PARTS_LEAST = 2,    /* of the bodies */
    PARTS_MOST = 8,
    ROUND_SHARED = 256, /* visits, in some 20 us */
    SUM_SHARED = 512    /* contacts of a sum, in some 10 us */
};

int spragGreedyInit(spragGreedy *greedy, int contact_count, int body_count, spragArena *arena)
{
    *greedy = (spragGreedy){.contact_count = contact_count, .body_count = body_count, .arena = arena};
    greedy->contact = SPRAG_TAKE_RAW(arena, spragGreedyContact, contact_count);
    greedy->own = SPRAG_TAKE_RAW(arena, spragGreedyOwn, contact_count);
    greedy->body = SPRAG_TAKE_RAW(arena, spragGreedyBody, body_count + 1);
    const int padded = spragGreedyPadded(contact_count);
    greedy->seen = SPRAG_TAKE_RAW(arena, double, padded);
    greedy->gain = SPRAG_TAKE_RAW(arena, double, padded);
    greedy->pair = spragArenaTakeRaw(arena, (size_t)padded, sizeof *greedy->pair);
    greedy->list = SPRAG_TAKE_RAW(arena, int, padded);
    greedy->greatest = SPRAG_TAKE(arena, double, padded / SPRAG_GREEDY_PAIR + SPRAG_GREEDY_SCAN);
    greedy->part = SPRAG_TAKE_RAW(arena, unsigned char, padded);
    greedy->part_count = body_count / PART_BODIES < PARTS_LEAST  ? PARTS_LEAST
                         : body_count / PART_BODIES > PARTS_MOST ? PARTS_MOST
                                                                 : body_count / PART_BODIES;
    greedy->part_each = (double)greedy->part_count / body_count;
    greedy->best = SPRAG_TAKE_RAW(arena, double, 3 * contact_count);
    greedy->moved = SPRAG_TAKE_RAW(arena, double, body_count + 1);
    return greedy->contact != NULL && greedy->own != NULL && greedy->body != NULL && greedy->seen != NULL &&
           greedy->gain != NULL && greedy->pair != NULL && greedy->moved != NULL && greedy->list != NULL &&
           greedy->greatest != NULL && greedy->part != NULL && greedy->best != NULL;
}

int spragGreedyRolls(spragGreedy *greedy)
{
    greedy->roll = SPRAG_TAKE_RAW(greedy->arena, spragGreedyRoll, greedy->contact_count);
    greedy->best = SPRAG_TAKE_RAW(greedy->arena, double, 6 * greedy->contact_count);
    return greedy->roll != NULL && greedy->best != NULL;
}

int spragGreedyWiden(spragGreedy *greedy)
{
    greedy->many = 1;
    if (greedy->roll != NULL)
        return 1;
    if (greedy->lanes == NULL && greedy->contact_count >= SPRAG_LANES_LEAST)
        greedy->lanes = spragGreedyLanesTake(greedy->contact_count, greedy->body_count, greedy->arena);
    return greedy->lanes != NULL || greedy->contact_count < SPRAG_LANES_LEAST;
}

void spragGreedyMotion(const spragGreedy *greedy, int contact, double u[3])
{
    const int *pair = greedy->pair[contact];
    const spragQuad sum =
        spragGreedyVelocity(&greedy->contact[contact], &greedy->body[pair[0]], &greedy->body[pair[1]]);
    u[0] = sum[0], u[1] = sum[1], u[2] = sum[2];
}

/* ---------------------------------------------------------------- parts */

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

/* What single precision has come to. */
INLINE void fromLane(spragGreedy *greedy, int k)
{
    const spragGreedyLanes *lanes = greedy->lanes;
    SPRAG_ROW_CHANGE(greedy->contact[k].r) = __builtin_convertvector(SPRAG_LANE_ROW(lanes->contact[k].r), spragQuad);
    greedy->gain[k] = (double)lanes->gain[k];
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
        spragGreedyAskBodies(greedy, k + SPRAG_GREEDY_AHEAD, sizeof *greedy->body);
        if (k + AHEAD_SUM < greedy->contact_count)
            spragPrefetch(greedy->contact[k + AHEAD_SUM].direction, offsetof(spragGreedyContact, q));
        if (ahead)
            fromLane(greedy, k);
        const int *pair = greedy->pair[k];
        spragGreedyBody *const a = pair[0] < world ? &greedy->body[pair[0]] : &still, *const b =
                                                                                          pair[1] < world
                                                                                              ? &greedy->body[pair[1]]
                                                                                              : &still;
        if (c->r[0] != 0 || c->r[1] != 0 || c->r[2] != 0)
            spragGreedyPush(c, c->r, a, b);
        if (greedy->roll != NULL)
            spragGreedyTwist(c, &greedy->roll[k], greedy->roll[k].r, a, b);
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

/* ---------------------------------------------------------------- visits */

/* Returns |dr_k|, N s. */
INLINE double visit(spragGreedyContact *c, const spragGreedyOwn *own, spragGreedyBody *a, spragGreedyBody *b)
{
    const spragQuad sum = spragGreedyVelocity(c, a, b) + SPRAG_ROW(c->q) - spragGreedyOwnMotion(c, own, c->r);
    const double q[3] = {sum[0], sum[1], sum[2]};
    double fresh[3];
    spragGreedySolve(c, own, q, fresh);
    const double change[3] = {fresh[0] - c->r[0], fresh[1] - c->r[1], fresh[2] - c->r[2]};
    memcpy(c->r, fresh, sizeof fresh);
    spragGreedyPush(c, change, a, b);
    return sqrt(spragDot3(change, change));
}

typedef struct Round {
    spragGreedy *greedy;
    double threshold, deadline;
    long least;
    double greatest; /* m/s, seen pending */
    int count;       /* of what had more than the threshold pending */
} Round;

INLINE void askVisit(const spragGreedy *greedy, int k)
{
    spragPrefetch(&greedy->contact[k], sizeof *greedy->contact);
    __builtin_prefetch(&greedy->own[k]);
    for (int side = 0; side < 2; ++side)
        spragPrefetch(&greedy->body[greedy->pair[k][side]], sizeof *greedy->body);
}

/* body, moved: of the contact's bodies. */
INLINE void visitContact(spragGreedy *greedy, int k, spragGreedyBody *const body[2], double *const moved[2])
{
    spragGreedyContact *c = &greedy->contact[k];
    const spragGreedyOwn *own = &greedy->own[k];
    const double pending = *moved[0] + *moved[1] - greedy->seen[k];
    spragGreedyRoll *roll = greedy->roll != NULL && greedy->roll[k].mu > 0 ? &greedy->roll[k] : NULL;
    double twisted = 0;
    const double size =
        roll != NULL ? spragGreedyVisitBoth(c, own, roll, body[0], body[1], &twisted) : visit(c, own, body[0], body[1]);
    double change[2] = {size * c->arm[0][3], size * c->arm[1][3]};
    for (int side = 0; side < 2 && roll != NULL; ++side)
        change[side] += twisted * roll->weight[side];
    *moved[0] += change[0];
    *moved[1] += change[1];
    greedy->seen[k] = *moved[0] + *moved[1];
    const double gain = pending > 0 ? (change[0] + change[1]) / pending : SPRAG_GREEDY_GAIN;
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
        if (i + AHEAD_PAIRS < count) {
            const int soon = list[i + AHEAD_PAIRS];
            __builtin_prefetch(greedy->pair[soon]);
            __builtin_prefetch(&greedy->seen[soon]);
        }
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

SPRAG_QUAD_CLONES(visitRows, visitRound, Round)
SPRAG_QUAD_CLONES(visitPartsRows, visitParts, const RoundParts)

static void runVisits(void *data, int first, int end)
{
    visitPartsRows(&(RoundParts){data, first, end});
}

static Round runRound(spragGreedy *greedy, double threshold, long least, double deadline)
{
    Round round = {.greedy = greedy, .threshold = threshold, .deadline = deadline, .least = least};
    round.greatest = spragGreedyList(greedy, threshold);
    round.count = greedy->listed;
    if (deadline < INFINITY || round.count < ROUND_SHARED) {
        visitRows(&round);
        return round;
    }
    runParts(greedy, runVisits, &round);
    greedy->visits += round.count;
    return round;
}

/* Are so many visits left that single precision is worth it, and does it see
 * what is wrong?  Then there is room for it. */
static int isForLanes(spragGreedy *greedy, long visits)
{
    if (greedy->roll != NULL || visits < (long)LANES_FEW * greedy->contact_count ||
        !(greedy->best_residual > SPRAG_LANES_FLOOR))
        return 0;
    if (greedy->lanes == NULL && spragGreedyWiden(greedy) && greedy->lanes != NULL) {
        spragGreedyFillLanes(greedy);
        spragGreedyLanesFill(greedy);
    }
    return greedy->lanes != NULL && !greedy->lanes->done;
}

void spragGreedyRun(spragGreedy *greedy, double enough, long least, long most, double deadline)
{
    if (isForLanes(greedy, most - greedy->visits)) {
        const double rough = fmax(enough, 0.5 * SPRAG_LANES_FLOOR);
        spragGreedyLanesBegin(greedy);
        if (most - greedy->visits >= (long)SWEEPS_MANY * greedy->contact_count)
            spragGreedyLanesSweep(greedy, rough, least, most, deadline);
        spragGreedyLanesRun(greedy, rough, least, most, deadline);
        spragGreedyLanesEnd(greedy);
        greedy->lanes->done = rough > enough && greedy->visits < most;
        return;
    }
    if (greedy->lanes != NULL)
        greedy->lanes->judged = 0;
    if (greedy->roll != NULL && most - greedy->visits >= (long)SWEEPS_MANY * greedy->contact_count &&
        greedy->best_residual > SPRAG_LANES_FLOOR) {
        spragGreedyRollSweep(greedy, most, deadline);
        spragGreedyResidual(greedy, NULL);
    }
    double share = SPRAG_GREEDY_SHARE;
    greedy->listed = -1;
    Round round = runRound(greedy, INFINITY, least, deadline);
    while (round.greatest > enough && round.greatest < INFINITY && greedy->visits < most) {
        round = runRound(greedy, share * round.greatest, least, deadline);
        share = spragGreedyShare(share, round.count, greedy->contact_count);
        if (deadline < INFINITY && greedy->visits >= least && spragSeconds() > deadline)
            break;
    }
}
