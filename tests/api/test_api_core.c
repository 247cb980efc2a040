/* spragProblemSolve: what it refuses, by name and with r untouched; what it may be asked without. */
#include "support/random_problem.h"
#include "support/refusal.h"

#include <limits.h>

static Random random;

static void argumentsAreChecked(void **state)
{
    (void)state;
    double r[N] = {0.25};
    spragSolveInfo info = {.residual = -1};
    CHECK_REFUSED(spragProblemSolve(NULL, NULL, r, NULL, &info), SPRAG_ERROR_NULL, "problem is NULL");
    assert_int_equal(info.status, SPRAG_ERROR_NULL); /* who reads info alone is not told of success */
    CHECK_REFUSED(spragProblemSolve(&random.problem, NULL, NULL, NULL, &info), SPRAG_ERROR_NULL, "r is NULL");
    r[5] = NAN;
    CHECK_REFUSED(spragProblemSolve(&random.problem, NULL, r, NULL, &info), SPRAG_ERROR_NOT_FINITE, "guess r[5]");
    r[5] = 0;
    random.mu[2] = -1;
    CHECK_REFUSED(spragProblemSolve(&random.problem, NULL, r, NULL, &info), SPRAG_ERROR_RANGE, "mu of contact 2");
    CHECK_NEAR(r[0], 0.25, 0);
    CHECK_NEAR(info.residual, -1, 0);
}

static void optionsAreChecked(void **state)
{
    (void)state;
    const spragSolveOptions good = spragSolveOptionsDefault();
    struct Case {
        spragSolveOptions options;
        const char *words;
    } table[17];
    int count = 0;
#define BAD(member, value, text)                                                                                       \
    (table[count] = (struct Case){good, text}, table[count].options.member = (value), ++count)
    BAD(solver, SPRAG_SOLVER_STOCK, "solver stock cannot");
    BAD(solver, SPRAG_SOLVER_COUNT, "solver = 6");
    BAD(tolerance, -1e-8, "tolerance = -1e-08");
    BAD(tolerance, NAN, "tolerance = nan");
    BAD(tolerance, INFINITY, "tolerance = inf");
    BAD(enough, -1, "enough = -1");
    BAD(enough, NAN, "enough = nan");
    BAD(iteration_limit, -1, "iteration_limit = -1");
    BAD(thread_count, INT_MIN, "thread_count = -2147483648");
    BAD(thread_count, 1025, "thread_count = 1025, expected >= 0 and 0 .. 1024");
    BAD(time_limit, -1, "time_limit = -1");
    BAD(time_limit, NAN, "time_limit = nan");
    BAD(work_limit, -5, "work_limit = -5");
    BAD(work_limit, NAN, "work_limit = nan");
    BAD(work_total, -5, "work_total = -5");
    BAD(indeterminacy, SPRAG_INDETERMINACY_JAM + 1, "indeterminacy = 3");
#undef BAD
    double r[N] = {0};
    for (int k = 0; k < count; ++k) {
        CHECK_REFUSED(spragProblemSolve(&random.problem, &table[k].options, r, NULL, NULL), SPRAG_ERROR_RANGE,
                      table[k].words);
        for (int i = 0; i < N; ++i)
            assert_true(r[i] == 0);
    }
}

/* Without options, u and info; zero tolerance asks for the best there is and says that it is above it. */
static void optionalArguments(void **state)
{
    (void)state;
    double r[N] = {0}, again[N] = {0}, u[N];
    assert_int_equal(spragProblemSolve(&random.problem, NULL, r, NULL, NULL), SPRAG_OK);
    spragSolveInfo info;
    spragSolveOptions options = spragSolveOptionsDefault();
    assert_int_equal(spragProblemSolve(&random.problem, &options, again, u, &info), SPRAG_OK);
    assert_memory_equal(r, again, sizeof r);
    CHECK_NEAR(info.residual, spragProblemResidual(&random.problem, r), 1e-15);
    assert_true(info.seconds > 0 && info.seconds < 60);
    assert_int_equal(info.status, SPRAG_OK);
    for (int k = 0; k < NC; ++k)
        assert_true(r[3 * k] == 0 || fabs(u[3 * k]) <= 1e-8);
    options.tolerance = 0;
    assert_int_equal(spragProblemSolve(&random.problem, &options, again, u, &info), SPRAG_NOT_CONVERGED);
    assert_true(info.residual > 0 && info.residual <= 1e-8);
}

/* A problem without contacts needs no arrays: a std::vector of none has NULL for its data. */
static void nothingIsSolved(void **state)
{
    (void)state;
    const spragProblem none = {0};
    spragSolveInfo info;
    spragExistence existence;
    assert_int_equal(spragProblemCheck(&none), SPRAG_OK);
    assert_int_equal(spragProblemSolve(&none, NULL, NULL, NULL, &info), SPRAG_OK);
    assert_int_equal(info.status, SPRAG_OK);
    CHECK_NEAR(info.residual, 0, 0);
    CHECK_NEAR(spragProblemResidual(&none, NULL), 0, 0);
    assert_int_equal(spragProblemExistence(&none, NULL, &existence), SPRAG_OK);
    assert_true(existence.assured);
}

/* A refusal is forgotten by the next call. */
static void detailIsOfTheLastCall(void **state)
{
    (void)state;
    double r[N] = {0};
    CHECK_REFUSED(spragProblemSolve(NULL, NULL, r, NULL, NULL), SPRAG_ERROR_NULL, "NULL");
    assert_int_equal(spragProblemSolve(&random.problem, NULL, r, NULL, NULL), SPRAG_OK);
    assert_string_equal(spragStatusDetail(), "");
}

static int fresh(void **state)
{
    (void)state;
    randomProblem(&random, 5, 0.5, N);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(argumentsAreChecked, fresh), cmocka_unit_test_setup(optionsAreChecked, fresh),
        cmocka_unit_test_setup(optionalArguments, fresh), cmocka_unit_test(nothingIsSolved),
        cmocka_unit_test_setup(detailIsOfTheLastCall, fresh)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
