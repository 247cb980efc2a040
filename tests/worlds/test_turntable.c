/* What a turntable, or another kinematic body, carries.
 *
 * A box that sticks to it goes round at its radius.  A ball that rolls on it goes in circles of its own, at 2/7 of the
 * table's rate w: with J = 2/5 m r^2 and a force F at the contact m v' = F, J o' = -r z x F, and v - r o x z = w z x x
 * give (1 + J / m r^2) v' = (J / m r^2) w z x v.  So a ball that rolls through the middle at v comes back to it with
 * that speed, and has then been at 2 v / (2/7 w) at most.
 *
 * ODE moves bodies by their velocity at the end of the step.  A law of that moment alone takes the box inwards by
 * (w h)^2 / 2 of its radius in each step, and the ball of 0.4 m/s below ends at 0.34. */
#include "support/twin.h"

static const double RATE = 2.5; /* rad/s */

typedef struct Table {
    Twin t;
    dSpaceID space;
    dBodyID table;
    dTriMeshDataID mesh; /* or NULL */
} Table;

static void touch(void *data, dGeomID a, dGeomID b)
{
    Table *w = data;
    dContact contact[8];
    const int count = dCollide(a, b, 8, &contact[0].geom, sizeof(dContact));
    for (int k = 0; k < count; ++k) {
        contact[k].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = 1.5};
        addContact(&w->t, &contact[k], dGeomGetBody(a), dGeomGetBody(b));
    }
}

static void advance(Table *w, double h, int steps)
{
    for (int k = 0; k < steps; ++k) {
        dSpaceCollide(w->space, w, touch);
        assert_int_equal(spragWorldStep(w->t.sprag, h), SPRAG_OK);
        dJointGroupEmpty(w->t.group);
    }
}

static dBodyID place(Table *w, dGeomID geom, double x, double z, double mass)
{
    dMass m;
    const dBodyID body = dBodyCreate(w->t.world);
    if (dGeomGetClass(geom) == dSphereClass) {
        dMassSetSphereTotal(&m, mass, dGeomSphereGetRadius(geom));
    } else {
        dVector3 side;
        dGeomBoxGetLengths(geom, side);
        dMassSetBoxTotal(&m, mass, side[0], side[1], side[2]);
    }
    dBodySetMass(body, &m);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, x, 0, z);
    return body;
}

static void makeTable(Table *w)
{
    makeTwin(&w->t, 1);
    dWorldSetContactSurfaceLayer(w->t.world, 1e-4);
    w->space = dHashSpaceCreate(0);
    w->mesh = NULL;
    w->table = place(w, dCreateBox(w->space, 4, 4, 0.2), 0, -0.1, 1e4);
    dBodySetAngularVel(w->table, 0, 0, RATE);
    dBodySetKinematic(w->table);
}

/* The table's top alone, as a mesh. */
static void makeMeshTable(Table *w)
{
    static const float vertex[4][3] = {{-2, -2, 0.1F}, {2, -2, 0.1F}, {2, 2, 0.1F}, {-2, 2, 0.1F}};
    static const dTriIndex triangle[6] = {0, 1, 2, 0, 2, 3};
    makeTable(w);
    dGeomDestroy(dBodyGetFirstGeom(w->table));
    w->mesh = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildSingle(w->mesh, vertex, sizeof *vertex, 4, triangle, 6, 3 * sizeof *triangle);
    dGeomSetBody(dCreateTriMesh(w->space, w->mesh, NULL, NULL, NULL), w->table);
}

static void freeTable(Table *w)
{
    dSpaceDestroy(w->space);
    if (w->mesh != NULL)
        dGeomTriMeshDataDestroy(w->mesh);
    freeTwin(&w->t);
}

/* h, s: a game's, and a tenth of it; what is left is of higher order.  (Of a mesh the collider names other points, now
 * and then.) */
static void aBoxStaysWhereItSticks(void **state)
{
    (void)state;
    for (int k = 0; k < 4; ++k) {
        const int fine = k % 2, mesh = k / 2;
        const double h = fine ? 1.0 / 600 : 1.0 / 60;
        Table w;
        (mesh ? makeMeshTable : makeTable)(&w);
        const dBodyID box = place(&w, dCreateBox(w.space, 0.2, 0.2, 0.1), 1, 0.05, 1);
        dBodySetLinearVel(box, 0, RATE, 0);
        dBodySetAngularVel(box, 0, 0, RATE);
        advance(&w, h, (int)lround(5 / h));
        const dReal *x = dBodyGetPosition(box);
        CHECK_NEAR(hypot(x[0], x[1]), 1, mesh ? (fine ? 2e-3 : 2e-2) : (fine ? 2e-5 : 2e-3));
        freeTable(&w);
    }
}

static void aBallRollsInCircles(void **state)
{
    (void)state;
    const double radius = 0.1 /* m */, speed = 0.4 /* m/s */, round = 2 * acos(-1.0) / (RATE * 2 / 7) /* s */;
    for (int k = 0; k < 4; ++k) {
        const int fine = k % 2, mesh = k / 2, steps = fine ? 6000 : 600;
        Table w;
        const double more = mesh ? 10 : 1;
        double farthest = 0;
        (mesh ? makeMeshTable : makeTable)(&w);
        const dBodyID ball = place(&w, dCreateSphere(w.space, radius), 0, radius, 1);
        dBodySetLinearVel(ball, speed, 0, 0);
        dBodySetAngularVel(ball, 0, speed / radius, 0);
        for (int i = 0; i < 3 * steps; ++i) {
            advance(&w, round / steps, 1);
            farthest = fmax(farthest, hypot(dBodyGetPosition(ball)[0], dBodyGetPosition(ball)[1]));
        }
        const dReal *x = dBodyGetPosition(ball), *v = dBodyGetLinearVel(ball);
        CHECK_NEAR(hypot(x[0], x[1]), 0, fine ? more * 1e-3 : 1e-2);
        CHECK_NEAR(hypot(v[0], v[1]), speed, fine ? more * 2e-5 : 5e-4);
        CHECK_NEAR(farthest, 2 * speed / (RATE * 2 / 7), fine ? more * 1e-4 : 2e-3);
        freeTable(&w);
    }
}

/* A ball that rolls over a disc stays on it: it sank in by 22 mm, as on a ball of the disc's radius. */
static void aBallRollsOverADisc(void **state)
{
    (void)state;
    enum { STEPS = 20 };
    const double radius = 0.05 /* m */, speed = 3 /* m/s */, h = 1.0 / 60;
    Table w;
    makeTable(&w);
    dGeomDestroy(dBodyGetFirstGeom(w.table));
    dGeomSetBody(dCreateCylinder(w.space, 0.5, 0.2), w.table);
    dBodySetAngularVel(w.table, 0, 0, 0);
    const dBodyID ball = place(&w, dCreateSphere(w.space, radius), -0.4, radius, 1);
    dBodySetLinearVel(ball, speed, 0, 0);
    dBodySetAngularVel(ball, 0, speed / radius, 0);
    for (int k = 0; k < STEPS && dBodyGetPosition(ball)[0] < 0.4; ++k) {
        advance(&w, h, 1);
        CHECK_NEAR(dBodyGetPosition(ball)[2], radius, 1e-4);
    }
    CHECK_NEAR(dBodyGetLinearVel(ball)[0], speed, 1e-6);
    freeTable(&w);
}

/* A ball that rolls along two pipes stays on them: it sank in between them, as on balls of their radius, and stuck. */
static void aBallRollsAlongPipes(void **state)
{
    (void)state;
    enum { STEPS = 60 };
    const double R = 0.1 /* m */, r = 0.05 /* m */, apart = 0.12 /* m */, speed = 3 /* m/s */, h = 1.0 / 60,
                 height = sqrt((R + r) * (R + r) - apart * apart / 4);
    for (int cylinders = 0; cylinders < 2; ++cylinders) {
        Table w;
        makeTable(&w);
        dGeomDestroy(dBodyGetFirstGeom(w.table));
        dBodySetAngularVel(w.table, 0, 0, 0);
        dMatrix3 along;
        dRFromAxisAndAngle(along, 0, 1, 0, acos(-1.0) / 2);
        for (int side = -1; side < 2; side += 2) {
            const dGeomID pipe = (cylinders ? dCreateCylinder : dCreateCapsule)(w.space, R, 8);
            dGeomSetBody(pipe, w.table);
            dGeomSetOffsetPosition(pipe, 0, 0.5 * side * apart, 0.1);
            dGeomSetOffsetRotation(pipe, along);
        }
        const dBodyID ball = place(&w, dCreateSphere(w.space, r), -2, height, 1);
        dBodySetLinearVel(ball, speed, 0, 0);
        dBodySetAngularVel(ball, 0, speed * (R + r) / (r * height), 0);
        for (int k = 0; k < STEPS; ++k) {
            advance(&w, h, 1);
            CHECK_NEAR(dBodyGetPosition(ball)[2], height, 5e-3); /* it falls by g h^2 in the first step */
        }
        CHECK_NEAR(dBodyGetLinearVel(ball)[0], speed, 0.01);
        freeTable(&w);
    }
}

/* Plates on kinematic rollers have their speed, however far these are from the plate's middle: they went at 0.89 of
 * it. */
static void platesPassOverRollers(void **state)
{
    (void)state;
    enum { ROLLERS = 40, STEPS = 90 };
    const double R = 0.05 /* m */, rate = 10 /* rad/s */, pitch = 2.4 * R, length = 4.3 * pitch, h = 1.0 / 60;
    for (int thick = 0; thick < 2; ++thick) {
        Table w;
        double sum = 0;
        makeTwin(&w.t, 1);
        w.space = dHashSpaceCreate(0);
        w.mesh = NULL;
        dMatrix3 along;
        dRFromAxisAndAngle(along, 1, 0, 0, acos(-1.0) / 2);
        for (int k = 0; k < ROLLERS; ++k) {
            const dBodyID roller = dBodyCreate(w.t.world);
            dGeomSetBody(dCreateCylinder(w.space, R, 0.8), roller);
            dBodySetPosition(roller, k * pitch, 0, 0);
            dBodySetRotation(roller, along);
            dBodySetKinematic(roller);
            dBodySetAngularVel(roller, 0, rate, 0);
        }
        const double height = thick ? R : 0.2 * R;
        w.table = place(&w, dCreateBox(w.space, length, 0.3, 2 * height), 0.5 * length + 0.3 * pitch, R + height, 5);
        dBodySetLinearVel(w.table, R * rate, 0, 0);
        for (int k = 0; k < STEPS; ++k) {
            advance(&w, h, 1);
            sum += dBodyGetLinearVel(w.table)[0];
        }
        CHECK_NEAR(sum / STEPS, R * rate, 1e-3 * R * rate);
        CHECK_NEAR(dBodyGetPosition(w.table)[2], R + height, 1e-4);
        freeTable(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(aBoxStaysWhereItSticks), cmocka_unit_test(aBallRollsInCircles),
                                       cmocka_unit_test(aBallRollsOverADisc), cmocka_unit_test(aBallRollsAlongPipes),
                                       cmocka_unit_test(platesPassOverRollers)};
    dInitODE2(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
