/* Rows without bounds, eliminated: what the chain finds then is an answer of the whole problem. */
#include "support/check.h"

#include <math.h>

#include "solve/solver.h"
#include "support/random_problem.h"
#include "support/small_problem.h"

static void whatIsLeftIsSolved(void **state)
{
    (void)state;
    static Random random;
    spragArena arena = {0};
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        randomProblem(&random, seed, 0.3, seed % 2 == 0 ? 20 : 40); /* W singular, or not */
        for (int k = 0; k < NC; k += 4) {
            double *bound = random.bound + 6 * k;
            random.kind[k] = SPRAG_BLOCK_BOX;
            bound[0] = 0, bound[1] = bound[2] = -INFINITY, bound[3] = bound[4] = bound[5] = INFINITY;
        }
        const spragSolveOptions options = {.tolerance = 1e-8};
        double r[N] = {0};
        spragSolveInfo info = {0};
        assert_int_equal(spragSolverFreeRows.solve(&random.problem, &options, &arena, r, &info), SPRAG_OK);
        if (!(spragProblemResidual(&random.problem, r) <= 1e-7))
            fail_msg("seed %llu: residual %g", seed, spragProblemResidual(&random.problem, r));
    }
    randomProblem(&random, 1, 0.3, 20);
    const spragSolveOptions options = {.tolerance = 1e-8};
    double r[N] = {0};
    spragSolveInfo info = {0};
    assert_int_equal(spragSolverFreeRows.solve(&random.problem, &options, &arena, r, &info), SPRAG_NOT_CONVERGED);
    assert_false(spragProblemHasFreeRows(&random.problem));
    spragArenaFree(&arena);
}

/* Two bodies between joints and a contact with mu = infinity,
 * which squeeze each other with 1e7 N s: left at 8.5e-3 m/s. */
static void aWedgeOnInfiniteFriction(void **state)
{
    (void)state;
    spragProblem *problem;
    assert_int_equal(spragProblemRead(SPRAG_SOURCE_DIR "/tests/data/games/anchored.txt", &problem), SPRAG_OK);
    double r[15] = {0};
    assert_int_equal(problem->contact_count, 5);
    const spragSolveOptions options = spragSolveOptionsDefault();
    spragSolveInfo info;
    spragProblemSolve(problem, &options, r, NULL, &info);
    assert_true(spragProblemResidual(problem, r) <= 1e-6);
    spragProblemFree(problem);
}

/* One row of a body, twice: the same is asked of both, or not. */
static void rowsThatContradictAreTold(void **state)
{
    (void)state;
    for (int contradict = 0; contradict < 2; ++contradict) {
        Small s;
        setSmall(&s, 2);
        smallW(&s, 0, 1)[0] = smallW(&s, 1, 0)[0] = 1;
        s.q[0] = 0.3, s.q[3] = contradict ? 0.1 : 0.3;
        for (int k = 0; k < 2; ++k)
            s.kind[k] = SPRAG_BLOCK_BOX, s.bound[6 * k] = -INFINITY, s.bound[6 * k + 3] = INFINITY;
        spragProblem rest;
        spragArena arena = {0};
        double told;
        assert_true(spragFreeRowsEliminate(&s.problem, &arena, &rest, &told));
        CHECK_NEAR(told, contradict ? 0.1 : 0, 1e-8); /* half of what they differ by */
        assert_false(spragProblemHasFreeRows(&rest));
        spragArenaFree(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatIsLeftIsSolved), cmocka_unit_test(aWedgeOnInfiniteFriction),
                                       cmocka_unit_test(rowsThatContradictAreTold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
