#include "solve/greedy.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/prefetch.h"
#include "linalg/vec3.h"

typedef double Vector4 __attribute__((vector_size(32)));

#define SHARE 0.25     /* of the greatest gain hoped for: what is visited in a round */
#define GAIN_LEAST 0.1 /* a contact that was open, or content, is not forgotten */
#define GAIN_FIRST 0.5
#define LONG_ENOUGH 0.8 /* of itself: a guess that is right but for its last digits is left alone */
#define EVERY -1        /* m/s, a threshold that all are above */
#define ACCURACY 1e-2   /* of slip multipliers: the next visit goes on from there */
enum {
    CLOCK = 256, /* visits between two looks at it */
    AHEAD = 2    /* visits, of what is fetched */
};

int spragGreedyInit(spragGreedy *greedy, int contact_count, int body_count, spragArena *arena)
{
    *greedy = (spragGreedy){.contact_count = contact_count, .body_count = body_count};
    greedy->contact = SPRAG_TAKE_RAW(arena, spragGreedyContact, contact_count);
    greedy->body = SPRAG_TAKE_RAW(arena, spragGreedyBody, body_count + 1);
    greedy->wait = SPRAG_TAKE_RAW(arena, spragGreedyWait, contact_count);
    greedy->list = SPRAG_TAKE_RAW(arena, int, contact_count + 1);
    greedy->moved = SPRAG_TAKE_RAW(arena, double, body_count + 1);
    return greedy->contact != NULL && greedy->body != NULL && greedy->wait != NULL && greedy->moved != NULL &&
           greedy->list != NULL;
}

/* All rows are aligned: the arena aligns the arrays, and their elements are multiples of 32 bytes. */
_Static_assert(sizeof(spragGreedyBody) % sizeof(Vector4) == 0, "rows of bodies are aligned");
_Static_assert(sizeof(spragGreedyContact) % sizeof(Vector4) == 0, "rows of contacts are aligned");
#define ROW(x) (*(const Vector4 *)(const void *)(x))
#define CHANGE(x) (*(Vector4 *)(void *)(x))
#define INLINE static inline __attribute__((always_inline))

/* The sums of three vectors whose fourth numbers are zero. */
INLINE void sums(const Vector4 row[3], Vector4 *sum)
{
    const Vector4 ab =
        __builtin_shufflevector(row[0], row[1], 0, 4, 2, 6) + __builtin_shufflevector(row[0], row[1], 1, 5, 3, 7);
    const Vector4 cc =
        __builtin_shufflevector(row[2], row[2], 0, 4, 2, 6) + __builtin_shufflevector(row[2], row[2], 1, 5, 3, 7);
    *sum = __builtin_shufflevector(ab, cc, 0, 1, 4, 5) + __builtin_shufflevector(ab, cc, 2, 3, 6, 7);
}

INLINE void motion(const spragGreedyContact *c, const spragGreedyBody *a, const spragGreedyBody *b, Vector4 *u)
{
    const Vector4 v = ROW(a->velocity[0]) - ROW(b->velocity[0]);
    const Vector4 wa = ROW(a->velocity[1]), wb = ROW(b->velocity[1]);
    Vector4 row[3];
    for (int i = 0; i < 3; ++i)
        row[i] = ROW(c->direction[i]) * v + (ROW(c->spin[0][i]) * wa + ROW(c->spin[1][i]) * wb);
    sums(row, u);
}

INLINE void turn(spragGreedyBody *body, const double spin[3][4], const double r[3])
{
    const Vector4 t = ROW(spin[0]) * r[0] + ROW(spin[1]) * r[1] + ROW(spin[2]) * r[2];
    const Vector4 change = ROW(body->inverse_inertia[0]) * t[0] + ROW(body->inverse_inertia[1]) * t[1] +
                           ROW(body->inverse_inertia[2]) * t[2];
    CHANGE(body->velocity[1]) += change;
}

INLINE void push(const spragGreedyContact *c, const double r[3], spragGreedyBody *a, spragGreedyBody *b)
{
    const Vector4 p = ROW(c->direction[0]) * r[0] + ROW(c->direction[1]) * r[1] + ROW(c->direction[2]) * r[2];
    CHANGE(a->velocity[0]) += p * a->inverse_mass;
    CHANGE(b->velocity[0]) -= p * b->inverse_mass;
    turn(a, c->spin[0], r);
    turn(b, c->spin[1], r);
}

void spragGreedyMotion(const spragGreedy *greedy, int contact, double u[3])
{
    const spragGreedyContact *c = &greedy->contact[contact];
    Vector4 sum;
    motion(c, &greedy->body[c->body[0]], &greedy->body[c->body[1]], &sum);
    u[0] = sum[0], u[1] = sum[1], u[2] = sum[2];
}

void spragGreedyOwn(const spragGreedy *greedy, spragGreedyContact *contact, double W[9])
{
    Vector4 column[3] = {{0}, {0}, {0}};
    for (int side = 0; side < 2; ++side) {
        const spragGreedyBody *body = &greedy->body[contact->body[side]];
        double(*const spin)[4] = contact->spin[side];
        Vector4 turned[3]; /* M^-1 J_k^T, by rows of J */
        double trace = 0;
        for (int j = 0; j < 3; ++j)
            turned[j] = ROW(body->inverse_inertia[0]) * spin[j][0] + ROW(body->inverse_inertia[1]) * spin[j][1] +
                        ROW(body->inverse_inertia[2]) * spin[j][2];
        for (int j = 0; j < 3; ++j) {
            const Vector4 pushed = ROW(contact->direction[j]) * body->inverse_mass;
            Vector4 row[3], sum;
            for (int i = 0; i < 3; ++i)
                row[i] = ROW(contact->direction[i]) * pushed + ROW(spin[i]) * turned[j];
            sums(row, &sum);
            column[j] += sum;
            trace += sum[j];
        }
        contact->mobility[side] = trace / 3;
    }
    for (int j = 0; j < 3; ++j) {
        CHANGE(contact->own[j]) = column[j];
        contact->own[j][3] = 0;
        for (int i = 0; i < 3; ++i)
            W[3 * i + j] = column[j][i];
    }
}

void spragGreedySum(spragGreedy *greedy)
{
    for (int i = 0; i <= greedy->body_count; ++i)
        memset(greedy->body[i].velocity, 0, sizeof greedy->body[i].velocity);
    for (int k = 0; k < greedy->contact_count; ++k) {
        const spragGreedyContact *c = &greedy->contact[k];
        if (c->r[0] != 0)
            push(c, c->r, &greedy->body[c->body[0]], &greedy->body[c->body[1]]);
    }
}

/* ---------------------------------------------------------------- visits */

/* Returns |dr_k|, N s. */
INLINE double visit(spragGreedyContact *c, spragGreedyBody *a, spragGreedyBody *b)
{
    Vector4 sum;
    motion(c, a, b, &sum);
    sum += ROW(c->q) - (ROW(c->own[0]) * c->r[0] + ROW(c->own[1]) * c->r[1] + ROW(c->own[2]) * c->r[2]);
    const double q[3] = {sum[0], sum[1], sum[2]};
    double fresh[3];
    spragConeBlockSolveRoughly(&c->block, q, ACCURACY, fresh);
    const double change[3] = {fresh[0] - c->r[0], fresh[1] - c->r[1], fresh[2] - c->r[2]};
    memcpy(c->r, fresh, sizeof fresh);
    push(c, change, a, b);
    return sqrt(spragDot3(change, change));
}

/* Visits what has more than the threshold pending, if not too late.  Returns the greatest seen pending. */
INLINE double roundOf(spragGreedy *greedy, double threshold, long least, double deadline)
{
    double greatest = 0, *const moved = greedy->moved;
    long visits = greedy->visits, look = visits + CLOCK;
    int count = 0, *const list = greedy->list;
    for (int k = 0; k < greedy->contact_count; ++k) {
        const spragGreedyWait *wait = &greedy->wait[k];
        const double hope = wait->gain * (moved[wait->body[0]] + moved[wait->body[1]] - wait->seen);
        greatest = hope > greatest ? hope : greatest;
        list[count] = k;
        count += hope > threshold;
    }
    for (int i = 0; i < count; ++i) {
        spragGreedyWait *wait = &greedy->wait[list[i]];
        spragGreedyContact *c = &greedy->contact[list[i]];
        if (i + AHEAD < count)
            spragPrefetch(&greedy->contact[list[i + AHEAD]], sizeof *c);
        const double pending = moved[wait->body[0]] + moved[wait->body[1]] - wait->seen;
        const double size = visit(c, &greedy->body[wait->body[0]], &greedy->body[wait->body[1]]);
        moved[wait->body[0]] += size * c->mobility[0];
        moved[wait->body[1]] += size * c->mobility[1];
        wait->seen = moved[wait->body[0]] + moved[wait->body[1]];
        const double gain = pending > 0 ? size * (c->mobility[0] + c->mobility[1]) / pending : GAIN_FIRST;
        wait->gain = gain > GAIN_LEAST ? gain : GAIN_LEAST;
        if (++visits >= look) {
            look = visits + CLOCK;
            if (visits >= least && spragSeconds() > deadline)
                break;
        }
    }
    greedy->visits = visits;
    return greatest;
}

static double roundPlain(spragGreedy *greedy, double threshold, long least, double deadline)
{
    return roundOf(greedy, threshold, least, deadline);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static double roundAvx2(spragGreedy *greedy, double threshold, long least,
                                                        double deadline)
{
    return roundOf(greedy, threshold, least, deadline);
}

static int hasAvx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define roundAvx2 roundPlain
static int hasAvx2(void)
{
    return 0;
}
#endif

static double runRound(spragGreedy *greedy, double threshold, long least, double deadline)
{
    return hasAvx2() ? roundAvx2(greedy, threshold, least, deadline) : roundPlain(greedy, threshold, least, deadline);
}

/* A guess from another load is made shorter: s r, 0 <= s <= 1, of the least energy  s^2 (r.W r) / 2 + s (r.q). */
static void shortenGuess(spragGreedy *greedy)
{
    double work = 0, square = 0, u[3];
    for (int k = 0; k < greedy->contact_count; ++k) {
        const spragGreedyContact *c = &greedy->contact[k];
        if (c->r[0] == 0)
            continue;
        spragGreedyMotion(greedy, k, u);
        work += spragDot3(c->r, c->q);
        square += spragDot3(c->r, u);
    }
    if (!(square > 0) || -work >= LONG_ENOUGH * square)
        return;
    const double scale = fmax(-work / square, 0);
    for (int k = 0; k < greedy->contact_count; ++k)
        for (int i = 0; i < 3; ++i)
            greedy->contact[k].r[i] *= scale;
    for (int b = 0; b < greedy->body_count; ++b)
        for (int i = 0; i < 4; ++i) {
            greedy->body[b].velocity[0][i] *= scale;
            greedy->body[b].velocity[1][i] *= scale;
        }
}

void spragGreedyBegin(spragGreedy *greedy)
{
    shortenGuess(greedy);
    memset(greedy->moved, 0, ((size_t)greedy->body_count + 1) * sizeof *greedy->moved);
    for (int k = 0; k < greedy->contact_count; ++k) {
        const int *body = greedy->contact[k].body;
        greedy->wait[k] = (spragGreedyWait){.seen = -1, .gain = 1, .body = {body[0], body[1]}};
    }
    greedy->visits = 0;
    runRound(greedy, 0, 0, INFINITY);
    for (int k = 0; k < greedy->contact_count; ++k)
        greedy->wait[k].gain = GAIN_FIRST;
}

void spragGreedySweep(spragGreedy *greedy)
{
    runRound(greedy, EVERY, 0, INFINITY);
}

void spragGreedyRun(spragGreedy *greedy, double enough, long least, long most, double deadline)
{
    double greatest = runRound(greedy, INFINITY, least, deadline);
    while (greatest > enough && greedy->visits < most) {
        greatest = runRound(greedy, SHARE * greatest, least, deadline);
        if (deadline < INFINITY && greedy->visits >= least && spragSeconds() > deadline)
            break;
    }
}
