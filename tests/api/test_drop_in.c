/* A tutorial program of ODE with the two lines added, and nothing else: its steps are Sprag's. */
#include <ode/ode.h>
#include <sprag/drop_in.h>

#include "support/check.h"

#include <string.h>

static dWorldID world;
static dSpaceID space;
static dJointGroupID group;

static void nearCallback(void *data, dGeomID g1, dGeomID g2)
{
    (void)data;
    dContact contact[4];
    const int n = dCollide(g1, g2, 4, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < n; ++i) {
        memset(&contact[i].surface, 0, sizeof contact[i].surface);
        contact[i].surface.mode = dContactApprox1;
        contact[i].surface.mu = 0.5;
        dJointAttach(dJointCreateContact(world, group, &contact[i]), dGeomGetBody(g1), dGeomGetBody(g2));
    }
}

/* A box thrown along the diagonal of the friction axes; returns its speed after 100 steps. */
static double run(int quick)
{
    world = dWorldCreate();
    space = dHashSpaceCreate(0);
    group = dJointGroupCreate(0);
    dWorldSetGravity(world, 0, 0, -9.81);
    dCreatePlane(space, 0, 0, 1, 0);
    const dBodyID body = dBodyCreate(world);
    dMass mass;
    dMassSetBoxTotal(&mass, 1, 1, 1, 0.2);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, 0, 0, 0.1);
    dBodySetLinearVel(body, 2, 2, 0);
    dGeomSetBody(dCreateBox(space, 1, 1, 0.2), body);
    for (int k = 0; k < 100; ++k) {
        dSpaceCollide(space, NULL, nearCallback);
        assert_int_equal((quick ? dWorldQuickStep : dWorldStep)(world, 0.001), 1);
        dJointGroupEmpty(group);
    }
    const spragWorldID sprag = spragWorldFind(world);
    assert_non_null(sprag);
    assert_int_equal(spragWorldGetStepInfo(sprag).step, 100);
    assert_int_equal(spragWorldGetStepInfo(sprag).contacts, 4);
    const dReal *v = dBodyGetLinearVel(body);
    const double speed = sqrt(v[0] * v[0] + v[1] * v[1]);
    dJointGroupDestroy(group);
    dSpaceDestroy(space);
    dWorldDestroy(world);
    assert_null(spragWorldFind(world));
    return speed;
}

static void frictionIsRound(void **state)
{
    (void)state;
    for (int quick = 0; quick < 2; ++quick)
        CHECK_NEAR(run(quick), 2 * sqrt(2) - 0.5 * 9.81 * 0.1, 1e-6);
}

/* What Sprag refuses is ODE's. */
static void whatSpragRefusesIsLeftToOde(void **state)
{
    (void)state;
    world = dWorldCreate();
    const dBodyID body = dBodyCreate(world);
    dBodySetLinearVel(body, 1, 0, 0);
    dWorldSetCFM(world, -1);
    assert_int_equal(dWorldStep(world, 0.001), 1);
    CHECK_NEAR(dBodyGetPosition(body)[0], 0.001, 1e-12);
    assert_int_equal(spragWorldGetStepInfo(spragWorldFind(world)).step, 0);
    dWorldDestroy(world);
}

/* An absurd body is left to ODE with its island, in this step alone, and the others are not.  Who asks for Sprag's step
 * by name is told. */
static void whatIsAbsurdIsLeftToOde(void **state)
{
    (void)state;
    world = dWorldCreate();
    const dJointGroupID kept = dJointGroupCreate(0);
    const dBodyID lost = dBodyCreate(world), bad = dBodyCreate(world), box = dBodyCreate(world);
    dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5}, .geom = {.normal = {0, 0, 1}}};
    dJointAttach(dJointCreateContact(world, kept, &contact), box, 0);
    contact.surface.mode |= dContactSoftCFM, contact.surface.soft_cfm = -1e-14;
    dJointAttach(dJointCreateContact(world, kept, &contact), bad, 0);
    dBodySetLinearVel(lost, NAN, 0, 0);
    dBodySetLinearVel(box, 1, 0, -1);
    assert_int_equal(dWorldStep(world, 0.001), 1);
    const spragWorldID sprag = spragWorldFind(world);
    const spragStepInfo info = spragWorldGetStepInfo(sprag);
    assert_true(isnan(dBodyGetPosition(lost)[0]));
    assert_int_equal(info.step, 1);
    assert_int_equal(info.islands, 2);
    assert_int_equal(info.declined, 1);
    const double speed = dBodyGetLinearVel(box)[0];
    CHECK_NEAR(speed, 0.5, 1e-6); /* an impulse of 1 ends the fall, one of mu brakes */
    assert_int_equal(spragWorldStep(sprag, 0.001), SPRAG_ERROR_NOT_FINITE);
    CHECK_NEAR(dBodyGetLinearVel(box)[0], speed, 0);
    dBodySetLinearVel(lost, 0, 0, 0);
    dBodySetPosition(lost, 0, 0, 0);
    assert_int_equal(spragWorldStep(sprag, 0.001), SPRAG_ERROR_RANGE);
    dJointGroupDestroy(kept);
    assert_int_equal(spragWorldStep(sprag, 0.001), SPRAG_OK);
    dWorldDestroy(world);
}

static int setUp(void **state)
{
    (void)state;
    return !dInitODE2(0);
}

static int tearDown(void **state)
{
    (void)state;
    dCloseODE();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frictionIsRound, setUp, tearDown),
        cmocka_unit_test_setup_teardown(whatSpragRefusesIsLeftToOde, setUp, tearDown),
        cmocka_unit_test_setup_teardown(whatIsAbsurdIsLeftToOde, setUp, tearDown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
