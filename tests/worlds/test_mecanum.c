/* A platform on four mecanum wheels starts: all motors at their limit, from contacts of depth 0 that no step knows.
 *
 * Each wheel touches the floor along its axle, and its rollers let it slide across d = (1, +-1) all but freely.  Four
 * wheels under a rigid platform are hyperstatic, and those in front slip, with friction by their load: there is a whole
 * family of answers, most of which turn the platform.  World and motors are their own mirror images in y, and so should
 * the motion be.  The answer that the first step finds is the guess of the next ones: one that turned by 1e-5 rad led
 * to 0.05 rad in half a second. */
#include "support/twin.h"

enum { WHEELS = 4 };
static const double H = 0.002, RADIUS = 0.1, SPIN = 4, TORQUE = 3; /* s, m, rad/s, N m */

typedef struct Platform {
    Twin t;
    dSpaceID space;
    dBodyID trunk, wheel[WHEELS];
    dJointID hinge[WHEELS];
} Platform;

static double sideOf(int k)
{
    return k % 2 == 1 ? -1 : 1;
}

static double roundWay(int k)
{
    return k == 0 || k == 3 ? 1 : -1;
}

static dBodyID placeBody(const Platform *p, const dMass *m, double x, double y, double z)
{
    const dBodyID body = dBodyCreate(p->t.world);
    dBodySetMass(body, m);
    dBodySetPosition(body, (dReal)x, (dReal)y, (dReal)z);
    return body;
}

static void makePlatform(Platform *p)
{
    dMass m;
    dMatrix3 lying;
    memset(p, 0, sizeof *p);
    makeTwin(&p->t, 1);
    p->space = dSimpleSpaceCreate(0);
    dCreatePlane(p->space, 0, 0, 1, 0);
    dMassSetBoxTotal(&m, 10, 0.5, 0.3, 0.1);
    p->trunk = placeBody(p, &m, 0, 0, 0.15);
    dRFromAxisAndAngle(lying, 1, 0, 0, (dReal)(M_PI / 2));
    for (int k = 0; k < WHEELS; ++k) {
        const double x = k < 2 ? 0.2 : -0.2, y = 0.2 * sideOf(k);
        dMassSetCylinderTotal(&m, 0.5, 3, (dReal)RADIUS, 0.05);
        p->wheel[k] = placeBody(p, &m, x, y, RADIUS);
        dGeomSetBody(dCreateCylinder(p->space, (dReal)RADIUS, 0.05), p->wheel[k]);
        dBodySetRotation(p->wheel[k], lying);
        p->hinge[k] = dJointCreateHinge(p->t.world, 0);
        dJointAttach(p->hinge[k], p->wheel[k], p->trunk);
        dJointSetHingeAnchor(p->hinge[k], (dReal)x, (dReal)y, (dReal)RADIUS);
        dJointSetHingeAxis(p->hinge[k], 0, 1, 0);
        dJointSetHingeParam(p->hinge[k], dParamVel, (dReal)SPIN);
        dJointSetHingeParam(p->hinge[k], dParamFMax, (dReal)TORQUE);
    }
}

static void touch(void *data, dGeomID a, dGeomID b)
{
    Platform *p = data;
    dContact contact[4];
    if (dGeomGetBody(a) != 0 && dGeomGetBody(b) != 0)
        return;
    const dBodyID wheel = dGeomGetBody(a) != 0 ? dGeomGetBody(a) : dGeomGetBody(b);
    const int count = dCollide(a, b, 4, &contact[0].geom, sizeof(dContact));
    int k = 0;
    while (k < WHEELS - 1 && p->wheel[k] != wheel)
        ++k;
    for (int c = 0; c < count; ++c) {
        contact[c].surface =
            (dSurfaceParameters){.mode = dContactApprox1 | dContactMu2 | dContactFDir1, .mu = 1, .mu2 = (dReal)0.01};
        dBodyVectorToWorld(p->trunk, (dReal)M_SQRT1_2, (dReal)(roundWay(k) * M_SQRT1_2), 0, contact[c].fdir1);
        addContact(&p->t, &contact[c], dGeomGetBody(a), dGeomGetBody(b));
    }
}

static void itGoesStraight(void **state)
{
    (void)state;
    Platform p;
    makePlatform(&p);
    for (int k = 0; k < 500; ++k) {
        dSpaceCollide(p.space, &p, touch);
        assert_int_equal(spragWorldStep(p.t.sprag, (dReal)H), SPRAG_OK);
        dJointGroupEmpty(p.t.group);
    }
    const dReal *R = dBodyGetRotation(p.trunk), *x = dBodyGetPosition(p.trunk);
    assert_true(x[0] > 0.3);
    assert_true(fabs((double)x[1]) < 1e-6);
    assert_true(fabs(atan2((double)R[4], (double)R[0])) < 1e-6);
    dSpaceDestroy(p.space);
    freeTwin(&p.t);
}

int main(void)
{
    dInitODE();
    const struct CMUnitTest tests[] = {cmocka_unit_test(itGoesStraight)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
