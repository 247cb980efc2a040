/* Newton on random systems of every block kind and on the problem files, judged by spragProblemResidual. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "problem/creep.h"
#include "problem/residual.h"
#include "solve/solver.h"
#include "support/random_pile.h"
#include "support/random_problem.h"
#include "support/shared.h"

/* Returns the Newton steps: 0 where the first sweeps were enough. */
static int checkSolved(const spragProblem *problem)
{
    spragArena arena = {0};
    const spragSolveOptions options = {.tolerance = 1e-11};
    spragSolveInfo info = {0}, info2 = {0};
    double r[N] = {0}, again[N] = {0};
    assert_int_equal(spragSolverNewton.solve(problem, &options, &arena, r, &info), SPRAG_OK);
    assert_true(spragProblemResidual(problem, r) <= options.tolerance);
    assert_int_equal(spragSolverNewton.solve(problem, &options, &arena, again, &info2), SPRAG_OK);
    assert_memory_equal(r, again, sizeof r); /* the same bits */
    spragArenaFree(&arena);
    return info.iterations;
}

static void contactsAreSolved(void **state)
{
    (void)state;
    static Random random;
    int steps = 0;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        randomProblem(&random, seed, 0.4, 30);
        steps += checkSolved(&random.problem);
    }
    assert_true(steps > 0);
}

static void everyKindIsSolved(void **state)
{
    (void)state;
    static Random random;
    int steps = 0;
    for (unsigned long long seed = 21; seed <= 40; ++seed) {
        randomProblem(&random, seed, 0.2, 48);
        mixKinds(&random);
        steps += checkSolved(&random.problem);
    }
    assert_true(steps > 0);
}

/* The files of ../shared/problems that are solved within a second; the others (p22, p23, p26)
 * belong to sprag-bench. */
static const char *const file_table[] = {
    "p01_box_slide.txt",       "p02_box_stick.txt",   "p03_stack10.txt",      "p05_tower20.txt",
    "p06_cards7.txt",          "p07_arch11.txt",      "p09_arch41.txt",       "p10_arch11_lowmu.txt",
    "p12_sph50_mu0.5.txt",     "p16_box50_mu0.5.txt", "p19_sph200_mu0.3.txt", "p27_islands250.txt",
    "p29_slab_on_spheres.txt", "p30_drawer_jam8.txt", "p31_painleve_rod.txt",
};

static void filesAreSolved(void **state)
{
    (void)state;
    spragArena arena = {0};
    for (size_t i = 0; i < sizeof file_table / sizeof *file_table; ++i) {
        spragProblem *problem = sharedProblem(file_table[i]);
        if (problem == NULL)
            skip();
        const spragSolveOptions options = {.tolerance = 1e-8};
        spragSolveInfo info = {0};
        double *r = calloc(3 * (size_t)problem->contact_count, sizeof *r);
        assert_non_null(r);
        spragArenaReset(&arena);
        const spragStatus status = spragSolverNewton.solve(problem, &options, &arena, r, &info);
        if (status != SPRAG_OK || !(spragProblemResidual(problem, r) <= options.tolerance))
            fail_msg("%s: %s, residual %g", file_table[i], spragStatusText(status), spragProblemResidual(problem, r));
        free(r);
        spragProblemFree(problem);
    }
    spragArenaFree(&arena);
}

/* Newton at once: from a guess whose modes fit, and only where the bodies are known; to rounding.  From a tenth of the
 * solution, which is far off, there is no step. */
static void atOnceFromAWarmGuess(void **state)
{
    (void)state;
    static Pile pile;
    const spragSolveOptions options = {.tolerance = 1e-8};
    for (unsigned long long seed = 1; seed <= 10; ++seed) {
        spragArena arena = {0};
        spragSolveInfo info = {0};
        double r[PILE_N] = {0}, rest[PILE_N] = {0};
        randomPile(&pile, seed, 0.2, 10);
        assert_int_equal(spragSolverNewtonWarm.solve(&pile.problem, &options, &arena, r, &info), SPRAG_NOT_CONVERGED);
        assert_memory_equal(r, rest, sizeof r);
        assert_int_equal(spragSolverNewton.solve(&pile.problem, &options, &arena, r, &info), SPRAG_OK);
        for (int i = 0; i < PILE_N; ++i) {
            pile.q[i] *= 1 + 1e-4;
            rest[i] = r[i];
        }
        const spragBodies *bodies = pile.problem.bodies;
        pile.problem.bodies = NULL;
        assert_int_equal(spragSolverNewtonWarm.solve(&pile.problem, &options, &arena, r, &info), SPRAG_NOT_CONVERGED);
        assert_memory_equal(r, rest, sizeof r);
        pile.problem.bodies = bodies;
        assert_true(spragProblemResidual(&pile.problem, r) > options.tolerance);
        assert_int_equal(spragSolverNewtonWarm.solve(&pile.problem, &options, &arena, r, &info), SPRAG_OK);
        assert_true(spragProblemResidual(&pile.problem, r) <= 1e-12);
        const int before = info.iterations;
        for (int i = 0; i < PILE_N; ++i)
            r[i] = rest[i] = 0.1 * r[i];
        info.residual = spragProblemResidual(&pile.problem, r);
        assert_int_equal(spragSolverNewtonWarm.solve(&pile.problem, &options, &arena, r, &info), SPRAG_NOT_CONVERGED);
        assert_memory_equal(r, rest, sizeof r);
        assert_int_equal(info.iterations, before);
        spragArenaFree(&arena);
    }
}

/* What is begun again among contacts has what the bodies have left of the work, and no more. */
static void bothSpacesShareTheWork(void **state)
{
    (void)state;
    static Pile pile;
    const double total = 1e6;
    const spragSolveOptions options = {.tolerance = 1e-22, .work_limit = 1e8, .work_total = total};
    for (unsigned long long seed = 1; seed <= 12; ++seed) {
        spragArena arena = {0};
        spragSolveInfo info = {.work = 7e5}; /* of others */
        double r[PILE_N] = {0};
        randomPile(&pile, seed, 3, 10);
        assert_int_equal(spragSolverNewton.solve(&pile.problem, &options, &arena, r, &info), SPRAG_NOT_CONVERGED);
        assert_in_range(info.work - 7e5, 0.9 * total, 1.2 * total);
        spragArenaFree(&arena);
    }
}

/* An answer within tolerance that creeps: the chain polishes it to rounding, however rough the tolerance. */
static void creepIsPolishedAway(void **state)
{
    (void)state;
    static Pile pile;
    const spragSolveOptions options = {.tolerance = 1e-8}, rough = {.tolerance = SPRAG_CREEP_MATTERS};
    int crept = 0;
    for (unsigned long long seed = 1; seed <= 10; ++seed) {
        spragArena arena = {0};
        spragSolveInfo info = {0};
        double r[PILE_N] = {0}, u[PILE_N];
        randomPile(&pile, seed, 0.8, 10);
        assert_int_equal(spragSolverNewton.solve(&pile.problem, &options, &arena, r, &info), SPRAG_OK);
        for (int i = 0; i < PILE_N; ++i)
            pile.q[i] *= 1 + 4e-11;
        spragProblemVelocity(&pile.problem, r, u);
        crept += spragVelocityCreep(&pile.problem, r, u) > SPRAG_CREEP_SLOW;
        assert_int_equal(spragChainSolve(&pile.problem, &rough, &arena, r, u, &info), SPRAG_OK);
        assert_true(spragVelocityCreep(&pile.problem, r, u) <= SPRAG_CREEP_ROUNDING);
        spragArenaFree(&arena);
    }
    assert_true(crept >= 5);
}

/* Forces that friction leaves open drift towards their next event, at 1e-8 m/s, and lambda is small by then.  Such a
 * problem is no warm start: held to that rule Newton's method began again and again, and took 541 steps. */
static void heavyOnLightIsNoWarmStart(void **state)
{
    (void)state;
    spragProblem *problem;
    spragArena arena = {0};
    spragSolveInfo info = {0};
    const spragSolveOptions options = {.tolerance = 1e-8};
    double r[N] = {0};
    assert_int_equal(spragProblemRead(SPRAG_SOURCE_DIR "/tests/data/twisted_stack.txt", &problem), SPRAG_OK);
    assert_int_equal(problem->contact_count, NC);
    assert_int_equal(spragSolverNewton.solve(problem, &options, &arena, r, &info), SPRAG_OK);
    assert_true(spragProblemResidual(problem, r) <= options.tolerance);
    assert_in_range(info.iterations, 1, 300);
    spragArenaFree(&arena);
    spragProblemFree(problem);
}

/* The chain asks for `enough` in place of the tolerance where that will do, and says so by both: then the proximal
 * points have more steps before an interior point.  (It was not heard, and a program that plays had the steps of one
 * that asks for 1e-8.) */
static void enoughIsHeard(void **state)
{
    (void)state;
    spragProblem *problem = sharedProblem("p19_sph200_mu0.3.txt");
    double work[2], *r = problem == NULL ? NULL : calloc(3 * (size_t)problem->contact_count, sizeof *r);
    if (problem == NULL)
        skip();
    assert_non_null(r);
    for (int plays = 0; plays < 2; ++plays) {
        spragArena arena = {0};
        spragSolveInfo info = {0};
        const spragSolveOptions options = {.tolerance = 1e-6, .enough = plays ? 1e-6 : 0, .work_limit = 9e7};
        memset(r, 0, 3 * (size_t)problem->contact_count * sizeof *r);
        assert_int_equal(spragSolverNewton.solve(problem, &options, &arena, r, &info), SPRAG_OK);
        assert_true(spragProblemResidual(problem, r) <= 1e-6);
        work[plays] = info.work;
        spragArenaFree(&arena);
    }
    assert_true(work[1] < work[0]);
    free(r);
    spragProblemFree(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contactsAreSolved),
                                       cmocka_unit_test(everyKindIsSolved),
                                       cmocka_unit_test(filesAreSolved),
                                       cmocka_unit_test(atOnceFromAWarmGuess),
                                       cmocka_unit_test(bothSpacesShareTheWork),
                                       cmocka_unit_test(creepIsPolishedAway),
                                       cmocka_unit_test(heavyOnLightIsNoWarmStart),
                                       cmocka_unit_test(enoughIsHeard)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
