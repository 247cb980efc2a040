/* Gauss-Seidel on random systems of every block kind, judged by spragProblemResidual. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "linalg/vec3.h"
#include "solve/contact/cone_block.h"
#include "solve/solver.h"
#include "support/random_problem.h"
#include "support/shared.h"

static void checkSolved(const spragProblem *problem)
{
    spragArena arena = {0};
    const spragSolveOptions options = {.tolerance = 1e-11};
    spragSolveInfo info = {0}, info2 = {0};
    double r[N] = {0}, again[N] = {0};
    assert_int_equal(spragSolverGaussSeidel.solve(problem, &options, &arena, r, &info), SPRAG_OK);
    assert_true(spragProblemResidual(problem, r) <= options.tolerance);
    assert_true(info.iterations > 0);
    assert_int_equal(spragSolverGaussSeidel.solve(problem, &options, &arena, again, &info2), SPRAG_OK);
    assert_memory_equal(r, again, sizeof r); /* the same bits */
    spragArenaFree(&arena);
}

static void contactsAreSolved(void **state)
{
    (void)state;
    static Random random;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        randomProblem(&random, seed, 0.4, 48);
        checkSolved(&random.problem);
    }
}

static void everyKindIsSolved(void **state)
{
    (void)state;
    static Random random;
    for (unsigned long long seed = 21; seed <= 40; ++seed) {
        randomProblem(&random, seed, 0.2, 48);
        mixKinds(&random);
        checkSolved(&random.problem);
    }
}

static void limitsAreKept(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 3, 0.4, 48);
    spragArena arena = {0};
    const spragSolveOptions options = {.tolerance = 0, .iteration_limit = 3};
    spragSolveInfo info = {0};
    double r[N] = {0};
    assert_int_equal(spragSolverGaussSeidel.solve(&random.problem, &options, &arena, r, &info), SPRAG_NOT_CONVERGED);
    assert_int_equal(info.iterations, 3);
    assert_true(isfinite(spragProblemResidual(&random.problem, r)));
    spragArenaFree(&arena);
}

/* One block: the answer obeys the law to rounding, sticking has u = 0, slip lies on the cone. */
static void oneConeToRounding(void **state)
{
    (void)state;
    unsigned long long seed = 77;
    int open = 0, stick = 0, slip = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        double G[9], W[9] = {0}, q[3], r[3], u[3];
        for (int i = 0; i < 9; ++i)
            G[i] = uniform(&seed);
        for (int i = 0; i < 9; ++i)
            for (int k = 0; k < 3; ++k)
                W[i] += G[3 * (i / 3) + k] * G[3 * (i % 3) + k];
        W[0] += 1, W[4] += 1, W[8] += 1;
        for (int i = 0; i < 3; ++i)
            u[i] = q[i] = uniform(&seed);
        const double mu = 0.1 + 0.2 * (trial % 5);
        spragConeBlock block;
        spragConeBlockInit(&block, W, mu, mu);
        spragConeBlockSolve(&block, q, r);
        spragMulAdd33(u, W, r);
        const double friction = spragNorm2(r + 1), speed = spragNorm2(u + 1);
        if (r[0] == 0) {
            ++open;
            assert_true(q[0] >= 0 && friction == 0);
        } else {
            CHECK_NEAR(u[0], 0, 1e-14);
            assert_true(r[0] > 0 && friction <= mu * r[0] * (1 + 1e-14));
            if (friction < mu * r[0] * (1 - 1e-12)) {
                ++stick;
                CHECK_NEAR(speed, 0, 1e-13);
            } else {
                ++slip;
                CHECK_NEAR(r[1] * u[1] + r[2] * u[2], -friction * speed, 1e-14);
            }
        }
    }
    assert_true(open > 500 && stick > 100 && slip > 500);
}

/* Redundant contacts make sweeps drift; following the drift saves thousands of them. */
static void driftsAreFollowed(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int sweeps;
        double residual; /* m/s; without rays ten times as much or more */
    } table[] = {{"p16_box50_mu0.5.txt", 500, 1e-4}, {"p09_arch41.txt", 2000, 1e-7}};
    spragArena arena = {0};
    for (int k = 0; k < 2; ++k) {
        spragProblem *problem = sharedProblem(table[k].file);
        if (problem == NULL)
            skip();
        double *r = calloc(3 * (size_t)problem->contact_count, sizeof *r);
        const spragSolveOptions options = {.tolerance = 1e-8, .iteration_limit = table[k].sweeps};
        spragSolveInfo info = {0};
        spragSolverGaussSeidel.solve(problem, &options, &arena, r, &info);
        assert_true(spragProblemResidual(problem, r) <= table[k].residual);
        free(r);
        spragProblemFree(problem);
    }
    spragArenaFree(&arena);
}

/* In a step, sweeps of many contacts that move have momentum and get further. */
static void momentumPays(void **state)
{
    (void)state;
    enum { SWEEPS = 400 };
    spragProblem *problem = sharedProblem("p23_sph1000.txt");
    if (problem == NULL)
        skip();
    spragArena arena = {0};
    double residual[2], *r = calloc(3 * (size_t)problem->contact_count, sizeof *r);
    for (int step = 0; step < 2; ++step) {
        const spragSolveOptions options = {.tolerance = 1e-8, .iteration_limit = SWEEPS, .work_limit = step ? 1e9 : 0};
        spragSolveInfo info = {0};
        memset(r, 0, 3 * (size_t)problem->contact_count * sizeof *r);
        spragSolverGaussSeidel.solve(problem, &options, &arena, r, &info);
        assert_int_equal(info.iterations, SWEEPS);
        residual[step] = spragProblemResidual(problem, r);
    }
    assert_true(residual[1] < 0.7 * residual[0]);
    free(r);
    spragProblemFree(problem);
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contactsAreSolved), cmocka_unit_test(everyKindIsSolved),
                                       cmocka_unit_test(limitsAreKept),     cmocka_unit_test(driftsAreFollowed),
                                       cmocka_unit_test(momentumPays),      cmocka_unit_test(oneConeToRounding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
