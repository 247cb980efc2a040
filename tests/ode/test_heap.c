/* What is a heap, and what large; some of whose contacts have mu = infinity; which are spared W. */
#include "support/check.h"
#include "support/fake_island.h"

#include <ode/ode.h>

#include "ode/work/heap.h"

/* From 100 contacts on, not 400; with joints, or where its work is the user's, from 400 too. */
static void aHeapIsLargeSooner(void **state)
{
    (void)state;
    static Fake fake;
    static const struct {
        int contacts, joints, flat, patient, plays, heap, large;
    } of[] = {{100, 100, 0, 0, 0, 0, 0}, {101, 101, 0, 0, 0, 1, 1}, {101, 102, 0, 0, 0, 0, 0},
              {401, 402, 0, 0, 0, 1, 1}, {400, 400, 0, 1, 0, 0, 0}, {401, 401, 0, 1, 0, 1, 1},
              {400, 400, 1, 0, 0, 0, 0}, {401, 401, 1, 0, 0, 0, 1}, {100, 100, 1, 0, 1, 0, 0},
              {101, 101, 1, 0, 1, 0, 1}};
    for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
        setFake(&fake, 0);
        fake.island.contact_count = of[i].contacts;
        fake.island.joint_count = of[i].joints;
        fake.island.pile.flat = of[i].flat;
        fake.world.config.patient = of[i].patient;
        fake.world.config.enough = of[i].plays ? 1e-6 : 0;
        assert_int_equal(spragIslandIsHeap(&fake.world, &fake.island), of[i].heap);
        assert_int_equal(spragIslandIsLarge(&fake.world, &fake.island), of[i].large);
        assert_int_equal(spragIslandIsOurs(&fake.world, &fake.island), !of[i].patient && of[i].contacts > 100);
    }
    fake.island.contact_count = fake.island.joint_count = 61; /* where some have mu = infinity, from 60 on */
    assert_false(spragIslandIsLarge(&fake.world, &fake.island));
    fake.island.pile.sticks = 1;
    assert_true(spragIslandIsLarge(&fake.world, &fake.island));
    assert_true(spragIslandIsOurs(&fake.world, &fake.island));
    fake.island.pile.sticks = 0;
    fake.island.pile.falls = 1;
    assert_true(spragIslandIsLarge(&fake.world, &fake.island));
}

/* One in a few is enough; by a force, 1, or by a coefficient, 2, which is the stronger.  Of 60 contacts nobody asks. */
static void someContactsHoldWithoutBound(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    dContact glued = {.surface = {.mu = dInfinity}}, sticky = {.surface = {.mode = dContactApprox1, .mu = dInfinity}};
    fake.island.pile.flat = 0;
    fake.contact.surface.mu = 300;
    fake.joint[3].contact = NULL; /* a hinge among them */
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 0);
    for (int k = 20; k < 40; ++k)
        fake.joint[k].contact = &glued;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 1);
    for (int k = 200; k < 220; ++k)
        fake.joint[k].contact = &sticky;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 2);
    fake.island.pile.flat = 1;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 0);
    fake.island.pile.flat = 0;
    fake.island.contact_count = 60;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 0);
}

/* What slips along both tangents, by more than 1e-4 of its bodies' own compliance, sticks to nothing; nor does what
 * gives way along the normal, unless its surface moves. */
static void contactsThatSlipDoNotStick(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    dContact slips = {.surface = {.mode = dContactApprox1 | dContactSlip1 | dContactSlip2, .mu = dInfinity}};
    fake.island.pile.flat = 0;
    for (int k = 0; k < FAKE_JOINTS; ++k) {
        fake.joint[k].contact = &slips;
        fake.joint[k].body[1] = 1;
    }
    fake.body[0].inverse_mass = fake.body[1].inverse_mass = 5;
    const double least = 1e-4 * 10 * fake.world.snapshot.step;
    slips.surface.slip1 = slips.surface.slip2 = 1.1 * least;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 0);
    slips.surface.slip2 = 0.9 * least;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 2);
    slips.surface.slip2 = 1.1 * least;
    slips.surface.mode &= ~dContactSlip2;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 2);
    for (int k = 0; k < FAKE_JOINTS; ++k)
        fake.joint[k].body[1] = -1; /* the world's */
    slips.surface.mode |= dContactSlip2;
    slips.surface.slip1 = slips.surface.slip2 = 0.9 * least;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 0);
    slips.surface.mode = dContactApprox1 | dContactSoftCFM;
    slips.surface.soft_cfm = 0.9 * least;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 0);
    slips.surface.soft_cfm = 0.4 * least;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 2);
    slips.surface.soft_cfm = 0.9 * least;
    slips.surface.mode |= dContactMotion1;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 2);
}

/* From 60 contacts on those with high coefficients do, one of four of a loose heap; from 30 on infinite ones that roll,
 * but one that is high is no reason to visit what infinite ones hold, as fingers hold a row of boxes. */
static void highCoefficientsCountInLooseHeaps(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    dContact sticky = {.surface = {.mode = dContactApprox1, .mu = dInfinity}, .geom = {.normal = {0, 0, 1}}},
             high = sticky, rolls = sticky;
    high.surface.mu = 50;
    rolls.surface.mode |= dContactRolling;
    fake.contact.surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = 0.5};
    fake.island.pile.flat = 0;
    fake.island.body_count = 10;
    fake.island.contact_count = fake.island.joint_count = 61;
    for (int k = 0; k < 16; ++k)
        fake.joint[4 * k % 59].contact = &high;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 0);
    assert_int_equal(spragIslandIsSteep(&fake.world, &fake.island), 1);
    fake.island.contact_count = fake.island.joint_count = 60; /* these are solved */
    assert_int_equal(spragIslandIsSteep(&fake.world, &fake.island), 0);
    fake.island.contact_count = 61, fake.island.joint_count = 62; /* with a joint */
    assert_int_equal(spragIslandIsSteep(&fake.world, &fake.island), 0);
    fake.island.joint_count = 61;
    fake.island.body_count = 4; /* pressed together */
    assert_int_equal(spragIslandIsSteep(&fake.world, &fake.island), 0);
    fake.island.body_count = 10;
    fake.island.contact_count = fake.island.joint_count = 40;
    for (int k = 0; k < 40; ++k)
        fake.joint[k].contact = k == 0 ? &high : &sticky;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 0);
    fake.joint[20].contact = &rolls;
    assert_int_equal(spragIslandSticks(&fake.world, &fake.island), 2);
}

/* If it has haste, or more than 400 contacts. */
static void aHeapInHasteSparesW(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.joint_count = fake.island.contact_count = 101;
    fake.island.pile.flat = 0;
    fake.world.snapshot.step = 1.0 / 60;
    fake.world.snapshot.gravity[2] = -9.81;
    assert_false(spragIslandSparesW(&fake.world, &fake.island)); /* what has been solved is so again */
    fake.island.before.haste = 1;
    assert_true(spragIslandSparesW(&fake.world, &fake.island));
    fake.island.joint_count = 110; /* joints hold it */
    assert_false(spragIslandSparesW(&fake.world, &fake.island));
    fake.island.joint_count = 101;
    fake.world.snapshot.gravity[2] = -9.81e-3; /* a world in km */
    assert_false(spragIslandSparesW(&fake.world, &fake.island));
    fake.world.snapshot.gravity[2] = -9.81;
    fake.island.pile.flat = 1;
    assert_false(spragIslandSparesW(&fake.world, &fake.island));
    fake.island.pile.flat = 0;
    fake.world.config.tolerance = 1e-5;
    assert_true(spragIslandSparesW(&fake.world, &fake.island));
    fake.world.config.patient = 1;
    assert_false(spragIslandSparesW(&fake.world, &fake.island));
    fake.world.config.patient = 0;
    fake.world.config.time_limit = 0.01;
    assert_false(spragIslandSparesW(&fake.world, &fake.island));
    fake.world.config.time_limit = 0;
    fake.island.before.haste = 0;
    fake.island.contact_count = fake.island.joint_count = 401;
    assert_true(spragIslandSparesW(&fake.world, &fake.island));
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest test[] = {
        cmocka_unit_test(aHeapIsLargeSooner),         cmocka_unit_test(someContactsHoldWithoutBound),
        cmocka_unit_test(contactsThatSlipDoNotStick), cmocka_unit_test(highCoefficientsCountInLooseHeaps),
        cmocka_unit_test(aHeapInHasteSparesW),
    };
    const int failed = cmocka_run_group_tests(test, NULL, NULL);
    dCloseODE();
    return failed;
}
