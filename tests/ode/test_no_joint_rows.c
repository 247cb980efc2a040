/* An ODE whose row functions cannot be had: islands with joints are ODE's, bit by bit, and say why; the others are
 * Sprag's as ever. */
#define INFO2_ARGUMENTS "_of_no_library"
#include "ode/rows/joint_rows.c" /* in the place of the library's */

#include "support/twin.h"

static void islandsWithJointsStayWithOde(void **state)
{
    (void)state;
    assert_false(spragJointRowsAvailable());
    Twin t[2];
    for (int i = 0; i < 2; ++i) {
        makeTwin(&t[i], i);
        dBodyID a = addBox(&t[i], 0, 0, 0.2), b = addBox(&t[i], 0.4, 0, 0.9);
        dBodySetLinearVel(addBox(&t[i], 3, 0, 0.2), 1, 1, 0);
        dJointID hinge = dJointCreateHinge(t[i].world, 0);
        dJointAttach(hinge, a, b);
        dJointSetHingeAnchor(hinge, 0.2, 0, 0.5);
        dJointSetHingeAxis(hinge, 0, 1, 0);
        dBodySetLinearVel(a, 1, 0.5, 0);
    }
    for (int n = 0; n < 50; ++n) {
        for (int i = 0; i < 2; ++i) {
            addCorners(&t[i], t[i].body[0], 0.4);
            addCorners(&t[i], t[i].body[2], 0.4);
            step(&t[i], 5e-3);
        }
        assert_true(bodyDifference(t[0].body[0], t[1].body[0]) == 0);
        assert_true(bodyDifference(t[0].body[1], t[1].body[1]) == 0);
        const spragStepInfo info = spragWorldGetStepInfo(t[1].sprag);
        assert_int_equal(info.islands, 2);
        assert_int_equal(info.declined, 1);
        const spragEvent *event;
        const int count = spragWorldGetEvents(t[1].sprag, &event);
        int said = 0;
        for (int k = 0; k < count; ++k)
            said += event[k].type == SPRAG_EVENT_DECLINED && strstr(event[k].reason, "rows of its joints") != NULL;
        assert_int_equal(said, 1);
    }
    assert_true(bodyDifference(t[0].body[2], t[1].body[2]) > 1e-3); /* friction is round there */
    freeTwin(&t[0]);
    freeTwin(&t[1]);
}

/* A guide in an island that is ODE's does not act, and joint friction is refused;
 * without the joint the guide acts again. */
static void guidesThereDoNotAct(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID body = addBox(&t, 0, 0, 0);
    spragGuideDef def = spragGuideDefDefault();
    def.body = body;
    def.normal[2] = 1;
    spragGuideID guide;
    assert_int_equal(spragGuideCreate(t.sprag, &def, &guide), SPRAG_OK);
    dJointID slider = dJointCreateSlider(t.world, 0);
    dJointAttach(slider, body, 0);
    dJointSetSliderAxis(slider, 0, 0, 1);
    const spragJointFriction f = {.mu = 0.1, .mu_static = -1, .length = 1};
    assert_int_equal(spragJointSetFriction(t.sprag, slider, &f), SPRAG_ERROR_UNSUPPORTED);
    step(&t, 1e-3);
    assert_int_equal(spragWorldGetStepInfo(t.sprag).declined, 1);
    CHECK_NEAR(dBodyGetLinearVel(body)[2], -9.81e-3, 1e-9);
    dJointDestroy(slider);
    step(&t, 1e-3);
    assert_int_equal(spragWorldGetStepInfo(t.sprag).declined, 0);
    CHECK_NEAR(dBodyGetLinearVel(body)[2], 0, 2.5e-3); /* ERP takes back what the body fell */
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(islandsWithJointsStayWithOde),
                                       cmocka_unit_test(guidesThereDoNotAct)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
