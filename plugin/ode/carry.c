#include "ode/carry.h"

#include <math.h>
#include <string.h>

#include "linalg/lu.h"
#include "linalg/vec3.h"
#include "ode/ledger.h"

enum { POINTS_MOST = 64 };
/* Of the trace: points on one line carry no moment about it.  Those nearly on one line would, by any force: what it takes
 * more than there was is left out, with the greater ridge, or all of the moment. */
#define RIDGE 1e-15
#define RIDGE_NARROW 1e-3
#define STILL 1e-4  /* of the arm: what the bodies have slid and parted in a step */
#define MOVED 1e-12 /* of the arm */
#define ROUGH 1e-3  /* m/s: who asks for no more than this, and not for the best in a time, has it sooner without */

/* Two bodies, and what their points of the last step leave to be carried. */
typedef struct Pair {
    dBodyID body[2];
    int index[2], serial[2]; /* in the snapshot, -1: the world */
    double F[3], M[3];       /* N, N m about the origin, on body[0] */
    double size;             /* N, sum of the forces it comes from */
    int given;               /* 1: there is something */
} Pair;

/* Where the point is by now, at each of its bodies; 1: the same place.  What moves is left alone: its points come and go
 * for good reasons. */
static int isStill(const spragSnapshot *s, const spragContactMemory *memory, const int body[2], double at[3])
{
    double to[2][3], apart[3];
    for (int side = 0; side < 2; ++side) {
        memcpy(to[side], memory->position, sizeof to[side]);
        const spragBodyState *state = body[side] < 0 ? NULL : &s->body[body[side]];
        for (int i = 0; i < 3 && state != NULL; ++i) /* x + R local */
            to[side][i] = state->position[i] + spragDot3(state->rotation + 3 * i, memory->local[side]);
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

static void carryLost(const spragSnapshot *s, const spragContactMemory *memory, Pair *pair)
{
    double force[3], at[3];
    const int sign = orderOf(pair, memory->body, memory->serial), turned = sign < 0;
    const int body[2] = {pair->index[turned], pair->index[!turned]};
    if (sign == 0 || !forceOf(memory, force) || !isStill(s, memory, body, at))
        return;
    for (int a = 0; a < 3; ++a)
        pair->F[a] += sign * force[a];
    addMoment(pair, at, force, sign);
    pair->size += spragNorm3(force);
    pair->given = 1;
}

/* Of a point that goes on elsewhere: its force goes with it, its moment does not, which others of the pair can make up
 * for.  The guess has the normal force along the new normal, and friction across it: what the turn of the normal takes is
 * given back. */
static void carryMoved(spragSnapshot *s, int j, const spragContactMemory *memory, int alone, Pair *pair)
{
    const spragJointState *joint = &s->joint[j];
    const dReal *p = joint->contact->geom.pos, *n = joint->contact->geom.normal;
    double force[3], at[3];
    if (!forceOf(memory, force) || !isStill(s, memory, joint->body, at))
        return;
    const double up = joint->reversed ? -1 : 1, normal[3] = {up * n[0], up * n[1], up * n[2]};
    const double along = memory->normal_force - spragDot3(memory->friction, normal);
    for (int a = 0; a < 3; ++a) {
        s->carried[j][a] = memory->normal_force * memory->normal[a] - along * normal[a];
        at[a] -= p[a];
    }
    if (alone)
        return;
    addMoment(pair, at, force, orderOf(pair, memory->body, memory->serial));
    pair->size += spragNorm3(force);
    pair->given = 1;
}

/* Forces turn_i = b x d_i with sum d_i x turn_i = moment, b from I b = moment, I = sum |d_i|^2 - d_i d_i'.  Returns
 * their size, N; infinity: there is no b. */
static double turnOf(int count, const double (*d)[3], const double moment[3], double ridge, double (*turn)[3])
{
    double I[9] = {0}, b[3] = {moment[0], moment[1], moment[2]}, square = 0;
    int pivot[3];
    for (int i = 0; i < count; ++i)
        for (int row = 0; row < 3; ++row)
            for (int column = 0; column < 3; ++column)
                I[3 * row + column] += (row == column ? spragDot3(d[i], d[i]) : 0) - d[i][row] * d[i][column];
    const double trace = I[0] + I[4] + I[8];
    for (int row = 0; row < 3; ++row)
        I[4 * row] += ridge * trace;
    if (spragLuFactor(3, I, pivot, 0) != 3)
        return INFINITY;
    spragLuSolve(3, I, pivot, b);
    for (int i = 0; i < count; ++i) {
        spragCross3(turn[i], b, d[i]);
        square += spragDot3(turn[i], turn[i]);
    }
    return sqrt(square);
}

/* To points j, next[j] .. of the pair. */
static void share(spragSnapshot *s, const Pair *pair, int j, const int *next)
{
    int joint[POINTS_MOST], count = 0;
    double c[3] = {0, 0, 0}, d[POINTS_MOST][3], turn[POINTS_MOST][3], moment[3];
    for (; j >= 0 && count < POINTS_MOST; j = next[j])
        joint[count++] = j;
    for (int i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a)
            c[a] += (double)s->joint[joint[i]].contact->geom.pos[a] / count;
    for (int i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a)
            d[i][a] = s->joint[joint[i]].contact->geom.pos[a] - c[a];
    spragCross3(moment, pair->F, c);
    for (int a = 0; a < 3; ++a)
        moment[a] += pair->M[a];
    if (count == 1 || (!(turnOf(count, (const double(*)[3])d, moment, RIDGE, turn) <= pair->size) &&
                       !(turnOf(count, (const double(*)[3])d, moment, RIDGE_NARROW, turn) <= pair->size)))
        memset(turn, 0, (size_t)count * sizeof *turn);
    for (int i = 0; i < count; ++i) {
        const dBodyID first = s->body[s->joint[joint[i]].body[0]].id;
        const double sign = first == pair->body[0] ? 1 : -1;
        for (int a = 0; a < 3; ++a)
            s->carried[joint[i]][a] += sign * (pair->F[a] / count + turn[i][a]);
    }
}

static Pair pairOf(const spragSnapshot *s, const spragJointState *joint)
{
    const spragBodyState *other = joint->body[1] < 0 ? NULL : &s->body[joint->body[1]];
    return (Pair){.index = {joint->body[0], joint->body[1]},
                  .body = {s->body[joint->body[0]].id, other == NULL ? NULL : other->id},
                  .serial = {s->body[joint->body[0]].serial, other == NULL ? 0 : other->serial}};
}

static int hasMoved(const spragJointState *joint, const spragContactMemory *memory)
{
    const double least = MOVED * memory->arm, up = joint->reversed ? -1 : 1;
    double square = 0;
    for (int a = 0; a < 3; ++a) {
        const double by = joint->contact->geom.pos[a] - memory->position[a],
                     turn = memory->arm * (up * joint->contact->geom.normal[a] - memory->normal[a]);
        square += by * by + turn * turn;
    }
    return square > least * least;
}

/* Takes the points of the first one's pair from the list that begins at j; returns where the rest of it begins. */
static int takePoints(const spragSnapshot *s, const Pair *pair, int j, int *next)
{
    int rest = -1, last = -1, last_other = -1;
    for (int following; j >= 0; j = following) {
        const Pair own = pairOf(s, &s->joint[j]);
        const int other = orderOf(pair, own.body, own.serial) == 0;
        int *end = other ? &last_other : &last;
        following = next[j];
        next[j] = -1;
        if (*end >= 0)
            next[*end] = j;
        else if (other)
            rest = j;
        *end = j;
    }
    return rest;
}

int spragCarryBegin(spragWorldID world)
{
    spragSnapshot *s = &world->snapshot;
    int wanted = 0; /* islands of one body are solved from modes, not from forces */
    for (int k = 0; k < s->island_count; ++k)
        wanted |= s->island[k].body_count > 1;
    if (!wanted || (world->config.tolerance >= ROUGH && !(world->config.time_limit > 0)))
        return 1;
    s->carried = spragArenaTake(&world->arena, (size_t)s->joint_count, sizeof *s->carried);
    return s->carried != NULL;
}

void spragCarryForces(spragWorldID world, int j, int *next, int left, const int *next_left)
{
    spragSnapshot *s = &world->snapshot;
    for (int rest; j >= 0; j = rest) {
        Pair pair = pairOf(s, &s->joint[j]);
        rest = takePoints(s, &pair, j, next);
        if (s->island[s->joint[j].island].body_count == 1)
            continue;
        for (int k = left; k >= 0; k = next_left[k])
            if (world->fate[k] == SPRAG_RECORD_LEFT)
                carryLost(s, &world->memory[k], &pair);
        for (int i = j; i >= 0; i = next[i]) {
            const int own = s->joint[i].memory;
            if (own >= 0 && hasMoved(&s->joint[i], &world->memory[own]))
                carryMoved(s, i, &world->memory[own], next[j] < 0, &pair);
        }
        if (pair.given)
            share(s, &pair, j, next);
    }
}
