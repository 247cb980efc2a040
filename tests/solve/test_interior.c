/* The interior point alone: random problems, hyperstatic ones, one solution for one velocity, other units. */
#include "support/interior.h"

#include "base/alloc.h"
#include "solve/newton/interior.h"

static Random random, changed;
static InteriorSetup setup, other;

static int solve(InteriorSetup *s, double tolerance, int limit)
{
    return spragInteriorSolve(&s->cones, &(spragStop){tolerance, 0, limit}, &s->tangent, &s->arena, s->r);
}

/* From some sweeps to 1e-6, as near as it leads: the scaling loses its digits at the boundary.  Where W is regular and
 * friction small the solution is that of sweeps without end. */
static void randomProblemsAreSolved(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        const int hyperstatic = seed % 2 == 0;
        randomProblem(&random, seed, 0.2, hyperstatic ? N / 2 : 2 * N);
        interiorSetup(&setup, &random.problem, 3);
        assert_true(spragProblemResidual(&random.problem, setup.r) > 1e-5);
        const int steps = solve(&setup, 1e-6, 1000);
        assert_in_range(steps, 1, 60);
        assert_true(spragProblemResidual(&random.problem, setup.r) <= 1e-6);
        if (!hyperstatic) {
            interiorSetup(&other, &random.problem, 20000);
            for (int i = 0; i < N; ++i)
                CHECK_NEAR(setup.r[i], other.r[i], 1e-5);
            spragArenaFree(&other.arena);
        }
        spragArenaFree(&setup.arena);
    }
}

static void unitsDoNotMatter(void **state)
{
    (void)state;
    const double mass = 1024, speed = 0x1p-20;
    for (unsigned long long seed = 1; seed <= 10; ++seed) {
        randomProblem(&random, seed, 0.4, 2 * N);
        randomProblem(&changed, seed, 0.4, 2 * N);
        changeUnits(&changed, mass, speed);
        interiorSetup(&setup, &random.problem, 3);
        interiorSetup(&other, &changed.problem, 3);
        const int steps = solve(&setup, 1e-6, 1000);
        assert_int_equal(solve(&other, 1e-6 * speed, 1000), steps);
        assert_true(sameInOtherUnits(&random, other.r, setup.r, mass * speed, 0));
        spragArenaFree(&setup.arena);
        spragArenaFree(&other.arena);
    }
}

/* A limit keeps the best so far: never worse than the guess, and better with more steps. */
static void limitsKeepTheBest(void **state)
{
    (void)state;
    randomProblem(&random, 4, 0.5, N / 2);
    double last = INFINITY;
    for (int limit = 0; limit <= 30; limit += 3) {
        interiorSetup(&setup, &random.problem, 3);
        const double before = spragProblemResidual(&random.problem, setup.r);
        assert_true(solve(&setup, 1e-6, limit) <= limit);
        const double after = spragProblemResidual(&random.problem, setup.r);
        assert_true(after <= before && after <= last);
        last = after;
        spragArenaFree(&setup.arena);
    }
    assert_true(last <= 1e-6);
    randomProblem(&random, 4, 0.5, 2 * N);
    interiorSetup(&setup, &random.problem, 0);
    spragArena empty = {0};
    spragAllocFailAt(1);
    assert_int_equal(spragInteriorSolve(&setup.cones, &(spragStop){1e-8, 0, 10}, &setup.tangent, &empty, setup.r), -1);
    spragAllocFailAt(0);
    spragArenaFree(&empty);
    spragArenaFree(&setup.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(randomProblemsAreSolved), cmocka_unit_test(unitsDoNotMatter),
                                       cmocka_unit_test(limitsKeepTheBest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
