/* Scenes with two-sided contacts against closed forms: the drawer locks at mu = L / 2 e, the slider in a slot is not
 * squeezed, the peg jams where depth < 2 mu e, the rod in its guide jams where it has no motion. */
#include <string.h>

#include "support/scene_world.h"

/* Runs; the worst residual must be good.  Events of a type are counted. */
static int run(SceneWorld *world, int steps, double h, spragEventType type)
{
    int seen = 0;
    for (int k = 0; k < steps; ++k) {
        assert_int_equal(SceneStep(world, h), SPRAG_OK);
        if (world->sprag == NULL)
            continue;
        const spragEvent *event;
        for (int i = spragWorldGetEvents(world->sprag, &event) - 1; i >= 0; --i)
            seen += event[i].type == type;
        assert_true(spragWorldGetStepInfo(world->sprag).residual <= 1e-8);
        assert_int_equal(spragWorldGetStepInfo(world->sprag).declined, 0);
    }
    return seen;
}

static double drawerSpeed(double mu, SceneSolver solver)
{
    SceneWorld *world = openUnder(solver, NULL, "drawer", "mu=%g", mu);
    run(world, 200, 1e-3, SPRAG_EVENT_JAM);
    const double v = dBodyGetLinearVel(world->body[0])[0];
    SceneDestroy(world);
    return v;
}

static void drawerLocks(void **state)
{
    (void)state;
    const double a = 10.0 / 2; /* m/s^2, without friction */
    CHECK_NEAR(drawerSpeed(1.0001, SCENE_SPRAG), 0, 1e-12);
    CHECK_NEAR(drawerSpeed(0.9999, SCENE_SPRAG), 0.2 * a * 1e-4, 1e-8);
    CHECK_NEAR(drawerSpeed(0.5, SCENE_SPRAG), 0.2 * a * 0.5, 1e-7);
    assert_true(drawerSpeed(0.5, SCENE_ODE_QUICK) < 1e-6); /* twenty iterations lock it at 0.37 */
}

static void slotDoesNotSqueeze(void **state)
{
    (void)state;
    SceneWorld *world = openScene("slot", NULL, SCENE_SPRAG);
    run(world, 200, 1e-3, SPRAG_EVENT_TOUCH);
    CHECK_NEAR(dBodyGetLinearVel(world->body[0])[0], 1, 1e-9);
    SceneDestroy(world);
    world = openScene("slot", NULL, SCENE_ODE_STEP);
    run(world, 200, 1e-3, SPRAG_EVENT_TOUCH);
    assert_true(dBodyGetLinearVel(world->body[0])[0] < 1e-6);
    SceneDestroy(world);
    world = openWith("slot", "load=4");
    run(world, 100, 1e-3, SPRAG_EVENT_TOUCH);
    CHECK_NEAR(dBodyGetLinearVel(world->body[0])[0], 1 - 0.1 * 0.5 * 4, 1e-4);
    SceneDestroy(world);
}

/* Jams where depth < 2 mu e = 0.06; the two points are found after the peg has tipped by its play. */
static void pegJams(void **state)
{
    (void)state;
    for (int k = 0; k < 4; ++k) {
        const double depth[4] = {0.03, 0.056, 0.062, 0.1};
        SceneWorld *world = openWith("peg", "depth=%g", depth[k]);
        run(world, 600, 1e-3, SPRAG_EVENT_JAM);
        const double speed = dBodyGetLinearVel(world->body[0])[2], deep = 0.2 - dBodyGetPosition(world->body[0])[2];
        if (k < 2) {
            CHECK_NEAR(speed, 0, 1e-9);
            assert_true(deep < depth[k] + 0.01);
        } else {
            assert_true(deep > 0.2); /* on its way to the bottom, or there */
        }
        SceneDestroy(world);
    }
}

static void guidedRod(void **state)
{
    (void)state;
    SceneWorld *world = openWith("rod-guide", "angle=120");
    assert_int_equal(run(world, 1, 1e-3, SPRAG_EVENT_JAM), 1);
    const spragContact *contact;
    assert_int_equal(SceneGetContacts(world, &contact), 1);
    CHECK_NEAR(contact->slip[0], 0, 1e-12);
    SceneDestroy(world);
    world = openWith("rod-guide", "angle=60"); /* friction presses the other way: one of two slides on */
    assert_int_equal(run(world, 20, 1e-3, SPRAG_EVENT_JAM), 0);
    assert_int_equal(SceneGetContacts(world, &contact), 1);
    assert_true(contact->slip[0] > 0.5 && contact->slip[0] < 1);
    assert_int_equal(run(world, 80, 1e-3, SPRAG_EVENT_JAM), 0); /* friction alone stops it: no jam */
    assert_int_equal(SceneGetContacts(world, &contact), 1);
    assert_int_equal(contact->mode, SPRAG_MODE_STICK);
    SceneDestroy(world);
    world = openWith("rod-guide", "gravity=-9.81"); /* hung up: the guide pulls */
    run(world, 1, 1e-3, SPRAG_EVENT_JAM);
    assert_int_equal(SceneGetContacts(world, &contact), 1);
    assert_int_equal(contact->variant, -1);
    SceneDestroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drawerLocks), cmocka_unit_test(slotDoesNotSqueeze),
                                       cmocka_unit_test(pegJams), cmocka_unit_test(guidedRod)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
