/* What a joint brings: each of ODE's rows is in the island once, as an equality row or as a row of a block.  And a
 * limit or motor that is taken for an equality row, as it held in the last step, gives the answer that its bounded row
 * gives, also in the step in which it holds no more. */
#include "support/twin.h"

#include "ode/joint_blocks.h"
#include "ode/joint_rows.h"
#include "ode/world.h"

static const double h = 1.0 / 240;
enum { LIFT, ARM, LIMP, JOINTS, HEAVY = 20, STEPS = 40 };

/* On a heavy box: a platform that gravity keeps at the lower stop of its slider; an arm whose motor bears it, and
 * at its end one whose motor is too weak. */
typedef struct Machine {
    Twin t;
    dJointID joint[JOINTS];
} Machine;

static dJointID addHinge(Machine *m, int a, int b, double x, double torque, double speed)
{
    const dJointID hinge = dJointCreateHinge(m->t.world, 0);
    dJointAttach(hinge, m->t.body[a], m->t.body[b]);
    dJointSetHingeAnchor(hinge, x, 0, 0.6);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    dJointSetHingeParam(hinge, dParamFMax, torque);
    dJointSetHingeParam(hinge, dParamVel, speed);
    return hinge;
}

static void makeMachine(Machine *m)
{
    makeTwin(&m->t, 1);
    dMass mass;
    dMassSetBoxTotal(&mass, 200, 1, 0.8, 0.4);
    dBodySetMass(addBox(&m->t, 0, 0, 0.2), &mass);
    addBox(&m->t, 0, 0, 1.2);
    addBox(&m->t, 1.2, 0, 0.6);
    addBox(&m->t, 2.4, 0, 0.6);
    m->joint[LIFT] = dJointCreateSlider(m->t.world, 0);
    dJointAttach(m->joint[LIFT], m->t.body[1], m->t.body[0]);
    dJointSetSliderAxis(m->joint[LIFT], 0, 0, 1);
    dJointSetSliderParam(m->joint[LIFT], dParamLoStop, 0);
    dJointSetSliderParam(m->joint[LIFT], dParamHiStop, 1);
    m->joint[ARM] = addHinge(m, 2, 0, 0.6, 200, 0);
    m->joint[LIMP] = addHinge(m, 3, 2, 1.8, 1, 2);
}

static void stepMachine(Machine *m)
{
    addCorners(&m->t, m->t.body[0], 0.5);
    step(&m->t, h);
    assert_int_equal(m->t.sprag->snapshot.island_count, 1);
    assert_null(m->t.sprag->snapshot.island[0].declined);
}

static int jointIndex(const Machine *m, dJointID joint)
{
    int j = 0;
    while (m->t.sprag->snapshot.joint[j].id != joint)
        ++j;
    return j;
}

/* Is this row k of the joint? */
static void compareRow(const spragJointRowSet *rows, int k, double J[2][6], double rhs, double compliance, double lo,
                       double hi)
{
    assert_memory_equal(J[0], rows->J1[k], sizeof rows->J1[k]);
    assert_memory_equal(J[1], rows->J2[k], sizeof rows->J2[k]);
    CHECK_NEAR(rhs, rows->rhs[k], 0);
    CHECK_NEAR(compliance * h, rows->cfm[k], 1e-18);
    assert_true(lo == rows->lo[k] * h && hi == rows->hi[k] * h);
}

static void everyRowIsThereOnce(void **state)
{
    (void)state;
    Machine m;
    makeMachine(&m);
    spragJointRowSet rows[JOINTS];
    for (int k = 0; k < 2; ++k) { /* in the second step two of the three bounded rows are known to hold */
        for (int j = 0; j < JOINTS; ++j)
            assert_int_equal(
                spragJointRows(m.joint[j], 1 / h, dWorldGetERP(m.t.world), dWorldGetCFM(m.t.world), &rows[j]), 6);
        stepMachine(&m);
        const spragIsland *island = &m.t.sprag->snapshot.island[0];
        int blocks = 0, equalities = 0;
        for (int j = 0; j < JOINTS; ++j) {
            const int number = jointIndex(&m, m.joint[j]);
            int row = 0;
            for (int e = 0; e < island->row_count; ++e) {
                spragEqualityRow *it = &island->row[e];
                if (it->joint != number)
                    continue;
                assert_int_equal(it->number, row < 5 ? -1 : 0); /* the last of each joint has bounds */
                compareRow(&rows[j], row++, it->J, it->rhs, it->compliance, it->lo, it->hi);
            }
            equalities += row;
            for (int b = 0; b < island->block_count; ++b) {
                const spragBlock *block = &island->block[b];
                if (block->part != SPRAG_PART_JOINT || block->joint != number)
                    continue;
                assert_true(!block->unused[0] && block->unused[1] && block->unused[2]);
                double J[2][6];
                memcpy(J[0], block->J[0][0], sizeof J[0]);
                memcpy(J[1], block->J[1][0], sizeof J[1]);
                compareRow(&rows[j], row++, J, block->rhs[0], block->compliance[0], block->lo[0], block->hi[0]);
                ++blocks;
            }
            assert_int_equal(row, 6);
        }
        assert_int_equal(blocks, k == 0 ? 3 : 1);
        assert_int_equal(equalities, k == 0 ? 15 : 17);
    }
    freeTwin(&m.t);
}

static void whatHoldsIsAnsweredAlike(void **state)
{
    (void)state;
    Machine m, forgetful;
    makeMachine(&m);
    makeMachine(&forgetful);
    for (int k = 0; k < STEPS; ++k) {
        if (k >= HEAVY) { /* the arm's motor bears it no more */
            dBodyAddForce(m.t.body[2], 0, 0, -500);
            dBodyAddForce(forgetful.t.body[2], 0, 0, -500);
        }
        forgetful.t.sprag->load_count = 0; /* whatever held */
        stepMachine(&m);
        stepMachine(&forgetful);
        assert_int_equal(forgetful.t.sprag->snapshot.island[0].row_count, 15);
        const int held = k == 0 ? 0 : k < HEAVY ? 2 : 1;
        assert_int_equal(m.t.sprag->snapshot.island[0].row_count, 15 + held);
        for (int i = 0; i < m.t.count; ++i)
            CHECK_NEAR(bodyDifference(m.t.body[i], forgetful.t.body[i]), 0, 1e-7);
    }
    assert_true(dBodyGetPosition(m.t.body[2])[2] < 0.59 && dBodyGetPosition(m.t.body[3])[2] < 0.59);
    CHECK_NEAR(dBodyGetPosition(m.t.body[1])[2], 1.2, 1e-6);
    freeTwin(&m.t);
    freeTwin(&forgetful.t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyRowIsThereOnce),
                                       cmocka_unit_test(whatHoldsIsAnsweredAlike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
