/* What lies on a heightfield: it is lifted out of it, not thrown, and meshes have the depths that they have. */
#include "support/check.h"

#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#define HALF 4.0 /* m, of the field */
#define RADIUS 0.2
#define G 9.81
enum { MOST = 16 };

typedef double (*Height)(double x, double y);

typedef struct Ground {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    dGeomID floor, own, lid; /* lid: or NULL */
    dBodyID body;
    dHeightfieldDataID data;
    dTriMeshDataID mesh;
    double vertex[8][3];
    spragWorldID sprag;
    Height height;
    double cell;    /* m */
    int mode;       /* of surfaces */
    double softly;  /* its soft_cfm */
    double erp;     /* its soft_erp */
    double pressed; /* N, downwards */
} Ground;

static Ground ground;

static dReal heightAt(void *user, int i, int k)
{
    (void)user;
    return (dReal)ground.height(-HALF + i * ground.cell, HALF - k * ground.cell);
}

/* The surface between the samples, whose cells are parted from the second to the third corner. */
static double surface(double x, double y)
{
    const double u = (x + HALF) / ground.cell, w = (HALF - y) / ground.cell, du = u - floor(u), dw = w - floor(w);
    const int far = du + dw > 1, i = (int)floor(u), k = (int)floor(w);
    const double at = heightAt(NULL, i + far, k + far), right = heightAt(NULL, i + 1, k),
                 down = heightAt(NULL, i, k + 1);
    return far ? at + (right - at) * (1 - dw) + (down - at) * (1 - du) : at + (right - at) * du + (down - at) * dw;
}

/* height: or NULL, a plane. */
static void makeGround(Height height, double cell)
{
    Ground *g = &ground;
    *g = (Ground){.height = height, .cell = cell};
    g->world = dWorldCreate();
    dWorldSetGravity(g->world, 0, 0, -G);
    g->space = dHashSpaceCreate(NULL);
    g->group = dJointGroupCreate(0);
    g->body = dBodyCreate(g->world);
    if (height == NULL) {
        g->floor = dCreatePlane(g->space, 0, 0, 1, 0);
    } else {
        const int samples = (int)lround(2 * HALF / cell) + 1;
        dMatrix3 upright;
        g->data = dGeomHeightfieldDataCreate();
        dGeomHeightfieldDataBuildCallback(g->data, NULL, heightAt, 2 * HALF, 2 * HALF, samples, samples, 1, 0, 1, 0);
        dGeomHeightfieldDataSetBounds(g->data, -2, 2);
        g->floor = dCreateHeightfield(g->space, g->data, 1);
        dRFromAxisAndAngle(upright, 1, 0, 0, M_PI / 2);
        dGeomSetRotation(g->floor, upright);
    }
    assert_int_equal(spragWorldAttach(g->world, NULL, &g->sprag), SPRAG_OK);
}

static void freeGround(void)
{
    spragWorldDetach(ground.sprag);
    dJointGroupDestroy(ground.group);
    dSpaceDestroy(ground.space);
    if (ground.data != NULL)
        dGeomHeightfieldDataDestroy(ground.data);
    if (ground.mesh != NULL)
        dGeomTriMeshDataDestroy(ground.mesh);
    dWorldDestroy(ground.world);
}

static void makeBall(void)
{
    dMass mass;
    dMassSetSphereTotal(&mass, 1, RADIUS);
    dBodySetMass(ground.body, &mass);
    ground.own = dCreateSphere(ground.space, RADIUS);
    dGeomSetBody(ground.own, ground.body);
}

static const double side[3] = {0.5, 0.35, 0.25}; /* m, of the block */

/* narrow: its lower face over its upper one. */
static void makeBlock(double narrow)
{
    static const dTriIndex corner[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    dMass mass;
    dMassSetBoxTotal(&mass, 1, side[0], side[1], side[2]);
    dBodySetMass(ground.body, &mass);
    for (int k = 0; k < 8; ++k)
        for (int i = 0; i < 3; ++i)
            ground.vertex[k][i] = (k >> i & 1 ? 0.5 : -0.5) * side[i] * (i < 2 && k < 4 ? narrow : 1);
    ground.mesh = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildDouble(ground.mesh, ground.vertex, sizeof *ground.vertex, 8, corner, 36,
                                3 * sizeof(dTriIndex));
    ground.own = dCreateTriMesh(ground.space, ground.mesh, NULL, NULL, NULL);
    dGeomSetBody(ground.own, ground.body);
}

/* How many contacts the collider has found of two geoms. */
static int touch(dGeomID one, dGeomID other)
{
    dContact contact[MOST];
    memset(contact, 0, sizeof contact);
    const int count = dCollide(one, other, MOST, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; ++i) {
        contact[i].surface.mode = dContactApprox1 | ground.mode;
        contact[i].surface.mu = 0.8;
        contact[i].surface.soft_cfm = (dReal)ground.softly;
        contact[i].surface.soft_erp = (dReal)ground.erp;
        const dJointID joint = spragJointCreateContact(ground.sprag, ground.group, &contact[i]);
        dJointAttach(joint, dGeomGetBody(contact[i].geom.g1), dGeomGetBody(contact[i].geom.g2));
    }
    return count;
}

/* How many contacts the body has with the floor. */
static int step(double h)
{
    const int count = touch(ground.floor, ground.own);
    if (ground.lid != NULL)
        touch(ground.lid, ground.own);
    dBodyAddForce(ground.body, 0, 0, (dReal)-ground.pressed);
    assert_int_equal(spragWorldStep(ground.sprag, h), SPRAG_OK);
    dJointGroupEmpty(ground.group);
    return count;
}

static double flat(double x, double y)
{
    (void)x, (void)y;
    return 0;
}

static double waves(double x, double y)
{
    return 0.08 * sin(2.1 * x) * cos(1.7 * y) + 0.02 * x;
}

/* m: how high a ball rises over the ground that was `sunk` m deep in it, in a second. */
static double rise(double sunk, double h)
{
    double most = -1;
    makeBall();
    dBodySetPosition(ground.body, 0, 0, RADIUS - sunk);
    for (double t = 0; t < 1; t += h) {
        step(h);
        most = fmax(most, dBodyGetPosition(ground.body)[2] - RADIUS);
    }
    return most;
}

/* Out of a plane ERP throws it by e^2 / 2 g, e = 0.2 depth / h; out of a field it comes, and stays. */
static void whatHasSunkIsLifted(void **state)
{
    (void)state;
    const double h = 1.0 / 240, sunk = 0.15, e = 0.2 * sunk / h;
    makeGround(NULL, 1);
    CHECK_NEAR(rise(sunk, h), e * e / (2 * G) - sunk, 0.05);
    freeGround();
    makeGround(flat, 0.5);
    const double most = rise(sunk, h);
    assert_true(most < 0.01);
    CHECK_NEAR(dBodyGetPosition(ground.body)[2], RADIUS, 1e-3);
    freeGround();
}

static void makeSoft(Height height, double cfm)
{
    makeGround(height, 0.5);
    ground.mode = dContactSoftCFM;
    ground.softly = cfm;
}

/* What gives is lifted, too, and bears as much as on a plane; what is in a joint, whose load is unknown, much more. */
static void whatGivesBearsItsLoad(void **state)
{
    (void)state;
    const double h = 1.0 / 240, sunk = 0.15;
    double height[2], joined[2];
    for (int k = 0; k < 2; ++k) {
        makeSoft(k == 0 ? NULL : flat, 1e-3);
        height[k] = rise(sunk, h);
        freeGround();
        makeSoft(k == 0 ? NULL : flat, 1e-3);
        const dJointID motor = dJointCreateLMotor(ground.world, 0); /* of no axes */
        dJointAttach(motor, ground.body, NULL);
        joined[k] = rise(sunk, h);
        freeGround();
    }
    assert_true(height[0] > 1 && height[1] < 0.05);
    CHECK_NEAR(joined[1], joined[0], 1e-9);
    for (int k = 0; k < 2; ++k) {
        makeSoft(k == 0 ? NULL : flat, 1e-2);
        ground.pressed = 8 * G;
        rise(0, h);
        height[k] = dBodyGetPosition(ground.body)[2];
        freeGround();
    }
    CHECK_NEAR(RADIUS - height[0], 9 * G * 1e-2 * h / 0.2, 1e-4);
    CHECK_NEAR(height[1], height[0], 1e-9);
}

/* 43 kN/m and 100 N s/m, as an ERP and a CFM: it throws a ball as on a plane.  (By 0.07 m in place of 0.6 m.) */
static void springsThrow(void **state)
{
    (void)state;
    double height[2];
    for (int k = 0; k < 2; ++k) {
        makeSoft(k == 0 ? NULL : flat, 7e-3);
        ground.mode |= dContactSoftERP;
        ground.erp = 0.3;
        dBodySetLinearVel(ground.body, 0, 0, -9.6);
        height[k] = rise(1e-3, 1e-3);
        freeGround();
    }
    assert_true(height[0] > 0.3);
    CHECK_NEAR(height[1], height[0], 1e-6);
}

static dBodyID bodyAbove(double mass, double height)
{
    const dBodyID body = dBodyCreate(ground.world);
    dMass total;
    dMassSetBoxTotal(&total, mass, 1, 1, 0.1);
    dBodySetMass(body, &total);
    dBodySetPosition(body, 0, 0, height);
    return body;
}

static void fix(dBodyID one, dBodyID other)
{
    const dJointID joint = dJointCreateFixed(ground.world, 0);
    dJointAttach(joint, one, other);
    dJointSetFixed(joint);
}

enum { LID, CARRIES, PRESSED, LOADS };
#define LOAD 300.0 /* times the ball's weight */

/* m: where a ball of 1 kg comes to rest under a load. */
static double heightUnder(int load, Height height)
{
    makeSoft(height, 1e-3);
    makeBall();
    dBodySetPosition(ground.body, 0, 0, RADIUS);
    if (load == LID) {
        ground.lid = dCreateBox(ground.space, 1, 1, 0.1);
        dGeomSetBody(ground.lid, bodyAbove(LOAD, 2 * RADIUS + 0.05));
    } else if (load == CARRIES) { /* by a light link, and it is the world's CFM */
        const dBodyID link = bodyAbove(1, RADIUS);
        fix(ground.body, link);
        fix(link, bodyAbove(LOAD - 1, RADIUS));
        ground.mode = 0;
        dWorldSetCFM(ground.world, 1e-3);
    } else {
        ground.pressed = LOAD * G;
    }
    for (int i = 0; i < 1200; ++i)
        step(1.0 / 240);
    const double rests = dBodyGetPosition(ground.body)[2];
    freeGround();
    return rests;
}

/* A heavy lid, a car on light wheels, a program that presses: the contact bears it, as deep as on a plane.  (0.3 m
 * deeper.) */
static void whatBearsMuchDoesNotSink(void **state)
{
    (void)state;
    for (int load = 0; load < LOADS; ++load) {
        const double plane = heightUnder(load, NULL);
        CHECK_NEAR(RADIUS - plane, (LOAD + 1) * G * 1e-3 / 240 / 0.2, 1e-2);
        CHECK_NEAR(heightUnder(load, flat), plane, 1e-4);
    }
}

/* Balls that roll over waves stay on them.  (Three of them were thrown by 0.1 to 3.9 m.) */
static void ballsStayOnWaves(void **state)
{
    (void)state;
    for (int k = 0; k < 40; ++k) {
        const double x = -2 + 0.1 * k, y = 1.7 * sin(3.0 * k), h = 1.0 / 240;
        makeGround(waves, 0.5);
        makeBall();
        dBodySetPosition(ground.body, x, y, surface(x, y) + RADIUS + 0.01);
        for (int i = 0; i < 600; ++i) {
            step(h);
            const dReal *p = dBodyGetPosition(ground.body);
            assert_true(fabs(p[0]) < HALF - 0.5 && fabs(p[1]) < HALF - 0.5);
            assert_true(p[2] < surface(p[0], p[1]) + RADIUS + 0.05);
        }
        freeGround();
    }
}

/* A block, as a mesh.  (All of them were thrown, by 0.5 to 5 m, and on the average were in the air.) */
static void meshesLieOnFields(void **state)
{
    (void)state;
    for (int k = 0; k < 24; ++k) {
        const double x = -1.5 + 0.13 * k, y = 1.5 * sin(5.0 * k), h = k % 2 ? 1.0 / 240 : 1.0 / 60;
        dMatrix3 turned;
        makeGround(waves, 0.1);
        makeBlock(1);
        dRFromAxisAndAngle(turned, 0, 0, 1, 0.7 * k);
        dBodySetRotation(ground.body, turned);
        dBodySetPosition(ground.body, x, y, surface(x, y) + 0.5 * side[2] + 0.05);
        for (double t = 0; t < 3; t += h) {
            step(h);
            const dReal *p = dBodyGetPosition(ground.body);
            assert_true(p[2] < surface(p[0], p[1]) + 0.5 * side[2] + 0.06);
        }
        assert_true(dBodyGetPosition(ground.body)[2] > surface(x, y) + 0.4 * side[2]);
        const dReal *v = dBodyGetLinearVel(ground.body);
        assert_true(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < 0.1 * 0.1);
        freeGround();
    }
}

static double peak(double x, double y)
{
    return fabs(x) < 0.01 && fabs(y) < 0.01 ? 0.1 : 0;
}

/* A side that leans hangs over a peak: the collider names that, as deep as the side is high over it.  It falls. */
static void whatHangsAboveAVertexFalls(void **state)
{
    (void)state;
    const double h = 1.0 / 240;
    makeGround(peak, 0.5);
    makeBlock(0.2);
    dBodySetPosition(ground.body, 0.2, 0, 0.085 + 0.5 * side[2]);
    assert_true(step(h) > 0);
    CHECK_NEAR(dBodyGetLinearVel(ground.body)[2], -G * h, 1e-12);
    freeGround();
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatHasSunkIsLifted),
                                       cmocka_unit_test(whatGivesBearsItsLoad),
                                       cmocka_unit_test(springsThrow),
                                       cmocka_unit_test(whatBearsMuchDoesNotSink),
                                       cmocka_unit_test(ballsStayOnWaves),
                                       cmocka_unit_test(meshesLieOnFields),
                                       cmocka_unit_test(whatHangsAboveAVertexFalls)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
