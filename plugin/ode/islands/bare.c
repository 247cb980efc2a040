/* Which contacts may come here; rows, q and guess of each; pairs whose contacts may be opposed, which refuse the
 * island; and its answer by visits (matrix_free.h): like any other's, of a heap that is stirred, or of what seems to
 * rest. */
#include "ode/islands/bare.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/extremes.h"
#include "base/pool.h"
#include "base/prefetch.h"
#include "linalg/vec3.h"
#include "ode/matrix/matrix_free.h"
#include "ode/rows/face.h"
#include "ode/rows/free_motion.h"
#include "ode/rows/rows.h"
#include "ode/shape/velocity_product.h"
#include "ode/work/heap.h"
#include "ode/work/slop.h"
#include "ode/work/visits_end.h"
#include "ode/world/body_mass.h"
#include "problem/creep.h"
#include "problem/residual.h"
#include "solve/greedy/greedy_solve.h"

enum { AHEAD = 4 }; /* joints: what memory takes */

/* ---------------------------------------------------------------- who */

/* The rows of an island while they are made. */
typedef struct Rows {
    struct spragWorld *world;
    spragIsland *island;
    spragBare *bare;
    double (*foreseen)[3]; /* (body_count) as of spragFreeMotion; or NULL */
    const spragPointerMap *surfaces;
    int sticks; /* 1: contacts may have mu = infinity, */
    int rolls;  /* 1: and rolling friction */
    int weighs; /* 1: bodies that slept do not matter */
    /* Contacts that begin a group (below): of each range opener_count from opener[opener_start] on. */
    int *opener; /* (joint_count) */
    int opener_start[SPRAG_RANGES_MOST], opener_count[SPRAG_RANGES_MOST];
    atomic_int refused; /* 1: some contact is not plain, or slides with p <= 0, or a body has no mass */
} Rows;

/* Friction that yields along both tangents holds nothing in conflict (heap.c). */
enum { SLIPS = dContactSlip1 | dContactSlip2 };

static int isPlain(const Rows *rows, const spragJointState *joint)
{
    const dContact *contact = joint->contact;
    if (contact == NULL || joint->listened ||
        (rows->world->surface_count > 0 && spragPointerMapGet(rows->surfaces, joint->id) >= 0))
        return 0;
    if (spragFrictionIsInfinite(&contact->surface) && !rows->sticks && (contact->surface.mode & SLIPS) != SLIPS)
        return 0;
    return spragContactIsPlain(contact, 1) || spragContactSticks(contact, 1) ||
           (rows->rolls && spragContactIsRoller(contact, 1));
}

/* Has one of the first `count` contacts rolling friction? */
static int roll(const spragSnapshot *s, const spragIsland *island, int count)
{
    for (int k = 0; k < count; ++k) {
        const dContact *contact = s->joint[island->joint[k]].contact;
        if (contact != NULL && spragContactIsRoller(contact, 1))
            return 1;
    }
    return 0;
}

/* ---------------------------------------------------------------- rows */

/* Velocity of the contact's point on the first body against that on the second, from the bodies' own (6). */
static void relative(const double *a, const double *b, const double (*arm)[4], double v[3])
{
    double turn[3];
    spragCross3(turn, a + 3, arm[0]);
    for (int i = 0; i < 3; ++i)
        v[i] = a[i] + turn[i];
    if (b == NULL)
        return;
    spragCross3(turn, b + 3, arm[1]);
    for (int i = 0; i < 3; ++i)
        v[i] -= b[i] + turn[i];
}

/* What a contact may take over from the one before it. */
typedef struct Before {
    const dContactGeom *geom; /* NULL: there is none */
    int own_frame;            /* 1: its tangents follow from its normal alone */
    const spragBodyState *body[2];
    spragRound round[2];      /* the geoms of these */
    spragCurvature curvature; /* at a contact with the normal n */
    double n[3];
    int is_flat; /* 1: of the geoms and n alone, whatever the point */
    spragFace face;
    const int *pair; /* of the last contact that shares its pair with others; or NULL, */
    double push[3];  /* and of the first of its group */
} Before;

static void makeFrame(const spragJointState *joint, Before *before, spragGreedyContact *c)
{
    const dContact *contact = joint->contact;
    spragContactNormal(joint, c->direction[0]);
    const int same = before->geom != NULL && before->own_frame && !(contact->surface.mode & dContactFDir1) &&
                     memcmp(c[-1].direction[0], c->direction[0], 3 * sizeof(double)) == 0;
    if (same)
        memcpy(c->direction[1], c[-1].direction[1], 2 * sizeof c->direction[1]);
    else
        before->own_frame = spragContactFrame(contact, c->direction[0], c->direction[1], c->direction[2]);
    for (int row = 0; row < 3; ++row)
        c->direction[row][3] = 0;
}

static spragRound roundOf(double radius, dGeomID geom)
{
    return (spragRound){geom, radius, spragCurvatureIsRound(radius) && spragCurvatureIsBall(geom),
                        spragCurvatureIsBox(radius, geom)};
}

/* Of a geom that a contact with the body names. */
static spragRound findRound(const spragSnapshot *s, int body, dGeomID geom)
{
    return spragIsDynamic(s, body) && s->round[body].geom == geom
               ? s->round[body]
               : roundOf(spragCurvatureRadius(body < 0 ? NULL : s->body[body].id, geom), geom);
}

/* As spragCurvatureSink, of what is a ball or not round. */
static void sinkBalls(const Before *before, const spragBodyState *const body[2], const double point[3],
                      const double n[3], double radius[2])
{
    const int both = before->round[0].is_ball && before->round[1].is_ball;
    for (int side = 0; side < 2; ++side) {
        if (!before->round[side].is_ball)
            continue;
        const double *centre = body[side]->position;
        const double arm[3] = {centre[0] - point[0], centre[1] - point[1], centre[2] - point[2]};
        radius[side] = spragCurvatureAlong(radius[side], spragCurvatureLeast(radius[side], both), arm, n, 1 - 2 * side);
    }
}

/* As spragCurvatureOf, without a look at ODE's geoms and bodies, which lie anywhere, where the contact before it or the
 * snapshot tells enough.  n: the contact's normal. */
static const spragCurvature *curvatureOf(const Rows *rows, const spragBodyState *const body[2],
                                         const spragJointState *joint, const double n[3], Before *before)
{
    spragCurvature *curvature = &before->curvature;
    const dContactGeom *geom = &joint->contact->geom;
    const dGeomID of[2] = {spragGeomOf(joint, 0), spragGeomOf(joint, 1)};
    const double point[3] = {geom->pos[0], geom->pos[1], geom->pos[2]};
    int known = before->geom != NULL, balls = 0, others = 0;
    for (int side = 0; side < 2; ++side)
        known = known && before->body[side] == body[side] && before->round[side].geom == of[side];
    before->geom = geom;
    if (known && before->is_flat && memcmp(before->n, n, sizeof before->n) == 0)
        return curvature;
    for (int side = 0; side < 2; ++side) {
        spragRound *round = &before->round[side];
        before->body[side] = body[side];
        if (!known)
            *round = findRound(&rows->world->snapshot, joint->body[side], of[side]);
        curvature->radius[side] = round->radius;
        balls |= round->is_ball;
        others |= !round->is_ball && spragCurvatureIsRound(round->radius);
    }
    memcpy(before->n, n, sizeof before->n);
    before->is_flat = !balls && !others;
    curvature->has_axis = 0;
    curvature->rim.share = 0;
    if (balls && !others)
        sinkBalls(before, body, point, n, curvature->radius);
    else if (before->round[0].is_box && before->round[1].is_box)
        spragCurvatureFlatten(curvature->radius, body[0]->rotation, body[1]->rotation, n);
    else
        spragCurvatureFind(curvature, of, point, n, geom->depth);
    return curvature;
}

/* Last step's impulse, turned into this frame, and what it has of points that are no more (carry.h). */
static void guess(const spragSnapshot *s, int j, const spragContactMemory *old, spragGreedyContact *c)
{
    const double h = s->step, *const t1 = c->direction[1], *const t2 = c->direction[2];
    memset(c->r, 0, sizeof c->r);
    if (old != NULL) {
        c->r[0] = old->normal_force * h;
        c->r[1] = spragDot3(old->friction, t1) * h;
        c->r[2] = spragDot3(old->friction, t2) * h;
    }
    if (s->carried == NULL)
        return;
    const double *force = s->carried[j];
    c->r[0] = spragMax(0, c->r[0] + spragDot3(force, c->direction[0]) * h);
    c->r[1] += spragDot3(force, t1) * h;
    c->r[2] += spragDot3(force, t2) * h;
}

/* Row, q and guess of its rolling friction, the same. */
static void fillRoll(const Rows *rows, int k)
{
    const spragSnapshot *s = &rows->world->snapshot;
    const spragJointState *joint = &s->joint[rows->island->joint[k]];
    const spragGreedyContact *c = &rows->bare->greedy.contact[k];
    spragGreedyRoll *roll = &rows->bare->greedy.roll[k];
    double turning[3];
    for (int i = 0; i < 3; ++i)
        turning[i] = s->body[joint->body[0]].free_velocity[3 + i] -
                     (joint->body[1] < 0 ? 0 : s->body[joint->body[1]].free_velocity[3 + i]);
    *roll = (spragGreedyRoll){.length = spragLengthOf(s, joint->body)};
    if (!spragContactIsRoller(joint->contact, 1))
        return;
    roll->mu = spragRollerBound(joint->contact, roll->length);
    for (int i = 0; i < 3; ++i) {
        const double *axis = c->direction[(i + 1) % 3];
        roll->q[i] = roll->length * spragDot3(axis, turning);
        if (joint->memory >= 0)
            roll->r[i] = spragDot3(axis, rows->world->memory[joint->memory].moment) * s->step / roll->length;
    }
}

/* A contact that is being filled. */
typedef struct Filled {
    const spragJointState *joint;
    const spragContactMemory *old; /* or NULL */
    const spragBodyState *body[2]; /* the second may be NULL */
    double point[3];               /* m, where its rows hold: on its face's middle */
    spragGreedyContact *c;
} Filled;

/* Its frame and its point, and where it is on its bodies. */
static void placeContact(const Rows *rows, int k, Before *before, Filled *filled)
{
    const spragSnapshot *s = &rows->world->snapshot;
    const spragJointState *joint = &s->joint[rows->island->joint[k]];
    const dReal *const position = joint->contact->geom.pos;
    spragGreedyContact *c = &rows->bare->greedy.contact[k];
    *filled = (Filled){.joint = joint,
                       .old = joint->memory >= 0 ? &rows->world->memory[joint->memory] : NULL,
                       .body = {&s->body[joint->body[0]], joint->body[1] < 0 ? NULL : &s->body[joint->body[1]]},
                       .c = c};
    c->mu = spragPlainMu(joint->contact);
    makeFrame(joint, before, c);
    spragFaceFind(rows->world, rows->island, k, &before->face);
    spragFacePoint((double[3]){position[0], position[1], position[2]}, c->direction[0], before->face.middle,
                   filled->point);
    for (int side = 0; side < 2; ++side) {
        const spragBodyState *body = filled->body[side];
        rows->bare->greedy.pair[k][side] = body != NULL && !body->kinematic ? body->place : rows->island->body_count;
        for (int i = 0; i < 3; ++i)
            c->arm[side][i] = body == NULL ? 0 : filled->point[i] - body->position[i];
    }
}

/* m/s, world axes: how its bodies slip on each other as the step begins, and would without contacts as it ends, with
 * h Jdot v.  (Of mu = infinity what that has along the normal alone, as spragBlockProduct.)
 * Returns what that leaves out along n (velocity_product.h, Pressing). */
static double slipOf(const Rows *rows, const Filled *filled, Before *before, double start[3], double end[3])
{
    const spragBodyState *const *body = filled->body;
    const spragFace *face = &before->face;
    const spragGreedyContact *c = filled->c;
    const double h = rows->world->snapshot.step, *const n = c->direction[0];
    const int holds = !isfinite(c->mu);
    double product[3], rest[3];
    relative(body[0]->velocity, body[1] == NULL ? NULL : body[1]->velocity, (const double(*)[4])c->arm, start);
    relative(body[0]->free_velocity, body[1] == NULL ? NULL : body[1]->free_velocity, (const double(*)[4])c->arm, end);
    const spragCurvature *curvature = curvatureOf(rows, body, filled->joint, n, before);
    const double *middle = face->end - face->begin == 1 ? NULL : face->middle;
    const spragCurvedContact curved = {body, curvature, n, filled->point, middle, fabs(c->mu), filled->old != NULL};
    const double along = spragFaceProduct(&curved, h, product, rest), part = spragDot3(n, rest),
                 pressing = filled->old != NULL ? spragMin(along, 0) : 0,
                 off = along - pressing - (holds ? 0 : spragDot3(n, product));
    for (int i = 0; i < 3; ++i) {
        end[i] += h * ((holds ? 0 : product[i]) + off * n[i]);
        if (filled->old != NULL && !holds)
            start[i] -= h * (rest[i] - part * n[i]);
    }
    return h * pressing;
}

/* Rows, q, guess and history of one contact, as ode/rows/rows.c and ode/matrix/assemble.c have them. */
static void fillContact(const Rows *rows, int k, Before *before)
{
    const struct spragWorld *world = rows->world;
    const spragSnapshot *s = &world->snapshot;
    Filled filled;
    double start[3], end[3], change[3], first[3], last[3];
    placeContact(rows, k, before, &filled);
    const double pressing = slipOf(rows, &filled, before, start, end);
    spragGreedyContact *c = filled.c;
    const spragJointState *joint = filled.joint;
    const dContactGeom *geom = &joint->contact->geom;
    const dSurfaceParameters *surface = &joint->contact->surface;
    const double belt[3] = {0, surface->mode & dContactMotion1 ? surface->motion1 : 0,
                            surface->mode & dContactMotion2 ? surface->motion2 : 0};
    for (int i = 0; i < 3; ++i) {
        first[i] = spragDot3(c->direction[i], start) - belt[i];
        last[i] = spragDot3(c->direction[i], end) - belt[i];
        change[i] = last[i] - first[i];
        c->q[i] = last[i];
    }
    change[0] += pressing;
    const double approach = first[0] - pressing;
    spragNormalRow row = spragNormalRowOf(world, joint->contact, NULL, approach);
    spragSlopLeave(world, rows->island, joint->body, joint->memory, rows->island->joint_count, geom->depth, &row);
    c->direction[0][3] = row.compliance;
    c->direction[1][3] = surface->mode & dContactSlip1 ? surface->slip1 / world->snapshot.step : 0;
    c->direction[2][3] = surface->mode & dContactSlip2 ? surface->slip2 / world->snapshot.step : 0;
    c->q[0] -= row.rhs;
    c->nu = 0;
    guess(s, rows->island->joint[k], filled.old, c);
    const int rests = filled.old != NULL && spragRestsAt(filled.old, first + 1, change);
    rows->bare->contact[k] = (spragBareContact){.slip = {rests ? 0 : first[1], rests ? 0 : first[2]},
                                                .approach = approach,
                                                .acceleration = change[0] / s->step,
                                                .position = {geom->pos[0], geom->pos[1], geom->pos[2]},
                                                .depth = geom->depth};
}

double spragBareSlope(const spragGreedyContact *c, const double slip[2])
{
    const double speed = spragNorm2(slip), *W = c->normal; /* symmetric */
    return speed > SPRAG_SLIP_TOLERANCE && isfinite(c->mu) ? W[0] - c->mu * (W[1] * slip[0] + W[2] * slip[1]) / speed
                                                           : W[0];
}

static void askJoint(const Rows *rows, int k)
{
    const spragSnapshot *s = &rows->world->snapshot;
    const spragJointState *joint = &s->joint[rows->island->joint[k]];
    const spragContactMemory *old = joint->memory >= 0 ? &rows->world->memory[joint->memory] : NULL;
    if (joint->contact != NULL) { /* of a surface as a rule mode and mu are read, its first line */
        __builtin_prefetch(joint->contact);
        spragPrefetch(&joint->contact->geom, sizeof joint->contact->geom);
    }
    spragAskBodies(s->body, joint, SPRAG_HOW_THEY_MOVE);
    for (int side = 0; side < 2 && joint->body[side] >= 0; ++side) {
        __builtin_prefetch(&s->body[joint->body[side]]);
        __builtin_prefetch(&s->round[joint->body[side]]);
    }
    if (old != NULL) /* what it did, not where it was */
        __builtin_prefetch(&old->normal_force);
}

/* ---------------------------------------------------------------- contacts that may be opposed */

#define SIDE_BY_SIDE 0.9 /* cosine: contacts of one group */
#define OPPOSED -0.5     /* less than this between two groups, and some of theirs might be opposed */

/* Contacts of a pair of bodies that push much the same way. */
typedef struct Group {
    double push[3]; /* what the first of them pushes the first body of the pair by */
    int before;     /* another of the pair, or -1 */
} Group;

typedef struct Groups {
    spragPointerMap last; /* of a pair */
    Group *group;
    int count;
} Groups;

static int samePair(const int a[2], const int b[2])
{
    return a[0] == b[0] && a[1] == b[1];
}

/* A new group of the pair; 0: it may be opposed to another. */
static int addGroup(Groups *groups, const int body[2], const double push[3])
{
    const void *key = spragBodyPair(body);
    const int before = spragPointerMapGet(&groups->last, key);
    for (int g = before; g >= 0; g = groups->group[g].before)
        if (!(spragDot3(groups->group[g].push, push) > OPPOSED))
            return 0;
    groups->group[groups->count] = (Group){.push = {push[0], push[1], push[2]}, .before = before};
    spragPointerMapPut(&groups->last, key, groups->count++);
    return 1;
}

/* What the pair's body of the lower number is pushed by. */
static void pushOf(const int body[2], const spragGreedyContact *c, double push[3])
{
    const double sign = body[1] >= 0 && body[0] > body[1] ? -1 : 1;
    for (int i = 0; i < 3; ++i)
        push[i] = sign * c->direction[0][i];
}

/* Is it of the group that the one before it is of?  (before: NULL, or the pair and the push of that.) */
static int goesOn(const int *before, const double *group, const int body[2], const double push[3])
{
    return before != NULL && samePair(before, body) && spragDot3(group, push) > SIDE_BY_SIDE;
}

/* Does the contact, one of several of its pair, begin a group? */
static int begins(const spragJointState *joint, const spragGreedyContact *c, Before *before)
{
    double push[3];
    pushOf(joint->body, c, push);
    const int goes_on = goesOn(before->pair, before->push, joint->body, push);
    before->pair = joint->body;
    if (!goes_on)
        memcpy(before->push, push, sizeof push);
    return !goes_on;
}

/* Does one pair have contacts that may be opposed?  Or there is no memory. */
static int mayOppose(const Rows *rows)
{
    enum { SOON = 12 }; /* groups */
    const spragIsland *island = rows->island;
    const int ranges = spragRangeCount(island->joint_count);
    int count = 0, opposed = 0;
    for (int range = 0; range < ranges; ++range)
        count += rows->opener_count[range];
    const int *before = NULL;
    double push[3];
    Groups groups = {.group = SPRAG_TAKE_RAW(&island->lane->arena, Group, count)};
    if (groups.group == NULL || !spragPointerMapMake(&groups.last, &island->lane->arena, count))
        return 1;
    for (int range = 0; range < ranges && !opposed; ++range) {
        for (int i = 0; i < rows->opener_count[range] && !opposed; ++i) {
            const int k = rows->opener[rows->opener_start[range] + i];
            if (i + SOON < rows->opener_count[range]) {
                const int soon = rows->opener[rows->opener_start[range] + i + SOON];
                __builtin_prefetch(&rows->bare->greedy.contact[soon]);
                spragPointerMapAsk(&groups.last, spragBodyPair(rows->world->snapshot.joint[island->joint[soon]].body));
            }
            const int *body = rows->world->snapshot.joint[island->joint[k]].body;
            pushOf(body, &rows->bare->greedy.contact[k], push);
            if (!goesOn(before, groups.count > 0 ? groups.group[groups.count - 1].push : NULL, body, push))
                opposed = !addGroup(&groups, body, push);
            before = body;
        }
    }
    return opposed;
}

/* ---------------------------------------------------------------- ranges */

/* What follows from the rows of each, while they are near. */
static void fillRange(void *data, int range, int first, int end)
{
    enum { NEAR = 32 };
    Rows *rows = data;
    spragGreedy *greedy = &rows->bare->greedy;
    Before before = {0};
    /* Of high friction in haste what slides with p <= 0 is no reason. */
    const int hurries = (rows->island->pile.sticks || rows->island->pile.steep) && rows->island->before.haste > 0;
    int refused = 0, openers = 0;
    for (int from = first, to = from; from < end && !refused; from = to) {
        for (; to < end && to < from + NEAR; ++to) {
            const spragJointState *joint = &rows->world->snapshot.joint[rows->island->joint[to]];
            if (to + AHEAD < end)
                askJoint(rows, to + AHEAD);
            refused = !isPlain(rows, joint);
            if (refused)
                break;
            fillContact(rows, to, &before);
            if (!joint->alone && begins(joint, &greedy->contact[to], &before))
                rows->opener[first + openers++] = to;
            if (greedy->roll != NULL)
                fillRoll(rows, to);
        }
        spragGreedyFill(greedy, from, to);
        for (int k = from; k < to && !hurries; ++k)
            refused |= !(spragBareSlope(&greedy->contact[k], rows->bare->contact[k].slip) > 0);
    }
    rows->opener_start[range] = first, rows->opener_count[range] = openers;
    if (refused)
        atomic_store(&rows->refused, 1);
}

/* The snapshot has no mass of a body that slept, or was idle.  0: this has none either, which spragAssemble reports. */
static int weigh(const Rows *rows, int index)
{
    spragBodyState *body = &rows->world->snapshot.body[index];
    if (body->mass == 0 && rows->weighs && spragBodyMass(body, index) != SPRAG_OK)
        body->mass = 0;
    return body->mass != 0;
}

/* Free motion, roundness and masses of the island's bodies first .. end - 1; one without a mass is none for this. */
static void moveRange(void *data, int range, int first, int end)
{
    enum { SOON = 8, GEOM = 128 }; /* bodies; bytes that are read of a geom */
    (void)range;
    Rows *rows = data;
    const spragSnapshot *s = &rows->world->snapshot;
    int massless = 0;
    for (int i = first; i < end; ++i) {
        const int index = rows->island->body[i];
        spragBodyState *body = &s->body[index];
        if (i + SOON < end) {
            const int soon = rows->island->body[i + SOON];
            spragPrefetch(s->geom[soon], GEOM);
            spragPrefetch(&s->body[soon], offsetof(spragBodyState, idle_velocity));
        }
        if (weigh(rows, index))
            spragFreeMotion(rows->world, body, rows->foreseen != NULL ? rows->foreseen[i] : NULL);
        else
            massless = 1;
        const dGeomID geom = s->geom[index];
        s->round[index] = roundOf(geom == NULL ? 0 : spragCurvatureOwn(geom), geom);
        spragMatrixFreeBody(body, &rows->bare->greedy.body[i]);
    }
    if (massless)
        atomic_store(&rows->refused, 1);
}

int spragBareContactOf(const spragIsland *island, int block)
{
    int low = 0, high = island->joint_count - 1; /* ascending */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (island->joint[middle] < island->block[block].joint)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void spragBareUndo(struct spragWorld *world, const spragIsland *island)
{
    for (int i = 0; i < island->body_count; ++i) {
        spragBodyState *body = &world->snapshot.body[island->body[i]];
        memcpy(body->free_velocity, body->velocity, sizeof body->velocity);
    }
}

static spragBare *takeBare(const struct spragWorld *world, const spragIsland *island, int rolls)
{
    spragArena *arena = &island->lane->arena;
    const int n = island->joint_count;
    spragBare *bare = SPRAG_TAKE_RAW(arena, spragBare, 1);
    if (bare == NULL || !spragMatrixFreeInit(world, island, n, rolls, &bare->greedy))
        return NULL;
    bare->contact = SPRAG_TAKE_RAW(arena, spragBareContact, n);
    bare->others = SPRAG_TAKE_RAW(arena, double, 4 * n);
    bare->u = bare->others + n;
    return bare->contact == NULL || bare->others == NULL ? NULL : bare;
}

#define STIRRED_LEFT 1e-4 /* m/s, of an island that is stirred: the next step goes on from there */
#define VAIN 0.1          /* of the creep is left: Newton's method was asked in vain */
#define GROWS 2           /* times what it left: then it is asked again */
#define CALMED_MOST 1e-10 /* m/s */
#define SLACK 4           /* times the creep that visits end: so much may the next step begin with, */
#define LESS 0.9          /* and with less and less in those that follow, by so much in each */
enum { MANY = 2000 };     /* contacts whose W takes longer than many visits */

/* Does it cost too much to have the answer to rounding?  Then Newton has been asked, and declined.  (Its factors may be
 * known all the same, from steps that had more work.) */
static int isDear(const struct spragWorld *world, const spragIsland *island)
{
    const spragBlockLuMemo *memo = &world->memo;
    return island == world->largest && memo->size > 0 && memo->n == island->body_count && memo->refused;
}

/* m/s, the creep that Newton's method was asked to end in vain, as the island's records say (spragBareCalmed). */
static double calmedOf(const struct spragWorld *world, const spragIsland *island)
{
    for (int k = 0; k < island->joint_count; ++k) {
        const int record = world->snapshot.joint[island->joint[k]].memory;
        if (record >= 0)
            return world->memory[record].calmed;
    }
    return 0;
}

double spragBareCalmed(const spragIsland *island, double before)
{
    if (island->declined != NULL || island->greedy != NULL)
        return 0;
    const double left = spragVelocityCreep(&island->problem, island->r, island->u);
    return left > VAIN * before && left <= CALMED_MOST ? left : 0;
}

/* Fills rows->bare.  0: some contact refuses, or there is no memory. */
static int makeRows(Rows *rows)
{
    const spragIsland *island = rows->island;
    rows->bare = takeBare(rows->world, island, rows->rolls);
    rows->opener = SPRAG_TAKE_RAW(&island->lane->arena, int, island->joint_count);
    if (rows->bare == NULL || rows->opener == NULL)
        return 0;
    double(*moment)[3] = spragArenaTake(&island->lane->arena, (size_t)island->body_count, sizeof *moment);
    if (moment == NULL)
        return 0;
    rows->foreseen = spragMomentsForesee(rows->world, rows->surfaces, island, moment) ? moment : NULL;
    atomic_init(&rows->refused, 0);
    spragRangesRun(island->body_count, moveRange, rows);
    if (!atomic_load(&rows->refused))
        spragRangesRun(island->joint_count, fillRange, rows);
    if (!atomic_load(&rows->refused) && !mayOppose(rows))
        return 1;
    spragBareUndo(rows->world, island);
    return 0;
}

void spragBareMake(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    const spragConfig *config = &world->config;
    const int n = island->joint_count;
    island->bare = NULL;
    island->pile.stirred = 0;
    /* Wanted: its answer may be rough, or must come soon.  What rests comes here too where an exact answer is asked
     * for: its guess may be that. */
    const int wanted = spragMatrixFreeWanted(world, island, n), heap = spragIslandSparesW(world, island),
              exact = !wanted || spragMatrixFreeIsEasy(world) || heap;
    const spragRest rests = exact && n > SPRAG_BLOCKS_MANY ? spragMatrixFreeRests(world, island) : SPRAG_REST_NONE;
    if (island->contact_count != n || !(wanted || rests))
        return;
    const int weighs = rests != SPRAG_REST_FULL; /* with sleepers at rest blocks are exact sooner */
    Rows rows = {.world = world,
                 .island = island,
                 .surfaces = surfaces,
                 .sticks = island->pile.sticks || config->time_limit > 0 || config->tolerance >= SPRAG_ROUGH,
                 .rolls = roll(s, island, 1)};
    if (!isPlain(&rows, &s->joint[island->joint[0]])) /* then, as a rule, none is */
        return;
    rows.weighs = weighs && (heap || rows.rolls);
    int made = makeRows(&rows);
    if (!made && !rows.rolls && roll(s, island, n)) {
        rows.rolls = 1;
        rows.weighs = weighs;
        made = makeRows(&rows);
    }
    if (!made)
        return;
    island->bare = rows.bare;
    island->pile.stirred = heap && rests != SPRAG_REST_NONE && (rests < SPRAG_REST_FULL || island->before.haste > 0);
    rows.bare->rests = rests;
    island->calmed = rests ? calmedOf(world, island) : 0;
    island->block_count = island->row_count = 0;
}

/* ---------------------------------------------------------------- answer */

/* Visits it like any other, from what visits of what is stirred have left. */
static spragStatus visitLonger(const spragSolveOptions *options, spragIsland *island)
{
    spragBare *bare = island->bare;
    const int before = island->solve.iterations;
    const spragStatus status = spragGreedySolve(options, &bare->greedy, bare->others, bare->u, &island->solve);
    island->solve.iterations += before;
    island->solve.method_iterations[SPRAG_SOLVER_GAUSS_SEIDEL] += before;
    return status;
}

/* A heap that rests but for a few bodies.  With mu = infinity it may be a row that two walls press together, which
 * visits let fall: what they leave of it goes on to W.  So does what may be a wedge: boxes that had sunk into each
 * other were left at 2300 m/s, and thrown. */
static spragStatus solveStirred(const struct spragWorld *world, const spragSolveOptions *options, spragIsland *island)
{
    spragBare *bare = island->bare;
    spragSolveOptions rough = *options;
    if (bare->rests == SPRAG_REST_MOST)
        rough.tolerance = fmax(options->tolerance, SPRAG_MISSED);
    spragStatus status = spragGreedySolveStirred(&rough, &bare->greedy, bare->others, bare->u, &island->solve);
    if (!(island->solve.residual <= STIRRED_LEFT)) /* a blow */
        status = visitLonger(options, island);
    const int holds = island->pile.sticks && island->before.haste == 0 && !(island->solve.residual <= STIRRED_LEFT),
              goes_on = holds || (!island->pile.sticks && !island->pile.steep && spragVisitsMayBeWedged(world, island));
    return status == SPRAG_NOT_CONVERGED && !goes_on ? SPRAG_LIMIT : status;
}

/* A large island that rests and creeps, and for which W would have to be made and Newton's method: some visits, as long
 * as steps begin with less and less creep, as the records say (-calmed: with how much the next one may).  Towers of 125
 * cubes that touch, 3600 contacts, took 60 to 110 ms in each of ten steps, and 300 in one that began just above the
 * tolerance; they take 5, and rest after as many steps.  (Rows of ten towers of ten, 1000 contacts, whose visits end it
 * slowly, took three times as long so.) */
static int endsCreep(const spragSolveOptions *options, spragIsland *island)
{
    spragGreedy *greedy = &island->bare->greedy;
    const double most = island->calmed < 0 ? -island->calmed : SLACK * greedy->creep;
    if (options->time_limit > 0 || island->contact_count <= MANY || greedy->creep > most ||
        spragGreedyCalm(options, greedy, island->bare->u, &island->solve) != SPRAG_OK)
        return 0;
    island->calmed = -LESS * most;
    return 1;
}

/* An island that seems to rest, from its guess.  In haste, and under a time limit: what is worse than the tolerance,
 * and for which the chain has no time, is visited like any other. */
static spragStatus solveRest(struct spragWorld *world, const spragSolveOptions *options, spragIsland *island)
{
    spragBare *bare = island->bare;
    const double begin = spragSeconds(), slow = fmax(SPRAG_CREEP_SLOW, GROWS * island->calmed);
    const int roughly = isDear(world, island);
    const spragStatus status =
        spragGreedySolveRest(options, roughly, slow, &bare->greedy, bare->others, bare->u, &island->solve);
    spragSolveOptions left = *options;
    left.time_limit = spragTimeLeft(options->time_limit, begin);
    if (status != SPRAG_NOT_CONVERGED)
        return status;
    if (!roughly && endsCreep(options, island))
        return SPRAG_OK;
    if (!(options->time_limit > 0))
        return island->before.haste > 0 && !(island->solve.residual <= STIRRED_LEFT) ? visitLonger(options, island)
                                                                                     : status;
    if (spragGreedyMayEnd(&bare->greedy, left.time_limit))
        return status;
    if (island->solve.residual <= options->tolerance)
        return island->solve.status = SPRAG_OK;
    return visitLonger(&left, island);
}

int spragBareSolve(struct spragWorld *world, const spragSolveOptions *options, spragIsland *island)
{
    spragBare *bare = island->bare;
    const spragStatus status = island->pile.stirred ? solveStirred(world, options, island)
                               : bare->rests
                                   ? solveRest(world, options, island)
                                   : spragGreedySolve(options, &bare->greedy, bare->others, bare->u, &island->solve);
    if (status == SPRAG_NOT_CONVERGED && !spragVisitsSuffice(world, island, &bare->greedy))
        return 0;
    if (!isfinite(island->solve.residual))
        spragIslandFail(island, "no finite solution was found");
    else
        spragMatrixFreeImpulses(&world->snapshot, island, &bare->greedy);
    return 1;
}
