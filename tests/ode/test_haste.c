/* An island that misses the tolerance has less work in the next step, and all of it again once it is solved. */
#include "support/check.h"
#include "support/scene_world.h"

#include <math.h>
#include <string.h>

#include <ode/ode.h>

#include "ode/haste.h"

enum { JOINTS = 600, MOST = 6 };

typedef struct Fake {
    struct spragWorld world;
    spragIsland island;
    spragJointState joint[JOINTS];
    spragContactMemory memory[JOINTS];
    dContact contact;
    int number[JOINTS];
} Fake;

/* An island of contacts that were all in islands of this haste. */
static void setFake(Fake *fake, int haste)
{
    memset(fake, 0, sizeof *fake);
    fake->world.config = spragConfigDefault();
    fake->world.memory = fake->memory;
    fake->world.snapshot.joint = fake->joint;
    for (int k = 0; k < JOINTS; ++k) {
        fake->memory[k].haste = haste;
        fake->joint[k].contact = &fake->contact;
        fake->joint[k].memory = fake->number[k] = k;
    }
    fake->island.joint = fake->number;
    fake->island.joint_count = fake->island.contact_count = JOINTS;
}

static void mostContactsSay(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 4);
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 4);
    for (int k = 0; k < JOINTS / 3; ++k)
        fake.joint[k].memory = -1; /* new ones say nothing */
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 4);
    for (int k = JOINTS / 2; k < JOINTS; ++k)
        fake.memory[k].haste = 0; /* a wall that is hit by what was in a hurry */
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 1);
    for (int k = 0; k < JOINTS; ++k)
        fake.joint[k].memory = -1;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
}

static void whoSetsALimitIsNotHurried(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 4);
    fake.world.config.patient = 1;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
    fake.world.config.patient = 0;
    fake.world.config.time_limit = 0.01;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
    fake.world.config.time_limit = 0;
    fake.world.config.iteration_limit = 100;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
    fake.world.config.iteration_limit = 0;
    fake.world.config.solver = SPRAG_SOLVER_NEWTON;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
    fake.world.config.solver = SPRAG_SOLVER_AUTO;
    fake.island.contact_count = 300;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
}

static void aMissHalvesAnAnswerDoubles(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    for (int k = 1; k < MOST + 3; ++k) {
        fake.island.solve.residual = k % 2 ? NAN : 1e-3;
        fake.island.haste = spragHasteNext(&fake.world, &fake.island);
        assert_int_equal(fake.island.haste, k < MOST ? k : MOST);
    }
    fake.island.solve.residual = 1e-3;
    assert_true(spragHasteEnds(&fake.island));
    fake.island.solve.residual = 1e-5;
    assert_false(spragHasteEnds(&fake.island));
    for (int k = 1; k < MOST + 3; ++k) {
        fake.island.solve.residual = 1e-9;
        fake.island.haste = spragHasteNext(&fake.world, &fake.island);
        assert_int_equal(fake.island.haste, k < MOST ? MOST - k : 0);
    }
}

static int hasteIn(const SceneWorld *world)
{
    int most = 0;
    for (int k = 0; k < world->sprag->memory_count; ++k)
        most = world->sprag->memory[k].haste > most ? world->sprag->memory[k].haste : most;
    return most;
}

/* 700 balls that fall onto each other have no answer in the work of a step; without weight they have. */
static void aPileHurriesWhileItFalls(void **state)
{
    (void)state;
    enum { FALL = 400, HURRY = 10, FLOAT = 100 };
    double value[SCENE_KEY_MAX];
    const Scene *scene = SceneFind("pile");
    assert_non_null(scene);
    defaults(scene, value);
    for (int k = 0; scene->keys[k].name != NULL; ++k)
        if (strcmp(scene->keys[k].name, "count") == 0)
            value[k] = 700;
    SceneWorld *world = openScene("pile", value, SCENE_SPRAG);
    spragConfig config = spragConfigDefault();
    config.solver = SPRAG_SOLVER_STOCK;
    config.stepper = SPRAG_STEPPER_QUICKSTEP;
    assert_int_equal(spragWorldSetConfig(world->sprag, &config), SPRAG_OK);
    for (int k = 0; k < FALL; ++k)
        assert_int_equal(SceneStep(world, 1.0 / 240), SPRAG_OK);
    config = spragConfigDefault();
    assert_int_equal(spragWorldSetConfig(world->sprag, &config), SPRAG_OK);
    int hurried = 0;
    for (int k = 0; k < HURRY; ++k) {
        assert_int_equal(SceneStep(world, 1.0 / 240), SPRAG_OK);
        const spragStepInfo info = spragWorldGetStepInfo(world->sprag);
        assert_int_equal(info.declined, 0);
        assert_true(info.residual < 2e-2);
        hurried = hasteIn(world) > hurried ? hasteIn(world) : hurried;
    }
    assert_true(hurried >= 3);
    dWorldSetGravity(world->world, 0, 0, 0);
    int steps = 0;
    for (; steps < FLOAT && hasteIn(world) > 0; ++steps) {
        for (int i = 0; i < world->body_count; ++i) {
            dBodySetLinearVel(world->body[i], 0, 0, 0);
            dBodySetAngularVel(world->body[i], 0, 0, 0);
        }
        assert_int_equal(SceneStep(world, 1.0 / 240), SPRAG_OK);
    }
    assert_true(steps < FLOAT);
    assert_true(spragWorldGetStepInfo(world->sprag).residual <= 1e-6);
    SceneDestroy(world);
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(mostContactsSay),
        cmocka_unit_test(whoSetsALimitIsNotHurried),
        cmocka_unit_test(aMissHalvesAnAnswerDoubles),
        cmocka_unit_test(aPileHurriesWhileItFalls),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
