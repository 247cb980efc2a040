/* Capsules, cylinders and balls on hulls: where they touch; and in a world, where they rest, hold and roll as on boxes.
 * */
#include "support/check.h"
#include "support/hull.h"

#include <sprag/sprag_ode.h>

#include "linalg/vec3.h"
#include "ode/shape/on_hull.h"

static const double radius = 0.1, length = 0.4; /* m */

/* ---------------------------------------------------------------- where they touch */

static const double ahead[3] = {1, 0, 0}, upward[3] = {0, 0, 1};

/* On the top, at height 3, of a 2 x 4 x 6 block; the collider names this depth. */
static int findOnBlock(const spragBesidePipe *pipe, const double normal[3], double depth, spragBesidePoint *point)
{
    const Hull block = hullBlock(1, 2, 3);
    const spragHull hull = {block.planes, block.points, (int)block.plane_count, (int)block.point_count};
    spragBesidePoint named = {.depth = depth};
    memcpy(named.normal, normal, sizeof named.normal);
    return spragOnHullFind(&hull, pipe, ahead, &named, point);
}

static void bothEndsTouch(void **state)
{
    (void)state;
    for (int capsule = 0; capsule < 2; ++capsule)
        for (int end = -1; end <= 1; ++end) {
            spragBesidePoint point[SPRAG_ON_HULL_MOST];
            const spragBesidePipe pipe = {
                .middle = {0.2, 2.0 * end, 3 + radius - 1e-4}, /* half of it beyond the edge */
                .axis = {0, 1, 0},
                .half = length / 2,
                .radius = radius,
                .is_capsule = capsule};
            assert_int_equal(findOnBlock(&pipe, upward, 1.00001e-4, point), 2);
            for (int k = 0; k < 2; ++k) {
                CHECK_NEAR(point[k].depth, 1e-4, 1e-14);
                CHECK_NEAR(point[k].normal[2], 1, 1e-14);
                CHECK_NEAR(point[k].x[0], 0.2, 1e-14);
                CHECK_NEAR(point[k].x[1], fmin(fmax(2.0 * end + (k ? 0.5 : -0.5) * length, -2), 2), 1e-8);
                CHECK_NEAR(point[k].x[2], 3 - 0.5e-4, 1e-14);
            }
        }
}

/* Tilted by 1e-3: with the lower end, at its lowest point. */
static void theLowerEndTouches(void **state)
{
    (void)state;
    const double tilt = 1e-3;
    for (int capsule = 0; capsule < 2; ++capsule) {
        spragBesidePoint point[SPRAG_ON_HULL_MOST];
        const double lowest = 0.5 * length * sin(tilt) + radius * (capsule ? 1 : cos(tilt));
        const spragBesidePipe pipe = {.middle = {0, 0, 3 + lowest - 1e-5},
                                      .axis = {0, cos(tilt), sin(tilt)},
                                      .half = length / 2,
                                      .radius = radius,
                                      .is_capsule = capsule};
        assert_int_equal(findOnBlock(&pipe, upward, 1e-5, point), 1);
        CHECK_NEAR(point[0].depth, 1e-5, 1e-14);
        CHECK_NEAR(point[0].x[1], -0.5 * length * cos(tilt) + (capsule ? 0 : radius * sin(tilt)), 1e-8);
    }
}

/* All of the rim, or half, or the corners of a face that lies within the end. */
static void endsTouchWithTheirRim(void **state)
{
    (void)state;
    const spragBesidePipe pipe = {
        .middle = {0, 0, 3.2 - 1e-5}, .axis = {0, 0, -1}, .half = length / 2, .radius = radius};
    spragBesidePipe half = pipe, wide = pipe, tilted = pipe;
    spragBesidePoint point[SPRAG_ON_HULL_MOST];
    assert_int_equal(findOnBlock(&pipe, upward, 1e-5, point), 8);
    for (int k = 0; k < 8; ++k) {
        CHECK_NEAR(spragNorm2(point[k].x), radius, 1e-12);
        CHECK_NEAR(point[k].depth, 1e-5, 1e-14);
    }
    half.middle[0] = 1; /* on the edge: no point lies beyond it, and two are on it */
    const int count = findOnBlock(&half, upward, 1e-5, point);
    int on_edge = 0;
    for (int k = 0; k < count; ++k) {
        assert_true(point[k].x[0] <= 1 + 1e-9 &&
                    spragNorm2((const double[2]){point[k].x[0] - 1, point[k].x[1]}) < 0.101);
        on_edge += point[k].x[0] > 1 - 1e-9;
    }
    assert_true(count == 5 && on_edge == 2);
    wide.radius = 4;
    assert_int_equal(findOnBlock(&wide, upward, 1e-5, point), 4);
    for (int k = 0; k < 4; ++k) {
        CHECK_NEAR(fabs(point[k].x[0]), 1, 1e-12);
        CHECK_NEAR(fabs(point[k].x[1]), 2, 1e-12);
    }
    const double tilt = 0.01; /* about y: the lowest point alone, exactly */
    tilted.axis[0] = sin(tilt), tilted.axis[2] = -cos(tilt);
    tilted.middle[2] = 3 + 0.5 * length * cos(tilt) + radius * sin(tilt) - 1e-5;
    assert_int_equal(findOnBlock(&tilted, upward, 1e-5, point), 1);
    CHECK_NEAR(point[0].depth, 1e-5 / cos(tilt) / cos(tilt), 1e-8);
    CHECK_NEAR(point[0].normal[2], 1, 1e-14);
}

/* A block that stands on a barrel with its lower edge: the normal is the barrel's. */
static void edgesStandOnEnds(void **state)
{
    (void)state;
    const double tilt = 0.01;
    spragBesidePoint point[SPRAG_ON_HULL_MOST];
    spragBesidePipe pipe = {.axis = {sin(tilt), 0, cos(tilt)}, .half = length / 2, .radius = 4};
    for (int i = 0; i < 3; ++i) /* its end is 1e-5 below the edge x = 1, z = 3 */
        pipe.middle[i] = (i == 0) + 3 * (i == 2) + (0.5 * length - 1e-5) * pipe.axis[i];
    pipe.middle[0] -= cos(tilt), pipe.middle[2] += sin(tilt); /* along the end */
    assert_int_equal(findOnBlock(&pipe, upward, 1e-5, point), 2);
    for (int k = 0; k < 2; ++k) {
        CHECK_NEAR(point[k].x[0], 1, 1e-4);
        CHECK_NEAR(fabs(point[k].x[1]), 2, 1e-12);
        CHECK_NEAR(spragDot3(point[k].normal, pipe.axis), 1, 1e-14);
    }
}

static void ballsTouchBelowTheirMiddle(void **state)
{
    (void)state;
    spragBesidePoint point[SPRAG_ON_HULL_MOST];
    spragBesidePipe ball = {.middle = {0.3, 0.4, 3 + radius - 1e-6}, .axis = {0.6, 0, 0.8}, .is_capsule = 1};
    ball.radius = radius;
    assert_int_equal(findOnBlock(&ball, (const double[3]){0.01, 0, 1}, 1e-6, point), 1);
    CHECK_NEAR(point[0].x[0], 0.3, 1e-14);
    CHECK_NEAR(point[0].x[1], 0.4, 1e-14);
    CHECK_NEAR(point[0].normal[0], 0, 1e-14);
    CHECK_NEAR(point[0].depth, 1e-6, 1e-14);
}

/* Across the edge x = 1, z = 3, along it, and a ball at the corner. */
static void edgesTouchWhereTheyAreNearest(void **state)
{
    (void)state;
    spragBesidePoint point[SPRAG_ON_HULL_MOST];
    const double s = sqrt(0.5), out[3] = {s, 0, s}, off[3] = {sqrt(1.0 / 3), sqrt(1.0 / 3), sqrt(1.0 / 3)};
    for (int capsule = 0; capsule < 2; ++capsule) {
        spragBesidePipe pipe = {.half = length / 2, .radius = radius, .is_capsule = capsule, .axis = {s, 0, -s}};
        for (int i = 0; i < 3; ++i)
            pipe.middle[i] = (i == 0) + 0.5 * (i == 1) + 3 * (i == 2) + (radius - 1e-5) * out[i];
        assert_int_equal(findOnBlock(&pipe, out, 1e-5, point), 1);
        CHECK_NEAR(spragDot3(point[0].normal, out), 1, 1e-12);
        CHECK_NEAR(point[0].depth, 1e-5, 1e-12);
        CHECK_NEAR(point[0].x[1], 0.5, 1e-12);
        memcpy(pipe.axis, (const double[3]){0, 1, 0}, sizeof pipe.axis);
        pipe.middle[1] = 1.9;
        assert_int_equal(findOnBlock(&pipe, out, 1e-5, point), 2);
        for (int k = 0; k < 2; ++k) {
            CHECK_NEAR(spragDot3(point[k].normal, out), 1, 1e-12);
            CHECK_NEAR(point[k].x[1], k ? 2 : 1.9 - 0.5 * length, 1e-12);
        }
    }
    spragBesidePipe ball = {.axis = {0, 0, 1}, .radius = radius, .is_capsule = 1};
    for (int i = 0; i < 3; ++i)
        ball.middle[i] = i + 1 + (radius - 1e-5) * off[i];
    assert_int_equal(findOnBlock(&ball, off, 1e-5, point), 1);
    CHECK_NEAR(spragDot3(point[0].normal, off), 1, 1e-12);
    CHECK_NEAR(point[0].depth, 1e-5, 1e-12);
}

/* Another depth, another normal, and what is not there. */
static void whatIsNotTheCollidersIsLeft(void **state)
{
    (void)state;
    spragBesidePoint point[SPRAG_ON_HULL_MOST];
    spragBesidePipe pipe = {.middle = {0, 0, 3 + radius - 1e-4}, .axis = {0, 1, 0}, .half = 0.2, .radius = radius};
    assert_int_equal(findOnBlock(&pipe, upward, 1e-4, point), 2);
    assert_int_equal(findOnBlock(&pipe, upward, 1e-3, point), 0);
    assert_int_equal(findOnBlock(&pipe, (const double[3]){0, sqrt(0.5), sqrt(0.5)}, 1e-4, point), 0);
    assert_int_equal(findOnBlock(&pipe, (const double[3]){0, 0, -1}, 1e-4, point), 0);
    pipe.middle[0] = 1.5;
    assert_int_equal(findOnBlock(&pipe, upward, 1e-4, point), 0);
}

/* ---------------------------------------------------------------- in a world */

typedef struct World {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    spragWorldID sprag;
    double h, mu, part; /* s; part: of a contact's depth that it loses */
} World;

static void onNear(void *data, dGeomID a, dGeomID b)
{
    enum { MOST = 8 };
    World *world = data;
    dContact contact[MOST];
    if (dGeomGetBody(a) == dGeomGetBody(b))
        return;
    const int count = dCollide(a, b, MOST, &contact[0].geom, sizeof *contact);
    for (int k = 0; k < count; ++k) {
        memset(&contact[k].surface, 0, sizeof contact[k].surface);
        contact[k].geom.depth *= (dReal)(1 - world->part);
        contact[k].surface.mode = dContactApprox1;
        contact[k].surface.mu = (dReal)world->mu;
        dJointAttach(spragJointCreateContact(world->sprag, world->group, &contact[k]), dGeomGetBody(a),
                     dGeomGetBody(b));
    }
}

static World openWorld(void)
{
    World world = {.world = dWorldCreate(), .space = dHashSpaceCreate(NULL), .group = dJointGroupCreate(0)};
    world.h = 1.0 / 60, world.mu = 0.6;
    dWorldSetGravity(world.world, 0, 0, -9.81);
    assert_int_equal(spragWorldAttach(world.world, NULL, &world.sprag), SPRAG_OK);
    return world;
}

static void closeWorld(World *world)
{
    spragWorldDetach(world->sprag);
    dJointGroupDestroy(world->group);
    dSpaceDestroy(world->space);
    dWorldDestroy(world->world);
}

static void step(World *world, int steps)
{
    for (int k = 0; k < steps; ++k) {
        dJointGroupEmpty(world->group);
        dSpaceCollide(world->space, world, onNear);
        assert_int_equal(spragWorldStep(world->sprag, world->h), SPRAG_OK);
    }
}

/* m/s, the greatest velocity of the body in so many steps, its turning times the radius. */
static double speedIn(World *world, dBodyID body, int steps)
{
    double most = 0;
    for (int k = 0; k < steps; ++k) {
        step(world, 1);
        const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
        for (int i = 0; i < 3; ++i)
            most = fmax(most, fmax(fabs(v[i]), radius * fabs(w[i])));
    }
    return most;
}

static int contactsOf(const World *world)
{
    const spragContact *contact;
    return spragWorldGetContacts(world->sprag, &contact);
}

typedef enum Kind { CAPSULE, LYING, STANDING, BALL, KINDS } Kind;

/* Of 1 kg, with its lowest point at this height. */
static dBodyID addRound(World *world, Kind kind, double height, double tilt)
{
    const dBodyID body = dBodyCreate(world->world);
    dMass mass;
    dMatrix3 turned;
    if (kind == CAPSULE)
        dMassSetCapsuleTotal(&mass, 1, 3, (dReal)radius, (dReal)length);
    else if (kind == BALL)
        dMassSetSphereTotal(&mass, 1, (dReal)radius);
    else
        dMassSetCylinderTotal(&mass, 1, 3, (dReal)radius, (dReal)length);
    dBodySetMass(body, &mass);
    dGeomSetBody(kind == CAPSULE ? dCreateCapsule(world->space, (dReal)radius, (dReal)length)
                 : kind == BALL  ? dCreateSphere(world->space, (dReal)radius)
                                 : dCreateCylinder(world->space, (dReal)radius, (dReal)length),
                 body);
    dRFromAxisAndAngle(turned, 1, 0, 0, (dReal)((kind == CAPSULE || kind == LYING ? M_PI / 2 : 0) + tilt));
    dBodySetRotation(body, turned);
    dBodySetPosition(body, (dReal)0.02, (dReal)0.03, (dReal)(height + (kind == STANDING ? length / 2 : radius)));
    return body;
}

typedef enum Bearer { OF_THE_WORLD, KINEMATIC, BEARERS } Bearer;

/* With its top at height 0, of half that thickness. */
static void addFloor(World *world, const Hull *hull, double half, Bearer bearer)
{
    const dGeomID geom = hullGeom(world->space, hull);
    if (bearer == KINEMATIC) {
        const dBodyID body = dBodyCreate(world->world);
        dBodySetKinematic(body);
        dGeomSetBody(geom, body);
    }
    dGeomSetPosition(geom, 0, 0, (dReal)-half);
}

/* (They rocked at 0.07 to 0.16 m/s, 3 to 11 mm deep, and the ball hopped.) */
static void theyRestOnFloors(void **state)
{
    (void)state;
    const Hull floor[2] = {hullBlock(2, 2, 0.5), hullPrism(12, 2, 0.5)};
    for (int f = 0; f < 2; ++f)
        for (int bearer = 0; bearer < BEARERS; ++bearer)
            for (int kind = 0; kind < KINDS; ++kind) {
                World world = openWorld();
                addFloor(&world, &floor[f], 0.5, (Bearer)bearer);
                const dBodyID body = addRound(&world, (Kind)kind, 0.003, 0.01);
                step(&world, 240);
                CHECK_NEAR(speedIn(&world, body, 60), 0, 1e-6);
                CHECK_NEAR(dBodyGetPosition(body)[2], kind == STANDING ? length / 2 : radius, 3e-6);
                assert_int_equal(contactsOf(&world), kind == STANDING ? 8 : kind == BALL ? 1 : 2);
                closeWorld(&world);
            }
}

/* (They slid down at 0.05 to 0.2 m/s where they must hold.) */
static void slopesHoldByTheRightFriction(void **state)
{
    (void)state;
    const Hull floor = hullBlock(2, 2, 0.5);
    const double mu = 0.3;
    for (int kind = 0; kind < BALL; ++kind)
        for (int slides = 0; slides < 2; ++slides) {
            World world = openWorld();
            const double angle = atan(mu * (slides ? 1.03 : 0.97)), seconds = 1;
            world.mu = mu;
            addFloor(&world, &floor, 0.5, OF_THE_WORLD);
            const dBodyID body = addRound(&world, (Kind)kind, 0, 0);
            step(&world, 60);
            dWorldSetGravity(world.world, 0, (dReal)(-9.81 * sin(angle)), (dReal)(-9.81 * cos(angle)));
            step(&world, (int)(seconds / world.h + 0.5));
            CHECK_NEAR(-dBodyGetLinearVel(body)[1], slides ? 9.81 * seconds * (sin(angle) - mu * cos(angle)) : 0, 1e-6);
            closeWorld(&world);
        }
}

/* (They went up and down at 0.06 to 0.16 m/s.) */
static void theyRollWithoutASound(void **state)
{
    (void)state;
    const Hull floor = hullBlock(2, 2, 0.5);
    static const Kind kinds[] = {CAPSULE, LYING, BALL};
    for (int k = 0; k < 3; ++k) {
        World world = openWorld();
        addFloor(&world, &floor, 0.5, OF_THE_WORLD);
        const dBodyID body = addRound(&world, kinds[k], 0, 0);
        step(&world, 60);
        dBodySetLinearVel(body, 0.5, 0, 0);
        dBodySetAngularVel(body, 0, (dReal)(0.5 / radius), 0);
        for (int i = 0; i < 120; ++i) {
            step(&world, 1);
            CHECK_NEAR(dBodyGetLinearVel(body)[0], 0.5, 1e-6);
            CHECK_NEAR(dBodyGetLinearVel(body)[2], 0, 1e-4);
        }
        closeWorld(&world);
    }
}

/* A block and a twelve-sided slab, on two capsules, two cylinders, and three columns.  (They swayed at 0.2 m/s.) */
static void hullsRestOnThem(void **state)
{
    (void)state;
    const Hull load[2] = {hullBlock(0.5, 0.5, 0.1), hullPrism(12, 0.5, 0.1)};
    for (int l = 0; l < 2; ++l)
        for (int kind = 0; kind < BALL; ++kind) {
            World world = openWorld();
            dMass mass;
            const int columns = kind == STANDING;
            for (int k = 0; k < (columns ? 3 : 2); ++k) {
                const dBodyID body = addRound(&world, (Kind)kind, columns ? -length : -2 * radius, 0);
                const dReal z = dBodyGetPosition(body)[2];
                dBodySetPosition(body, (dReal)(columns ? 0.3 * cos(2.1 * k) : 0.5 * (k - 0.5)),
                                 (dReal)(columns ? 0.3 * sin(2.1 * k) : 0), z);
                dBodySetKinematic(body);
            }
            const dBodyID body = dBodyCreate(world.world);
            dMassSetBoxTotal(&mass, 5, 1, 1, (dReal)0.2);
            dBodySetMass(body, &mass);
            dGeomSetBody(hullGeom(world.space, &load[l]), body);
            dBodySetPosition(body, (dReal)0.01, (dReal)0.02, (dReal)0.104);
            step(&world, 240);
            CHECK_NEAR(speedIn(&world, body, 60), 0, 1e-6);
            assert_int_equal(contactsOf(&world), columns ? 24 : 4);
            closeWorld(&world);
        }
}

/* Across two ridges, askew.  (They rocked at 0.18 m/s, and slid down.) */
static void theyRestOnRidges(void **state)
{
    (void)state;
    const Hull block = hullBlock(0.1, 1, 0.1);
    for (int kind = 0; kind < STANDING; ++kind) {
        World world = openWorld();
        dMatrix3 turned;
        for (int k = 0; k < 2; ++k) {
            const dGeomID geom = hullGeom(world.space, &block);
            dRFromAxisAndAngle(turned, 0, 1, 0, (dReal)(M_PI / 4));
            dGeomSetRotation(geom, turned);
            dGeomSetPosition(geom, (dReal)(0.25 * (k - 0.5)), 0, (dReal)(-0.1 * sqrt(2)));
        }
        const dBodyID body = addRound(&world, (Kind)kind, 0.003, 0);
        dRFromZAxis(turned, (dReal)cos(0.3), (dReal)sin(0.3), 0);
        dBodySetRotation(body, turned);
        dBodySetPosition(body, 0, 0, (dReal)(radius + 0.003));
        step(&world, 240);
        CHECK_NEAR(speedIn(&world, body, 60), 0, 1e-6);
        assert_int_equal(contactsOf(&world), 2);
        closeWorld(&world);
    }
}

/* A box on a hull of the world, of which the collider names one corner.  (It rocked at 0.23 m/s, 15 mm deep.) */
static void boxesRestOnHullsOfTheWorld(void **state)
{
    (void)state;
    const Hull floor = hullBlock(2, 2, 0.5);
    World world = openWorld();
    dMass mass;
    addFloor(&world, &floor, 0.5, OF_THE_WORLD);
    const dBodyID body = dBodyCreate(world.world);
    dMassSetBoxTotal(&mass, 1, (dReal)0.3, (dReal)0.3, (dReal)0.2);
    dBodySetMass(body, &mass);
    dGeomSetBody(dCreateBox(world.space, (dReal)0.3, (dReal)0.3, (dReal)0.2), body);
    dBodySetPosition(body, (dReal)0.02, (dReal)0.03, (dReal)0.104);
    step(&world, 300);
    CHECK_NEAR(speedIn(&world, body, 60), 0, 1e-6);
    CHECK_NEAR(dBodyGetPosition(body)[2], 0.1, 1e-4);
    closeWorld(&world);
}

/* A hull whose arrays the program changes, and one of planes that are none: with the faces that there are now. */
static void hullsMayChange(void **state)
{
    (void)state;
    const Hull low = hullBlock(2, 2, 0.5), high = hullPrism(12, 2, 0.6);
    Hull wrong = high;
    for (unsigned k = 0; k < 4 * wrong.plane_count; ++k)
        wrong.planes[k] = (dReal)(k % 3 == 0 ? NAN : 1e30);
    World world = openWorld();
    addFloor(&world, &low, 0.5, OF_THE_WORLD);
    const dGeomID floor = dSpaceGetGeom(world.space, 0);
    const dBodyID body = addRound(&world, CAPSULE, 0, 0);
    step(&world, 60);
    CHECK_NEAR(speedIn(&world, body, 60), 0, 1e-6);
    dGeomSetConvex(floor, high.planes, high.plane_count, high.points, high.point_count, high.polygons);
    dGeomSetPosition(floor, 0, 0, (dReal)-0.5); /* ODE's space does not notice else */
    dBodySetPosition(body, 0, 0, (dReal)(radius + 0.101));
    step(&world, 60);
    CHECK_NEAR(speedIn(&world, body, 60), 0, 1e-6);
    CHECK_NEAR(dBodyGetPosition(body)[2], radius + 0.1, 3e-6);
    dGeomSetConvex(floor, wrong.planes, wrong.plane_count, wrong.points, wrong.point_count, wrong.polygons);
    assert_true(speedIn(&world, body, 120) < 0.5);
    CHECK_NEAR(dBodyGetPosition(body)[2], radius + 0.1, 0.02);
    closeWorld(&world);
}

/* A program that has none of the overlap pushed out finds it there later. */
static void aDepthOfTheProgramsOwnStays(void **state)
{
    (void)state;
    const Hull floor = hullBlock(2, 2, 0.5);
    World world = openWorld();
    world.part = 1;
    addFloor(&world, &floor, 0.5, OF_THE_WORLD);
    const dBodyID body = addRound(&world, BALL, -0.005, 0);
    step(&world, 60);
    CHECK_NEAR(dBodyGetPosition(body)[2], radius - 0.005, 1e-6);
    closeWorld(&world);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bothEndsTouch),
        cmocka_unit_test(theLowerEndTouches),
        cmocka_unit_test(endsTouchWithTheirRim),
        cmocka_unit_test(edgesStandOnEnds),
        cmocka_unit_test(ballsTouchBelowTheirMiddle),
        cmocka_unit_test(edgesTouchWhereTheyAreNearest),
        cmocka_unit_test(whatIsNotTheCollidersIsLeft),
        cmocka_unit_test(theyRestOnFloors),
        cmocka_unit_test(slopesHoldByTheRightFriction),
        cmocka_unit_test(theyRollWithoutASound),
        cmocka_unit_test(hullsRestOnThem),
        cmocka_unit_test(theyRestOnRidges),
        cmocka_unit_test(boxesRestOnHullsOfTheWorld),
        cmocka_unit_test(hullsMayChange),
        cmocka_unit_test(aDepthOfTheProgramsOwnStays),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
