/* The traced path on piles of spheres, from a guess that sweeps have left unfinished,
 * judged by spragProblemResidual. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "solve/solver.h"
#include "support/random_problem.h"
#include "support/shared.h"

/* r: `sweeps` sweeps from rest; returns the residual. */
static double sweep(const spragProblem *problem, int sweeps, spragArena *arena, double *r)
{
    const spragSolveOptions options = {.tolerance = 1e-8, .iteration_limit = sweeps};
    spragSolveInfo info = {0};
    spragSolverGaussSeidel.solve(problem, &options, arena, r, &info);
    return spragProblemResidual(problem, r);
}

static void pilesAreSolved(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int sweeps, factors_most;
    } table[] = {{"p12_sph50_mu0.5.txt", 24, 600}, {"p19_sph200_mu0.3.txt", 200, 2000}};
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        spragProblem *problem = sharedProblem(table[i].file);
        if (problem == NULL)
            skip();
        spragArena arena = {0};
        const spragSolveOptions options = {.tolerance = 1e-8};
        const size_t n = 3 * (size_t)problem->contact_count;
        double *r = calloc(n, sizeof *r), *again = calloc(n, sizeof *again);
        assert_true(r != NULL && again != NULL);
        assert_true(sweep(problem, table[i].sweeps, &arena, r) > 1e-5); /* there is something to do */
        memcpy(again, r, n * sizeof *r);
        spragSolveInfo info = {0}, info2 = {0};
        assert_int_equal(spragSolverTrace.solve(problem, &options, &arena, r, &info), SPRAG_OK);
        assert_true(spragProblemResidual(problem, r) <= options.tolerance);
        assert_in_range(info.iterations, 2, table[i].factors_most);
        assert_int_equal(spragSolverTrace.solve(problem, &options, &arena, again, &info2), SPRAG_OK);
        assert_memory_equal(r, again, n * sizeof *r); /* the same bits */
        free(r);
        free(again);
        spragArenaFree(&arena);
        spragProblemFree(problem);
    }
}

/* Random systems with a full W are easy: from rest. */
static void randomSystemsAreSolved(void **state)
{
    (void)state;
    static Random random;
    spragArena arena = {0};
    for (unsigned long long seed = 1; seed <= 40; ++seed) {
        randomProblem(&random, seed, 0.3, 20);
        const spragSolveOptions options = {.tolerance = 1e-10};
        double r[N] = {0};
        spragSolveInfo info = {0};
        sweep(&random.problem, 2, &arena, r);
        spragSolverTrace.solve(&random.problem, &options, &arena, r, &info);
        if (!(spragProblemResidual(&random.problem, r) <= options.tolerance))
            fail_msg("seed %llu: residual %g", seed, spragProblemResidual(&random.problem, r));
    }
    spragArenaFree(&arena);
}

/* Limits are kept, nothing worse than the guess comes back, and other laws are declined. */
static void limitsAreKept(void **state)
{
    (void)state;
    spragProblem *problem = sharedProblem("p19_sph200_mu0.3.txt");
    if (problem == NULL)
        skip();
    spragArena arena = {0};
    double *r = calloc(3 * (size_t)problem->contact_count, sizeof *r);
    assert_non_null(r);
    const double before = sweep(problem, 100, &arena, r);
    spragSolveInfo info = {0};
    const spragSolveOptions options = {.tolerance = 1e-12, .iteration_limit = 20};
    assert_int_equal(spragSolverTrace.solve(problem, &options, &arena, r, &info), SPRAG_NOT_CONVERGED);
    assert_true(spragProblemResidual(problem, r) <= before);
    assert_in_range(info.iterations, 20, 80);
    free(r);
    spragProblemFree(problem);

    static Random random;
    randomProblem(&random, 3, 0.3, 20);
    mixKinds(&random);
    double s[N] = {0};
    assert_int_equal(spragSolverTrace.solve(&random.problem, &options, &arena, s, &info), SPRAG_NOT_CONVERGED);
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pilesAreSolved), cmocka_unit_test(randomSystemsAreSolved),
                                       cmocka_unit_test(limitsAreKept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
