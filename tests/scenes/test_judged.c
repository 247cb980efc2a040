/* Stock ODE under the judge's eyes moves as it does alone, bit by bit, and its answers are judged. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "scenes/scene.h"
#include "support/check.h"

static void ignore(int number, const char *text, va_list arguments)
{
    (void)number, (void)text, (void)arguments;
}

static void sameMotion(const char *name, SceneSolver solver, double missed)
{
    enum { STEPS = 60 };
    char error[SCENE_ERROR_SIZE];
    spragConfig config = spragConfigDefault();
    config.analysis = SPRAG_ANALYSIS_JUDGE;
    SceneWorld *world[2] = {SceneCreate(SceneFind(name), NULL, solver, NULL, error),
                            SceneCreate(SceneFind(name), NULL, solver, &config, error)};
    assert_true(world[0] != NULL && world[1] != NULL && world[0]->judge == NULL && world[1]->judge != NULL);
    double worst = 0;
    for (int k = 0; k < STEPS; ++k) {
        for (int i = 0; i < 2; ++i) {
            dRandSetSeed(1); /* QuickStep draws the order of its rows */
            assert_int_equal(SceneStep(world[i], world[i]->scene->step_size), SPRAG_OK);
        }
        worst = fmax(worst, spragWorldGetStepInfo(world[1]->judge).residual);
        for (int b = 0; b < world[0]->body_count; ++b)
            assert_memory_equal(dBodyGetPosition(world[0]->body[b]), dBodyGetPosition(world[1]->body[b]),
                                3 * sizeof(dReal));
    }
    assert_true(worst > missed);
    SceneDestroy(world[0]);
    SceneDestroy(world[1]);
}

static void stockOdeMovesAsAlone(void **state)
{
    (void)state;
    dSetMessageHandler(ignore); /* of the stack */
    sameMotion("rod", SCENE_ODE_STEP, 1e-3);
    sameMotion("stack", SCENE_ODE_STEP, 0.1);
    sameMotion("slot", SCENE_ODE_STEP, 1e-5);
    sameMotion("card-house", SCENE_ODE_QUICK, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stockOdeMovesAsAlone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
