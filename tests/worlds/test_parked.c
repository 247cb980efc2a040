/* Cars that brake on a hill come to rest, and stay there.
 *
 * Five wheels on the ground, three of them braked, steering that holds by friction: forces that no motion tells, and,
 * while the springs settle, contacts that slip by 1e-6 m/s and less.  Many sets of modes are then within the tolerance
 * of 1e-8 m/s.  Answers that were, and no nearer, parted a wheel that overlapped by 1e-10 m; it fell for a step, hit at
 * 0.5 m/s, and so on for ever. */
#include "support/twin.h"

enum { WHEELS = 5, SETTLES = 2400, RESTS = 240, WHEEL_CONTACTS = 4 };
static const double RADIUS = 0.19, MASS = 1.6, STILL = 1e-6, h = 1.0 / 60; /* m, kg, m/s, s */

typedef struct Car {
    Twin t;
    dSpaceID space;
} Car;

static void tilt(const Car *car, double slope, double heading)
{
    const double g = 9.81;
    dWorldSetGravity(car->t.world, (dReal)(g * sin(slope) * cos(heading)), (dReal)(g * sin(slope) * sin(heading)),
                     (dReal)(-g * cos(slope)));
}

static dBodyID place(Car *car, dGeomID geom, const dMass *m, double x, double y, double z)
{
    const dBodyID body = car->t.body[car->t.count++] = dBodyCreate(car->t.world);
    dBodySetMass(body, m);
    dBodySetPosition(body, (dReal)x, (dReal)y, (dReal)z);
    dGeomSetBody(geom, body);
    return body;
}

/* A spring of 1.9 Hz and a third of the critical damping, as ERP and CFM of a suspension. */
static void suspend(dJointID joint)
{
    const double share = MASS / WHEELS, w = 2 * M_PI * 1.9, stiffness = share * w * w, damping = 2 * 0.32 * share * w;
    dJointSetHinge2Param(joint, dParamSuspensionERP, (dReal)(h * stiffness / (h * stiffness + damping)));
    dJointSetHinge2Param(joint, dParamSuspensionCFM, (dReal)(1 / (h * stiffness + damping)));
}

static void addWheel(Car *car, double x, double y, int steers, int braked)
{
    dMass m;
    dMatrix3 lying;
    const dVector3 up = {0, 0, 1}, axle = {0, 1, 0};
    dMassSetCylinderTotal(&m, 0.17, 3, (dReal)RADIUS, (dReal)(RADIUS / 2));
    const dBodyID wheel = place(car, dCreateCylinder(car->space, (dReal)RADIUS, (dReal)(RADIUS / 2)), &m, x, y, RADIUS);
    dRFromAxisAndAngle(lying, 1, 0, 0, (dReal)(M_PI / 2));
    dBodySetRotation(wheel, lying);
    const dJointID joint = dJointCreateHinge2(car->t.world, 0);
    dJointAttach(joint, car->t.body[0], wheel);
    dJointSetHinge2Anchor(joint, (dReal)x, (dReal)y, (dReal)RADIUS);
    dJointSetHinge2Axes(joint, up, axle);
    suspend(joint);
    dJointSetHinge2Param(joint, dParamLoStop, steers ? (dReal)-0.75 : 0);
    dJointSetHinge2Param(joint, dParamHiStop, steers ? (dReal)0.75 : 0);
    dJointSetHinge2Param(joint, dParamFMax, steers ? (dReal)0.75 : 0);
    dJointSetHinge2Param(joint, dParamFMax2, braked ? (dReal)2.5 : 0);
}

static void makeCar(Car *car, double slope, double heading)
{
    static const double x[WHEELS] = {1, 1, -1, -1, 0}, y[WHEELS] = {0.7, -0.7, 0.7, -0.7, 0.7};
    dMass m;
    memset(car, 0, sizeof *car);
    makeTwin(&car->t, 1);
    car->space = dSimpleSpaceCreate(0);
    dCreatePlane(car->space, 0, 0, 1, 0);
    tilt(car, slope, heading);
    dMassSetBoxTotal(&m, (dReal)MASS, 2.2, 1.2, 0.3);
    place(car, dCreateBox(car->space, 2.2, (dReal)1.2, (dReal)0.3), &m, 0.4, -0.05, 0.6);
    for (int k = 0; k < WHEELS; ++k)
        addWheel(car, x[k], y[k], k < 2, k < 2 || k == 4);
}

static void touch(void *data, dGeomID a, dGeomID b)
{
    Car *car = data;
    dContact contact[WHEEL_CONTACTS];
    const dBodyID one = dGeomGetBody(a), other = dGeomGetBody(b);
    if (one != 0 && other != 0)
        return;
    const int count = dCollide(a, b, WHEEL_CONTACTS, &contact[0].geom, sizeof(dContact));
    for (int k = 0; k < count; ++k) {
        contact[k].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = (dReal)1.9};
        addContact(&car->t, &contact[k], one, other);
    }
}

/* m/s, the fastest of its bodies after the step. */
static double advance(Car *car)
{
    double fastest = 0;
    dSpaceCollide(car->space, car, touch);
    assert_int_equal(spragWorldStep(car->t.sprag, (dReal)h), SPRAG_OK);
    dJointGroupEmpty(car->t.group);
    for (int k = 0; k < car->t.count; ++k) {
        const dReal *v = dBodyGetLinearVel(car->t.body[k]);
        fastest = fmax(fastest, sqrt((double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])));
    }
    return fastest;
}

static void carsOnAHillStandStill(void **state)
{
    (void)state;
    for (int k = 0; k < 12; ++k) { /* of these six hopped at 0.5 m/s */
        Car car;
        makeCar(&car, 0.06 + 0.02 * (k % 3), 0.5 * k);
        double fastest = 0;
        for (int step = 0; step < SETTLES; ++step)
            advance(&car);
        for (int step = 0; step < RESTS; ++step)
            fastest = fmax(fastest, advance(&car));
        assert_true(fastest < STILL);
        dSpaceDestroy(car.space);
        freeTwin(&car.t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(carsOnAHillStandStill)};
    dInitODE();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
