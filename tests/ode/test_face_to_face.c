/* Hulls on faces of hulls and boxes: where they touch; and in a world, where they rest. */
#include "support/check.h"
#include "support/hull.h"

#include <sprag/sprag_ode.h>

#include "ode/shape/face_to_face.h"
#include "ode/shape/facet.h"

/* ---------------------------------------------------------------- where they touch */

/* A hull, turned about the axis (x, y, 0) by that angle. */
static spragPlacedHull place(const Hull *hull, double x, double y, double angle, const double centre[3])
{
    spragPlacedHull placed = {.hull = {hull->planes, hull->points, (int)hull->plane_count, (int)hull->point_count}};
    dMatrix3 R;
    dRFromAxisAndAngle(R, (dReal)x, (dReal)y, 0, (dReal)angle);
    for (int i = 0; i < 3; ++i) {
        placed.centre[i] = centre[i];
        for (int k = 0; k < 3; ++k)
            placed.axis[i][k] = R[4 * k + i];
    }
    return placed;
}

/* Of an upper one on a lower one, either of which is the first; the collider names the vertical and this depth. */
static int find(const spragPlacedHull *upper, const spragPlacedHull *lower, int swapped, double depth,
                spragBesidePoint point[SPRAG_FACE_TO_FACE_MOST])
{
    const spragPlacedHull hull[2] = {swapped ? *lower : *upper, swapped ? *upper : *lower};
    const spragBesidePoint named = {.normal = {0, 0, swapped ? -1 : 1}, .depth = depth};
    return spragFaceToFaceFind(hull, &named, fmin(spragHullLength(&hull[0].hull), spragHullLength(&hull[1].hull)),
                               point);
}

static void facesTouchAtTheCornersOfWhatTheyShare(void **state)
{
    (void)state;
    const Hull slab = hullBlock(1, 2, 3), block = hullBlock(0.5, 0.5, 0.5);
    const double low[3] = {5, 6, 7}, high[3] = {5.75, 6, 10.499};
    const spragPlacedHull lower = place(&slab, 1, 0, 0, low), upper = place(&block, 1, 0, 0, high);
    for (int swapped = 0; swapped < 2; ++swapped) {
        spragBesidePoint point[SPRAG_FACE_TO_FACE_MOST];
        int seen = 0;
        assert_int_equal(find(&upper, &lower, swapped, 0.001, point), 4);
        for (int k = 0; k < 4; ++k) { /* from x 5.25 to 6, y 5.5 to 6.5 */
            CHECK_NEAR(fabs(point[k].x[0] - 5.625), 0.375, 1e-6);
            CHECK_NEAR(fabs(point[k].x[1] - 6), 0.5, 1e-6);
            CHECK_NEAR(point[k].x[2], 9.9995, 1e-6);
            CHECK_NEAR(point[k].depth, 0.001, 1e-6);
            CHECK_NEAR(point[k].normal[2], swapped ? -1 : 1, 1e-6);
            seen |= 1 << (2 * (point[k].x[0] > 5.625) + (point[k].x[1] > 6));
        }
        assert_int_equal(seen, 15);
        assert_int_equal(find(&upper, &lower, swapped, 0.1, point), 0); /* it is of a program's own */
    }
}

/* Turned by 0.001 the lower edge of a block is deeper, and the other one above. */
static void whatLeansTouchesWithItsEdge(void **state)
{
    (void)state;
    const Hull slab = hullBlock(1, 2, 3), block = hullBlock(0.5, 0.5, 0.5);
    const double angles[2] = {0.001, 0.785}, low[3] = {0, 0, 0};
    for (int a = 0; a < 2; ++a)
        for (int swapped = 0; swapped < 2; ++swapped) {
            const double angle = angles[a], high[3] = {0, 0, 3 + 0.5 * (cos(angle) + sin(angle)) - 1e-4},
                         y = -0.5 * (cos(angle) - sin(angle)); /* of the lower edge */
            const spragPlacedHull lower = place(&slab, 1, 0, 0, low), upper = place(&block, 1, 0, -angle, high);
            spragBesidePoint point[SPRAG_FACE_TO_FACE_MOST];
            double sum = 0;
            const int count = find(&upper, &lower, swapped, 1e-4, point);
            assert_in_range(count, 2, SPRAG_FACE_TO_FACE_MOST);
            for (int k = 0; k < count; ++k) {
                CHECK_NEAR(fabs(point[k].x[0]), 0.5, 1e-6);
                CHECK_NEAR(fabs(point[k].x[1]), fabs(y), 2e-3);
                CHECK_NEAR(point[k].depth, 1e-4, 2e-6);
                sum += point[k].x[0];
            }
            CHECK_NEAR(sum, 0, 1e-6);
        }
}

/* The end of a prism of many sides: few corners, about its middle. */
static void roundEndsTouchAtFewCorners(void **state)
{
    (void)state;
    const Hull slab = hullBlock(1, 2, 3), prism = hullPrism(24, 0.5, 0.1);
    const double low[3] = {0, 0, 0}, high[3] = {0, 0, 3.0999};
    const spragPlacedHull lower = place(&slab, 1, 0, 0, low), upper = place(&prism, 1, 0, 0, high);
    spragBesidePoint point[SPRAG_FACE_TO_FACE_MOST];
    double sum[2] = {0, 0};
    assert_int_equal(find(&upper, &lower, 0, 1e-4, point), SPRAG_FACE_TO_FACE_MOST);
    for (int k = 0; k < SPRAG_FACE_TO_FACE_MOST; ++k) {
        CHECK_NEAR(hypot(point[k].x[0], point[k].x[1]), 0.5, 1e-6);
        for (int i = 0; i < 2; ++i)
            sum[i] += point[k].x[i] / SPRAG_FACE_TO_FACE_MOST;
    }
    assert_true(hypot(sum[0], sum[1]) < 0.2);
}

static double deepestOf(const spragBesidePoint *point, int count)
{
    double most = -1;
    for (int k = 0; k < count; ++k)
        most = fmax(most, point[k].depth);
    return most;
}

/* (Of a leaning prism the lowest corner was left out, as it adds least: up to a third of the depth.) */
static void theLowestCornerIsOneOfThem(void **state)
{
    (void)state;
    const Hull slab = hullBlock(2, 2, 0.5), prism = hullPrism(12, 0.15, 0.1);
    const double low[3] = {0, 0, -0.5};
    for (int k = 0; k < 50; ++k) {
        const double around = 0.13 * k, tilt = 0.01, depth = 1e-3, middle[3] = {0, 0, 0};
        spragPlacedHull upper = place(&prism, cos(around), sin(around), tilt, middle);
        const spragPlacedHull lower = place(&slab, 1, 0, 0, low);
        spragBesidePoint point[SPRAG_FACE_TO_FACE_MOST];
        double lowest = 0;
        for (unsigned i = 0; i < prism.point_count; ++i) {
            const dReal *x = prism.points + 3 * i;
            double z = 0;
            for (int j = 0; j < 3; ++j)
                z += upper.axis[j][2] * (double)x[j];
            lowest = fmin(lowest, z);
        }
        upper.centre[2] = -lowest - depth;
        CHECK_NEAR(deepestOf(point, find(&upper, &lower, 0, depth, point)), depth, 1e-6);
    }
}

/* Of this spike the face that is most against the floor is not at its lowest corner, but 26 mm above.  (That was taken,
 * and touched with 0.6 mm of the 26.7.) */
static void facesThatDoNotReachTheDepthAreNone(void **state)
{
    (void)state;
    static const double x[4][3] = {
        {0.403, -0.076, 0}, {0.241, -0.083, 0.026}, {-0.365, -0.005, 0.534}, {-0.28, 0.164, 0.784}};
    const double low[3] = {0, 0, -0.5}, depth = 0.0267, high[3] = {0, 0, -depth};
    const Hull slab = hullBlock(2, 2, 0.5);
    Hull spike = {.plane_count = 0};
    for (int k = 0; k < 4; ++k) {
        const double *a = x[(k + 1) % 4], *b = x[(k + 2) % 4], *c = x[(k + 3) % 4];
        double u[3], v[3], n[3], out = 0;
        hullPoint(&spike, x[k][0], x[k][1], x[k][2]);
        for (int i = 0; i < 3; ++i)
            u[i] = b[i] - a[i], v[i] = c[i] - a[i];
        for (int i = 0; i < 3; ++i)
            n[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
        for (int i = 0; i < 3; ++i)
            out += n[i] * (a[i] - x[k][i]);
        const double size = copysign(sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), out);
        hullPlane(&spike, n[0] / size, n[1] / size, n[2] / size, (n[0] * a[0] + n[1] * a[1] + n[2] * a[2]) / size);
    }
    const spragPlacedHull lower = place(&slab, 1, 0, 0, low), upper = place(&spike, 1, 0, 0, high);
    for (int swapped = 0; swapped < 2; ++swapped) {
        spragBesidePoint point[SPRAG_FACE_TO_FACE_MOST];
        const int count = find(&upper, &lower, swapped, depth, point);
        assert_true(count == 0 || deepestOf(point, count) > 0.99 * depth);
    }
}

/* ---------------------------------------------------------------- in a world */

typedef struct World {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    spragWorldID sprag;
    double mu;
} World;

static void onNear(void *data, dGeomID a, dGeomID b)
{
    enum { MOST = 8 };
    World *world = data;
    dContact contact[MOST];
    const int count = dCollide(a, b, MOST, &contact[0].geom, sizeof *contact);
    for (int k = 0; k < count; ++k) {
        memset(&contact[k].surface, 0, sizeof contact[k].surface);
        contact[k].surface.mode = dContactApprox1;
        contact[k].surface.mu = (dReal)world->mu;
        dJointAttach(spragJointCreateContact(world->sprag, world->group, &contact[k]), dGeomGetBody(a),
                     dGeomGetBody(b));
    }
}

static World openWorld(void)
{
    World world = {.world = dWorldCreate(), .space = dHashSpaceCreate(NULL), .group = dJointGroupCreate(0), .mu = 0.6};
    dWorldSetGravity(world.world, 0, 0, (dReal)-9.81);
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

/* m/s, the greatest of the body's last second of so many. */
static double speedIn(World *world, dBodyID body, int seconds, int rate)
{
    double most = 0;
    for (int k = 0; k < seconds * rate; ++k) {
        dJointGroupEmpty(world->group);
        dSpaceCollide(world->space, world, onNear);
        assert_int_equal(spragWorldStep(world->sprag, (dReal)(1.0 / rate)), SPRAG_OK);
        const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
        for (int i = 0; i < 3 && k >= (seconds - 1) * rate; ++i)
            most = fmax(most, fmax(fabs(v[i]), 0.1 * fabs(w[i])));
    }
    return most;
}

/* Of 1 kg, with its middle at that height. */
static dBodyID addBody(World *world, dGeomID geom, double height, double tilt)
{
    const dBodyID body = dBodyCreate(world->world);
    dMass all;
    dMatrix3 turned;
    dMassSetBoxTotal(&all, 1, (dReal)0.3, (dReal)0.3, (dReal)0.2);
    dBodySetMass(body, &all);
    dGeomSetBody(geom, body);
    dRFromAxisAndAngle(turned, 1, (dReal)0.4, 0, (dReal)tilt);
    dBodySetRotation(body, turned);
    dBodySetPosition(body, (dReal)0.02, (dReal)0.03, (dReal)height);
    return body;
}

/* (A slab of twelve sides, put down askew, went on at 0.046 m/s at 240 steps a second.) */
static void slabsComeToRest(void **state)
{
    (void)state;
    const Hull slab = hullPrism(12, 0.15, 0.1), rock = hullBlock(2, 2, 0.5);
    for (int hull = 0; hull < 2; ++hull)
        for (int rate = 60; rate <= 240; rate *= 4) {
            World world = openWorld();
            const dGeomID floor = hull ? hullGeom(world.space, &rock) : dCreateBox(world.space, 4, 4, 1);
            dGeomSetPosition(floor, 0, 0, (dReal)-0.5);
            const dBodyID body = addBody(&world, hullGeom(world.space, &slab), 0.103, 0.01);
            CHECK_NEAR(speedIn(&world, body, 6, rate), 0, 1e-6);
            CHECK_NEAR(dBodyGetPosition(body)[2], 0.1, 1e-5);
            closeWorld(&world);
        }
}

/* (A block on a box of 200 kg jumped by 0.2 m/s for ever.) */
static void blocksRestOnBoxes(void **state)
{
    (void)state;
    const Hull block = hullBlock(0.15, 0.15, 0.1);
    World world = openWorld();
    dCreatePlane(world.space, 0, 0, 1, (dReal)-0.2);
    const dBodyID bearer = dBodyCreate(world.world);
    dMass heavy;
    dMassSetBoxTotal(&heavy, 200, 4, 4, (dReal)0.2);
    dBodySetMass(bearer, &heavy);
    dGeomSetBody(dCreateBox(world.space, 4, 4, (dReal)0.2), bearer);
    dBodySetPosition(bearer, 0, 0, (dReal)-0.1);
    const dBodyID body = addBody(&world, hullGeom(world.space, &block), 0.103, 0.01);
    CHECK_NEAR(speedIn(&world, body, 10, 60), 0, 1e-6);
    closeWorld(&world);
}

/* At 0.97 of the slope that friction holds, and at 1.03: there v = g t (sin - mu cos).  (They slid at up to 0.16 m/s,
 * and at 0.23 to 0.48 for 0.17.) */
static void slopesHoldByTheRightFriction(void **state)
{
    (void)state;
    const Hull slab = hullPrism(12, 0.15, 0.1), block = hullBlock(0.15, 0.15, 0.1), rock = hullBlock(2, 2, 0.5);
    for (int steep = 0; steep < 2; ++steep)
        for (int f = 0; f < 2; ++f)
            for (int load = 0; load < 2; ++load) {
                World world = openWorld();
                world.mu = 0.3;
                const double slope = atan(world.mu * (steep ? 1.03 : 0.97)), down = sin(slope), normal = cos(slope);
                const dGeomID floor = f ? hullGeom(world.space, &rock) : dCreateBox(world.space, 4, 4, 1);
                dGeomSetPosition(floor, 0, 0, (dReal)-0.5);
                const dBodyID body = addBody(&world, hullGeom(world.space, load ? &slab : &block), 0.1005, 0);
                speedIn(&world, body, 1, 60);
                dWorldSetGravity(world.world, 0, (dReal)(-9.81 * down), (dReal)(-9.81 * normal));
                speedIn(&world, body, 2, 60);
                CHECK_NEAR(-dBodyGetLinearVel(body)[1], steep ? 2 * 9.81 * (down - world.mu * normal) : 0, 1e-3);
                closeWorld(&world);
            }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facesTouchAtTheCornersOfWhatTheyShare),
        cmocka_unit_test(whatLeansTouchesWithItsEdge),
        cmocka_unit_test(roundEndsTouchAtFewCorners),
        cmocka_unit_test(theLowestCornerIsOneOfThem),
        cmocka_unit_test(facesThatDoNotReachTheDepthAreNone),
        cmocka_unit_test(slabsComeToRest),
        cmocka_unit_test(blocksRestOnBoxes),
        cmocka_unit_test(slopesHoldByTheRightFriction),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
