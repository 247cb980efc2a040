/* Rows of ODE's joints: how many each type has, which body comes first, and what a motor at its stop becomes. */
#include "support/check.h"

#include <string.h>

#include "ode/rows/joint_rows.h"

static dWorldID world;

static int setUp(void **state)
{
    (void)state;
    dInitODE2(0);
    world = dWorldCreate();
    return 0;
}

static int tearDown(void **state)
{
    (void)state;
    dWorldDestroy(world);
    dCloseODE();
    return 0;
}

static void libraryPassesTheSelfTest(void **state)
{
    (void)state;
    assert_true(spragJointRowsAvailable());
}

/* Every joint type of ODE 0.16 gives the rows its constraint needs, before the world's first step. */
static void everyTypeHasItsRows(void **state)
{
    (void)state;
    dBodyID a = dBodyCreate(world), b = dBodyCreate(world);
    dBodySetPosition(b, 1, 2, 3);
    const struct {
        dJointID joint;
        int m;
    } cases[] = {
        {dJointCreateBall(world, 0), 3},      {dJointCreateHinge(world, 0), 5},  {dJointCreateSlider(world, 0), 5},
        {dJointCreateUniversal(world, 0), 4}, {dJointCreateHinge2(world, 0), 4}, {dJointCreateFixed(world, 0), 6},
        {dJointCreateNull(world, 0), 0},      {dJointCreateAMotor(world, 0), 0}, {dJointCreateLMotor(world, 0), 0},
        {dJointCreatePR(world, 0), 4},        {dJointCreatePU(world, 0), 3},     {dJointCreatePiston(world, 0), 4},
        {dJointCreateDBall(world, 0), 1},     {dJointCreateDHinge(world, 0), 4},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        dJointAttach(cases[k].joint, a, b);
        if (dJointGetType(cases[k].joint) == dJointTypeDBall) { /* two anchors apart, else ODE removes the row */
            dJointSetDBallAnchor1(cases[k].joint, 0, 0, 0);
            dJointSetDBallAnchor2(cases[k].joint, 1, 2, 3);
        }
        spragJointRowSet rows;
        assert_int_equal(spragJointRows(cases[k].joint, 100, 0.2, 0, &rows), cases[k].m);
        dJointDestroy(cases[k].joint);
    }
    dContact contact = {0};
    dJointID joint = dJointCreateContact(world, 0, &contact);
    dJointAttach(joint, a, b);
    spragJointRowSet rows;
    assert_int_equal(spragJointRows(joint, 100, 0.2, 0, &rows), -1);
}

static void jointToTheWorldIsTurnedAround(void **state)
{
    (void)state;
    dBodyID b = dBodyCreate(world);
    dJointID ball = dJointCreateBall(world, 0);
    dJointAttach(ball, 0, b);
    dJointSetBallAnchor(ball, 0, 0, 1);
    spragJointRowSet rows;
    assert_int_equal(spragJointRows(ball, 100, 0.2, 0, &rows), 3);
    assert_ptr_equal(rows.body[0], b);
    assert_null(rows.body[1]);
    CHECK_NEAR(rows.J1[0][0], 1, 0);
}

/* ODE applies the motor of a stopped axis as a force; read so, one step of ODE's solver and J^T force agree. */
static void motorAtItsStopIsAForce(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; ++variant) {
        dBodyID b = dBodyCreate(world);
        dJointID slider = dJointCreateSlider(world, 0);
        dJointAttach(slider, b, 0);
        dJointSetSliderAxis(slider, 1, 0, 0);
        const double velocity = variant & 1 ? 2 : -2;
        const int low = variant >> 1;
        dJointSetSliderParam(slider, low ? dParamLoStop : dParamHiStop, 0);
        dJointSetSliderParam(slider, dParamVel, (dReal)velocity);
        dJointSetSliderParam(slider, dParamFMax, 5);
        dJointSetSliderParam(slider, dParamFudgeFactor, 0.25);
        dBodySetPosition(b, (dReal)(low ? -0.01 : 0.01), 0, 0);
        spragJointRowSet rows;
        assert_int_equal(spragJointRows(slider, 1000, 0, 0, &rows), 6);
        const int towards = low ? velocity < 0 : velocity > 0;
        CHECK_NEAR(rows.force[5], (velocity > 0 ? 5 : -5) * (towards ? 1 : 0.25), 0);
        assert_true(dJointGetSliderParam(slider, dParamFMax) == 5); /* left as it was */
        /* ODE's own step: away from the stop the body accelerates by the fudged force alone. */
        dJointSetSliderParam(slider, dParamStopERP, 0);
        dWorldStep(world, (dReal)0.001);
        const double acceleration = dBodyGetLinearVel(b)[0] / 0.001;
        if (!towards)
            CHECK_NEAR(acceleration, rows.force[5], 1e-6);
        dBodyDestroy(b);
        dJointDestroy(slider);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(libraryPassesTheSelfTest, setUp, tearDown),
        cmocka_unit_test_setup_teardown(everyTypeHasItsRows, setUp, tearDown),
        cmocka_unit_test_setup_teardown(jointToTheWorldIsTurnedAround, setUp, tearDown),
        cmocka_unit_test_setup_teardown(motorAtItsStopIsAForce, setUp, tearDown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
