/* Sweeps and paths by turns: copies of a pile that differ by rounding are all solved.  `--nightly`: p23 itself,
 * 1000 spheres, and of its copies most. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "solve/solver.h"
#include "support/random_problem.h"
#include "support/shared.h"

static int nightly;
enum { COPIES = 10, SOLVED = 7 };

/* q (n) as it was read, each number changed by 1e-12 of itself, another in each copy. */
static void perturb(const double *q, size_t n, unsigned long long copy, double *out)
{
    for (size_t i = 0; i < n; ++i)
        out[i] = q[i] * (1 + 1e-12 * uniform(&copy));
}

static void copiesAreSolved(void **state)
{
    (void)state;
    spragProblem *problem = sharedProblem(nightly ? "p23_sph1000.txt" : "p19_sph200_mu0.3.txt");
    if (problem == NULL)
        skip();
    const size_t n = 3 * (size_t)problem->contact_count;
    double *r = calloc(n, sizeof *r), *q = calloc(n, sizeof *q), *mu = calloc(n, sizeof *mu);
    assert_true(r != NULL && q != NULL && mu != NULL);
    for (int k = 0; k < problem->contact_count; ++k)
        mu[k] = nightly ? problem->mu[k] : 1.5 * problem->mu[k]; /* p19 as it is is too easy */
    spragProblem copy = *problem;
    copy.q = q, copy.mu = mu;
    int solved = 0, missed = 0; /* nightly: of ten as many, and no more are tried than decide it */
    for (unsigned long long seed = 1; nightly ? solved < SOLVED && missed <= COPIES - SOLVED : seed <= 4; ++seed) {
        if (nightly && seed == 1)
            memcpy(q, problem->q, n * sizeof *q);
        else
            perturb(problem->q, n, seed, q);
        memset(r, 0, n * sizeof *r);
        spragSolveOptions options = spragSolveOptionsDefault();
        options.tolerance = 1e-8;
        if (nightly) {
            spragSolveInfo info;
            const int done = spragProblemSolve(&copy, &options, r, NULL, &info) == SPRAG_OK;
            solved += done, missed += !done;
            assert_true(solved > 0); /* the file itself */
        } else {                     /* the path alone, from little */
            spragArena arena = {0};
            spragSolveInfo info = {0};
            options.iteration_limit = 300;
            assert_int_equal(spragSolverGaussSeidel.solve(&copy, &options, &arena, r, &info), SPRAG_NOT_CONVERGED);
            options.iteration_limit = 0;
            assert_int_equal(spragSolverTrace.solve(&copy, &options, &arena, r, &info), SPRAG_OK);
            spragArenaFree(&arena);
        }
        if (!nightly && !(spragProblemResidual(&copy, r) <= options.tolerance))
            fail_msg("copy %llu: residual %g", seed, spragProblemResidual(&copy, r));
    }
    assert_true(!nightly || solved == SOLVED);
    free(r);
    free(q);
    free(mu);
    spragProblemFree(problem);
}

/* Turns from rest; what another law asks is declined by the path, and nothing is worse than the guess. */
static void turnsAreTaken(void **state)
{
    (void)state;
    static Random random;
    spragArena arena = {0};
    const spragSolveOptions options = {.tolerance = 1e-10};
    for (unsigned long long seed = 1; seed <= 5; ++seed) {
        double r[N] = {0};
        spragSolveInfo info = {0};
        randomProblem(&random, seed, 0.3, 20);
        assert_int_equal(spragSolverTurns.solve(&random.problem, &options, &arena, r, &info), SPRAG_OK);
        assert_true(spragProblemResidual(&random.problem, r) <= options.tolerance);
    }
    double r[N] = {0};
    spragSolveInfo info = {0};
    const spragSolveOptions hurried = {.tolerance = 0, .time_limit = 0.05};
    const double before = spragProblemResidual(&random.problem, r);
    assert_int_equal(spragSolverTurns.solve(&random.problem, &hurried, &arena, r, &info), SPRAG_NOT_CONVERGED);
    assert_true(spragProblemResidual(&random.problem, r) < before);
    spragArenaFree(&arena);
}

int main(int argc, char **argv)
{
    nightly = argc > 1 && strcmp(argv[1], "--nightly") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(copiesAreSolved), cmocka_unit_test(turnsAreTaken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
