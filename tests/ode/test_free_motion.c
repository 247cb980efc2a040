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

static void tumble(Twin *t, dBodyID body, int steps)
{
    for (int i = 0; i < steps; ++i) {
        const dReal *p = dBodyGetPosition(body);
        const dContact contact = planeContact(p[0], p[1], 0, 0);
        addContact(t, &contact, body, 0);
        step(t, 1e-3);
        if (t->sprag != NULL)
            assert_int_equal(spragWorldGetStepInfo(t->sprag).contacts, 1);
    }
}

/* L in world axes, from ODE's own state. */
static void angularMomentum(dBodyID body, double L[3])
{
    dMass mass;
    dBodyGetMass(body, &mass);
    dVector3 w, l, out;
    dBodyVectorFromWorld(body, dBodyGetAngularVel(body)[0], dBodyGetAngularVel(body)[1], dBodyGetAngularVel(body)[2],
                         w);
    for (int i = 0; i < 3; ++i)
        l[i] = mass.I[4 * i] * w[0] + mass.I[4 * i + 1] * w[1] + mass.I[4 * i + 2] * w[2];
    dBodyVectorToWorld(body, l[0], l[1], l[2], out);
    for (int i = 0; i < 3; ++i)
        L[i] = out[i];
}

static void momentumIsConserved(void **state)
{
    (void)state;
    for (int finite = 0; finite < 3; ++finite) { /* ODE's three updates of the orientation */
        Twin t;
        dBodyID body = makeTumbler(&t, 1, SPRAG_GYROSCOPIC_MOMENTUM, finite);
        double before[3], after[3];
        angularMomentum(body, before);
        tumble(&t, body, 2000);
        angularMomentum(body, after);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(after[i], before[i], 1e-10);
        assert_true(dBodyGetGyroscopicMode(body)); /* as the user left it */
        freeTwin(&t);
    }
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
        cmocka_unit_test(momentumIsConserved),
        cmocka_unit_test(odeModeIsAsOde),
        cmocka_unit_test(gyroscopicModeOffIsRespected),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
