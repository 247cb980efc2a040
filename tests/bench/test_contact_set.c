/* The whole pipeline against a problem that was put together apart from it: contacts of a step as a user reads them,
 * bodies as ODE has them before the step.  Sprag's reported forces must solve that problem, ODE's must not. */
#include "bench/contact_set.h"

#include <stdlib.h>

#include "support/scene_world.h"

/* Forces of the last step as impulses in the frames of the set. */
static double *impulses(SceneWorld *world, const ContactSet *set, double h)
{
    const spragContact *contacts = NULL;
    const int count = SceneGetContacts(world, &contacts);
    assert_int_equal(count, set->contact_count);
    double *r = calloc(3 * (size_t)count + 1, sizeof *r);
    assert_non_null(r);
    for (int k = 0; k < count; ++k) {
        r[3 * k] = h * contacts[k].normal_force;
        for (int row = 1; row < 3; ++row)
            for (int i = 0; i < 3; ++i)
                r[3 * k + row] += h * contacts[k].friction[i] * set->contact[k].frame[3 * row + i];
    }
    return r;
}

/* Worst residual over some steps, m/s. */
static double judge(const char *scene, SceneSolver solver, double h, int steps)
{
    SceneWorld *world = openScene(scene, NULL, solver);
    if (solver == SCENE_SPRAG)
        dWorldSetCFM(world->world, 0); /* ODE's default, 1e-10, is no part of the problem */
    ContactSet set = {0};
    double worst = 0;
    for (int i = 0; i < steps; ++i) {
        assert_true(contactSetBodies(&set, world));
        assert_int_equal(SceneStep(world, h), SPRAG_OK);
        assert_true(contactSetContacts(&set, world, h));
        double *r = impulses(world, &set, h);
        const double residual = contactSetResidual(&set, r);
        assert_true(residual >= 0);
        worst = fmax(worst, residual);
        free(r);
    }
    contactSetFree(&set);
    SceneDestroy(world);
    return worst;
}

/* Where nothing turns, the velocity-product term is nil and both problems are one. */
static void reportedForcesSolveTheProblem(void **state)
{
    (void)state;
    static const char *const scene[] = {"stack", "card-house", "arch"};
    for (size_t i = 0; i < sizeof scene / sizeof *scene; ++i) {
        const double residual = judge(scene[i], SCENE_SPRAG, 1.0 / 240, 10);
        print_message("%s: %.1e m/s\n", scene[i], residual);
        assert_true(residual <= 1e-8);
    }
}

static void stockForcesDoNot(void **state)
{
    (void)state;
    assert_true(judge("slider", SCENE_ODE_STEP, 1.0 / 240, 10) > 1e-3);
    assert_true(judge("stack", SCENE_ODE_QUICK, 1.0 / 240, 10) > 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reportedForcesSolveTheProblem),
        cmocka_unit_test(stockForcesDoNot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
