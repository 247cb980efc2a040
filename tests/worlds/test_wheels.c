/* Wheels on hinges: a robot on two wide wheels and a castor (a ball without friction) coasts in a circle.
 *
 * A wheel's axle turns with the robot.  ODE's hinge holds by J v = 0 with J of the step's beginning, so the wheel's
 * spin is where the axle was: a step of it lifts or sinks the outer rim by h^2 s W w / 4, s the spin, W the robot's
 * turning, w the wheel's width.  A law for the rim that foretells its velocity lifts what the hinge sinks; then the
 * wheel leaves the floor, falls by g h^2, and is pushed out again: the load went to and fro by a sixth of the weight
 * in each step, whatever h was, and the robot lost 1.3 % of its energy (dWorldStep, 1 ms: 0.2 %). */
#include "support/energy.h"
#include "support/twin.h"

static const double RADIUS = 0.08, WIDTH = 0.03, TRACK = 0.16, SPEED = 1, TURN = 1.5; /* m, m/s, rad/s */

typedef struct Robot {
    Twin t;
    dSpaceID space;
    dBodyID body[4]; /* trunk, wheels, castor */
    dGeomID castor;
    dJointFeedback feedback[16];
    int contacts;
} Robot;

static dBodyID place(Robot *w, int k, dGeomID geom, const dMass *m, double x, double y, double z)
{
    w->body[k] = dBodyCreate(w->t.world);
    dBodySetMass(w->body[k], m);
    dBodySetPosition(w->body[k], (dReal)x, (dReal)y, (dReal)z);
    dBodySetLinearVel(w->body[k], (dReal)(SPEED - TURN * y), (dReal)(TURN * x), 0);
    dBodySetAngularVel(w->body[k], 0, k == 1 || k == 2 ? (dReal)((SPEED - TURN * y) / RADIUS) : 0, (dReal)TURN);
    if (geom != NULL)
        dGeomSetBody(geom, w->body[k]);
    return w->body[k];
}

static void makeRobot(Robot *w)
{
    dMass m;
    dMatrix3 lying;
    memset(w, 0, sizeof *w);
    makeTwin(&w->t, 1);
    w->space = dSimpleSpaceCreate(0);
    dCreatePlane(w->space, 0, 0, 1, 0);
    dMassSetBoxTotal(&m, 6, 0.4, 0.25, 0.08);
    const dBodyID trunk = place(w, 0, NULL, &m, -0.08, 0, 0.12);
    dRFromAxisAndAngle(lying, 1, 0, 0, (dReal)(M_PI / 2));
    for (int k = 1; k < 3; ++k) {
        const double y = k == 1 ? TRACK : -TRACK;
        dMassSetCylinderTotal(&m, 0.4, 3, (dReal)RADIUS, (dReal)WIDTH);
        place(w, k, dCreateCylinder(w->space, (dReal)RADIUS, (dReal)WIDTH), &m, 0, y, RADIUS);
        dBodySetRotation(w->body[k], lying);
        const dJointID hinge = dJointCreateHinge(w->t.world, 0);
        dJointAttach(hinge, w->body[k], trunk);
        dJointSetHingeAnchor(hinge, 0, (dReal)y, (dReal)RADIUS);
        dJointSetHingeAxis(hinge, 0, 1, 0);
    }
    dMassSetSphereTotal(&m, 0.1, 0.04);
    w->castor = dCreateSphere(w->space, 0.04);
    place(w, 3, w->castor, &m, -0.23, 0, 0.04);
    const dJointID ball = dJointCreateBall(w->t.world, 0);
    dJointAttach(ball, w->body[3], trunk);
    dJointSetBallAnchor(ball, -0.23, 0, 0.04);
}

static void touch(void *data, dGeomID a, dGeomID b)
{
    Robot *w = data;
    dContact contact[4];
    if (dGeomGetBody(a) != 0 && dGeomGetBody(b) != 0)
        return;
    const int count = dCollide(a, b, 4, &contact[0].geom, sizeof(dContact));
    for (int k = 0; k < count; ++k) {
        contact[k].surface =
            (dSurfaceParameters){.mode = dContactApprox1, .mu = a == w->castor || b == w->castor ? 0 : 0.9};
        const dJointID joint = addContact(&w->t, &contact[k], dGeomGetBody(a), dGeomGetBody(b));
        dJointSetFeedback(joint, &w->feedback[w->contacts++]);
    }
}

/* The weight that the floor bears. */
static double advance(Robot *w, double h)
{
    double load = 0;
    w->contacts = 0;
    dSpaceCollide(w->space, w, touch);
    assert_int_equal(spragWorldStep(w->t.sprag, (dReal)h), SPRAG_OK);
    for (int k = 0; k < w->contacts; ++k)
        load += fabs((double)w->feedback[k].f1[2]);
    dJointGroupEmpty(w->t.group);
    return load;
}

static void theyStayOnTheFloor(void **state)
{
    (void)state;
    static const double h[] = {0.004, 0.002, 0.001};
    for (int i = 0; i < 3; ++i) {
        Robot w;
        makeRobot(&w);
        for (int k = 0; k * h[i] < 0.5; ++k)
            advance(&w, h[i]);
        double weight = 0, worst = 0;
        for (int k = 0; k < 4; ++k) {
            dMass m;
            dBodyGetMass(w.body[k], &m);
            weight += m.mass * 9.81;
        }
        const double before = kineticEnergy(w.body, 4);
        for (int k = 0; k * h[i] < 4; ++k)
            worst = fmax(worst, fabs(advance(&w, h[i]) / weight - 1));
        assert_true(worst < 0.005);
        assert_true(kineticEnergy(w.body, 4) > (1 - 3 * h[i]) * before);
        dSpaceDestroy(w.space);
        freeTwin(&w.t);
    }
}

int main(void)
{
    dInitODE();
    const struct CMUnitTest tests[] = {cmocka_unit_test(theyStayOnTheFloor)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
