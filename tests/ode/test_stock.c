/* What ODE does besides contacts, it does under Sprag: twin worlds without friction, where ODE's own answer is
 * exact, so that every difference is one of bookkeeping.  Sleeping and waking, idle counters, kinematic bodies,
 * gravity switched off, damping, greatest angular speed, finite rotation, gyroscopic modes, callbacks, contacts kept
 * or never attached, threads, many worlds. */
#include "support/twin.h"

#include <pthread.h>

static const double h = 5e-3;

static void makeOdeTwin(Twin *t, int use_sprag)
{
    makeTwin(t, use_sprag);
    if (use_sprag) {
        spragConfig config = spragConfigDefault();
        config.gyroscopic = SPRAG_GYROSCOPIC_ODE;
        assert_int_equal(spragWorldSetConfig(t->sprag, &config), SPRAG_OK);
    }
}

/* ---------------------------------------------------------------- settings of bodies and worlds */

typedef void Setting(Twin *t);

/* Two boxes joined by a hinge, the first flat on the ground, the second swinging above it; a third alone. */
static void build(Twin *t)
{
    dBodyID a = addBox(t, 0, 0, 0.2), b = addBox(t, 0.3, 0, 1), c = addBox(t, 3, 0, 0.2);
    dJointID hinge = dJointCreateHinge(t->world, 0);
    dJointAttach(hinge, a, b);
    dJointSetHingeAnchor(hinge, 0, 0, 0.6);
    dJointSetHingeAxis(hinge, 0.1, 1, 0);
    dBodySetLinearVel(a, 0.4, 0, 0);
    dBodySetLinearVel(b, 0.4, 0, 0);
    dBodySetAngularVel(b, 0.2, 1, 0.3);
    dBodySetLinearVel(c, -0.5, 0.1, 0);
}

static void contactsOf(Twin *t)
{
    for (int k = 0; k < t->count; ++k)
        for (int i = 0; i < 4; ++i) {
            dVector3 p;
            dBodyGetRelPointPos(t->body[k], i & 1 ? 0.5 : -0.5, i & 2 ? 0.4 : -0.4, -0.2, p);
            dContact contact = planeContact(p[0], p[1], p[2], 0);
            contact.geom.depth = -p[2];
            if (p[2] <= 1e-3)
                addContact(t, &contact, t->body[k], 0);
        }
}

static void nothing(Twin *t)
{
    (void)t;
}
static void noGravity(Twin *t)
{
    dBodySetGravityMode(t->body[1], 0);
}
static void damping(Twin *t)
{
    dWorldSetLinearDamping(t->world, 0.02);
    dWorldSetAngularDamping(t->world, 0.03);
    for (int k = 0; k < t->count; ++k)
        dBodySetDampingDefaults(t->body[k]);
    dBodySetLinearDampingThreshold(t->body[0], 0.3);
}
static void greatestSpin(Twin *t)
{
    dBodySetMaxAngularSpeed(t->body[1], 0.8);
}
static void finiteRotation(Twin *t)
{
    dBodySetFiniteRotationMode(t->body[1], 1);
}
static void finiteRotationAxis(Twin *t)
{
    dBodySetFiniteRotationMode(t->body[1], 1);
    dBodySetFiniteRotationAxis(t->body[1], 0, 0.6, 0.8);
}
static void noGyroscopicTorque(Twin *t)
{
    dBodySetGyroscopicMode(t->body[1], 0);
}
static void kinematicLift(Twin *t) /* the third box rides on a lift */
{
    dBodyID lift = t->body[3] = dBodyCreate(t->world);
    dBodySetPosition(lift, 3, 0, -0.1);
    dBodySetKinematic(lift);
    dBodySetLinearVel(lift, 0.1, 0, 0.2);
    dJointID hinge = dJointCreateHinge(t->world, 0);
    dJointAttach(hinge, lift, t->body[2]);
    dJointSetHingeAnchor(hinge, 3, 0, 0);
    dJointSetHingeAxis(hinge, 0, 0, 1);
}
static void softWorld(Twin *t)
{
    dWorldSetERP(t->world, 0.4);
    dWorldSetCFM(t->world, 1e-4);
    dWorldSetContactMaxCorrectingVel(t->world, 0.05);
    dWorldSetContactSurfaceLayer(t->world, 1e-3);
}
static void autoDisable(Twin *t) /* the first body is idle from the start, in an island that is awake */
{
    for (int k = 0; k < 3; ++k) {
        dBodySetAutoDisableFlag(t->body[k], 1);
        dBodySetAutoDisableLinearThreshold(t->body[k], k == 1 ? 0.01 : 0.6);
        dBodySetAutoDisableAngularThreshold(t->body[k], k == 1 ? 0.01 : 2);
        dBodySetAutoDisableSteps(t->body[k], 4 + k);
        dBodySetAutoDisableTime(t->body[k], 0.06 * k);
    }
}
static void autoDisableAverage(Twin *t)
{
    autoDisable(t);
    for (int k = 0; k < 3; ++k)
        dBodySetAutoDisableAverageSamplesCount(t->body[k], (unsigned)(3 + k));
}
static void autoDisableNever(Twin *t)
{
    autoDisable(t);
    dBodySetAutoDisableAverageSamplesCount(t->body[0], 0);
}
static void asleep(Twin *t) /* wakes at once, through the hinge */
{
    autoDisableAverage(t);
    dBodyDisable(t->body[0]);
}

static const struct {
    const char *name;
    Setting *set;
} settings[] = {
    {"as it is", nothing},
    {"no gravity", noGravity},
    {"damping", damping},
    {"greatest spin", greatestSpin},
    {"finite rotation", finiteRotation},
    {"finite rotation about an axis", finiteRotationAxis},
    {"no gyroscopic torque", noGyroscopicTorque},
    {"kinematic lift", kinematicLift},
    {"soft world", softWorld},
    {"auto-disable", autoDisable},
    {"auto-disable, mean of samples", autoDisableAverage},
    {"auto-disable without samples", autoDisableNever},
    {"asleep at first", asleep},
};

static void everySettingIsKept(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; ++k) {
        Twin t[2];
        int slept = 0;
        for (int i = 0; i < 2; ++i) {
            makeOdeTwin(&t[i], i);
            build(&t[i]);
            settings[k].set(&t[i]);
        }
        for (int n = 0; n < 120; ++n) {
            for (int i = 0; i < 2; ++i) {
                contactsOf(&t[i]);
                step(&t[i], h);
            }
            for (int b = 0; b < 3; ++b) {
                const double d = bodyDifference(t[0].body[b], t[1].body[b]);
                const int awake = dBodyIsEnabled(t[0].body[b]);
                slept += !awake;
                if (!(d <= 1e-8) || dBodyIsEnabled(t[1].body[b]) != awake)
                    fail_msg("%s: body %d, step %d: %g from stock, awake %d %d", settings[k].name, b, n, d, awake,
                             dBodyIsEnabled(t[1].body[b]));
                assert_int_equal(dBodyGetNumJoints(t[0].body[b]), dBodyGetNumJoints(t[1].body[b]));
                assert_int_equal(dBodyGetGyroscopicMode(t[0].body[b]), dBodyGetGyroscopicMode(t[1].body[b]));
                for (int c = 0; c < 3; ++c) {
                    CHECK_NEAR(dBodyGetForce(t[1].body[b])[c], dBodyGetForce(t[0].body[b])[c], 0);
                    CHECK_NEAR(dBodyGetTorque(t[1].body[b])[c], dBodyGetTorque(t[0].body[b])[c], 0);
                }
            }
        }
        assert_true(settings[k].set != autoDisable || slept > 0);
        freeTwin(&t[0]);
        freeTwin(&t[1]);
    }
}

/* ---------------------------------------------------------------- callbacks */

static int seen_joints, seen_enabled, seen_calls;
static double seen_load;

static void lookAround(dBodyID body)
{
    ++seen_calls;
    for (int k = 0; k < dBodyGetNumJoints(body); ++k) {
        const dJointID joint = dBodyGetJoint(body, k);
        ++seen_joints;
        seen_enabled += dJointIsEnabled(joint);
    }
}

static void weigh(dBodyID body)
{
    lookAround(body);
    for (int k = 0; k < dBodyGetNumJoints(body); ++k)
        if (dJointGetFeedback(dBodyGetJoint(body, k)) != NULL)
            seen_load += fabs(dJointGetFeedback(dBodyGetJoint(body, k))->f1[2]);
}

static void callOnce(dBodyID body)
{
    lookAround(body);
    dBodySetMovedCallback(body, NULL);
}

/* A callback sees the joints as under stock ODE, enabled and with this step's feedback; it may change itself. */
static void callbacksSeeTheJoints(void **state)
{
    (void)state;
    int joints[2], enabled[2], calls[2];
    double load[2];
    for (int i = 0; i < 2; ++i) {
        Twin t;
        dJointFeedback feedback;
        seen_joints = seen_enabled = seen_calls = 0;
        seen_load = 0;
        makeOdeTwin(&t, i);
        build(&t);
        autoDisable(&t);
        dJointSetFeedback(dBodyGetJoint(t.body[0], 0), &feedback);
        memset(&feedback, 0, sizeof feedback);
        dBodySetMovedCallback(t.body[0], weigh); /* ODE moves it last, when the feedback is there */
        dBodySetMovedCallback(t.body[1], lookAround);
        dBodySetMovedCallback(t.body[2], callOnce);
        for (int n = 0; n < 20; ++n) {
            contactsOf(&t);
            step(&t, h);
        }
        joints[i] = seen_joints, enabled[i] = seen_enabled, calls[i] = seen_calls, load[i] = seen_load;
        freeTwin(&t);
    }
    assert_int_equal(calls[1], 41);
    assert_int_equal(calls[0], calls[1]);
    assert_int_equal(joints[0], joints[1]);
    assert_int_equal(enabled[0], enabled[1]);
    assert_true(load[0] > 50);
    CHECK_NEAR(load[1], load[0], 1e-4);
}

/* ---------------------------------------------------------------- contacts */

/* Contacts kept for three steps, others attached to nothing or to a kinematic body, a group that is never emptied. */
static void contactsMayStay(void **state)
{
    (void)state;
    for (int emptied = 0; emptied < 2; ++emptied) {
        Twin t[2];
        for (int i = 0; i < 2; ++i) {
            makeOdeTwin(&t[i], i);
            build(&t[i]);
        }
        for (int n = 0; n < 90; ++n) {
            for (int i = 0; i < 2; ++i) {
                if (n % 3 == 0) {
                    if (emptied)
                        dJointGroupEmpty(t[i].group);
                    dContact stray = planeContact(0, 0, 0, 0.5);
                    dJointCreateContact(t[i].world, t[i].group, &stray);
                    if (emptied || n == 0)
                        contactsOf(&t[i]);
                }
                if (i == 0)
                    dWorldStep(t[i].world, h);
                else
                    assert_int_equal(spragWorldStep(t[i].sprag, h), SPRAG_OK);
            }
            for (int b = 0; b < 3; ++b)
                assert_true(bodyDifference(t[0].body[b], t[1].body[b]) <= 1e-8);
        }
        freeTwin(&t[0]);
        freeTwin(&t[1]);
    }
}

/* ---------------------------------------------------------------- identity */

static double fallAndReplace(int replaced, unsigned long long *first, unsigned long long *second)
{
    Twin t;
    makeTwin(&t, 1);
    addBox(&t, 0, 0, 0.2);
    const spragContact *contact;
    for (int n = 0; n < 3; ++n) {
        addCorners(&t, t.body[0], 0.5);
        step(&t, h);
        assert_int_equal(spragWorldGetContacts(t.sprag, &contact), 4);
        *first = contact[0].id;
    }
    if (replaced) {
        const dBodyID old = t.body[0];
        dBodyDestroy(old);
        t.count = 0;
        addBox(&t, 0, 0, 0.2);
        if (t.body[0] != old) /* malloc gave another address: nothing to be confused */
            *first = 0;
    }
    addCorners(&t, t.body[0], 0.5);
    step(&t, h);
    assert_int_equal(spragWorldGetContacts(t.sprag, &contact), 4);
    *second = contact[0].id;
    const double force = contact[0].normal_force;
    freeTwin(&t);
    return force;
}

/* A body made at the address of a destroyed one is another body: its contacts are new ones. */
static void aNewBodyHasNoPast(void **state)
{
    (void)state;
    unsigned long long first, second;
    fallAndReplace(0, &first, &second);
    assert_true(first == second);
    fallAndReplace(1, &first, &second);
    assert_true(first != second);
}

/* A surface belongs to the contact it was given to, as long as that lives, and to none that takes its address. */
static void aNewContactHasNoSurface(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    spragSurface soft = spragSurfaceDefault();
    soft.stiffness = 1e3;
    soft.damping = 10;
    dContact contact = planeContact(0, 0, 0, 0);
    dJointID joint = spragJointCreateContactSurface(t.sprag, 0, &contact, &soft);
    dJointAttach(joint, box, 0);
    for (int n = 0; n < 3; ++n) {
        dBodySetLinearVel(box, 0, 0, -0.1);
        assert_int_equal(spragWorldStep(t.sprag, h), SPRAG_OK);
        assert_true(dBodyGetLinearVel(box)[2] < -0.05); /* soft, in every step it lives */
    }
    dJointDestroy(joint);
    dJointID again = spragJointCreateContact(t.sprag, 0, &contact);
    dJointAttach(again, box, 0);
    dBodySetLinearVel(box, 0, 0, -0.1);
    assert_int_equal(spragWorldStep(t.sprag, h), SPRAG_OK);
    CHECK_NEAR(dBodyGetLinearVel(box)[2], 0, 1e-7); /* rigid but for ODE's CFM */
    dJointDestroy(again);
    freeTwin(&t);
}

/* ---------------------------------------------------------------- worlds and threads */

static void runWorld(Twin *t, int steps)
{
    for (int n = 0; n < steps; ++n) {
        for (int k = 0; k < t->count; ++k)
            addCorners(t, t->body[k], 0.4);
        step(t, h);
    }
}

static void makeSliding(Twin *t)
{
    makeTwin(t, 1);
    dBodyID box = addBox(t, 0, 0, 0.2);
    dBodySetLinearVel(box, 1, 0.5, 0);
    dBodySetAngularVel(box, 0, 0, 1);
}

static void *runThread(void *twin)
{
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    runWorld(twin, 100);
    dCleanupODEAllDataForThread();
    return NULL;
}

/* Each world steps as if it were alone: one after the other, interleaved, or each in a thread of its own. */
static void worldsDoNotMeet(void **state)
{
    (void)state;
    enum { WORLDS = 4 };
    Twin alone, t[WORLDS], u[WORLDS];
    makeSliding(&alone);
    runWorld(&alone, 100);
    pthread_t thread[WORLDS];
    for (int i = 0; i < WORLDS; ++i) {
        makeSliding(&t[i]);
        makeSliding(&u[i]);
    }
    for (int n = 0; n < 100; ++n)
        for (int i = 0; i < WORLDS; ++i)
            runWorld(&u[i], 1);
    dThreadingImplementationID own[WORLDS]; /* ODE's default one is shared by all worlds and serves one thread */
    for (int i = 0; i < WORLDS; ++i) {
        own[i] = dThreadingAllocateSelfThreadedImplementation();
        dWorldSetStepThreadingImplementation(t[i].world, dThreadingImplementationGetFunctions(own[i]), own[i]);
    }
    for (int i = 0; i < WORLDS; ++i)
        assert_int_equal(pthread_create(&thread[i], NULL, runThread, &t[i]), 0);
    for (int i = 0; i < WORLDS; ++i)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < WORLDS; ++i) {
        assert_true(bodyDifference(alone.body[0], t[i].body[0]) == 0);
        assert_true(bodyDifference(alone.body[0], u[i].body[0]) == 0);
    }
    for (int i = 0; i < WORLDS; ++i) { /* in another order than they were made */
        freeTwin(&t[(i + 2) % WORLDS]);
        freeTwin(&u[WORLDS - 1 - i]);
    }
    for (int i = 0; i < WORLDS; ++i)
        dThreadingFreeImplementation(own[i]);
    freeTwin(&alone);
}

/* ODE's own threads integrate the bodies: nothing else changes. */
static void odeThreadsMayStep(void **state)
{
    (void)state;
    dThreadingImplementationID threading = dThreadingAllocateMultiThreadedImplementation();
    if (threading == NULL)
        skip(); /* an ODE built without it */
    dThreadingThreadPoolID pool = dThreadingAllocateThreadPool(3, 0, (unsigned)dAllocateMaskAll, NULL);
    dThreadingThreadPoolServeMultiThreadedImplementation(pool, threading);
    Twin t[2];
    for (int i = 0; i < 2; ++i) {
        makeTwin(&t[i], 1);
        for (int k = 0; k < 6; ++k) {
            dBodyID box = addBox(&t[i], 2 * k, 0, 0.2);
            dBodySetLinearVel(box, 1, 0.2 * k, 0);
            dBodySetMovedCallback(box, lookAround);
        }
    }
    dWorldSetStepThreadingImplementation(t[1].world, dThreadingImplementationGetFunctions(threading), threading);
    for (int i = 0; i < 2; ++i)
        runWorld(&t[i], 100);
    for (int k = 0; k < 6; ++k)
        assert_true(bodyDifference(t[0].body[k], t[1].body[k]) == 0);
    freeTwin(&t[0]);
    freeTwin(&t[1]);
    dThreadingImplementationShutdownProcessing(threading);
    dThreadingFreeThreadPool(pool);
    dThreadingFreeImplementation(threading);
}

enum { TUMBLING = 16, TUMBLE_STEPS = 200, TUMBLE_RUNS = 4 };

typedef struct Tumble {
    dWorldID world;
    dJointGroupID group;
} Tumble;

static void touch(void *data, dGeomID a, dGeomID b)
{
    Tumble *t = data;
    dContact contact[4];
    const int count = dCollide(a, b, 4, &contact[0].geom, sizeof *contact);
    for (int k = 0; k < count; ++k) {
        contact[k].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = 0.6};
        dJointAttach(dJointCreateContact(t->world, t->group, &contact[k]), dGeomGetBody(a), dGeomGetBody(b));
    }
}

/* Where boxes end that fall on each other. */
static void tumble(dThreadingImplementationID threading, double end[TUMBLING][3])
{
    Tumble t = {dWorldCreate(), dJointGroupCreate(0)};
    const dSpaceID space = dHashSpaceCreate(NULL);
    spragWorldID sprag;
    dBodyID body[TUMBLING];
    dCreatePlane(space, 0, 0, 1, 0);
    dWorldSetGravity(t.world, 0, 0, -9.81);
    for (int k = 0; k < TUMBLING; ++k) {
        dMass mass;
        const dGeomID geom = dCreateBox(space, 0.4, 0.3, 0.2);
        body[k] = dBodyCreate(t.world);
        dMassSetBox(&mass, 500, 0.4, 0.3, 0.2);
        dBodySetMass(body[k], &mass);
        dGeomSetBody(geom, body[k]);
        dBodySetPosition(body[k], 0.5 * (k % 4) + 0.01 * k, 0.1 * (k / 4), 0.2 + 0.25 * (k / 4));
        dBodySetAngularVel(body[k], 1, 0.2 * k, 0);
    }
    assert_int_equal(spragWorldAttach(t.world, NULL, &sprag), SPRAG_OK);
    if (threading != NULL)
        dWorldSetStepThreadingImplementation(t.world, dThreadingImplementationGetFunctions(threading), threading);
    for (int n = 0; n < TUMBLE_STEPS; ++n) {
        dSpaceCollide(space, &t, touch);
        assert_int_equal(spragWorldStep(sprag, h), SPRAG_OK);
        dJointGroupEmpty(t.group);
    }
    for (int k = 0; k < TUMBLING; ++k)
        for (int i = 0; i < 3; ++i)
            end[k][i] = dBodyGetPosition(body[k])[i];
    spragWorldDetach(sprag);
    dJointGroupDestroy(t.group);
    dSpaceDestroy(space);
    dWorldDestroy(t.world);
}

static unsigned threads_seen;

static void lookAtThreads(dBodyID body)
{
    threads_seen = dWorldGetStepIslandsProcessingMaxThreadCount(dBodyGetWorld(body));
}

/* One thread moves bodies while ODE has nothing to solve, as many as the user allows while it has. */
static void odeSolvesWithItsThreads(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dWorldSetStepIslandsProcessingMaxThreadCount(t.world, 5);
    dBodySetMovedCallback(addBox(&t, 0, 0, 0.2), lookAtThreads);
    runWorld(&t, 2);
    assert_int_equal(threads_seen, 1);
    assert_int_equal(dWorldGetStepIslandsProcessingMaxThreadCount(t.world), 5);
    dJointAttach(dJointCreateBall(t.world, 0), addBox(&t, 5, 0, 2), NULL); /* an island without contacts */
    runWorld(&t, 2);
    assert_int_equal(threads_seen, 5);
    freeTwin(&t);
}

/* Threads of ODE's move geoms in any order, and spaces find contacts in that order.
 * Stock ODE is not twice the same. */
static void odeThreadsChangeNothing(void **state)
{
    (void)state;
    dThreadingImplementationID threading = dThreadingAllocateMultiThreadedImplementation();
    if (threading == NULL)
        skip();
    dThreadingThreadPoolID pool = dThreadingAllocateThreadPool(3, 0, (unsigned)dAllocateMaskAll, NULL);
    dThreadingThreadPoolServeMultiThreadedImplementation(pool, threading);
    double alone[TUMBLING][3], end[TUMBLING][3];
    tumble(NULL, alone);
    for (int run = 0; run < TUMBLE_RUNS; ++run) {
        tumble(threading, end);
        assert_memory_equal(end, alone, sizeof end);
    }
    dThreadingImplementationShutdownProcessing(threading);
    dThreadingFreeThreadPool(pool);
    dThreadingFreeImplementation(threading);
}

int main(void)
{
    dInitODE2(0);
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everySettingIsKept),      cmocka_unit_test(callbacksSeeTheJoints),
        cmocka_unit_test(contactsMayStay),         cmocka_unit_test(aNewBodyHasNoPast),
        cmocka_unit_test(aNewContactHasNoSurface), cmocka_unit_test(worldsDoNotMeet),
        cmocka_unit_test(odeThreadsMayStep),       cmocka_unit_test(odeSolvesWithItsThreads),
        cmocka_unit_test(odeThreadsChangeNothing),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
