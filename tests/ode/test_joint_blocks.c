/* What a joint brings: each of ODE's rows is in the island once, as an equality row or as a row of a block.  And a
 * limit or motor that is taken for an equality row, as it held in the last step, gives the answer that its bounded row
 * gives, also in the step in which it holds no more. */
#include "support/twin.h"

#include "ode/rows/joint_blocks.h"
#include "ode/rows/joint_rows.h"
#include "ode/world/world.h"
#include "support/uniform.h"

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

/* Is this row k of the joint, by a length L? */
static void compareRow(const spragJointRowSet *rows, int k, double L, double J[2][6], double rhs, double compliance,
                       double lo, double hi)
{
    for (int i = 0; i < 6; ++i)
        assert_true(J[0][i] == L * rows->J1[k][i] && J[1][i] == L * rows->J2[k][i]);
    CHECK_NEAR(rhs, L * rows->rhs[k], 0);
    CHECK_NEAR(compliance * h, L * L * rows->cfm[k], 1e-18);
    assert_true(lo == rows->lo[k] * h / L && hi == rows->hi[k] * h / L);
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
                compareRow(&rows[j], row++, 1, it->J, it->rhs, it->compliance, it->lo, it->hi);
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
                const double L = j == LIFT ? 1 : spragLengthOf(&m.t.sprag->snapshot, block->body);
                assert_true(L == block->length[0]);
                compareRow(&rows[j], row++, L, J, block->rhs[0], block->compliance[0], block->lo[0], block->hi[0]);
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

/* ---------------------------------------------------------------- units */

enum { LEGS = 4, BODIES = 1 + LEGS, CRAWLERS = 8 };
typedef enum Legs { HINGED, ON_UNIVERSALS, WITH_FRICTION, WAYS } Legs;

static void addLeg(Twin *t, Legs legs, double unit, int leg, unsigned long long *state)
{
    const double x = (leg & 1 ? 0.35 : -0.35) * unit, y = (leg & 2 ? 0.25 : -0.25) * unit, z = 0.4 * unit;
    const double speed = 1.5 * uniform(state), torque = (2 + 1.6 * uniform(state)) * unit * unit;
    const double stop = 0.1 + 0.08 * uniform(state);
    if (legs == ON_UNIVERSALS) {
        const dJointID joint = dJointCreateUniversal(t->world, 0);
        dJointAttach(joint, t->body[0], t->body[leg]);
        dJointSetUniversalAnchor(joint, x, y, z);
        dJointSetUniversalAxis2(joint, 1, 0, 0);
        dJointSetUniversalAxis1(joint, 0, 1, 0);
        dJointSetUniversalParam(joint, dParamVel1, speed);
        dJointSetUniversalParam(joint, dParamFMax1, torque);
        for (int group = 0; group < 2; ++group) {
            dJointSetUniversalParam(joint, (group ? dParamLoStop2 : dParamLoStop1), -stop);
            dJointSetUniversalParam(joint, (group ? dParamHiStop2 : dParamHiStop1), stop);
        }
        return;
    }
    const dJointID joint = dJointCreateHinge(t->world, 0);
    dJointAttach(joint, t->body[0], t->body[leg]);
    dJointSetHingeAnchor(joint, x, y, z);
    dJointSetHingeAxis(joint, 0, 1, 0);
    dJointSetHingeParam(joint, dParamVel, speed);
    dJointSetHingeParam(joint, dParamFMax, torque);
    dJointSetHingeParam(joint, dParamLoStop, -stop);
    dJointSetHingeParam(joint, dParamHiStop, stop);
    const spragJointFriction friction = {.mu = 0.3, .mu_static = 0.3, .radius = 0.05 * unit};
    if (legs == WITH_FRICTION)
        assert_int_equal(spragJointSetFriction(t->sprag, joint, &friction), SPRAG_OK);
}

static void touchGround(Twin *t, dBodyID body, double x, double y, double z, double mu)
{
    dVector3 p;
    dBodyGetRelPointPos(body, x, y, z, p);
    dContact contact = planeContact(p[0], p[1], p[2], mu);
    contact.geom.depth = -p[2];
    if (p[2] <= 0)
        addContact(t, &contact, body, 0);
}

/* A trunk on four legs, whose motors reach their stops, falls on its feet and walks.  x: m, m/s. */
static void crawl(Legs legs, double unit, int seed, double x[6 * BODIES])
{
    unsigned long long state = 977ULL * (unsigned)seed + 5;
    Twin t;
    makeTwin(&t, 1);
    spragConfig config = spragConfigDefault();
    config.tolerance *= unit;
    assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
    dWorldSetGravity(t.world, 0, 0, -9.81 * unit);
    dWorldSetCFM(t.world, 0);
    for (int k = 0; k < 10; ++k)
        uniform(&state);
    for (int i = 0; i < BODIES; ++i) {
        dMass mass;
        dMassSetBoxTotal(&mass, i ? 0.4 : 3, (i ? 0.05 : 0.8) * unit, (i ? 0.05 : 0.5) * unit, (i ? 0.4 : 0.15) * unit);
        dBodySetMass(addBox(&t, (i ? (i & 1 ? 0.35 : -0.35) : 0) * unit, (i ? (i & 2 ? 0.25 : -0.25) : 0) * unit,
                            (i ? 0.2 : 0.4) * unit),
                     &mass);
        if (i > 0)
            addLeg(&t, legs, unit, i, &state);
    }
    dBodySetLinearVel(t.body[0], 0.5 * uniform(&state) * unit, 0.3 * uniform(&state) * unit, -0.5 * unit);
    dBodySetAngularVel(t.body[0], uniform(&state), uniform(&state), uniform(&state));
    const double mu = 0.6 + 0.4 * uniform(&state);
    for (int k = 0; k < 60; ++k) {
        for (int i = 0; i < 4; ++i) {
            touchGround(&t, t.body[0], (i & 1 ? 0.4 : -0.4) * unit, (i & 2 ? 0.25 : -0.25) * unit, -0.075 * unit, mu);
            touchGround(&t, t.body[1 + i], 0, 0, -0.2 * unit, mu);
        }
        step(&t, 0.005);
    }
    for (int i = 0; i < 3 * BODIES; ++i) {
        x[2 * i] = dBodyGetPosition(t.body[i / 3])[i % 3] / unit;
        x[2 * i + 1] = dBodyGetLinearVel(t.body[i / 3])[i % 3] / unit;
    }
    freeTwin(&t);
}

/* Limits, motors and friction that turn are in m/s too: metres, or units 1024 times as small, give the same bits.  (In
 * rad/s those of one crawler in four did, with friction of none.)  A slip of 1e-9 m/s is one in any units. */
static void turningRowsHaveNoUnit(void **state)
{
    (void)state;
    for (Legs legs = HINGED; legs < WAYS; ++legs) {
        int same = 0;
        for (int seed = 0; seed < CRAWLERS; ++seed) {
            double metres[6 * BODIES], small[6 * BODIES];
            crawl(legs, 1, seed, metres);
            crawl(legs, 1024, seed, small);
            same += memcmp(metres, small, sizeof metres) == 0;
        }
        assert_in_range(same, 6, CRAWLERS);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyRowIsThereOnce),
                                       cmocka_unit_test(whatHoldsIsAnsweredAlike),
                                       cmocka_unit_test(turningRowsHaveNoUnit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
