#include "support/check.h"

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
        "analysis=0,events=9,indeterminacy=jam,gyroscopic=ode",
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
}

static void badKeysAndValuesAreNamed(void **state)
{
    (void)state;
    const char *const bad[] = {"solver=fast", "tolerance=0", "tolerance=-1",       "tolerance=1x", "tolerance=nan",
                               "enough=-1",   "threads=",    "indeterminacy=both", "colour=red",   "solver"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        spragConfig config = spragConfigDefault();
        char error[200] = "";
        assert_false(spragSettingsParse(bad[k], &config, error, sizeof error));
        assert_non_null(strstr(error, bad[k]));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyKeyIsRead),
        cmocka_unit_test(badKeysAndValuesAreNamed),
        cmocka_unit_test(environmentIsRead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
