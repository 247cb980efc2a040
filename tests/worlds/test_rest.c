/* A pile at rest is seen to rest without W, by any number of threads with the same bits; what is disturbed is solved all
 * the same. */
#include <string.h>

#include "linalg/vec3.h"
#include "ode/world.h"
#include "support/scene_world.h"

enum { BALLS = 150, ROUGH_STEPS = 1500, ROUGH_ITERATIONS = 30, STEPS = 30 };
static const double h = 1.0 / 240, tolerance = 1e-6; /* s, m/s */

static void damp(const SceneWorld *world, double share)
{
    for (int i = 0; i < world->body_count; ++i) {
        dBodySetDamping(world->body[i], share, share);
        dBodySetLinearDampingThreshold(world->body[i], 0);
        dBodySetAngularDampingThreshold(world->body[i], 0);
    }
}

static void configure(SceneWorld *world, double asked, int iterations, int threads)
{
    spragConfig config = spragConfigDefault();
    config.tolerance = asked;
    config.iteration_limit = iterations;
    config.thread_count = threads;
    assert_int_equal(spragWorldSetConfig(world->sprag, &config), SPRAG_OK);
}

/* Steps of which all end within the tolerance; returns in how many the largest island had no W. */
static int stepsWithoutW(SceneWorld *world, int steps)
{
    int without = 0; /* nor blocks */
    for (int k = 0; k < steps; ++k) {
        assert_int_equal(SceneStep(world, h), SPRAG_OK);
        assert_true(spragWorldGetStepInfo(world->sprag).residual <= tolerance);
        without += world->sprag->largest->bare != NULL;
    }
    return without;
}

/* N s a step, of all contacts with the ground and the walls, upwards. */
static double liftOf(SceneWorld *world)
{
    const spragContact *contact;
    double sum = 0;
    for (int count = SceneGetContacts(world, &contact), k = 0; k < count; ++k)
        if (contact[k].body[1] == NULL)
            sum += contact[k].normal_force * contact[k].normal[2] + contact[k].friction[2];
    return sum;
}

static SceneWorld *pileAtRest(int threads)
{
    double value[SCENE_KEY_MAX];
    const Scene *scene = SceneFind("pile");
    defaults(scene, value);
    for (int k = 0; scene->keys[k].name != NULL; ++k)
        if (strcmp(scene->keys[k].name, "count") == 0)
            value[k] = BALLS;
    SceneWorld *world = openScene("pile", value, SCENE_SPRAG);
    damp(world, 0.05);
    configure(world, 1e-5, ROUGH_ITERATIONS, threads);
    for (int k = 0; k < ROUGH_STEPS; ++k)
        assert_int_equal(SceneStep(world, h), SPRAG_OK);
    configure(world, tolerance, 0, threads);
    stepsWithoutW(world, STEPS);
    return world;
}

static void restIsSeenWithoutW(void **state)
{
    (void)state;
    SceneWorld *world = pileAtRest(1), *threads = pileAtRest(3);
    assert_int_equal(stepsWithoutW(world, STEPS), STEPS);
    assert_int_equal(stepsWithoutW(threads, STEPS), STEPS);
    double moving = 0;
    for (int i = 0; i < BALLS; ++i) {
        const dReal *one = dBodyGetPosition(world->body[i]), *other = dBodyGetPosition(threads->body[i]);
        assert_memory_equal(one, other, 3 * sizeof *one);
        moving += spragNorm3(dBodyGetLinearVel(world->body[i])) > 10 * tolerance;
    }
    assert_true(moving <= 0.01 * BALLS);
    const double weight = BALLS * 9.81;
    CHECK_NEAR(liftOf(world), weight, 1e-3 * weight);
    SceneDestroy(threads);
    dBodySetLinearVel(world->body[BALLS / 2], 0.3, 0, 0);
    stepsWithoutW(world, 1);
    assert_null(world->sprag->largest->bare);
    SceneDestroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(restIsSeenWithoutW)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
