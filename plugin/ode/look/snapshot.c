#include "ode/look/snapshot.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "base/prefetch.h"
#include "base/status.h"
#include "linalg/vec3.h"
#include "ode/joints/bearing.h"
#include "ode/joints/guide.h"
#include "ode/world/body_mass.h"
#include "ode/world/layout.h"

enum {
    /* Memory is asked for before it is read (base/prefetch): */
    AHEAD = 8,        /* objects before their turn */
    JOINT_HEAD = 192, /* bytes that are read of ODE's joint, */
    BODY = 704,       /* and of its body */
    MANY = 8000,      /* joints: fewer are in the cache, and so is the map of their bodies */

    PACE_STEPS = 128 /* of the longest window of spragPace */
};
#define PACE_CHANGE 1.25 /* times: a mean that differs by no more is the same pace */
#define SLOW 1e-6        /* of what gravity gives in a step: spragSnapshot.slow */
#define FASTEST 1e30     /* m/s, of corrections that have no other limit */

static void readVector(double *out, const dReal *in)
{
    for (int i = 0; i < 3; ++i)
        out[i] = in[i];
}

/* Room for so many; 1: it has to be filled again, 0: it was large enough, or -1: no memory. */
static int makeRoom(spragList *list, int count)
{
    if ((size_t)count <= list->capacity)
        return 0;
    return spragGrow((void **)&list->object, &list->capacity, (size_t)count, sizeof *list->object) ? 1 : -1;
}

/* Lists all bodies, newest first.  Returns their number, or -1: no memory. */
static int listAllBodies(spragWorldID world)
{
    spragList *list = &world->listed_bodies;
    const int count = spragLayoutBodies(world->world, list->object, (int)list->capacity), again = makeRoom(list, count);
    if (again > 0)
        spragLayoutBodies(world->world, list->object, count);
    return again < 0 ? -1 : count;
}

/* The same of joints; the list still has those of the last step. */
static int listAllJoints(spragWorldID world)
{
    spragList *list = &world->listed_joints;
    const int known = list->count >= MANY ? list->count : 0;
    const int count = spragLayoutJoints(world->world, list->object, (int)list->capacity, known),
              again = makeRoom(list, count);
    if (again > 0)
        spragLayoutJoints(world->world, list->object, count, 0);
    list->count = again < 0 ? 0 : count;
    return again < 0 ? -1 : count;
}

static spragStatus listBodies(spragWorldID world, spragSnapshot *s)
{
    const int count = listAllBodies(world);
    s->body = count < 0 ? NULL : SPRAG_TAKE_RAW(&world->arena, spragBodyState, count);
    s->name = s->body == NULL ? NULL : SPRAG_TAKE_RAW(&world->arena, spragBodyName, count);
    s->geom = s->name == NULL ? NULL : SPRAG_TAKE_RAW(&world->arena, dGeomID, count);
    s->geom_radius = s->geom == NULL ? NULL : SPRAG_TAKE_RAW(&world->arena, spragGeomRadius, count);
    if (s->geom_radius == NULL || !spragPointerMapMake(&s->body_index, &world->arena, count))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the state of %d bodies", count);
    s->body_count = count;
    for (int i = 0; i < count; ++i) {
        const dBodyID id = world->listed_bodies.object[count - 1 - i];
        memset(&s->body[i], 0, SPRAG_LINE);
        s->body[i].id = id;
        s->body[i].serial = spragSerialOf(world, spragLayoutBodyMark(id));
        s->name[i] = (spragBodyName){id, s->body[i].serial};
        spragPointerMapPut(&s->body_index, id, i);
    }
    return SPRAG_OK;
}

/* ODE keeps a joint attached as (0, body) turned around, and so do we. */
static void readJoint(const spragSnapshot *s, spragJointState *joint)
{
    joint->type = (unsigned)dJointGetType(joint->id) & 0xff;
    joint->listened = dJointGetFeedback(joint->id) != NULL;
    joint->body[0] = spragPointerMapGet(&s->body_index, dJointGetBody(joint->id, 0));
    joint->body[1] = spragPointerMapGet(&s->body_index, dJointGetBody(joint->id, 1));
    if (joint->body[0] < 0) {
        joint->reversed = joint->body[1] >= 0;
        joint->body[0] = joint->body[1];
        joint->body[1] = -1;
    }
    const int a = joint->body[0], b = joint->body[1];
    joint->enabled =
        a >= 0 && dJointIsEnabled(joint->id) && (!s->body[a].kinematic || (b >= 0 && !s->body[b].kinematic));
    joint->island = joint->memory = -1;
    joint->contact = joint->type == dJointTypeContact ? spragLayoutContact(joint->id) : NULL;
}

typedef struct Joints {
    spragWorldID world;
    int listened[SPRAG_RANGES_MOST]; /* 1: some joint of the range has feedback, */
    int others[SPRAG_RANGES_MOST];   /* 1: or is no contact */
} Joints;

static void readJoints(void *data, int range, int first, int end)
{
    Joints *joints = data;
    const struct spragWorld *world = joints->world;
    const spragSnapshot *s = &world->snapshot;
    void **const joint = world->listed_joints.object;
    int listened = 0, others = 0;
    for (int j = first; j < end; ++j) {
        if (j + 2 * AHEAD < end)
            spragPrefetch(joint[s->joint_count - 1 - j - 2 * AHEAD], JOINT_HEAD);
        if (j + AHEAD < end && s->joint_count >= MANY)
            for (int side = 0; side < 2; ++side)
                spragPointerMapAsk(&s->body_index, dJointGetBody(joint[s->joint_count - 1 - j - AHEAD], side));
        s->joint[j] = (spragJointState){.id = joint[s->joint_count - 1 - j]};
        readJoint(s, &s->joint[j]);
        listened |= s->joint[j].listened;
        others |= s->joint[j].contact == NULL;
    }
    joints->listened[range] = listened, joints->others[range] = others;
}

/* count: of joints in world->listed_joints. */
static spragStatus takeJoints(spragWorldID world, spragSnapshot *s, int count)
{
    Joints joints = {.world = world};
    int others = 0;
    s->joint = count < 0 ? NULL : SPRAG_TAKE_RAW(&world->arena, spragJointState, count);
    if (s->joint == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the state of %d joints", count);
    s->joint_count = count;
    spragRangesRunBy(world->loop_pool, count, readJoints, &joints);
    for (int range = 0; range < spragRangeCount(count); ++range) {
        s->listened |= joints.listened[range];
        others |= joints.others[range];
    }
    s->numbered = others;
    for (int i = count - 1; i >= 0 && others; --i)
        if (s->joint[i].contact == NULL)
            s->joint[i].serial = spragSerialOf(world, spragLayoutJointMark(s->joint[i].id));
    if (!spragGuidesFind(world) || !spragBearingsFind(world))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to find %d guides and %d joints with friction",
                         world->guide_count, world->bearing_count);
    return SPRAG_OK;
}

static spragStatus readBody(spragBodyState *body, int index)
{
    const dReal *R = dBodyGetRotation(body->id);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            body->rotation[3 * i + j] = R[4 * i + j];
    readVector(body->position, dBodyGetPosition(body->id));
    readVector(body->velocity, dBodyGetLinearVel(body->id));
    readVector(body->velocity + 3, dBodyGetAngularVel(body->id));
    readVector(body->force, dBodyGetForce(body->id));
    readVector(body->force + 3, dBodyGetTorque(body->id));
    if (!spragAreUsable(body->position, 3) || !spragAreUsable(body->rotation, 9))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "body %d: its position or orientation is not finite, or beyond 1e60",
                         index);
    if (!spragAreUsable(body->velocity, 6))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "body %d: its velocity is not finite, or beyond 1e60", index);
    if (!spragAreUsable(body->force, 6))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "body %d: the force or torque on it is not finite, or beyond 1e60",
                         index);
    const double damping[2] = {dBodyGetLinearDamping(body->id), dBodyGetAngularDamping(body->id)};
    if (!spragAreUsable(damping, 2))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "body %d: damping %g, angular %g", index, damping[0], damping[1]);
    memcpy(body->free_velocity, body->velocity, sizeof body->velocity);
    if (!body->kinematic && body->enabled)
        return spragBodyMass(body, index);
    memset(body->inertia, 0, sizeof body->inertia);
    memset(body->inverse_inertia, 0, sizeof body->inverse_inertia);
    return SPRAG_OK;
}

static spragStatus readWorld(dWorldID world, spragSnapshot *s)
{
    dVector3 g;
    dWorldGetGravity(world, g);
    readVector(s->gravity, g);
    s->erp = dWorldGetERP(world);
    s->cfm = dWorldGetCFM(world);
    s->layer = dWorldGetContactSurfaceLayer(world);
    s->greatest_correction = dWorldGetContactMaxCorrectingVel(world);
    if (s->greatest_correction > FASTEST)
        s->greatest_correction = FASTEST;
    if (s->cfm < 0)
        return spragFail(SPRAG_ERROR_RANGE, "world: CFM %g, expected >= 0", s->cfm);
    if (!spragAreUsable(s->gravity, 3) || !spragIsUsable(s->erp) || !spragIsUsable(s->cfm))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "world: gravity (%g, %g, %g), ERP %g, CFM %g, beyond 1e60 or NaN",
                         s->gravity[0], s->gravity[1], s->gravity[2], s->erp, s->cfm);
    if (!spragIsUsable(s->layer) || isnan(s->greatest_correction))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "world: contact surface layer %g, greatest correcting velocity %g",
                         s->layer, s->greatest_correction);
    return SPRAG_OK;
}

typedef struct Reading {
    spragWorldID world;
    int joint_count;               /* listed, or -1: no memory */
    int failed[SPRAG_RANGES_MOST]; /* the first body of a range that is absurd, or -1 */
    unsigned char watched[SPRAG_RANGES_MOST];
} Reading;

static void readBodies(void *data, int range, int first, int end)
{
    Reading *reading = data;
    spragSnapshot *s = &reading->world->snapshot;
    reading->failed[range] = -1;
    reading->watched[range] = 0;
    for (int i = first; i < end; ++i) {
        spragBodyState *body = &s->body[i];
        if (i + AHEAD < end)
            spragPrefetch(s->body[i + AHEAD].id, BODY);
        memset((char *)body + SPRAG_LINE, 0, offsetof(spragBodyState, velocity) - SPRAG_LINE);
        s->geom[i] = dBodyGetFirstGeom(body->id);
        body->listened = spragLayoutMovedCallback(body->id) != NULL;
        reading->watched[range] |= body->listened != 0;
        body->idle = spragLayoutFallsIdle(body->id, (dReal)s->step);
        body->enabled = dBodyIsEnabled(body->id) && !body->idle;
        body->kinematic = dBodyIsKinematic(body->id);
        body->island = body->articulation = -1;
        body->absurd = readBody(body, i) != SPRAG_OK;
        if (body->absurd && reading->failed[range] < 0)
            reading->failed[range] = i;
        if (body->idle) { /* as ODE will before it solves */
            memcpy(body->idle_velocity, body->velocity, sizeof body->velocity);
            memset(body->velocity, 0, sizeof body->velocity);
            memset(body->free_velocity, 0, sizeof body->free_velocity);
        }
    }
}

static void listJoints(void *data)
{
    Reading *reading = data;
    reading->joint_count = listAllJoints(reading->world);
}

/* m/s.  What is slow beside gravity is not asked for.  But bodies drift apart for many steps at what the guess may
 * miss, a hundredth of the tolerance; in kilometres, where 1e-8 is much, they then fell for a step. */
static double leastCorrection(const struct spragWorld *world)
{
    const double tolerance = world->config.tolerance;
    return fmin(0.5 * tolerance, fmax(0.02 * tolerance, world->snapshot.slow));
}

void spragPaceNote(spragPace *pace, double step)
{
    const int window = pace->window > 0 ? pace->window : 1;
    pace->window = window;
    pace->sum += step;
    if (++pace->count < window)
        return;
    const double mean = pace->sum / window;
    const int stays = mean <= PACE_CHANGE * pace->length && pace->length <= PACE_CHANGE * mean;
    *pace = (spragPace){.length = stays ? pace->length : mean, .window = window < PACE_STEPS ? 2 * window : window};
}

spragStatus spragSnapshotTake(spragWorldID world, double step)
{
    spragSnapshot *s = &world->snapshot;
    Reading reading = {.world = world};
    *s = (spragSnapshot){.step = step, .pace = fmax(step, world->pace.length)};
    spragStatus status = readWorld(world->world, s);
    s->slow = SLOW * spragNorm3(s->gravity) * s->pace;
    s->least_correction = leastCorrection(world);
    if (status == SPRAG_OK)
        status = listBodies(world, s);
    if (status != SPRAG_OK)
        return status;
    spragRangesRunBeside(world->loop_pool, s->body_count, readBodies, &reading, listJoints, &reading);
    for (int range = 0; range < spragRangeCount(s->body_count); ++range)
        s->watched |= reading.watched[range];
    for (int range = 0; range < spragRangeCount(s->body_count) && !world->lenient && status == SPRAG_OK; ++range)
        if (reading.failed[range] >= 0) /* the error's text is perhaps another thread's: fail again on this one */
            status = readBody(&s->body[reading.failed[range]], reading.failed[range]);
    return status == SPRAG_OK ? takeJoints(world, s, reading.joint_count) : status;
}
