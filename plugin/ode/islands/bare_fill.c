/* The rows of all contacts of an island (bare_rows.h), in ranges; what may be a slot, or is not plain, refuses it. */
#include "ode/islands/bare_rows.h"

#include <stddef.h>
#include <string.h>

#include "base/pool.h"
#include "base/prefetch.h"
#include "linalg/vec3.h"
#include "ode/rows/free_motion.h"
#include "ode/rows/rows.h"
#include "ode/world/body_mass.h"

/* Friction that yields along both tangents holds nothing in conflict (heap.c). */
enum { SLIPS = dContactSlip1 | dContactSlip2 };

int spragBareIsPlain(const spragBareRows *rows, const spragJointState *joint)
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

enum { AHEAD = 4 }; /* joints: what memory takes */

static void askJoint(const spragBareRows *rows, int k)
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
        __builtin_prefetch(&s->geom_radius[joint->body[side]]);
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
static int begins(const spragJointState *joint, const spragGreedyContact *c, spragBareBefore *before)
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
static int mayOppose(const spragBareRows *rows)
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
    spragBareRows *rows = data;
    spragGreedy *greedy = &rows->bare->greedy;
    spragBareBefore before = {0};
    /* Of high friction in haste what slides with p <= 0 is no reason. */
    const int hurries = (rows->island->pile.sticks || rows->island->pile.steep) && rows->island->before.haste > 0;
    int refused = 0, openers = 0;
    for (int from = first, to = from; from < end && !refused; from = to) {
        for (; to < end && to < from + NEAR; ++to) {
            const spragJointState *joint = &rows->world->snapshot.joint[rows->island->joint[to]];
            if (to + AHEAD < end)
                askJoint(rows, to + AHEAD);
            refused = !spragBareIsPlain(rows, joint);
            if (refused)
                break;
            spragBareContactFill(rows, to, &before);
            if (!joint->alone && begins(joint, &greedy->contact[to], &before))
                rows->opener[first + openers++] = to;
            if (greedy->roll != NULL)
                spragBareRollFill(rows, to);
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
static int weigh(const spragBareRows *rows, int index)
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
    spragBareRows *rows = data;
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
        s->geom_radius[index] = spragGeomRadiusOf(geom == NULL ? 0 : spragCurvatureOwn(geom), geom);
        spragMatrixFreeBody(body, &rows->bare->greedy.body[i]);
    }
    if (massless)
        atomic_store(&rows->refused, 1);
}

/* ---------------------------------------------------------------- all of an island */

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

int spragBareRowsMake(spragBareRows *rows)
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
