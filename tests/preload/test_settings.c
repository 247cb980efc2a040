/* Settings of the preload: every key is read, and what is wrong is named. */
#define _GNU_SOURCE /* feenableexcept */
#include "support/check.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/settings.h"

static void everyKeyIsRead(void **state)
{
    (void)state;
    spragConfig config = spragConfigDefault();
    char error[200] = "";
    assert_true(spragSettingsParse(
        "solver=newton,tolerance=1e-6,enough=2e-5,iterations=7,time-limit=0.002,threads=2,restitution=0.5,"
        "analysis=0,events=9,indeterminacy=jam,gyroscopic=ode,patient=1,forgetful=1",
        &config, error, sizeof error));
    assert_string_equal(error, "");
    assert_int_equal(config.solver, SPRAG_SOLVER_NEWTON);
    CHECK_NEAR(config.tolerance, 1e-6, 0);
    CHECK_NEAR(config.enough, 2e-5, 0);
    assert_int_equal(config.iteration_limit, 7);
    CHECK_NEAR(config.time_limit, 0.002, 0);
    assert_int_equal(config.thread_count, 2);
    CHECK_NEAR(config.tangential_restitution, 0.5, 0);
    assert_int_equal(config.analysis, 0);
    assert_int_equal(config.event_capacity, 9);
    assert_int_equal(config.indeterminacy, SPRAG_INDETERMINACY_JAM);
    assert_int_equal(config.gyroscopic, SPRAG_GYROSCOPIC_ODE);
    assert_int_equal(config.patient, 1);
    assert_int_equal(config.forgetful, 1);
}

static void badKeysAndValuesAreNamed(void **state)
{
    (void)state;
    const struct {
        const char *text, *item, *expected;
    } bad[] = {
        {"solver=fast", "solver=fast", "auto, stock, variant, lemke, gauss-seidel, newton"},
        {"solver=", "solver=", "auto, stock"},
        {"tolerance=0", "tolerance=0", "a number from 1e-16 to 1"},
        {"tolerance=-1", "tolerance=-1", "a number from 1e-16 to 1"},
        {"tolerance=1x", "tolerance=1x", "a number from"},
        {"tolerance=nan", "tolerance=nan", "a number from"},
        {"enough=-1", "enough=-1", "a number from 0 to 1"},
        {"threads=", "threads=", "a whole number from 0 to 1024"},
        {"tolerance=1e-6,threads=100000", "threads=100000", "a whole number from 0 to 1024"},
        {"iterations=1.5", "iterations=1.5", "a whole number from 0 to 1e+06"},
        {"analysis=7", "analysis=7", "a whole number from 0 to 2"},
        {"indeterminacy=both", "indeterminacy=both", "history, lift, jam"},
        {"gyroscopic=od", "gyroscopic=od", "momentum, ode, contacts"},
        {"patient=2", "patient=2", "a whole number from 0 to 1"},
        {"forgetful=-1", "forgetful=-1", "a whole number from 0 to 1"},
        {"colour=red", "'colour'",
         "solver, tolerance, enough, iterations, time-limit, threads, restitution, analysis, "
         "events, indeterminacy, gyroscopic, patient, forgetful"},
        {"=5", "''", "solver, tolerance"},
        {"solver", "'solver'", "key=value"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        spragConfig config = spragConfigDefault();
        char error[200] = "";
        assert_false(spragSettingsParse(bad[k].text, &config, error, sizeof error));
        assert_non_null(strstr(error, bad[k].item));
        assert_non_null(strstr(error, bad[k].expected));
    }
}

static void everySolverHasItsName(void **state)
{
    (void)state;
    for (int k = 0; k < SPRAG_SOLVER_COUNT; ++k) {
        spragConfig config = spragConfigDefault();
        char text[40], error[200] = "";
        snprintf(text, sizeof text, " solver=%s, threads=3", spragSolverName((spragSolverKind)k));
        assert_true(spragSettingsParse(text, &config, error, sizeof error));
        assert_int_equal(config.solver, k);
        assert_int_equal(config.thread_count, 3);
    }
}

static void environmentIsRead(void **state)
{
    (void)state;
    char error[200];
    setenv("SPRAG_REPORT", "1", 1);
    setenv("SPRAG_SOLVER", "stock", 1);
    setenv("SPRAG_EVENTS", "e.jsonl", 1);
    setenv("SPRAG_DUMP", "", 1);
    spragSettings settings = spragSettingsFromEnvironment(error, sizeof error);
    assert_true(settings.report);
    CHECK_NEAR(settings.config.enough, 1e-6, 0);
    assert_int_equal(settings.config.solver, SPRAG_SOLVER_STOCK);
    assert_string_equal(settings.events_path, "e.jsonl");
    assert_null(settings.dump_path);
    setenv("SPRAG_DUMP", "worst.txt", 1);
    setenv("SPRAG_REPORT", "0", 1);
    setenv("SPRAG_SOLVER", "quick", 1);
    settings = spragSettingsFromEnvironment(error, sizeof error);
    assert_false(settings.report);
    assert_string_equal(settings.dump_path, "worst.txt");
    assert_non_null(strstr(error, "quick"));
}

/* A program that rounds upwards reads the same number, and one that traps outlives what is wrong. */
static void floatsOfTheProgramAreLeftAside(void **state)
{
    (void)state;
    char error[200];
    unsetenv("SPRAG_SOLVER");
    setenv("SPRAG_CONFIG", "tolerance=1e-9", 1);
    fesetround(FE_UPWARD);
    const double tolerance = spragSettingsFromEnvironment(error, sizeof error).config.tolerance;
    assert_int_equal(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    CHECK_NEAR(tolerance, 1e-9, 0);
    if (feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_UNDERFLOW) == -1)
        skip(); /* this processor does not trap */
    setenv("SPRAG_CONFIG", "tolerance=nan", 1);
    spragSettingsFromEnvironment(error, sizeof error);
    assert_non_null(strstr(error, "'tolerance=nan', expected a number"));
    setenv("SPRAG_CONFIG", "enough=1e-320", 1);
    spragSettingsFromEnvironment(error, sizeof error);
    assert_string_equal(error, "");
    fedisableexcept(FE_ALL_EXCEPT);
}

static void speedsAreInTheUnitsOfTheWorld(void **state)
{
    (void)state;
    char error[200];
    const struct {
        double gravity, times;
    } world[] = {{9.81, 1}, {19.5, 1},  {19.7, 2}, {386, 32},     {800, 64}, {981, 64},
                 {1.62, 1}, {0.001, 1}, {0, 1},    {INFINITY, 1}, {NAN, 1},  {1e9, 1}};
    unsetenv("SPRAG_SOLVER");
    for (size_t k = 0; k < sizeof world / sizeof *world; ++k) {
        const dReal gravity[3] = {(dReal)(0.6 * world[k].gravity), 0, (dReal)(-0.8 * world[k].gravity)};
        unsetenv("SPRAG_CONFIG");
        spragSettings settings = spragSettingsFromEnvironment(error, sizeof error);
        const spragConfig alone = spragSettingsFor(&settings, gravity);
        CHECK_NEAR(alone.tolerance, 1e-8 * world[k].times, 0);
        CHECK_NEAR(alone.enough, 1e-6 * world[k].times, 0);
        setenv("SPRAG_CONFIG", "enough=1e-5", 1);
        settings = spragSettingsFromEnvironment(error, sizeof error);
        const spragConfig given = spragSettingsFor(&settings, gravity);
        CHECK_NEAR(given.tolerance, 1e-8 * world[k].times, 0);
        CHECK_NEAR(given.enough, 1e-5, 0);
        assert_string_equal(error, "");
    }
    const dReal inches[3] = {0, 0, -386};
    setenv("SPRAG_CONFIG", "enough=1e-7", 1);
    spragSettings settings = spragSettingsFromEnvironment(error, sizeof error);
    CHECK_NEAR(spragSettingsFor(&settings, inches).tolerance, 1e-7, 1e-22);
    setenv("SPRAG_CONFIG", "enough=0", 1);
    settings = spragSettingsFromEnvironment(error, sizeof error);
    CHECK_NEAR(spragSettingsFor(&settings, inches).tolerance, 1e-8, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyKeyIsRead),
        cmocka_unit_test(badKeysAndValuesAreNamed),
        cmocka_unit_test(everySolverHasItsName),
        cmocka_unit_test(environmentIsRead),
        cmocka_unit_test(floatsOfTheProgramAreLeftAside),
        cmocka_unit_test(speedsAreInTheUnitsOfTheWorld),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
