#include "solve/greedy/greedy_lanes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/prefetch.h"
#include "linalg/oct.h"
#include "solve/greedy/greedy.h"

enum {
    LANES = SPRAG_OCT,
    CLOCK = 512 /* visits between two looks at it */
};
#define INLINE SPRAG_OCT_INLINE
#define ROW(x) (*(const spragOct *)(const void *)(x))

static int padded(int count)
{
    return (count + LANES) / LANES * LANES;
}

spragGreedyLanes *spragGreedyLanesTake(int contact_count, int body_count, spragArena *arena)
{
    const int n = padded(contact_count);
    spragGreedyLanes *lanes = SPRAG_TAKE(arena, spragGreedyLanes, 1);
    spragLaneContact *contact = SPRAG_TAKE_RAW(arena, spragLaneContact, contact_count + 1);
    spragLaneBody *body = SPRAG_TAKE_RAW(arena, spragLaneBody, body_count + 1);
    float *numbers = SPRAG_TAKE_RAW(arena, float, 2 * n), *moved = SPRAG_TAKE_RAW(arena, float, body_count + 1);
    int *index = SPRAG_TAKE_RAW(arena, int, 3 * n), *pass = SPRAG_TAKE(arena, int, body_count + 1);
    float(*before)[2][4] = spragArenaTakeRaw(arena, (size_t)body_count + 1, sizeof *before);
    if (lanes == NULL || contact == NULL || body == NULL || numbers == NULL || moved == NULL || index == NULL ||
        pass == NULL || before == NULL)
        return NULL;
    *lanes = (spragGreedyLanes){.contact = contact, .body = body, .moved = moved, .pass = pass, .before = before};
    lanes->seen = numbers, lanes->gain = numbers + n;
    lanes->first = index, lanes->second = index + n, lanes->list = index + 2 * n;
    return lanes;
}

/* ---------------------------------------------------------------- in and out */

static void fillBody(const spragGreedyBody *from, spragLaneBody *to)
{
    const double *I = from->inverse_inertia;
    *to = (spragLaneBody){.inertia = {{(float)I[0], (float)I[1], (float)I[2], (float)from->inverse_mass},
                                      {(float)I[4], (float)I[5], (float)I[6]}}};
}

void spragGreedyLanesFill(spragGreedy *greedy)
{
    spragGreedyLanes *lanes = greedy->lanes;
    const int n = greedy->contact_count;
    lanes->sticks = 1;
    for (int k = 0; k < n && lanes->sticks == 1; ++k)
        if (greedy->contact[k].direction[1][3] > 0 || greedy->contact[k].direction[2][3] > 0)
            lanes->sticks = 2;
    for (int b = 0; b <= greedy->body_count; ++b)
        fillBody(&greedy->body[b], &lanes->body[b]);
    lanes->contact[n] = (spragLaneContact){.direction = {[0] = {[3] = 1}, [2] = {[3] = 1}}, .own = {{1}, {[3] = 1}}};
    for (int k = 0; k < padded(n); ++k) {
        lanes->first[k] = k < n ? greedy->pair[k][0] : greedy->body_count;
        lanes->second[k] = k < n ? greedy->pair[k][1] : greedy->body_count;
        lanes->seen[k] = INFINITY;
        lanes->gain[k] = 1;
    }
}

/* From where the judge has looked. */
void spragGreedyLanesBegin(spragGreedy *greedy)
{
    spragGreedyLanes *lanes = greedy->lanes;
    if (!lanes->judged)
        spragGreedyResidual(greedy, NULL);
    lanes->judged = 0;
    for (int b = 0; b <= greedy->body_count; ++b) {
        lanes->moved[b] = 0;
        memset(lanes->body[b].velocity, 0, sizeof lanes->body[b].velocity);
    }
}

void spragGreedyLanesEnd(spragGreedy *greedy)
{
    greedy->lanes->ahead = 1;
    spragGreedySum(greedy);
}

/* ---------------------------------------------------------------- visits */

/* Contacts of which no two have a body in common, but for the world. */
typedef struct Pack {
    int number[LANES];
    spragLaneContact *contact[LANES];
    spragLaneBody *body[2][LANES];
} Pack;

#define V spragOct
#define LAW(name) spragOct##name
#define BY(name) name##8
#define LAW_INLINE INLINE
#define ROWS8 SPRAG_OCT_ROWS
#include "solve/greedy/greedy_law.h"

INLINE void readShape(const Pack *pack, Shape8 *shape)
{
    for (int i = 0; i < 3; ++i)
        spragOctRead(ROWS8(pack->contact, direction[i]), shape->direction[i]);
    for (int i = 0; i < 2; ++i) {
        spragOctRead(ROWS8(pack->contact, arm[i]), shape->arm[i]);
        spragOctRead(ROWS8(pack->contact, own[i]), shape->own[i]);
    }
    spragOctRead(ROWS8(pack->contact, q), shape->q);
    spragOctRead(ROWS8(pack->contact, r), shape->r);
}

/* A pack's visit; change: m/s, of the bodies at their contacts. */
INLINE void visit(const Pack *pack, int sticks, spragOct change[2])
{
    Shape8 s;
    spragOct fresh[4], dr[3];
    const spragOct ahead[3] = {{0}, {0}, {0}};
    readShape(pack, &s);
    visit8(&s, sticks, (spragLaneBody *const *const[2]){pack->body[0], pack->body[1]}, ahead, fresh, dr);
    spragOctWrite(ROWS8(pack->contact, r), fresh);
    const spragOct size = spragOctSqrt(spragOctDot3(dr, dr));
    change[0] = size * s.arm[0][3];
    change[1] = size * s.arm[1][3];
}

/* ---------------------------------------------------------------- rounds */

typedef struct Round {
    spragGreedy *greedy;
    float threshold;
    double deadline;
    long least;
    float greatest; /* m/s, seen pending */
    int count;      /* of what had more than the threshold pending */
} Round;

INLINE spragOct movedOf(const float *moved, const int *body)
{
    return (spragOct){moved[body[0]], moved[body[1]], moved[body[2]], moved[body[3]],
                      moved[body[4]], moved[body[5]], moved[body[6]], moved[body[7]]};
}

/* Lists what has more than the threshold pending. */
INLINE void listRound(Round *round)
{
    const spragGreedyLanes *lanes = round->greedy->lanes;
    const spragOct threshold = spragOctOf(round->threshold);
    spragOct greatest = {0};
    int count = 0, *const list = lanes->list;
    for (int k = 0; k < round->greedy->contact_count; k += LANES) {
        const spragOct hope = ROW(lanes->gain + k) * (movedOf(lanes->moved, lanes->first + k) +
                                                      movedOf(lanes->moved, lanes->second + k) - ROW(lanes->seen + k));
        const spragOctMask above = hope > threshold;
        greatest = spragOctMax(hope, greatest);
        for (int i = 0; i < LANES; ++i) {
            list[count] = k + i;
            count -= above[i];
        }
    }
    round->count = count;
    round->greatest = 0;
    for (int i = 0; i < LANES; ++i)
        round->greatest = greatest[i] > round->greatest ? greatest[i] : round->greatest;
}

INLINE void setLane(const spragGreedyLanes *lanes, int lane, int k, Pack *pack)
{
    pack->number[lane] = k;
    pack->contact[lane] = &lanes->contact[k];
    pack->body[0][lane] = &lanes->body[lanes->first[k]];
    pack->body[1][lane] = &lanes->body[lanes->second[k]];
}

/* Eight parts of the list. */
INLINE void divide(int count, int at[LANES], int end[LANES])
{
    for (int i = 0; i < LANES; ++i) {
        at[i] = (int)((long)count * i / LANES);
        end[i] = (int)((long)count * (i + 1) / LANES);
    }
}

/* Takes one from each of eight parts of the list; what shares a body with another waits.  Returns how many. */
INLINE int takePack(const spragGreedy *greedy, int at[LANES], const int end[LANES], Pack *pack)
{
    spragGreedyLanes *lanes = greedy->lanes;
    const int nobody = greedy->contact_count, pass = ++lanes->passes;
    int count = 0;
    for (int i = 0; i < LANES; ++i) {
        const int wanted = at[i] < end[i] ? lanes->list[at[i]] : nobody;
        const int waits = lanes->pass[lanes->first[wanted]] == pass || lanes->pass[lanes->second[wanted]] == pass;
        const int k = waits ? nobody : wanted, a = lanes->first[k], b = lanes->second[k];
        lanes->pass[a] = lanes->pass[b] = pass;
        lanes->pass[greedy->body_count] = 0;
        setLane(lanes, i, k, pack);
        at[i] += k != nobody;
        count += k != nobody;
        if (at[i] < end[i])
            spragPrefetch(&lanes->contact[lanes->list[at[i]]], sizeof(spragLaneContact));
    }
    return count;
}

INLINE void note(spragGreedyLanes *lanes, const Pack *pack, const spragOct change[2])
{
    static const float first = 0.5F, least = 0.03F; /* solve/greedy/greedy.c */
    for (int i = 0; i < LANES; ++i) {
        const int k = pack->number[i];
        float *const a = &lanes->moved[lanes->first[k]], *const b = &lanes->moved[lanes->second[k]];
        const float pending = *a + *b - lanes->seen[k];
        *a += change[0][i];
        *b += change[1][i];
        lanes->seen[k] = *a + *b;
        const float gain = pending > 0 ? (change[0][i] + change[1][i]) / pending : first;
        lanes->gain[k] = gain > least ? gain : least;
    }
}

/* Visits them, if not too late. */
INLINE void visitRound(Round *round)
{
    spragGreedy *greedy = round->greedy;
    spragGreedyLanes *lanes = greedy->lanes;
    long visits = greedy->visits, look = visits + CLOCK;
    int at[LANES], end[LANES], count;
    Pack pack;
    spragOct change[2];
    listRound(round);
    divide(round->count, at, end);
    while ((count = takePack(greedy, at, end, &pack)) > 0) {
        visit(&pack, greedy->lanes->sticks, change);
        note(lanes, &pack, change);
        visits += count;
        if (visits >= look) {
            look = visits + CLOCK;
            if (visits >= round->least && spragSeconds() > round->deadline)
                break;
        }
    }
    lanes->seen[greedy->contact_count] = INFINITY;
    greedy->visits = visits;
}

SPRAG_QUAD_CLONES(visitRows, visitRound, Round)

void spragGreedyLanesRun(spragGreedy *greedy, double enough, long least, long most, double deadline)
{
    double share = SPRAG_GREEDY_SHARE;
    Round round = {.greedy = greedy, .threshold = INFINITY, .deadline = deadline, .least = least};
    visitRows(&round);
    while (round.greatest > enough && round.greatest < INFINITY && greedy->visits < most) {
        round.threshold = (float)(share * round.greatest);
        visitRows(&round);
        share = spragGreedyShare(share, round.count, greedy->contact_count);
        if (deadline < INFINITY && greedy->visits >= least && spragSeconds() > deadline)
            break;
    }
}
