/* Cylinders side by side: where they touch, beside what a search of their surfaces finds; and in a world. */
#include "support/check.h"

#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "linalg/vec3.h"
#include "ode/shape/beside.h"

static const double radius[2] = {0.2, 0.15}, half[2] = {0.5, 0.4}; /* m */

/* The first along y; the second above it, with its middle at `along`, turned by `tilt` about x and by `yaw` about z,
 * overlapping by `depth` where it is not turned. */
static void place(spragBesidePipe pipe[2], double along, double tilt, double yaw, double depth)
{
    for (int k = 0; k < 2; ++k)
        pipe[k] = (spragBesidePipe){.half = half[k], .radius = radius[k], .axis = {0, 1, 0}};
    pipe[1].middle[1] = along;
    pipe[1].middle[2] = radius[0] + radius[1] - depth;
    const double axis[3] = {-sin(yaw) * cos(tilt), cos(yaw) * cos(tilt), sin(tilt)};
    memcpy(pipe[1].axis, axis, sizeof axis);
}

static void touchAtBothEnds(void **state)
{
    (void)state;
    static const double along[] = {0, 0.3, -0.3, 0.1, 0.85};
    for (size_t k = 0; k < sizeof along / sizeof *along; ++k)
        for (int turned = 0; turned < 2; ++turned) {
            spragBesidePipe pipe[2], swap;
            spragBesidePoint point[2];
            place(pipe, along[k], 0, 0, 1e-5);
            if (turned)
                swap = pipe[0], pipe[0] = pipe[1], pipe[1] = swap;
            assert_int_equal(spragBesideFind(pipe, point), 2);
            const double low = fmax(-half[0], along[k] - half[1]), high = fmin(half[0], along[k] + half[1]);
            for (int end = 0; end < 2; ++end) {
                CHECK_NEAR(point[end].depth, 1e-5, 1e-15);
                CHECK_NEAR(point[end].x[0], 0, 0);
                CHECK_NEAR(point[end].x[1], end ? high : low, 1e-15);
                CHECK_NEAR(point[end].x[2], radius[0] - 0.5e-5, 1e-15);
                CHECK_NEAR(point[end].normal[2], turned ? 1 : -1, 1e-15);
            }
        }
}

/* Depth of the point that is deepest in the second's side, of all of the first's rim at that end. */
static double deepestOfRim(const spragBesidePipe *pipe, double s, const spragBesidePipe *side)
{
    enum { PARTS = 200000 };
    double least = INFINITY;
    const double e[3] = {pipe->axis[0], pipe->axis[1], pipe->axis[2]};
    const double some[3] = {fabs(e[0]) < 0.5, fabs(e[0]) >= 0.5, 0};
    double u[3], v[3];
    spragCross3(u, e, some);
    const double size = spragNorm3(u);
    for (int i = 0; i < 3; ++i)
        u[i] /= size;
    spragCross3(v, e, u);
    for (int k = 0; k < PARTS; ++k) {
        const double angle = 2 * M_PI * k / PARTS;
        double d[3], along = 0;
        for (int i = 0; i < 3; ++i) {
            d[i] =
                pipe->middle[i] + s * e[i] + pipe->radius * (cos(angle) * u[i] + sin(angle) * v[i]) - side->middle[i];
            along += d[i] * side->axis[i];
        }
        least = fmin(least, spragDot3(d, d) - along * along);
    }
    return side->radius - sqrt(least);
}

/* Tilted or turned, up to some degrees. */
static void endsTouchWithTheirRim(void **state)
{
    (void)state;
    int two = 0, one = 0;
    for (int k = 0; k < 24; ++k) {
        const double tilt = (k % 4 - 1.5) * 1.3e-4, yaw = k / 4 % 3 * 5e-3, depth = 3e-5 + k % 5 * 1e-5;
        spragBesidePipe pipe[2];
        spragBesidePoint point[2];
        place(pipe, 0, tilt, yaw, depth);
        const int count = spragBesideFind(pipe, point);
        const double rim[2] = {deepestOfRim(&pipe[1], -half[1], &pipe[0]), deepestOfRim(&pipe[1], half[1], &pipe[0])};
        two += count == 2, one += count == 1;
        for (int p = 0; p < count; ++p) {
            const int end = point[p].x[1] > 0;
            CHECK_NEAR(spragNorm3(point[p].normal), 1, 1e-14);
            CHECK_NEAR(fabs(point[p].x[1]), half[1], 1e-4);
            CHECK_NEAR(point[p].depth, rim[end], 1e-9);
        }
    }
    assert_true(two > 5 && one > 2);
}

/* Axes that cross touch where they are nearest. */
static void axesCross(void **state)
{
    (void)state;
    spragBesidePipe pipe[2];
    spragBesidePoint point[2];
    place(pipe, 0.1, 0, 0.5, 1e-4);
    assert_int_equal(spragBesideFind(pipe, point), 0);
    assert_int_equal(spragBesideCross(pipe, point), 1);
    CHECK_NEAR(point[0].depth, 1e-4, 1e-15);
    CHECK_NEAR(point[0].x[0], 0, 1e-15);
    CHECK_NEAR(point[0].x[1], 0.1, 1e-15);
    CHECK_NEAR(point[0].normal[2], -1, 1e-15);
    place(pipe, 0.6, 0, 0.5, 1e-4); /* beyond an end */
    assert_int_equal(spragBesideCross(pipe, point), 0);
    place(pipe, 0, 0, 0, 1e-4); /* nowhere */
    assert_int_equal(spragBesideCross(pipe, point), 0);
}

/* A capsule touches with the balls about its ends. */
static void capsulesTouchWithBalls(void **state)
{
    (void)state;
    spragBesidePipe pipe[2];
    spragBesidePoint point[2];
    const double tilt = 1e-5;
    place(pipe, 0, tilt, 0, 1e-4);
    pipe[1].is_capsule = 1;
    assert_int_equal(spragBesideFind(pipe, point), 2);
    for (int end = 0; end < 2; ++end)
        CHECK_NEAR(point[end].depth, 1e-4 + (end ? -1 : 1) * half[1] * sin(tilt), 1e-15);
    place(pipe, 0, 1e-2, 0, 1e-4);
    pipe[1].is_capsule = 1;
    assert_int_equal(spragBesideFind(pipe, point), 1);
    CHECK_NEAR(point[0].depth, 1e-4 + half[1] * sin(1e-2), 1e-15);
}

/* ODE's collider names two exactly where the overlap is seen. */
static void theColliderSeesSo(void **state)
{
    (void)state;
    int blind = 0, seen = 0, open = 0;
    for (int k = 0; k < 3000; ++k) {
        spragBesidePipe pipe[2];
        spragBesidePoint point[2];
        const double tilt = 0.06 * sin(k), along = 0.7 * sin(7 * k), depth = 0.01 * sin(11 * k);
        place(pipe, along, tilt, 0, depth);
        pipe[1].is_capsule = k % 3 == 0;
        const double sees = spragBesideSeen(pipe);
        assert_true(!pipe[1].is_capsule || isinf(sees));
        assert_true(isinf(sees) || fabs(tilt) < 0.045);
        if (spragBesideFind(pipe, point) == 0 || point[0].depth < 1e-5 || fabs(sees) < 1e-6)
            continue;
        dContactGeom contact[8];
        dGeomID geom[2] = {dCreateCylinder(NULL, radius[0], 2 * half[0]),
                           pipe[1].is_capsule ? dCreateCapsule(NULL, radius[1], 2 * half[1])
                                              : dCreateCylinder(NULL, radius[1], 2 * half[1])};
        for (int g = 0; g < 2; ++g) {
            dMatrix3 lies;
            dRFromZAxis(lies, pipe[g].axis[0], pipe[g].axis[1], pipe[g].axis[2]);
            dGeomSetRotation(geom[g], lies);
            dGeomSetPosition(geom[g], pipe[g].middle[0], pipe[g].middle[1], pipe[g].middle[2]);
        }
        assert_int_equal(dCollide(geom[0], geom[1], 8, contact, sizeof *contact) > 0, sees > 0);
        blind += sees<0, seen += sees> 0 && !isinf(sees), open += isinf(sees) != 0;
        for (int g = 0; g < 2; ++g)
            dGeomDestroy(geom[g]);
    }
    assert_true(blind > 100 && seen > 100 && open > 100);
}

static void whatDoesNotLieBesideIsLeft(void **state)
{
    (void)state;
    spragBesidePipe pipe[2];
    spragBesidePoint point[2];
    place(pipe, 0.95, 0, 0, 1e-5); /* behind each other */
    assert_int_equal(spragBesideFind(pipe, point), 0);
    place(pipe, 0, 0, 0, 0.1); /* deep */
    assert_int_equal(spragBesideFind(pipe, point), 0);
    place(pipe, 0, 0, 0, -0.01); /* apart */
    assert_int_equal(spragBesideFind(pipe, point), 0);
    place(pipe, 0, 0, 0.5, 1e-4); /* across each other */
    assert_int_equal(spragBesideFind(pipe, point), 0);
    place(pipe, 0, 0, 0, radius[0] + radius[1]); /* one axis */
    assert_int_equal(spragBesideFind(pipe, point), 0);
    place(pipe, 0, M_PI / 2, 0, 0); /* a coin on a side: with its face, not with a point of its rim */
    pipe[1].half = 0.005;
    pipe[1].middle[0] = 0.01;
    for (int deep = 0; deep < 2; ++deep) {
        pipe[1].middle[2] = radius[0] + (deep ? -0.01 : 0.002);
        assert_int_equal(spragBesideFind(pipe, point), 0);
    }
}

/* ---------------------------------------------------------------- in a world */

typedef struct Logs {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    spragWorldID sprag;
    double work; /* steps of all methods */
    double part; /* of its depth, that a contact is to lose */
} Logs;

static void onNear(void *data, dGeomID a, dGeomID b)
{
    enum { MOST = 8 };
    Logs *logs = data;
    dContact contact[MOST];
    if (dGeomGetBody(a) == NULL && dGeomGetBody(b) == NULL)
        return;
    const int count = dCollide(a, b, MOST, &contact[0].geom, sizeof *contact);
    for (int k = 0; k < count; ++k) {
        memset(&contact[k].surface, 0, sizeof contact[k].surface);
        contact[k].geom.depth *= 1 - logs->part;
        contact[k].surface.mode = dContactApprox1;
        contact[k].surface.mu = 0.6;
        dJointAttach(spragJointCreateContact(logs->sprag, logs->group, &contact[k]), dGeomGetBody(a), dGeomGetBody(b));
    }
}

static dBodyID addLog(Logs *logs, double x, double z, double size)
{
    dMass mass;
    dMatrix3 lies;
    const dBodyID body = dBodyCreate(logs->world);
    const dGeomID geom = dCreateCylinder(logs->space, size, 1);
    dMassSetCylinderTotal(&mass, 2, 3, size, 1);
    dBodySetMass(body, &mass);
    dGeomSetBody(geom, body);
    dRFromAxisAndAngle(lies, 1, 0, 0, M_PI / 2);
    dBodySetRotation(body, lies);
    dBodySetPosition(body, x, 0, z);
    return body;
}

static void stepLogs(Logs *logs, int steps)
{
    for (int k = 0; k < steps; ++k) {
        dJointGroupEmpty(logs->group);
        dSpaceCollide(logs->space, logs, onNear);
        assert_int_equal(spragWorldStep(logs->sprag, 1.0 / 60), SPRAG_OK);
        logs->work += spragWorldGetStepInfo(logs->sprag).iterations;
    }
}

static Logs openLogs(void)
{
    Logs logs = {.world = dWorldCreate(), .space = dHashSpaceCreate(NULL), .group = dJointGroupCreate(0)};
    dWorldSetGravity(logs.world, 0, 0, -9.81);
    dCreatePlane(logs.space, 0, 0, 1, 0);
    assert_int_equal(spragWorldAttach(logs.world, NULL, &logs.sprag), SPRAG_OK);
    return logs;
}

static void closeLogs(Logs *logs)
{
    spragWorldDetach(logs->sprag);
    dJointGroupDestroy(logs->group);
    dSpaceDestroy(logs->space);
    dWorldDestroy(logs->world);
}

/* One log on two that stand still: it rests on both ends of both.  (Of each pair the collider names one point.) */
static void aLogRestsOnTwo(void **state)
{
    (void)state;
    Logs logs = openLogs();
    const double size = 0.2, apart = 0.45, top = size + sqrt(4 * size * size - apart * apart / 4);
    for (int k = 0; k < 2; ++k)
        dBodySetKinematic(addLog(&logs, (k - 0.5) * apart, size + 1e-3, size));
    const dBodyID log = addLog(&logs, 0, top, size);
    stepLogs(&logs, 60);
    for (int k = 0; k < 60; ++k) {
        const spragContact *contact;
        stepLogs(&logs, 1);
        assert_int_equal(spragWorldGetContacts(logs.sprag, &contact), 4);
        for (int c = 0; c < 4; ++c) {
            CHECK_NEAR(fabs(contact[c].position[1]), 0.5, 1e-4);
            CHECK_NEAR(contact[c].normal[1], 0, 1e-6);
            assert_true(contact[c].normal_force > 0);
        }
        CHECK_NEAR(spragNorm3((const double[3]){dBodyGetLinearVel(log)[0], dBodyGetLinearVel(log)[1],
                                                dBodyGetLinearVel(log)[2]}),
                   0, 1e-6);
    }
    closeLogs(&logs);
}

/* One that lies across two stays there too.  (The normal that is named leaned by 7e-5, and it rolled away.  By as
 * little as they then overlap the collider names nothing, and it fell by 3 mm, at 0.06 m/s, once or twice a second.) */
static void aLogAcrossTwoStays(void **state)
{
    (void)state;
    for (int capsule = 0; capsule < 2; ++capsule) {
        Logs logs = openLogs();
        const double size = 0.2;
        dMatrix3 across;
        for (int k = 0; k < 2; ++k)
            dBodySetKinematic(addLog(&logs, 0.6 * (k - 0.5), size + 1e-3, size));
        const dBodyID log = addLog(&logs, 0, 3 * size, size);
        dRFromAxisAndAngle(across, 0, 1, 0, M_PI / 2);
        dBodySetRotation(log, across);
        if (capsule) {
            dGeomDestroy(dBodyGetFirstGeom(log));
            dGeomSetBody(dCreateCapsule(logs.space, size, 1), log);
        }
        stepLogs(&logs, 120);
        for (int k = 0; k < 240; ++k) {
            stepLogs(&logs, 1);
            CHECK_NEAR(dBodyGetLinearVel(log)[1], 0, 1e-6);
            CHECK_NEAR(dBodyGetLinearVel(log)[2], 0, 1e-6);
        }
        closeLogs(&logs);
    }
}

/* A program that has none of the overlap pushed out finds it there later. */
static void aDepthOfTheProgramsOwnStays(void **state)
{
    (void)state;
    for (int across = 0; across < 2; ++across) {
        Logs logs = openLogs();
        const double size = 0.2, deep = 0.005, apart = 0.45,
                     rise = across ? 2 * size : sqrt(4 * size * size - apart * apart / 4);
        dMatrix3 turned;
        for (int k = 0; k < 2; ++k)
            dBodySetKinematic(addLog(&logs, (k - 0.5) * apart, size + 0.01, size));
        const dBodyID log = addLog(&logs, 0, size + 0.01 + rise - deep, size);
        dRFromAxisAndAngle(turned, 0, 1, 0, M_PI / 2);
        if (across)
            dBodySetRotation(log, turned);
        logs.part = 1;
        stepLogs(&logs, 60);
        CHECK_NEAR(dBodyGetPosition(log)[2], size + 0.01 + rise - deep, 1e-4);
        closeLogs(&logs);
    }
}

/* Heaps of six, between two crates that hold them.  (They took 2 ms a step, ten times as long.) */
static void heapsOfLogsAreCheap(void **state)
{
    (void)state;
    enum { ROWS = 3, STEPS = 300, HEAPS = 4 };
    double work = 0;
    for (int heap = 0; heap < HEAPS; ++heap) {
        Logs logs = openLogs();
        const double size = 0.2, apart = 0.401 + 0.003 * heap, rise = sqrt(4 * size * size - apart * apart / 4) + 5e-3;
        for (int row = 0; row < ROWS; ++row)
            for (int i = 0; i < ROWS - row; ++i)
                addLog(&logs, apart * (i + 0.5 * row), size + rise * row, size);
        for (int side = 0; side < 2; ++side) {
            dMass mass;
            const dBodyID crate = dBodyCreate(logs.world);
            dMassSetBoxTotal(&mass, 1, 0.2, 1, 0.4);
            dBodySetMass(crate, &mass);
            dGeomSetBody(dCreateBox(logs.space, 0.2, 1, 0.4), crate);
            dBodySetPosition(crate, side ? apart * (ROWS - 1) + 0.31 : -0.31, 0, 0.2);
        }
        stepLogs(&logs, STEPS);
        work += logs.work;
        closeLogs(&logs);
    }
    assert_true(work <= 25 * HEAPS * STEPS);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(touchAtBothEnds),
        cmocka_unit_test(endsTouchWithTheirRim),
        cmocka_unit_test(theColliderSeesSo),
        cmocka_unit_test(capsulesTouchWithBalls),
        cmocka_unit_test(axesCross),
        cmocka_unit_test(whatDoesNotLieBesideIsLeft),
        cmocka_unit_test(aLogRestsOnTwo),
        cmocka_unit_test(aLogAcrossTwoStays),
        cmocka_unit_test(aDepthOfTheProgramsOwnStays),
        cmocka_unit_test(heapsOfLogsAreCheap),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
