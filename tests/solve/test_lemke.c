/* Lemke alone: random problems of every kind, both sides of a guide, the
 * inconsistent rod, limits, the shared problems. */
#include "support/check.h"
#include "support/random_problem.h"
#include "support/shared.h"
#include "support/small_problem.h"

#include "linalg/vec3.h"
#include "solve/solver.h"

static const spragSolveOptions strict = {.solver = SPRAG_SOLVER_LEMKE, .tolerance = 1e-10};

/* Every normal reaction >= 0, whatever the status says. */
static void checkNoPull(const spragProblem *problem, const double *r)
{
    for (int k = 0; k < problem->contact_count; ++k)
        if (problem->kind == NULL || problem->kind[k] == SPRAG_BLOCK_CONTACT)
            assert_true(r[3 * k] >= -1e-10);
}

static void randomContacts(void **state)
{
    (void)state;
    static Random random;
    int solved = 0;
    for (unsigned long long seed = 1; seed <= 40; ++seed) {
        randomProblem(&random, seed, 0.3, seed % 2 ? 2 * N : N / 2);
        spragArena arena = {0};
        spragSolveInfo info;
        double r[N] = {0}, again[N] = {0};
        const spragStatus status = spragChainSolve(&random.problem, &strict, &arena, r, NULL, &info);
        assert_true(status == SPRAG_OK || status == SPRAG_NOT_CONVERGED);
        assert_true(status != SPRAG_OK || spragProblemResidual(&random.problem, r) <= strict.tolerance);
        if (status == SPRAG_OK)
            checkNoPull(&random.problem, r);
        solved += status == SPRAG_OK;
        spragChainSolve(&random.problem, &strict, &arena, again, NULL, &info);
        assert_memory_equal(r, again, sizeof r); /* the same bits */
        spragArenaFree(&arena);
    }
    assert_int_equal(solved, 40);
}

/* M is copositive whatever the kinds are: none ends in a ray. */
static void everyKind(void **state)
{
    (void)state;
    static Random random;
    for (unsigned long long seed = 1; seed <= 40; ++seed) {
        randomProblem(&random, seed, 0.3, seed % 2 ? 2 * N : N / 2);
        mixKinds(&random);
        spragArena arena = {0};
        spragSolveInfo info;
        double r[N] = {0};
        assert_int_equal(spragChainSolve(&random.problem, &strict, &arena, r, NULL, &info), SPRAG_OK);
        assert_true(spragProblemResidual(&random.problem, r) <= strict.tolerance);
        checkNoPull(&random.problem, r);
        spragArenaFree(&arena);
    }
}

/* A guide under a load q_n that holds by friction, or slides by as much as mu of the loaded side leaves:
 * W = 1: r_n = -q_n, |r_t| <= mu(side) |r_n|. */
static void sidesOfGuide(void **state)
{
    (void)state;
    const double mu = 0.2, mu_minus = 0.6;
    for (int side = -1; side <= 1; side += 2)
        for (int slides = 0; slides < 2; ++slides) {
            const double limit = side > 0 ? mu : mu_minus, pull = limit * (slides ? 1.5 : 0.5);
            Small s;
            setSmall(&s, 1);
            s.kind[0] = SPRAG_BLOCK_TWO_SIDED;
            s.mu[0] = mu, s.mu_minus[0] = mu_minus;
            s.q[0] = -side, s.q[1] = 0.6 * pull, s.q[2] = 0.8 * pull;
            spragArena arena = {0};
            spragSolveInfo info;
            double r[3] = {0}, u[3];
            assert_int_equal(spragChainSolve(&s.problem, &strict, &arena, r, u, &info), SPRAG_OK);
            assert_int_equal(info.solver, SPRAG_SOLVER_LEMKE);
            CHECK_NEAR(r[0], side, 1e-12);
            CHECK_NEAR(spragNorm2(r + 1), fmin(pull, limit), 1e-12);
            CHECK_NEAR(spragNorm2(u + 1), slides ? 0.5 * limit : 0, 1e-12);
            spragArenaFree(&arena);
        }
}

/* p < 0, b < 0: a well-known Lemke calls N = -24.09 solved here. */
static void inconsistentRod(void **state)
{
    (void)state;
    const double W[9] = {1.6, 0, -1.2, 0, 4, 0, -1.2, 0, 3.4}, q[3] = {-0.00981, 0, -5}, mu = 2;
    const int row_start[2] = {0, 1}, column = 0;
    const spragProblem problem = {
        .contact_count = 1, .block_count = 1, .row_start = row_start, .column = &column, .W = W, .q = q, .mu = &mu};
    spragArena arena = {0};
    spragSolveInfo info;
    double r[3] = {0}, u[3];
    assert_int_equal(spragChainSolve(&problem, &strict, &arena, r, u, &info), SPRAG_OK);
    assert_int_equal(info.solver, SPRAG_SOLVER_LEMKE);
    assert_true(r[0] > 0);
    CHECK_NEAR(spragNorm3(u), 0, 1e-14);
    spragArenaFree(&arena);
}

static void limitsAreKept(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 3, 0.4, 2 * N);
    spragArena arena = {0};
    spragSolveOptions options = strict;
    options.iteration_limit = 2;
    spragSolveInfo info;
    double r[N] = {0};
    assert_int_equal(spragChainSolve(&random.problem, &options, &arena, r, NULL, &info), SPRAG_LIMIT);
    assert_true(info.method_iterations[SPRAG_SOLVER_LEMKE] <= 2);
    assert_true(isfinite(info.residual));
    CHECK_NEAR(info.residual, spragProblemResidual(&random.problem, r), 0);
    spragArenaFree(&arena);
}

static void sharedProblems(void **state)
{
    (void)state;
    static const char *const name[] = {"p01_box_slide.txt", "p02_box_stick.txt",   "p05_tower20.txt",
                                       "p06_cards7.txt",    "p30_drawer_jam8.txt", "p31_painleve_rod.txt"};
    for (size_t k = 0; k < sizeof name / sizeof *name; ++k) {
        spragProblem *problem = sharedProblem(name[k]);
        if (problem == NULL)
            skip();
        double *r = calloc(3 * (size_t)problem->contact_count, sizeof *r);
        spragSolveOptions options = spragSolveOptionsDefault();
        options.solver = SPRAG_SOLVER_LEMKE;
        spragSolveInfo info;
        assert_int_equal(spragProblemSolve(problem, &options, r, NULL, &info), SPRAG_OK);
        assert_true(spragProblemResidual(problem, r) <= 1e-8);
        free(r);
        spragProblemFree(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(randomContacts), cmocka_unit_test(everyKind),
                                       cmocka_unit_test(sidesOfGuide),   cmocka_unit_test(inconsistentRod),
                                       cmocka_unit_test(limitsAreKept),  cmocka_unit_test(sharedProblems)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
