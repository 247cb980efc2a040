/* Contacts that join one at a time: by the judge, on random problems; where contacts repeat each other few of them
 * carry; and where there is none to leave out the method leaves the problem to others. */
#include "support/check.h"
#include "support/random_problem.h"
#include "support/shared.h"

#include "solve/solver.h"

static spragStatus solveSo(const spragProblem *problem, double *r, spragSolveInfo *info)
{
    spragArena arena = {0};
    const spragSolveOptions options = {.tolerance = 1e-8};
    const spragStatus status = spragSolverGeneration.solve(problem, &options, &arena, r, info);
    spragArenaFree(&arena);
    return status;
}

static int loadedOf(const double r[N])
{
    int loaded = 0;
    for (int k = 0; k < NC; ++k)
        loaded += r[3 * k] > 0;
    return loaded;
}

static void randomProblemsAreSolved(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 60; ++seed) {
        Random random;
        double r[N];
        spragSolveInfo info = {0};
        randomProblem(&random, seed, seed % 2 ? 0.4 : 3, seed % 3 ? N : 9);
        for (int i = 0; i < N; ++i)
            r[i] = 1e6; /* the guess has no say */
        assert_int_equal(solveSo(&random.problem, r, &info), SPRAG_OK);
        assert_true(spragProblemResidual(&random.problem, r) <= 1e-8);
    }
}

/* All its problems together have the work of one method. */
static void limitsHoldForAllTogether(void **state)
{
    (void)state;
    const double work = 1e7;
    spragProblem *problem = sharedProblem("p14_sph50_mu2.txt");
    if (problem == NULL)
        skip();
    double *r = calloc(3 * (size_t)problem->contact_count, sizeof *r);
    assert_non_null(r);
    spragArena arena = {0};
    spragSolveInfo info = {0};
    const spragSolveOptions options = {.tolerance = 1e-8, .work_limit = work};
    assert_int_equal(spragSolverGeneration.solve(problem, &options, &arena, r, &info), SPRAG_LIMIT);
    assert_true(info.work > 0.5 * work && info.work < 2 * work);
    spragArenaFree(&arena);
    free(r);
    spragProblemFree(problem);
}

/* Four contacts, three times each, but for 1e-9 of W and 3e-8 m/s: one of each three can carry all. */
static void whatRepeatsItselfIsLeftOut(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        Random random;
        double r[N] = {0};
        spragSolveInfo info = {0};
        unsigned long long draw = seed;
        randomProblem(&random, seed, 300, N);
        for (int k = 0; k < NC; ++k)
            for (int i = 0; i < 3; ++i)
                random.q[3 * k + i] =
                    k < 4 ? random.q[3 * k + i] - (i == 0) : random.q[3 * (k % 4) + i] + 3e-8 * uniform(&draw);
        for (int e = 0; e < NC * NC; ++e) {
            const double *W = random.W + 9 * (NC * (e / NC % 4) + e % NC % 4);
            for (int i = 0; i < 9; ++i)
                random.W[9 * e + i] = W[i] + (e % (NC + 1) == 0 && i % 4 == 0 ? 1e-9 * (e / NC) : 0);
        }
        assert_int_equal(solveSo(&random.problem, r, &info), SPRAG_OK);
        assert_true(spragProblemResidual(&random.problem, r) <= 1e-8);
        assert_in_range(loadedOf(r), 1, 6);
        for (int i = 0; i < N; ++i)
            assert_true(fabs(r[i]) < 1e3);
    }
}

/* Boxes are all in it from the start: nothing is gained, and r is as it was. */
static void thereIsNothingToLeaveOut(void **state)
{
    (void)state;
    Random random;
    double r[N];
    spragSolveInfo info = {0};
    randomProblem(&random, 2, 0.5, N);
    memset(random.kind, SPRAG_BLOCK_BOX, NC);
    for (int i = 0; i < N; ++i)
        r[i] = i;
    assert_int_equal(solveSo(&random.problem, r, &info), SPRAG_NOT_CONVERGED);
    assert_int_equal(info.iterations, 0);
    for (int i = 0; i < N; ++i)
        CHECK_NEAR(r[i], i, 0);
}

/* A contact that loads a rolling block is in it with that one. */
static void whatLoadsAnotherBlockIsInIt(void **state)
{
    (void)state;
    Random random;
    double r[N] = {0};
    spragSolveInfo info = {0};
    randomProblem(&random, 8, 0.5, N);
    for (int k = 0; k < NC; k += 3) {
        random.kind[k + 1] = SPRAG_BLOCK_ROLLING;
        random.parent[k + 1] = k;
    }
    assert_int_equal(solveSo(&random.problem, r, &info), SPRAG_OK);
    assert_true(spragProblemResidual(&random.problem, r) <= 1e-8);
}

/* More contacts than the mode search goes through: 106 between 50 balls. */
static void pilesAreSolved(void **state)
{
    (void)state;
    spragProblem *problem = sharedProblem("p12_sph50_mu0.5.txt");
    if (problem == NULL)
        skip();
    double *r = calloc(3 * (size_t)problem->contact_count, sizeof *r);
    spragSolveInfo info = {0};
    assert_int_equal(solveSo(problem, r, &info), SPRAG_OK);
    assert_true(spragProblemResidual(problem, r) <= 1e-8);
    free(r);
    spragProblemFree(problem);
}

/* All of its problems together have the work of one method: here it ends after the first that has contacts. */
static void workIsLimited(void **state)
{
    (void)state;
    int spent[2] = {0}, missed[2] = {0};
    for (unsigned long long seed = 1; seed <= 20; ++seed)
        for (int limited = 0; limited < 2; ++limited) {
            Random random;
            double r[N] = {0};
            spragArena arena = {0};
            spragSolveInfo info = {0};
            const spragSolveOptions options = {.tolerance = 1e-8, .work_limit = limited};
            randomProblem(&random, seed, 0.4, N);
            missed[limited] += spragSolverGeneration.solve(&random.problem, &options, &arena, r, &info) != SPRAG_OK;
            spent[limited] += info.iterations;
            spragArenaFree(&arena);
        }
    assert_int_equal(missed[0], 0);
    assert_true(missed[1] > 10);
    assert_true(2 * spent[1] < spent[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(randomProblemsAreSolved),
                                       cmocka_unit_test(workIsLimited),
                                       cmocka_unit_test(limitsHoldForAllTogether),
                                       cmocka_unit_test(whatRepeatsItselfIsLeftOut),
                                       cmocka_unit_test(thereIsNothingToLeaveOut),
                                       cmocka_unit_test(whatLoadsAnotherBlockIsInIt),
                                       cmocka_unit_test(pilesAreSolved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
