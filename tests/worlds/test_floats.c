/* Hosts with a floating-point environment of their own: nothing of Sprag's falls into their traps, answers have the
 * same bits, and ODE's step and callbacks run as the host has it. */
#define _GNU_SOURCE
#include "support/random_problem.h"
#include "support/scene_world.h"

#include <fenv.h>

/* Boxes without friction: in a step of theirs something is divided by zero. */
static SceneWorld *slipperyTower(int threads)
{
    double value[SCENE_KEY_MAX];
    defaults(SceneFind("stack"), value);
    value[1] = 0;
    SceneWorld *world = openScene("stack", value, SCENE_SPRAG);
    spragConfig config;
    assert_int_equal(spragWorldGetConfig(world->sprag, &config), SPRAG_OK);
    config.thread_count = threads;
    assert_int_equal(spragWorldSetConfig(world->sprag, &config), SPRAG_OK);
    return world;
}

static int told, told_traps;

static void onEvent(const spragEvent *event, void *user)
{
    (void)event, (void)user;
    ++told;
    told_traps += fegetexcept() == (FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
}

static void hostsMayTrap(void **state)
{
    (void)state;
    if (feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW) == -1)
        skip(); /* most ARM processors have no traps */
    fedisableexcept(FE_ALL_EXCEPT);
    for (int threads = 1; threads <= 2; ++threads) {
        SceneWorld *plain = slipperyTower(threads), *trapped = slipperyTower(threads);
        spragWorldSetEventCallback(trapped->sprag, onEvent, NULL);
        told = told_traps = 0;
        advance(plain, plain->scene->step_size, 300);
        feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
        advance(trapped, trapped->scene->step_size, 300);
        const int traps = fegetexcept();
        fedisableexcept(FE_ALL_EXCEPT);
        assert_int_equal(traps, FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
        assert_true(told > 0 && told == told_traps);
        for (int k = 0; k < plain->body_count; ++k)
            assert_memory_equal(dBodyGetPosition(plain->body[k]), dBodyGetPosition(trapped->body[k]),
                                3 * sizeof(dReal));
        SceneDestroy(plain);
        SceneDestroy(trapped);
    }
}

/* Of problems without ODE, where all is Sprag's. */
static void hostsMayRound(void **state)
{
    (void)state;
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int seed = 0; seed < 40; ++seed) {
        Random random;
        randomProblem(&random, (unsigned)seed, 0.5, N);
        double plain[N] = {0}, rounded[N] = {0};
        spragSolveInfo info[2];
        spragProblemSolve(&random.problem, NULL, plain, NULL, &info[0]);
        fesetround(modes[seed % 3]);
        spragProblemSolve(&random.problem, NULL, rounded, NULL, &info[1]);
        const double residual = spragProblemResidual(&random.problem, rounded);
        const int mode = fegetround();
        fesetround(FE_TONEAREST);
        assert_int_equal(mode, modes[seed % 3]);
        assert_memory_equal(plain, rounded, sizeof plain);
        assert_memory_equal(&info[0].residual, &info[1].residual, sizeof(double));
        assert_memory_equal(&residual, &info[0].residual, sizeof residual);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hostsMayTrap), cmocka_unit_test(hostsMayRound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
