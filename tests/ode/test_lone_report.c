/* The report of a body alone on the ground: a landing, a slide and a stop with the forces that momentum asks for, and
 * what has nothing to tell. */
#include "support/twin.h"

#include "base/alloc.h"
#include "ode/step/report.h"
#include "ode/world/world.h"

#define STEP 1e-3 /* s */
#define MU 0.5
#define MASS 2.0 /* kg, of the boxes of a twin */
#define G 9.81

static void openBox(Twin *t, double vx, double vz)
{
    makeTwin(t, 1);
    dWorldSetCFM(t->world, 0);
    dBodySetLinearVel(addBox(t, 0, 0, 0.2), vx, 0, vz);
}

/* Contacts at four points at the height of the centre of mass, where friction does not tilt it. */
static void touchAll(Twin *t)
{
    const dReal *at = dBodyGetPosition(t->body[0]);
    for (int i = 0; i < 4; ++i) {
        const dContact contact = planeContact(at[0] + (i & 1 ? 0.5 : -0.5), at[1] + (i & 2 ? 0.4 : -0.4), at[2], MU);
        addContact(t, &contact, t->body[0], 0);
    }
}

static const spragIsland *slide(Twin *t)
{
    touchAll(t);
    step(t, STEP);
    const spragIsland *island = &t->sprag->snapshot.island[0];
    assert_non_null(island->lone);
    return island;
}

static void checkSum(const spragContact *contact, double x, double z)
{
    double force[3] = {0};
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < 3; ++i)
            force[i] += contact[k].normal_force * contact[k].normal[i] + contact[k].friction[i];
    CHECK_NEAR(force[0], x, 1e-6);
    CHECK_NEAR(force[1], 0, 1e-6);
    CHECK_NEAR(force[2], z, 1e-6);
}

/* It lands at 1 m/s, slides with mu m g against its way, and stops; then it is lifted. */
static void whatItDoesIsTold(void **state)
{
    (void)state;
    Twin t;
    openBox(&t, 2 * MU * (1 + G * STEP), -1); /* half of that is left after the blow */
    slide(&t);
    const spragContact *contact = lastContacts(&t, 4);
    assert_int_equal(countEvents(&t, SPRAG_EVENT_TOUCH), 4);
    checkSum(contact, -MU * MASS * (1 / STEP + G), MASS * (1 / STEP + G));
    const spragEvent *event;
    double impulse = 0;
    assert_int_equal(spragWorldGetEvents(t.sprag, &event), 4);
    for (int k = 0; k < 4; ++k) {
        impulse += event[k].impulse[2];
        assert_int_equal(event[k].contact, contact[k].id);
        CHECK_NEAR(event[k].slip_before[0], 2 * MU * (1 + G * STEP), 1e-12);
        CHECK_NEAR(event[k].slip_after[0], MU * (1 + G * STEP), 1e-9);
        CHECK_NEAR(contact[k].slip[0], MU * (1 + G * STEP), 1e-9);
        CHECK_NEAR(contact[k].depth, 0, 1e-15);
        assert_int_equal(contact[k].mode, SPRAG_MODE_SLIP);
        assert_int_equal(contact[k].variant, 1);
    }
    CHECK_NEAR(impulse, MASS * (1 + G * STEP), 1e-9);
    const unsigned long long id = contact[0].id;
    const spragIsland *island = slide(&t);
    contact = lastContacts(&t, 4);
    assert_int_equal(contact[0].id, id);
    assert_int_equal(spragWorldGetEvents(t.sprag, &event), 0);
    assert_null(island->motion); /* it goes on as it did */
    for (int k = 0; k < 4; ++k)
        assert_int_equal(t.sprag->noted[island->first_record + k], -1);
    checkSum(contact, -MU * MASS * G, MASS * G);
    dBodySetLinearVel(t.body[0], 0.5 * MU * G * STEP, 0, 0); /* half a step's slip */
    slide(&t);
    contact = lastContacts(&t, 4);
    assert_int_equal(countEvents(&t, SPRAG_EVENT_STICK), 4);
    checkSum(contact, -0.5 * MU * MASS * G, MASS * G);
    for (int k = 0; k < 4; ++k) {
        assert_int_equal(contact[k].mode, SPRAG_MODE_STICK);
        CHECK_NEAR(contact[k].slip[0], 0, 1e-9);
        CHECK_NEAR(t.sprag->memory[k].slip[0], MU * (1 + G * STEP) - MU * G * STEP, 1e-9); /* it slid so last */
    }
    dBodySetLinearVel(t.body[0], 0, 0, 1);
    slide(&t);
    contact = lastContacts(&t, 4);
    assert_int_equal(countEvents(&t, SPRAG_EVENT_DETACH), 4);
    checkSum(contact, 0, 0);
    for (int k = 0; k < 4; ++k) {
        assert_int_equal(contact[k].mode, SPRAG_MODE_OPEN);
        assert_int_equal(contact[k].variant, 0);
    }
    freeTwin(&t);
}

/* p = W_nn - mu W_nt e and b = -g of one point below the centre, by hand; without analysis neither is told. */
static void pAndBAreThoseOfTheContact(void **state)
{
    (void)state;
    const double height = 0.2, x = 0.3, I = MASS / 12 * (1 + 0.16);
    for (int analysis = 0; analysis < 2; ++analysis) {
        Twin t;
        openBox(&t, 1, 0);
        spragConfig config = spragConfigDefault();
        config.analysis = analysis ? SPRAG_ANALYSIS_CONTACTS : SPRAG_ANALYSIS_OFF;
        assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
        const dContact contact = planeContact(x, 0, 0, MU);
        addContact(&t, &contact, t.body[0], 0);
        step(&t, STEP);
        const spragContact *told = lastContacts(&t, 1);
        const double W_nn = 1 / MASS + x * x / I,
                     W_nt = x * height / I; /* arm x n = (0, -x, 0), arm x t = (0, -h, 0) */
        CHECK_NEAR(told->painleve_p, analysis ? W_nn - MU * W_nt : 0, 1e-12);
        CHECK_NEAR(told->free_acceleration, analysis ? -G : 0, 1e-9);
        freeTwin(&t);
    }
}

/* Asleep it has no contacts to tell of, and no end of them either; awake they are the same, and go on. */
static void sleepersKeepTheirContacts(void **state)
{
    (void)state;
    Twin t;
    unsigned long long id[4];
    openBox(&t, 0, 0);
    for (int k = 0; k < 2; ++k)
        slide(&t);
    for (int k = 0; k < 4; ++k)
        id[k] = lastContacts(&t, 4)[k].id;
    dBodyDisable(t.body[0]);
    for (int k = 0; k < 2; ++k) {
        touchAll(&t);
        step(&t, STEP);
        lastContacts(&t, 0);
        assert_int_equal(countEvents(&t, SPRAG_EVENT_DETACH), 0);
    }
    dBodyEnable(t.body[0]);
    slide(&t);
    for (int k = 0; k < 4; ++k) {
        assert_int_equal(lastContacts(&t, 4)[k].id, id[k]);
        assert_int_equal(lastContacts(&t, 4)[k].mode, SPRAG_MODE_STICK);
    }
    assert_int_equal(countEvents(&t, SPRAG_EVENT_TOUCH), 0);
    freeTwin(&t);
}

/* What has something to tell needs memory for it; without, the step is refused and the box is where it was. */
static void withoutMemoryTheStepIsRefused(void **state)
{
    (void)state;
    int refused = 0;
    for (unsigned long n = 1;; ++n) {
        Twin t;
        openBox(&t, 1, -1);
        addCorners(&t, t.body[0], MU);
        spragAllocFailAt(n);
        const spragStatus status = spragWorldStep(t.sprag, STEP);
        spragAllocFailAt(0);
        CHECK_NEAR(dBodyGetLinearVel(t.body[0])[2], status == SPRAG_OK ? 0 : -1, 1e-9);
        if (status == SPRAG_OK)
            assert_int_equal(countEvents(&t, SPRAG_EVENT_TOUCH), 4);
        freeTwin(&t);
        if (status == SPRAG_OK)
            break;
        assert_int_equal(status, SPRAG_ERROR_MEMORY);
        ++refused;
    }
    assert_true(refused > 0);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatItDoesIsTold), cmocka_unit_test(pAndBAreThoseOfTheContact),
                                       cmocka_unit_test(sleepersKeepTheirContacts),
                                       cmocka_unit_test(withoutMemoryTheStepIsRefused)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
