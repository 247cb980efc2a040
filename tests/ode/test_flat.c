/* Boxes, capsules and cylinders on a mesh: on a flat one they move as on a plane; what stands out of it acts. */
#include "support/check.h"

#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#define RADIUS 0.2
enum { SQUARES = 180, MOST = 64 };

typedef struct Ground {
    dWorldID world;
    dJointGroupID group;
    dBodyID body;
    dGeomID mesh, geom;
    dTriMeshDataID data;
    spragWorldID sprag;
    int vertices, indices;
    float vertex[(SQUARES + 1) * (SQUARES + 1)][3];
    dTriIndex index[6 * SQUARES * SQUARES];
} Ground;

static Ground ground;

/* count (2) squares on the parallelogram from corner along the two sides. */
static void addPatch(const double corner[3], const double side[2][3], int first, int second)
{
    Ground *g = &ground;
    const dTriIndex base = (dTriIndex)g->vertices, row = (dTriIndex)second + 1;
    for (int i = 0; i <= first; ++i)
        for (int j = 0; j <= second; ++j, ++g->vertices)
            for (int k = 0; k < 3; ++k)
                g->vertex[g->vertices][k] = (float)(corner[k] + i * side[0][k] / first + j * side[1][k] / second);
    for (int i = 0; i < first; ++i)
        for (int j = 0; j < second; ++j, g->indices += 6) {
            const dTriIndex a = base + (dTriIndex)i * row + (dTriIndex)j, b = a + row;
            const dTriIndex corners[6] = {a, b, b + 1, a, b + 1, a + 1};
            memcpy(g->index + g->indices, corners, sizeof corners);
        }
}

/* A floor of squares of 0.1 m, x from 0 on; with a step of this height at x = `at`. */
static void addFloor(double length, double at, double height)
{
    const double floor[2][3] = {{height > 0 ? at : length, 0, 0}, {0, 4, 0}}, wall[2][3] = {{0, 0, height}, {0, 4, 0}},
                 top[2][3] = {{length - at, 0, 0}, {0, 4, 0}};
    addPatch((const double[3]){0, -2, 0}, floor, (int)(10 * floor[0][0] + 0.5), 40);
    if (!(height > 0))
        return;
    addPatch((const double[3]){at, -2, 0}, wall, (int)(10 * height + 0.5), 40);
    addPatch((const double[3]){at, -2, height}, top, (int)(10 * top[0][0] + 0.5), 40);
}

static void makeGround(int class, double length)
{
    Ground *g = &ground;
    g->data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildSingle(g->data, g->vertex, sizeof *g->vertex, g->vertices, g->index, g->indices,
                                3 * sizeof(dTriIndex));
    g->mesh = dCreateTriMesh(NULL, g->data, NULL, NULL, NULL);
    g->world = dWorldCreate();
    g->group = dJointGroupCreate(0);
    g->body = dBodyCreate(g->world);
    dMass mass;
    if (class == dBoxClass) {
        g->geom = dCreateBox(NULL, length, 2 * RADIUS, 2 * RADIUS);
        dMassSetBoxTotal(&mass, 1, length, 2 * RADIUS, 2 * RADIUS);
    } else if (class == dCapsuleClass) {
        g->geom = dCreateCapsule(NULL, RADIUS, length);
        dMassSetCapsuleTotal(&mass, 1, 3, RADIUS, length);
    } else {
        g->geom = dCreateCylinder(NULL, RADIUS, length);
        dMassSetCylinderTotal(&mass, 1, 3, RADIUS, length);
    }
    dBodySetMass(g->body, &mass);
    dGeomSetBody(g->geom, g->body);
    dWorldSetGravity(g->world, 0, 0, -9.81);
    assert_int_equal(spragWorldAttach(g->world, NULL, &g->sprag), SPRAG_OK);
}

static void freeGround(void)
{
    spragWorldDetach(ground.sprag);
    dJointGroupDestroy(ground.group);
    dGeomDestroy(ground.geom), dGeomDestroy(ground.mesh);
    dGeomTriMeshDataDestroy(ground.data);
    dWorldDestroy(ground.world);
    ground.vertices = ground.indices = 0;
}

/* It moves at v, turned by `heading` from the x axis; what is round rolls. */
static void place(double x, double z, double v, double heading)
{
    dBodySetPosition(ground.body, x, 0, z);
    dBodySetLinearVel(ground.body, v * cos(heading), v * sin(heading), 0);
    dMatrix3 R;
    dRFromZAxis(R, -sin(heading), cos(heading), 0);
    if (dGeomGetClass(ground.geom) == dBoxClass)
        return;
    dBodySetRotation(ground.body, R);
    dBodySetAngularVel(ground.body, -v / RADIUS * sin(heading), v / RADIUS * cos(heading), 0);
}

static int step(double h, double mu)
{
    dContact contact[MOST];
    memset(contact, 0, sizeof contact);
    const int count = dCollide(ground.mesh, ground.geom, MOST, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; ++i) {
        contact[i].surface.mode = dContactApprox1;
        contact[i].surface.mu = mu;
        dJointAttach(spragJointCreateContact(ground.sprag, ground.group, &contact[i]), NULL, ground.body);
    }
    assert_int_equal(spragWorldStep(ground.sprag, h), SPRAG_OK);
    dJointGroupEmpty(ground.group);
    return count;
}

/* Contacts of the last step whose normal is within a milliradian of n, or against it. */
static int along(double x, double y, double z)
{
    const spragContact *contact;
    const int count = spragWorldGetContacts(ground.sprag, &contact);
    int found = 0;
    for (int i = 0; i < count; ++i) {
        const double *n = contact[i].normal;
        found += fabs(n[0] * x + n[1] * y + n[2] * z) > 1 - 5e-7;
    }
    return found;
}

static int contacts(void)
{
    const spragContact *contact;
    return spragWorldGetContacts(ground.sprag, &contact);
}

/* As on a plane: mu g t^2 / 2 less of the way.  (It was thrown up by 0.1 m, and stopped.) */
static void boxesSlideOnMeshes(void **state)
{
    (void)state;
    static const double heading[3] = {0, 0.3, 0.785};
    for (int k = 0; k < 6; ++k) {
        const double h = k < 3 ? 1.0 / 60 : 1.0 / 240;
        addFloor(18, 18, 0);
        makeGround(dBoxClass, 2 * RADIUS);
        place(1, RADIUS - 1e-6, 8, heading[k % 3]);
        for (double t = 0; t < 1 - 1e-9; t += h) {
            step(h, 0.1);
            assert_true(dBodyGetPosition(ground.body)[2] < RADIUS + 1e-4);
            assert_true(dBodyGetPosition(ground.body)[2] > RADIUS - 0.02);
            if (fabs(dBodyGetPosition(ground.body)[1]) > 1.6) /* the rim of the floor */
                dBodySetPosition(ground.body, dBodyGetPosition(ground.body)[0], 0, dBodyGetPosition(ground.body)[2]);
        }
        const dReal *v = dBodyGetLinearVel(ground.body);
        CHECK_NEAR(v[0], (8 - 0.981) * cos(heading[k % 3]), 0.1);
        CHECK_NEAR(v[1], (8 - 0.981) * sin(heading[k % 3]), 0.1);
        freeGround();
    }
}

/* A box at rest that leans by a quarter of a degree has contacts with its own face and with the triangles' normal: all
 * have that, as on a plane.  (They pulled against each other, and wedged: 16 contacts took 50 times as long.) */
static void whatRestsLiesFlat(void **state)
{
    (void)state;
    addFloor(4, 4, 0);
    makeGround(dBoxClass, 2 * RADIUS);
    dBodySetPosition(ground.body, 1.03, 0.03, RADIUS - 0.001);
    dMatrix3 R;
    dRFromAxisAndAngle(R, 0.6, 0.8, 0, 0.005);
    dBodySetRotation(ground.body, R);
    assert_true(step(0.001, 0.8) > 8);
    assert_true(contacts() > 2);
    assert_int_equal(along(0, 0, 1), contacts());
    freeGround();
}

/* (Capsules hopped by up to 0.56 m and lost a third of their speed, a cylinder 0.16 m.)  The depths of their contacts
 * are off by up to half, and may show no plane: cylinders hop by 2 cm in the mean, and are off by 0.4 m/s. */
static void roundOnesRollOnMeshes(void **state)
{
    (void)state;
    enum { HEADINGS = 12 };
    for (int cylinder = 0; cylinder < 2; ++cylinder) {
        double hops = 0, lost = 0;
        for (int k = 0; k < HEADINGS; ++k) {
            const double heading = 0.015 * k;
            double hop = 0;
            addFloor(18, 18, 0);
            makeGround(cylinder ? dCylinderClass : dCapsuleClass, cylinder ? RADIUS : 2 * RADIUS);
            place(1, RADIUS - 0.004, 8, heading);
            for (int i = 0; i < 60; ++i) {
                step(1.0 / 60, 0.5);
                hop = fmax(hop, dBodyGetPosition(ground.body)[2] - RADIUS);
            }
            const dReal *v = dBodyGetLinearVel(ground.body);
            hops += hop;
            lost += hypot(v[0] - 8 * cos(heading), v[1] - 8 * sin(heading));
            freeGround();
        }
        assert_true(hops < HEADINGS * (cylinder ? 0.04 : 1e-3));
        assert_true(lost < HEADINGS * (cylinder ? 0.6 : 0.02));
    }
}

/* A step stops a box, and its floor bears it; beyond the rim of a sheet that reaches into its side it is stopped, too:
 * there all points lie in one plane, across which the box stands. */
static void obstaclesAreLeft(void **state)
{
    (void)state;
    addFloor(4, 2, 0.1);
    makeGround(dBoxClass, 2 * RADIUS);
    place(2 - RADIUS + 0.001, RADIUS - 0.001, 1, 0);
    assert_true(step(0.001, 0.1) > 0);
    assert_true(along(1, 0, 0) > 0);
    assert_true(fabs(dBodyGetLinearVel(ground.body)[0]) < 0.5);
    freeGround();
    addFloor(4, 4, 0);
    makeGround(dBoxClass, 2 * RADIUS);
    place(-RADIUS + 0.001, 0, 1, 0);
    assert_true(step(0.001, 0.1) > 1);
    assert_true(contacts() > 1);
    assert_int_equal(along(1, 0, 0), contacts());
    freeGround();
}

/* A capsule leans on the edge of a step: at its foot the floor has its own normal.  (All points lie on one line, and
 * the plane along it that meets the edge contact's normal would do for them.) */
static void whatLeansHasItsFloor(void **state)
{
    (void)state;
    const double length = 1.2, slope = 0.3; /* rad */
    addFloor(4, 2, 0.2);
    makeGround(dCapsuleClass, length);
    dMatrix3 R;
    dRFromZAxis(R, cos(slope), 0, sin(slope));
    dBodySetRotation(ground.body, R);
    /* the edge touches it where its axis is r / cos above: from there to the foot, and half of its length back */
    const double foot[2] = {2 - (0.2 + RADIUS / cos(slope) - RADIUS) / tan(slope), RADIUS};
    dBodySetPosition(ground.body, foot[0] + 0.5 * length * cos(slope), 0, foot[1] + 0.5 * length * sin(slope) - 0.002);
    step(0.001, 0.5);
    assert_true(along(0, 0, 1) > 0);
    assert_true(along(sin(slope), 0, -cos(slope)) > 0);
    freeGround();
}

/* A plank stands on its lower edge and leans with its face on an edge above: both rows of points lie in the plane of
 * that face, and yet the floor's normal is its own. */
static void planksLeanOnEdges(void **state)
{
    (void)state;
    const double slope = 0.1, depth = 1e-4;
    addFloor(4, 4, 0);
    makeGround(dBoxClass, 1.2);
    dMatrix3 R;
    dRFromAxisAndAngle(R, 0, 1, 0, -slope);
    dBodySetRotation(ground.body, R);
    const double along_it[3] = {cos(slope), 0, sin(slope)}, up[3] = {-sin(slope), 0, cos(slope)};
    const double lower[3] = {0.5, 0, -depth}; /* the middle of its lower edge */
    dBodySetPosition(ground.body, lower[0] + 0.6 * along_it[0] + RADIUS * up[0], 0,
                     lower[2] + 0.6 * along_it[2] + RADIUS * up[2]);
    dContact contact[4];
    memset(contact, 0, sizeof contact);
    for (int k = 0; k < 4; ++k) {
        dContactGeom *geom = &contact[k].geom;
        geom->g1 = ground.geom, geom->g2 = ground.mesh, geom->side1 = -1, geom->side2 = k;
        for (int i = 0; i < 3; ++i) { /* of the floor the body's point, of the edge above its own */
            geom->normal[i] = (dReal)(k < 2 ? i == 2 : up[i]);
            geom->pos[i] = (dReal)(k < 2 ? lower[i] : lower[i] + along_it[i] + depth * cos(slope) * up[i]);
        }
        geom->pos[1] = k % 2 == 0 ? -0.15 : 0.15;
        geom->depth = (dReal)(k < 2 ? depth : depth * cos(slope));
        contact[k].surface.mode = dContactApprox1, contact[k].surface.mu = 0.5;
        dJointAttach(spragJointCreateContact(ground.sprag, ground.group, &contact[k]), ground.body, NULL);
    }
    assert_int_equal(spragWorldStep(ground.sprag, 0.01), SPRAG_OK);
    assert_int_equal(along(0, 0, 1), 2);
    assert_int_equal(along(up[0], 0, up[2]), 2);
    freeGround();
}

/* Beside the rim of a floor no more is turned than lies on it: the box tips over, as over the edge of a table. */
static void boxesTipOverRims(void **state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        addFloor(4, 4, 0);
        makeGround(dBoxClass, 2 * RADIUS);
        place(4 + (k == 0 ? -0.02 : 0.02), RADIUS - 1e-5, 0, 0);
        for (int i = 0; i < 60; ++i)
            step(0.01, 0.8);
        assert_true((dBodyGetPosition(ground.body)[2] > RADIUS - 0.02) == (k == 0));
        freeGround();
    }
}

/* A row of points is no plane to a box: it may lie on it or stand beside it. */
static void rowsAreNoPlanes(void **state)
{
    (void)state;
    addFloor(4, 4, 0);
    makeGround(dBoxClass, 2 * RADIUS);
    place(1, RADIUS - 0.002, 0, 0);
    dContact contact[3];
    memset(contact, 0, sizeof contact);
    for (int k = 0; k < 3; ++k) {
        contact[k].geom.g1 = ground.geom, contact[k].geom.g2 = ground.mesh;
        contact[k].geom.side1 = -1, contact[k].geom.side2 = k;
        contact[k].geom.pos[0] = 1 + RADIUS - 0.002, contact[k].geom.pos[1] = 0.1 * (k - 1);
        contact[k].geom.depth = 0.002;
        contact[k].geom.normal[k == 0 ? 2 : 0] = k == 0 ? 1 : -1;
        contact[k].surface.mode = dContactApprox1;
        dJointAttach(spragJointCreateContact(ground.sprag, ground.group, &contact[k]), ground.body, NULL);
    }
    assert_int_equal(spragWorldStep(ground.sprag, 0.01), SPRAG_OK);
    assert_int_equal(contacts(), 3);
    assert_int_equal(along(0, 0, 1), 1);
    assert_int_equal(along(1, 0, 0), 2);
    freeGround();
}

#define FAST 10.0 /* m/s: what hardly moves keeps its contacts */

static void touch(const double at[3], double x, double y, double z, double depth)
{
    dContact contact;
    memset(&contact, 0, sizeof contact);
    contact.geom = (dContactGeom){.pos = {(dReal)at[0], (dReal)at[1], (dReal)at[2]},
                                  .normal = {(dReal)x, (dReal)y, (dReal)z},
                                  .depth = (dReal)depth,
                                  .g1 = ground.geom,
                                  .g2 = ground.mesh,
                                  .side1 = -1};
    contact.surface.mode = dContactApprox1;
    dJointAttach(spragJointCreateContact(ground.sprag, ground.group, &contact), ground.body, NULL);
}

/* A corner of a box that is slightly tilted, and has the normal of its face, lies beside the box where the mesh is
 * above it.  (The lower ones were left out.) */
static void cornersAreKept(void **state)
{
    (void)state;
    const double slope = 1e-3, deep = 5e-4, high = deep - 2 * RADIUS * sin(slope);
    addFloor(4, 4, 0);
    makeGround(dBoxClass, 2 * RADIUS);
    dBodySetLinearVel(ground.body, 0, FAST, 0);
    dMatrix3 R;
    dRFromAxisAndAngle(R, 0, 1, 0, -slope);
    dBodySetRotation(ground.body, R);
    const double along_it[3] = {cos(slope), 0, sin(slope)}, up[3] = {-sin(slope), 0, cos(slope)};
    const double lower[3] = {1, 0, -deep};
    dBodySetPosition(ground.body, lower[0] + RADIUS * (along_it[0] + up[0]), 0,
                     lower[2] + RADIUS * (along_it[2] + up[2]));
    for (int k = -1; k < 2; k += 2) {
        touch((const double[3]){lower[0], k * RADIUS, lower[2]}, up[0], 0, up[2], deep * cos(slope));
        touch((const double[3]){lower[0] + 2 * RADIUS * along_it[0], k * RADIUS, -high}, 0, 0, 1, high);
    }
    assert_int_equal(spragWorldStep(ground.sprag, 0.01), SPRAG_OK);
    const spragContact *contact;
    assert_int_equal(spragWorldGetContacts(ground.sprag, &contact), 4);
    for (int k = 0; k < 4; ++k)
        assert_true(contact[k].depth > 0.9 * high);
    freeGround();
}

/* What is deeper than the body reaches below a plane is not of that plane: a wall that a box has run into along its
 * lower edge, while it hardly touches the floor; the floor of an upright cylinder, whose side meets an edge there. */
static void deeperOnesAreOfAnotherPlane(void **state)
{
    (void)state;
    const double touching = 1e-5, deep = 2e-3;
    addFloor(4, 4, 0);
    makeGround(dBoxClass, 2 * RADIUS);
    dBodySetLinearVel(ground.body, 0, FAST, 0);
    place(1, RADIUS - touching, 1, 0);
    for (int k = -1; k < 2; k += 2) {
        touch((const double[3]){1 - RADIUS, 0.1 * k, 0}, 0, 0, 1, touching);
        touch((const double[3]){1, 0.1 * k, 0}, 0, 0, 1, touching);
        touch((const double[3]){1 + RADIUS - deep, 0.1 * k, 0}, -1, 0, 0, deep);
    }
    assert_int_equal(spragWorldStep(ground.sprag, 0.01), SPRAG_OK);
    assert_int_equal(along(1, 0, 0), 2);
    freeGround();
    addFloor(4, 4, 0);
    makeGround(dCylinderClass, 2 * RADIUS);
    dBodySetLinearVel(ground.body, 0, FAST, 0);
    dBodySetPosition(ground.body, 1, 0, RADIUS - deep);
    for (int k = -1; k < 2; k += 2)
        touch((const double[3]){1 + RADIUS - 0.1 * deep, 0.01 * k, 0}, -1, 0, 0, 0.1 * deep);
    for (int k = -1; k < 2; k += 2)
        touch((const double[3]){1 + RADIUS - 0.1 * deep, 0.02 * k, 0}, 0, 0, 1, deep);
    assert_int_equal(spragWorldStep(ground.sprag, 0.01), SPRAG_OK);
    assert_int_equal(along(0, 0, 1), 4);
    freeGround();
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxesSlideOnMeshes),    cmocka_unit_test(whatRestsLiesFlat),
        cmocka_unit_test(roundOnesRollOnMeshes), cmocka_unit_test(obstaclesAreLeft),
        cmocka_unit_test(whatLeansHasItsFloor),  cmocka_unit_test(planksLeanOnEdges),
        cmocka_unit_test(boxesTipOverRims),      cmocka_unit_test(rowsAreNoPlanes),
        cmocka_unit_test(cornersAreKept),        cmocka_unit_test(deeperOnesAreOfAnotherPlane)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
