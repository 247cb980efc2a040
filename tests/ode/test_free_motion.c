/* Gyroscopic terms: a tumbling body that touches the ground under its mass centre, so that no torque acts on it. */
#include "support/twin.h"

static dBodyID makeTumbler(Twin *t, int use_sprag, spragGyroscopic gyroscopic, int finite)
{
    makeTwin(t, use_sprag);
    if (use_sprag) {
        spragConfig config = spragConfigDefault();
        config.gyroscopic = gyroscopic;
        assert_int_equal(spragWorldSetConfig(t->sprag, &config), SPRAG_OK);
    }
    dBodyID body = addBox(t, 0, 0, 0.5);
    dBodySetAngularVel(body, 3, 8, -5);
    dBodySetFiniteRotationMode(body, finite > 0);
    if (finite == 2)
        dBodySetFiniteRotationAxis(body, 0, 0, 1);
    return body;
}

/* torque: N m, or NULL */
static void tumbleUnder(Twin *t, dBodyID body, int steps, const double *torque)
{
    for (int i = 0; i < steps; ++i) {
        if (torque != NULL)
            dBodyAddTorque(body, torque[0], torque[1], torque[2]);
        const dReal *p = dBodyGetPosition(body);
        const dContact contact = planeContact(p[0], p[1], 0, 0);
        addContact(t, &contact, body, 0);
        step(t, 1e-3);
        if (t->sprag != NULL)
            assert_int_equal(spragWorldGetStepInfo(t->sprag).contacts, 1);
    }
}

static void tumble(Twin *t, dBodyID body, int steps)
{
    tumbleUnder(t, body, steps, NULL);
}

/* L in world axes at the middle of the last step, which a body's velocity belongs to: from the orientations at both
 * ends, half way between them. */
static void angularMomentum(dBodyID body, const dQuaternion before, double L[3])
{
    dMass mass;
    dBodyGetMass(body, &mass);
    const dReal *after = dBodyGetQuaternion(body), *velocity = dBodyGetAngularVel(body);
    dQuaternion middle;
    double length = 0;
    for (int i = 0; i < 4; ++i) {
        middle[i] = before[i] + after[i];
        length += middle[i] * middle[i];
    }
    for (int i = 0; i < 4; ++i)
        middle[i] /= sqrt(length);
    dMatrix3 R;
    dRfromQ(R, middle);
    double w[3], l[3];
    for (int i = 0; i < 3; ++i)
        w[i] = R[i] * velocity[0] + R[4 + i] * velocity[1] + R[8 + i] * velocity[2];
    for (int i = 0; i < 3; ++i)
        l[i] = mass.I[4 * i] * w[0] + mass.I[4 * i + 1] * w[1] + mass.I[4 * i + 2] * w[2];
    for (int i = 0; i < 3; ++i)
        L[i] = R[4 * i] * l[0] + R[4 * i + 1] * l[1] + R[4 * i + 2] * l[2];
}

static void momentumAfter(Twin *t, dBodyID body, int steps, double L[3])
{
    dQuaternion before;
    tumble(t, body, steps - 1);
    memcpy(before, dBodyGetQuaternion(body), sizeof before);
    tumble(t, body, 1);
    angularMomentum(body, before, L);
}

static void momentumIsConserved(void **state)
{
    (void)state;
    for (int finite = 0; finite < 3; ++finite) { /* ODE's three updates of the orientation */
        Twin t;
        dBodyID body = makeTumbler(&t, 1, SPRAG_GYROSCOPIC_MOMENTUM, finite);
        double before[3], after[3];
        momentumAfter(&t, body, 1, before);
        momentumAfter(&t, body, 2000, after);
        for (int i = 0; i < 3; ++i)
            /* half of an infinitesimal update is not half way: (h w)^3 / 16 apart in what the test measures */
            CHECK_NEAR(after[i], before[i], finite == 1 ? 1e-10 : 1e-5);
        assert_true(dBodyGetGyroscopicMode(body)); /* as the user left it */
        freeTwin(&t);
    }
}

/* A torque adds h times itself to L in each step.  (Where it is answered by the inertia of the step's start 300 steps
 * leave L off by 2e-4.) */
static void torqueAddsItself(void **state)
{
    (void)state;
    static const double torque[3] = {0.3, -0.2, 0.4};
    enum { STEPS = 300 };
    Twin t;
    const dBodyID body = makeTumbler(&t, 1, SPRAG_GYROSCOPIC_CONTACTS, 1);
    dQuaternion last;
    double before[3], after[3];
    momentumAfter(&t, body, 1, before);
    tumbleUnder(&t, body, STEPS - 1, torque);
    memcpy(last, dBodyGetQuaternion(body), sizeof last);
    tumbleUnder(&t, body, 1, torque);
    angularMomentum(body, last, after);
    for (int i = 0; i < 3; ++i)
        CHECK_NEAR(after[i], before[i] + STEPS * 1e-3 * torque[i], 1e-10);
    freeTwin(&t);
}

/* Nearly half a turn in each step. */
static void fastTumblersKeepIt(void **state)
{
    (void)state;
    Twin t;
    dBodyID body = makeTumbler(&t, 1, SPRAG_GYROSCOPIC_MOMENTUM, 1);
    dBodySetAngularVel(body, 825, 2200, -1375);
    double before[3], after[3];
    momentumAfter(&t, body, 1, before);
    momentumAfter(&t, body, 300, after);
    for (int i = 0; i < 3; ++i)
        CHECK_NEAR(after[i] / before[1], before[i] / before[1], 1e-11);
    freeTwin(&t);
}

static void odeModeIsAsOde(void **state)
{
    (void)state;
    Twin twin[2];
    dBodyID body[2];
    for (int k = 0; k < 2; ++k) {
        body[k] = makeTumbler(&twin[k], k, SPRAG_GYROSCOPIC_ODE, 0);
        tumble(&twin[k], body[k], 500);
    }
    assert_true(bodyDifference(body[0], body[1]) < 1e-9);
    freeTwin(&twin[0]);
    freeTwin(&twin[1]);
}

static void gyroscopicModeOffIsRespected(void **state)
{
    (void)state;
    Twin t;
    dBodyID body = makeTumbler(&t, 1, SPRAG_GYROSCOPIC_MOMENTUM, 0);
    dBodySetGyroscopicMode(body, 0);
    tumble(&t, body, 100);
    CHECK_NEAR(dBodyGetAngularVel(body)[0], 3, 1e-12);
    CHECK_NEAR(dBodyGetAngularVel(body)[1], 8, 1e-12);
    assert_false(dBodyGetGyroscopicMode(body));
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentumIsConserved),          cmocka_unit_test(torqueAddsItself),
        cmocka_unit_test(fastTumblersKeepIt),           cmocka_unit_test(odeModeIsAsOde),
        cmocka_unit_test(gyroscopicModeOffIsRespected),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
