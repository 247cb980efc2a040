/* Overlap that stays in a large island whose answers leave something: it rests, where it stirred itself for ever. */
#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/work/slop.h"
#include "ode/world/world.h"
#include "support/check.h"
#include "support/scene_world.h"

enum { JOINTS = 900 };

typedef struct Fake {
    struct spragWorld world;
    spragIsland island;
    spragJointState joint[JOINTS];
    spragContactMemory memory[JOINTS];
    spragBodyState body[2];
    dContact contact;
    int number[JOINTS];
} Fake;

/* An island of contacts at arms of 0.1 m, in steps of 1/60 s. */
static void setFake(Fake *fake)
{
    memset(fake, 0, sizeof *fake);
    fake->world.config = spragConfigDefault();
    fake->world.memory = fake->memory;
    fake->world.snapshot.joint = fake->joint;
    fake->world.snapshot.body = fake->body;
    fake->world.snapshot.step = fake->world.snapshot.pace = 1.0 / 60;
    fake->world.snapshot.gravity[2] = -9.81;
    fake->world.snapshot.erp = 0.2;
    fake->body[0].inverse_mass = fake->body[1].inverse_mass = 1;
    for (int k = 0; k < JOINTS; ++k) {
        fake->joint[k].contact = &fake->contact;
        fake->joint[k].memory = fake->number[k] = k;
        fake->memory[k].serial[0] = 1;
        fake->memory[k].local[0][0] = 0.1;
    }
    fake->island.joint = fake->number;
    fake->island.joint_count = fake->island.contact_count = JOINTS;
    fake->island.body_count = JOINTS / 3;
}

/* In a heap as much as fifteen such answers part; it never falls.  A fall is the most at once, what is more grows by
 * and by, to a twentieth of the arms, of small bodies on a large one too. */
static void slopFollowsFromWhatIsLeft(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake);
    const double h = 1.0 / 60;
    fake.island.solve.residual = 1e-3;
    CHECK_NEAR(spragSlopNext(&fake.world, &fake.island), 15e-3 * h, 1e-15);
    fake.island.pile.flat = 1; /* less, and no more than a fall */
    CHECK_NEAR(spragSlopNext(&fake.world, &fake.island), 5e-3 * h, 1e-15);
    fake.island.pile.flat = 0;
    fake.island.before.slop = 4e-4;
    CHECK_NEAR(spragSlopNext(&fake.world, &fake.island), 4e-4, 1e-15);
    fake.island.solve.residual = 1;
    CHECK_NEAR(spragSlopNext(&fake.world, &fake.island), 0.5 * 9.81 * h * h, 1e-12);
    fake.island.contact_count = fake.island.joint_count = 41;
    CHECK_NEAR(spragSlopNext(&fake.world, &fake.island), 0.5 * 9.81 * h * h, 1e-12);
    fake.island.contact_count = fake.island.joint_count = 40; /* few: as it was, */
    CHECK_NEAR(spragSlopNext(&fake.world, &fake.island), 4e-4, 1e-15);
    fake.island.contact_count = 100, fake.island.joint_count = 101; /* and with a joint */
    CHECK_NEAR(spragSlopNext(&fake.world, &fake.island), 4e-4, 1e-15);
    fake.island.joint_count = 100, fake.island.pile.flat = 1;
    CHECK_NEAR(spragSlopNext(&fake.world, &fake.island), 4e-4, 1e-15);
    fake.island.pile.flat = 0;
    fake.island.contact_count = fake.island.joint_count = JOINTS;
    fake.island.before.slop = 2e-3;
    CHECK_NEAR(spragSlopNext(&fake.world, &fake.island), 2e-3 * (1 + h / 1.6), 1e-15);
    for (int k = 0; k < JOINTS; ++k)
        fake.memory[k].slop = 1e-3;
    CHECK_NEAR(spragSlopOf(&fake.world, &fake.island), 1e-3, 1e-15);
    for (int k = 0; k < JOINTS; ++k) {
        fake.memory[k].local[0][0] = 0.01;
        fake.memory[k].serial[1] = 2;
        fake.memory[k].local[1][0] = fake.memory[k].arm = 50;
    }
    CHECK_NEAR(spragSlopOf(&fake.world, &fake.island), 0.05 * 0.01, 1e-15);
    for (int k = 0; k < JOINTS; ++k)
        fake.joint[k].memory = -1;
    CHECK_NEAR(spragSlopOf(&fake.world, &fake.island), 0, 0);
}

/* m, what stays at once of contacts all of whose bodies have this geom. */
static double slopOfGeom(Fake *fake, dGeomID geom, dBodyID body)
{
    dGeomSetBody(geom, body);
    fake->contact.geom.g1 = fake->contact.geom.g2 = geom;
    const double slop = spragSlopNext(&fake->world, &fake->island);
    dGeomDestroy(geom);
    return slop;
}

/* Of thin bodies a tenth of half their thickness stays at once, of others half of g h^2; what is more grows all the
 * same. */
static void lessStaysAtOnceOfThinBodies(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake);
    const dWorldID world = dWorldCreate();
    const dBodyID body = fake.body[0].id = dBodyCreate(world);
    const double fall = 0.5 * 9.81 / 3600;
    fake.island.solve.residual = 1;
    CHECK_NEAR(slopOfGeom(&fake, dCreateBox(NULL, 0.2, 0.02, 0.2), body), 1e-3, 1e-15);
    CHECK_NEAR(slopOfGeom(&fake, dCreateBox(NULL, 0.2, 0.2, 0.2), body), fall, 1e-12);
    CHECK_NEAR(slopOfGeom(&fake, dCreateSphere(NULL, 0.01), body), 1e-3, 1e-15);
    CHECK_NEAR(slopOfGeom(&fake, dCreateCapsule(NULL, 0.01, 0.2), body), 1e-3, 1e-15);
    CHECK_NEAR(slopOfGeom(&fake, dCreateCylinder(NULL, 0.01, 0.2), body), 1e-3, 1e-15);
    CHECK_NEAR(slopOfGeom(&fake, dCreateCylinder(NULL, 0.1, 0.02), body), 1e-3, 1e-15);
    CHECK_NEAR(slopOfGeom(&fake, dCreateBox(NULL, 0.2, 0.02, 0.2), NULL), fall, 1e-12); /* not its own: may be gone */
    fake.island.before.slop = 1e-3;
    CHECK_NEAR(slopOfGeom(&fake, dCreateBox(NULL, 0.2, 0.002, 0.2), body), 1e-3 * (1 + 1 / 96.0), 1e-15);
    dWorldDestroy(world);
}

/* m/s, what is asked of a contact so deep. */
static double askedOf(const Fake *fake, int blocks, double depth)
{
    static const int body[2] = {0, 1};
    spragNormalRow row = {.rhs = 12 * depth, .correction = 12 * depth}; /* ERP / h */
    spragSlopLeave(&fake->world, &fake->island, body, 0, blocks, depth, &row);
    return row.rhs;
}

static void whatOverlapsByLessStays(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake);
    const double least = 1e-3 * 9.81 / 60 / 12; /* m */
    CHECK_NEAR(askedOf(&fake, JOINTS, 0.9 * least), 0, 0);
    CHECK_NEAR(askedOf(&fake, JOINTS, 1.1 * least), 13.2 * least, 1e-15);
    fake.island.before.slop = 1e-3;
    CHECK_NEAR(askedOf(&fake, JOINTS, 0.9e-3), 0, 0);
    CHECK_NEAR(askedOf(&fake, JOINTS, 1.1e-3), 13.2e-3, 1e-15);
    CHECK_NEAR(askedOf(&fake, SPRAG_BLOCKS_FEW, 0.9e-3), 10.8e-3, 1e-15);
    fake.world.snapshot.layer = 1e-3; /* ERP does not correct that */
    CHECK_NEAR(askedOf(&fake, JOINTS, 1.9e-3), 0, 0);
}

/* m/s, root mean square. */
static double speedOf(const SceneWorld *world)
{
    double sum = 0;
    for (int i = 0; i < world->body_count; ++i) {
        const dReal *v = dBodyGetLinearVel(world->body[i]);
        sum += v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    }
    return sqrt(sum / world->body_count);
}

/* So many boxes that have fallen into a bin, after so many steps. */
static SceneWorld *heapUnder(const spragConfig *config, int count, int steps, double mu, long *iterations)
{
    SceneWorld *world = openWith("pile", "count=%d boxes=1 tumble=1 mu=%.17g", count, fmin(mu, 1e3));
    world->surface.mu = mu;
    assert_int_equal(spragWorldSetConfig(world->sprag, config), SPRAG_OK);
    *iterations = 0;
    for (int k = 0; k < steps; ++k) {
        assert_int_equal(SceneStep(world, 1.0 / 60), SPRAG_OK);
        *iterations += spragWorldGetStepInfo(world->sprag).iterations;
    }
    return world;
}

/* The same in a program that plays. */
static SceneWorld *heapAfter(int count, int steps, double mu, long *iterations)
{
    spragConfig config = spragConfigDefault();
    config.thread_count = 1;
    config.enough = 1e-6;
    return heapUnder(&config, count, steps, mu, iterations);
}

/* Most steps are not solved, and it rests all the same after some 150 of them.  (Without a slop it still moved at 1
 * cm/s after 300.) */
static void aHeapThatIsNotSolvedRests(void **state)
{
    (void)state;
    long iterations;
    SceneWorld *world = heapAfter(300, 250, 0.5, &iterations);
    assert_true(speedOf(world) < 1e-3);
    SceneDestroy(world);
}

/* So does a small one, however short its time: each step has the visits that every pile gets, the same on any machine.
 * (Without a slop three of four moved at 6 to 21 mm/s.)  So it does with few iterations.  (Of 82 one is slow.) */
static void aHeapThatIsCutShortRests(void **state)
{
    (void)state;
    spragConfig limits[2] = {spragConfigDefault(), spragConfigDefault()};
    limits[0].time_limit = 1e-9;
    limits[1].iteration_limit = 10;
    int moving = 0;
    for (int k = 0; k < 2; ++k)
        for (int count = 40; count <= 70; count += 10) {
            long iterations;
            limits[k].thread_count = 1;
            SceneWorld *world = heapUnder(&limits[k], count, 250, 0.5, &iterations);
            moving += speedOf(world) >= 1e-3;
            SceneDestroy(world);
        }
    assert_in_range(moving, 0, 1);
}

/* Where visits lead away with so much friction, less of it holds the bodies apart (greedy_solve.c).  (They fell into
 * each other, and flew away at tens of m/s.) */
static void aHeapOfHighFrictionHolds(void **state)
{
    (void)state;
    long iterations;
    SceneWorld *world = heapAfter(300, 90, 3, &iterations);
    assert_true(speedOf(world) < 0.5);
    SceneDestroy(world);
}

/* Infinite friction is convex, whose visits lead nowhere astray: it rests.  (A step took 0.4 s here and 4 s for 400
 * boxes, 3000 iterations in each, and it moved on.  Of 25 such heaps 3 move.) */
static void heapsThatStickRest(void **state)
{
    (void)state;
    int moving = 0;
    for (int count = 98; count < 104; ++count) {
        long iterations;
        SceneWorld *world = heapAfter(count, 300, dInfinity, &iterations);
        moving += speedOf(world) >= 1e-3;
        assert_true(iterations < 300 * 500L);
        SceneDestroy(world);
    }
    assert_in_range(moving, 0, 2);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopFollowsFromWhatIsLeft), cmocka_unit_test(lessStaysAtOnceOfThinBodies),
        cmocka_unit_test(whatOverlapsByLessStays),   cmocka_unit_test(aHeapThatIsNotSolvedRests),
        cmocka_unit_test(aHeapThatIsCutShortRests),  cmocka_unit_test(aHeapOfHighFrictionHolds),
        cmocka_unit_test(heapsThatStickRest)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
