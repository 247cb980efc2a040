/* Whose joint has friction: it is replaced, removed, forgotten with its joint, and its ends have ids of their own.
 * And that its bounds fit the reaction they follow from: |M| <= mu R F to the tolerance.  (Closed forms of jams and
 * slides: worlds/test_friction_sliding.c.) */
#include "support/twin.h"

#include "ode/joints/bearing.h"
#include "ode/world/world.h"

static const spragJointFriction law = {.mu = 0.3, .mu_static = 0.3, .radius = 0.05, .length = 0.2, .half_width = 0.02};

static dJointID addJoint(Twin *t, dJointID (*create)(dWorldID, dJointGroupID), int a, int b)
{
    dJointID joint = create(t->world, 0);
    dJointAttach(joint, t->body[a], b < 0 ? NULL : t->body[b]);
    return joint;
}

static void recordsFollowTheirJoints(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    for (int i = 0; i < 4; ++i)
        addBox(&t, 2 * i, 0, 1);
    dJointID joint[3];
    for (int k = 0; k < 3; ++k) {
        joint[k] = addJoint(&t, k == 1 ? dJointCreateSlider : dJointCreateHinge, k, k + 1);
        assert_int_equal(spragJointSetFriction(t.sprag, joint[k], &law), SPRAG_OK);
        assert_int_equal(t.sprag->bearing_count, k + 1);
    }
    for (int k = 0; k < 3; ++k) {
        const struct spragBearing *bearing = &t.sprag->bearing[k];
        assert_ptr_equal(bearing->joint, joint[k]);
        for (unsigned end = 0; end < SPRAG_BEARING_ENDS; ++end)
            assert_ptr_equal(spragBearingById(t.sprag, bearing->id + end), bearing);
        assert_int_equal(spragBearingBlockCount(bearing), k == 1 ? 4 : 1);
    }
    assert_null(spragBearingById(t.sprag, t.sprag->bearing[2].id + SPRAG_BEARING_ENDS));
    assert_int_equal(spragJointSetFriction(t.sprag, joint[0], &law), SPRAG_OK); /* replaced, and now the youngest */
    assert_int_equal(t.sprag->bearing_count, 3);
    assert_ptr_equal(t.sprag->bearing[2].joint, joint[0]);
    step(&t, 1e-3);
    assert_int_equal(t.sprag->bearing_count, 3);
    dJointAttach(joint[1], t.body[3], t.body[2]); /* elsewhere: it ends */
    step(&t, 1e-3);
    assert_int_equal(t.sprag->bearing_count, 2);
    dJointDestroy(joint[2]);
    step(&t, 1e-3);
    assert_int_equal(t.sprag->bearing_count, 1);
    const spragJointFriction none = {0};
    assert_int_equal(spragJointSetFriction(t.sprag, joint[0], &none), SPRAG_OK);
    assert_int_equal(t.sprag->bearing_count, 0);
    freeTwin(&t);
}

/* A pendulum with friction in its hinge: the torque that brakes is mu R times the force the hinge hands on. */
static void boundsFitTheReaction(void **state)
{
    (void)state;
    Twin t;
    dJointFeedback feedback;
    makeTwin(&t, 1);
    dBodyID body = addBox(&t, 0.7, 0, 0);
    dJointID hinge = addJoint(&t, dJointCreateHinge, 0, -1);
    dJointSetHingeAnchor(hinge, 0, 0, 0);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    dJointSetFeedback(hinge, &feedback);
    assert_int_equal(spragJointSetFriction(t.sprag, hinge, &law), SPRAG_OK);
    dBodySetAngularVel(body, 0, 4, 0);
    dBodySetLinearVel(body, 0, 0, -2.8);
    for (int k = 0; k < 50; ++k) {
        const double before = dBodyGetAngularVel(body)[1];
        const dReal *x = dBodyGetPosition(body);
        dMass mass;
        dBodyGetMass(body, &mass);
        const double arm[3] = {-x[0], 0, -x[2]};
        step(&t, 1e-3);
        assert_true(spragWorldGetStepInfo(t.sprag).residual <= 1e-8);
        /* I w' = (anchor - centre) x F + M about y; the feedback's torque is their sum */
        const double *F = feedback.f1, force = sqrt(F[0] * F[0] + F[1] * F[1] + F[2] * F[2]);
        const double gained = mass.I[5] * (dBodyGetAngularVel(body)[1] - before) / 1e-3;
        const double friction = gained - (arm[2] * F[0] - arm[0] * F[2]);
        CHECK_NEAR(feedback.t1[1], gained, 1e-6 * fabs(gained));
        CHECK_NEAR(friction, before > 0 ? -law.mu * law.radius * force : law.mu * law.radius * force, 1e-4 * force);
    }
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(recordsFollowTheirJoints),
                                       cmocka_unit_test(boundsFitTheReaction)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
