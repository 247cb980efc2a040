#include "ode/step/park.h"

#include <limits.h>
#include <pthread.h>

#include "base/prefetch.h"
#include "ode/joints/articulation.h"

enum { AHEAD = 8 }; /* objects: memory is asked for those that come so much later */

/* Asks memory for the head of a body or joint before its turn. */
static void askBody(const spragSnapshot *s, int i)
{
    if (i + AHEAD < s->body_count)
        __builtin_prefetch(s->body[i + AHEAD].id);
}

/* Asks for the body's accumulators, force and torque. */
static void askForce(const spragSnapshot *s, int i)
{
    if (i + AHEAD < s->body_count)
        spragPrefetch(dBodyGetForce(s->body[i + AHEAD].id), 2 * sizeof(dVector3));
}

static void askJoint(const spragSnapshot *s, int j)
{
    if (j + AHEAD < s->joint_count)
        __builtin_prefetch(s->joint[j + AHEAD].id);
}

static int isParked(const spragSnapshot *s, int island)
{
    return island >= 0 && s->island[island].declined == NULL;
}

static void setAccumulators(dBodyID body, const double f[6])
{
    dBodySetForce(body, (dReal)f[0], (dReal)f[1], (dReal)f[2]);
    dBodySetTorque(body, (dReal)f[3], (dReal)f[4], (dReal)f[5]);
}

static void setVelocity(dBodyID body, const double v[6])
{
    dBodySetLinearVel(body, (dReal)v[0], (dReal)v[1], (dReal)v[2]);
    dBodySetAngularVel(body, (dReal)v[3], (dReal)v[4], (dReal)v[5]);
}

/* ---------------------------------------------------------------- sleep */

enum { NEVER = INT_MAX }; /* idle steps that no body can have */

/* Marks those of ODE's islands that contain a solved island: held = 1 at their first bodies. */
static void findHeld(spragSnapshot *s)
{
    for (int i = 0; i < s->body_count; ++i)
        if (isParked(s, s->body[i].island))
            s->body[s->body[i].component].held = 1;
}

/* Does to a body of an awake island what ODE would do if it saw the joints: a body that has been idle is set to rest, a
 * sleeper wakes with its counters as they are, and none falls asleep in this step. */
static void hold(spragBodyState *body)
{
    body->slept = !dBodyIsEnabled(body->id);
    body->counted = body->slept || dBodyGetAutoDisableFlag(body->id);
    if (body->counted)
        body->idle_state = spragLayoutIdleState(body->id);
    if (body->idle)
        setVelocity(body->id, (const double[6]){0});
    if (body->slept)
        dBodyEnable(body->id);
    if (!body->counted)
        return;
    spragIdleState state = body->idle_state;
    state.steps_left = NEVER;
    spragLayoutSetIdleState(body->id, &state);
}

/* Gives a body its idle counters back: a woken body those that it had, others what ODE made of them in its step. */
static void release(const spragBodyState *body, int stepped)
{
    if (!body->counted)
        return;
    spragIdleState state = spragLayoutIdleState(body->id);
    if (!stepped || body->slept)
        state = body->idle_state;
    else if (state.steps_left >= NEVER - 1) /* ODE did not look at the body, or counted one idle step */
        state.steps_left = body->idle_state.steps_left - (NEVER - state.steps_left);
    spragLayoutSetIdleState(body->id, &state);
    if (!stepped && body->slept)
        dBodyDisable(body->id);
    if (!stepped && body->idle)
        setVelocity(body->id, body->idle_velocity);
}

/* ---------------------------------------------------------------- callbacks */

static void enableJoints(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    for (int j = 0; world->parked && j < s->joint_count; ++j) {
        askJoint(s, j);
        if (isParked(s, s->joint[j].island))
            dJointEnable(s->joint[j].id);
    }
    world->parked = 0;
}

static void disableJoints(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    for (int j = 0; j < s->joint_count; ++j) {
        askJoint(s, j);
        if (isParked(s, s->joint[j].island))
            dJointDisable(s->joint[j].id);
    }
    world->parked = 1;
}

/* Stands in for the user's callback, which may look at joints: by the time it is called ODE has found its islands, so
 * the joints can be enabled again.  With ODE's threading several calls may come at once. */
static void onMoved(dBodyID id)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct spragWorld *world = spragWorldFind(dBodyGetWorld(id));
    pthread_mutex_lock(&lock);
    enableJoints(world);
    world->called = 1;
    pthread_mutex_unlock(&lock);
    const spragBodyState *body = &world->snapshot.body[spragPointerMapGet(&world->snapshot.body_index, id)];
    if (body->own_gyroscopic)
        dBodySetGyroscopicMode(id, 1);
    body->moved(id);
}

static void listen(spragBodyState *body)
{
    body->moved = spragLayoutMovedCallback(body->id);
    dBodySetMovedCallback(body->id, onMoved);
}

/* Sets the user's callback again, unless the user has changed it meanwhile. */
static void stopListening(const spragBodyState *body)
{
    if (spragLayoutMovedCallback(body->id) == onMoved)
        dBodySetMovedCallback(body->id, body->moved);
}

/* ---------------------------------------------------------------- forces */

/* Adds force J to the feedback: to f1, t1 or f2, t2, of ODE's first or second body. */
static void addFeedback(dJointFeedback *feedback, int side, const double J[6], double force)
{
    dReal *f = side == 0 ? feedback->f1 : feedback->f2, *t = side == 0 ? feedback->t1 : feedback->t2;
    for (int i = 0; i < 3; ++i) {
        f[i] += (dReal)(J[i] * force);
        t[i] += (dReal)(J[3 + i] * force);
    }
}

static void clearFeedback(dJointFeedback *feedback)
{
    for (int c = 0; c < 3 && feedback != NULL; ++c)
        feedback->f1[c] = feedback->t1[c] = feedback->f2[c] = feedback->t2[c] = 0;
}

/* The user's, or NULL. */
static dJointFeedback *feedbackOf(const spragJointState *joint)
{
    return joint->listened ? dJointGetFeedback(joint->id) : NULL;
}

/* As in ODE, a joint that has no row in this step keeps what was there. */
static void fillFeedback(const spragSnapshot *s, const spragIsland *island)
{
    if (!s->listened)
        return;
    for (int k = 0; k < island->block_count; ++k)
        clearFeedback(feedbackOf(&s->joint[island->block[k].joint]));
    for (int e = 0; e < island->row_count; ++e)
        clearFeedback(feedbackOf(&s->joint[island->row[e].joint]));
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        dJointFeedback *feedback = feedbackOf(&s->joint[block->joint]);
        for (int n = 0; n < 6 && feedback != NULL; ++n)
            addFeedback(feedback, n / 3, block->J[n / 3][n % 3], island->r[3 * k + n % 3] / s->step);
    }
    for (int e = 0; e < island->row_count; ++e) {
        const spragEqualityRow *row = &island->row[e];
        dJointFeedback *feedback = feedbackOf(&s->joint[row->joint]);
        for (int side = 0; side < 2 && feedback != NULL; ++side)
            addFeedback(feedback, side, row->J[side], row->impulse / s->step);
    }
}

/* Contacts that are none bear nothing, where what bears in their place is Sprag's. */
static void clearStrays(const spragSnapshot *s)
{
    for (int j = 0; s->listened && s->stray_count > 0 && j < s->joint_count; ++j)
        if (s->joint[j].stray && isParked(s, s->joint[j].island))
            clearFeedback(feedbackOf(&s->joint[j]));
}

static void addForces(spragBodyState *body, double h)
{
    const double rate = 1 / h;
    double f[6];
    for (int j = 0; j < 6; ++j)
        f[j] = body->impulse[j] * rate + body->motor_force[j] +
               (j >= 3 && body->own_gyroscopic ? body->gyroscopic[j - 3] : 0);
    dBodyAddForce(body->id, (dReal)f[0], (dReal)f[1], (dReal)f[2]);
    dBodyAddTorque(body->id, (dReal)f[3], (dReal)f[4], (dReal)f[5]);
    if (body->own_gyroscopic)
        dBodySetGyroscopicMode(body->id, 0);
}

/* ---------------------------------------------------------------- the step */

/* Lets ODE do one island at a time where it has nothing to solve, which costs no more.  With threads of its own ODE
 * moves geoms in the order in which threads come to them; their space then finds contacts in that order, and no two
 * runs are alike. */
static void limitThreads(struct spragWorld *world)
{
    world->thread_limit = dWorldGetStepIslandsProcessingMaxThreadCount(world->world);
    dWorldSetStepIslandsProcessingMaxThreadCount(world->world, 1);
    world->limited = 1;
}

static void giveThreadsBack(struct spragWorld *world)
{
    if (world->limited && dWorldGetStepIslandsProcessingMaxThreadCount(world->world) == 1)
        dWorldSetStepIslandsProcessingMaxThreadCount(world->world, world->thread_limit);
    world->limited = 0;
}

/* Joints that ODE would solve. */
static int countLeft(const spragSnapshot *s)
{
    int left = s->active_count;
    for (int k = 0; k < s->island_count; ++k)
        left -= isParked(s, k) ? s->island[k].joint_count : 0;
    return left;
}

/* Done by the thread that calls ODE: if another thread has touched the bodies and joints, ODE's step takes half as long
 * again.  Where ODE has no joints to solve, and no callback looks at any, they are not disabled one by one: ODE is
 * shown a world without joints. */
int spragPark(struct spragWorld *world)
{
    spragSnapshot *s = &world->snapshot;
    const int left = countLeft(s);
    world->hidden = left == 0 && !s->watched;
    clearStrays(s);
    for (int k = 0; k < s->island_count; ++k)
        if (isParked(s, k))
            fillFeedback(s, &s->island[k]);
    findHeld(s);
    for (int i = 0; i < s->body_count; ++i) {
        spragBodyState *body = &s->body[i];
        askBody(s, i);
        askForce(s, i);
        body->held = s->body[body->component].held;
        if (isParked(s, body->island))
            addForces(body, s->step);
        if (body->held)
            hold(body);
        if (body->listened)
            listen(body);
        if (world->hidden)
            world->listed_bodies.object[i] = spragLayoutHideJointsOf(body->id);
    }
    if (world->hidden)
        world->joints = spragLayoutHideJoints(world->world);
    else
        disableJoints(world);
    if (left == 0)
        limitThreads(world);
    world->called = 0;
    return s->watched;
}

void spragUnpark(struct spragWorld *world, int stepped)
{
    spragSnapshot *s = &world->snapshot;
    enableJoints(world);
    giveThreadsBack(world);
    if (world->hidden)
        spragLayoutShowJoints(world->world, world->joints);
    for (int i = 0; i < s->body_count; ++i) {
        const spragBodyState *body = &s->body[i];
        askBody(s, i);
        if (world->hidden)
            spragLayoutShowJointsOf(body->id, world->listed_bodies.object[i]);
        if (body->listened)
            stopListening(body);
        if (body->held)
            release(body, stepped);
        if (isParked(s, body->island) && body->own_gyroscopic)
            dBodySetGyroscopicMode(body->id, 1);
        if (isParked(s, body->island) && !stepped)
            setAccumulators(body->id, body->force);
        spragLayoutMarkBody(body->id, body->serial);
    }
}
