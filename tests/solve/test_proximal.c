/* Proximal Newton: warm starts, hyperstatic W, polish, limits. */
#include "support/check.h"
#include "support/random_problem.h"
#include "support/small_problem.h"

#include "base/alloc.h"
#include "solve/newton/proximal.h"

static const double TOLERANCE = 1e-8;

static void coldAndWarm(void **state)
{
    (void)state;
    static Random random;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        randomProblem(&random, seed, 0.3, seed % 2 ? 2 * N : 12);
        spragArena arena = {0};
        spragProximal proximal;
        double r[N] = {0};
        int cold = 0, warm = 0;
        assert_true(spragProximalInit(&proximal, &random.problem, &arena));
        spragProximalReset(&proximal, r);
        assert_int_equal(spragProximalPoints(&proximal, 1e-3, &(spragStop){TOLERANCE, 0, 400}, r, &cold), SPRAG_OK);
        memcpy(r, proximal.best, sizeof r);
        CHECK_NEAR(proximal.best_residual, spragProblemResidual(&random.problem, r), 0);
        const double polished = spragProximalPolish(&proximal, TOLERANCE, proximal.best_residual, r, &cold);
        CHECK_NEAR(polished, spragProblemResidual(&random.problem, r), 0);
        assert_true(polished <= 1e-11);
        for (int i = 0; i < N; ++i) /* the same modes, other numbers: a few steps at most */
            random.q[i] *= 1 + 1e-6;
        spragProximalReset(&proximal, r);
        assert_int_equal(spragProximalPoints(&proximal, SPRAG_LAMBDA_WARM, &(spragStop){1e-9, 0, 400}, r, &warm),
                         SPRAG_OK);
        assert_true(warm <= 6 && warm < cold);
        spragArenaFree(&arena);
    }
}

/* Of all r with the same u the nearest to the start is taken: a preload stays. */
static void preloadStays(void **state)
{
    (void)state;
    /* a slider between two walls: r_n pushes from both sides, W is singular along (1, 1) */
    Small s;
    setSmall(&s, 2);
    for (int i = 0; i < 3; ++i)
        smallW(&s, 0, 1)[4 * i] = smallW(&s, 1, 0)[4 * i] = i == 0 ? -1 : 1;
    s.q[0] = 0.2, s.q[3] = -0.2, s.mu[0] = s.mu[1] = 0.5;
    double r[6] = {3, 0, 0, 3, 0, 0};
    spragArena arena = {0};
    spragProximal proximal;
    int steps = 0;
    assert_true(spragProximalInit(&proximal, &s.problem, &arena));
    spragProximalReset(&proximal, r);
    assert_int_equal(spragProximalPoints(&proximal, SPRAG_LAMBDA_WARM, &(spragStop){TOLERANCE, 0, 50}, r, &steps),
                     SPRAG_OK);
    CHECK_NEAR(r[0], 2.9, 1e-6);
    CHECK_NEAR(r[3], 3.1, 1e-6);
    spragArenaFree(&arena);
}

static void limitsAreKept(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 5, 0.4, 12);
    spragArena arena = {0};
    spragProximal proximal;
    double r[N] = {0};
    int steps = 0;
    assert_true(spragProximalInit(&proximal, &random.problem, &arena));
    spragProximalReset(&proximal, r);
    assert_int_equal(spragProximalPoints(&proximal, 1e-3, &(spragStop){0, 1e-9, 1000}, r, &steps), SPRAG_LIMIT);
    assert_int_equal(steps, 0);
    assert_int_equal(spragProximalPoints(&proximal, 1e-3, &(spragStop){0, 0, 5}, r, &steps), SPRAG_NOT_CONVERGED);
    assert_true(steps >= 5 && steps < 5 + 12 + 1);
    proximal.look = 8; /* what stands at rounding gains no digit */
    steps = 0;
    assert_int_equal(spragProximalPoints(&proximal, 1e-3, &(spragStop){0, 0, 1000}, r, &steps), SPRAG_NOT_CONVERGED);
    assert_true(steps < 200);
    proximal.look = 0;
    spragArenaFree(&arena);
    spragAllocFailAt(1);
    assert_false(spragProximalInit(&proximal, &random.problem, &arena));
    spragAllocFailAt(0);
    spragArenaFree(&arena);
}

/* There is no way back from a start that is no number: no step is spent on it. */
static void noStartIsNoWork(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 1, 0.3, N);
    spragArena arena = {0};
    spragProximal proximal;
    double r[N] = {NAN};
    int steps = 0;
    assert_true(spragProximalInit(&proximal, &random.problem, &arena));
    spragProximalReset(&proximal, r);
    assert_int_equal(spragProximalPoints(&proximal, 1e-3, &(spragStop){TOLERANCE, 0, 400}, r, &steps),
                     SPRAG_NOT_CONVERGED);
    assert_int_equal(steps, 0);
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(coldAndWarm), cmocka_unit_test(preloadStays),
                                       cmocka_unit_test(limitsAreKept), cmocka_unit_test(noStartIsNoWork)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
