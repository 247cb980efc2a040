/* Sweeps with momentum of greedy_lanes.h: all contacts in packs of sixteen that share no body, each number of
 * which lies side by side. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/hex.h"
#include "solve/greedy/greedy.h"
#include "solve/greedy/greedy_lanes.h"

enum {
    OPEN = 64,     /* packs that are filled at a time, */
    PARTS = 6,     /* with contacts of so many parts of the list */
    FILL_LEAST = 4 /* lanes for a contact; where one body touches so many that it takes more, there are no sweeps */
};
/* Beyond it momentum keeps alive what is not convex, as friction is. */
#define MOMENTUM_MOST 0.9

enum { HALVES = SPRAG_PACK / SPRAG_OCT };
typedef struct Sweep {
    const spragGreedyLanes *lanes;
    int body_count, sticks;
    float momentum;
    double along;    /* how much of the changes goes along with those since the last sweep */
    double greatest; /* m/s, of all changes */
} Sweep;

/* ---------------------------------------------------------------- visits */

#define WIDTH 8
#define V spragOct
#define LAW(name) spragOct##name
#define BY(name) name##8
#define LAW_INLINE SPRAG_OCT_INLINE
#define ROWS8 SPRAG_OCT_ROWS
#include "solve/greedy/greedy_law.h"
#include "solve/greedy/greedy_pack.h"
#undef WIDTH
#undef V
#undef LAW
#undef BY
#undef LAW_INLINE

SPRAG_QUAD_CLONES(sweepEights, sweepAll8, Sweep)
SPRAG_QUAD_CLONES(takeEights, takeAll8, const Sweep)
SPRAG_QUAD_CLONES(giveEights, giveAll8, const Sweep)

#if SPRAG_HEX_EXISTS
#define WIDTH 16
#define V spragHex
#define LAW(name) spragHex##name
#define BY(name) name##16
#define LAW_INLINE SPRAG_HEX_INLINE
#define ROWS16 SPRAG_HEX_ROWS
#include "solve/greedy/greedy_law.h"
#include "solve/greedy/greedy_pack.h"
_Static_assert(sizeof(Packed16) == HALVES * sizeof(Packed8), "packs take as much memory either way");

SPRAG_HEX_WIDE static void sweepSixteens(Sweep *sweep)
{
    sweepAll16(sweep);
}
SPRAG_HEX_WIDE static void takeSixteens(const Sweep *sweep)
{
    takeAll16(sweep);
}
SPRAG_HEX_WIDE static void giveSixteens(const Sweep *sweep)
{
    giveAll16(sweep);
}
#define SWEEPS(what, own) (spragHexIsThere() && !(own)->lanes->eights ? what##Sixteens(own) : what##Eights(own))
#else
#define SWEEPS(what, own) what##Eights(own)
#endif

/* ---------------------------------------------------------------- packs */

/* Each contact goes into the first of the open packs that has room and none of its bodies. */
typedef struct Packing {
    const spragGreedyLanes *lanes;
    unsigned long long *busy; /* (body_count + 1) open packs, a bit each, that the body is in, */
    unsigned long long full;  /* that have no room, */
    int filled[OPEN];         /* and how many contacts are in them */
    int first, end, most;     /* packs first .. end - 1 are open; there may be `most` */
    int nobody, world;
} Packing;

/* The first of them is filled no more. */
static void closeFirst(Packing *packing)
{
    const spragGreedyLanes *lanes = packing->lanes;
    const int p = packing->first++, *number = lanes->pack + p * SPRAG_PACK;
    const unsigned long long others = ~(1ULL << p % OPEN);
    packing->full &= others;
    for (int i = 0; i < SPRAG_PACK; ++i) {
        packing->busy[lanes->first[number[i]]] &= others;
        packing->busy[lanes->second[number[i]]] &= others;
    }
}

/* 0: there is no pack for it. */
static int put(Packing *packing, int k)
{
    const int a = packing->lanes->first[k], b = packing->lanes->second[k];
    const unsigned long long taken = packing->busy[a] | packing->busy[b] | packing->full;
    if (taken == ~0ULL)
        closeFirst(packing);
    const int shift = packing->first % OPEN; /* a pack's bit is its number's rest: in their order, */
    const unsigned long long in_order = taken >> shift | taken << (OPEN - shift) % OPEN;
    const int p = packing->first + (taken == ~0ULL ? OPEN - 1 : __builtin_ctzll(~in_order)), own = p % OPEN;
    int *const number = packing->lanes->pack + p * SPRAG_PACK;
    if (p == packing->end) {
        if (packing->end == packing->most)
            return 0;
        ++packing->end;
        packing->filled[own] = 0;
        for (int i = 0; i < SPRAG_PACK; ++i)
            number[i] = packing->nobody;
    }
    number[packing->filled[own]++] = k;
    packing->full |= packing->filled[own] == SPRAG_PACK ? 1ULL << own : 0;
    packing->busy[a] |= 1ULL << own;
    packing->busy[b] |= 1ULL << own;
    packing->busy[packing->world] = 0;
    return 1;
}

/* All contacts in packs, once for all sweeps.  Too many packs, or no memory: none.
 *
 * They come from PARTS parts of the list in turn.  (From its one end to the other, as contacts were made, 125 cubes
 * that touch crept on after their steps were solved, and had W in three to five of 40, for four of five shares of
 * rounds.) */
static void makePacks(spragGreedy *greedy)
{
    spragGreedyLanes *lanes = greedy->lanes;
    const int n = greedy->contact_count;
    Packing packing = {.lanes = lanes,
                       .busy = SPRAG_TAKE(greedy->arena, unsigned long long, greedy->body_count + 1),
                       .most = FILL_LEAST * n / SPRAG_PACK,
                       .nobody = n,
                       .world = greedy->body_count};
    lanes->pack = SPRAG_TAKE_RAW(greedy->arena, int, FILL_LEAST *n);
    lanes->pack_count = -1;
    if (packing.busy == NULL || lanes->pack == NULL)
        return;
    const int each = (n + PARTS - 1) / PARTS;
    for (int i = 0; i < each; ++i)
        for (int k = i; k < n; k += each)
            if (!put(&packing, k))
                return;
    lanes->packed = spragArenaTakeRaw(greedy->arena, (size_t)packing.end * HALVES, sizeof(Packed8));
    if (lanes->packed != NULL)
        lanes->pack_count = packing.end;
}

/* ---------------------------------------------------------------- sweeps */

/* Velocities go on by `momentum` of what the last sweep has changed; the impulses do when they are visited. */
static void goOn(const Sweep *sweep)
{
    const spragGreedyLanes *lanes = sweep->lanes;
    for (int b = 0; b < sweep->body_count; ++b) {
        float *v = lanes->body[b].velocity[0], *before = lanes->before[b][0];
        for (int i = 0; i < 8; ++i) {
            const float now = v[i];
            v[i] = now + sweep->momentum * (now - before[i]);
            before[i] = now;
        }
    }
}

static int anySticks(const spragGreedy *greedy)
{
    for (int k = 0; k < greedy->contact_count; ++k)
        if (!(fabs(greedy->contact[k].mu) <= DBL_MAX))
            return 1;
    return 0;
}

/* Sweeps with momentum, as long as there is time for SWEEPS_LEAST at the beginning. */
static void runSweeps(spragGreedy *greedy, double enough, long least, long most, double until)
{
    enum { SWEEPS_LEAST = 12 };
    spragGreedyLanes *lanes = greedy->lanes;
    Sweep sweep = {.lanes = lanes, .body_count = greedy->body_count, .sticks = anySticks(greedy) ? lanes->sticks : 0};
    double t = 1, begun = spragSeconds();
    const long first = greedy->visits;
    memset(lanes->before, 0, ((size_t)greedy->body_count + 1) * sizeof *lanes->before);
    SWEEPS(take, &sweep);
    while (greedy->visits < most) {
        sweep.along = sweep.greatest = 0;
        goOn(&sweep);
        SWEEPS(sweep, &sweep);
        greedy->visits += greedy->contact_count;
        const double now = spragSeconds();
        const int late = now > until || (greedy->visits == first + greedy->contact_count &&
                                         now + (SWEEPS_LEAST - 1) * (now - begun) > until);
        if ((late && greedy->visits >= least) || sweep.greatest <= enough)
            break;
        if (sweep.along < 0)
            t = 1;
        const double next = 0.5 * (1 + sqrt(1 + 4 * t * t));
        sweep.momentum = (float)fmin((t - 1) / next, MOMENTUM_MOST);
        t = next;
    }
    SWEEPS(give, &sweep);
    lanes->seen[greedy->contact_count] = INFINITY;
}

void spragGreedyLanesSweep(spragGreedy *greedy, double enough, long least, long most, double deadline)
{
    /* Of visits and time: the rest is for rounds, a visit of which takes six times the time, and which find what the
     * worst of balls need.  (1000 balls are left with twice as much with a twentieth.) */
    const double share = spragGreedyIsBalls(greedy) ? 0.9 : 0.95;
    const double now = spragSeconds(), until = now + share * (deadline - now);
    if (greedy->lanes->pack_count == 0)
        makePacks(greedy);
    if (greedy->lanes->pack_count > 0)
        runSweeps(greedy, enough, least, greedy->visits + (long)(share * (double)(most - greedy->visits)), until);
}
