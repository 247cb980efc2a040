#include "ode/world/layout.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/prefetch.h"

/* How much of an object is searched.  In every 0.16 build a world, a body and a joint are all longer. */
enum {
    WORLD_WORDS = 16,
    OBJECT_WORDS = 8,
    CONTACT_BYTES = 320,
    JOINT_BYTES = 152, /* a null joint is longer */
    BODY_BYTES = sizeof(dReal) == sizeof(double) ? 712 : 416
};

static struct {
    size_t first_body, first_joint, next, contact;                /* bytes */
    size_t functions, implementation;                             /* of a world: its threading */
    size_t tag;                                                   /* of a body and of a joint */
    size_t time_left, steps_left, samples[2], sample_next, ready; /* of a body: auto-disable */
    size_t moved;                                                 /* of a body: the callback */
    size_t attached;                                              /* of a body: the head of the list of its joints */
    dWorldID aside;                                               /* the world of a joint that ODE passes over */
    void *stand_in;                                               /* a list of joints with that joint alone */
    int known;
} layout;

static void *word(const void *object, size_t offset)
{
    void *value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

/* Fills into with the objects of a list, from `object` on.  Memory is asked for those to come, where they may lie:
 * where `into` has them, which begins with `known` of the step before; else at equal distances, as what was made one
 * after the other lies side by side.  (Contacts do so in blocks of 36: by distances alone the first of each are waited
 * for.) */
static int list(void *object, void **into, int most, int known)
{
    enum { AHEAD = 8, AHEAD_KNOWN = 24 }; /* objects */
    uintptr_t before = (uintptr_t)object;
    int count = 0;
    for (; object != NULL; object = word(object, layout.next), ++count) {
        const uintptr_t here = (uintptr_t)object;
        uintptr_t soon = here + AHEAD * (here - before);
        if (count < known - AHEAD_KNOWN)
            soon = (uintptr_t)into[count + AHEAD_KNOWN];
        __builtin_prefetch((const void *)(soon + layout.next));
        before = here;
        if (count < most)
            into[count] = object;
    }
    return count;
}

int spragLayoutBodies(dWorldID world, void **into, int most)
{
    return list(word(world, layout.first_body), into, most, 0);
}

int spragLayoutJoints(dWorldID world, void **into, int most, int known)
{
    return list(word(world, layout.first_joint), into, most, known);
}

dJointID spragLayoutFirstJoint(dWorldID world)
{
    return word(world, layout.first_joint);
}

dJointID spragLayoutNextJoint(dJointID joint)
{
    return word(joint, layout.next);
}

const dContact *spragLayoutContact(dJointID joint)
{
    return (const dContact *)(const void *)((const char *)joint + layout.contact);
}

static void setWord(void *object, size_t offset, void *value)
{
    memcpy((char *)object + offset, &value, sizeof value);
}

void *spragLayoutHideJoints(dWorldID world)
{
    void *const joints = word(world, layout.first_joint);
    setWord(world, layout.first_joint, NULL);
    return joints;
}

void spragLayoutShowJoints(dWorldID world, void *joints)
{
    setWord(world, layout.first_joint, joints);
}

void *spragLayoutHideJointsOf(dBodyID body)
{
    void *const joints = word(body, layout.attached);
    if (joints != NULL)
        setWord(body, layout.attached, layout.stand_in);
    return joints;
}

void spragLayoutShowJointsOf(dBodyID body, void *joints)
{
    if (joints != NULL)
        setWord(body, layout.attached, joints);
}

static int number(const void *object, size_t offset)
{
    int value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

static void setNumber(void *object, size_t offset, int value)
{
    memcpy((char *)object + offset, &value, sizeof value);
}

int spragLayoutBodyMark(dBodyID body)
{
    return number(body, layout.tag);
}

void spragLayoutMarkBody(dBodyID body, int mark)
{
    setNumber(body, layout.tag, mark);
}

int spragLayoutJointMark(dJointID joint)
{
    return number(joint, layout.tag);
}

void spragLayoutMarkJoint(dJointID joint, int mark)
{
    setNumber(joint, layout.tag, mark);
}

/* ---------------------------------------------------------------- auto-disable, as ODE 0.16 decides it
 *
 * The present velocity becomes a sample; once all samples are there, the body is idle if the squares of their mean
 * velocities are within the thresholds.  Idle steps count down, others set the counters back. */

/* |mean of the samples|^2 with the present velocity in the place of the oldest */
static dReal meanSquare(dBodyID body, int which, const dReal *now, unsigned place, unsigned count)
{
    const dVector3 *sample = word(body, layout.samples[which]);
    const dReal weight = (dReal)1 / (dReal)count;
    dReal square = 0;
    for (int i = 0; i < 3; ++i) {
        dReal sum = place == 0 ? now[i] : sample[0][i];
        for (unsigned k = 1; k < count; ++k)
            sum += k == place ? now[i] : sample[k][i];
        if (count > 1)
            sum *= weight;
        square += sum * sum;
    }
    return square;
}

static int isIdle(dBodyID body)
{
    const unsigned count = (unsigned)dBodyGetAutoDisableAverageSamplesCount(body);
    const unsigned place = (unsigned)number(body, layout.sample_next);
    const dReal linear = dBodyGetAutoDisableLinearThreshold(body), angular = dBodyGetAutoDisableAngularThreshold(body);
    if (!number(body, layout.ready) && place + 1 < count)
        return 0;
    return !(meanSquare(body, 0, dBodyGetLinearVel(body), place, count) > linear * linear) &&
           !(meanSquare(body, 1, dBodyGetAngularVel(body), place, count) > angular * angular);
}

int spragLayoutFallsIdle(dBodyID body, dReal h)
{
    dReal time_left;
    if (!dBodyGetAutoDisableFlag(body) || !dBodyIsEnabled(body) || dBodyGetAutoDisableAverageSamplesCount(body) == 0 ||
        dBodyGetJoint(body, 0) == NULL)
        return 0;
    if (!isIdle(body)) /* with neither steps nor time to wait ODE would put even a moving body to rest */
        return dBodyGetAutoDisableSteps(body) <= 0 && dBodyGetAutoDisableTime(body) <= 0;
    memcpy(&time_left, (const char *)body + layout.time_left, sizeof time_left);
    return number(body, layout.steps_left) - 1 <= 0 && time_left - h <= 0;
}

/* The sample that is next to be replaced: NULL without samples. */
static dReal *nextSample(dBodyID body, int which)
{
    dVector3 *sample = word(body, layout.samples[which]);
    return sample == NULL ? NULL : sample[number(body, layout.sample_next)];
}

spragIdleState spragLayoutIdleState(dBodyID body)
{
    spragIdleState state = {.steps_left = number(body, layout.steps_left),
                            .sample_next = number(body, layout.sample_next),
                            .ready = number(body, layout.ready)};
    memcpy(&state.time_left, (const char *)body + layout.time_left, sizeof state.time_left);
    for (int which = 0; which < 2; ++which)
        if (nextSample(body, which) != NULL)
            memcpy(state.sample[which], nextSample(body, which), sizeof state.sample[which]);
    return state;
}

void spragLayoutSetIdleState(dBodyID body, const spragIdleState *state)
{
    setNumber(body, layout.steps_left, state->steps_left);
    setNumber(body, layout.sample_next, state->sample_next);
    setNumber(body, layout.ready, state->ready);
    memcpy((char *)body + layout.time_left, &state->time_left, sizeof state->time_left);
    for (int which = 0; which < 2; ++which)
        if (nextSample(body, which) != NULL)
            memcpy(nextSample(body, which), state->sample[which], sizeof state->sample[which]);
}

const dThreadingFunctionsInfo *spragLayoutThreading(dWorldID world, dThreadingImplementationID *implementation)
{
    *implementation = word(world, layout.implementation);
    return word(world, layout.functions);
}

spragMovedFn *spragLayoutMovedCallback(dBodyID body)
{
    spragMovedFn *callback;
    memcpy(&callback, (const char *)body + layout.moved, sizeof callback);
    return callback;
}

/* ---------------------------------------------------------------- the search */

/* Offset of the only word of the object that holds the value. */
static int findWord(const void *object, int words, const void *value, size_t *offset)
{
    int found = 0;
    for (int i = 0; i < words; ++i)
        if (word(object, (size_t)i * sizeof value) == value) {
            *offset = (size_t)i * sizeof value;
            ++found;
        }
    return found == 1;
}

/* The link: newest -> middle -> oldest -> NULL. */
static int isChain(void *const object[3], size_t link)
{
    return word(object[2], link) == object[1] && word(object[1], link) == object[0] && word(object[0], link) == NULL;
}

static int findContact(dJointID joint, const dContact *contact, size_t *offset)
{
    for (*offset = 0; *offset < CONTACT_BYTES; *offset += sizeof(dReal))
        if (memcmp((const char *)joint + *offset, contact, sizeof *contact) == 0)
            return 1;
    return 0;
}

/* In a step, ODE numbers the bodies of an island from 0; then the tags of three bodies in a chain are all different. */
static int findTag(void *const body[3], dJointID joint)
{
    for (layout.tag = 0; layout.tag < OBJECT_WORDS * sizeof(void *); layout.tag += sizeof(int)) {
        int seen = 0;
        for (int i = 0; i < 3; ++i) {
            const int tag = spragLayoutBodyMark(body[i]);
            seen |= tag >= 0 && tag < 3 ? 1 << tag : 0;
        }
        if (seen == 7 && spragLayoutJointMark(joint) <= 0)
            return 1;
    }
    return 0;
}

/* Offset of the only place of the body that holds the value. */
static int findPlace(dBodyID body, const void *value, size_t size, size_t *offset)
{
    int found = 0;
    for (size_t at = 0; at + size <= BODY_BYTES; at += size)
        if (memcmp((const char *)body + at, value, size) == 0) {
            *offset = at;
            ++found;
        }
    return found == 1;
}

static size_t alignUp(size_t offset, size_t size)
{
    return (offset + size - 1) / size * size;
}

/* The counters keep what dBodyEnable set them to when the parameters change. */
static int findCounters(dBodyID body)
{
    const dReal time = (dReal)1234.5;
    const int steps = 0x5A17C3D;
    dBodySetAutoDisableTime(body, time);
    dBodySetAutoDisableSteps(body, steps);
    dBodyEnable(body);
    dBodySetAutoDisableTime(body, 1);
    dBodySetAutoDisableSteps(body, 1);
    if (!findPlace(body, &time, sizeof time, &layout.time_left) ||
        !findPlace(body, &steps, sizeof steps, &layout.steps_left))
        return 0;
    layout.samples[0] = alignUp(layout.steps_left + sizeof(int), sizeof(void *));
    layout.samples[1] = layout.samples[0] + sizeof(void *);
    layout.sample_next = layout.samples[1] + sizeof(void *);
    layout.ready = layout.sample_next + sizeof(int);
    return layout.ready + sizeof(int) <= BODY_BYTES;
}

/* A test with a body of two samples and three idle steps: is in each step what happens what was foretold? */
static int foretellsIdle(dWorldID world, dBodyID body)
{
    int fell_idle = 0;
    dBodySetAutoDisableFlag(body, 1);
    dBodySetAutoDisableAverageSamplesCount(body, 2);
    dBodySetAutoDisableLinearThreshold(body, (dReal)0.5);
    dBodySetAutoDisableAngularThreshold(body, (dReal)0.5);
    dBodySetAutoDisableSteps(body, 3);
    dBodySetAutoDisableTime(body, 0);
    dBodySetLinearVel(body, 2, 0, 0);
    dBodyEnable(body);
    for (int k = 0; k < 8; ++k) {
        const int foretold = spragLayoutFallsIdle(body, 1);
        dWorldStep(world, 1);
        fell_idle = !dBodyIsEnabled(body);
        if (foretold != fell_idle)
            return 0;
        if (fell_idle)
            return k == 5; /* samples 2 2, 0 2, 0 0: idle from the fourth step on */
        dBodySetLinearVel(body, k == 0 ? 2 : 0, 0, 0);
    }
    return 0;
}

static void onMoved(dBodyID body)
{
    (void)body;
}

static int findMoved(dBodyID body)
{
    spragMovedFn *const callback = onMoved;
    dBodySetMovedCallback(body, callback);
    const int found = findPlace(body, &callback, sizeof callback, &layout.moved);
    dBodySetMovedCallback(body, NULL);
    return found && spragLayoutMovedCallback(body) == NULL;
}

/* The offsets are followed only if they lead to two buffers. */
static int findIdling(dWorldID world)
{
    dBodyID body = dBodyCreate(world);
    dJointAttach(dJointCreateNull(world, 0), body, 0);
    dBodySetGravityMode(body, 0);
    if (!findCounters(body) || !findMoved(body))
        return 0;
    dBodySetAutoDisableAverageSamplesCount(body, 0);
    const int none = word(body, layout.samples[0]) == NULL && word(body, layout.samples[1]) == NULL;
    dBodySetAutoDisableAverageSamplesCount(body, 2);
    return none && word(body, layout.samples[0]) != NULL && word(body, layout.samples[1]) != NULL &&
           number(body, layout.sample_next) == 0 && number(body, layout.ready) == 0 && foretellsIdle(world, body);
}

static int findChainTags(dWorldID world, void *const body[3])
{
    dJointID joint[3];
    for (int i = 0; i < 3; ++i) {
        joint[i] = dJointCreateBall(world, 0);
        dJointAttach(joint[i], body[i % 2], body[i % 2 + 1]);
    }
    dJointID idle = dJointCreateNull(world, 0); /* attached to nothing */
    dJointDisable(joint[2]);
    dWorldStep(world, 1);
    return findTag(body, idle) && spragLayoutJointMark(joint[2]) != SPRAG_MARK_NEW &&
           spragLayoutJointMark(dJointCreateNull(world, 0)) == SPRAG_MARK_NEW;
}

static int isWithin(const void *object, size_t bytes, const void *place)
{
    return (uintptr_t)place >= (uintptr_t)object && (uintptr_t)place < (uintptr_t)object + bytes;
}

/* The word that is NULL without joints, and then points into the last one that was attached. */
static int findAttached(dBodyID body, dBodyID other)
{
    int found = 0;
    size_t at[OBJECT_WORDS];
    for (size_t i = 0; i < OBJECT_WORDS; ++i)
        if (word(body, i * sizeof(void *)) == NULL)
            at[found++] = i * sizeof(void *);
    dJointID joint[2];
    for (int k = 0; k < 2; ++k) {
        int left = 0;
        joint[k] = dJointCreateNull(dBodyGetWorld(body), 0);
        dJointAttach(joint[k], body, other);
        for (int i = 0; i < found; ++i)
            if (isWithin(joint[k], JOINT_BYTES, word(body, at[i])))
                at[left++] = at[i];
        found = left;
    }
    layout.attached = at[0];
    dJointDestroy(joint[0]);
    dJointDestroy(joint[1]);
    return found == 1 && word(body, layout.attached) == NULL;
}

/* Makes a joint that bears the mark of ODE's search for islands: the search has been there, and passes it over.  The
 * joint lives as long as the program. */
static void makeStandIn(void)
{
    layout.aside = dWorldCreate();
    dBodyID body = dBodyCreate(layout.aside);
    dJointID joint = dJointCreateNull(layout.aside, 0);
    dJointAttach(joint, body, 0);
    dJointDisable(joint);
    spragLayoutMarkJoint(joint, -1);
    layout.stand_in = word(body, layout.attached);
}

/* A test with a ball joint that holds a body: while it is hidden it must not hold the body, nor be touched, and the
 * body must still be put to rest when idle. */
static int findHiding(void)
{
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world), other = dBodyCreate(world);
    int hides = findAttached(body, other);
    if (hides) {
        makeStandIn();
        dJointID ball = dJointCreateBall(world, 0);
        dJointAttach(ball, body, 0);
        dJointSetBallAnchor(ball, 0, 0, 0);
        spragLayoutMarkJoint(ball, SPRAG_MARK_MIN);
        void *const all = spragLayoutHideJoints(world), *const own = spragLayoutHideJointsOf(body);
        hides = spragLayoutHideJointsOf(other) == NULL && dBodyGetJoint(other, 0) == NULL;
        dBodySetLinearVel(body, 1, 0, 0);
        dWorldStep(world, 1);
        hides = hides && dBodyGetLinearVel(body)[0] == 1 && spragLayoutJointMark(ball) == SPRAG_MARK_MIN &&
                foretellsIdle(world, body);
        spragLayoutShowJoints(world, all);
        spragLayoutShowJointsOf(body, own);
        dBodyEnable(body);
        dBodySetLinearVel(body, 1, 0, 0);
        dWorldStep(world, 1);
        hides = hides && dBodyGetJoint(body, 0) == ball && dBodyGetLinearVel(body)[0] < 1;
    }
    dWorldDestroy(world);
    return hides;
}

/* The world is only given the two: nothing is called. */
static int findThreading(dWorldID world)
{
    static const dThreadingFunctionsInfo functions = {.struct_size = sizeof functions};
    dThreadingImplementationID own = (dThreadingImplementationID)(void *)&layout;
    dWorldSetStepThreadingImplementation(world, &functions, own);
    const int found = findWord(world, WORLD_WORDS, &functions, &layout.functions) &&
                      findWord(world, WORLD_WORDS, own, &layout.implementation);
    dWorldSetStepThreadingImplementation(world, NULL, NULL);
    return found && word(world, layout.functions) == NULL && word(world, layout.implementation) == NULL;
}

static void findLayout(void)
{
    dWorldID world = dWorldCreate();
    dJointGroupID group = dJointGroupCreate(0); /* a group's joints lie in blocks longer than what is searched */
    dContact contact;
    unsigned char pattern[sizeof contact];
    for (size_t i = 0; i < sizeof pattern; ++i)
        pattern[i] = (unsigned char)(1 + i % 63); /* no NaN among them */
    memcpy(&contact, pattern, sizeof contact);
    void *body[3], *joint[3];
    for (int i = 0; i < 3; ++i) {
        body[i] = dBodyCreate(world);
        joint[i] = dJointCreateContact(world, group, &contact);
    }
    size_t joint_next = 0;
    layout.known = findWord(world, WORLD_WORDS, body[2], &layout.first_body) &&
                   findWord(world, WORLD_WORDS, joint[2], &layout.first_joint) &&
                   findWord(body[2], OBJECT_WORDS, body[1], &layout.next) && isChain(body, layout.next) &&
                   findWord(joint[2], OBJECT_WORDS, joint[1], &joint_next) && isChain(joint, joint_next) &&
                   joint_next == layout.next && findContact(joint[2], &contact, &layout.contact);
    dJointGroupEmpty(group);
    layout.known =
        layout.known && findThreading(world) && findChainTags(world, body) && findIdling(world) && findHiding();
    dJointGroupDestroy(group);
    dWorldDestroy(world);
}

int spragLayoutKnown(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, findLayout);
    return layout.known;
}
