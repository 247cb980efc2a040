#include "ode/ledger/carry.h"

#include <math.h>
#include <string.h>

#include "linalg/lu.h"
#include "linalg/vec3.h"
#include "ode/rows/rows.h"

enum {
    POINTS_MOST = 64, /* of a pair, that take part */
    POINTS_LEAST = 3, /* for shares by load: fewer points carry no moment about their line */
    ROUNDS = 30       /* of shares by load */
};
/* Added to the matrix of moments, relative to its trace.  Points on one line carry no moment about it; points nearly on
 * one line carry it by huge forces, which the greater ridge keeps small: part of the moment is then left out. */
#define RIDGE 1e-15
#define RIDGE_NARROW 1e-3
#define SHARED 1e-12 /* of the load: what is left to share out is then rounding */
#define INSIDE 0.9   /* of friction's bound: a force is put no deeper inside its cone */
#define STILL 1e-4   /* of the arm: a point moves if its two bodies slide by more in a step, */
#define PARTS 1e-2   /* or part by more (STILL, where they have no other contact) */
#define RESTS 1e-7   /* of the arm: forces are shared by load, within their cones, if no point moves by more */
#define MOVED 1e-12  /* of the arm: a contact that is as near to the point of its record is where it was */
#define ALIKE 0.99   /* cosine: normals that push the same way */
#define ROUGH 1e-3   /* m/s: with a tolerance from here on, and no time limit, solutions come sooner without all this */

/* Two bodies, and what has to be carried of the forces at their points of the last step. */
typedef struct Pair {
    dBodyID body[2];
    int index[2], serial[2]; /* in the snapshot, -1: the world */
    double F[3], M[3];       /* N, N m about the origin, on body[0] */
    double size;             /* N, sum of the sizes of the forces that F and M come from */
    double slid;             /* the farthest that the bodies moved apart at one of the points, relative to its arm */
    int given;               /* 1: there is something to carry */
} Pair;

/* at: where the point of a record is now, as its two bodies carried it, half-way between the two places.  1: both
 * places are the same.  alone: the pair has one contact.
 *
 * Forces of points that move are not carried: such points come and go for good reasons.  But a wall that ERP pushes out
 * of its overlaps rests otherwise, though its points part (without their forces a step took 50 ms in place of 11). */
static int isStill(const spragSnapshot *s, const spragContactMemory *memory, const int body[2], double at[3], int alone,
                   Pair *pair)
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
    pair->slid = fmax(pair->slid, spragNorm3(apart) / memory->arm);
    const double along = fabs(spragDot3(apart, memory->normal)), across = spragDot3(apart, apart) - along * along;
    return along <= (alone ? STILL : PARTS) * memory->arm && across <= STILL * STILL * memory->arm * memory->arm;
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

/* The force that the guess would be with nothing carried: the record's normal force along the new normal, and of its
 * friction the part across it. */
static void guessOf(const spragContactMemory *memory, const double normal[3], double force[3])
{
    const double along = memory->normal_force - spragDot3(memory->friction, normal);
    for (int a = 0; a < 3; ++a)
        force[a] = along * normal[a] + memory->friction[a];
}

/* 1: the contact's first body is the record's; -1: it is the record's second. */
static int sameOrder(const spragSnapshot *s, const spragJointState *joint, const spragContactMemory *memory)
{
    return s->name[joint->body[0]].id == memory->body[0] ? 1 : -1;
}

/* Of the pair's contacts j, next[j] .. the nearest to the record's point that pushes the same way, or -1. */
static int nearestOf(const spragSnapshot *s, const spragContactMemory *memory, const double at[3], int j,
                     const int *next)
{
    double least = INFINITY; /* squared */
    int nearest = -1;
    for (; j >= 0; j = next[j]) {
        const spragJointState *joint = &s->joint[j];
        const dReal *p = joint->contact->geom.pos;
        const double by[3] = {p[0] - at[0], p[1] - at[1], p[2] - at[2]}, apart = spragDot3(by, by);
        double normal[3];
        spragContactNormal(joint, normal);
        if (apart < least && sameOrder(s, joint, memory) * spragDot3(normal, memory->normal) > ALIKE)
            least = apart, nearest = j;
    }
    return nearest;
}

/* A point that is no more.  Where the bodies rest its force goes to the nearest contact, which may have borne nothing
 * and would get nothing by load: where edges coincide a collider names two points of a corner, or one and another along
 * the edge.  What the moment lacks then is shared out. */
static void carryLost(spragSnapshot *s, const spragContactMemory *memory, int j, const int *next, Pair *pair)
{
    double force[3], at[3];
    const int sign = orderOf(pair, memory->body, memory->serial), turned = sign < 0;
    const int body[2] = {pair->index[turned], pair->index[!turned]};
    if (sign == 0 || !forceOf(memory, force) || !isStill(s, memory, body, at, next[j] < 0, pair))
        return;
    const int nearest = pair->slid <= RESTS ? nearestOf(s, memory, at, j, next) : -1;
    for (int a = 0; a < 3; ++a) {
        if (nearest < 0) {
            pair->F[a] += sign * force[a];
            continue;
        }
        s->carried[nearest][a] += sameOrder(s, &s->joint[nearest], memory) * force[a];
        at[a] -= s->joint[nearest].contact->geom.pos[a];
    }
    addMoment(pair, at, force, sign);
    pair->size += spragNorm3(force);
    pair->given = 1;
}

/* Is the contact where the point is, and does it push the same way? */
static int isThere(const spragJointState *joint, const double normal[3], const double at[3],
                   const spragContactMemory *memory)
{
    double by[3], turn[3];
    for (int a = 0; a < 3; ++a) {
        by[a] = joint->contact->geom.pos[a] - at[a];
        turn[a] = memory->arm * (normal[a] - memory->normal[a]);
    }
    const double least = MOVED * memory->arm;
    return spragDot3(by, by) + spragDot3(turn, turn) <= least * least;
}

/* A point that goes on, but elsewhere or with another normal.  Its force goes with it; what the guess lacks of that, as
 * the normal has turned, is added.  The moment changes as the force moves: other points of the pair make up for
 * that. */
static void carryMoved(spragSnapshot *s, int j, const spragContactMemory *memory, int alone, Pair *pair)
{
    const spragJointState *joint = &s->joint[j];
    const dReal *p = joint->contact->geom.pos;
    double force[3], normal[3], guess[3], at[3];
    spragContactNormal(joint, normal);
    if (isThere(joint, normal, memory->position, memory) || !forceOf(memory, force) ||
        !isStill(s, memory, joint->body, at, alone, pair) ||
        isThere(joint, normal, at, memory)) /* it is where it was, or has moved with its bodies */
        return;
    guessOf(memory, normal, guess);
    for (int a = 0; a < 3; ++a) {
        s->carried[j][a] += force[a] - guess[a];
        at[a] -= p[a];
    }
    if (alone)
        return;
    addMoment(pair, at, force, orderOf(pair, memory->body, memory->serial));
    pair->size += spragNorm3(force);
    pair->given = 1;
}

/* The part of a contact's last force that its guess is without (echo.h). */
static void carryEcho(const spragJointState *joint, const spragContactMemory *memory, Pair *pair)
{
    const double size = memory->echoes ? spragNorm3(memory->echo) : 0;
    if (!(size > 0))
        return;
    const int sign = orderOf(pair, memory->body, memory->serial);
    const double at[3] = {joint->contact->geom.pos[0], joint->contact->geom.pos[1], joint->contact->geom.pos[2]};
    for (int a = 0; a < 3; ++a)
        pair->F[a] += sign * memory->echo[a];
    addMoment(pair, at, memory->echo, sign);
    pair->size += size;
    pair->given = 1;
}

/* A point of a pair in this step; forces on the pair's first body. */
typedef struct Point {
    int joint;
    double sign;                    /* -1: the joint's first body is the pair's second */
    double x[3], normal[3], now[3]; /* m; N, the guess so far */
    double force[3];                /* N, the guess with what is carried */
    double weight, share[3];        /* their product is what the point gets */
} Point;

/* Shares out F, and M about x = 0, by the points' weights (carry.h: f_i = weight share).  0: these points cannot. */
static int shareOut(int count, Point *point, const double F[3], const double M[3], double ridge)
{
    double sum = 0, c[3] = {0, 0, 0}, I[9] = {0}, b[3], d[POINTS_MOST][3];
    int pivot[3];
    for (int i = 0; i < count; ++i)
        sum += point[i].weight;
    for (int i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a)
            c[a] += point[i].weight / sum * point[i].x[a];
    for (int i = 0; i < count; ++i) {
        for (int a = 0; a < 3; ++a)
            d[i][a] = point[i].x[a] - c[a];
        for (int row = 0; row < 3; ++row)
            for (int column = 0; column < 3; ++column)
                I[3 * row + column] +=
                    point[i].weight * ((row == column ? spragDot3(d[i], d[i]) : 0) - d[i][row] * d[i][column]);
    }
    const double trace = I[0] + I[4] + I[8];
    for (int row = 0; row < 3; ++row)
        I[4 * row] += ridge * trace;
    if (!(sum > 0) || spragLuFactor(3, I, pivot, 0) != 3)
        return 0;
    spragCross3(b, F, c);
    for (int a = 0; a < 3; ++a)
        b[a] += M[a];
    spragLuSolve(3, I, pivot, b);
    for (int i = 0; i < count; ++i) {
        spragCross3(point[i].share, b, d[i]);
        for (int a = 0; a < 3; ++a)
            point[i].share[a] += F[a] / sum;
    }
    return 1;
}

/* A force that is not within the cone of its contact is put as far inside as it was outside. */
static void putWithin(const spragSnapshot *s, Point *point)
{
    const dSurfaceParameters *surface = &s->joint[point->joint].contact->surface;
    const double mu = surface->mode & dContactMu2 ? fmin(surface->mu, surface->mu2) : surface->mu;
    const double load = spragDot3(point->force, point->normal);
    double across[3];
    for (int a = 0; a < 3; ++a)
        across[a] = point->force[a] - load * point->normal[a];
    const double size = spragNorm3(across), bound = surface->mode & dContactApprox1 ? mu * load : mu;
    if (load >= 0 && size <= bound)
        return;
    const double kept = load > 0 ? fmax(INSIDE, 2 - size / bound) * bound / size : 0;
    for (int a = 0; a < 3; ++a)
        point->force[a] = fmax(0, load) * point->normal[a] + kept * across[a];
}

/* Shares out by load, with all forces within their cones: what the cones cut off is shared out again.  0: failed. */
static int shareWithin(const spragSnapshot *s, const Pair *pair, const double given[3], int count, Point *point)
{
    double F[3], M[3], load = 0, arm = 0;
    memcpy(F, pair->F, sizeof F);
    memcpy(M, given, sizeof M);
    for (int i = 0; i < count; ++i) {
        load += point[i].weight = fmax(0, spragDot3(point[i].now, point[i].normal));
        arm = fmax(arm, spragNorm3(point[i].x));
    }
    for (int round = 0; round < ROUNDS && shareOut(count, point, F, M, RIDGE); ++round) {
        memcpy(F, pair->F, sizeof F); /* F, M: what is still to be shared out */
        memcpy(M, given, sizeof M);
        for (int i = 0; i < count; ++i) {
            double left[3], moment[3];
            for (int a = 0; a < 3; ++a)
                point[i].force[a] += point[i].weight * point[i].share[a];
            putWithin(s, &point[i]);
            for (int a = 0; a < 3; ++a)
                left[a] = point[i].now[a] - point[i].force[a];
            spragCross3(moment, point[i].x, left);
            for (int a = 0; a < 3; ++a)
                F[a] += left[a], M[a] += moment[a];
        }
        const double least = SHARED * (load + pair->size);
        if (spragNorm3(F) <= least && spragNorm3(M) <= least * arm)
            return 1;
    }
    return 0;
}

/* Shares out with equal weights, cones or not.  If that takes forces greater than those that there were, the moment is
 * left out. */
static void shareChange(const Pair *pair, const double given[3], int count, Point *point)
{
    static const double ridge[2] = {RIDGE, RIDGE_NARROW};
    int found = 0;
    for (int i = 0; i < count; ++i)
        point[i].weight = 1;
    for (int k = 0; k < 2 && count > 1 && !found; ++k) {
        found = shareOut(count, point, pair->F, given, ridge[k]);
        for (int i = 0; i < count && found; ++i)
            found = spragNorm3(point[i].share) <= pair->size;
    }
    for (int i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a)
            point[i].force[a] = point[i].now[a] + (found ? point[i].share[a] : pair->F[a] / count);
}

static void makePoint(const struct spragWorld *world, const Pair *pair, int j, Point *point)
{
    const spragSnapshot *s = &world->snapshot;
    const spragJointState *joint = &s->joint[j];
    const spragContactMemory *memory = joint->memory < 0 ? NULL : &world->memory[joint->memory];
    *point = (Point){.joint = j, .sign = s->body[joint->body[0]].id == pair->body[0] ? 1 : -1};
    spragContactNormal(joint, point->normal);
    if (memory != NULL)
        guessOf(memory, point->normal, point->now);
    for (int a = 0; a < 3; ++a) {
        point->x[a] = joint->contact->geom.pos[a];
        point->force[a] = point->now[a] = point->sign * (point->now[a] + s->carried[j][a]);
        point->normal[a] *= point->sign;
    }
}

/* Shares out the pair's F and M to its contacts j, next[j] .. */
static void share(struct spragWorld *world, const Pair *pair, int j, const int *next)
{
    const spragSnapshot *s = &world->snapshot;
    Point point[POINTS_MOST];
    double first[3], moment[3]; /* about the first point */
    int count = 0;
    for (; j >= 0 && count < POINTS_MOST; j = next[j])
        makePoint(world, pair, j, &point[count++]);
    memcpy(first, point[0].x, sizeof first);
    spragCross3(moment, pair->F, first);
    for (int a = 0; a < 3; ++a) {
        moment[a] += pair->M[a];
        for (int i = 0; i < count; ++i)
            point[i].x[a] -= first[a];
    }
    if (count < POINTS_LEAST || pair->slid > RESTS || !shareWithin(s, pair, moment, count, point))
        shareChange(pair, moment, count, point);
    for (int i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a)
            s->carried[point[i].joint][a] += point[i].sign * (point[i].force[a] - point[i].now[a]);
}

static Pair pairOf(const spragSnapshot *s, const spragJointState *joint)
{
    const spragBodyName *first = &s->name[joint->body[0]], none = {0},
                        *other = joint->body[1] < 0 ? &none : &s->name[joint->body[1]];
    return (Pair){.index = {joint->body[0], joint->body[1]},
                  .body = {first->id, other->id},
                  .serial = {first->serial, other->serial}};
}

/* Splits the list that begins at j in two: the contacts of this pair stay, those of others become a list whose first is
 * returned (-1: none). */
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
    int wanted = 0; /* not for islands of one body: their solutions start from modes, not from forces */
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
                carryLost(s, &world->memory[k], j, next, &pair);
        for (int i = j; i >= 0; i = next[i]) {
            const int own = s->joint[i].memory;
            if (own < 0)
                continue;
            carryMoved(s, i, &world->memory[own], next[j] < 0, &pair);
            carryEcho(&s->joint[i], &world->memory[own], &pair);
        }
        if (pair.given)
            share(world, &pair, j, next);
    }
}
