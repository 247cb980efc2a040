/* Cars that brake on a hill come to rest, and stay there.
 *
 * They have forces that no motion tells, and, while the springs settle, contacts that slip by 1e-6 m/s and less.  Many
 * sets of modes are then within the tolerance of 1e-8 m/s.  Answers that were, and no nearer, parted a wheel that
 * overlapped by 1e-10 m; it fell for a step, hit at 0.5 m/s, and so on for ever. */
#include "support/twin.h"

enum { WHEELS_MOST = 6, WHEEL_CONTACTS = 4 };
typedef enum Shape { CYLINDER, CAPSULE, BALL } Shape;

/* A box on wheels. */
typedef struct Model {
    int wheels;
    Shape shape;
    double place[WHEELS_MOST][2];
    int steered, braked;                               /* bits of wheels */
    double size[3], middle[3];                         /* m */
    double mass, wheel_mass, radius, frequency, share; /* kg, m, Hz, of the critical damping */
    double steering, brake, mu;                        /* N m */
    double h;                                          /* s */
} Model;

static const Model FIVE = {.wheels = 5,
                           .place = {{1, 0.7}, {1, -0.7}, {-1, 0.7}, {-1, -0.7}, {0, 0.7}},
                           .steered = 3,
                           .braked = 19,
                           .size = {2.2, 1.2, 0.3},
                           .middle = {0.4, -0.05, 0.6},
                           .mass = 1.6,
                           .wheel_mass = 0.17,
                           .radius = 0.19,
                           .frequency = 1.9,
                           .share = 0.32,
                           .steering = 0.75,
                           .brake = 2.5,
                           .mu = 1.9,
                           .h = 1.0 / 60};
static const Model THREE = {.wheels = 3,
                            .shape = CAPSULE,
                            .place = {{0.618, 0.377}, {0.618, -0.377}, {-0.618, 0}},
                            .braked = 7,
                            .size = {1.374, 0.629, 0.206},
                            .middle = {-0.24, -0.042, 0.42},
                            .mass = 15.9,
                            .wheel_mass = 0.836,
                            .radius = 0.173,
                            .frequency = 2,
                            .share = 0.64,
                            .brake = 35.2,
                            .mu = 1.05,
                            .h = 1.0 / 240};

static const Model SIX = {
    .wheels = 6,
    .shape = BALL,
    .place = {{0.325, 0.267}, {0.325, -0.267}, {-0.325, 0.267}, {-0.325, -0.267}, {0, 0.267}, {0, -0.267}},
    .steered = 3,
    .braked = 63,
    .size = {0.723, 0.445, 0.108},
    .middle = {0.018, 0.066, 0.352},
    .mass = 3.85,
    .wheel_mass = 0.0962,
    .radius = 0.132,
    .frequency = 2.77,
    .share = 0.098,
    .steering = 0.517,
    .brake = 9,
    .mu = 1.89,
    .h = 1.0 / 60};

typedef struct Car {
    Twin t;
    const Model *model;
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

/* The spring as ERP and CFM of a suspension. */
static void suspend(const Model *model, dJointID joint)
{
    const double mass = model->mass / model->wheels, w = 2 * M_PI * model->frequency, h = model->h,
                 stiffness = mass * w * w, damping = 2 * model->share * mass * w;
    dJointSetHinge2Param(joint, dParamSuspensionERP, (dReal)(h * stiffness / (h * stiffness + damping)));
    dJointSetHinge2Param(joint, dParamSuspensionCFM, (dReal)(1 / (h * stiffness + damping)));
}

static void addWheel(Car *car, int k)
{
    dMass m;
    dMatrix3 lying;
    const Model *model = car->model;
    const dVector3 up = {0, 0, 1}, axle = {0, 1, 0};
    const double x = model->place[k][0], y = model->place[k][1];
    const dReal R = (dReal)model->radius, width = R / 2;
    const int steers = model->steered >> k & 1;
    if (model->shape == BALL)
        dMassSetSphereTotal(&m, (dReal)model->wheel_mass, R);
    else if (model->shape == CAPSULE)
        dMassSetCapsuleTotal(&m, (dReal)model->wheel_mass, 3, R, width);
    else
        dMassSetCylinderTotal(&m, (dReal)model->wheel_mass, 3, R, width);
    const dGeomID geom = model->shape == BALL      ? dCreateSphere(car->space, R)
                         : model->shape == CAPSULE ? dCreateCapsule(car->space, R, width)
                                                   : dCreateCylinder(car->space, R, width);
    const dBodyID wheel = place(car, geom, &m, x, y, model->radius);
    dRFromAxisAndAngle(lying, 1, 0, 0, (dReal)(M_PI / 2));
    dBodySetRotation(wheel, lying);
    const dJointID joint = dJointCreateHinge2(car->t.world, 0);
    dJointAttach(joint, car->t.body[0], wheel);
    dJointSetHinge2Anchor(joint, (dReal)x, (dReal)y, R);
    dJointSetHinge2Axes(joint, up, axle);
    suspend(model, joint);
    dJointSetHinge2Param(joint, dParamLoStop, steers ? (dReal)-0.75 : 0);
    dJointSetHinge2Param(joint, dParamHiStop, steers ? (dReal)0.75 : 0);
    dJointSetHinge2Param(joint, dParamFMax, steers ? (dReal)model->steering : 0);
    if (model->shape == CAPSULE && k < 2) { /* soft stops */
        dJointSetHinge2Param(joint, dParamStopERP, (dReal)0.6);
        dJointSetHinge2Param(joint, dParamStopCFM, (dReal)(1e-4 / model->mass));
    }
    dJointSetHinge2Param(joint, dParamFMax2, model->braked >> k & 1 ? (dReal)model->brake : 0);
}

static void makeCar(Car *car, const Model *model, double slope, double heading)
{
    dMass m;
    const dReal *size = (const dReal[3]){(dReal)model->size[0], (dReal)model->size[1], (dReal)model->size[2]};
    memset(car, 0, sizeof *car);
    makeTwin(&car->t, 1);
    car->model = model;
    car->space = dSimpleSpaceCreate(0);
    dCreatePlane(car->space, 0, 0, 1, 0);
    tilt(car, slope, heading);
    dMassSetBoxTotal(&m, (dReal)model->mass, size[0], size[1], size[2]);
    place(car, dCreateBox(car->space, size[0], size[1], size[2]), &m, model->middle[0], model->middle[1],
          model->middle[2]);
    for (int k = 0; k < model->wheels; ++k)
        addWheel(car, k);
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
        contact[k].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = (dReal)car->model->mu};
        addContact(&car->t, &contact[k], one, other);
    }
}

/* m/s, the fastest of its bodies after the step. */
static double advance(Car *car)
{
    double fastest = 0;
    dSpaceCollide(car->space, car, touch);
    assert_int_equal(spragWorldStep(car->t.sprag, (dReal)car->model->h), SPRAG_OK);
    dJointGroupEmpty(car->t.group);
    for (int k = 0; k < car->t.count; ++k) {
        const dReal *v = dBodyGetLinearVel(car->t.body[k]);
        fastest = fmax(fastest, sqrt((double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])));
    }
    return fastest;
}

/* m/s, within `rests` s once it has settled for `settles` s. */
static double fastestAtRest(const Model *model, double slope, double heading, double settles, double rests)
{
    Car car;
    double fastest = 0;
    makeCar(&car, model, slope, heading);
    for (int k = 0; k * model->h < settles; ++k)
        advance(&car);
    for (int k = 0; k * model->h < rests; ++k)
        fastest = fmax(fastest, advance(&car));
    dSpaceDestroy(car.space);
    freeTwin(&car.t);
    return fastest;
}

/* Of these six hopped at 0.5 m/s. */
static void onFiveWheels(void **state)
{
    (void)state;
    for (int k = 0; k < 12; ++k)
        assert_true(fastestAtRest(&FIVE, 0.06 + 0.02 * (k % 3), 0.5 * k, 40, 4) < 1e-6);
}

/* With the least trace of overlap six of these hopped at 0.13 m/s: loads go over from one end of a wheel to the other,
 * and what they leave parts by more than that (ode/work/slop.h). */
static void onThreeWheels(void **state)
{
    (void)state;
    for (int k = 0; k < 8; ++k)
        assert_true(fastestAtRest(&THREE, 0.254, 0.2 + 0.01 * k, 16, 4) < 1e-6);
}

/* Brakes and steering hold, so contacts are all that is left to solve; springs push them all the same.  Without
 * refined answers seven of these still hopped, at 1e-4 to 1e-3 m/s. */
static void withLockedBrakes(void **state)
{
    (void)state;
    for (int k = 0; k < 8; ++k)
        assert_true(fastestAtRest(&SIX, 0.29 + 0.01 * (k % 4), 2.84 + 0.04 * k, 10, 4) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(onFiveWheels), cmocka_unit_test(onThreeWheels),
                                       cmocka_unit_test(withLockedBrakes)};
    dInitODE();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
