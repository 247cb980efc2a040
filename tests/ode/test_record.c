/* What is remembered of a contact, what of it is told, and when there is something to tell. */
#include "support/check.h"
#include "support/fake_island.h"

#include <math.h>

#include <ode/ode.h>

#include "linalg/vec3.h"
#include "ode/ledger/record.h"
#include "ode/world/layout.h"

static void bodiesAreNumberedBySerials(void **state)
{
    (void)state;
    assert_int_equal(spragRecordNumber(0), -1); /* the world */
    assert_int_equal(spragRecordNumber(SPRAG_MARK_MIN - 1), -1);
    assert_int_equal(spragRecordNumber(SPRAG_MARK_MIN), 0);
    assert_int_equal(spragRecordNumber(SPRAG_MARK_MIN + 41), 41);
}

/* A slip of less than ten residuals may be none; at the most 1e-6 m/s are, and at the least what events call rest. */
static void stillIsWhatTheAnswerCannotTell(void **state)
{
    (void)state;
    CHECK_NEAR(spragStill(0), SPRAG_SLIP_TOLERANCE, 0);
    CHECK_NEAR(spragStill(1e-8), 1e-7, 1e-22);
    CHECK_NEAR(spragStill(1e-3), 1e-6, 0);
    CHECK_NEAR(spragStill(INFINITY), 1e-6, 0);
    /* 1 N s of 2, of a body of 1 kg: 1 m/s of friction is left */
    assert_true(spragRecordIsWithin(2, 1, 1, 1e-8));
    assert_false(spragRecordIsWithin(2, 1, 1, 0.1));
    assert_false(spragRecordIsWithin(2, 2, 1, 0));
    assert_false(spragRecordIsWithin(2, 2 - 1e-9, 1, 0)); /* rounding */
    assert_false(spragRecordIsWithin(0, 0, 1, 0));        /* without load it holds nothing */
}

/* Slips are kept in the world's axes, and asked for in the tangents of this step. */
static void historyIsInTheseTangents(void **state)
{
    (void)state;
    const spragContactMemory old = {
        .normal_force = -7, .slip = {3, 4, 5}, .mode = SPRAG_MODE_SLIP, .variant = -1, .passed = 1};
    const double t1[3] = {0, 1, 0}, t2[3] = {0.6, 0, 0.8};
    spragContactHistory past = {.free_acceleration = -9.81, .slip = {1, 2}};
    spragRecordRecall(&old, t1, t2, &past);
    CHECK_NEAR(past.previous_normal, 7, 0); /* of a guide that pushed the other way */
    CHECK_NEAR(past.previous_slip[0], 4, 0);
    CHECK_NEAR(past.previous_slip[1], 5.8, 1e-15);
    assert_int_equal(past.mode, SPRAG_MODE_SLIP);
    assert_int_equal(past.variant, -1);
    assert_true(past.free_acceleration == -9.81 && past.slip[1] == 2); /* of this step */
}

/* Named the other way round by the user, it is told so: what acts on his first body. */
static void turnedContactsAreToldAsTheUserNamedThem(void **state)
{
    (void)state;
    const dWorldID world = dWorldCreate();
    const dBodyID one = dBodyCreate(world), two = dBodyCreate(world);
    spragContactMemory memory = {.id = 5,
                                 .body = {one, two},
                                 .position = {1, 2, 3},
                                 .normal = {0, 0, 1},
                                 .normal_force = 10,
                                 .friction = {1, -2, 0},
                                 .slip = {9, 9, 9},
                                 .slip_now = {-0.5, 1, 0},
                                 .mode = SPRAG_MODE_SLIP,
                                 .variant = 1,
                                 .depth = 0.01,
                                 .painleve_p = 0.5,
                                 .free_acceleration = -9,
                                 .paradox_class = 3};
    for (int turned = 0; turned < 2; ++turned) {
        memory.turned = turned & 1;
        const double sign = turned ? -1 : 1;
        const spragContact contact = spragRecordContact(&memory);
        assert_true(contact.body[turned] == one && contact.body[!turned] == two);
        assert_true(contact.id == 5 && contact.mode == SPRAG_MODE_SLIP && contact.variant == 1);
        CHECK_NEAR(contact.normal[2], sign, 0);
        CHECK_NEAR(contact.friction[1], -2 * sign, 0);
        CHECK_NEAR(contact.slip[1], sign, 0); /* as it is now */
        CHECK_NEAR(contact.normal_force, 10, 0);
        CHECK_NEAR(contact.position[2], 3, 0);
        CHECK_NEAR(contact.depth, 0.01, 0);
        CHECK_NEAR(contact.painleve_p, 0.5, 0);
        CHECK_NEAR(contact.free_acceleration, -9, 0);
        assert_int_equal(contact.paradox_class, 3);
    }
    assert_ptr_equal(memory.body[0], one); /* the record is as it was */
    dWorldDestroy(world);
}

/* By geoms and by where it is in the frame of either body; the arm is the longer of the two. */
static void contactsAreRecognisedByTheirPlaces(void **state)
{
    (void)state;
    static Fake fake;
    spragJointState *joint = &fake.joint[0];
    const dGeomID ball = dCreateSphere(NULL, 1), box = dCreateBox(NULL, 1, 1, 1);
    setFake(&fake, 0);
    fake.contact.geom = (dContactGeom){.g1 = ball, .g2 = box, .pos = {3, 4, 0}};
    for (int b = 0; b < 2; ++b) {
        fake.body[b].serial = 7 + b;
        for (int i = 0; i < 9; i += 4)
            fake.body[b].rotation[i] = 1;
    }
    fake.body[1].position[0] = 3;
    for (unsigned reversed = 0; reversed < 2; ++reversed)
        for (int world = 0; world < 2; ++world) {
            spragContactMemory memory = {0};
            joint->memory = -1;
            joint->reversed = reversed & 1;
            joint->body[0] = 0, joint->body[1] = world ? -1 : 1;
            spragRecordPlace(&fake.world, joint, &memory);
            assert_true(memory.geom[reversed] == ball && memory.geom[!reversed] == box);
            assert_int_equal(memory.serial[0], 7);
            assert_int_equal(memory.serial[1], world ? 0 : 8);
            CHECK_NEAR(memory.local[0][0], 3, 0);
            CHECK_NEAR(memory.arm, 5, 0);
            if (!world)
                CHECK_NEAR(spragNorm3(memory.local[1]), 4, 0);
        }
    /* what the ledger has found out is taken from there, not from the bodies */
    double local[FAKE_JOINTS][2][3] = {{{0, 0, 2}, {0, 6, 0}}};
    fake.world.snapshot.local = local;
    joint->memory = 3;
    joint->body[1] = 1;
    fake.memory[3].geom[0] = box;
    fake.memory[3].serial[0] = 99;
    spragContactMemory memory = {0};
    spragRecordPlace(&fake.world, joint, &memory);
    assert_ptr_equal(memory.geom[0], box);
    assert_int_equal(memory.serial[0], 99);
    CHECK_NEAR(memory.arm, 6, 0);
    dGeomDestroy(ball);
    dGeomDestroy(box);
}

static void whoGoesOnAsBeforeIsQuiet(void **state)
{
    (void)state;
    static Fake fake;
    static const struct {
        spragMode before, after;
        int variant, passed;
        double before_slip, slip, now; /* m/s along x: of the record before; of this one; at the start of the step */
        int quiet;
    } of[] = {{SPRAG_MODE_STICK, SPRAG_MODE_STICK, 1, 0, 0, 0, 0, 1},
              {SPRAG_MODE_STICK, SPRAG_MODE_STICK, 1, 0, 0, 0, 1e-3, 0}, /* a slip that the step ends */
              {SPRAG_MODE_STICK, SPRAG_MODE_STICK, -1, 0, 0, 0, 0, 0},   /* on the guide's other side */
              {SPRAG_MODE_STICK, SPRAG_MODE_STICK, 1, 1, 0, 0, 0, 0},    /* what passed through rest has come to it */
              {SPRAG_MODE_SLIP, SPRAG_MODE_SLIP, 1, 0, 1, 2, 1, 1},
              {SPRAG_MODE_SLIP, SPRAG_MODE_SLIP, 1, 0, 1, -2, 1, 0}, /* it reverses */
              {SPRAG_MODE_SLIP, SPRAG_MODE_STICK, 1, 0, 1, 0, 0, 0},
              {SPRAG_MODE_OPEN, SPRAG_MODE_STICK, 1, 0, 0, 0, 0, 0},
              {SPRAG_MODE_OPEN, SPRAG_MODE_OPEN, 1, 0, 0, 0, 5, 1}};
    setFake(&fake, 0);
    for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
        fake.memory[0] = (spragContactMemory){.mode = of[i].before, .variant = 1, .slip = {of[i].before_slip}};
        fake.memory[0].passed = of[i].passed & 1;
        const spragContactMemory memory = {
            .mode = of[i].after, .variant = (signed char)of[i].variant, .slip = {of[i].slip}};
        const double slip[3] = {of[i].now};
        if (spragRecordIsQuiet(&fake.world, &fake.joint[0], &memory, slip) != of[i].quiet)
            fail_msg("case %zu", i);
    }
    const spragContactMemory open = {.mode = SPRAG_MODE_OPEN};
    fake.joint[0].memory = -1; /* whatever it does, it is new */
    assert_false(spragRecordIsQuiet(&fake.world, &fake.joint[0], &open, (double[3]){0}));
}

/* A ball of 2 kg lands at 3 m/s on what does not move and sticks, in a step of 10 ms; in the next one it slides. */
static void eventsSayWhatHappened(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    assert_true(spragEventLogInit(&fake.world.log, 10));
    fake.world.info.time = 1.25, fake.world.info.step = 125;
    fake.body[0].serial = SPRAG_MARK_MIN + 4;
    spragJointState *joint = &fake.joint[0];
    joint->memory = -1;
    joint->body[0] = 0, joint->body[1] = -1;
    spragContactMemory memory = {.id = 9,
                                 .mode = SPRAG_MODE_STICK,
                                 .variant = 1,
                                 .normal = {0, 0, 1},
                                 .normal_force = 600,
                                 .friction = {30, 0, 0},
                                 .position = {1, 2, 0}};
    spragPlainMotion motion = {.slip = {-0.3}, .approach = -3, .own = 0.5, .p = 0.5, .acceleration = -9.81};
    spragRecordPlainEvents(&fake.world, joint, &memory, &motion);
    assert_int_equal(fake.world.log.count, 1);
    const spragEvent *event = &fake.world.log.event[0];
    assert_int_equal(event->type, SPRAG_EVENT_TOUCH);
    assert_true(event->contact == 9 && event->step == 125 && event->body_number[0] == 4 && event->body_number[1] == -1);
    CHECK_NEAR(event->time, 1.25, 0);
    CHECK_NEAR(event->impulse[0], 0.3, 1e-15); /* N s */
    CHECK_NEAR(event->impulse[2], 6, 1e-15);
    CHECK_NEAR(event->slip_before[0], -0.3, 0);
    CHECK_NEAR(event->position[1], 2, 0);
    fake.memory[5] = memory; /* it sticks, and is pushed */
    joint->memory = 5;
    memory.mode = SPRAG_MODE_SLIP;
    memory.slip[0] = memory.slip_now[0] = 0.2;
    motion = (spragPlainMotion){.own = 0.5, .p = 0.5, .acceleration = -9.81};
    spragEventLogClear(&fake.world.log);
    spragRecordPlainEvents(&fake.world, joint, &memory, &motion);
    assert_int_equal(fake.world.log.count, 1);
    assert_int_equal(fake.world.log.event[0].type, SPRAG_EVENT_SLIP);
    CHECK_NEAR(fake.world.log.event[0].slip_after[0], 0.2, 0);
    spragEventLogFree(&fake.world.log);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodiesAreNumberedBySerials),
        cmocka_unit_test(stillIsWhatTheAnswerCannotTell),
        cmocka_unit_test(historyIsInTheseTangents),
        cmocka_unit_test(turnedContactsAreToldAsTheUserNamedThem),
        cmocka_unit_test(contactsAreRecognisedByTheirPlaces),
        cmocka_unit_test(whoGoesOnAsBeforeIsQuiet),
        cmocka_unit_test(eventsSayWhatHappened),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
