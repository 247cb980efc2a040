/* Bounds of joint friction that go to and fro: in random trees of joints with contacts every torque is mu R F of the
 * force that its joint hands on, or less where it does not turn; where no bound fits an event says so. */
#include "linalg/vec3.h"
#include "ode/rows/rows.h"
#include "ode/world/world.h"
#include "problem/residual.h"
#include "support/joint_friction.h"

enum { BODIES_MAX = 6 };
#define TREE_STEP 0.01 /* s */

/* 1: the last step told of an island without an answer, and why. */
static int toldOf(spragWorldID sprag)
{
    const spragEvent *events;
    int told = 0;
    for (int k = spragWorldGetEvents(sprag, &events) - 1; k >= 0; --k)
        told |= events[k].type == SPRAG_EVENT_FALLBACK && events[k].reason != NULL;
    return told;
}

/* Each turning row of the joint: |r| <= mu R F h / L, and that against the motion where it turns. */
static void checkJoint(const Twin *t, dJointID joint, double arm, const dJointFeedback *feedback)
{
    const struct spragWorld *world = t->sprag;
    const spragIsland *island = &world->snapshot.island[0];
    const spragProblem *p = &island->problem;
    const double F[3] = {feedback->f1[0], feedback->f1[1], feedback->f1[2]};
    const double moment = arm * spragNorm3(F) * TREE_STEP, accuracy = 1e-8; /* N m s; m/s, the step's tolerance */
    int rows = 0;
    assert_int_equal(world->snapshot.island_count, 1);
    for (int k = 0; k < island->block_count; ++k)
        for (int row = 0; row < 3; ++row) {
            const spragBlock *block = &island->block[k];
            if (block->part != SPRAG_PART_TURNING || world->snapshot.joint[block->joint].id != joint ||
                block->unused[row])
                continue;
            const double w = p->W[9 * spragProblemDiagonal(p, k) + 4 * row], r = island->r[3 * k + row];
            const double u = island->u[3 * k + row], bound = moment / block->length[row];
            assert_true((fabs(r) - bound) * w <= accuracy);
            if (fabs(u) > 1e-6)
                CHECK_NEAR(r * w, (u > 0 ? -bound : bound) * w, accuracy);
            ++rows;
        }
    assert_int_equal(rows, dJointGetType(joint) == dJointTypeHinge ? 1 : 2);
}

/* The first step of bodies in a tree of universal joints or hinges, some of them on the ground: 1, it is missed. */
static int missesTree(unsigned long long seed)
{
    dJointFeedback feedback[BODIES_MAX];
    dJointID joint[BODIES_MAX];
    spragJointFriction law[BODIES_MAX];
    unsigned long long draw = seed;
    dBodyID body[BODIES_MAX];
    Twin t;
    open(&t);
    const int count = 2 + (int)(5 * drawn(&draw)), hinges = drawn(&draw) < 0.5, contacts = (int)(5 * drawn(&draw));
    for (int i = 0; i < count; ++i) {
        double v[12], p[3] = {0, 0, 1};
        for (int k = 0; k < 12; ++k)
            v[k] = 2 * drawn(&draw) - 1;
        const dBodyID other = i > 0 ? body[(int)(i * drawn(&draw))] : 0;
        body[i] = makeBody(&t, exp(2 * v[0]), 0.02 * exp(2 * v[0]), v[1], v[2], 1 + v[3]);
        dBodySetLinearVel(body[i], (dReal)(3 * v[4]), (dReal)(3 * v[5]), (dReal)(3 * v[6]));
        dBodySetAngularVel(body[i], (dReal)(3 * v[7]), (dReal)(3 * v[8]), (dReal)(3 * v[9]));
        for (int k = 0; k < 3 && other != 0; ++k)
            p[k] = 0.5 * (dBodyGetPosition(body[i])[k] + dBodyGetPosition(other)[k]);
        dVector3 axis = {(dReal)v[10], (dReal)v[11], (dReal)0.5}, across[2];
        dNormalize3(axis);
        dPlaneSpace(axis, across[0], across[1]);
        joint[i] = hinges ? dJointCreateHinge(t.world, 0) : dJointCreateUniversal(t.world, 0);
        dJointAttach(joint[i], body[i], other);
        if (hinges) {
            dJointSetHingeAnchor(joint[i], (dReal)p[0], (dReal)p[1], (dReal)p[2]);
            dJointSetHingeAxis(joint[i], axis[0], axis[1], axis[2]);
        } else {
            dJointSetUniversalAnchor(joint[i], (dReal)p[0], (dReal)p[1], (dReal)p[2]);
            dJointSetUniversalAxis1(joint[i], axis[0], axis[1], axis[2]);
            dJointSetUniversalAxis2(joint[i], across[0][0], across[0][1], across[0][2]);
        }
        law[i] = (spragJointFriction){.mu = drawn(&draw), .mu_static = -1, .radius = 0.02 + 0.1 * drawn(&draw)};
        setFriction(&t, joint[i], law[i]);
        dJointSetFeedback(joint[i], &feedback[i]);
    }
    for (int k = 0; k < contacts; ++k) {
        const dBodyID one = body[(int)(count * drawn(&draw))];
        const dReal *p = dBodyGetPosition(one);
        dContact contact = planeContact(p[0] + 0.4 * drawn(&draw) - 0.2, p[1] + 0.4 * drawn(&draw) - 0.2, p[2] - 0.2,
                                        1.2 * drawn(&draw));
        addContact(&t, &contact, one, 0);
    }
    step(&t, TREE_STEP);
    const int missed = spragWorldGetStepInfo(t.sprag).residual > 1e-8;
    assert_true(!missed || toldOf(t.sprag));
    for (int i = 0; i < count && !missed; ++i)
        checkJoint(&t, joint[i], law[i].mu * law[i].radius, &feedback[i]);
    freeTwin(&t);
    return missed;
}

/* Bounds that go to and fro between the pieces of what follows from them (by rounds alone four trees are missed).  Of
 * three trees contacts have a paradox together with the joints: that is told of, with the reason. */
static void treesSettle(void **state)
{
    (void)state;
    enum { TREES = 3000, PARADOXES = 12 };
    int missed = 0;
    for (unsigned long long seed = 1; seed <= TREES; ++seed)
        missed += missesTree(seed);
    assert_true(missed <= PARADOXES);
}

int main(void)
{
    dInitODE();
    const struct CMUnitTest tests[] = {cmocka_unit_test(treesSettle)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
