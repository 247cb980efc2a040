/* What was wedged, or spent its work, in the last step is known in this one. */
#include "support/check.h"
#include "support/fake_island.h"
#include "support/repeats.h"
#include "support/uniform.h"

#include <ode/ode.h>

#include "ode/joints/bearing.h"
#include "ode/joints/guide.h"
#include "ode/ledger/hindsight.h"

/* The worst that any record of its contacts, guides and bearings says; nothing where no island was wedged. */
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
    fake.island.before.wedged = fake.island.before.doubt = fake.island.before.unsqueezed = 9;
    spragIslandLookBack(&fake.world, &fake.island); /* the world knows of none */
    assert_int_equal(fake.island.before.wedged + fake.island.before.doubt, 0);
    fake.world.doubt = 1;
    spragIslandLookBack(&fake.world, &fake.island);
    assert_int_equal(fake.island.before.wedged, 1);
    assert_int_equal(fake.island.before.doubt, 4);
    assert_int_equal(fake.island.before.unsqueezed, 6);
    fake.joint[4].memory = -1; /* that contact is new, and the one below it of another island */
    fake.island.joint = fake.number + 4;
    fake.island.joint_count = 6;
    spragIslandLookBack(&fake.world, &fake.island);
    assert_int_equal(fake.island.before.wedged + fake.island.before.doubt, 0);
    fake.memory[5].wedged = 2;
    fake.joint[5].memory = fake.joint[6].memory = -1;
    fake.joint[5].contact = fake.joint[6].contact = fake.joint[8].contact = NULL;
    fake.joint[5].guide = &guide;
    fake.joint[6].bearing = &bearing;
    fake.memory[8].wedged = 3; /* a hinge's number is not of a record of contacts */
    spragIslandLookBack(&fake.world, &fake.island);
    assert_int_equal(fake.island.before.wedged, 2);
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

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest test[] = {
        cmocka_unit_test(recordsTellOfTheLastStep),
        cmocka_unit_test(dearStepsAreCounted),
        cmocka_unit_test(workInVainIsHalved),
    };
    const int failed = cmocka_run_group_tests(test, NULL, NULL);
    dCloseODE();
    return failed;
}
