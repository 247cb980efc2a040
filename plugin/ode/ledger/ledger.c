#include "ode/ledger/ledger.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "base/prefetch.h"
#include "base/status.h"
#include "linalg/vec3.h"
#include "ode/joints/bearing.h"
#include "ode/joints/guide.h"
#include "ode/ledger/carry.h"
#include "ode/ledger/stay.h"
#include "ode/rows/rows.h"
#include "ode/world/layout.h"

/* ---------------------------------------------------------------- serials */

/* Which of the snapshot's first `count` joints still lives at this address, or -1: none, or the joint there is a new
 * one. In its step ODE has numbered the joints that were there, and those that Sprag disabled have a number of their
 * own. */
static int findLiving(const spragSnapshot *s, int count, dJointID id)
{
    int j = count - 1;
    while (j >= 0 && s->joint[j].id != id)
        --j;
    const int solved = j >= 0 && s->joint[j].island >= 0 && s->island[s->joint[j].island].declined == NULL;
    return solved && spragLayoutJointMark(id) == SPRAG_MARK_NEW ? -1 : j;
}

void spragLedgerMark(spragWorldID world)
{
    const spragSnapshot *s = &world->snapshot;
    world->marked = 1;
    for (int j = 0; j < s->joint_count && s->numbered && !world->called; ++j)
        if (s->joint[j].serial != 0)
            spragLayoutMarkJoint(s->joint[j].id, s->joint[j].serial);
    if (!world->called)
        return;
    int count = s->joint_count; /* the list has the newest joint first, the snapshot last */
    for (dJointID id = spragLayoutFirstJoint(world->world); id != NULL; id = spragLayoutNextJoint(id)) {
        const int j = findLiving(s, count, id);
        if (j >= 0 && s->joint[j].serial != 0)
            spragLayoutMarkJoint(id, s->joint[j].serial);
        count = j >= 0 ? j : count;
    }
}

/* ---------------------------------------------------------------- surfaces */

/* Is it the surface of a contact that was given none? */
static int saysNothing(const spragSurface *surface)
{
    return surface->mu_static <= 0 && surface->curvature_radius[0] < 0 && surface->curvature_radius[1] < 0 &&
           !(surface->stiffness > 0);
}

spragStatus spragLedgerAddSurface(spragWorldID world, dJointID joint, const spragSurface *surface)
{
    if (saysNothing(surface))
        return SPRAG_OK;
    if (!spragGrow((void **)&world->surface, &world->surface_capacity, (size_t)world->surface_count + 1,
                   sizeof *world->surface))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the surface of one more contact");
    const int mark = spragSerialOf(world, 0);
    spragLayoutMarkJoint(joint, mark);
    world->surface[world->surface_count++] =
        (spragSurfaceRecord){.joint = joint, .mark = mark, .surface = *surface, .used = 0};
    return SPRAG_OK;
}

spragStatus spragLedgerFindSurfaces(spragWorldID world, spragPointerMap *map)
{
    const spragSnapshot *s = &world->snapshot;
    if (!spragPointerMapMake(map, &world->arena, world->surface_count))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for %d contact surfaces", world->surface_count);
    if (world->surface_count == 0)
        return SPRAG_OK;
    for (int k = 0; k < world->surface_count; ++k)
        spragPointerMapPut(map, world->surface[k].joint, k); /* a later record of one address is the right one */
    for (int j = 0; j < s->joint_count; ++j) {
        const int k = s->joint[j].contact == NULL ? -1 : spragPointerMapGet(map, s->joint[j].id);
        if (k < 0 || spragLayoutJointMark(s->joint[j].id) != world->surface[k].mark)
            continue;
        world->surface[k].used = 1;
        s->joint[j].serial = world->surface[k].mark;
        world->snapshot.numbered = 1;
    }
    int kept = 0;
    for (int k = 0; k < world->surface_count; ++k) {
        const spragSurfaceRecord record = world->surface[k];
        if (spragPointerMapGet(map, record.joint) != k)
            continue; /* an older record of the same address */
        spragPointerMapPut(map, record.joint, record.used ? kept : -1);
        if (record.used) {
            world->surface[kept] = record;
            world->surface[kept++].used = 0;
        }
    }
    world->surface_count = kept;
    return SPRAG_OK;
}

/* ---------------------------------------------------------------- contacts of the last step */

void spragContactLocal(const spragSnapshot *s, const spragJointState *joint, double local[2][3])
{
    const dReal *p = joint->contact->geom.pos;
    for (int side = 0; side < 2; ++side) {
        double d[3] = {p[0], p[1], p[2]};
        if (joint->body[side] < 0) {
            memcpy(local[side], d, sizeof d);
            continue;
        }
        const spragBodyState *body = &s->body[joint->body[side]];
        for (int i = 0; i < 3; ++i)
            d[i] -= body->position[i];
        spragMulTransposed33(local[side], body->rotation, d);
    }
}

const void *spragLedgerPair(const dBodyID body[2])
{
    return spragPointerPair(body[0], body[1]);
}

static dBodyID bodyId(const spragSnapshot *s, int body)
{
    return body < 0 ? NULL : s->name[body].id;
}

#define NEAR 0.1  /* of the arm: how far a contact may have moved on a body at rest */
#define SAME 1e-6 /* of the arm: no nearer record is looked for */

/* A contact looking for its predecessor. */
typedef struct Seeker {
    dBodyID body[2];
    int serial[2];
    dGeomID geom[2];
    double local[2][3];
    double travel[2]; /* m, m per m of arm: how far the bodies move in two steps; once has_travel */
    int has_travel;
} Seeker;

static void makeSeeker(const spragSnapshot *s, const spragJointState *joint, Seeker *seeker)
{
    seeker->has_travel = 0;
    for (int side = 0; side < 2; ++side) {
        seeker->geom[side] = spragGeomOf(joint, side);
        seeker->body[side] = bodyId(s, joint->body[side]);
        seeker->serial[side] = joint->body[side] >= 0 ? s->name[joint->body[side]].serial : 0;
    }
    spragContactLocal(s, joint, seeker->local);
}

/* m, how far a contact of this arm may have travelled with its bodies. */
static double travelOf(const spragSnapshot *s, const spragJointState *joint, double arm, Seeker *seeker)
{
    if (!seeker->has_travel) {
        seeker->has_travel = 1;
        seeker->travel[0] = seeker->travel[1] = 0;
        for (int side = 0; side < 2; ++side)
            if (joint->body[side] >= 0) {
                const double *v = s->body[joint->body[side]].velocity;
                seeker->travel[0] += 2 * s->step * spragNorm3(v);
                seeker->travel[1] += 2 * s->step * spragNorm3(v + 3);
            }
    }
    return seeker->travel[0] + seeker->travel[1] * arm;
}

/* turned 1: the record names the two bodies in the other order, as spaces do when they sort their geoms anew. */
static int isSamePair(const Seeker *seeker, const spragContactMemory *old, int turned)
{
    for (int side = 0; side < 2; ++side) {
        const int theirs = side ^ turned;
        if (seeker->body[side] != old->body[theirs] || seeker->serial[side] != old->serial[theirs] ||
            (seeker->geom[side] != old->geom[theirs] && old->geom[theirs] != SPRAG_GEOM_GONE))
            return 0;
    }
    return !old->is_guide;
}

void spragLedgerTurn(spragContactMemory *memory)
{
    const spragContactMemory old = *memory;
    for (int side = 0; side < 2; ++side) {
        memory->body[side] = old.body[!side];
        memory->serial[side] = old.serial[!side];
        memory->geom[side] = old.geom[!side];
        memcpy(memory->local[side], old.local[!side], sizeof old.local[0]);
    }
    for (int i = 0; i < 3; ++i) {
        memory->normal[i] = -old.normal[i];
        memory->friction[i] = -old.friction[i];
        memory->echo[i] = -old.echo[i];
        memory->moment[i] = -old.moment[i];
        memory->slip[i] = -old.slip[i];
        memory->slip_now[i] = -old.slip_now[i];
    }
    memory->turned = !old.turned;
}

void spragLedgerForget(spragWorldID world, const spragGone *gone)
{
    for (int k = 0; k < world->memory_count; ++k)
        for (int side = 0; side < 2; ++side)
            if (spragIsGone(gone, world->memory[k].geom[side]))
                world->memory[k].geom[side] = SPRAG_GEOM_GONE;
}

/* The record is the contact's: it has the geoms that this has, if its own are gone. */
static void adopt(const Seeker *seeker, spragContactMemory *memory)
{
    for (int side = 0; side < 2; ++side)
        if (memory->geom[side] != seeker->geom[side]) {
            memory->geom[side] = seeker->geom[side];
            spragGoneKnow(seeker->geom[side]);
        }
}

enum {
    LOOK_MOST = 64
}; /* records of a pair; as colliders give contacts in much the same order each time, few are enough */

/* The record that the contact continues, or -1; it is taken from the list of its pair, which begins at *head.  It is
 * the record nearest to the contact.  The distance is taken in the frames of both bodies.  The smaller one counts: it
 * is at most NEAR of the lever arm and what the bodies travel.  The larger one is at most the arm and that travel; else
 * a body was put elsewhere. */
static int takeMatch(const spragWorldID world, const spragJointState *joint, Seeker *seeker, int *head, int *next)
{
    double best = INFINITY; /* m^2 */
    int found = -1, before_found = -1, looked = 0, turned = 0;
    for (int k = *head, before = -1; k >= 0 && looked < LOOK_MOST; before = k, k = next[k]) {
        const spragContactMemory *old = &world->memory[k];
        const int other = !isSamePair(seeker, old, 0);
        if (other && !isSamePair(seeker, old, 1))
            continue;
        ++looked;
        const double a = spragDistanceSquared3(seeker->local[0], old->local[other]),
                     b = spragDistanceSquared3(seeker->local[1], old->local[!other]), d = a < b ? a : b,
                     far = a < b ? b : a;
        if (d >= best)
            continue;
        double tolerance = NEAR * old->arm, reach = old->arm;
        if (d > tolerance * tolerance || far > reach * reach) {
            const double travel = travelOf(&world->snapshot, joint, old->arm, seeker);
            tolerance += travel;
            reach += travel;
        }
        if (d <= tolerance * tolerance && far <= reach * reach) {
            best = d;
            found = k;
            before_found = before;
            turned = other;
        }
        if (best <= SAME * SAME * old->arm * old->arm)
            break;
    }
    if (turned)
        spragLedgerTurn(&world->memory[found]);
    if (found >= 0) {
        adopt(seeker, &world->memory[found]);
        *(before_found < 0 ? head : &next[before_found]) = next[found];
    }
    return found;
}

/* Lists each joint's records of limits and motors.  0: no memory. */
static int matchLoads(spragWorldID world)
{
    spragSnapshot *s = &world->snapshot;
    spragPointerMap first;
    if (world->load_count == 0)
        return 1;
    if (!spragPointerMapMake(&first, &world->arena, world->load_count))
        return 0;
    for (int k = world->load_count - 1; k >= 0; --k) {
        world->load[k].next = spragPointerMapGet(&first, world->load[k].joint);
        spragPointerMapPut(&first, world->load[k].joint, k);
    }
    for (int j = 0; j < s->joint_count; ++j)
        if (!spragIsContact(&s->joint[j]))
            s->joint[j].memory = spragPointerMapGet(&first, s->joint[j].id);
    return 1;
}

/* Finds the records of guides and of the ends of bearings, by their ids. */
static void findGuideRecords(spragWorldID world)
{
    for (int k = 0; k < world->guide_count; ++k)
        world->guide[k]->memory = -1;
    for (int k = 0; k < world->bearing_count; ++k)
        world->bearing[k].memory[0] = world->bearing[k].memory[1] = -1;
    const int wanted = world->guide_count > 0 || world->bearing_count > 0;
    for (int k = 0; k < world->memory_count && wanted; ++k) {
        const unsigned long long id = world->memory[k].id;
        spragGuideID guide = world->memory[k].is_guide ? spragGuideById(world, id) : NULL;
        struct spragBearing *bearing = world->memory[k].is_guide ? spragBearingById(world, id) : NULL;
        if (guide != NULL)
            guide->memory = k;
        else if (bearing != NULL)
            bearing->memory[id - bearing->id] = k;
    }
}

/* The records that a joint continues, each an index or -1: a contact or guide has one, a bearing one for each end. */
static const int *recordsOf(const spragJointState *joint, int *count)
{
    *count = joint->contact != NULL || joint->guide != NULL ? 1 : joint->bearing != NULL ? SPRAG_BEARING_ENDS : 0;
    return joint->contact != NULL   ? &joint->memory
           : joint->guide != NULL   ? &joint->guide->memory
           : joint->bearing != NULL ? joint->bearing->memory
                                    : NULL;
}

static void setFate(spragWorldID world, const spragJointState *joint, spragRecordFate fate)
{
    int count;
    const int *memory = recordsOf(joint, &count);
    for (int k = 0; k < count; ++k)
        if (memory[k] >= 0)
            world->fate[memory[k]] = (unsigned char)fate;
}

void spragLedgerKeep(spragWorldID world, const spragIsland *island)
{
    for (int i = 0; i < island->joint_count; ++i)
        setFate(world, &world->snapshot.joint[island->joint[i]], SPRAG_RECORD_KEPT);
}

/* ---------------------------------------------------------------- all contacts */

enum {
    AHEAD = 10,       /* records: memory is asked for those that come so much later, */
    FAR = 20,         /* and for where what these are compared with is; */
    MANY = 2000,      /* fewer are near in any case */
    SLOTS = 24,       /* records, contacts: the same, of the map of pairs, */
    MANY_SLOTS = 8000 /* and of fewer that is near, 256 KB */
};

/* Contacts look for their records among those of their pair of bodies.  Pairs have nothing in common, so threads share
 * them. */
typedef struct Match {
    spragWorldID world;
    int *next;             /* (memory_count) the next record of the same pair, or -1 */
    spragPointerMap first; /* the first record of each pair */
    int *seeking;          /* (memory_count) for the first record of a pair: the pair's first contact, or -1 */
    int *pair, *follower;  /* (joint_count) first record of the contact's pair; next contact of the pair; or -1 */
    spragMeanwhileFn *own; /* what this thread does while another lists the records */
    spragStatus status;    /* that `own` ended with */
} Match;

static void listRecords(void *data, int range, int first, int end)
{
    (void)range, (void)first, (void)end;
    Match *match = data;
    const void *last = NULL;
    const int many = match->world->memory_count >= MANY_SLOTS;
    for (int k = match->world->memory_count - 1; k >= 0; --k) { /* as a rule records of one pair lie side by side */
        const void *key = match->world->pair[k];
        if (many && k >= SLOTS && match->world->pair[k - SLOTS] != match->world->pair[k - SLOTS + 1])
            spragPointerMapAsk(&match->first, match->world->pair[k - SLOTS]);
        match->seeking[k] = -1;
        if (key != last && last != NULL)
            spragPointerMapPut(&match->first, last, k + 1);
        match->next[k] = key == last ? k + 1 : spragPointerMapGet(&match->first, key);
        last = key;
    }
    if (last != NULL)
        spragPointerMapPut(&match->first, last, 0);
}

/* How often, along the list of records, the pair changes. */
static int countPairs(const struct spragWorld *world)
{
    int count = 0;
    for (int k = 0; k < world->memory_count; ++k)
        count += k == 0 || world->pair[k] != world->pair[k - 1];
    return count;
}

static const void *pairOf(const spragSnapshot *s, const spragJointState *joint)
{
    return spragLedgerPair((dBodyID[2]){bodyId(s, joint->body[0]), bodyId(s, joint->body[1])});
}

/* Lists joints first .. end - 1 by pairs. */
static void findPairs(void *data, int range, int first, int end)
{
    (void)range;
    Match *match = data;
    const spragSnapshot *s = &match->world->snapshot;
    const void *last = NULL;
    const int many = s->joint_count >= MANY_SLOTS;
    int found = -1;
    for (int j = first; j < end; ++j) {
        const spragJointState *joint = &s->joint[j];
        match->pair[j] = -1;
        if (many && j + SLOTS < end)
            spragPointerMapAsk(&match->first, pairOf(s, &s->joint[j + SLOTS]));
        if (joint->island < 0 || joint->contact == NULL || joint->stray)
            continue;
        const void *key = pairOf(s, joint);
        if (key != last)
            found = spragPointerMapGet(&match->first, key);
        match->pair[j] = found;
        last = key;
    }
}

static void listContacts(Match *match)
{
    const spragSnapshot *s = &match->world->snapshot;
    for (int j = s->joint_count - 1; j >= 0; --j) {
        const int pair = match->pair[j];
        if (pair >= 0) {
            match->follower[j] = match->seeking[pair];
            match->seeking[pair] = j;
        } else if (s->joint[j].island >= 0 && s->joint[j].contact == NULL)
            setFate(match->world, &s->joint[j], SPRAG_RECORD_CONTINUED);
    }
}

/* Asks for what will be read of record k + AHEAD and, if it is the first of a pair, of the pair's contacts. */
static void askPair(const Match *match, int k, int end)
{
    const spragSnapshot *s = &match->world->snapshot;
    for (int j = k + FAR < end ? match->seeking[k + FAR] : -1; j >= 0; j = match->follower[j])
        __builtin_prefetch(&s->joint[j]);
    if (k + AHEAD >= end)
        return;
    spragPrefetch(&match->world->memory[k + AHEAD], offsetof(spragContactMemory, echo)); /* not what few have */
    const int soon = match->seeking[k + AHEAD];
    if (soon >= 0) {
        spragAskBodies(s->body, &s->joint[soon], SPRAG_HOW_THEY_LIE);
        spragStayAsk(s, &s->joint[soon]);
    }
    for (int j = soon; j >= 0; j = match->follower[j]) {
        const dContact *contact = s->joint[j].contact;
        spragPrefetch(&contact->geom, sizeof contact->geom);
        if (s->boxes != NULL) /* it may stay */
            spragPrefetch(&contact->surface, sizeof contact->surface);
    }
}

/* Matches contacts and records of the pairs whose first records are first .. end - 1. */
static void matchPairs(void *data, int range, int first, int end)
{
    (void)range;
    Match *match = data;
    spragSnapshot *s = &match->world->snapshot;
    for (int k = first; k < end; ++k) {
        if (match->world->memory_count >= MANY)
            askPair(match, k, end);
        int left = k; /* first record of the pair that is not taken */
        const unsigned alone = match->seeking[k] >= 0 && match->follower[match->seeking[k]] < 0;
        for (int j = match->seeking[k]; j >= 0; j = match->follower[j]) {
            Seeker seeker;
            makeSeeker(s, &s->joint[j], &seeker);
            if (s->local != NULL)
                memcpy(s->local[j], seeker.local, sizeof seeker.local);
            s->joint[j].alone = alone & 1;
            s->joint[j].crowded = ~alone & 1;
            s->joint[j].memory = takeMatch(match->world, &s->joint[j], &seeker, &left, match->next);
            if (s->joint[j].memory >= 0)
                setFate(match->world, &s->joint[j], SPRAG_RECORD_CONTINUED);
        }
        if (match->seeking[k] >= 0 && s->stays != NULL)
            spragStayTake(match->world, match->seeking[k], match->follower, &left, match->next);
        if (match->seeking[k] >= 0 && s->carried != NULL)
            spragCarryForces(match->world, match->seeking[k], match->follower, left, match->next);
    }
}

/* Room for the places of contacts, where an island is so large that its bodies are far by the time of the report.  0:
 * no memory. */
static int keepPlaces(spragWorldID world)
{
    spragSnapshot *s = &world->snapshot;
    int wanted = 0;
    for (int k = 0; k < s->island_count && !wanted; ++k)
        wanted = s->island[k].joint_count > SPRAG_BLOCKS_MANY;
    if (wanted)
        s->local = spragArenaTakeRaw(&world->arena, (size_t)s->joint_count, sizeof *s->local);
    return !wanted || s->local != NULL;
}

static void runOwn(void *data)
{
    Match *match = data;
    match->status = match->own(match->world);
}

spragStatus spragLedgerMatch(spragWorldID world, spragMeanwhileFn *own)
{
    spragSnapshot *s = &world->snapshot;
    const int records = world->memory_count;
    Match match = {.world = world,
                   .own = own,
                   .next = SPRAG_TAKE_RAW(&world->arena, int, records),
                   .seeking = SPRAG_TAKE_RAW(&world->arena, int, records),
                   .pair = SPRAG_TAKE_RAW(&world->arena, int, s->joint_count),
                   .follower = SPRAG_TAKE_RAW(&world->arena, int, s->joint_count)};
    world->fate = SPRAG_TAKE(&world->arena, unsigned char, records); /* SPRAG_RECORD_LEFT */
    int room = world->fate != NULL && match.next != NULL && match.seeking != NULL && match.pair != NULL &&
               match.follower != NULL && matchLoads(world) &&
               spragPointerMapMake(&match.first, &world->arena, countPairs(world));
    if (room)
        spragRangesRunBeside(world->loop_pool, 1, listRecords, &match, runOwn, &match);
    if (room && match.status != SPRAG_OK)
        return match.status;
    if (!room || !keepPlaces(world) || !spragCarryBegin(world) || !spragStayBegin(world))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to compare %d contacts", records);
    if (world->guide_count + world->bearing_count > 0)
        findGuideRecords(world);
    spragRangesRunBy(world->loop_pool, s->joint_count, findPairs, &match);
    listContacts(&match);
    spragRangesRunBy(world->loop_pool, records, matchPairs, &match);
    return SPRAG_OK;
}
