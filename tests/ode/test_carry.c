/* Two slabs at rest on each other and on the ground, whose colliders name other points in every step: the force and the
 * moment of each pair are carried over, so that a step begins where the last one ended. */
#include "support/check.h"

#include <sprag/sprag_ode.h>

#include "linalg/vec3.h"
#include "ode/world/world.h"

enum { SIDE = 6, POINTS = SIDE * SIDE };
static const double h = 1e-3, half = 0.5, thick = 0.1; /* s, m */

typedef struct Slabs {
    dWorldID world;
    spragWorldID sprag;
    dJointGroupID group;
    dBodyID body[2];
} Slabs;

static Slabs makeSlabs(void)
{
    Slabs slabs = {.world = dWorldCreate(), .group = dJointGroupCreate(0)};
    dWorldSetGravity(slabs.world, 1, 0.5, -9.81);
    spragConfig config = spragConfigDefault();
    config.analysis = SPRAG_ANALYSIS_CONTACTS;
    assert_int_equal(spragWorldAttach(slabs.world, &config, &slabs.sprag), SPRAG_OK);
    for (int i = 0; i < 2; ++i) {
        dMass mass;
        dMassSetBoxTotal(&mass, 5 + 3 * i, 2 * half, 2 * half, thick);
        slabs.body[i] = dBodyCreate(slabs.world);
        dBodySetMass(slabs.body[i], &mass);
        dBodySetPosition(slabs.body[i], 0.05 * i, 0, (i + 0.5) * thick);
    }
    return slabs;
}

/* A point under slab i, x and y from the lower one's middle, m. */
static void touch(const Slabs *slabs, int i, double x, double y, int flip)
{
    const dReal *at = dBodyGetPosition(slabs->body[0]);
    dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.6}, .geom = {.normal = {0, 0, flip ? -1 : 1}}};
    contact.geom.depth = 1e-8; /* more than a touch, so it does not sink (spragSlopLeave) */
    contact.geom.pos[0] = at[0] + x;
    contact.geom.pos[1] = at[1] + y;
    contact.geom.pos[2] = i * thick;
    const dBodyID below = i == 0 ? NULL : slabs->body[0];
    dJointAttach(spragJointCreateContact(slabs->sprag, slabs->group, &contact), flip ? below : slabs->body[i],
                 flip ? slabs->body[i] : below);
}

static double across(int k)
{
    return 2.0 * k / (SIDE - 1) - 1;
}

/* A grid of points under each slab; reach: its half width, m.  turn 1: each pair
 * in the other order.  Returns iterations. */
static int step(const Slabs *slabs, double reach, double shift, int turn)
{
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < POINTS; ++k)
            touch(slabs, i, shift + reach * across(k % SIDE), reach * across(k / SIDE), turn && i == 1);
    assert_int_equal(spragWorldStep(slabs->sprag, h), SPRAG_OK);
    dJointGroupEmpty(slabs->group);
    const spragStepInfo info = spragWorldGetStepInfo(slabs->sprag);
    assert_int_equal(info.contacts, 2 * POINTS);
    assert_true(info.residual <= 1e-8);
    for (int i = 0; i < 2; ++i)
        for (int a = 0; a < 3; ++a)
            CHECK_NEAR(dBodyGetLinearVel(slabs->body[i])[a], 0, 1e-12);
    return info.iterations;
}

static void stepsBeginWhereTheLastEnded(void **state)
{
    (void)state;
    Slabs slabs = makeSlabs();
    assert_true(step(&slabs, 0.45, 0, 0) > 0);
    for (int k = 0; k < 6; ++k) /* the same points */
        step(&slabs, 0.45, 0, 0);
    assert_int_equal(step(&slabs, 0.45, 0, 0), 0);
    int solved = 0;
    for (int k = 0; k < 8; ++k) { /* other points: a smaller grid, aside, in the other order */
        solved += step(&slabs, k % 2 ? 0.45 : 0.35, k % 2 ? 0 : 0.03, k % 2) > 0;
        step(&slabs, k % 2 ? 0.45 : 0.35, k % 2 ? 0 : 0.03, k % 2);
    }
    assert_true(solved <= 2);
    spragWorldDetach(slabs.sprag);
    dJointGroupDestroy(slabs.group);
    dWorldDestroy(slabs.world);
}

/* On a slope that is nearly too steep, with friction at its bound here and
 * there: forces are carried within their cones. */
static void forcesStayWithinTheirCones(void **state)
{
    (void)state;
    Slabs slabs = makeSlabs();
    dWorldSetGravity(slabs.world, 5, 2.5, -9.81); /* friction 0.57 of the load */
    for (int k = 0; k < 6; ++k)
        step(&slabs, 0.45, 0, 0);
    int solved = 0;
    for (int k = 0; k < 12; ++k)
        solved += step(&slabs, 0.45, 1e-5 * (k % 3), k % 2) > 0;
    assert_true(solved <= 2);
    spragWorldDetach(slabs.sprag);
    dJointGroupDestroy(slabs.group);
    dWorldDestroy(slabs.world);
}

/* Four corners bear the upper slab; they are named twice, and then those alone that have borne nothing. */
static void aTwinBearsWhatIsLost(void **state)
{
    (void)state;
    enum { CORNERS = 4, STEPS = 12 };
    Slabs slabs = makeSlabs();
    for (int k = 0; k < STEPS; ++k) {
        for (int i = 0; i < POINTS; ++i)
            touch(&slabs, 0, 0.45 * across(i % SIDE), 0.45 * across(i / SIDE), 0);
        for (int i = 0; i < CORNERS; ++i)
            for (int twin = 0; twin < 2; ++twin)
                if (twin ? k >= STEPS - 2 : k < STEPS - 1 || i < 2)
                    touch(&slabs, 1, (i % 2 ? 0.4 : -0.4) + 1e-6 * twin, i / 2 ? 0.4 : -0.4, 0);
        assert_int_equal(spragWorldStep(slabs.sprag, h), SPRAG_OK);
        dJointGroupEmpty(slabs.group);
    }
    assert_int_equal(spragWorldGetStepInfo(slabs.sprag).iterations, 0);
    spragWorldDetach(slabs.sprag);
    dJointGroupDestroy(slabs.group);
    dWorldDestroy(slabs.world);
}

/* Three points all but on a line cannot carry what a grid did: the guess leaves that out, where forces of a
 * million times the weight threw the slabs. */
static void pointsOnALineCarryNoMore(void **state)
{
    (void)state;
    const double weight = 8 * 9.81; /* N, of the upper slab */
    for (int k = 2; k <= 14; k += 2) {
        Slabs slabs = makeSlabs();
        const double bow = pow(10, -k); /* m */
        for (int i = 0; i < 3; ++i)
            step(&slabs, 0.45, 0, 0);
        for (int i = 0; i < POINTS; ++i)
            touch(&slabs, 0, 0.45 * across(i % SIDE), 0.45 * across(i / SIDE), 0);
        for (int i = -1; i <= 1; ++i)
            touch(&slabs, 1, 0.3 * i, i == 0 ? bow : 0, 0);
        assert_int_equal(spragWorldStep(slabs.sprag, h), SPRAG_OK);
        const spragSnapshot *s = &slabs.sprag->snapshot;
        double most = 0;
        for (int j = 0; j < s->joint_count; ++j)
            most = fmax(most, spragNorm3(s->carried[j]));
        assert_true(most > 0.1 * weight && most < 2 * weight);
        spragWorldDetach(slabs.sprag);
        dJointGroupDestroy(slabs.group);
        dWorldDestroy(slabs.world);
    }
}

static int setUp(void **state)
{
    (void)state;
    return dInitODE2(0) ? 0 : -1;
}

static int tearDown(void **state)
{
    (void)state;
    dCloseODE();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stepsBeginWhereTheLastEnded), cmocka_unit_test(forcesStayWithinTheirCones),
        cmocka_unit_test(aTwinBearsWhatIsLost), cmocka_unit_test(pointsOnALineCarryNoMore)};
    return cmocka_run_group_tests(tests, setUp, tearDown);
}
