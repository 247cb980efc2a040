/* The top against tests/data/oracle_open.json: a slipping tip, a sticking tip, slip onset from rest, lift-off; the
 * modes at an instant, paradoxical ones included, by one short step. */
#include "scenes/accuracy.h"
#include "scenes/reference.h"
#include "support/scene_world.h"

static AccuracyCase topCase(const char *id)
{
    const Json *source = oracleCase(&oracle, id), *expected = jsonGet(source, "expected");
    const Json *inputs = jsonGet(source, "inputs");
    AccuracyCase c = {.id = id, .scene = SceneFind("top"), .state_count = 12, .state = ReferenceTopState};
    ReferenceTopValues(inputs, c.value);
    accuracyReadSamples(&c, jsonGet(expected, "samples_t_tip3_axis3_vtip3_om3_R3_mode"));
    accuracyReadLog(&c, jsonGet(expected, "log"));
    return c;
}

static void checkTrajectory(const char *id, int count, const double *step)
{
    const AccuracyCase c = topCase(id);
    int wrong = 0;
    for (int i = 0; i < count; ++i)
        wrong += accuracyCheck(&c, step[i]);
    assert_int_equal(wrong, 0);
}

#define TRAJECTORY(name, id, ...)                                                                                      \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        checkTrajectory(id, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__});                \
    }

/* a spin of 200 rad/s: a step of 1e-3 s is beyond the rule's first order */
TRAJECTORY(slipsAndSticks, "top.slip-stick", 1e-3, 1e-4, 2e-5)
TRAJECTORY(slides, "top.slide", 1e-3, 1e-4, 2e-5)
TRAJECTORY(smallTop, "top.small", 1e-4, 2e-5)
TRAJECTORY(leavesSliding, "top.detach.slide", 1e-3, 1e-4, 2e-5)
TRAJECTORY(slipsFromRestAndLeaves, "top.sliponset.detach", 1e-3, 1e-4, 2e-5)
TRAJECTORY(leavesAtOnce, "top.detach.at_once", 1e-3, 1e-4, 2e-5)

/* At the end, where free motion knows of the moment of the tip's contact: 0.4, 0.2, 0.59 where it does not. */
static void longStepsMayBeNear(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        double step, most;
    } of[] = {{"top.slip-stick", 1e-3, 0.02}, {"top.slide", 1e-3, 0.04}, {"top.small", 1e-4, 0.02}};
    spragConfig config = spragConfigDefault();
    config.gyroscopic = SPRAG_GYROSCOPIC_CONTACTS;
    for (size_t k = 0; k < sizeof of / sizeof *of; ++k) {
        AccuracyCase c = topCase(of[k].id);
        c.config = &config;
        AccuracyRun *run = malloc(sizeof *run);
        assert_non_null(run);
        accuracyRun(&c, of[k].step, run);
        const int last = c.sample_count - 1;
        const double error = accuracyDistance(c.state_count, run->state[last], c.sample[last]);
        print_message("%-28s h=%-7g error at the end %.3g\n", c.id, of[k].step, error);
        assert_true(error < of[k].most);
        free(run);
    }
}

/* ---------------------------------------------------------------- modes at an instant */

/* One step of h from the state of a `top.algebra` case; the world is left for the caller. */
static SceneWorld *instant(const Json *source, double h)
{
    const Json *inputs = jsonGet(source, "inputs");
    double value[SCENE_KEY_MAX], z[12];
    char error[160];
    ReferenceTopBody(inputs, value);
    assert_int_equal(jsonNumbers(jsonGet(inputs, "z_tip_axis_vtip_omega"), 0, 12, z), 12);
    ReferencePut("top", "tilt", acos(z[5]) * 180 / M_PI, value);
    ReferencePut("top", "heading", atan2(z[4], z[3]), value);
    SceneWorld *world = SceneCreate(SceneFind("top"), value, SCENE_SPRAG, NULL, error);
    if (world == NULL)
        fail_msg("%s", error);
    /* velocities as given: the keys are Euler rates */
    const double l = jsonNumber(inputs, "l");
    const double *d = z + 3, *v = z + 6, *w = z + 9;
    dBodySetAngularVel(world->body[0], w[0], w[1], w[2]);
    dBodySetLinearVel(world->body[0], v[0] + l * (w[1] * d[2] - w[2] * d[1]), v[1] + l * (w[2] * d[0] - w[0] * d[2]),
                      v[2] + l * (w[0] * d[1] - w[1] * d[0]));
    assert_int_equal(SceneStep(world, h), SPRAG_OK);
    return world;
}

/* Forces of the contact against the oracle's mode, error O(h). */
static void checkForce(const spragContact *c, const Json *mode, double h)
{
    double R[3];
    assert_int_equal(jsonNumbers(jsonGet(mode, "R"), 0, 3, R), 3);
    const double scale = 1 + fabs(R[2]);
    CHECK_NEAR(c->friction[0], R[0], 1e3 * scale * h);
    CHECK_NEAR(c->friction[1], R[1], 1e3 * scale * h);
    CHECK_NEAR(c->normal_force, R[2], 1e3 * scale * h);
}

static void checkInstant(const char *id)
{
    const double h = 1e-6;
    const Json *source = oracleCase(&oracle, id), *expected = jsonGet(source, "expected");
    const double p = jsonNumber(expected, "p"), b = jsonNumber(expected, "b");
    SceneWorld *world = instant(source, h);
    const spragContact *c = NULL;
    assert_int_equal(SceneGetContacts(world, &c), 1);
    CHECK_NEAR(c->painleve_p, p, 1e-9);
    CHECK_NEAR(c->free_acceleration, b, 100 * h); /* gyroscopic torque: implicit, so O(h omega^3 l) */
    assert_int_equal(findEvent(world, SPRAG_EVENT_INCONSISTENT) != NULL, p < 0 && b < 0);
    assert_int_equal(findEvent(world, SPRAG_EVENT_INDETERMINATE) != NULL, p < 0 && b > 0);
    assert_int_equal(findEvent(world, SPRAG_EVENT_JAM) != NULL, p < 0 && b < 0);
    if (b > 0) {
        assert_int_equal(c->mode, SPRAG_MODE_OPEN); /* p < 0 too: a fresh contact leaves */
    } else if (p > 0) {
        assert_int_equal(c->mode, SPRAG_MODE_SLIP);
        checkForce(c, &jsonGet(expected, "modes")->first[0], h);
    } else {
        double P[3];
        const spragEvent *jam = findEvent(world, SPRAG_EVENT_JAM);
        assert_int_equal(c->mode, SPRAG_MODE_STICK);
        assert_int_equal(jsonNumbers(jsonGet(jsonGet(expected, "jam_e0"), "P"), 0, 3, P), 3);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(jam->impulse[i], P[i], 50 * h);
    }
    SceneDestroy(world);
}

static void instants(void **state)
{
    (void)state;
    static const char *const id[] = {"p+b+.1", "p+b+.2", "p+b-.1", "p+b-.2", "p-b+.1", "p-b+.2", "p-b-.1", "p-b-.2"};
    for (int i = 0; i < 8; ++i) {
        char name[32];
        snprintf(name, sizeof name, "top.algebra.%s", id[i]);
        print_message("%s\n", name);
        checkInstant(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instants),     cmocka_unit_test(slipsAndSticks),     cmocka_unit_test(slides),
        cmocka_unit_test(smallTop),     cmocka_unit_test(leavesSliding),      cmocka_unit_test(slipsFromRestAndLeaves),
        cmocka_unit_test(leavesAtOnce), cmocka_unit_test(longStepsMayBeNear),
    };
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
