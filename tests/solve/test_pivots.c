/* Problems in which nothing slides, by pivots: solved to rounding, also with contacts in conflict; others are told
 * apart. */
#include "support/check.h"

#include <math.h>

#include "solve/chain/chain_links.h"
#include "solve/solver.h"
#include "support/random_problem.h"

/* Contacts with mu = infinity; every fourth has parted. */
static void makeSticky(Random *random)
{
    for (int k = 0; k < NC; ++k) {
        double *bound = random->bound + 6 * k;
        const double most = k % 4 == 3 ? 0 : INFINITY;
        random->kind[k] = SPRAG_BLOCK_BOX;
        bound[0] = 0, bound[1] = bound[2] = -most, bound[3] = INFINITY, bound[4] = bound[5] = most;
    }
}

static double solveBy(const spragSolver *solver, Random *random, int *iterations)
{
    const spragSolveOptions options = {.tolerance = 1e-8};
    spragArena arena = {0};
    double r[N] = {0};
    spragSolveInfo info = {0};
    assert_int_equal(solver->solve(&random->problem, &options, &arena, r, &info), SPRAG_OK);
    *iterations = info.iterations;
    spragArenaFree(&arena);
    return spragProblemResidual(&random->problem, r);
}

/* W of full rank, and of less than its rows have, whose q it gives. */
static void theyAreSolved(void **state)
{
    (void)state;
    static Random random;
    int iterations;
    for (unsigned long long seed = 1; seed <= 200; ++seed) {
        randomProblem(&random, seed, 0.3, seed % 2 == 0 ? 20 : 40);
        makeSticky(&random);
        const double residual = solveBy(&spragSolverPivots, &random, &iterations);
        if (!(residual <= 1e-10 && iterations <= 20))
            fail_msg("seed %llu: residual %g, %d pivots", seed, residual, iterations);
    }
}

/* What W cannot give, with a compliance of 1e-11 as in a step: impulses of 1e8 N s and more.  (Newton's method took
 * thousands of steps.) */
static void soAreConflicts(void **state)
{
    (void)state;
    static Random random;
    for (unsigned long long seed = 1; seed <= 100; ++seed) {
        randomProblem(&random, seed, 0.3, 20);
        makeSticky(&random);
        for (int i = 0; i < N; ++i) {
            random.q[i] += i % 5 == 0 ? 0.01 : 0;
            random.W[9 * (NC * (i / 3) + i / 3) + 4 * (i % 3)] *= i % 3 > 0 ? 1 + 1e-11 : 1;
        }
        double r[N] = {0};
        spragSolveInfo info;
        const spragSolveOptions options = spragSolveOptionsDefault();
        spragProblemSolve(&random.problem, &options, r, NULL, &info);
        const double residual = spragProblemResidual(&random.problem, r);
        if (!(residual <= 1e-6 && info.iterations <= 300))
            fail_msg("seed %llu: residual %g after %d iterations", seed, residual, info.iterations);
    }
}

static void othersAreNot(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 1, 0.3, 20);
    assert_false(spragPivotsSuit(&random.problem));
    makeSticky(&random);
    assert_true(spragPivotsSuit(&random.problem));
    random.bound[4] = 1; /* a force limit */
    assert_false(spragPivotsSuit(&random.problem));
    const spragSolveOptions options = {.tolerance = 1e-8};
    spragArena arena = {0};
    double r[N] = {0};
    spragSolveInfo info = {0};
    assert_int_equal(spragSolverPivots.solve(&random.problem, &options, &arena, r, &info), SPRAG_NOT_CONVERGED);
    spragArenaFree(&arena);
}

/* The limit of Newton's first run. */
static int stepsOf(const Random *random)
{
    const spragSolveOptions options = {.tolerance = 1e-8};
    spragChainLinks chain = {.problem = &random->problem, .options = &options};
    spragChainLinksOf(&chain, SPRAG_CHAIN_WHOLE);
    for (int k = 0; k < chain.count; ++k)
        if (chain.link[k].method == &spragSolverNewton)
            return chain.link[k].limit;
    return -1;
}

/* Where rows slide beside rows that hold (mu infinite, mu2 finite) no pivots come, and Newton's method has as many
 * steps as without rows that hold: on what comes after it twenty boxes spent 1.1 s in a step, in place of 0.18. */
static void onlyPivotsShortenNewtonsMethod(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 1, 0.3, 20);
    makeSticky(&random);
    const int pivots = stepsOf(&random);
    random.bound[2] = -1, random.bound[5] = 1;
    const int mixed = stepsOf(&random);
    assert_true(0 < pivots && pivots < mixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(theyAreSolved), cmocka_unit_test(soAreConflicts),
                                       cmocka_unit_test(othersAreNot),
                                       cmocka_unit_test(onlyPivotsShortenNewtonsMethod)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
