/* Contacts of a ball with a mesh: on a flat one it rolls as on a plane; real edges are left alone. */
#include "support/check.h"

#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#define RADIUS 0.2
enum { SQUARES = 100, MOST = 16 };

typedef struct Ground {
    dWorldID world;
    dJointGroupID group;
    dBodyID ball;
    dGeomID mesh, sphere;
    dTriMeshDataID data;
    spragWorldID sprag;
    float vertex[(SQUARES + 1) * (SQUARES + 1)][3];
    dTriIndex index[6 * SQUARES * SQUARES];
} Ground;

static Ground ground;

/* count x count squares of size m from (0, -half of it), at height(x). */
static void makeGround(int count, double size, double (*height)(double x))
{
    Ground *g = &ground;
    int k = 0;
    for (int i = 0; i <= count; ++i)
        for (int j = 0; j <= count; ++j) {
            float *v = g->vertex[i * (count + 1) + j];
            v[0] = (float)(size * i), v[1] = (float)(size * (j - 0.5 * count)), v[2] = (float)height(v[0]);
        }
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j) {
            const dTriIndex a = (dTriIndex)(i * (count + 1) + j), b = a + (dTriIndex)count + 1;
            const dTriIndex corner[6] = {a, b, b + 1, a, b + 1, a + 1};
            memcpy(g->index + k, corner, sizeof corner);
            k += 6;
        }
    g->data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildSingle(g->data, g->vertex, sizeof *g->vertex, (count + 1) * (count + 1), g->index, k,
                                3 * sizeof(dTriIndex));
    g->mesh = dCreateTriMesh(NULL, g->data, NULL, NULL, NULL);
    g->world = dWorldCreate();
    g->group = dJointGroupCreate(0);
    g->ball = dBodyCreate(g->world);
    g->sphere = dCreateSphere(NULL, RADIUS);
    dMass mass;
    dMassSetSphereTotal(&mass, 1, RADIUS);
    dBodySetMass(g->ball, &mass);
    dGeomSetBody(g->sphere, g->ball);
    dWorldSetGravity(g->world, 0, 0, -9.81);
    assert_int_equal(spragWorldAttach(g->world, NULL, &g->sprag), SPRAG_OK);
}

static void freeGround(void)
{
    spragWorldDetach(ground.sprag);
    dJointGroupDestroy(ground.group);
    dGeomDestroy(ground.sphere), dGeomDestroy(ground.mesh);
    dGeomTriMeshDataDestroy(ground.data);
    dWorldDestroy(ground.world);
}

/* It rolls at v, turned by `heading` from the x axis. */
static void place(double x, double z, double v, double heading)
{
    dBodySetPosition(ground.ball, x, 0, z);
    dBodySetLinearVel(ground.ball, v * cos(heading), v * sin(heading), 0);
    dBodySetAngularVel(ground.ball, -v / RADIUS * sin(heading), v / RADIUS * cos(heading), 0);
}

/* Returns how many contacts the collider has found; feedback: of the last of them, or NULL. */
static int step(double h, dJointFeedback *feedback)
{
    dContact contact[MOST];
    memset(contact, 0, sizeof contact);
    const int count = dCollide(ground.mesh, ground.sphere, MOST, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; ++i) {
        contact[i].surface.mode = dContactApprox1;
        contact[i].surface.mu = 0.5;
        const dJointID joint = spragJointCreateContact(ground.sprag, ground.group, &contact[i]);
        dJointAttach(joint, NULL, ground.ball);
        if (feedback != NULL && i == count - 1)
            dJointSetFeedback(joint, feedback);
    }
    assert_int_equal(spragWorldStep(ground.sprag, h), SPRAG_OK);
    dJointGroupEmpty(ground.group);
    return count;
}

static int contacts(void)
{
    const spragContact *contact;
    return spragWorldGetContacts(ground.sprag, &contact);
}

static double flat(double x)
{
    (void)x;
    return 0;
}

/* As on a plane.  (It hopped by 0.1 m, and lost a tenth of its speed.) */
static void ballsRollOnMeshes(void **state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        const double h = k == 0 ? 1.0 / 60 : 1.0 / 240;
        int several = 0;
        makeGround(SQUARES, 0.1, flat);
        place(0.5, RADIUS - 0.004, 8, 0.3);
        for (double t = 0; t < 1; t += h) {
            several += step(h, NULL) > 1;
            assert_true(dBodyGetPosition(ground.ball)[2] < RADIUS + 1e-3);
            assert_true(contacts() <= 1);
        }
        assert_true(several > 2);
        const dReal *v = dBodyGetLinearVel(ground.ball);
        CHECK_NEAR(v[0], 8 * cos(0.3), 0.02);
        CHECK_NEAR(v[1], 8 * sin(0.3), 0.02);
        freeGround();
    }
}

static double ledge(double x)
{
    return x > 0.95 && x < 1.95 ? 0.05 : 0;
}

/* At an edge that no face beside it explains all contacts are kept: in front of a step, and beyond the rim. */
static void edgesAreLeftAlone(void **state)
{
    (void)state;
    makeGround(20, 0.1, ledge); /* the step rises from x = 0.9 to 1.0 */
    place(0.86, RADIUS - 0.001, 1, 0);
    int found = step(0.001, NULL);
    assert_true(found > 1);
    assert_true(contacts() > 1); /* the floor, and the step */
    assert_true(dBodyGetLinearVel(ground.ball)[0] < 0.9);
    place(-0.05, RADIUS * cos(asin(0.25)) - 0.001, 0, 0); /* beyond the rim at x = 0 */
    found = step(0.001, NULL);
    assert_true(found > 0);
    assert_int_equal(contacts(), found);
    freeGround();
}

/* On a vertex six triangles have the same point: there is one contact.  Whose feedback is wanted is kept. */
static void sameFeetAreOne(void **state)
{
    (void)state;
    dJointFeedback feedback;
    makeGround(20, 0.1, flat);
    place(1, RADIUS - 1e-4, 0, 0);
    assert_true(step(0.001, NULL) > 1);
    assert_int_equal(contacts(), 1);
    place(1.03, RADIUS - 0.01, 0, 0);
    assert_true(step(0.001, &feedback) > 1);
    assert_int_equal(contacts(), 2);
    for (int k = 0; k < 200; ++k)
        step(0.01, NULL);
    CHECK_NEAR(dBodyGetPosition(ground.ball)[2], RADIUS, 1e-5);
    CHECK_NEAR(dBodyGetLinearVel(ground.ball)[2], 0, 1e-6);
    freeGround();
}

/* A chock at the foot of a ball that lies on a mesh: no triangle's contact, whatever stands in side1 and side2. */
static void handMadeContactsAct(void **state)
{
    (void)state;
    makeGround(20, 0.1, flat);
    place(1, RADIUS, 1, 0);
    dBodySetAngularVel(ground.ball, 0, 0, 0);
    dContact contact[2];
    memset(contact, 0, sizeof contact);
    for (int k = 0; k < 2; ++k) {
        contact[k].geom.g1 = ground.sphere, contact[k].geom.g2 = ground.mesh;
        contact[k].geom.pos[0] = 1, contact[k].geom.depth = 1e-6;
        contact[k].geom.normal[k == 0 ? 2 : 0] = k == 0 ? 1 : -1;
        dJointAttach(spragJointCreateContact(ground.sprag, ground.group, &contact[k]), ground.ball, NULL);
    }
    assert_int_equal(spragWorldStep(ground.sprag, 0.01), SPRAG_OK);
    assert_int_equal(contacts(), 2);
    assert_true(dBodyGetLinearVel(ground.ball)[0] < 0.9);
    freeGround();
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(ballsRollOnMeshes), cmocka_unit_test(edgesAreLeftAlone),
                                       cmocka_unit_test(sameFeetAreOne), cmocka_unit_test(handMadeContactsAct)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
