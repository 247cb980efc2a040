#include "solve/greedy_lanes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/prefetch.h"
#include "linalg/oct.h"
#include "solve/greedy.h"

enum {
    LANES = SPRAG_OCT,
    CLOCK = 512,   /* visits between two looks at it */
    FILL_LEAST = 2 /* lanes for a contact; where one body touches so many that it takes more, there are no sweeps */
};
/* Slip multipliers, of the trace of K: beyond it slip is against the velocity to all digits.  A ball that slides at 0.4
 * m/s under a load of 1e-13 N s has one of 1e13 1/kg, and what Newton divides by is zero in single precision. */
#define NU_MOST 1e8F
/* Beyond it momentum keeps alive what is not convex, as friction is. */
#define MOMENTUM_MOST 0.9
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
    int *pack = SPRAG_TAKE_RAW(arena, int, FILL_LEAST *n);
    float(*before)[2][4] = spragArenaTakeRaw(arena, (size_t)body_count + 1, sizeof *before);
    if (lanes == NULL || contact == NULL || body == NULL || numbers == NULL || moved == NULL || index == NULL ||
        pass == NULL || pack == NULL || before == NULL)
        return NULL;
    *lanes = (spragGreedyLanes){
        .contact = contact, .body = body, .moved = moved, .pass = pass, .pack = pack, .before = before};
    lanes->seen = numbers, lanes->gain = numbers + n;
    lanes->first = index, lanes->second = index + n, lanes->list = index + 2 * n;
    return lanes;
}

/* ---------------------------------------------------------------- in and out */

static void fillBody(const spragGreedyBody *from, spragLaneBody *to)
{
    const double(*I)[4] = from->inverse_inertia;
    *to = (spragLaneBody){.inertia = {{(float)I[0][0], (float)I[0][1], (float)I[0][2], (float)from->inverse_mass},
                                      {(float)I[1][1], (float)I[1][2], (float)I[2][2]}}};
}

void spragGreedyLanesFill(spragGreedy *greedy)
{
    spragGreedyLanes *lanes = greedy->lanes;
    const int n = greedy->contact_count;
    for (int b = 0; b <= greedy->body_count; ++b)
        fillBody(&greedy->body[b], &lanes->body[b]);
    lanes->contact[n] = (spragLaneContact){.direction = {[0] = {[3] = 1}, [2] = {[3] = 1}}, .own = {{1}, {[3] = 1}}};
    for (int k = 0; k < padded(n); ++k) {
        lanes->first[k] = k < n ? greedy->contact[k].body[0] : greedy->body_count;
        lanes->second[k] = k < n ? greedy->contact[k].body[1] : greedy->body_count;
        lanes->seen[k] = INFINITY;
        lanes->gain[k] = 1;
    }
}

/* From where the judge has looked. */
static void begin(spragGreedy *greedy)
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

static void end(spragGreedy *greedy)
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

typedef struct Shape {
    spragOct direction[3][4], arm[2][4], q[4], r[4], own[2][4];
} Shape;

#define ROWS_OF(array, member)                                                                                         \
    ((float *const[LANES]){(array)[0]->member, (array)[1]->member, (array)[2]->member, (array)[3]->member,             \
                           (array)[4]->member, (array)[5]->member, (array)[6]->member, (array)[7]->member})

INLINE void readShape(const Pack *pack, Shape *shape)
{
    for (int i = 0; i < 3; ++i)
        spragOctRead(ROWS_OF(pack->contact, direction[i]), shape->direction[i]);
    for (int i = 0; i < 2; ++i) {
        spragOctRead(ROWS_OF(pack->contact, arm[i]), shape->arm[i]);
        spragOctRead(ROWS_OF(pack->contact, own[i]), shape->own[i]);
    }
    spragOctRead(ROWS_OF(pack->contact, q), shape->q);
}

/* What slides, on the cone and with u_n = 0: along the direction that the slip multiplier nu gives the exact size, and
 * one step of Newton for nu (solve/cone_block.h has many), which the next visit begins with.  (The direction of the new
 * nu leaves no less after 40 to 480 visits a contact of 1000 moving boxes or balls, and takes a sixth more time.) */
INLINE void slip(Shape *s, const spragOct q[3], const spragOct free[2], spragOctMask slips, spragOct r[3])
{
    const spragOct zero = {0}, mu = s->q[3], nu = s->r[3], *w = &s->own[0][1], inverse_nn = s->own[1][3];
    const spragOct K11 = s->direction[0][3], K12 = s->direction[1][3], K22 = s->direction[2][3];
    const spragOct a = K11 + nu, d = K22 + nu, scale = -1.0F / (a * d - K12 * K12);
    const spragOct x = scale * (d * free[0] - K12 * free[1]), y = scale * (a * free[1] - K12 * free[0]);
    const spragOct square = x * x + y * y, size = spragOctSqrt(square);
    const spragOct normal = -(q[0] + w[0] * x + w[1] * y) * inverse_nn, excess = mu * normal - size;
    const spragOct dx = scale * (d * x - K12 * y), dy = scale * (a * y - K12 * x);
    const spragOct dnormal = -(w[0] * dx + w[1] * dy) * inverse_nn;
    const spragOct newton = nu - square * excess / (mu * (dnormal * square - normal * (x * dx + y * dy)));
    const spragOctMask less = excess < zero; /* nu is too small */
    const spragOctMask good =
        (newton >= spragOctSelect(less, nu, zero)) & (less | (newton <= nu)); /* or it is the root */
    const spragOct any = spragOctSelect(good, newton, spragOctSelect(less, 4 * nu + K11 + K22, 0.125F * nu));
    const spragOct most_nu = NU_MOST * (K11 + K22), next = spragOctSelect(any < most_nu, any, most_nu);
    s->r[3] = spragOctSelect(slips, next, nu);
    const spragOct inverse = 1.0F / (size + FLT_MIN), e[2] = {x * inverse, y * inverse};
    const spragOct along = s->own[0][0] + mu * (w[0] * e[0] + w[1] * e[1]), most = -q[0] / along;
    /* a branch of negative slope: keep what the root says */
    const spragOct load = spragOctSelect((along > zero) & (most > zero), most, size / mu);
    r[0] = spragOctSelect(slips, load, r[0]);
    r[1] = spragOctSelect(slips, mu * load * e[0], r[1]);
    r[2] = spragOctSelect(slips, mu * load * e[1], r[2]);
}

/* What is not pressed but held, as in solve/greedy_roll.h. */
INLINE void hold(const Shape *s, const spragOct q[3], spragOctMask holds, spragOct r[3])
{
    const spragOct zero = {0}, a = s->own[0][3], b = s->own[1][0], d = s->own[1][1], scale = 1.0F / (a * d - b * b);
    r[0] = spragOctSelect(holds, zero, r[0]);
    r[1] = spragOctSelect(holds, scale * (b * q[2] - d * q[1]), r[1]);
    r[2] = spragOctSelect(holds, scale * (b * q[1] - a * q[2]), r[2]);
}

/* q: velocities without their own impulses */
INLINE void solveContacts(Shape *s, const spragOct q[3], spragOct r[3])
{
    const spragOct zero = {0}, mu = s->q[3], *w = &s->own[0][1], inverse_nn = s->own[1][3], ratio = q[0] * inverse_nn;
    const spragOct K11 = s->direction[0][3], K12 = s->direction[1][3], K22 = s->direction[2][3];
    const spragOct free[2] = {q[1] - w[0] * ratio, q[2] - w[1] * ratio}, scale = 1.0F / (K11 * K22 - K12 * K12);
    const spragOctMask holds = (mu < -FLT_MAX) | (mu > FLT_MAX);
    const spragOctMask closed = q[0] < zero, rough = holds | (closed & (mu > zero));
    r[1] = (K12 * free[1] - K22 * free[0]) * scale;
    r[2] = (K12 * free[0] - K11 * free[1]) * scale;
    r[0] = -(q[0] + w[0] * r[1] + w[1] * r[2]) * inverse_nn;
    const spragOctMask outside = (r[0] < zero) | (r[1] * r[1] + r[2] * r[2] > mu * mu * r[0] * r[0]);
    slip(s, q, free, outside & rough & ~holds, r);
    hold(s, q, holds & (r[0] < zero), r);
    r[0] = spragOctSelect(rough, r[0], spragOctSelect(closed, -ratio, zero));
    r[1] = spragOctSelect(rough, r[1], zero);
    r[2] = spragOctSelect(rough, r[2], zero);
}

/* Single precision has no room for squares below 1e-45 or above 1e38: where a solution is not finite, the last one
 * stays, and the slip multiplier begins anew. */
INLINE void keepFinite(const spragOct last[4], spragOct r[4])
{
    const spragOct zero = {0}, none = 0.0F * (r[0] + r[1] + r[2] + r[3]);
    const spragOctMask finite = none == zero;
    for (int i = 0; i < 3; ++i)
        r[i] = spragOctSelect(finite, r[i], last[i]);
    r[3] = spragOctSelect(finite, r[3], zero);
}

/* Velocity of side's point, that of the other side already in v. */
INLINE void addMotion(spragOct velocity[2][4], const spragOct arm[4], float sign, spragOct v[3])
{
    spragOct turn[3];
    spragOctCross3(turn, velocity[1], arm);
    for (int i = 0; i < 3; ++i)
        v[i] += sign * (velocity[0][i] + turn[i]);
}

/* Impulse p on the side's bodies at their arms. */
INLINE void push(spragLaneBody *const body[LANES], const spragOct arm[4], float sign, const spragOct p[3],
                 spragOct velocity[2][4])
{
    spragOct I[2][4], s[3];
    spragOctRead(ROWS_OF(body, inertia[0]), I[0]);
    spragOctRead(ROWS_OF(body, inertia[1]), I[1]);
    spragOctCross3(s, arm, p);
    for (int i = 0; i < 3; ++i)
        velocity[0][i] += sign * (p[i] * I[0][3]);
    velocity[1][0] += sign * (I[0][0] * s[0] + I[0][1] * s[1] + I[0][2] * s[2]);
    velocity[1][1] += sign * (I[0][1] * s[0] + I[1][0] * s[1] + I[1][1] * s[2]);
    velocity[1][2] += sign * (I[0][2] * s[0] + I[1][1] * s[1] + I[1][2] * s[2]);
    spragOctWrite(ROWS_OF(body, velocity[0]), velocity[0]);
    spragOctWrite(ROWS_OF(body, velocity[1]), velocity[1]);
}

/* A pack's visit: r goes from r[from] to r[to]; before, it went from r[to] to
 * r[from], and goes on by `momentum` of that. */
typedef struct Visit {
    int from, to;
    spragOct momentum;
    spragOct change[2]; /* m/s, of the bodies at their contacts */
    spragOct along;     /* how much of the change goes along with that since the last sweep */
    spragOct greatest;  /* m/s, of all changes */
} Visit;

INLINE void visit(const Pack *pack, Visit *way)
{
    Shape s;
    spragOct velocity[2][2][4], v[3] = {{0}, {0}, {0}}, q[3], p[3], last[4], fresh[4], dr[3], since[3];
    readShape(pack, &s);
    spragOctRead(ROWS_OF(pack->contact, r[way->from]), s.r);
    spragOctRead(ROWS_OF(pack->contact, r[way->to]), last);
    for (int side = 0; side < 2; ++side) {
        spragOctRead(ROWS_OF(pack->body[side], velocity[0]), velocity[side][0]);
        spragOctRead(ROWS_OF(pack->body[side], velocity[1]), velocity[side][1]);
        addMotion(velocity[side], s.arm[side], side == 0 ? 1 : -1, v);
    }
    spragOct r[3];
    for (int i = 0; i < 3; ++i)
        r[i] = s.r[i] + way->momentum * (s.r[i] - last[i]);
    const spragOct own[3][3] = {{s.own[1][2], s.own[0][1], s.own[0][2]},
                                {s.own[0][1], s.own[0][3], s.own[1][0]},
                                {s.own[0][2], s.own[1][0], s.own[1][1]}};
    for (int i = 0; i < 3; ++i)
        q[i] = s.q[i] + spragOctDot3(s.direction[i], v) - spragOctDot3(own[i], r);
    solveContacts(&s, q, fresh);
    fresh[3] = s.r[3];
    keepFinite(s.r, fresh);
    for (int i = 0; i < 3; ++i)
        dr[i] = fresh[i] - r[i], since[i] = fresh[i] - s.r[i];
    spragOctWrite(ROWS_OF(pack->contact, r[way->to]), fresh);
    for (int i = 0; i < 3; ++i)
        p[i] = s.direction[0][i] * dr[0] + s.direction[1][i] * dr[1] + s.direction[2][i] * dr[2];
    push(pack->body[0], s.arm[0], 1, p, velocity[0]);
    push(pack->body[1], s.arm[1], -1, p, velocity[1]);
    const spragOct size = spragOctSqrt(spragOctDot3(dr, dr));
    way->change[0] = size * s.arm[0][3];
    way->change[1] = size * s.arm[1][3];
    way->greatest = spragOctMax(way->change[0] + way->change[1], way->greatest);
    way->along += spragOctDot3(dr, since) * (s.arm[0][3] + s.arm[1][3]);
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
    static const float first = 0.5F, least = 0.03F; /* solve/greedy.c */
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
    Visit way = {.from = lanes->current, .to = lanes->current};
    listRound(round);
    divide(round->count, at, end);
    while ((count = takePack(greedy, at, end, &pack)) > 0) {
        visit(&pack, &way);
        note(lanes, &pack, way.change);
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
    begin(greedy);
    Round round = {.greedy = greedy, .threshold = INFINITY, .deadline = deadline, .least = least};
    visitRows(&round);
    while (round.greatest > enough && round.greatest < INFINITY && greedy->visits < most) {
        round.threshold = (float)(share * round.greatest);
        visitRows(&round);
        share = spragGreedyShare(share, round.count, greedy->contact_count);
        if (deadline < INFINITY && greedy->visits >= least && spragSeconds() > deadline)
            break;
    }
    end(greedy);
}

/* ---------------------------------------------------------------- sweeps */

/* All contacts in packs, once for all sweeps.  Too many packs: none. */
static void makePacks(spragGreedy *greedy)
{
    spragGreedyLanes *lanes = greedy->lanes;
    int at[LANES], end[LANES], count = 0, most = FILL_LEAST * padded(greedy->contact_count) / LANES;
    Pack pack;
    for (int k = 0; k < greedy->contact_count; ++k)
        lanes->list[k] = k;
    divide(greedy->contact_count, at, end);
    while (count <= most && takePack(greedy, at, end, &pack) > 0)
        if (count++ < most)
            memcpy(lanes->pack + (size_t)(count - 1) * LANES, pack.number, sizeof pack.number);
    lanes->pack_count = count <= most ? count : -1;
}

typedef struct Sweep {
    spragGreedy *greedy;
    float momentum;
    double along, greatest; /* as in Visit */
} Sweep;

/* Velocities go on by `momentum` of what the last sweep has changed; the impulses do when they are visited. */
INLINE void goOn(const Sweep *sweep)
{
    spragGreedyLanes *lanes = sweep->greedy->lanes;
    for (int b = 0; b < sweep->greedy->body_count; ++b) {
        float *v = lanes->body[b].velocity[0], *before = lanes->before[b][0];
        for (int i = 0; i < 8; ++i) {
            const float now = v[i];
            v[i] = now + sweep->momentum * (now - before[i]);
            before[i] = now;
        }
    }
}

INLINE void sweepAll(Sweep *sweep)
{
    const spragGreedyLanes *lanes = sweep->greedy->lanes;
    Visit way = {.from = lanes->current, .to = !lanes->current, .momentum = spragOctOf(sweep->momentum)};
    goOn(sweep);
    for (int p = 0; p < lanes->pack_count; ++p) {
        Pack pack;
        for (int i = 0; i < LANES; ++i) {
            setLane(lanes, i, lanes->pack[p * LANES + i], &pack);
            if (p + 1 < lanes->pack_count)
                spragPrefetch(&lanes->contact[lanes->pack[(p + 1) * LANES + i]], sizeof(spragLaneContact));
        }
        visit(&pack, &way);
    }
    sweep->along = sweep->greatest = 0;
    for (int i = 0; i < LANES; ++i) {
        sweep->along += (double)way.along[i];
        sweep->greatest = fmax(sweep->greatest, (double)way.greatest[i]);
    }
}

SPRAG_QUAD_CLONES(sweepRows, sweepAll, Sweep)

/* Sweeps with momentum, as long as there is time for SWEEPS_LEAST at the beginning. */
static void runSweeps(spragGreedy *greedy, double enough, long most, double until)
{
    enum { SWEEPS_LEAST = 12 };
    spragGreedyLanes *lanes = greedy->lanes;
    Sweep sweep = {.greedy = greedy};
    double t = 1, begun = spragSeconds();
    const long first = greedy->visits;
    memset(lanes->before, 0, ((size_t)greedy->body_count + 1) * sizeof *lanes->before);
    while (greedy->visits < most) {
        sweepRows(&sweep);
        lanes->current = !lanes->current;
        greedy->visits += greedy->contact_count;
        const double now = spragSeconds();
        if (now > until || sweep.greatest <= enough ||
            (greedy->visits == first + greedy->contact_count && now + (SWEEPS_LEAST - 1) * (now - begun) > until))
            break;
        if (sweep.along < 0)
            t = 1;
        const double next = 0.5 * (1 + sqrt(1 + 4 * t * t));
        sweep.momentum = (float)fmin((t - 1) / next, MOMENTUM_MOST);
        t = next;
    }
}

void spragGreedyLanesSweep(spragGreedy *greedy, double enough, long most, double deadline)
{
    static const double share =
        0.9; /* of visits and time: the rest is for rounds, a visit of which takes twice the time */
    const double now = spragSeconds(), until = now + share * (deadline - now);
    begin(greedy);
    if (greedy->lanes->pack_count == 0)
        makePacks(greedy);
    if (greedy->lanes->pack_count > 0)
        runSweeps(greedy, enough, greedy->visits + (long)(share * (double)(most - greedy->visits)), until);
    end(greedy);
}
