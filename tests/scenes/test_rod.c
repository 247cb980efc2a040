/* The rod against tests/data/oracle_open.json: trajectories, the impact that ends a slip, the quadrants of (p, b). */
#include "scenes/accuracy.h"
#include "scenes/reference.h"
#include "support/scene_world.h"

enum { MASS, LENGTH, MU, ANGLE, OMEGA, SLIP, GRAVITY, RESTITUTION };

/* Leaving the plane x-z of the scene fails. */
static void rodState(const SceneWorld *world, double *state)
{
    assert_true(ReferenceRodState(world, state) < 1e-9);
}

static AccuracyCase rodCase(const char *id)
{
    const Json *source = oracleCase(&oracle, id), *expected = jsonGet(source, "expected");
    AccuracyCase c = {.id = id, .scene = SceneFind("rod"), .state_count = 6, .state = rodState};
    ReferenceRodValues(jsonGet(source, "inputs"), c.value);
    accuracyReadSamples(&c, jsonGet(expected, "samples_t_x_y_th_vx_vy_om_N_T_mode"));
    accuracyReadLog(&c, jsonGet(expected, "log"));
    const double end = c.sample_time[c.sample_count - 1];
    while (c.event_count > 0 && c.event[c.event_count - 1].time > end)
        c.event_count -= 1; /* after the last sample */
    return c;
}

static void checkTrajectory(const char *id)
{
    static const double step[] = {1e-3, 1e-4, 2e-5};
    const AccuracyCase c = rodCase(id);
    int wrong = 0;
    for (int i = 0; i < 3; ++i)
        wrong += accuracyCheck(&c, step[i]);
    assert_int_equal(wrong, 0);
}

#define TRAJECTORY(name, id)                                                                                           \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        checkTrajectory(id);                                                                                           \
    }

TRAJECTORY(stopsAndSticks, "rod_dyn.p+b-.stop-stick")
TRAJECTORY(stopsAndReverses, "rod_dyn.p+b-.stop-reverse")
TRAJECTORY(slidesLong, "rod_dyn.p+b-.long-slide")
TRAJECTORY(lifts, "rod_dyn.p+b+.lift")
TRAJECTORY(liftsWhereIndeterminate, "rod_dyn.p-b+.lift")
TRAJECTORY(jamsAndSticks, "rod_dyn.p-b-.jam-stick")
TRAJECTORY(jamsAndLifts, "rod_dyn.p-b-.jam-lift")
TRAJECTORY(jamsToTheLeft, "rod_dyn.p-b-.left")

/* ---------------------------------------------------------------- the impact that ends a slip */

/* value: up to the restitution; a rigid surface. */
static SceneWorld *openRod(const double *value)
{
    char error[160];
    double all[SCENE_KEY_MAX] = {0};
    memcpy(all, value, (RESTITUTION + 1) * sizeof *all);
    SceneWorld *world = SceneCreate(SceneFind("rod"), all, SCENE_SPRAG, NULL, error);
    if (world == NULL)
        fail_msg("%s", error);
    return world;
}

/* (Pn, Pt, v_tip x, v_tip z, omega) after one step of h, and the event that says so. */
static void jamOnce(const double *value, double h, double p, double b, double *out)
{
    SceneWorld *world = openRod(value);
    assert_int_equal(SceneStep(world, h), SPRAG_OK);
    const spragEvent *inconsistent = findEvent(world, SPRAG_EVENT_INCONSISTENT);
    const spragEvent *jam = findEvent(world, SPRAG_EVENT_JAM);
    assert_non_null(inconsistent);
    assert_non_null(jam);
    CHECK_NEAR(jam->p, p, 1e-9);
    CHECK_NEAR(jam->b, b, 1e-9);
    CHECK_NEAR(inconsistent->slip_before[0], value[SLIP], 1e-12);
    out[0] = jam->impulse[2];
    out[1] = jam->impulse[0];
    const double l = 0.5 * value[LENGTH];
    /* the end's velocity where it was when the impulse acted */
    const dReal *v = dBodyGetLinearVel(world->body[0]), *w = dBodyGetAngularVel(world->body[0]);
    const double angle = value[ANGLE] * M_PI / 180;
    out[2] = v[0] - w[1] * l * sin(angle);
    out[3] = v[2] + w[1] * l * cos(angle);
    out[4] = -w[1];
    SceneDestroy(world);
}

static int checkJam(const Json *source, double restitution, const Json *row)
{
    double value[SCENE_KEY_MAX], reference[5], coarse[5], fine[5];
    const Json *expected = jsonGet(source, "expected");
    ReferenceRodValues(jsonGet(source, "inputs"), value);
    value[RESTITUTION] = restitution;
    reference[0] = jsonNumber(row, "Pn");
    reference[1] = jsonNumber(row, "Pt");
    assert_int_equal(jsonNumbers(jsonGet(row, "v_tip"), 0, 2, reference + 2), 2);
    reference[4] = jsonNumber(row, "om_after");
    const double p = jsonNumber(expected, "p"), b = jsonNumber(expected, "b"), h = 1e-4;
    jamOnce(value, h, p, b, coarse);
    jamOnce(value, 0.5 * h, p, b, fine);
    return accuracyJudge(jsonGet(source, "id")->text, restitution, h, 1, 5, reference, coarse, fine);
}

static void jamImpulses(void **state)
{
    (void)state;
    int wrong = 0;
    for (int k = 1; k <= 6; ++k) {
        char id[24];
        snprintf(id, sizeof id, "rod_jam.%d", k);
        const Json *source = oracleCase(&oracle, id);
        const Json *rows = jsonGet(jsonGet(source, "expected"), "energetic_restitution");
        for (int i = 0; i < rows->count; ++i)
            wrong += checkJam(source, jsonNumber(&rows->first[i], "e"), &rows->first[i]);
    }
    assert_int_equal(wrong, 0);
}

/* ---------------------------------------------------------------- the four quadrants */

static const double step_sizes[] = {1e-2, 1e-3, 1e-4, 1e-5};
enum { STEP_SIZES = 4 };

static const spragContact *onlyContact(SceneWorld *world)
{
    const spragContact *contacts = NULL;
    assert_int_equal(SceneGetContacts(world, &contacts), 1);
    return contacts;
}

/* mu 0.5 at 60 degrees: p > 0, b < 0.  It slides with N = -b / p + O(h), and nothing is reported as a paradox. */
static void quadrantSlide(void **state)
{
    (void)state;
    for (int i = 0; i < STEP_SIZES; ++i) {
        SceneWorld *world = openRod((double[]){1, 2, 0.5, 60, 0, 1, 9.81, 0});
        assert_int_equal(SceneStep(world, step_sizes[i]), SPRAG_OK);
        const spragContact *c = onlyContact(world);
        assert_int_equal(c->mode, SPRAG_MODE_SLIP);
        CHECK_NEAR(c->painleve_p, 1 + 3 * 0.5 * (0.5 + 0.5 * sqrt(0.75)), 1e-12); /* friction points to -x */
        CHECK_NEAR(c->free_acceleration, -9.81, 1e-9);
        CHECK_NEAR(c->normal_force, 9.81 / c->painleve_p, 10 * step_sizes[i]);
        CHECK_NEAR(c->friction[0], -0.5 * c->normal_force, 1e-12);
        assert_null(findEvent(world, SPRAG_EVENT_INCONSISTENT));
        assert_null(findEvent(world, SPRAG_EVENT_INDETERMINATE));
        assert_null(findEvent(world, SPRAG_EVENT_JAM));
        SceneDestroy(world);
    }
}

/* omega 5 at 100 degrees: p > 0, b > 0.  It leaves. */
static void quadrantLift(void **state)
{
    (void)state;
    for (int i = 0; i < STEP_SIZES; ++i) {
        SceneWorld *world = openRod((double[]){1, 2, 0.3, 100, 5, 1, 9.81, 0});
        assert_int_equal(SceneStep(world, step_sizes[i]), SPRAG_OK);
        const spragContact *c = onlyContact(world);
        assert_int_equal(c->mode, SPRAG_MODE_OPEN);
        assert_true(c->normal_force == 0);
        assert_true(c->painleve_p > 0 && c->free_acceleration > 0);
        assert_non_null(findEvent(world, SPRAG_EVENT_DETACH));
        assert_null(findEvent(world, SPRAG_EVENT_INDETERMINATE));
        assert_null(findEvent(world, SPRAG_EVENT_INCONSISTENT));
        SceneDestroy(world);
    }
}

/* mu 2 at 120 degrees, at rest: p < 0, b < 0.  The slip of 1 m/s ends in one step, and both events say so. */
static void quadrantInconsistent(void **state)
{
    (void)state;
    for (int i = 0; i < STEP_SIZES; ++i) {
        SceneWorld *world = openRod((double[]){1, 2, 2, 120, 0, 1, 9.81, 0});
        assert_int_equal(SceneStep(world, step_sizes[i]), SPRAG_OK);
        const spragEvent *jam = findEvent(world, SPRAG_EVENT_JAM);
        assert_non_null(findEvent(world, SPRAG_EVENT_INCONSISTENT));
        assert_non_null(jam);
        assert_null(findEvent(world, SPRAG_EVENT_INDETERMINATE));
        assert_int_equal(jam->anticipated, 0);
        CHECK_NEAR(jam->p, -0.8480762113533158, 1e-9);
        CHECK_NEAR(jam->b, -9.81, 1e-9);
        CHECK_NEAR(jam->impulse[2], 0.3247595264191644, 8 * step_sizes[i]); /* Pn of rod_dyn.p-b-.jam-stick */
        CHECK_NEAR(jam->impulse[0], -0.4375, 8 * step_sizes[i]);
        const spragContact *c = onlyContact(world);
        assert_int_equal(c->mode, SPRAG_MODE_STICK);
        CHECK_NEAR(c->slip[0], 0, 1e-12);
        SceneDestroy(world);
    }
}

/* omega 4: p < 0, b > 0.  A fresh contact leaves. */
static void quadrantIndeterminate(void **state)
{
    (void)state;
    for (int i = 0; i < STEP_SIZES; ++i) {
        SceneWorld *world = openRod((double[]){1, 2, 2, 120, 4, 1, 9.81, 0});
        assert_int_equal(SceneStep(world, step_sizes[i]), SPRAG_OK);
        const spragEvent *event = findEvent(world, SPRAG_EVENT_INDETERMINATE);
        assert_non_null(event);
        CHECK_NEAR(event->p, -0.8480762113533158, 1e-9);
        CHECK_NEAR(event->b, 4.046406460551019, 1e-9);
        CHECK_NEAR(event->separatrix, 4.771276928159527, 1e-8);
        assert_non_null(findEvent(world, SPRAG_EVENT_DETACH));
        assert_null(findEvent(world, SPRAG_EVENT_JAM));
        assert_null(findEvent(world, SPRAG_EVENT_INCONSISTENT));
        assert_int_equal(onlyContact(world)->mode, SPRAG_MODE_OPEN);
        SceneDestroy(world);
    }
}

/* p < 0 and the end flies off at 0.5 m/s: it touches, but nothing could keep it there, so nothing is a paradox. */
static void flyingOffIsNoParadox(void **state)
{
    (void)state;
    for (int omega = 0; omega <= 4; omega += 4) {
        SceneWorld *world = openRod((double[]){1, 2, 2, 120, omega, 1, 9.81, 0});
        const dReal *v = dBodyGetLinearVel(world->body[0]);
        dBodySetLinearVel(world->body[0], v[0], v[1], v[2] + 0.5);
        assert_int_equal(SceneStep(world, 1e-3), SPRAG_OK);
        const spragEvent *events = NULL;
        assert_int_equal(spragWorldGetEvents(world->sprag, &events), 0);
        assert_int_equal(onlyContact(world)->mode, SPRAG_MODE_OPEN);
        SceneDestroy(world);
    }
}

/* rod_jam.separatrix: the contact carried N_prev, then b turns positive at p < 0 (a load goes, mu rises).
 * N_prev < N* leaves, N_prev > N* jams. */
static void separatrixDecides(void **state)
{
    (void)state;
    static const double factor[] = {0.5, 0.9, 1.1, 2.0}; /* N_prev / N* */
    for (int i = 1; i < STEP_SIZES; ++i)
        for (int k = 0; k < 4; ++k) {
            const double h = step_sizes[i], angle = 2 * M_PI / 3;
            SceneWorld *world = openRod((double[]){1, 2, 0.3, 120 - 4 * h * 180 / M_PI, 4, 1, 9.81, 0});
            /* slides at mu 0.3 with N = -(b - load) / p: the load through the centre that gives N_prev */
            const double p = 1 + 3 * cos(angle) * (cos(angle) + 0.3 * sin(angle)), b = 16 * sin(angle) - 9.81;
            dBodyAddForce(world->body[0], 0, 0, -(b + p * factor[k] * 4.771276928159527));
            assert_int_equal(SceneStep(world, h), SPRAG_OK);
            assert_int_equal(onlyContact(world)->mode, SPRAG_MODE_SLIP);
            CHECK_NEAR(onlyContact(world)->normal_force / 4.771276928159527, factor[k], 60 * h);
            world->surface.mu = 2;
            assert_int_equal(SceneStep(world, h), SPRAG_OK);
            assert_non_null(findEvent(world, SPRAG_EVENT_INDETERMINATE));
            const spragContact *c = onlyContact(world);
            if (factor[k] < 1) {
                assert_int_equal(c->mode, SPRAG_MODE_OPEN);
                assert_null(findEvent(world, SPRAG_EVENT_JAM));
            } else {
                assert_int_equal(c->mode, SPRAG_MODE_STICK);
                assert_non_null(findEvent(world, SPRAG_EVENT_JAM));
            }
            SceneDestroy(world);
        }
}

/* All forces of a rod go with its mass: nothing gives by so and so much per N. */
static void massDoesNotMatter(void **state)
{
    (void)state;
    double value[SCENE_KEY_MAX], impulse[3];
    defaults(SceneFind("rod"), value);
    value[MU] = 2, value[ANGLE] = 120, value[OMEGA] = -1;
    for (int k = 0; k < 3; ++k) {
        const spragContact *contact = NULL;
        value[MASS] = pow(100, k - 1);
        SceneWorld *world = openScene("rod", value, SCENE_SPRAG);
        advance(world, 1e-5, 1);
        assert_non_null(findEvent(world, SPRAG_EVENT_JAM));
        assert_int_equal(spragWorldGetContacts(world->sprag, &contact), 1);
        impulse[k] = contact->normal_force * 1e-5 / value[MASS];
        SceneDestroy(world);
    }
    CHECK_NEAR(impulse[0] / impulse[1], 1, 1e-9);
    CHECK_NEAR(impulse[2] / impulse[1], 1, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quadrantSlide),
        cmocka_unit_test(quadrantLift),
        cmocka_unit_test(quadrantInconsistent),
        cmocka_unit_test(quadrantIndeterminate),
        cmocka_unit_test(flyingOffIsNoParadox),
        cmocka_unit_test(separatrixDecides),
        cmocka_unit_test(jamImpulses),
        cmocka_unit_test(stopsAndSticks),
        cmocka_unit_test(stopsAndReverses),
        cmocka_unit_test(slidesLong),
        cmocka_unit_test(lifts),
        cmocka_unit_test(liftsWhereIndeterminate),
        cmocka_unit_test(jamsAndSticks),
        cmocka_unit_test(jamsAndLifts),
        cmocka_unit_test(jamsToTheLeft),
        cmocka_unit_test(massDoesNotMatter),
    };
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
