/* Friction of a face: contacts that overlap by different depths, or whose body turns, can all stick, and do not pull
 * against each other; feet on two stairs are two faces; what rolls on two ends goes straight. */
#include "support/twin.h"

#include <math.h>

#include "linalg/vec3.h"
#include "ode/world/world.h"

#define STEP 0.01 /* s */

static const double friction[] = {1, 5, 100, (double)INFINITY};
enum { FRICTIONS = sizeof friction / sizeof *friction, CORNERS = 4 };

/* One body has a way of its own (ode/islands/lone.h), which the mode search asked for by name has not. */
static void openFace(Twin *t, int by_blocks)
{
    makeTwin(t, 1);
    spragConfig config = spragConfigDefault();
    config.solver = by_blocks ? SPRAG_SOLVER_VARIANT : SPRAG_SOLVER_AUTO;
    assert_int_equal(spragWorldSetConfig(t->sprag, &config), SPRAG_OK);
    dWorldSetERP(t->world, 0.2);
    dWorldSetCFM(t->world, 1e-9);
}

static void holdCorners(Twin *t, dBodyID box, double mu)
{
    for (int i = 0; i < CORNERS; ++i) {
        dVector3 p;
        dBodyGetRelPointPos(box, i & 1 ? 0.5 : -0.5, i & 2 ? 0.4 : -0.4, -0.2, p);
        dContact contact = planeContact(p[0], p[1], p[2], mu);
        contact.geom.depth = -p[2];
        assert_true(contact.geom.depth > 0);
        addContact(t, &contact, box, 0);
    }
}

/* Found at once, and all stick. */
static const spragContact *checkHolds(Twin *t)
{
    const spragStepInfo info = spragWorldGetStepInfo(t->sprag);
    assert_int_equal(info.fallbacks, 0);
    assert_true(info.iterations <= 10);
    assert_true(info.residual <= 1e-8);
    const spragContact *contact = lastContacts(t, CORNERS);
    for (int k = 0; k < CORNERS; ++k) {
        assert_int_equal(contact[k].mode, SPRAG_MODE_STICK);
        assert_true(spragNorm3(contact[k].slip) <= 1e-9);
    }
    return contact;
}

/* As ERP turns it to lie flat its corners slip by 2e-3 m/s otherwise. */
static void tiltedBoxHolds(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * FRICTIONS; ++k) {
        const double tilt = 0.01;
        Twin t;
        dMatrix3 tilted;
        openFace(&t, k % 2);
        const dBodyID box = addBox(&t, 0, 0, 0.19);
        dRFromAxisAndAngle(tilted, 1, 0.5, 0, tilt);
        dBodySetRotation(box, tilted);
        holdCorners(&t, box, friction[k / 2]);
        step(&t, STEP);
        const double turn = 0.2 * tilt / STEP;                /* rad/s */
        const double drawn = 2 * 0.2 * turn / STEP / CORNERS; /* N, what takes its centre along */
        const spragContact *contact = checkHolds(&t);
        for (int i = 0; i < CORNERS; ++i)
            assert_true(spragNorm3(contact[i].friction) <= 1.01 * drawn); /* and no more */
        freeTwin(&t);
    }
}

/* Its corners, fixed in it, would be drawn inwards by 3e-5 m/s. */
static void turningBoxHolds(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * FRICTIONS; ++k) {
        Twin t;
        openFace(&t, k % 2);
        const dBodyID box = addBox(&t, 0, 0, 0.2 - 1e-6);
        dBodySetAngularVel(box, 0, 0, 0.07);
        holdCorners(&t, box, friction[k / 2]);
        step(&t, STEP);
        CHECK_NEAR(dBodyGetAngularVel(box)[2], 0, 1e-9);
        checkHolds(&t);
        freeTwin(&t);
    }
}

/* Two points under a box that slides along x, the second higher by `rise`: its turning about y says at which height
 * friction acts. */
static void checkHeights(double rise, double depth, double height[2])
{
    Twin t;
    openFace(&t, 0);
    const dBodyID box = addBox(&t, 0, 0, 0.2);
    dMass mass;
    dBodyGetMass(box, &mass);
    dBodySetLinearVel(box, 3, 0, 0);
    for (int i = 0; i < 2; ++i) {
        dContact contact = planeContact(0.1 + 0.2 * i, 0, i * rise, 0.5);
        contact.geom.depth = depth;
        addContact(&t, &contact, box, 0);
    }
    step(&t, STEP);
    const spragContact *contact = lastContacts(&t, 2);
    double torque = 0; /* N m, about y */
    for (int i = 0; i < 2; ++i)
        torque += (height[i] - 0.2) * contact[i].friction[0] - (0.1 + 0.2 * i) * contact[i].normal_force;
    CHECK_NEAR(mass.I[5] * dBodyGetAngularVel(box)[1] / STEP, torque, 1e-9 * fabs(torque));
    freeTwin(&t);
}

static void stairsAreTwoFaces(void **state)
{
    (void)state;
    checkHeights(0.1, 1e-3, (double[2]){0, 0.1});
    checkHeights(1e-3, 2e-3, (double[2]){0.5e-3, 0.5e-3});
}

#define RADIUS 0.05 /* m */
#define LENGTH 0.3  /* m */

/* A capsule or cylinder that rolls along x at 1 m/s; it touches the plane, but for rounding. */
static dBodyID addRoller(Twin *t, int is_cylinder, dGeomID *geom)
{
    dMass mass;
    dMatrix3 lies;
    const dBodyID body = t->body[t->count++] = dBodyCreate(t->world);
    dRFromAxisAndAngle(lies, 1, 0, 0, 2 * atan(1));
    if (is_cylinder) {
        dMassSetCylinderTotal(&mass, 1, 3, RADIUS, LENGTH);
        *geom = dCreateCylinder(0, RADIUS, LENGTH);
    } else {
        dMassSetCapsuleTotal(&mass, 1, 3, RADIUS, LENGTH);
        *geom = dCreateCapsule(0, RADIUS, LENGTH);
    }
    dBodySetMass(body, &mass);
    dGeomSetBody(*geom, body);
    dBodySetRotation(body, lies);
    dBodySetPosition(body, 0, 0, RADIUS);
    dBodySetLinearVel(body, 1, 0, 0);
    dBodySetAngularVel(body, 0, 1 / RADIUS, 0);
    return body;
}

/* It rolls for so many seconds. */
static void roll(Twin *t, dBodyID body, dGeomID geom, double mu, double seconds, double h)
{
    const dGeomID plane = dCreatePlane(0, 0, 0, 1, 0);
    for (double time = 0; time < seconds; time += h) {
        dContact contact[2];
        memset(contact, 0, sizeof contact);
        const int count = dCollide(geom, plane, 2, &contact[0].geom, sizeof *contact);
        for (int i = 0; i < count; ++i) {
            contact[i].surface.mode = dContactApprox1;
            contact[i].surface.mu = (dReal)mu;
            addContact(t, &contact[i], body, 0);
        }
        step(t, h);
        const spragStepInfo info = spragWorldGetStepInfo(t->sprag);
        assert_int_equal(info.fallbacks, 0);
        assert_true(info.iterations <= 20);
        assert_true(info.residual <= 1e-8);
    }
    dGeomDestroy(plane);
}

/* One end alone has a contact in the first step, the other falls by 2.7 mm (71 and 81 mm off the line, where both act
 * at one height). */
static void rollerGoesStraight(void **state)
{
    (void)state;
    const double steps_a_second[] = {60, 240};
    for (int k = 0; k < 2 * 2 * 2 * FRICTIONS; ++k) {
        const double h = 1 / steps_a_second[k / 2 % 2];
        Twin t;
        dGeomID geom;
        openFace(&t, k / 4 % 2);
        const dBodyID body = addRoller(&t, k % 2, &geom);
        roll(&t, body, geom, friction[k / 8], 5, h);
        CHECK_NEAR(dBodyGetPosition(body)[0], 5, 0.02);
        CHECK_NEAR(dBodyGetPosition(body)[1], 0, 1e-3);
        dGeomDestroy(geom);
        freeTwin(&t);
    }
}

/* At a radian a step too it comes to lie flat, and rolls on as fast.  (With a height at each end it rocked from one to
 * the other for ever, and gained energy.) */
static void fastRollersLieFlat(void **state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        Twin t;
        dGeomID geom;
        openFace(&t, 0);
        const dBodyID body = addRoller(&t, k, &geom);
        dBodySetLinearVel(body, 3, 0, 0);
        dBodySetAngularVel(body, 0, 3 / RADIUS, 0);
        roll(&t, body, geom, 0.5, 5, 1.0 / 60);
        CHECK_NEAR(dBodyGetRotation(body)[10], 0, 1e-4); /* the axle's rise */
        const dReal *v = dBodyGetLinearVel(body);
        CHECK_NEAR(sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), 3, 0.1);
        dGeomDestroy(geom);
        freeTwin(&t);
    }
}

typedef struct Cart {
    Twin twin;
    dGeomID geom[4]; /* floor, rollers, plank */
} Cart;

/* All that touch: each roller with the floor and the plank. */
static void touchAll(Cart *cart)
{
    for (int k = 0; k < 4; ++k) {
        const dGeomID under = cart->geom[k < 2 ? 0 : k - 1], above = cart->geom[k < 2 ? k + 1 : 3];
        dContact contact[4];
        memset(contact, 0, sizeof contact);
        const int count = dCollide(above, under, 4, &contact[0].geom, sizeof *contact);
        for (int i = 0; i < count; ++i) {
            contact[i].surface.mode = dContactApprox1;
            contact[i].surface.mu = 0.5;
            addContact(&cart->twin, &contact[i], dGeomGetBody(above), dGeomGetBody(under));
        }
    }
}

/* A plank on two cylinders: islands of eight contacts too.  (62 mm off after 3.65 m.) */
static void planksRollStraight(void **state)
{
    (void)state;
    Cart cart;
    Twin *t = &cart.twin;
    openFace(t, 0);
    cart.geom[0] = dCreatePlane(0, 0, 0, 1, 0);
    for (int k = 1; k < 3; ++k)
        dBodySetPosition(addRoller(t, 1, &cart.geom[k]), 0.5 * (k - 1), 0, RADIUS);
    dMass mass;
    dMassSetBoxTotal(&mass, 2, 30, 0.4, 0.04);
    const dBodyID plank = t->body[t->count++] = dBodyCreate(t->world);
    dBodySetMass(plank, &mass);
    cart.geom[3] = dCreateBox(0, 30, 0.4, 0.04);
    dGeomSetBody(cart.geom[3], plank);
    dBodySetPosition(plank, 0.25, 0, 2 * RADIUS + 0.02);
    dBodySetLinearVel(plank, 2, 0, 0);
    for (int i = 0; i < 300; ++i) {
        touchAll(&cart);
        step(t, 1.0 / 60);
    }
    assert_true(dBodyGetPosition(plank)[0] > 3);
    CHECK_NEAR(dBodyGetPosition(plank)[1], 0, 2e-3);
    for (int k = 0; k < 4; ++k)
        dGeomDestroy(cart.geom[k]);
    freeTwin(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(planksRollStraight), cmocka_unit_test(tiltedBoxHolds),
                                       cmocka_unit_test(turningBoxHolds),    cmocka_unit_test(stairsAreTwoFaces),
                                       cmocka_unit_test(rollerGoesStraight), cmocka_unit_test(fastRollersLieFlat)};
    dInitODE2(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
