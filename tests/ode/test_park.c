/* Handing forces to ODE and taking hands off again: what bodies and joints exert on each other has no sum, feedback
 * says so too, and nothing of the hand-over is left afterwards, to the bit where ODE did not step. */
#include "support/twin.h"

#include "ode/step/park.h"
#include "ode/world/layout.h"

enum { BODIES = 3 };

/* Three boxes in free space: two hinged, the third leaning on the second by two contacts that rub. */
typedef struct Raft {
    Twin t;
    dJointID hinge;
    dJointFeedback feedback[3]; /* of the hinge, of the contacts */
} Raft;

static void makeRaft(Raft *raft)
{
    Twin *t = &raft->t;
    makeTwin(t, 1);
    dWorldSetGravity(t->world, 0, 0, 0);
    for (int i = 0; i < BODIES; ++i) {
        dBodyID box = addBox(t, 1.0 * i, 0.1 * i, 0);
        dBodySetLinearVel(box, 1 - i, 0.3 * i, 0.1);
        dBodySetAngularVel(box, 0.2, 0.1 * i, -0.3);
    }
    raft->hinge = dJointCreateHinge(t->world, 0);
    dJointAttach(raft->hinge, t->body[0], t->body[1]);
    dJointSetHingeAnchor(raft->hinge, 0.5, 0, 0);
    dJointSetHingeAxis(raft->hinge, 0, 0, 1);
    dJointSetFeedback(raft->hinge, &raft->feedback[0]);
}

static void addRaftContacts(Raft *raft)
{
    for (int k = 0; k < 2; ++k) {
        dContact contact = planeContact(1.5, k ? 0.3 : -0.2, 0.05, 0.4);
        contact.geom.normal[0] = 1, contact.geom.normal[2] = 0;
        dJointSetFeedback(addContact(&raft->t, &contact, raft->t.body[2], raft->t.body[1]), &raft->feedback[1 + k]);
    }
}

/* Of all bodies: linear, and angular about the origin. */
static void momentum(const Twin *t, double p[6])
{
    for (int i = 0; i < 6; ++i)
        p[i] = 0;
    for (int b = 0; b < BODIES; ++b) {
        const dReal *x = dBodyGetPosition(t->body[b]), *v = dBodyGetLinearVel(t->body[b]),
                    *w = dBodyGetAngularVel(t->body[b]), *R = dBodyGetRotation(t->body[b]);
        dMass mass;
        dBodyGetMass(t->body[b], &mass);
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            p[i] += mass.mass * v[i];
            p[3 + i] += mass.mass * (x[j] * v[k] - x[k] * v[j]);
            for (int c = 0; c < 3; ++c) /* R I R^T w, I diagonal */
                for (int l = 0; l < 3; ++l)
                    p[3 + i] += R[4 * i + c] * mass.I[5 * c] * R[4 * l + c] * w[l];
        }
    }
}

static void actionIsReaction(void **state)
{
    (void)state;
    Raft raft;
    double before[6], after[6], pushed = 0;
    makeRaft(&raft);
    const double h = 1e-5; /* s: what turning bodies and moving points change in a step is of second order */
    for (int k = 0; k < 20; ++k) {
        momentum(&raft.t, before);
        addRaftContacts(&raft);
        step(&raft.t, h);
        momentum(&raft.t, after);
        for (int i = 0; i < 6; ++i)
            CHECK_NEAR(after[i], before[i], i < 3 ? 1e-10 : 2e-6); /* L is that of the middle of a step */
        for (int j = 0; j < 3; ++j) {
            const dJointFeedback *f = &raft.feedback[j];
            for (int i = 0; i < 3; ++i)
                CHECK_NEAR(f->f1[i] + f->f2[i], 0, 1e-9 * (1 + fabs(f->f1[i])));
            pushed = fmax(pushed, fabs(f->f1[0]));
        }
    }
    assert_true(pushed > 1e3); /* they met */
    freeTwin(&raft.t);
}

/* The feedback of all joints is what the bodies gained. */
static void feedbackIsWhatTheBodiesGain(void **state)
{
    (void)state;
    Raft raft;
    makeRaft(&raft);
    const double h = 1e-3;
    double v[BODIES], gained[BODIES];
    for (int b = 0; b < BODIES; ++b)
        v[b] = dBodyGetLinearVel(raft.t.body[b])[0];
    addRaftContacts(&raft);
    step(&raft.t, h);
    for (int b = 0; b < BODIES; ++b)
        gained[b] = 2 * (dBodyGetLinearVel(raft.t.body[b])[0] - v[b]) / h;
    const dJointFeedback *f = raft.feedback;
    CHECK_NEAR(f[0].f1[0], gained[0], 1e-6 * fabs(gained[0]));
    CHECK_NEAR(f[0].f2[0] + f[1].f2[0] + f[2].f2[0], gained[1], 1e-6 * fabs(gained[1]));
    CHECK_NEAR(f[1].f1[0] + f[2].f1[0], gained[2], 1e-6 * fabs(gained[2]));
    freeTwin(&raft.t);
}

/* ---------------------------------------------------------------- taken back */

typedef struct Trace {
    dReal force[BODIES][3], torque[BODIES][3], velocity[BODIES][3], spin[BODIES][3];
    int enabled[BODIES], gyroscopic[BODIES], hinge;
} Trace;

static void look(const Raft *raft, Trace *trace)
{
    memset(trace, 0, sizeof *trace);
    for (int b = 0; b < BODIES; ++b) {
        const dBodyID body = raft->t.body[b];
        memcpy(trace->force[b], dBodyGetForce(body), sizeof trace->force[b]);
        memcpy(trace->torque[b], dBodyGetTorque(body), sizeof trace->torque[b]);
        memcpy(trace->velocity[b], dBodyGetLinearVel(body), sizeof trace->velocity[b]);
        memcpy(trace->spin[b], dBodyGetAngularVel(body), sizeof trace->spin[b]);
        trace->enabled[b] = dBodyIsEnabled(body);
        trace->gyroscopic[b] = dBodyGetGyroscopicMode(body);
    }
    trace->hinge = dJointIsEnabled(raft->hinge);
}

static void push(const Raft *raft)
{
    for (int b = 0; b < BODIES; ++b) {
        dBodySetForce(raft->t.body[b], 0.1 * b, 1.0 / 3, -2);
        dBodySetTorque(raft->t.body[b], 0.7, 0.1 * b, 1e-3);
    }
}

static int calls;

static void onMoved(dBodyID body)
{
    (void)body;
    ++calls;
}

static void whatIsParkedComesBack(void **state)
{
    (void)state;
    Raft raft;
    Trace before, parked, after;
    makeRaft(&raft);
    dBodySetMovedCallback(raft.t.body[1], onMoved);
    addRaftContacts(&raft);
    push(&raft);
    dBodyDisable(raft.t.body[0]);
    step(&raft.t, 1e-3);
    for (int b = 0; b < BODIES; ++b)
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(dBodyGetForce(raft.t.body[b])[i], 0, 0);
    assert_int_equal(calls, 1);
    addRaftContacts(&raft); /* the islands of that step stand for those of one that ODE fails */
    push(&raft);
    dBodyDisable(raft.t.body[0]);
    look(&raft, &before);
    spragPark(raft.t.sprag);
    look(&raft, &parked);
    assert_true(before.hinge && !parked.hinge);
    assert_true(parked.enabled[0] && !before.enabled[0]);
    assert_true(memcmp(before.force, parked.force, sizeof before.force) != 0);
    spragUnpark(raft.t.sprag, 0);
    look(&raft, &after);
    assert_memory_equal(&before, &after, sizeof before);
    freeTwin(&raft.t);
}

/* ---------------------------------------------------------------- what ODE is shown */

/* A step of a raft with a pendulum beside it; 1: ODE has walked through the joints. */
static int odeSeesJoints(int pendulum, int listener)
{
    Raft raft;
    makeRaft(&raft);
    Twin *t = &raft.t;
    if (pendulum) { /* it touches nothing: ODE's to solve */
        dJointID pin = dJointCreateHinge(t->world, 0);
        dJointAttach(pin, addBox(t, 0, 9, 0), 0);
        dJointSetHingeAnchor(pin, 1, 9, 0);
        dBodySetForce(t->body[BODIES], 0, 0, -1);
    }
    if (listener >= 0)
        dBodySetMovedCallback(t->body[listener], onMoved);
    calls = 0;
    addRaftContacts(&raft);
    const dJointID contact = spragLayoutFirstJoint(t->world);
    spragLayoutMarkJoint(contact, SPRAG_MARK_MIN);
    dJointSetFeedback(raft.hinge, NULL);
    assert_int_equal(spragWorldStep(t->sprag, 1e-3), SPRAG_OK);
    const int seen = spragLayoutJointMark(contact) != SPRAG_MARK_MIN;
    assert_int_equal(calls, listener >= 0);
    void *joint[8];
    assert_int_equal(spragLayoutJoints(t->world, joint, 8, 0), 3 + pendulum);
    for (int k = 0; k < 3 + pendulum; ++k)
        assert_true(dJointIsEnabled(joint[k]));
    for (int b = 0; b < BODIES; ++b)
        assert_int_equal(dBodyGetNumJoints(t->body[b]), b == 0 ? 1 : b == 1 ? 3 : 2);
    if (pendulum)
        assert_true(fabs(dBodyGetLinearVel(t->body[BODIES])[2]) < 1e-3 * 1 / 2.0);
    freeTwin(t);
    return seen;
}

static void odeIsShownNoJointsInVain(void **state)
{
    (void)state;
    assert_false(odeSeesJoints(0, -1));
    assert_true(odeSeesJoints(1, -1));
    for (int b = 0; b < BODIES; ++b)
        assert_true(odeSeesJoints(0, b));
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actionIsReaction), cmocka_unit_test(feedbackIsWhatTheBodiesGain),
        cmocka_unit_test(whatIsParkedComesBack), cmocka_unit_test(odeIsShownNoJointsInVain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
