/* What is found of ODE's objects: lists, contacts, marks that last until its next step, sleep foretold. */
#include "support/twin.h"

#include "ode/world/layout.h"

static void listsAreNewestFirst(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 0);
    assert_true(spragLayoutKnown());
    void *body[4];
    assert_int_equal(spragLayoutBodies(t.world, body, 4), 0);
    assert_int_equal(spragLayoutJoints(t.world, NULL, 0, 0), 0);
    assert_null(spragLayoutFirstJoint(t.world));
    dContact contact[4];
    dJointID joint[4];
    for (int i = 0; i < 4; ++i) {
        addBox(&t, i, 0, 0);
        contact[i] = planeContact(i, 0.1, 0.2, 0.3);
        contact[i].surface.mode |= dContactSoftCFM;
        contact[i].surface.soft_cfm = 0.1 * i;
        joint[i] = addContact(&t, &contact[i], t.body[i], 0);
    }
    void *first[2];
    assert_int_equal(spragLayoutBodies(t.world, body, 4), 4);
    assert_int_equal(spragLayoutJoints(t.world, first, 2, 0), 4);
    assert_true(first[0] == joint[3] && first[1] == joint[2]);
    dJointID at = spragLayoutFirstJoint(t.world);
    for (int i = 3; i >= 0; --i) {
        assert_ptr_equal(body[3 - i], t.body[i]);
        assert_ptr_equal(at, joint[i]);
        assert_memory_equal(spragLayoutContact(at), &contact[i], sizeof contact[i]);
        at = spragLayoutNextJoint(at);
    }
    assert_null(at);
    freeTwin(&t);
}

/* What the array has of the step before says where to ask memory, and nothing else: it may be of more joints or of
 * fewer, gone, or nonsense. */
static void whatWasListedBeforeIsAGuess(void **state)
{
    (void)state;
    enum { JOINTS = 60 };
    Twin t;
    makeTwin(&t, 0);
    addBox(&t, 0, 0, 0);
    const dContact contact = planeContact(0, 0.1, 0.2, 0.3);
    dJointID joint[JOINTS];
    for (int i = 0; i < JOINTS; ++i)
        joint[i] = addContact(&t, &contact, t.body[0], 0);
    static const int known[] = {0, 10, JOINTS - 20, JOINTS};
    for (int k = 0; k < 4; ++k) {
        void *list[JOINTS];
        for (int i = 0; i < JOINTS; ++i)
            list[i] = i % 3 == 0 ? NULL : i % 3 == 1 ? (void *)(uintptr_t)i : (void *)joint[i];
        assert_int_equal(spragLayoutJoints(t.world, list, JOINTS, known[k]), JOINTS);
        for (int i = 0; i < JOINTS; ++i)
            assert_ptr_equal(list[i], joint[JOINTS - 1 - i]);
    }
    freeTwin(&t);
}

static void marksLastUntilTheNextStep(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 0);
    dBodyID body = addBox(&t, 0, 0, 0);
    dJointID hinge = dJointCreateHinge(t.world, 0), disabled = dJointCreateHinge(t.world, 0);
    dJointAttach(hinge, body, 0);
    dJointAttach(disabled, body, 0);
    dJointDisable(disabled);
    assert_true(spragLayoutBodyMark(body) < SPRAG_MARK_MIN && spragLayoutJointMark(hinge) < SPRAG_MARK_MIN);
    spragLayoutMarkBody(body, SPRAG_MARK_MIN + 5);
    spragLayoutMarkJoint(hinge, SPRAG_MARK_MIN + 6);
    assert_int_equal(spragLayoutBodyMark(body), SPRAG_MARK_MIN + 5);
    assert_int_equal(spragLayoutJointMark(hinge), SPRAG_MARK_MIN + 6);
    dWorldStep(t.world, 1e-3);
    assert_true(spragLayoutBodyMark(body) < SPRAG_MARK_MIN && spragLayoutJointMark(hinge) < SPRAG_MARK_MIN);
    assert_int_not_equal(spragLayoutJointMark(disabled), SPRAG_MARK_NEW);
    assert_int_equal(spragLayoutJointMark(dJointCreateHinge(t.world, 0)), SPRAG_MARK_NEW);
    freeTwin(&t);
}

/* A body that comes to rest by and by, under many settings: it sleeps in the
 * step that was foretold, and in no other. */
static void sleepIsForetold(void **state)
{
    (void)state;
    static const struct {
        int samples, steps;
        double time;
    } setting[] = {{1, 10, 0}, {1, 0, 0}, {3, 4, 0}, {8, 2, 0.05}, {1, 5, 0.2}, {0, 3, 0}};
    for (size_t k = 0; k < sizeof setting / sizeof *setting; ++k) {
        Twin t;
        makeTwin(&t, 0);
        dWorldSetGravity(t.world, 0, 0, 0);
        dBodyID body = addBox(&t, 0, 0, 0);
        dJointAttach(dJointCreateNull(t.world, 0), body, 0);
        dBodySetAutoDisableFlag(body, 1);
        dBodySetAutoDisableAverageSamplesCount(body, (unsigned)setting[k].samples);
        dBodySetAutoDisableSteps(body, setting[k].steps);
        dBodySetAutoDisableTime(body, setting[k].time);
        dBodySetLinearDamping(body, 0.2);
        dBodySetLinearVel(body, 0.1, 0, 0);
        int slept = 0;
        for (int i = 0; i < 200 && !slept; ++i) {
            const int foretold = spragLayoutFallsIdle(body, 0.01);
            dWorldStep(t.world, 0.01);
            slept = !dBodyIsEnabled(body);
            assert_int_equal(foretold, slept);
        }
        assert_int_equal(slept, setting[k].samples > 0);
        freeTwin(&t);
    }
}

static void onMoved(dBodyID body)
{
    (void)body;
}

/* What was read can be put back, and is what was read. */
static void countersAndCallbackAreKept(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 0);
    dBodyID body = addBox(&t, 0, 0, 0);
    dJointAttach(dJointCreateNull(t.world, 0), body, 0);
    dBodySetAutoDisableFlag(body, 1);
    dBodySetAutoDisableAverageSamplesCount(body, 4);
    const spragIdleState before = spragLayoutIdleState(body);
    for (int i = 0; i < 3; ++i)
        dWorldStep(t.world, 0.01);
    const spragIdleState later = spragLayoutIdleState(body);
    assert_int_not_equal(before.sample_next, later.sample_next);
    spragLayoutSetIdleState(body, &before);
    const spragIdleState again = spragLayoutIdleState(body);
    assert_int_equal(again.sample_next, before.sample_next);
    assert_int_equal(again.steps_left, before.steps_left);
    assert_int_equal(again.ready, before.ready);
    CHECK_NEAR(again.time_left, before.time_left, 0);
    assert_true(spragLayoutMovedCallback(body) == NULL);
    dBodySetMovedCallback(body, onMoved);
    assert_true(spragLayoutMovedCallback(body) == onMoved);
    freeTwin(&t);
}

/* A hinge that is hidden holds nothing and is not touched; it is there again afterwards. */
static void hiddenJointsAreLeftAlone(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 0);
    dBodyID held = addBox(&t, 0, 0, 0), alone = addBox(&t, 5, 0, 0);
    dJointID hinge = dJointCreateHinge(t.world, 0), second = dJointCreateNull(t.world, 0);
    dJointAttach(hinge, 0, held);
    dJointAttach(second, held, 0);
    spragLayoutMarkJoint(hinge, SPRAG_MARK_MIN);
    void *const all = spragLayoutHideJoints(t.world), *const own = spragLayoutHideJointsOf(held);
    assert_ptr_equal(all, second);
    assert_null(spragLayoutHideJointsOf(alone));
    assert_null(spragLayoutFirstJoint(t.world));
    assert_int_equal(dBodyGetNumJoints(alone), 0);
    dWorldStep(t.world, 0.01);
    CHECK_NEAR(dBodyGetLinearVel(held)[2], -0.0981, 1e-12);
    assert_int_equal(spragLayoutJointMark(hinge), SPRAG_MARK_MIN);
    spragLayoutShowJoints(t.world, all);
    spragLayoutShowJointsOf(held, own);
    spragLayoutShowJointsOf(alone, NULL);
    assert_ptr_equal(spragLayoutFirstJoint(t.world), second);
    assert_int_equal(dBodyGetNumJoints(held), 2);
    assert_int_equal(dBodyGetNumJoints(alone), 0);
    dWorldStep(t.world, 0.01);
    assert_true(dBodyGetLinearVel(held)[2] > -0.01);
    assert_true(spragLayoutJointMark(hinge) < SPRAG_MARK_MIN);
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listsAreNewestFirst),        cmocka_unit_test(whatWasListedBeforeIsAGuess),
        cmocka_unit_test(marksLastUntilTheNextStep),  cmocka_unit_test(sleepIsForetold),
        cmocka_unit_test(countersAndCallbackAreKept), cmocka_unit_test(hiddenJointsAreLeftAlone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
