/* SPRAG_ANALYSIS_JUDGE: the residual of stock ODE's own answers, which it must not change. */
#include "support/twin.h"

/* A box of 2 kg that slides on a point below its centre, at an angle to the friction axes; mode 0 is a plain ODE world,
 * 1 one that Sprag leaves to ODE, 2 one that it also judges.  Returns the residual. */
static double slide(Twin *t, int mode, double mu, double heading, int steps)
{
    makeTwin(t, mode > 0);
    if (mode > 0) {
        spragConfig config = spragConfigDefault();
        config.solver = SPRAG_SOLVER_STOCK;
        config.analysis = mode == 2 ? SPRAG_ANALYSIS_JUDGE : SPRAG_ANALYSIS_OFF;
        assert_int_equal(spragWorldSetConfig(t->sprag, &config), SPRAG_OK);
    }
    const dBodyID box = addBox(t, 0, 0, 0.2);
    dBodySetLinearVel(box, 3 * cos(heading), 3 * sin(heading), 0);
    double residual = 0;
    for (int k = 0; k < steps; ++k) {
        const dReal *p = dBodyGetPosition(box);
        const dContact contact = planeContact(p[0], p[1], 0, mu);
        addContact(t, &contact, box, 0);
        step(t, 1e-3);
        residual = mode == 2 ? spragWorldGetStepInfo(t->sprag).residual : 0;
    }
    return residual;
}

/* Along an axis the pyramid of friction is the cone; between two axes it is larger by sqrt 2. */
static void thePyramidIsFoundOut(void **state)
{
    (void)state;
    Twin t;
    CHECK_NEAR(slide(&t, 2, 0, 0.7, 1), 0, 1e-9);
    freeTwin(&t);
    CHECK_NEAR(slide(&t, 2, 0.4, 0, 1), 0, 1e-9);
    assert_int_equal(spragWorldGetStepInfo(t.sprag).contacts, 1);
    assert_int_equal(spragWorldGetStepInfo(t.sprag).solved[SPRAG_SOLVER_STOCK], 1);
    assert_int_equal(spragWorldGetStepInfo(t.sprag).solved[SPRAG_SOLVER_AUTO], 0);
    freeTwin(&t);
    const double diagonal = slide(&t, 2, 0.4, M_PI / 4, 1);
    assert_true(diagonal > 5e-4 && diagonal < 1e-2); /* mu g h (sqrt 2 - 1) = 1.6e-3 m/s, in the measure of the judge */
    freeTwin(&t);
}

static void theAnswerStaysOdes(void **state)
{
    (void)state;
    Twin twin[3];
    for (int mode = 0; mode < 3; ++mode)
        slide(&twin[mode], mode, 0.4, 0.5, 50);
    assert_true(bodyDifference(twin[0].body[0], twin[1].body[0]) == 0);
    assert_true(bodyDifference(twin[0].body[0], twin[2].body[0]) == 0);
    for (int mode = 0; mode < 3; ++mode)
        freeTwin(&twin[mode]);
}

/* The user's feedback is filled as ever, and hangs on its joint afterwards; who had none has none. */
static void feedbackIsTheUsers(void **state)
{
    (void)state;
    Twin t;
    slide(&t, 2, 0.4, 0, 1);
    const dBodyID box = t.body[0];
    dContact contact = planeContact(0, 0, 0, 0.4);
    const dJointID with = addContact(&t, &contact, box, 0), without = addContact(&t, &contact, box, 0);
    dJointFeedback feedback = {.f1 = {7, 7, 7}};
    dJointSetFeedback(with, &feedback);
    assert_int_equal(spragWorldStep(t.sprag, 1e-3), SPRAG_OK);
    assert_ptr_equal(dJointGetFeedback(with), &feedback);
    assert_null(dJointGetFeedback(without));
    assert_true(feedback.f1[2] > 0 && feedback.f1[2] < 2 * 2 * 9.81);
    freeTwin(&t);
}

/* An arm hangs from a box on three frictionless contacts by a hinge with a stop, which it lies on, or a motor that
 * is too weak for it.  The joint tells its five rows and the bounded one together; QuickStep's iterations come to
 * the answer, and one is far from it. */
static double hang(Twin *t, double force, int iterations)
{
    makeTwin(t, 1);
    spragConfig config = spragConfigDefault();
    config.solver = SPRAG_SOLVER_STOCK;
    config.analysis = SPRAG_ANALYSIS_JUDGE;
    config.stepper = SPRAG_STEPPER_QUICKSTEP;
    assert_int_equal(spragWorldSetConfig(t->sprag, &config), SPRAG_OK);
    dWorldSetQuickStepNumIterations(t->world, iterations);
    const dBodyID box = addBox(t, 0, 0, 0.2), arm = addBox(t, 0.9, 0.1, 0.3);
    const dJointID hinge = dJointCreateHinge(t->world, 0);
    dJointAttach(hinge, box, arm);
    dJointSetHingeAnchor(hinge, 0.45, 0, 0.2);
    dJointSetHingeAxis(hinge, 0.1, 1, 0.2);
    if (force > 0) {
        dJointSetHingeParam(hinge, dParamVel, 0);
        dJointSetHingeParam(hinge, dParamFMax, force);
    } else {
        dJointSetHingeParam(hinge, dParamLoStop, 0);
        dJointSetHingeParam(hinge, dParamHiStop, 0.5);
    }
    dJointFeedback feedback = {.f1 = {7, 7, 7}};
    dJointSetFeedback(hinge, &feedback);
    for (int i = 0; i < 3; ++i) {
        const dContact contact = planeContact(i == 0 ? -0.5 : 0.5, i == 2 ? -0.4 : 0.4, 0, 0);
        addContact(t, &contact, box, 0);
    }
    step(t, 1e-3);
    assert_ptr_equal(dJointGetFeedback(hinge), &feedback);
    assert_true(feedback.f1[0] != 7 && isfinite(feedback.t1[1]));
    assert_int_equal(spragWorldGetStepInfo(t->sprag).solved[SPRAG_SOLVER_STOCK], 1);
    return spragWorldGetStepInfo(t->sprag).residual;
}

static void limitsAndMotorsAreJudged(void **state)
{
    (void)state;
    for (int motor = 0; motor < 2; ++motor) {
        Twin t;
        CHECK_NEAR(hang(&t, motor * 0.5, 5000), 0, 1e-6);
        freeTwin(&t);
        assert_true(hang(&t, motor * 0.5, 1) > 1e-3);
        freeTwin(&t);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(thePyramidIsFoundOut), cmocka_unit_test(theAnswerStaysOdes),
                                       cmocka_unit_test(feedbackIsTheUsers),
                                       cmocka_unit_test(limitsAndMotorsAreJudged)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
