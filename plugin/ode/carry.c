#include "ode/carry.h"

#include <string.h>

#include "linalg/lu.h"
#include "linalg/vec3.h"
#include "ode/ledger.h"

enum { POINTS_MOST = 64 };
#define RIDGE 1e-15 /* of the trace: points on one line carry no moment about it */
#define STILL 1e-4  /* of the arm: what the bodies have slid and parted in a step */
#define MOVED 1e-12 /* of the arm */
#define ROUGH 1e-3  /* m/s: who asks for no more than this, and not for the best in a time, has it sooner without */

/* Two bodies, and what their points of the last step leave to be carried. */
typedef struct Pair {
    dBodyID body[2];
    int serial[2];
    int next;          /* another of the same key, or -1 */
    int joint[2];      /* first and last point of this step, or -1 */
    double F[3], M[3]; /* N, N m about the origin, on body[0] */
} Pair;

typedef struct Carry {
    struct spragWorld *world;
    spragPointerMap index; /* of a pair */
    Pair *pair;
    int count;
    int *next; /* (joint_count) next point of the pair, or -1 */
} Carry;

/* Where the point is by now, at each body; 1: the same place, and both bodies are there.  What moves is left alone: its
 * points come and go for good reasons. */
static int isStill(const spragSnapshot *s, const spragContactMemory *memory, double at[3])
{
    double to[2][3], apart[3];
    for (int side = 0; side < 2; ++side) {
        memcpy(to[side], memory->position, sizeof to[side]);
        if (memory->body[side] == NULL)
            continue;
        const int k = spragPointerMapGet(&s->body_index, memory->body[side]);
        if (k < 0 || s->body[k].serial != memory->serial[side])
            return 0;
        for (int i = 0; i < 3; ++i) /* x + R local */
            to[side][i] = s->body[k].position[i] + spragDot3(s->body[k].rotation + 3 * i, memory->local[side]);
    }
    for (int i = 0; i < 3; ++i) {
        at[i] = 0.5 * (to[0][i] + to[1][i]);
        apart[i] = to[0][i] - to[1][i];
    }
    return spragNorm3(apart) <= STILL * memory->arm;
}

/* 1: these are the pair's bodies, -1: in the other order, 0: two others of the same key. */
static int orderOf(const Pair *pair, const dBodyID body[2], const int serial[2])
{
    for (int turned = 0; turned < 2; ++turned)
        if (body[turned] == pair->body[0] && body[!turned] == pair->body[1] && serial[turned] == pair->serial[0] &&
            serial[!turned] == pair->serial[1])
            return turned ? -1 : 1;
    return 0;
}

static Pair *findPair(const Carry *carry, const dBodyID body[2], const int serial[2])
{
    for (int k = spragPointerMapGet(&carry->index, spragLedgerPair(body)); k >= 0; k = carry->pair[k].next)
        if (orderOf(&carry->pair[k], body, serial) != 0)
            return &carry->pair[k];
    return NULL;
}

static Pair *pairOf(Carry *carry, const spragContactMemory *memory)
{
    const void *key = spragLedgerPair(memory->body);
    Pair *pair = findPair(carry, memory->body, memory->serial);
    if (pair != NULL)
        return pair;
    pair = &carry->pair[carry->count];
    *pair = (Pair){.body = {memory->body[0], memory->body[1]},
                   .serial = {memory->serial[0], memory->serial[1]},
                   .next = spragPointerMapGet(&carry->index, key),
                   .joint = {-1, -1}};
    spragPointerMapPut(&carry->index, key, carry->count++);
    return pair;
}

static void addMoment(Pair *pair, const double arm[3], const double force[3], double sign)
{
    double moment[3];
    spragCross3(moment, arm, force);
    for (int a = 0; a < 3; ++a)
        pair->M[a] += sign * moment[a];
}

static int forceOf(const spragContactMemory *memory, double force[3])
{
    for (int a = 0; a < 3; ++a)
        force[a] = memory->normal_force * memory->normal[a] + memory->friction[a];
    return !memory->is_guide && memory->normal_force > 0;
}

static void carryLost(Carry *carry, const spragContactMemory *memory)
{
    double force[3], at[3];
    if (memory->fate != SPRAG_RECORD_LEFT || !forceOf(memory, force) || !isStill(&carry->world->snapshot, memory, at))
        return;
    Pair *pair = pairOf(carry, memory);
    const double sign = orderOf(pair, memory->body, memory->serial);
    for (int a = 0; a < 3; ++a)
        pair->F[a] += sign * force[a];
    addMoment(pair, at, force, sign);
}

/* Of a point that goes on elsewhere: its force goes with it, its moment does not.  The guess has the normal force along the
 * new normal, and friction across it: what the turn of the normal takes is given back. */
static void carryMoved(Carry *carry, int j)
{
    spragSnapshot *s = &carry->world->snapshot;
    const spragJointState *joint = &s->joint[j];
    const spragContactMemory *memory = &carry->world->memory[joint->memory];
    const dReal *p = joint->contact->geom.pos, *n = joint->contact->geom.normal;
    double force[3], at[3];
    if (!forceOf(memory, force) || !isStill(s, memory, at))
        return;
    Pair *pair = pairOf(carry, memory);
    const double up = joint->reversed ? -1 : 1, normal[3] = {up * n[0], up * n[1], up * n[2]};
    const double along = memory->normal_force - spragDot3(memory->friction, normal);
    for (int a = 0; a < 3; ++a) {
        s->carried[j][a] = memory->normal_force * memory->normal[a] - along * normal[a];
        at[a] -= p[a];
    }
    addMoment(pair, at, force, orderOf(pair, memory->body, memory->serial));
}

/* b of the sum above, from the moment (3); 0 where all points are one. */
static void turnOf(int count, const double (*d)[3], double moment[3])
{
    double I[9] = {0};
    int pivot[3];
    for (int i = 0; i < count; ++i)
        for (int row = 0; row < 3; ++row)
            for (int column = 0; column < 3; ++column)
                I[3 * row + column] += (row == column ? spragDot3(d[i], d[i]) : 0) - d[i][row] * d[i][column];
    const double ridge = RIDGE * (I[0] + I[4] + I[8]);
    for (int row = 0; row < 3; ++row)
        I[4 * row] += ridge;
    if (spragLuFactor(3, I, pivot, 0) == 3)
        spragLuSolve(3, I, pivot, moment);
    else
        memset(moment, 0, 3 * sizeof *moment);
}

static void share(const Carry *carry, const Pair *pair)
{
    spragSnapshot *s = &carry->world->snapshot;
    int joint[POINTS_MOST], count = 0;
    double c[3] = {0, 0, 0}, d[POINTS_MOST][3], b[3], turn[3];
    for (int j = pair->joint[0]; j >= 0 && count < POINTS_MOST; j = carry->next[j])
        joint[count++] = j;
    for (int i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a)
            c[a] += s->joint[joint[i]].contact->geom.pos[a] / count;
    for (int i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a)
            d[i][a] = s->joint[joint[i]].contact->geom.pos[a] - c[a];
    spragCross3(b, pair->F, c);
    for (int a = 0; a < 3; ++a)
        b[a] += pair->M[a];
    turnOf(count, (const double(*)[3])d, b);
    for (int i = 0; i < count; ++i) {
        const dBodyID first = s->body[s->joint[joint[i]].body[0]].id;
        const double sign = first == pair->body[0] ? 1 : -1;
        spragCross3(turn, b, d[i]);
        for (int a = 0; a < 3; ++a)
            s->carried[joint[i]][a] += sign * (pair->F[a] / count + turn[a]);
    }
}

/* The points of this step, in their order. */
static void addPoint(Carry *carry, int j)
{
    const spragSnapshot *s = &carry->world->snapshot;
    const spragJointState *joint = &s->joint[j];
    const spragBodyState *other = joint->body[1] < 0 ? NULL : &s->body[joint->body[1]];
    const dBodyID body[2] = {s->body[joint->body[0]].id, other == NULL ? NULL : other->id};
    const int serial[2] = {s->body[joint->body[0]].serial, other == NULL ? 0 : other->serial};
    Pair *pair = findPair(carry, body, serial);
    if (pair == NULL)
        return;
    int *ends = pair->joint;
    carry->next[j] = -1;
    *(ends[0] < 0 ? &ends[0] : &carry->next[ends[1]]) = j;
    ends[1] = j;
}

/* A point of an island of several bodies; islands of one are solved from modes, not from forces. */
static int counts(const spragSnapshot *s, const spragJointState *joint)
{
    return joint->contact != NULL && joint->body[0] >= 0 && joint->island >= 0 &&
           s->island[joint->island].body_count > 1;
}

static int hasMoved(const struct spragWorld *world, const spragJointState *joint)
{
    const spragContactMemory *memory = joint->memory < 0 ? NULL : &world->memory[joint->memory];
    const double least = memory == NULL ? 0 : MOVED * memory->arm;
    const double up = joint->reversed ? -1 : 1;
    double square = 0;
    for (int a = 0; a < 3 && memory != NULL; ++a) {
        const double by = joint->contact->geom.pos[a] - memory->position[a],
                     turn = memory->arm * (up * joint->contact->geom.normal[a] - memory->normal[a]);
        square += by * by + turn * turn;
    }
    return square > least * least;
}

int spragCarryForces(spragWorldID world)
{
    spragSnapshot *s = &world->snapshot;
    Carry carry = {.world = world};
    int most = 0;
    if (world->config.tolerance >= ROUGH && !(world->config.time_limit > 0))
        return 1;
    for (int k = 0; k < world->memory_count; ++k)
        most += world->memory[k].fate == SPRAG_RECORD_LEFT;
    for (int j = 0; j < s->joint_count; ++j)
        most += counts(s, &s->joint[j]) && hasMoved(world, &s->joint[j]);
    if (most == 0)
        return 1;
    carry.pair = SPRAG_TAKE_RAW(&world->arena, Pair, most + 1);
    carry.next = SPRAG_TAKE_RAW(&world->arena, int, s->joint_count);
    s->carried = spragArenaTake(&world->arena, (size_t)s->joint_count, sizeof *s->carried);
    if (s->carried == NULL || carry.pair == NULL || carry.next == NULL ||
        !spragPointerMapMake(&carry.index, &world->arena, most))
        return 0;
    for (int k = 0; k < world->memory_count; ++k)
        carryLost(&carry, &world->memory[k]);
    for (int j = 0; j < s->joint_count; ++j)
        if (counts(s, &s->joint[j]) && hasMoved(world, &s->joint[j]))
            carryMoved(&carry, j);
    for (int j = 0; j < s->joint_count; ++j)
        if (counts(s, &s->joint[j]))
            addPoint(&carry, j);
    for (int k = 0; k < carry.count; ++k)
        if (carry.pair[k].joint[0] >= 0)
            share(&carry, &carry.pair[k]);
    return 1;
}
