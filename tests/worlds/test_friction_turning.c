/* Friction in joints that turn against closed forms: a wheel and a pendulum on a hinge, a ball, a cross; static and
 * kinetic values; what is set, taken back and destroyed. */
#include "support/joint_friction.h"

/* A wheel on its shaft: J w' = -mu R m g until it stops, and then for ever at rest. */
static void wheelRunsDown(void **state)
{
    (void)state;
    const double m = 3, J = 0.5, mu = 0.2, R = 0.05, w0 = 0.4, slow = mu * R * m * G / J;
    for (int type = 0; type < 3; ++type) { /* hinge, ball, universal */
        Twin t;
        open(&t);
        dBodyID wheel = makeBody(&t, m, J, 0, 0, 0);
        dJointID joint = hingeAt(&t, wheel, 0, 0, 0);
        if (type > 0) {
            dJointDestroy(joint);
            joint = type == 1 ? dJointCreateBall(t.world, 0) : dJointCreateUniversal(t.world, 0);
            dJointAttach(joint, wheel, 0);
            if (type == 1) {
                dJointSetBallAnchor(joint, 0, 0, 0);
            } else {
                dJointSetUniversalAnchor(joint, 0, 0, 0); /* axes x and y */
            }
        }
        dBodySetAngularVel(wheel, 0, w0, 0);
        setFriction(&t, joint, (spragJointFriction){.mu = mu, .mu_static = -1, .radius = R});
        double w = w0;
        for (int k = 0; k < 1000; ++k) {
            step(&t, H);
            w = fmax(w - slow * H, 0);
            CHECK_NEAR(dBodyGetAngularVel(wheel)[1], w, 1e-9);
            assert_true(spragWorldGetStepInfo(t.sprag).residual <= 1e-8);
        }
        CHECK_NEAR(dBodyGetAngularVel(wheel)[1], 0, 1e-12);
        freeTwin(&t);
    }
}

/* Even the first step knows the load: it is found with the solution. */
static void firstStep(void **state)
{
    (void)state;
    Twin t;
    open(&t);
    dBodyID wheel = makeBody(&t, 3, 0.5, 0, 0, 0);
    dBodySetAngularVel(wheel, 0, 1, 0);
    setFriction(&t, hingeAt(&t, wheel, 0, 0, 0), (spragJointFriction){.mu = 0.2, .mu_static = -1, .radius = 0.05});
    step(&t, H);
    CHECK_NEAR(dBodyGetAngularVel(wheel)[1], 1 - H * 0.2 * 0.05 * 3 * G / 0.5, 1e-9);
    freeTwin(&t);
}

/* A pendulum rests at an angle up to m g l sin(angle) = mu_static R m g; let go beyond, J' w' = m g l sin - mu R F. */
static double pendulum(double angle, double mu_static, int steps)
{
    const double l = 0.5, R = 0.1;
    Twin t;
    open(&t);
    dBodyID bob = makeBody(&t, 2, 0.1, l * sin(angle), 0, -l * cos(angle));
    setFriction(&t, hingeAt(&t, bob, 0, 0, 0), (spragJointFriction){.mu = 0.4, .mu_static = mu_static, .radius = R});
    for (int k = 0; k < steps; ++k)
        step(&t, H);
    const double w = dBodyGetAngularVel(bob)[1];
    freeTwin(&t);
    return w;
}

static void pendulumRests(void **state)
{
    (void)state;
    const double kinetic = asin(0.4 * 0.1 / 0.5), still = asin(0.6 * 0.1 / 0.5);
    CHECK_NEAR(pendulum(0.999 * kinetic, -1, 300), 0, 1e-12);
    assert_true(fabs(pendulum(1.01 * kinetic, -1, 300)) > 1e-4);
    CHECK_NEAR(pendulum(-0.999 * kinetic, -1, 300), 0, 1e-12);
    /* static: once it has been at rest */
    CHECK_NEAR(pendulum(0.999 * kinetic, 0.6, 300), 0, 1e-12);
    Twin t;
    open(&t);
    const double l = 0.5;
    dBodyID bob = makeBody(&t, 2, 0.1, 0, 0, -l);
    setFriction(&t, hingeAt(&t, bob, 0, 0, 0), (spragJointFriction){.mu = 0.4, .mu_static = 0.6, .radius = 0.1});
    for (int k = 0; k < 400; ++k) { /* gravity turns slowly instead of the pendulum */
        const double angle = still * (k < 200 ? 0.99 * k / 200 : 1.02);
        dWorldSetGravity(t.world, G * sin(angle), 0, -G * cos(angle));
        step(&t, H);
        if (k < 200)
            CHECK_NEAR(dBodyGetAngularVel(bob)[1], 0, 1e-12);
    }
    assert_true(fabs(dBodyGetAngularVel(bob)[1]) > 0.1); /* 2 (0.6 - 0.4) R g l ... over 0.2 s */
    freeTwin(&t);
}

/* A pendulum turns back at an angle at which mu_static holds it: it stays there, wherever in its step it turns. */
static void pendulumStaysWhereItTurns(void **state)
{
    (void)state;
    const double limit = asin(1.5 * 0.2);
    for (int k = 0; k < 12; ++k) {
        Twin t;
        open(&t);
        const double angle = 0.5 + 0.003 * k;
        dBodyID bob = makeBody(&t, 1, 0.1, sin(angle), 0, -cos(angle));
        setFriction(&t, hingeAt(&t, bob, 0, 0, 0), (spragJointFriction){.mu = 0.2, .mu_static = 1.5, .radius = 0.2});
        int still = 0, steps = 0;
        for (; still < 10 && steps < 5000; ++steps) { /* where it turns to go back it may stand for one */
            step(&t, H);
            still = fabs(dBodyGetAngularVel(bob)[1]) < 1e-9 ? still + 1 : 0;
        }
        const dReal *p = dBodyGetPosition(bob);
        const double end = atan2(p[0], -p[2]); /* it turned at 0.41, 0.33 and 0.25, and more the higher it began */
        assert_true(steps < 4000 && -limit < end && end < -0.23);
        freeTwin(&t);
    }
}

/* The load of a swinging pendulum holds its centripetal force.  angle' = rate,
 * (J + m l^2) rate' = -m g l sin(angle) - mu R F sgn(rate),  F = m |(g cos + rate^2 l, g sin + rate' l)|. */
typedef struct Swing {
    double l, R, mu, m, J;
} Swing;

static double swingRate(const Swing *p, double angle, double rate)
{
    double a = 0;
    for (int k = 0; k < 40; ++k) {
        const double F = p->m * hypot(G * cos(angle) + rate * rate * p->l, G * sin(angle) + a * p->l);
        a = (-p->m * G * p->l * sin(angle) - p->mu * p->R * F * (rate > 0 ? 1 : -1)) / (p->J + p->m * p->l * p->l);
    }
    return a;
}

static void swingExact(const Swing *p, double T, double x[2])
{
    enum { STEPS = 2000 };
    const double h = T / STEPS;
    for (int i = 0; i < STEPS; ++i) { /* the midpoint rule is good to h^2: 1e-9 */
        const double angle = x[0] + 0.5 * h * x[1], rate = x[1] + 0.5 * h * swingRate(p, x[0], x[1]);
        x[0] += h * rate;
        x[1] += h * swingRate(p, angle, rate);
    }
}

static void swingingLoad(void **state)
{
    (void)state;
    const Swing p = {.l = 0.5, .R = 0.1, .mu = 0.3, .m = 2, .J = 0.1};
    const double T = 0.2, w0 = 6;
    double w[2], exact[2] = {0, w0};
    for (int half = 0; half < 2; ++half) {
        Twin t;
        open(&t);
        dBodyID bob = makeBody(&t, p.m, p.J, 0, 0, -p.l);
        dBodySetLinearVel(bob, w0 * p.l, 0, 0);
        dBodySetAngularVel(bob, 0, -w0, 0);
        setFriction(&t, hingeAt(&t, bob, 0, 0, 0), (spragJointFriction){.mu = p.mu, .mu_static = -1, .radius = p.R});
        const double h = half ? 0.5 * H : H;
        for (long k = lround(T / h); k > 0; --k)
            step(&t, h);
        w[half] = -dBodyGetAngularVel(bob)[1];
        freeTwin(&t);
    }
    swingExact(&p, T, exact);
    CHECK_NEAR(w[0], exact[1], 0.02);
    CHECK_NEAR(2 * w[1] - w[0], exact[1], 0.2 * fabs(w[0] - exact[1]) + 1e-6);
}

/* A ball turns any way: about the load, across it, and obliquely less than both together. */
static void ballTurnsAnyWay(void **state)
{
    (void)state;
    const double m = 3, J = 0.5, mu = 0.2, R = 0.05, slow = mu * R * m * G / J;
    for (int axis = 0; axis < 3; ++axis) {
        Twin t;
        open(&t);
        dBodyID body = makeBody(&t, m, J, 0, 0, 0);
        dJointID ball = dJointCreateBall(t.world, 0);
        dJointAttach(ball, body, 0);
        dJointSetBallAnchor(ball, 0, 0, 0);
        setFriction(&t, ball, (spragJointFriction){.mu = mu, .mu_static = -1, .radius = R});
        const double w0[3] = {axis == 0 ? 1 : axis == 1 ? 0.6 : 0, axis == 1 ? 0.8 : 0, axis == 2};
        dBodySetAngularVel(body, w0[0], w0[1], w0[2]);
        for (int k = 0; k < 100; ++k)
            step(&t, H);
        const dReal *w = dBodyGetAngularVel(body);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(w[i], w0[i] * (1 - 100 * H * slow), 1e-8);
        freeTwin(&t);
    }
}

/* Links of a chain, each joint loaded by what hangs below: the loads of all of them are found together. */
static void chainOfHinges(void **state)
{
    (void)state;
    enum { LINKS = 6 };
    Twin t;
    open(&t);
    dBodyID link[LINKS];
    double swing = 0;
    for (int k = 0; k < LINKS; ++k) {
        link[k] = makeBody(&t, 1, 0.02, 0.25 + 0.5 * k, 0, 0);
        dJointID hinge = hingeAt(&t, link[k], 0.5 * k, 0, 0);
        if (k > 0) {
            dJointAttach(hinge, link[k], link[k - 1]);
            dJointSetHingeAnchor(hinge, 0.5 * k, 0, 0);
            dJointSetHingeAxis(hinge, 0, 1, 0);
        }
        setFriction(&t, hinge, (spragJointFriction){.mu = 0.8, .mu_static = -1, .radius = 0.1});
    }
    for (int k = 0; k < 20000; ++k) {
        step(&t, H);
        assert_true(spragWorldGetStepInfo(t.sprag).residual <= 1e-8);
        assert_int_equal(spragWorldGetStepInfo(t.sprag).declined, 0);
    }
    for (int k = 0; k < LINKS; ++k)
        swing = fmax(swing, fabs(dBodyGetAngularVel(link[k])[1]));
    assert_true(swing <= 1e-9); /* friction has brought it to rest */
    freeTwin(&t);
}

static void removedAndForgotten(void **state)
{
    (void)state;
    Twin t;
    open(&t);
    dBodyID wheel = makeBody(&t, 1, 1, 0, 0, 0);
    dBodySetAngularVel(wheel, 0, 1, 0);
    dJointID hinge = hingeAt(&t, wheel, 0, 0, 0);
    setFriction(&t, hinge, (spragJointFriction){.mu = 0.5, .mu_static = -1, .radius = 0.1});
    step(&t, H);
    const double w = dBodyGetAngularVel(wheel)[1];
    assert_true(w < 1);
    setFriction(&t, hinge, spragJointFrictionDefault());
    step(&t, H);
    CHECK_NEAR(dBodyGetAngularVel(wheel)[1], w, 1e-12);
    setFriction(&t, hinge, (spragJointFriction){.mu = 0.5, .mu_static = -1, .radius = 0.1});
    dJointDestroy(hinge); /* ODE may give its address to the next one, which has no friction */
    dJointID next = hingeAt(&t, wheel, 0, 0, 0);
    step(&t, H);
    CHECK_NEAR(dBodyGetAngularVel(wheel)[1], w, 1e-12);
    setFriction(&t, next, (spragJointFriction){.mu = 0.5, .mu_static = -1, .radius = 0.1});
    spragConfig config = spragConfigDefault();
    config.solver = SPRAG_SOLVER_STOCK;
    assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
    step(&t, H);
    CHECK_NEAR(dBodyGetAngularVel(wheel)[1], w, 1e-9); /* ODE knows of no friction */
    config.solver = SPRAG_SOLVER_AUTO;
    assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
    step(&t, H);
    assert_true(dBodyGetAngularVel(wheel)[1] < w - 1e-6);
    freeTwin(&t);
}

int main(void)
{
    dInitODE();
    const struct CMUnitTest tests[] = {cmocka_unit_test(wheelRunsDown), cmocka_unit_test(firstStep),
                                       cmocka_unit_test(pendulumRests), cmocka_unit_test(pendulumStaysWhereItTurns),
                                       cmocka_unit_test(swingingLoad),  cmocka_unit_test(ballTurnsAnyWay),
                                       cmocka_unit_test(chainOfHinges), cmocka_unit_test(removedAndForgotten)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
