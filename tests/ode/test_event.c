/* Events: the log that keeps them, and what a contact before and after a step makes of them. */
#include "support/check.h"

#include <string.h>

#include "base/alloc.h"
#include "ode/world/event.h"

static void theLogKeepsUpToItsLimit(void **state)
{
    (void)state;
    enum { LIMIT = 5000, MORE = 7 };
    spragEventLog log;
    assert_true(spragEventLogInit(&log, LIMIT));
    for (int round = 0; round < 2; ++round) {
        const unsigned long allocations = spragAllocCount();
        for (int k = 0; k < LIMIT + MORE; ++k)
            spragEventLogAdd(&log, SPRAG_EVENT_SLIP, &(spragEvent){.contact = (unsigned long long)k});
        assert_int_equal(log.count, LIMIT);
        assert_int_equal(log.lost, MORE);
        for (int k = 0; k < LIMIT; ++k)
            assert_true(log.event[k].contact == (unsigned long long)k && log.event[k].type == SPRAG_EVENT_SLIP);
        if (round == 1)
            assert_int_equal(spragAllocCount(), allocations);
        spragEventLogClear(&log);
    }
    spragEventLogFree(&log);
}

/* Without memory for more, what is there stays and the rest is counted. */
static void whatMemoryCannotKeepIsCounted(void **state)
{
    (void)state;
    spragEventLog log;
    spragAllocFailAt(1);
    assert_false(spragEventLogInit(&log, 10));
    spragAllocFailAt(0);
    assert_true(spragEventLogInit(&log, 1 << 24));
    while ((size_t)log.count < log.room)
        spragEventLogAdd(&log, SPRAG_EVENT_TOUCH, &(spragEvent){0});
    const int kept = log.count;
    spragAllocFailAt(1);
    spragEventLogAdd(&log, SPRAG_EVENT_TOUCH, &(spragEvent){0});
    spragAllocFailAt(0);
    assert_int_equal(log.count, kept);
    assert_int_equal(log.lost, 1);
    spragEventLogAdd(&log, SPRAG_EVENT_TOUCH, &(spragEvent){0});
    assert_int_equal(log.count, kept + 1);
    spragEventLogFree(&log);
}

/* ---------------------------------------------------------------- of one contact */

/* A contact under gravity 10, b = -10, with p = W_nn = 1, at rest before and after. */
static spragContactChange quiet(void)
{
    return (spragContactChange){.before = SPRAG_MODE_STICK,
                                .after = SPRAG_MODE_STICK,
                                .indicator = {.p = 1},
                                .inverse_mass = 1,
                                .normal_impulse = 0.01,
                                .gravity = 10,
                                .step = 1e-3,
                                .event = {.b = -10, .variant = 1},
                                .variant_before = 1};
}

static void expectEvents(const spragContactChange *change, int count, const spragEventType *type)
{
    spragEventLog log;
    assert_true(spragEventLogInit(&log, 16));
    spragEventsOfContact(&log, change);
    assert_int_equal(log.count, count);
    for (int k = 0; k < count; ++k)
        assert_int_equal(log.event[k].type, type[k]);
    spragEventLogFree(&log);
}

static void expectOne(const spragContactChange *change, spragEventType type)
{
    expectEvents(change, 1, &type);
}

static void modesMakeEvents(void **state)
{
    (void)state;
    spragContactChange c = quiet();
    expectEvents(&c, 0, NULL);
    c.before = SPRAG_MODE_OPEN;
    expectOne(&c, SPRAG_EVENT_TOUCH);
    c = quiet(), c.after = SPRAG_MODE_OPEN;
    expectOne(&c, SPRAG_EVENT_DETACH);
    c = quiet(), c.before = SPRAG_MODE_SLIP;
    expectOne(&c, SPRAG_EVENT_STICK);
    c = quiet(), c.after = SPRAG_MODE_SLIP;
    expectOne(&c, SPRAG_EVENT_SLIP);
    c = quiet(), c.before = c.after = SPRAG_MODE_SLIP, c.last_slip[1] = 1, c.event.slip_after[1] = 0.5;
    expectEvents(&c, 0, NULL);
    c.event.slip_after[1] = -0.5;
    expectOne(&c, SPRAG_EVENT_REVERSE);
    c = quiet(), c.event.variant = -1;
    expectOne(&c, SPRAG_EVENT_VARIANT);
    c.variant_before = 0; /* fresh: there was no side before */
    expectEvents(&c, 0, NULL);
}

/* Seen for the first time, at rest along its normal, and off; not where it merely bears nothing. */
static void freshContactsLeave(void **state)
{
    (void)state;
    spragContactChange c = quiet();
    c.before = c.after = SPRAG_MODE_OPEN, c.fresh = c.touching = 1, c.event.b = 10;
    expectOne(&c, SPRAG_EVENT_DETACH);
    c.event.b = 0; /* it stays, without a load */
    expectEvents(&c, 0, NULL);
    c.event.b = 10, c.touching = 0;
    expectEvents(&c, 0, NULL);
    c.touching = 1, c.approach = 1; /* it flew off already */
    expectEvents(&c, 0, NULL);
}

/* A slip of 1 m/s that ends within a step of 1 ms: by no ordinary force where p < 0, or where the impulse is large. */
static void jamsAreTold(void **state)
{
    (void)state;
    static const spragEventType jammed[] = {SPRAG_EVENT_STICK, SPRAG_EVENT_INCONSISTENT, SPRAG_EVENT_JAM},
                                anticipated[] = {SPRAG_EVENT_STICK, SPRAG_EVENT_JAM};
    spragContactChange c = quiet();
    c.before = SPRAG_MODE_SLIP, c.event.slip_before[0] = 1, c.normal_impulse = 2;
    c.indicator = (spragIndicator){.p = -0.5, .quadrant = SPRAG_QUADRANT_INCONSISTENT};
    expectEvents(&c, 3, jammed);
    c.indicator = (spragIndicator){.p = 0.01}; /* p is about to change its sign */
    expectEvents(&c, 2, anticipated);
    c.indicator.p = 0.5; /* far from it: somebody else's blow */
    expectOne(&c, SPRAG_EVENT_STICK);
    c.indicator.p = 0.01, c.approach = -1; /* a collision */
    expectOne(&c, SPRAG_EVENT_STICK);
}

/* Where a slide is realisable a slip can come to its end by itself; where contacts jam together each one's
 * p can be > 0, and nothing is anticipated. */
static void jamsAmongOthersAreTold(void **state)
{
    (void)state;
    static const spragEventType stopped[] = {SPRAG_EVENT_STICK, SPRAG_EVENT_INDETERMINATE},
                                jammed[] = {SPRAG_EVENT_STICK, SPRAG_EVENT_INDETERMINATE, SPRAG_EVENT_JAM};
    spragContactChange c = quiet();
    c.before = SPRAG_MODE_SLIP, c.event.slip_before[0] = 0.01, c.paradox_class = 3, c.may_slide = 1;
    c.indicator = (spragIndicator){.p = 1, .separatrix = 10, .quadrant = SPRAG_QUADRANT_INDETERMINATE};
    expectEvents(&c, 2, stopped);
    c.normal_impulse = 2;
    expectEvents(&c, 3, jammed);
    c.normal_impulse = 0.01, c.may_slide = 0;
    expectEvents(&c, 3, jammed);
    spragEventLog log;
    assert_true(spragEventLogInit(&log, 4));
    c.indicator.quadrant = SPRAG_QUADRANT_INCONSISTENT;
    spragEventsOfContact(&log, &c);
    assert_int_equal(log.count, 3);
    assert_int_equal(log.event[2].type, SPRAG_EVENT_JAM);
    assert_int_equal(log.event[2].anticipated, 0);
    spragEventLogFree(&log);
}

/* Two motions: told once for as long as it lasts, with the separatrix. */
static void indeterminacyIsToldOnce(void **state)
{
    (void)state;
    spragContactChange c = quiet();
    c.before = c.after = SPRAG_MODE_SLIP, c.event.slip_before[0] = c.event.slip_after[0] = c.last_slip[0] = 1;
    c.indicator = (spragIndicator){.p = -1, .separatrix = 10, .quadrant = SPRAG_QUADRANT_INDETERMINATE};
    c.paradox_class = 3;
    spragEventLog log;
    assert_true(spragEventLogInit(&log, 4));
    spragEventsOfContact(&log, &c);
    assert_int_equal(log.count, 1);
    assert_int_equal(log.event[0].type, SPRAG_EVENT_INDETERMINATE);
    CHECK_NEAR(log.event[0].separatrix, 10, 0);
    assert_int_equal(log.event[0].paradox_class, 3);
    spragEventLogFree(&log);
    c.class_before = 3;
    expectEvents(&c, 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(theLogKeepsUpToItsLimit),
                                       cmocka_unit_test(whatMemoryCannotKeepIsCounted),
                                       cmocka_unit_test(modesMakeEvents),
                                       cmocka_unit_test(freshContactsLeave),
                                       cmocka_unit_test(jamsAreTold),
                                       cmocka_unit_test(jamsAmongOthersAreTold),
                                       cmocka_unit_test(indeterminacyIsToldOnce)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
