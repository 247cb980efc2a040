/* A slider in a slot: opposed contact pairs of the collider with vanishing clearance bear no load of their own.
 *
 * A box 0.2 long (x), 0.1 high (z) between two planes that overlap it by 1 um on either side; contacts at its corners,
 * or found by ODE's collider.  Without load it goes on at its speed; under a force F across, friction is mu F; stock
 * ODE squeezes it with what 1 um is worth in its compliance. */
#include "support/twin.h"

static const double HALF_X = 0.1, HALF_Y = 0.05, HALF_Z = 0.05, OVERLAP = 1e-6 /* m */, STEP = 1e-3 /* s */;

static dBodyID makeSlider(Twin *t, int use_sprag)
{
    makeTwin(t, use_sprag);
    dWorldSetGravity(t->world, 0, 0, 0);
    dMass mass;
    dMassSetBoxTotal(&mass, 1, 2 * HALF_X, 2 * HALF_Y, 2 * HALF_Z);
    dBodyID body = dBodyCreate(t->world);
    dBodySetMass(body, &mass);
    dBodySetLinearVel(body, 1, 0, 0);
    return body;
}

/* At the corners, or with half_y = 0 at four points in the plane y = 0, which share the load in one way only. */
static void addContacts(Twin *t, dBodyID body, double mu, double overlap, double half_y)
{
    for (int k = 0; k < 8; ++k) {
        dVector3 p;
        dBodyGetRelPointPos(body, k & 1 ? HALF_X : -HALF_X, k & 2 ? half_y : -half_y, k & 4 ? HALF_Z : -HALF_Z, p);
        if (half_y == 0 && (k & 2))
            continue;
        dContact contact = planeContact(p[0], p[1], p[2], mu);
        const double wall = HALF_Z - overlap;
        contact.geom.normal[2] = k & 4 ? -1 : 1;
        contact.geom.depth = k & 4 ? p[2] - wall : -wall - p[2];
        addContact(t, &contact, body, 0);
    }
}

static void addSlotContacts(Twin *t, dBodyID body, double mu, double overlap)
{
    addContacts(t, body, mu, overlap, HALF_Y);
}

/* N, the sum over the contacts of the lower or of the upper side. */
static double load(const Twin *t, int upper)
{
    const spragContact *contact;
    double sum = 0;
    for (int k = spragWorldGetContacts(t->sprag, &contact) - 1; k >= 0; --k)
        sum += (contact[k].normal[2] < 0) == upper ? contact[k].normal_force : 0;
    return sum;
}

static void noLoadNoFriction(void **state)
{
    (void)state;
    for (int overlap = 0; overlap < 3; ++overlap) {
        Twin t;
        dBodyID body = makeSlider(&t, 1);
        for (int k = 0; k < 50; ++k) {
            addSlotContacts(&t, body, 0.5, overlap == 0 ? 0 : overlap == 1 ? OVERLAP : 100 * OVERLAP);
            step(&t, STEP);
            CHECK_NEAR(load(&t, 0), 0, 1e-6);
            CHECK_NEAR(load(&t, 1), 0, 1e-6);
        }
        CHECK_NEAR(dBodyGetLinearVel(body)[0], 1, 1e-9);
        assert_true(spragWorldGetStepInfo(t.sprag).residual <= 1e-8);
        freeTwin(&t);
    }
}

static void stockSqueezes(void **state)
{
    (void)state;
    Twin t;
    dBodyID body = makeSlider(&t, 0);
    addSlotContacts(&t, body, 0.5, OVERLAP);
    dJointFeedback feedback;
    dJointSetFeedback(dBodyGetJoint(body, 0), &feedback);
    step(&t, STEP);
    assert_true(fabs(feedback.f1[2]) > 1e4); /* why this file exists */
    freeTwin(&t);
}

/* Across load F, alternating: one side bears it, friction mu F. */
static void loadIsBorneByOneSide(void **state)
{
    (void)state;
    Twin t;
    dBodyID body = makeSlider(&t, 1);
    const double mu = 0.3, F = 5;
    for (int k = 0; k < 60; ++k) {
        const double force = k / 10 % 2 ? F : -F, before = dBodyGetLinearVel(body)[0];
        addSlotContacts(&t, body, mu, OVERLAP);
        dBodyAddForce(body, 0, 0, force);
        step(&t, STEP);
        CHECK_NEAR(load(&t, force > 0), F, 1e-3);
        CHECK_NEAR(load(&t, force < 0), 0, 1e-6);
        CHECK_NEAR((before - dBodyGetLinearVel(body)[0]) / STEP, mu * F, 1e-3);
        assert_true(fabs(dBodyGetPosition(body)[2]) < 2 * OVERLAP);
    }
    freeTwin(&t);
}

/* Off its middle the slider is brought back, by the difference of the overlaps, without force between the walls. */
static void itIsCentred(void **state)
{
    (void)state;
    Twin t;
    dBodyID body = makeSlider(&t, 1);
    dBodySetPosition(body, 0, 0, 0.9 * OVERLAP);
    for (int k = 0; k < 100; ++k) {
        addSlotContacts(&t, body, 0.3, OVERLAP);
        step(&t, STEP);
    }
    assert_true(fabs(dBodyGetPosition(body)[2]) < 0.02 * OVERLAP);
    freeTwin(&t);
}

/* Pulled at e from the middle line it jams where 2 mu e > 2 HALF_X, and slides where it is less. */
static double startedBy(double mu, double e, int steps)
{
    Twin t;
    dBodyID body = makeSlider(&t, 1);
    dBodySetLinearVel(body, 0, 0, 0);
    for (int k = 0; k < steps; ++k) {
        addContacts(&t, body, mu, OVERLAP, 0);
        dBodyAddForceAtRelPos(body, 1, 0, 0, 0, 0, e);
        step(&t, STEP);
    }
    const double v = dBodyGetLinearVel(body)[0];
    freeTwin(&t);
    return v;
}

static void offCentrePullJams(void **state)
{
    (void)state;
    const double e = 0.4, limit = HALF_X / e; /* of mu */
    CHECK_NEAR(startedBy(1.001 * limit, e, 500), 0, 1e-12);
    const double v = startedBy(0.9 * limit, e, 20);
    CHECK_NEAR(v, 20 * STEP * 1 * (1 - 0.9), 1e-5); /* F (1 - 2 mu e / L) / m */
}

/* A deep penetration on both sides is no slot, and a contact beside is no partner: both are pushed out as ODE does. */
static void othersAreLeftAlone(void **state)
{
    (void)state;
    Twin t;
    dBodyID body = makeSlider(&t, 1);
    addSlotContacts(&t, body, 0.5, 0.01);
    step(&t, STEP);
    assert_true(load(&t, 0) > 1);
    freeTwin(&t);

    body = makeSlider(&t, 1);
    dBodySetLinearVel(body, 0, 0, 0);
    for (int k = 0; k < 2; ++k) { /* floor at one end, ceiling at the other: it turns out of both */
        dContact contact = planeContact(k ? HALF_X : -HALF_X, 0, k ? HALF_Z : -HALF_Z, 0);
        contact.geom.normal[2] = k ? -1 : 1;
        contact.geom.depth = 1e-4;
        addContact(&t, &contact, body, 0);
    }
    step(&t, STEP);
    assert_true(fabs(dBodyGetAngularVel(body)[1]) > 0.01);
    freeTwin(&t);
}

/* The same found by ODE's collider between two fixed boxes. */
typedef struct Hall {
    Twin *t;
    dBodyID body;
    int count;
} Hall;

static void collide(void *data, dGeomID a, dGeomID b)
{
    Hall *hall = data;
    if (dGeomGetBody(a) == dGeomGetBody(b))
        return;
    dContactGeom geom[8];
    const int n = dCollide(a, b, 8, geom, sizeof *geom);
    for (int i = 0; i < n; ++i, ++hall->count) {
        dContact contact = planeContact(0, 0, 0, 0.5);
        contact.geom = geom[i];
        addContact(hall->t, &contact, dGeomGetBody(a), dGeomGetBody(b));
    }
}

static void betweenColliders(void **state)
{
    (void)state;
    Twin t;
    dBodyID body = makeSlider(&t, 1);
    dSpaceID space = dSimpleSpaceCreate(0);
    dGeomSetBody(dCreateBox(space, 2 * HALF_X, 2 * HALF_Y, 2 * HALF_Z), body);
    for (int side = -1; side <= 1; side += 2)
        dGeomSetPosition(dCreateBox(space, 4, 1, 0.2), 0, 0, side * (HALF_Z + 0.1 - OVERLAP));
    for (int k = 0; k < 50; ++k) {
        Hall hall = {.t = &t, .body = body};
        dSpaceCollide(space, &hall, collide);
        assert_true(hall.count >= 2);
        step(&t, STEP);
        CHECK_NEAR(load(&t, 0) + load(&t, 1), 0, 1e-6);
    }
    CHECK_NEAR(dBodyGetLinearVel(body)[0], 1, 1e-9);
    dSpaceDestroy(space);
    freeTwin(&t);
}

int main(void)
{
    dInitODE();
    const struct CMUnitTest tests[] = {cmocka_unit_test(noLoadNoFriction),     cmocka_unit_test(stockSqueezes),
                                       cmocka_unit_test(loadIsBorneByOneSide), cmocka_unit_test(itIsCentred),
                                       cmocka_unit_test(offCentrePullJams),    cmocka_unit_test(othersAreLeftAlone),
                                       cmocka_unit_test(betweenColliders)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
