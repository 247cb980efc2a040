/* Mass and inertia of a body in world axes, and what is refused. */
#include "support/check.h"

#include <string.h>

#include "ode/world/body_mass.h"

static spragBodyState stateOf(dBodyID body)
{
    spragBodyState state = {.id = body};
    const dReal *R = dBodyGetRotation(body);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            state.rotation[3 * i + j] = R[4 * i + j];
    return state;
}

static dBodyID turnedBody(dWorldID world, double a, double b, double c)
{
    dMass mass;
    dMatrix3 R;
    const dBodyID body = dBodyCreate(world);
    dMassSetBoxTotal(&mass, 3, a, b, c);
    dBodySetMass(body, &mass);
    dRFromAxisAndAngle(R, 1, 2, 3, 0.7);
    dBodySetRotation(body, R);
    return body;
}

/* R I R^T, and times its inverse the identity; a cube's is known to be a multiple of that. */
static void inertiaIsThatOfTheWorld(void **state)
{
    (void)state;
    const dWorldID world = dWorldCreate();
    for (int cube = 0; cube < 2; ++cube) {
        const dBodyID body = turnedBody(world, 1, cube ? 1 : 2, cube ? 1 : 0.3);
        spragBodyState s = stateOf(body);
        assert_int_equal(spragBodyMass(&s, 0), SPRAG_OK);
        CHECK_NEAR(s.mass, 3, 1e-15);
        CHECK_NEAR(s.inverse_mass * s.mass, 1, 1e-15);
        assert_int_equal(s.isotropic, cube);
        dMass mass;
        dBodyGetMass(body, &mass);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                double turned = 0, unit = 0;
                for (int k = 0; k < 3; ++k) {
                    turned += s.rotation[3 * i + k] * mass.I[5 * k] * s.rotation[3 * j + k];
                    unit += s.inertia[3 * i + k] * s.inverse_inertia[3 * k + j];
                }
                CHECK_NEAR(s.inertia[3 * i + j], turned, 1e-14);
                CHECK_NEAR(unit, i == j, 1e-13);
            }
    }
    dWorldDestroy(world);
}

static void whatIsNoMassIsRefused(void **state)
{
    (void)state;
    const dWorldID world = dWorldCreate();
    const dBodyID body = turnedBody(world, 1, 2, 3);
    spragBodyState s = stateOf(body);
    dMass mass;
    dBodyGetMass(body, &mass);
    mass.I[0] = NAN;
    dBodySetMass(body, &mass);
    assert_int_equal(spragBodyMass(&s, 7), SPRAG_ERROR_NOT_FINITE);
    assert_non_null(strstr(spragStatusDetail(), "body 7"));
    dWorldDestroy(world);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(inertiaIsThatOfTheWorld),
                                       cmocka_unit_test(whatIsNoMassIsRefused)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
