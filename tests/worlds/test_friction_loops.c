/* Friction in joints whose loads depend on each other: closed loops, and a conflict of contacts beneath.  The bounds
 * settle, and take energy. */
#include "support/energy.h"
#include "support/joint_friction.h"

enum { BARS_MAX = 9, LOOP_STEPS = 120 };

/* An arch of bars from the ground to the ground, or to nowhere, hinges or balls with great friction between them. */
static int makeArch(unsigned long long *state, dWorldID world, spragWorldID sprag, dBodyID *body)
{
    const int count = 3 + (int)(6 * drawn(state)), closed = drawn(state) < 0.7, balls = drawn(state) < 0.4;
    spragJointFriction law = spragJointFrictionDefault();
    law.mu = 0.05 + 1.5 * drawn(state) * drawn(state), law.radius = 0.02 + 0.3 * drawn(state);
    double x[BARS_MAX + 1], z[BARS_MAX + 1];
    for (int i = 0; i <= count; ++i) {
        x[i] = -cos(M_PI * i / count) * count * 0.3 + 0.2 * drawn(state);
        z[i] = sin(M_PI * i / count) * count * 0.25 + 0.2 * drawn(state);
    }
    for (int i = 0; i < count; ++i) {
        const double a = x[i + 1] - x[i], b = z[i + 1] - z[i];
        dMass mass;
        dMatrix3 R;
        body[i] = dBodyCreate(world);
        dMassSetBoxTotal(&mass, (dReal)(0.2 + 3 * drawn(state)), (dReal)hypot(a, b), (dReal)0.1, (dReal)0.1);
        dBodySetMass(body[i], &mass);
        dBodySetPosition(body[i], (dReal)(x[i] + 0.5 * a), 0, (dReal)(z[i] + 0.5 * b));
        dRFromAxisAndAngle(R, 0, 1, 0, (dReal)-atan2(b, a));
        dBodySetRotation(body[i], R);
        dBodySetGyroscopicMode(body[i], 0); /* ODE's explicit term may add energy of its own */
        dBodySetLinearVel(body[i], (dReal)(4 * drawn(state) - 2), 0, (dReal)(4 * drawn(state) - 2));
        dBodySetAngularVel(body[i], 0, (dReal)(6 * drawn(state) - 3), 0);
    }
    for (int i = 0; i <= count - !closed; ++i) {
        const dBodyID a = i < count ? body[i] : body[count - 1], b = i > 0 && i < count ? body[i - 1] : NULL;
        const int ball = balls && drawn(state) < 0.5;
        const dJointID joint = ball ? dJointCreateBall(world, 0) : dJointCreateHinge(world, 0);
        dJointAttach(joint, a, b);
        if (ball) {
            dJointSetBallAnchor(joint, (dReal)x[i], 0, (dReal)z[i]);
        } else {
            dJointSetHingeAnchor(joint, (dReal)x[i], 0, (dReal)z[i]);
            dJointSetHingeAxis(joint, 0, 1, 0);
        }
        assert_int_equal(spragJointSetFriction(sprag, joint, &law), SPRAG_OK);
    }
    return count;
}

/* Closed loops, redundant and with gains of either sign: friction takes energy in every step, and fits the reactions.
 * (Loads passed on as they are, without mixing, end at 1e-5 m/s.) */
static void loopsSettleAndLoseEnergy(void **state)
{
    (void)state;
    double worst = 0;
    for (unsigned long long seed = 1; seed <= 60; ++seed) {
        unsigned long long draw = seed;
        dBodyID body[BARS_MAX];
        spragWorldID sprag;
        const dWorldID world = dWorldCreate();
        const double g = drawn(&draw) < 0.5 ? 0 : 9.81, h = 0.002 + 0.02 * drawn(&draw);
        dWorldSetGravity(world, 0, 0, (dReal)-g);
        dWorldSetERP(world, 0); /* what pulls a joint together again gives energy */
        assert_int_equal(spragWorldAttach(world, NULL, &sprag), SPRAG_OK);
        const int count = makeArch(&draw, world, sprag, body);
        assert_int_equal(spragWorldStep(sprag, (dReal)h), SPRAG_OK);
        double last = mechanicalEnergy(body, count);
        for (int k = 0; k < LOOP_STEPS; ++k) {
            assert_int_equal(spragWorldStep(sprag, (dReal)h), SPRAG_OK);
            const double energy = mechanicalEnergy(body, count);
            assert_true(energy <= last + 1e-9 * (1 + fabs(last)));
            last = energy;
            worst = fmax(worst, spragWorldGetStepInfo(sprag).residual);
        }
        spragWorldDetach(sprag);
        dWorldDestroy(world);
    }
    assert_true(worst <= 1e-8);
}

/* A box that floor and wall push out and hold at once (mu = infinity), and the hinge with friction
 * on it: what it hands on follows from forces of 1e8 N s.  The conflict is told of, and the search
 * ends, in 30 000 iterations (it was 96 000). */
static void conflictEnds(void **state)
{
    (void)state;
    Twin t;
    open(&t);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    dJointID hinge = dJointCreateHinge(t.world, 0);
    dJointAttach(hinge, box, makeBody(&t, 3, 0.1, 0.6, 0, 0.4));
    dJointSetHingeAnchor(hinge, 0, 0, 0.4);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    setFriction(&t, hinge, (spragJointFriction){.mu = 0.5, .radius = 0.1});
    for (int i = 0; i < 8; ++i) {
        const double y = i & 1 ? 0.4 : -0.4;
        dContact contact = i < 4 ? planeContact(i & 2 ? 0.5 : -0.5, y, 0, dInfinity)
                                 : planeContact(0.5, y, i & 2 ? 0.3 : 0.1, dInfinity);
        if (i >= 4)
            contact.geom.normal[0] = -1, contact.geom.normal[2] = 0;
        contact.geom.depth = 0.01;
        addContact(&t, &contact, box, 0);
    }
    step(&t, H);
    const spragStepInfo info = spragWorldGetStepInfo(t.sprag);
    assert_int_equal(info.wedged, 1);
    assert_true(info.residual_rigid > 0.1);
    assert_true(info.iterations < 40000);
    freeTwin(&t);
}

int main(void)
{
    dInitODE();
    const struct CMUnitTest tests[] = {cmocka_unit_test(loopsSettleAndLoseEnergy), cmocka_unit_test(conflictEnds)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
