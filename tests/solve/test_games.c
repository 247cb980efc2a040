/* Islands of programs nobody here wrote, as SPRAG_DUMP wrote them down: a car of stormbaancoureur with mu = 340 and its
 * suspension, the same car, its motors at their limits, spinning and against planks, a string of ball joints on the
 * ground.  Each was once missed. */
#include "support/check.h"

#include <sprag/sprag.h>

#include "base/clock.h"
#include "support/ticking_clock.h"

static void everyIslandIsSolved(void **state)
{
    (void)state;
    const char *const path[] = {
        SPRAG_SOURCE_DIR "/tests/data/games/car.txt", SPRAG_SOURCE_DIR "/tests/data/games/string.txt",
        SPRAG_SOURCE_DIR "/tests/data/games/wheels.txt", SPRAG_SOURCE_DIR "/tests/data/games/planks.txt"};
    for (size_t k = 0; k < sizeof path / sizeof *path; ++k) {
        spragProblem *problem;
        double r[72] = {0}, u[72];
        spragSolveInfo info;
        assert_int_equal(spragProblemRead(path[k], &problem), SPRAG_OK);
        assert_true(3 * problem->contact_count <= 72);
        const spragSolveOptions options = spragSolveOptionsDefault();
        assert_int_equal(spragProblemSolve(problem, &options, r, u, &info), SPRAG_OK);
        assert_true(spragProblemResidual(problem, r) <= 1e-8);
        spragProblemFree(problem);
    }
}

static void solveInAStep(const char *path, int iterations_most)
{
    spragProblem *problem;
    double r[180] = {0};
    spragSolveInfo info;
    assert_int_equal(spragProblemRead(path, &problem), SPRAG_OK);
    assert_true(3 * problem->contact_count <= 180);
    spragSolveOptions options = spragSolveOptionsDefault();
    options.enough = 1e-6, options.work_limit = 9e7;
    spragProblemSolve(problem, &options, r, NULL, &info);
    assert_true(spragProblemResidual(problem, r) <= 1e-6);
    assert_true(info.iterations < iterations_most);
    spragProblemFree(problem);
}

/* In a step a game is content with 1e-6, and the path through the folds gets there: a car that turns on the
 * spot, one at a pole, one between two swivel doors, whose wheels' directions of slip turn on the way; one flung
 * against a door and one between two, where it takes the sign of the determinant and fine arithmetic.  A
 * thousand steps of it are some milliseconds. */
static void aPathLeadsThere(void **state)
{
    (void)state;
    const char *const path[] = {
        SPRAG_SOURCE_DIR "/tests/data/games/turning.txt", SPRAG_SOURCE_DIR "/tests/data/games/pole.txt",
        SPRAG_SOURCE_DIR "/tests/data/games/doors.txt", SPRAG_SOURCE_DIR "/tests/data/games/flung.txt",
        SPRAG_SOURCE_DIR "/tests/data/games/gates.txt"};
    for (size_t k = 0; k < sizeof path / sizeof *path; ++k)
        solveInAStep(path[k], 12000);
}

/* The car where it ran into a heap: the homotopy comes to 1e-5 m/s, and does not end. */
static void theHeapIsSolved(void **state)
{
    (void)state;
    solveInAStep(SPRAG_SOURCE_DIR "/tests/data/games/crash.txt", 12000);
}

/* The car with three motors at their limits, and its wheels alone.  (With normal rows that lag, proximal.h, they
 * took 394 and 368 steps.) */
static void normalRowsDoNotLag(void **state)
{
    (void)state;
    solveInAStep(SPRAG_SOURCE_DIR "/tests/data/games/motors.txt", 100);
    solveInAStep(SPRAG_SOURCE_DIR "/tests/data/games/wheels.txt", 100);
}

/* The car, stuck late in a long play: it was left at 1.8e-4 m/s after 11 000 factorisations.  Six of
 * its fifteen contacts carry, with 3e5 N s. */
static void contactsThatCarryAreFound(void **state)
{
    (void)state;
    solveInAStep(SPRAG_SOURCE_DIR "/tests/data/games/stranded.txt", 6000);
}

/* The car on two planks, whose contacts of mu = 340 brace it against each other: where all are asked at once paths
 * arrive beside the solution, and the residual is no less for it (2.6e-6 m/s, after 12000 factorisations). */
static void bracedContactsAreSolved(void **state)
{
    (void)state;
    solveInAStep(SPRAG_SOURCE_DIR "/tests/data/games/braced.txt", 3000);
}

/* Plates with mu = 100 in a heap (ODE's demo_feedback): a few steps more of Newton's method, time for an interior point
 * and a path, spare the contacts joining one by one, which took 7000. */
static void platesAreSolvedTogether(void **state)
{
    (void)state;
    solveInAStep(SPRAG_SOURCE_DIR "/tests/data/games/plates.txt", 1000);
}

/* The car, stuck: contacts with mu = 50 that all but repeat each other.  Who says what will do gets that, and soon. */
static void enoughIsSoonDone(void **state)
{
    (void)state;
    spragProblem *problem;
    spragSolveInfo patient, contented;
    double r[60] = {0}, s[60] = {0};
    assert_int_equal(spragProblemRead(SPRAG_SOURCE_DIR "/tests/data/games/stuck.txt", &problem), SPRAG_OK);
    assert_true(3 * problem->contact_count <= 60);
    spragSolveOptions options = {.work_limit = 3e7};
    spragProblemSolve(problem, &options, r, NULL, &patient);
    options.enough = 1e-6;
    spragProblemSolve(problem, &options, s, NULL, &contented);
    CHECK_NEAR(spragProblemResidual(problem, s), contented.residual, 0);
    assert_true(contented.residual <= options.enough);
    assert_true(3 * contented.iterations < patient.iterations);
    spragProblemFree(problem);
}

/* Boxes that a wall pushes into a corner, 13 and 27 contacts.  What failed at a small lambda, since |F| grew from 1e-8
 * m/s, was begun anew ten points before, for thousands of steps (proximal.c: 4100 and 7600, now 90 and 330). */
static void smallLambdasAreNoDivergence(void **state)
{
    (void)state;
    const char *const path[] = {SPRAG_SOURCE_DIR "/tests/data/crowds/thirteen.txt",
                                SPRAG_SOURCE_DIR "/tests/data/crowds/corner.txt"};
    for (size_t k = 0; k < sizeof path / sizeof *path; ++k) {
        spragProblem *problem;
        spragSolveInfo info;
        double r[81] = {0};
        assert_int_equal(spragProblemRead(path[k], &problem), SPRAG_OK);
        assert_true(3 * problem->contact_count <= 81);
        const spragSolveOptions options = {.tolerance = 1e-8, .work_limit = 3e7};
        assert_int_equal(spragProblemSolve(problem, &options, r, NULL, &info), SPRAG_OK);
        assert_true(spragProblemResidual(problem, r) <= 1e-8);
        assert_true(info.iterations < 1000);
        spragProblemFree(problem);
    }
}

/* A limit that is thought too short for the mode search: sweeps come first, end where they fall no more (0.1 to 0.7 m/s
 * after a hundredth of the time), and what is left is for the other methods. */
static void timeThatIsLeftIsUsed(void **state)
{
    (void)state;
    const char *const path[] = {
        SPRAG_SOURCE_DIR "/tests/data/games/braced.txt", SPRAG_SOURCE_DIR "/tests/data/games/flung.txt",
        SPRAG_SOURCE_DIR "/tests/data/games/gates.txt", SPRAG_SOURCE_DIR "/tests/data/games/planks.txt"};
    for (size_t k = 0; k < sizeof path / sizeof *path; ++k) {
        spragProblem *problem;
        double r[180] = {0};
        assert_int_equal(spragProblemRead(path[k], &problem), SPRAG_OK);
        assert_true(3 * problem->contact_count <= 180);
        const double n = problem->contact_count, begin = spragSeconds();
        const spragSolveOptions options = {.tolerance = 1e-8, .time_limit = 2.5e-8 * n * n * n, .work_limit = 3e7};
        spragProblemSolve(problem, &options, r, NULL, NULL);
        assert_true(spragProblemResidual(problem, r) <= 1e-8);
        assert_true(spragSeconds() - begin <= 1.1 * options.time_limit);
        spragProblemFree(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(smallLambdasAreNoDivergence),
                                       cmocka_unit_test(timeThatIsLeftIsUsed),
                                       cmocka_unit_test(everyIslandIsSolved),
                                       cmocka_unit_test(aPathLeadsThere),
                                       cmocka_unit_test(theHeapIsSolved),
                                       cmocka_unit_test(normalRowsDoNotLag),
                                       cmocka_unit_test(bracedContactsAreSolved),
                                       cmocka_unit_test(contactsThatCarryAreFound),
                                       cmocka_unit_test(platesAreSolvedTogether),
                                       cmocka_unit_test(enoughIsSoonDone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
