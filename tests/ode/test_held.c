/* A rod of two halves, held together by a hinge whose motor stands still, has the p and b of the rod in one piece; with
 * the motor off it has those of a limp one. */
#include "support/check.h"

#include <sprag/sprag_ode.h>

#include "base/clock.h"
#include "ode/joints/articulation.h"
#include "ode/world/world.h"
#include "support/ticking_clock.h"

static const double step_size = 1e-4, angle = 2 * M_PI / 3, slip = 1;

typedef struct Rod {
    dWorldID world;
    spragWorldID sprag;
    dJointGroupID group;
    dBodyID lower;
} Rod;

static dBodyID addHalf(dWorldID world, double middle)
{
    dMass mass;
    dMassSetParameters(&mass, 0.5, 0, 0, 0, 1.0 / 24, 1.0 / 24, 1.0 / 24, 0, 0, 0); /* half of 1 kg, 2 m */
    const dBodyID body = dBodyCreate(world);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, middle * cos(angle), 0, middle * sin(angle));
    dBodySetLinearVel(body, slip, 0, 0);
    return body;
}

static Rod makeRod(double motor)
{
    Rod rod = {.world = dWorldCreate(), .group = dJointGroupCreate(0)};
    dWorldSetGravity(rod.world, 0, 0, -9.81);
    dWorldSetERP(rod.world, 0);
    dWorldSetCFM(rod.world, 0);
    assert_int_equal(spragWorldAttach(rod.world, NULL, &rod.sprag), SPRAG_OK);
    rod.lower = addHalf(rod.world, 0.5);
    const dJointID hinge = dJointCreateHinge(rod.world, 0);
    dJointAttach(hinge, rod.lower, addHalf(rod.world, 1.5));
    dJointSetHingeAnchor(hinge, cos(angle), 0, sin(angle));
    dJointSetHingeAxis(hinge, 0, 1, 0);
    dJointSetHingeParam(hinge, dParamVel, 0);
    dJointSetHingeParam(hinge, dParamFMax, motor);
    return rod;
}

static const spragContact *stepRod(const Rod *rod, double mu)
{
    dVector3 tip;
    dBodyGetRelPointPos(rod->lower, -0.5 * cos(angle), 0, -0.5 * sin(angle), tip);
    dContact contact = {.surface = {.mode = dContactApprox1, .mu = mu},
                        .geom = {.pos = {tip[0], tip[1], 0}, .normal = {0, 0, 1}}};
    dJointAttach(spragJointCreateContact(rod->sprag, rod->group, &contact), rod->lower, 0);
    assert_int_equal(spragWorldStep(rod->sprag, step_size), SPRAG_OK);
    dJointGroupEmpty(rod->group);
    const spragContact *found = NULL;
    assert_int_equal(spragWorldGetContacts(rod->sprag, &found), 1);
    return found;
}

static void freeRod(Rod *rod)
{
    spragWorldDetach(rod->sprag);
    dJointGroupDestroy(rod->group);
    dWorldDestroy(rod->world);
}

/* p = (1 + 3 cos (cos + mu sin)) / m of a uniform rod */
static double slopeOf(double mu)
{
    return 1 + 3 * cos(angle) * (cos(angle) + mu * sin(angle));
}

static void motorsThatHoldMakeOnePiece(void **state)
{
    (void)state;
    Rod rod = makeRod(1e4);
    for (int k = 0; k < 5; ++k) {
        const spragContact *contact = stepRod(&rod, 0.3);
        CHECK_NEAR(contact->painleve_p, slopeOf(0.3), 20 * step_size); /* the rod turns meanwhile */
        if (k > 0)                                                     /* a fresh contact knows no motor forces */
            CHECK_NEAR(contact->free_acceleration, -9.81, 1e3 * step_size);
        CHECK_NEAR(contact->normal_force, 9.81 / slopeOf(0.3), 1e3 * step_size);
    }
    freeRod(&rod);
}

/* mu 2: p < 0 in one piece, and the slip ends in one step as that of the rod does. */
static void itJamsAsOnePiece(void **state)
{
    (void)state;
    assert_true(slopeOf(2) < 0);
    Rod rod = makeRod(1e6);
    const spragContact *contact = stepRod(&rod, 2);
    CHECK_NEAR(contact->painleve_p, slopeOf(2), 1e-9);
    CHECK_NEAR(contact->normal_force * step_size, 0.3247595264191644, 1e2 * step_size); /* oracle, rod_dyn.p-b-.jam */
    freeRod(&rod);
}

static void aLimpRodIsAnother(void **state)
{
    (void)state;
    Rod rod = makeRod(0);
    const double p = stepRod(&rod, 0.3)->painleve_p;
    assert_true(fabs(p - slopeOf(0.3)) > 0.1);
    freeRod(&rod);
}

/* A hinge that friction holds does so too, from the step on in which its load is known; also with a soft motor beside,
 * which with it is more rows than a joint has. */
static void frictionThatHoldsMakesOnePiece(void **state)
{
    (void)state;
    enum { ALONE, WITH_MOTOR, OF_BALL, WAYS };
    for (int way = 0; way < WAYS; ++way) {
        Rod rod = makeRod(way == WITH_MOTOR ? 1 : 0);
        dJointID joint = dBodyGetJoint(rod.lower, 0);
        dJointSetHingeParam(joint, dParamCFM, 1e6);
        if (way == OF_BALL) {
            dBodyID upper = dJointGetBody(joint, 1);
            dJointDestroy(joint);
            joint = dJointCreateBall(rod.world, 0);
            dJointAttach(joint, rod.lower, upper);
            dJointSetBallAnchor(joint, cos(angle), 0, sin(angle));
        }
        const spragJointFriction f = {.mu = 1, .mu_static = -1, .radius = 100};
        assert_int_equal(spragJointSetFriction(rod.sprag, joint, &f), SPRAG_OK);
        for (int k = 0; k < 5; ++k) {
            const spragContact *contact = stepRod(&rod, 0.3);
            CHECK_NEAR(contact->painleve_p, slopeOf(0.3), 20 * step_size);
            if (k > 0)
                CHECK_NEAR(contact->free_acceleration, -9.81, 1e3 * step_size);
            CHECK_NEAR(contact->normal_force, 9.81 / slopeOf(0.3), 1e3 * step_size);
        }
        freeRod(&rod);
    }
}

/* A box on the ground with four more hinged to it, one on the other, whose motors break all at once. */
enum { BOXES = 5 };

/* Pushed in the fourth step, under this limit, with this tolerance.  How long it took, s by the ticking clock. */
static double breakTower(double tolerance, double limit, spragStepInfo *info)
{
    const dWorldID world = dWorldCreate();
    const dJointGroupID group = dJointGroupCreate(0);
    dBodyID box[BOXES];
    spragWorldID sprag;
    dMass mass;
    dWorldSetGravity(world, 0, 0, -9.81);
    assert_int_equal(spragWorldAttach(world, NULL, &sprag), SPRAG_OK);
    dMassSetBoxTotal(&mass, 1, 1, 1, 1);
    for (int i = 0; i < BOXES; ++i) {
        box[i] = dBodyCreate(world);
        dBodySetMass(box[i], &mass);
        dBodySetPosition(box[i], 0, 0, 0.5 + i);
        if (i == 0)
            continue;
        const dJointID hinge = dJointCreateHinge(world, 0);
        dJointAttach(hinge, box[i], box[i - 1]);
        dJointSetHingeAnchor(hinge, 0, 0, i);
        dJointSetHingeAxis(hinge, 0, 1, 0);
        dJointSetHingeParam(hinge, dParamFMax, 5);
    }
    double spent = 0;
    for (int step = 0; step < 4; ++step) {
        for (int k = 0; k < 4; ++k) {
            const dContact contact = {
                .surface = {.mode = dContactApprox1, .mu = 0.5},
                .geom = {.pos = {k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, 0}, .normal = {0, 0, 1}}};
            dJointAttach(spragJointCreateContact(sprag, group, &contact), box[0], 0);
        }
        if (step == 3) {
            spragConfig config = spragConfigDefault();
            config.tolerance = tolerance, config.time_limit = limit;
            assert_int_equal(spragWorldSetConfig(sprag, &config), SPRAG_OK);
            dBodyAddForce(box[BOXES - 1], 60, 0, 0);
            dBodySetLinearVel(box[0], 0.3, 0.1, 0);
        }
        const double begin = spragSeconds();
        assert_int_equal(spragWorldStep(sprag, 0.01), SPRAG_OK);
        spent = spragSeconds() - begin;
        dJointGroupEmpty(group);
    }
    *info = spragWorldGetStepInfo(sprag);
    spragWorldDetach(sprag);
    dJointGroupDestroy(group);
    dWorldDestroy(world);
    return spent;
}

/* What begins anew has what is left of the limit.  (Nothing is within this tolerance, and every solution takes the time
 * there is.) */
static void whatBeginsAnewKeepsTheLimit(void **state)
{
    (void)state;
    const double limit = 1e-4;
    spragStepInfo info;
    assert_true(breakTower(1e-300, limit, &info) <= 1.3 * limit);
}

/* Under a limit sweeps find the motors that break, so that no solution with them is waited for (7e-4 m/s were left). */
static void noSolutionIsForMotorsThatBreak(void **state)
{
    (void)state;
    spragStepInfo info;
    breakTower(1e-8, 100 * TICK, &info);
    assert_true(info.residual <= 1e-8);
}

/* Without any time there are twenty sweeps of the last rows, and not as many more with contacts that yield: the answer
 * is nearer to one than none would be. */
static void lateSweepsAreMadeOnce(void **state)
{
    (void)state;
    spragStepInfo info;
    breakTower(1e-8, TICK, &info);
    assert_in_range(info.iterations, 1, 20);
    assert_true(info.residual < 0.01);
}

/* Pairs of hinged boxes in a row on the ground, each leaning on the next: many small mechanisms in one island. */
enum { PAIRS = 12 };
typedef struct Row {
    dWorldID world;
    spragWorldID sprag;
    dJointGroupID group;
    dBodyID box[2 * PAIRS];
} Row;

static Row makeRow(double motor, const spragConfig *config)
{
    Row row = {.world = dWorldCreate(), .group = dJointGroupCreate(0)};
    dMass mass;
    dWorldSetGravity(row.world, 0, 0, -9.81);
    assert_int_equal(spragWorldAttach(row.world, config, &row.sprag), SPRAG_OK);
    dMassSetBoxTotal(&mass, 1, 1, 1, 1);
    for (int i = 0; i < 2 * PAIRS; ++i) {
        row.box[i] = dBodyCreate(row.world);
        dBodySetMass(row.box[i], &mass);
        dBodySetPosition(row.box[i], i, 0, 0.5);
        dBodySetLinearVel(row.box[i], 0.1 * (i % 3), 0.2 * (i % 5), 0);
        if (i % 2 == 0)
            continue;
        const dJointID hinge = dJointCreateHinge(row.world, 0);
        dJointAttach(hinge, row.box[i], row.box[i - 1]);
        dJointSetHingeAnchor(hinge, i - 0.5, 0, 0.5);
        dJointSetHingeAxis(hinge, 0, 1, 0);
        dJointSetHingeParam(hinge, dParamFMax, motor);
    }
    return row;
}

static void stepRow(const Row *row)
{
    for (int i = 0; i < 2 * PAIRS; ++i) {
        for (int k = 0; k < 4; ++k) {
            const dContact contact = {
                .surface = {.mode = dContactApprox1, .mu = 0.5},
                .geom = {.pos = {i + (k & 1 ? 0.5 : -0.5), k & 2 ? 0.5 : -0.5, 0}, .normal = {0, 0, 1}}};
            dJointAttach(spragJointCreateContact(row->sprag, row->group, &contact), row->box[i], 0);
        }
        const dContact side = {.surface = {.mode = dContactApprox1, .mu = 0.5},
                               .geom = {.pos = {i - 0.5, 0, 0.5}, .normal = {1, 0, 0}}};
        if (i > 0 && i % 2 == 0)
            dJointAttach(spragJointCreateContact(row->sprag, row->group, &side), row->box[i], row->box[i - 1]);
    }
    assert_int_equal(spragWorldStep(row->sprag, 0.01), SPRAG_OK);
    dJointGroupEmpty(row->group);
    assert_int_equal(row->sprag->snapshot.island_count, 1);
}

static void freeRow(Row *row)
{
    spragWorldDetach(row->sprag);
    dJointGroupDestroy(row->group);
    dWorldDestroy(row->world);
}

/* A sparse W is made though there is no time, as sweeps with it are faster; and thirty of them are made, more than
 * QuickStep makes, or as many as lead to the tolerance. */
static void lateMechanismsAreSwept(void **state)
{
    (void)state;
    spragConfig config = spragConfigDefault();
    config.time_limit = TICK;
    Row row = makeRow(0, &config);
    stepRow(&row);
    assert_int_equal(row.sprag->snapshot.island[0].matrix.lean, 0);
    assert_in_range(spragWorldGetStepInfo(row.sprag).iterations, 21, 30);
    freeRow(&row);
}

/* u - W r - q of every block by what the bodies do after the step, m/s. */
static double wrongW(const Row *row)
{
    const spragSnapshot *s = &row->sprag->snapshot;
    const spragIsland *island = &s->island[0];
    double worst = 0;
    for (int k = 0; k < island->block_count; ++k)
        for (int i = 0; i < 3; ++i) {
            const spragBlock *block = &island->block[k];
            double u = s->step * block->product[i] - block->rhs[i] + block->compliance[i] * island->r[3 * k + i];
            for (int side = 0; side < 2; ++side)
                for (int j = 0; j < 6 && block->body[side] >= 0; ++j) {
                    const dBodyID body = s->body[block->body[side]].id;
                    u += block->J[side][i][j] * (j < 3 ? dBodyGetLinearVel(body)[j] : dBodyGetAngularVel(body)[j - 3]);
                }
            worst = fmax(worst, block->unused[i] ? 0 : fabs(u - island->u[3 * k + i]));
        }
    return worst;
}

/* Where one motor breaks W is right, of all mechanisms. */
static void oneMotorOfSeveralBreaks(void **state)
{
    (void)state;
    enum { PUSHED = 2 };
    Row row = makeRow(5, NULL);
    for (int step = 0; step < 3; ++step)
        stepRow(&row);
    dBodyAddTorque(row.box[2 * PUSHED], 0, 100, 0);
    stepRow(&row);
    const spragIsland *island = &row.sprag->snapshot.island[0];
    assert_int_equal(island->articulation_count, PAIRS);
    assert_true(spragWorldGetStepInfo(row.sprag).residual <= 1e-8);
    CHECK_NEAR(wrongW(&row), 0, 1e-12);
    freeRow(&row);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motorsThatHoldMakeOnePiece),  cmocka_unit_test(itJamsAsOnePiece),
        cmocka_unit_test(aLimpRodIsAnother),           cmocka_unit_test(frictionThatHoldsMakesOnePiece),
        cmocka_unit_test(whatBeginsAnewKeepsTheLimit), cmocka_unit_test(noSolutionIsForMotorsThatBreak),
        cmocka_unit_test(lateSweepsAreMadeOnce),       cmocka_unit_test(lateMechanismsAreSwept),
        cmocka_unit_test(oneMotorOfSeveralBreaks),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
