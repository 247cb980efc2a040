/* Infinite friction in a step: what is pressed is held, what parts is free,
 * unless its force has no limit of its own. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "ode/world/world.h"

#define H 1e-3 /* s */
#define GRAVITY 9.81
#define PUSH 1.0 /* m/s along x */

/* A cube of 1 kg and 1 m at the origin, which moves: contacts below the middle of its front edge and at its two corners
 * behind.  v and omega after a step. */
static void stepCube(int mode, const double begin[3], double v[3], double omega[3])
{
    const dWorldID world = dWorldCreate();
    const dJointGroupID group = dJointGroupCreate(0);
    const dBodyID body = dBodyCreate(world);
    spragWorldID sprag;
    dMass mass;
    dWorldSetGravity(world, 0, 0, -GRAVITY);
    dMassSetBoxTotal(&mass, 1, 1, 1, 1);
    dBodySetMass(body, &mass);
    dBodySetLinearVel(body, begin[0], begin[1], begin[2]);
    assert_int_equal(spragWorldAttach(world, NULL, &sprag), SPRAG_OK);
    for (int k = 0; k < 3; ++k) {
        dContact contact;
        memset(&contact, 0, sizeof contact);
        contact.surface.mode = mode;
        contact.surface.mu = dInfinity;
        contact.geom.pos[0] = k == 0 ? 0.5 : -0.5;
        contact.geom.pos[1] = 0.5 * (k == 1) - 0.5 * (k == 2);
        contact.geom.pos[2] = -0.5;
        contact.geom.normal[2] = 1;
        dJointAttach(dJointCreateContact(world, group, &contact), body, NULL);
    }
    assert_int_equal(spragWorldStep(sprag, H), SPRAG_OK);
    assert_true(spragWorldGetStepInfo(sprag).residual <= 1e-8);
    assert_int_equal(spragWorldGetStepInfo(sprag).declined, 0);
    for (int i = 0; i < 3; ++i)
        v[i] = dBodyGetLinearVel(body)[i], omega[i] = dBodyGetAngularVel(body)[i];
    spragWorldDetach(sprag);
    dJointGroupDestroy(group);
    dWorldDestroy(world);
}

static void whatFliesIsFree(void **state)
{
    (void)state;
    double v[3], omega[3];
    stepCube(dContactApprox1, (double[3]){PUSH, 0, 1}, v, omega);
    CHECK_NEAR(v[0], PUSH, 1e-12);
    CHECK_NEAR(v[2], 1 - GRAVITY * H, 1e-12);
    CHECK_NEAR(omega[1], 0, 1e-12);
}

static void whatIsPressedIsHeld(void **state)
{
    (void)state;
    double v[3], omega[3];
    stepCube(dContactApprox1, (double[3]){-PUSH, 0, -1}, v, omega);
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(v[i], 0, 1e-7);
        CHECK_NEAR(omega[i], 0, 1e-7);
    }
}

/* Pushed along x, and aside by w along y, it turns about the contact P in front.  Its momentum about P, with the centre
 * at (-1, 0, 1) / 2 from there, is (-w, v - g h, -w) m / 2; the inertia about P is 2 m / 3 for this axis.  The corners
 * behind part, and move along y as they do, which a force without limit does not let them. */
static void whatPartsIsFree(void **state)
{
    (void)state;
    const double w = 0.3, turn = 0.75 * (PUSH - GRAVITY * H), aside = 0.75 * w;
    double v[3], omega[3];
    stepCube(dContactApprox1, (double[3]){PUSH, w, 0}, v, omega);
    CHECK_NEAR(omega[0], -aside, 1e-6);
    CHECK_NEAR(omega[1], turn, 1e-6);
    CHECK_NEAR(omega[2], -aside, 1e-6);
    CHECK_NEAR(v[0], 0.5 * turn, 1e-6);
    CHECK_NEAR(v[1], aside, 1e-6);
    CHECK_NEAR(v[2], 0.5 * turn, 1e-6);
    stepCube(0, (double[3]){PUSH, w, 0}, v, omega);
    CHECK_NEAR(omega[2], 0, 1e-6);
}

/* ---------------------------------------------------------------- no held answer, or not with all */

typedef struct Lone {
    dWorldID world;
    dJointGroupID group;
    dBodyID body;
    spragWorldID sprag;
} Lone;

/* A body of 1 kg at the origin, 1 m wide. */
static void makeLone(Lone *lone, double gravity)
{
    dMass mass;
    lone->world = dWorldCreate();
    lone->group = dJointGroupCreate(0);
    lone->body = dBodyCreate(lone->world);
    dWorldSetGravity(lone->world, 0, 0, -gravity);
    dWorldSetCFM(lone->world, 0);
    dMassSetBoxTotal(&mass, 1, 1, 1, 1);
    dBodySetMass(lone->body, &mass);
    assert_int_equal(spragWorldAttach(lone->world, NULL, &lone->sprag), SPRAG_OK);
}

static void freeLone(Lone *lone)
{
    spragWorldDetach(lone->sprag);
    dJointGroupDestroy(lone->group);
    dWorldDestroy(lone->world);
}

static void addPoint(Lone *lone, const double at[3], const double normal[3], double depth)
{
    dContact contact;
    memset(&contact, 0, sizeof contact);
    contact.surface.mode = dContactApprox1;
    contact.surface.mu = dInfinity;
    contact.geom.depth = depth;
    for (int i = 0; i < 3; ++i)
        contact.geom.pos[i] = at[i], contact.geom.normal[i] = normal[i];
    dJointAttach(dJointCreateContact(lone->world, lone->group, &contact), lone->body, NULL);
}

static const spragContact *stepLone(Lone *lone, int count)
{
    const spragContact *contact;
    assert_int_equal(spragWorldStep(lone->sprag, H), SPRAG_OK);
    const spragStepInfo info = spragWorldGetStepInfo(lone->sprag);
    assert_true(info.residual <= 1e-8);
    assert_int_equal(info.wedged, 0);
    assert_int_equal(info.declined, 0);
    assert_int_equal(spragWorldGetContacts(lone->sprag, &contact), count);
    return contact;
}

static int eventsOf(const Lone *lone, spragEventType type)
{
    const spragEvent *event;
    int found = 0;
    for (int k = spragWorldGetEvents(lone->sprag, &event) - 1; k >= 0; --k)
        found += event[k].type == type;
    return found;
}

/* A tip that is dragged behind: to stop it would lift it, so held it pulls, and let go it presses.  It slides, and
 * friction lifts it by just what it would sink.  With the arm a from the centre to the tip, along x and z, and the
 * inertia I, friction f along -x gives the tip's velocity f a_x a_z / I along z:  f = (w - v_z) I / (a_x a_z). */
static void whatIsDraggedSlides(void **state)
{
    (void)state;
    static const double up[3] = {0, 0, 1}, tip[3] = {-0.5, 0.1, -0.5};
    const double I = 1.0 / 6, sinks = 0.1;
    for (int tilted = 0; tilted < 2; ++tilted) {
        Lone lone;
        makeLone(&lone, 0);
        dBodySetLinearVel(lone.body, 3, 0, -sinks);
        addPoint(&lone, (double[3]){tip[0], tilted * tip[1], tip[2]}, up, 0);
        const spragContact *contact = stepLone(&lone, 1);
        assert_int_equal(contact->mode, SPRAG_MODE_SLIP);
        assert_int_equal(eventsOf(&lone, SPRAG_EVENT_DETACH) + eventsOf(&lone, SPRAG_EVENT_JAM), 0);
        assert_true(contact->slip[0] > 1);
        assert_true(contact->normal_force < 2e-3 * fabs(contact->friction[0]));
        if (tilted)
            assert_true(contact->friction[0] < -0.5 * sinks * I / (tip[0] * tip[2]) / H);
        else
            CHECK_NEAR(contact->friction[0] * H, -sinks * I / (tip[0] * tip[2]), 1e-3);
        freeLone(&lone);
    }
}

/* A body that moves so, after a step with two points, by an island with blocks. */
static const spragContact *fallOnTwo(Lone *lone, const double v[3], const double omega[3], const double at[2][3],
                                     const double n[2][3])
{
    static dJointFeedback feedback; /* for an island with blocks */
    makeLone(lone, 0);
    dBodySetLinearVel(lone->body, v[0], v[1], v[2]);
    dBodySetAngularVel(lone->body, omega[0], omega[1], omega[2]);
    for (int k = 0; k < 2; ++k)
        addPoint(lone, at[k], n[k], 0);
    dJointSetFeedback(dBodyGetJoint(lone->body, 0), &feedback);
    return stepLone(lone, 2);
}

/* A body falls on two points, and slides on at the edge of a cone with mu = 1e3: with that its contacts would have
 * several motions (the first) or none (the second; both together, the third), but theirs are no such cones, and this is
 * a motion. */
static void whatSlidesIsNoParadox(void **state)
{
    (void)state;
    static const double v[3][3] = {{-0.2, -0.3, -0.9}, {1, -0.2, -1.2}, {-1.8, -0.9, -0.5}},
                        omega[3][3] = {{-0.4, -0.8, 0}, {1.8, 0, 2.3}, {0.9, 0, 0}},
                        at[3][2][3] = {{{0.4, -0.1, 0.2}, {-0.2, -0.2, -0.1}},
                                       {{0.1, -0.2, -0.2}, {-0.2, 0, 0}},
                                       {{0.1, 0.3, 0.1}, {0.4, -0.2, -0.4}}},
                        n[3][2][3] = {
                            {{0, 0, 1}, {0, 0, 1}}, {{0, -0.6, 0.8}, {0, 0.6, 0.8}}, {{0, 0.6, 0.8}, {0, 0.8, 0.6}}};
    for (int of = 0; of < 3; ++of) {
        Lone lone;
        const spragContact *contact = fallOnTwo(&lone, v[of], omega[of], at[of], n[of]);
        assert_true(contact[0].mode == SPRAG_MODE_SLIP || contact[1].mode == SPRAG_MODE_SLIP);
        assert_int_equal(eventsOf(&lone, SPRAG_EVENT_INDETERMINATE) + eventsOf(&lone, SPRAG_EVENT_INCONSISTENT), 0);
        freeLone(&lone);
    }
}

/* The cone of a contact was in vain in an island of several: alone it slides at its edge all the same. */
static void aloneNothingIsInVain(void **state)
{
    (void)state;
    static const double up[3] = {0, 0, 1}, tip[3] = {-0.5, 0.1, -0.5};
    Lone lone;
    makeLone(&lone, 0);
    for (int step = 0; step < 2; ++step) {
        dJointGroupEmpty(lone.group);
        dBodySetLinearVel(lone.body, 3, 0, -0.1);
        dBodySetAngularVel(lone.body, 0, 0, 0);
        addPoint(&lone, tip, up, 0);
        if (step > 0)
            ((struct spragWorld *)lone.sprag)->memory[0].cone_barred = 5;
        const spragContact *contact = stepLone(&lone, 1);
        assert_int_equal(contact->mode, SPRAG_MODE_SLIP);
        assert_true(contact->friction[0] < -1);
    }
    freeLone(&lone);
}

/* In a groove whose sides push it up at 0.2 m/s both points hold only if the body grows, and press without bound.  One
 * that flies off is free of both. */
static void whatLeavesAGrooveIsFree(void **state)
{
    (void)state;
    dJointFeedback feedback; /* for an island with blocks */
    Lone lone;
    makeLone(&lone, 0);
    dBodySetLinearVel(lone.body, 0, 0, 1);
    addPoint(&lone, (double[3]){-0.5, 0, 0}, (double[3]){0.6, 0, 0.8}, 1e-3);
    addPoint(&lone, (double[3]){0.5, 0, 0}, (double[3]){-0.6, 0, 0.8}, 1e-3);
    dJointSetFeedback(dBodyGetJoint(lone.body, 0), &feedback);
    const spragContact *contact = stepLone(&lone, 2);
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(contact[k].mode, SPRAG_MODE_OPEN);
        CHECK_NEAR(contact[k].normal_force, 0, 1e-9);
    }
    CHECK_NEAR(dBodyGetLinearVel(lone.body)[2], 1, 1e-12);
    freeLone(&lone);
}

/* A fresh point departs at 0.1 m/s; to stop its slip would press it.  It leaves, and does so too in the next step; what
 * carried load stays, and settings of the config say otherwise.  The same by blocks as on the lone body's own way. */
static void whatDepartsIsFree(void **state)
{
    (void)state;
    static const double up[3] = {0, 0, 1}, tip[3] = {-0.5, 0, -0.5};
    static const spragMode modes[3][3] = {{SPRAG_MODE_OPEN, SPRAG_MODE_OPEN, SPRAG_MODE_STICK}, /* HISTORY */
                                          {SPRAG_MODE_OPEN, SPRAG_MODE_OPEN, SPRAG_MODE_OPEN},  /* LIFT */
                                          {SPRAG_MODE_STICK, SPRAG_MODE_STICK, SPRAG_MODE_STICK}};
    for (int of = 0; of < 18; ++of) {
        const int policy = of / 6, blocks = of / 3 % 2, past = of % 3; /* past: none, open, pressed */
        dJointFeedback feedback;
        Lone lone;
        const spragContact *contact = NULL;
        makeLone(&lone, 0);
        spragConfig config = spragConfigDefault();
        config.indeterminacy = (spragIndeterminacy)policy;
        assert_int_equal(spragWorldSetConfig(lone.sprag, &config), SPRAG_OK);
        for (int step = past > 0 ? 0 : 1; step < 2; ++step) {
            dJointGroupEmpty(lone.group);
            dBodySetLinearVel(lone.body, step == 0 ? 0 : -3, 0, step == 1 ? 0.1 : past == 1 ? 1 : -0.5);
            dBodySetAngularVel(lone.body, 0, 0, 0);
            addPoint(&lone, tip, up, 0);
            if (blocks)
                dJointSetFeedback(dBodyGetJoint(lone.body, 0), &feedback);
            contact = stepLone(&lone, 1);
        }
        assert_int_equal(contact->mode, modes[policy][past]);
        if (contact->mode == SPRAG_MODE_OPEN)
            CHECK_NEAR(dBodyGetLinearVel(lone.body)[0], -3, 1e-12);
        else
            assert_true(contact->normal_force > 1);
        freeLone(&lone);
    }
}

/* Two points of a body that all but falls into a corner.  Both held, both pull; both let go, both press: one holds. */
static void oneOfTwoHolds(void **state)
{
    (void)state;
    static const double v[3][3] = {{0.1, -1.6, -1.3}, {-1.9, -1.5, -1.7}, {-0.4, -1.3, -0.5}},
                        omega[3][3] = {{-2.6, 0, 0}, {0, 0, -1.8}, {0, -0.1, 0.9}},
                        at[3][2][3] = {{{0.4, 0.4, 0}, {-0.4, 0, -0.4}},
                                       {{0.1, -0.2, -0.1}, {0.4, 0.4, -0.3}},
                                       {{0.1, 0.2, -0.3}, {-0.2, -0.2, -0.5}}},
                        n[3][2][3] = {{{0.8, 0, 0.6}, {0, 0.6, 0.8}},
                                      {{0.6, 0, 0.8}, {0, 0.6, 0.8}},
                                      {{0.6, 0, 0.8}, {0.8, 0, 0.6}}};
    for (int of = 0; of < 3; ++of) {
        Lone lone;
        int holding = 0;
        const spragContact *contact = fallOnTwo(&lone, v[of], omega[of], at[of], n[of]);
        for (int k = 0; k < 2; ++k) {
            const double *slip = contact[k].slip, *friction = contact[k].friction;
            const int holds = contact[k].mode == SPRAG_MODE_STICK;
            holding += holds;
            assert_true(holds || contact[k].mode == SPRAG_MODE_OPEN);
            assert_true(holds ? contact[k].normal_force > 0 : contact[k].normal_force == 0);
            assert_true(hypot(hypot(slip[0], slip[1]), slip[2]) < 1e-8 || !holds);
            assert_true(hypot(hypot(friction[0], friction[1]), friction[2]) == 0 || holds);
        }
        assert_true(holding > 0);
        freeLone(&lone);
    }
}

/* A body that stands on the point below its centre and spins.  A second point, which bears nothing, stops it: it
 * sticks, as the limit of a small force, and has not parted. */
static void whatBearsNothingMayStick(void **state)
{
    (void)state;
    static const double up[3] = {0, 0, 1};
    dJointFeedback feedback; /* for an island with blocks */
    Lone lone;
    makeLone(&lone, GRAVITY);
    dBodySetAngularVel(lone.body, 0, 0, 1);
    for (int step = 0; step < 3; ++step) {
        dJointGroupEmpty(lone.group);
        addPoint(&lone, (double[3]){0, 0, -0.5}, up, 0);
        addPoint(&lone, (double[3]){0.5, 0, -0.5}, up, 0);
        dJointSetFeedback(dBodyGetJoint(lone.body, 0), &feedback);
        if (step > 0)
            dBodySetAngularVel(lone.body, 0, 0, 1);
        const spragContact *contact = stepLone(&lone, 2);
        CHECK_NEAR(contact[0].normal_force, GRAVITY, 1e-6);
        CHECK_NEAR(contact[1].normal_force, 0, 1e-6);
        assert_true(fabs(contact[1].friction[1]) > 1);
        assert_int_equal(contact[1].mode, SPRAG_MODE_STICK);
        assert_int_equal(eventsOf(&lone, SPRAG_EVENT_DETACH), 0);
        assert_int_equal(eventsOf(&lone, SPRAG_EVENT_TOUCH), step == 0 ? 2 : 0);
        CHECK_NEAR(dBodyGetAngularVel(lone.body)[2], 0, 1e-6);
    }
    freeLone(&lone);
}

/* ---------------------------------------------------------------- dolls */

typedef struct Doll {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
} Doll;

static dBodyID addPart(const Doll *doll, double mass, const double at[3], dGeomID geom)
{
    dMass m;
    const dBodyID body = dBodyCreate(doll->world);
    dMassSetBoxTotal(&m, mass, 0.3, 0.3, 0.3);
    dBodySetMass(body, &m);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, at[0], at[1], at[2]);
    return body;
}

static void addBall(const Doll *doll, dBodyID a, dBodyID b, double y, double z)
{
    const dJointID ball = dJointCreateBall(doll->world, 0);
    dJointAttach(ball, a, b);
    dJointSetBallAnchor(ball, 0, y, z);
}

/* A trunk with a head, arms, and legs with knees, thrown over the ground. */
static void makeDoll(Doll *doll, const double v[3], const double omega[3])
{
    doll->world = dWorldCreate();
    doll->space = dSimpleSpaceCreate(0);
    doll->group = dJointGroupCreate(0);
    dWorldSetGravity(doll->world, 0, 0, -GRAVITY);
    dCreatePlane(doll->space, 0, 0, 1, 0);
    const double z = 1.5;
    const dBodyID trunk = addPart(doll, 20, (double[3]){0, 0, z}, dCreateBox(doll->space, 0.4, 0.32, 0.24));
    addBall(doll, trunk, addPart(doll, 4, (double[3]){0, 0, z + 0.35}, dCreateSphere(doll->space, 0.12)), 0, z + 0.2);
    for (int side = -1; side < 2; side += 2) {
        const double y = 0.25 * side;
        const dBodyID thigh = addPart(doll, 3, (double[3]){0, y, z - 0.4}, dCreateCapsule(doll->space, 0.06, 0.24));
        const dBodyID shin = addPart(doll, 2, (double[3]){0, y, z - 0.8}, dCreateCapsule(doll->space, 0.05, 0.2));
        const dBodyID arm = addPart(doll, 2, (double[3]){0, 1.6 * y, z}, dCreateCapsule(doll->space, 0.05, 0.2));
        addBall(doll, trunk, thigh, 0.8 * y, z - 0.15);
        addBall(doll, trunk, arm, y, z + 0.1);
        const dJointID knee = dJointCreateHinge(doll->world, 0);
        dJointAttach(knee, thigh, shin);
        dJointSetHingeAnchor(knee, 0, y, z - 0.6);
        dJointSetHingeAxis(knee, 0, 1, 0);
        dJointSetHingeParam(knee, dParamLoStop, -1.2);
        dJointSetHingeParam(knee, dParamHiStop, 1.2);
    }
    dBodySetLinearVel(trunk, v[0], v[1], v[2]);
    dBodySetAngularVel(trunk, omega[0], omega[1], omega[2]);
}

static void touch(void *data, dGeomID a, dGeomID b)
{
    const Doll *doll = data;
    dContact contact[8];
    const dBodyID one = dGeomGetBody(a), other = dGeomGetBody(b);
    const int near = one != NULL && other != NULL && dAreConnected(one, other);
    const int count = near ? 0 : dCollide(a, b, 8, &contact[0].geom, sizeof contact[0]);
    for (int k = 0; k < count; ++k) {
        contact[k].surface.mode = dContactApprox1;
        contact[k].surface.mu = dInfinity;
        dJointAttach(dJointCreateContact(doll->world, doll->group, &contact[k]), one, other);
    }
}

/* Cones that are not solved in a moment leave the step with an answer, and are not tried again in each. */
static void whatIsThrownIsSolvedSoon(void **state)
{
    (void)state;
    enum { DOLLS = 8, STEPS = 200 };
    long iterations = 0, missed = 0;
    for (int seed = 0; seed < DOLLS; ++seed) {
        Doll doll;
        spragWorldID sprag;
        const double turn = 2.4 * seed; /* rad */
        makeDoll(&doll, (double[3]){3 * cos(turn), 3 * sin(turn), -1}, (double[3]){3 * sin(2 * turn), 2, cos(turn)});
        assert_int_equal(spragWorldAttach(doll.world, NULL, &sprag), SPRAG_OK);
        for (int step = 0; step < STEPS; ++step) {
            dSpaceCollide(doll.space, &doll, touch);
            assert_int_equal(spragWorldStep(sprag, 0.01), SPRAG_OK);
            dJointGroupEmpty(doll.group);
            const spragStepInfo info = spragWorldGetStepInfo(sprag);
            missed += !(info.residual <= 1e-8);
            iterations += info.iterations;
        }
        spragWorldDetach(sprag);
        dJointGroupDestroy(doll.group);
        dSpaceDestroy(doll.space);
        dWorldDestroy(doll.world);
    }
    assert_int_equal(missed, 0);
    assert_true(iterations < 60L * DOLLS * STEPS);
}

/* An infinite coefficient has no paradox of one contact, p = A_nn: what stops a slip, as the landing of another point
 * of the body, is no jam.  By blocks as on the lone body's own way. */
static void whatStopsIsNoJam(void **state)
{
    (void)state;
    static const double up[3] = {0, 0, 1}, at[3][3] = {{-0.5, 0.3, -0.5}, {0.5, -0.4, -0.5}, {0.3, 0.5, -0.5}};
    int stuck = 0;
    for (int of = 0; of < 128; ++of) {
        dJointFeedback feedback; /* for an island with blocks */
        Lone lone;
        makeLone(&lone, 0);
        dBodySetLinearVel(lone.body, 0.3, 0.1 * (of % 4), -0.1 * (of / 4 % 2));
        dBodySetAngularVel(lone.body, 0.2 * (of / 8 % 4) - 0.3, 0.2 * (of / 32) - 0.3, 0);
        for (int k = 0; k < 3; ++k)
            addPoint(&lone, at[k], up, 0);
        for (int k = 0; k < 3 && of % 2 == 0; ++k)
            dJointSetFeedback(dBodyGetJoint(lone.body, k), &feedback);
        const spragContact *contact = stepLone(&lone, 3);
        for (int k = 0; k < 3; ++k)
            stuck += contact[k].mode == SPRAG_MODE_STICK;
        assert_int_equal(eventsOf(&lone, SPRAG_EVENT_JAM), 0);
        freeLone(&lone);
    }
    assert_true(stuck > 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatIsThrownIsSolvedSoon), cmocka_unit_test(whatFliesIsFree),
        cmocka_unit_test(whatIsPressedIsHeld),      cmocka_unit_test(whatPartsIsFree),
        cmocka_unit_test(whatIsDraggedSlides),      cmocka_unit_test(whatLeavesAGrooveIsFree),
        cmocka_unit_test(whatBearsNothingMayStick), cmocka_unit_test(aloneNothingIsInVain),
        cmocka_unit_test(whatSlidesIsNoParadox),    cmocka_unit_test(whatStopsIsNoJam),
        cmocka_unit_test(whatDepartsIsFree),        cmocka_unit_test(oneOfTwoHolds)};
    dInitODE2(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
