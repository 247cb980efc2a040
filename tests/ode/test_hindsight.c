/* What was wedged or hard in the last step is known in this one. */
#include "support/check.h"
#include "support/fake_island.h"
#include "support/repeats.h"
#include "support/uniform.h"

#include <ode/ode.h>

#include "ode/joints/bearing.h"
#include "ode/joints/guide.h"
#include "ode/ledger/hindsight.h"

/* The worst that any record of its contacts, guides and bearings says; nothing where no island was wedged or hard. */
static void recordsTellOfTheLastStep(void **state)
{
    (void)state;
    static Fake fake;
    struct spragGuide guide = {.memory = 5};
    struct spragBearing bearing = {.memory = {6, 7}};
    setFake(&fake, 0);
    fake.memory[2].wedged = 1;
    fake.memory[3].doubt = 4;
    fake.memory[3].unsqueezed = 6;
    fake.memory[4].hard = 1;
    fake.island.before.wedged = fake.island.before.hard = fake.island.before.doubt = fake.island.before.unsqueezed = 9;
    spragIslandLookBack(&fake.world, &fake.island); /* the world knows of none */
    assert_int_equal(fake.island.before.wedged + fake.island.before.doubt + fake.island.before.hard, 0);
    fake.world.doubt = 1;
    spragIslandLookBack(&fake.world, &fake.island);
    assert_int_equal(fake.island.before.wedged, 1);
    assert_int_equal(fake.island.before.doubt, 4);
    assert_int_equal(fake.island.before.unsqueezed, 6);
    assert_int_equal(fake.island.before.hard, 1);
    fake.joint[4].memory = -1; /* that contact is new, and the one below it of another island */
    fake.island.joint = fake.number + 4;
    fake.island.joint_count = 6;
    spragIslandLookBack(&fake.world, &fake.island);
    assert_int_equal(fake.island.before.wedged + fake.island.before.doubt + fake.island.before.hard, 0);
    fake.memory[5].wedged = 2;
    fake.memory[6].hard = 1;
    fake.joint[5].memory = fake.joint[6].memory = -1;
    fake.joint[5].contact = fake.joint[6].contact = fake.joint[8].contact = NULL;
    fake.joint[5].guide = &guide;
    fake.joint[6].bearing = &bearing;
    fake.memory[8].wedged = 3; /* a hinge's number is not of a record of contacts */
    spragIslandLookBack(&fake.world, &fake.island);
    assert_int_equal(fake.island.before.wedged, 2);
    assert_int_equal(fake.island.before.hard, 1);
}

/* What spent all its work has half of it in the next step, down to an eighth, and comes back by steps that do not. */
static void dearStepsAreCounted(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.memory[2].step_haste = 1;
    fake.memory[3].step_haste = 2;
    fake.world.forewarned = 1;
    spragIslandLookBack(&fake.world, &fake.island);
    assert_int_equal(fake.island.before.step_haste, 2);
    fake.island.work.spent = 2, fake.island.work.most = 1;
    assert_int_equal(spragIslandStepHasteNext(&fake.world, &fake.island), 3);
    fake.island.before.step_haste = 3;
    assert_int_equal(spragIslandStepHasteNext(&fake.world, &fake.island), 3);
    fake.island.work.most = 2; /* as much as there is is not too much */
    assert_int_equal(spragIslandStepHasteNext(&fake.world, &fake.island), 2);
    fake.island.before.step_haste = 0;
    assert_int_equal(spragIslandStepHasteNext(&fake.world, &fake.island), 0);
}

/* What spent 6e7 of 8e7 in vain has a quarter of it in the next step, then half of that, and in the end some 1e7. */
static void workInVainIsHalved(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.solve.residual = 1;
    fake.island.work.spent = 6e7, fake.island.work.most = 8e7;
    assert_int_equal(spragIslandStepHasteNext(&fake.world, &fake.island), 2);
    fake.island.before.step_haste = 2, fake.island.work.most = 2e7, fake.island.work.spent = 2e7;
    assert_int_equal(spragIslandStepHasteNext(&fake.world, &fake.island), 3);
    fake.island.before.step_haste = 4, fake.island.work.most = fake.island.work.spent = 5e6;
    assert_int_equal(spragIslandStepHasteNext(&fake.world, &fake.island), 3);
    fake.island.before.step_haste = 0, fake.island.work.spent = 6e7, fake.island.work.most = 8e7;
    fake.island.solve.residual = 1e-4; /* it was not in vain */
    assert_int_equal(spragIslandStepHasteNext(&fake.world, &fake.island), 0);
    fake.island.solve.residual = 1;
    fake.island.before.haste = 1; /* which has its own measure */
    assert_int_equal(spragIslandStepHasteNext(&fake.world, &fake.island), 0);
    fake.island.before.haste = 0;
    fake.island.locked = 1; /* nor was what no force can mend */
    assert_int_equal(spragIslandStepHasteNext(&fake.world, &fake.island), 0);
    fake.island.locked = 0;
    fake.world.config.patient = 1;
    assert_int_equal(spragIslandStepHasteNext(&fake.world, &fake.island), 0);
}

/* By how much work all solutions of the step did. */
static void lateAnswersAreHard(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.block_count = 60;
    fake.island.solve.fallback = 1;
    fake.island.work.spent = 1.1e7;
    fake.island.solve.iterations = 501;
    assert_true(spragIslandHardens(&fake.island));
    fake.island.solve.iterations = 500;
    assert_false(spragIslandHardens(&fake.island));
    fake.island.solve.iterations = 60000;
    fake.island.work.spent = 0.9e7;
    assert_false(spragIslandHardens(&fake.island));
    fake.island.work.spent = 1.1e7;
    assert_true(spragIslandHardens(&fake.island));
    fake.island.shortcut = SPRAG_SHORTCUT_IN_VAIN; /* the chain began anew after what carried before */
    assert_false(spragIslandHardens(&fake.island));
    fake.island.shortcut = SPRAG_SHORTCUT_SOLVED; /* it carried again */
    assert_true(spragIslandHardens(&fake.island));
    fake.island.block_count = 61;
    assert_false(spragIslandHardens(&fake.island));
    fake.island.block_count = 4;
    fake.island.declined = "";
    assert_false(spragIslandHardens(&fake.island));
}

/* A box that is pulled aside with mu = 300 on a dozen contacts, three at each corner that all but repeat each other.
 * The chain's first methods have no answer in any step, the last ones take 5000 iterations; what carried in one step
 * carries in the next, in nine of ten: the others are of one or two worlds in twenty. */
static void whatCarriedCarriesAgain(void **state)
{
    (void)state;
    enum { CONTACTS = 12, STEPS = 30, KNOWN = 10, WORLDS = REPEATS(20) };
    static const double near = 1e-6, tilt = 1e-3;
    int iterations = 0, fallbacks = 0;
    for (unsigned long long seed = 1; seed <= WORLDS; ++seed) {
        unsigned long long draw = seed;
        double position[CONTACTS][3], normal[CONTACTS][3];
        for (int k = 0; k < CONTACTS; ++k) {
            for (int i = 0; i < 3; ++i) {
                const double corner = i == 2 ? 0 : (k >> i) & 1 ? 0.5 : -0.5;
                position[k][i] = corner + near * uniform(&draw);
                normal[k][i] = i == 2 ? 1 : tilt * uniform(&draw);
            }
            dNormalize3(normal[k]);
        }
        const dWorldID world = dWorldCreate();
        const dBodyID box = dBodyCreate(world);
        const dJointGroupID group = dJointGroupCreate(0);
        spragWorldID sprag;
        dMass mass;
        dWorldSetGravity(world, 2, 1, -9.81);
        dMassSetBoxTotal(&mass, 1, 1, 1, 1);
        dBodySetMass(box, &mass);
        dBodySetPosition(box, 0, 0, 0.5);
        assert_int_equal(spragWorldAttach(world, NULL, &sprag), SPRAG_OK);
        for (int step = 0; step < STEPS; ++step) {
            const dReal *at = dBodyGetPosition(box);
            for (int k = 0; k < CONTACTS; ++k) {
                dContact contact = {.surface = {.mode = dContactApprox1, .mu = 300}, .geom = {.depth = 1e-4}};
                for (int i = 0; i < 3; ++i) {
                    contact.geom.pos[i] = position[k][i] + (i < 2 ? at[i] : 0);
                    contact.geom.normal[i] = normal[k][i];
                }
                dJointAttach(spragJointCreateContact(sprag, group, &contact), box, NULL);
            }
            assert_int_equal(spragWorldStep(sprag, 0.01), SPRAG_OK);
            const spragStepInfo info = spragWorldGetStepInfo(sprag);
            assert_true(info.residual <= 1e-8);
            iterations += step < KNOWN ? 0 : info.iterations;
            fallbacks += step < KNOWN ? 0 : info.fallbacks;
            dJointGroupEmpty(group);
        }
        spragWorldDetach(sprag);
        dJointGroupDestroy(group);
        dWorldDestroy(world);
    }
    assert_true(iterations < 1500 * WORLDS * (STEPS - KNOWN));
    assert_true(5 * fallbacks < WORLDS * (STEPS - KNOWN));
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest test[] = {
        cmocka_unit_test(recordsTellOfTheLastStep), cmocka_unit_test(dearStepsAreCounted),
        cmocka_unit_test(workInVainIsHalved),       cmocka_unit_test(lateAnswersAreHard),
        cmocka_unit_test(whatCarriedCarriesAgain),
    };
    const int failed = cmocka_run_group_tests(test, NULL, NULL);
    dCloseODE();
    return failed;
}
