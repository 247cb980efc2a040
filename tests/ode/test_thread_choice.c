/* Which steps one thread makes: those of the choice that was measured to cost less. */
#include "support/check.h"

#include "ode/world/thread_choice.h"

enum { MANY = 1000, JOINTS = 100 };

/* So many steps that take so long for each joint, by all threads and alone; returns how many were made alone. */
static int stepsAlone(spragThreadChoice *choice, int steps, double together, double alone)
{
    int count = 0;
    for (int k = 0; k < steps; ++k) {
        const int is_alone = spragThreadChoiceIsAlone(choice);
        const double held_up = k % 5 == 4 ? 20 : 1; /* now and then by the system */
        spragThreadChoiceNote(choice, held_up * JOINTS * (is_alone ? alone : together), JOINTS);
        count += is_alone;
    }
    return count;
}

static void theCheaperMannerIsKept(void **state)
{
    (void)state;
    spragThreadChoice choice = {0};
    assert_int_equal(stepsAlone(&choice, 10, 2e-6, 1e-6), 0); /* all threads first */
    assert_true(stepsAlone(&choice, MANY, 2e-6, 1e-6) > 0.9 * MANY);
    assert_true(stepsAlone(&choice, MANY, 1e-6, 2e-6) < 0.2 * MANY); /* the day has changed */
    assert_true(stepsAlone(&choice, MANY, 1e-6, 2e-6) < 0.1 * MANY);
    assert_true(stepsAlone(&choice, MANY, 1e-6, 0.95e-6) < 0.1 * MANY); /* not clearly less */
}

/* A pile that comes to rest: each step takes a fiftieth less than the one before. */
static void whatSettlesIsNotTakenForAGain(void **state)
{
    (void)state;
    spragThreadChoice choice = {0};
    double cost = 1e-6; /* s a joint, alone as together */
    for (int k = 0; k < 60; ++k, cost *= 0.98)
        spragThreadChoiceNote(&choice, JOINTS * cost, JOINTS);
    assert_false(spragThreadChoiceIsAlone(&choice));
}

static void longStepsHaveAllThreads(void **state)
{
    (void)state;
    spragThreadChoice choice = {0};
    stepsAlone(&choice, MANY, 2e-6, 1e-6);
    assert_true(stepsAlone(&choice, MANY, 1e-3, 1e-3) <= 1);
}

/* A long step among short ones: all threads from then on, and no other trial before the next period. */
static void aLongStepEndsTheTrial(void **state)
{
    (void)state;
    spragThreadChoice choice = {0};
    while (!spragThreadChoiceIsAlone(&choice))
        spragThreadChoiceNote(&choice, JOINTS * 1e-6, JOINTS);
    spragThreadChoiceNote(&choice, 1, JOINTS);
    for (int k = 0; k < 80; ++k) {
        assert_false(spragThreadChoiceIsAlone(&choice));
        spragThreadChoiceNote(&choice, JOINTS * 1e-6, JOINTS);
    }
    assert_true(stepsAlone(&choice, MANY, 2e-6, 1e-6) > 0.7 * MANY);
}

/* Where one thread takes half of the time a long step in every hundred costs but the trial after it. */
static void aLongStepForgetsNoGain(void **state)
{
    (void)state;
    enum { EVERY = 100, STEPS = 20 * EVERY };
    spragThreadChoice choice = {0};
    int count = 0;
    for (int k = 1; k <= STEPS; ++k) {
        const int alone = spragThreadChoiceIsAlone(&choice);
        count += alone;
        spragThreadChoiceNote(&choice, k % EVERY == 0 ? 1 : JOINTS * (alone ? 1e-6 : 2e-6), JOINTS);
    }
    assert_true(count > 0.7 * STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theCheaperMannerIsKept), cmocka_unit_test(whatSettlesIsNotTakenForAGain),
        cmocka_unit_test(longStepsHaveAllThreads), cmocka_unit_test(aLongStepEndsTheTrial),
        cmocka_unit_test(aLongStepForgetsNoGain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
