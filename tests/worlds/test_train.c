/* Twelve wagons on cylinders, coupled by universal joints, drawn by four motors that slip: one mechanism, whose 96
 * contacts share its load as they like and slip by 1e-6 m/s.
 *
 * Its Newton steps are cheap among bodies and ten times as dear among contacts.  The work of a step is limited, not the
 * number of these steps: a hard step may cost some hundred times what an easy one does, 0.3 s, not 1 to 2 s. */
#include <time.h>

#include "support/check.h"
#include "support/collide.h"

#include <sprag/sprag_ode.h>

enum { WAGONS = 12, WHEELS = 4, EASY = 150, EASY_END = 200, HARD = 260, HARD_END = 310 };
#define STEP 0.01
#define TIMES_MOST 150.0 /* what hard steps may cost in those of easy ones: 84; 260 where steps were counted */

typedef struct Train {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    dJointID drive[WHEELS];
    spragWorldID sprag;
} Train;

static dBodyID addBody(Train *train, dGeomID geom, dMass mass, double x, double y, double z)
{
    const dBodyID body = dBodyCreate(train->world);
    dBodySetMass(body, &mass);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, x, y, z);
    return body;
}

static void addWheels(Train *train, dBodyID wagon, double x, int driven)
{
    for (int k = 0; k < WHEELS; ++k) {
        const double at = x + (k < 2 ? 0.5 : -0.5), y = k % 2 ? 0.5 : -0.5;
        dMass mass;
        dMatrix3 turn;
        dMassSetCylinderTotal(&mass, 10, 3, 0.2, 0.1);
        const dBodyID wheel = addBody(train, dCreateCylinder(train->space, 0.2, 0.1), mass, at, y, 0.2);
        dRFromAxisAndAngle(turn, 1, 0, 0, 0.5 * M_PI);
        dBodySetRotation(wheel, turn);
        const dJointID joint = dJointCreateHinge(train->world, 0);
        dJointAttach(joint, wagon, wheel);
        dJointSetHingeAnchor(joint, at, y, 0.2);
        dJointSetHingeAxis(joint, 0, 1, 0);
        if (driven)
            train->drive[k] = joint;
    }
}

static void couple(Train *train, dBodyID front, dBodyID rear, double x)
{
    const dJointID joint = dJointCreateUniversal(train->world, 0);
    dJointAttach(joint, front, rear);
    dJointSetUniversalAnchor(joint, x, 0, 0.5);
    dJointSetUniversalAxis1(joint, 0, 0, 1);
    dJointSetUniversalAxis2(joint, 0, 1, 0);
    dJointSetUniversalParam(joint, dParamLoStop1, -0.6);
    dJointSetUniversalParam(joint, dParamHiStop1, 0.6);
    dJointSetUniversalParam(joint, dParamLoStop2, -0.3);
    dJointSetUniversalParam(joint, dParamHiStop2, 0.3);
}

static Train build(void)
{
    Train train = {.world = dWorldCreate(), .space = dHashSpaceCreate(0), .group = dJointGroupCreate(0)};
    dWorldSetGravity(train.world, 0, 0, -9.81);
    dCreatePlane(train.space, 0, 0, 1, 0);
    dBodyID front = NULL;
    for (int i = 0; i < WAGONS; ++i) {
        dMass mass;
        dMassSetBoxTotal(&mass, i == 0 ? 800 : 200, 1.6, 0.8, 0.4);
        const dBodyID wagon = addBody(&train, dCreateBox(train.space, 1.6, 0.8, 0.4), mass, -2.0 * i, 0, 0.5);
        addWheels(&train, wagon, -2.0 * i, i == 0);
        if (front != NULL)
            couple(&train, front, wagon, 1 - 2.0 * i);
        front = wagon;
    }
    spragConfig config = spragConfigDefault();
    config.enough = 1e-6; /* as in preloaded programs */
    assert_int_equal(spragWorldAttach(train.world, &config, &train.sprag), SPRAG_OK);
    return train;
}

static void touch(void *data, dGeomID a, dGeomID b)
{
    Train *train = data;
    const dBodyID p = dGeomGetBody(a), q = dGeomGetBody(b);
    if (p == NULL || q == NULL || !dAreConnectedExcluding(p, q, dJointTypeContact))
        makeContacts(train->sprag, train->group, a, b, &(dSurfaceParameters){.mode = dContactApprox1, .mu = 0.7}, NULL);
}

/* s of CPU that the steps begin .. end - 1 take. */
static double run(Train *train, int begin, int end)
{
    clock_t spent = 0;
    for (int k = begin; k < end; ++k) {
        for (int i = 0; i < WHEELS; ++i) {
            dJointSetHingeParam(train->drive[i], dParamVel, k < 100 ? 0 : -15);
            dJointSetHingeParam(train->drive[i], dParamFMax, 300);
        }
        dSpaceCollide(train->space, train, touch);
        const clock_t start = clock();
        assert_int_equal(spragWorldStep(train->sprag, STEP), SPRAG_OK);
        spent += clock() - start;
        dJointGroupEmpty(train->group);
        assert_true(spragWorldGetStepInfo(train->sprag).residual <= 1e-6);
    }
    return (double)spent / CLOCKS_PER_SEC;
}

static void hardStepsKeepTheirWork(void **state)
{
    (void)state;
    Train train = build();
    run(&train, 0, EASY);
    const double easy = run(&train, EASY, EASY_END);
    run(&train, EASY_END, HARD);
    const double hard = run(&train, HARD, HARD_END);
    printf("easy steps %.4f s, hard ones %.4f s\n", easy, hard);
    assert_true(hard <= TIMES_MOST * easy);
    spragWorldDetach(train.sprag);
    dJointGroupDestroy(train.group);
    dSpaceDestroy(train.space);
    dWorldDestroy(train.world);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(hardStepsKeepTheirWork)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
