/* The homotopy alone: friction so high that the interior point is stopped by folds; limits, units, the same bits. */
#include "support/interior.h"

#include "base/alloc.h"
#include "solve/newton/interior.h"
#include "solve/newton/path.h"

static Random random, changed;
static InteriorSetup setup, other;

static int follow(InteriorSetup *s, double tolerance, int limit)
{
    spragPath *path = spragPathBegin(&s->cones, 1, s->r, &s->arena);
    assert_non_null(path);
    return spragPathGo(path, &(spragStop){tolerance, 0, limit}, &s->tangent, s->r);
}

/* mu from 0.3 to 6 on hyperstatic bodies.  The path gets to a solution from most starts, from no fewer than the
 * interior point. */
static void pathsGoThroughFolds(void **state)
{
    (void)state;
    int by_path = 0, by_interior = 0;
    enum { PROBLEMS = 30 };
    for (unsigned long long seed = 1; seed <= PROBLEMS; ++seed) {
        randomProblem(&random, seed, 3, N / 2);
        interiorSetup(&setup, &random.problem, 10);
        follow(&setup, 1e-9, 1000);
        by_path += spragProblemResidual(&random.problem, setup.r) <= 1e-9;
        interiorSetup(&other, &random.problem, 10);
        spragInteriorSolve(&other.cones, &(spragStop){1e-9, 0, 1000}, &other.tangent, &other.arena, other.r);
        by_interior += spragProblemResidual(&random.problem, other.r) <= 1e-9;
        spragArenaFree(&setup.arena);
        spragArenaFree(&other.arena);
    }
    assert_true(by_path >= by_interior);
    assert_true(by_path >= 0.8 * PROBLEMS);
}

static void unitsDoNotMatterAndBitsAreTheSame(void **state)
{
    (void)state;
    const double mass = 0x1p-10, speed = 4096;
    for (unsigned long long seed = 1; seed <= 5; ++seed) {
        randomProblem(&random, seed, 0.8, 2 * N);
        interiorSetup(&setup, &random.problem, 5);
        const int steps = follow(&setup, 1e-9, 1000);
        assert_true(steps > 0 && spragProblemResidual(&random.problem, setup.r) <= 1e-9);
        interiorSetup(&other, &random.problem, 5);
        assert_int_equal(follow(&other, 1e-9, 1000), steps);
        assert_memory_equal(setup.r, other.r, sizeof setup.r);
        spragArenaFree(&other.arena);
        randomProblem(&changed, seed, 0.8, 2 * N);
        changeUnits(&changed, mass, speed);
        interiorSetup(&other, &changed.problem, 5);
        assert_int_equal(follow(&other, 1e-9 * speed, 1000), steps);
        assert_true(sameInOtherUnits(&random, other.r, setup.r, mass * speed, 0));
        spragArenaFree(&setup.arena);
        spragArenaFree(&other.arena);
    }
}

/* In two legs it is the same path. */
static void itGoesOnWhereItEnded(void **state)
{
    (void)state;
    randomProblem(&random, 3, 3, N / 2);
    interiorSetup(&setup, &random.problem, 10);
    const int steps = follow(&setup, 1e-9, 1000);
    interiorSetup(&other, &random.problem, 10);
    spragPath *path = spragPathBegin(&other.cones, 1, other.r, &other.arena);
    assert_non_null(path);
    const int first = spragPathGo(path, &(spragStop){1e-2, 0, 1000}, &other.tangent, other.r);
    assert_true(first > 0 && first < steps && spragProblemResidual(&random.problem, other.r) > 1e-9);
    assert_int_equal(first + spragPathGo(path, &(spragStop){1e-9, 0, 1000}, &other.tangent, other.r), steps);
    assert_memory_equal(setup.r, other.r, sizeof setup.r);
    spragArenaFree(&other.arena);
    spragArenaFree(&setup.arena);
}

static void limitsKeepTheBest(void **state)
{
    (void)state;
    randomProblem(&random, 2, 1, 2 * N);
    double before = INFINITY;
    for (int limit = 1; limit < 24; limit += 4) {
        interiorSetup(&setup, &random.problem, 5);
        assert_true(follow(&setup, 1e-9, limit) <= limit);
        assert_true(spragProblemResidual(&random.problem, setup.r) <= before);
        before = spragProblemResidual(&random.problem, setup.r);
        spragArenaFree(&setup.arena);
    }
    interiorSetup(&setup, &random.problem, 5);
    spragArena empty = {0};
    spragAllocFailAt(1);
    assert_null(spragPathBegin(&setup.cones, 1, setup.r, &empty));
    spragAllocFailAt(0);
    spragArenaFree(&empty);
    spragArenaFree(&setup.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pathsGoThroughFolds),
                                       cmocka_unit_test(unitsDoNotMatterAndBitsAreTheSame),
                                       cmocka_unit_test(itGoesOnWhereItEnded), cmocka_unit_test(limitsKeepTheBest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
