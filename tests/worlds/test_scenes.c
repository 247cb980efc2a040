/* Scenes as whole worlds: what stands, stands; what spins, spins; no preferred axes; the same bits every time. */
#include <stdlib.h>
#include <string.h>

#include "scenes/trace.h"
#include "support/oracle.h"
#include "support/scene_world.h"
#include "support/uniform.h"

/* Settles for a while, then must not move by more than `bound` (m) in another while. */
static void checkStands(const char *name, double bound)
{
    SceneWorld *world = openScene(name, NULL, SCENE_SPRAG);
    advance(world, 1e-3, 500);
    double *before = places(world);
    advance(world, 1e-3, 1000);
    CHECK_NEAR(drift(world, before), 0, bound);
    free(before);
    SceneDestroy(world);
}

static void towerStands(void **state)
{
    (void)state;
    checkStands("stack", 1e-9);
}

static void archStands(void **state)
{
    (void)state;
    checkStands("arch", 1e-6);
}

static void cardsStand(void **state)
{
    (void)state;
    checkStands("card-house", 1e-6);
}

/* A lone pair of cards slips where friction is too small: the lean decides, not the solver's patience. */
static void cardsFallWithoutFriction(void **state)
{
    (void)state;
    double value[SCENE_KEY_MAX];
    defaults(SceneFind("card-house"), value);
    value[1] = 0.1; /* mu; tan(18 deg) / 2 = 0.16 is needed */
    SceneWorld *world = openScene("card-house", value, SCENE_SPRAG);
    double *before = places(world);
    for (int i = 0; i < 400; ++i)
        assert_int_equal(SceneStep(world, 1e-3), SPRAG_OK);
    assert_true(drift(world, before) > 0.05);
    free(before);
    SceneDestroy(world);
}

/* Twelve motors, and four seconds of trot on its feet. */
static void quadrupedTrots(void **state)
{
    (void)state;
    SceneWorld *world = openScene("quadruped", NULL, SCENE_SPRAG);
    int motors = 0; /* each seen from both of its bodies */
    for (int i = 0; i < world->body_count; ++i)
        for (int k = 0; k < dBodyGetNumJoints(world->body[i]); ++k) {
            const dJointID joint = dBodyGetJoint(world->body[i], k);
            motors += dJointGetType(joint) == dJointTypeHinge && dJointGetHingeParam(joint, dParamFMax) > 0;
        }
    assert_int_equal(motors, 2 * 12);
    double worst = 0;
    for (int i = 0; i < 4000; ++i) {
        assert_int_equal(SceneStep(world, 1e-3), SPRAG_OK);
        assert_true(dBodyGetRotation(world->body[0])[10] > 0.98); /* upright to ten degrees */
        worst = fmax(worst, spragWorldGetStepInfo(world->sprag).residual);
    }
    assert_true(worst <= 1e-8);
    assert_true(dBodyGetPosition(world->body[0])[0] > 1.5);
    SceneDestroy(world);
}

/* Deceleration mu g, heading kept; keys as in scenes/slider.c. */
static void slides(const double *value, double h, int steps)
{
    SceneWorld *world = openScene("slider", value, SCENE_SPRAG);
    advance(world, h, steps);
    const dReal *v = dBodyGetLinearVel(world->body[0]);
    const double heading = value[2] * M_PI / 180, c = cos(heading), s = sin(heading);
    CHECK_NEAR((value[1] - hypot(v[0], v[1])) / (value[0] * 9.81 * h * steps), 1, 1e-6);
    CHECK_NEAR(atan2(c * v[1] - s * v[0], c * v[0] + s * v[1]), 0, 1e-6);
    SceneDestroy(world);
}

/* Any heading, any yaw of the box, any size. */
static void slidesTheSameEveryWay(void **state)
{
    (void)state;
    static const double step[] = {1e-5, 1e-4, 1e-3, 1.0 / 240, 1.0 / 60};
    unsigned long long seed = 3;
    double value[SCENE_KEY_MAX];
    defaults(SceneFind("slider"), value);
    for (int k = 0; k < 24; ++k) {
        value[2] = 15 * k + 0.7; /* heading, deg */
        value[3] = 37 * k % 360; /* yaw, deg */
        slides(value, 1e-3, 400);
    }
    for (int k = 0; k < 60; ++k) {
        value[0] = 0.4 + 0.35 * uniform(&seed);
        value[2] = 360 * uniform(&seed);
        value[3] = 360 * uniform(&seed);
        value[4] = pow(10, -0.5 + uniform(&seed));
        value[5] = value[4] / value[0] * (0.4 + 0.35 * uniform(&seed));
        value[6] = pow(10, -1 + 2 * uniform(&seed));
        slides(value, step[k % 5], 20);
    }
}

/* ---------------------------------------------------------------- the top */

static double spinOf(const SceneWorld *world)
{
    const dReal *R = dBodyGetRotation(world->body[0]), *w = dBodyGetAngularVel(world->body[0]);
    return R[2] * w[0] + R[6] * w[1] + R[10] * w[2];
}

/* Share of its spin that the default top, on a point tip, loses in two seconds.  Gravity and the table make no moment
 * about its axis: all of it is the integrator's.  air: far above the table, without gravity. */
static double spinLoss(SceneSolver solver, double h, int air)
{
    double value[SCENE_KEY_MAX];
    defaults(SceneFind("top"), value);
    value[3] = 0; /* tip-radius */
    value[8] = air ? 0 : value[8];
    SceneWorld *world = openScene("top", value, solver);
    if (air)
        dBodySetPosition(world->body[0], 0, 0, 10);
    const double before = spinOf(world);
    const int steps = (int)lround(2 / h);
    for (int i = 0; i < steps; ++i)
        assert_int_equal(SceneStep(world, h), SPRAG_OK);
    const double loss = 1 - spinOf(world) / before;
    print_message("top: %s h=%g %s loses %.6f %% of its spin in 2 s\n",
                  solver == SCENE_SPRAG      ? "sprag"
                  : solver == SCENE_ODE_STEP ? "dWorldStep"
                                             : "dWorldQuickStep",
                  h, air ? "in the air" : "on the table", 100 * loss);
    SceneDestroy(world);
    return loss;
}

/* The figures of docs/top.md. */
static void topKeepsItsSpin(void **state)
{
    (void)state;
    CHECK_NEAR(spinLoss(SCENE_SPRAG, 1e-3, 0), 0, 1e-9);
    CHECK_NEAR(spinLoss(SCENE_SPRAG, 1e-4, 0), 0, 1e-9);
    assert_true(spinLoss(SCENE_ODE_STEP, 1e-3, 0) > 0.5);
    assert_true(spinLoss(SCENE_ODE_QUICK, 1e-3, 0) > 0.5);
    assert_true(spinLoss(SCENE_ODE_STEP, 1e-4, 0) > 1e-4);
    assert_true(spinLoss(SCENE_ODE_STEP, 1e-3, 1) > 0.5); /* without any contact: the gyroscopic torque alone */
}

/* ---------------------------------------------------------------- closed forms, reference cycles */

/* v = (v0 + 2/5 R spin) / (1 + 2/5): momentum about the line of contact. */
static void ballEndsRolling(void **state)
{
    (void)state;
    SceneWorld *world = openScene("wheel", NULL, SCENE_SPRAG);
    advance(world, 1e-3, 1000);
    const double *value = world->value, radius = value[3];
    const double rolling = (value[1] + 0.4 * radius * value[2]) / 1.4;
    CHECK_NEAR(dBodyGetLinearVel(world->body[0])[0], rolling, 1e-6);
    CHECK_NEAR(dBodyGetAngularVel(world->body[0])[1] * radius, rolling, 1e-6);
    SceneDestroy(world);
}

/* Period of the stick-slip cycle, from one end of sticking to the next. */
static double beltPeriod(const Json *inputs, double h)
{
    double value[SCENE_KEY_MAX];
    defaults(SceneFind("belt"), value);
    value[0] = jsonNumber(inputs, "mu");
    value[1] = jsonNumber(inputs, "alpha");
    value[2] = jsonNumber(inputs, "beta");
    value[3] = value[5] = jsonNumber(inputs, "u");
    SceneWorld *world = openScene("belt", value, SCENE_SPRAG);
    double slip[4];
    int count = 0;
    while (count < 4 && world->time < 120) {
        advance(world, h, 1);
        const spragEvent *events = NULL;
        const int n = spragWorldGetEvents(world->sprag, &events);
        for (int i = 0; i < n; ++i)
            if (events[i].type == SPRAG_EVENT_SLIP && count < 4)
                slip[count++] = events[i].time;
    }
    assert_int_equal(count, 4);
    SceneDestroy(world);
    return (slip[3] - slip[1]) / 2;
}

/* Relative 1e-3. */
static void beltKeepsItsPeriod(void **state)
{
    (void)state;
    static const char *const id[] = {"belt.stickslip.mu1.5.u0.5", "belt.stickslip.mu1.5.u0.7",
                                     "belt.stickslip.mu0.3.u0.3"};
    for (int i = 0; i < 3; ++i) {
        const Json *source = oracleCase(&oracle, id[i]);
        const double reference = jsonNumber(jsonGet(source, "expected"), "T");
        CHECK_NEAR(beltPeriod(jsonGet(source, "inputs"), 1e-3) / reference, 1, 1e-3);
    }
}

/* ---------------------------------------------------------------- every scene; traces */

static void everySceneStepsUnderEverySolver(void **state)
{
    (void)state;
    for (const Scene *const *scene = scene_table; *scene != NULL; ++scene)
        for (int solver = 0; solver < 3; ++solver) {
            SceneWorld *world = openScene((*scene)->name, NULL, (SceneSolver)solver);
            const int steps = world->body_count <= 50 ? 100 : solver == SCENE_ODE_STEP ? 0 : 20; /* minutes */
            for (int i = 0; i < steps; ++i) {
                assert_int_equal(SceneStep(world, (*scene)->step_size), SPRAG_OK);
                if (world->sprag != NULL)
                    assert_int_equal(spragWorldGetStepInfo(world->sprag).declined, 0);
            }
            for (int i = 0; i < world->body_count; ++i)
                for (int k = 0; k < 3; ++k)
                    assert_true(isfinite(dBodyGetPosition(world->body[i])[k]));
            SceneDestroy(world);
        }
}

static void valuesOutOfRangeAreRefused(void **state)
{
    (void)state;
    char error[160] = "";
    double value[SCENE_KEY_MAX];
    for (const Scene *const *scene = scene_table; *scene != NULL; ++scene)
        for (int i = 0; (*scene)->keys[i].name != NULL; ++i) {
            const SceneKey *key = &(*scene)->keys[i];
            const double wrong[] = {nextafter(key->max, INFINITY) + 1, key->min - 1, NAN};
            assert_true(key->value >= key->min && key->value <= key->max);
            for (int k = 0; k < 3; ++k) {
                defaults(*scene, value);
                value[i] = wrong[k];
                assert_null(SceneCreate(*scene, value, SCENE_SPRAG, NULL, error));
                assert_non_null(strstr(error, key->name));
            }
        }
    assert_null(SceneFind("no such scene"));
}

static char *readAll(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *size, file), *size);
    text[*size] = 0;
    fclose(file);
    return text;
}

static void writeRun(const char *scene, int steps, const char *trace_path, const char *events_path)
{
    char error[160];
    SceneWorld *world = openScene(scene, NULL, SCENE_SPRAG);
    Trace *trace = TraceOpen(trace_path, world, error);
    EventLog *log = EventLogOpen(events_path, error);
    assert_non_null(trace);
    assert_non_null(log);
    for (int i = 0; i < steps; ++i) {
        assert_int_equal(SceneStep(world, world->scene->step_size), SPRAG_OK);
        assert_true(TraceStep(trace, world));
        assert_true(EventLogStep(log, world));
    }
    assert_true(TraceClose(trace, 1));
    assert_true(EventLogClose(log, 1));
    SceneDestroy(world);
}

static int columns(const char *line)
{
    int count = 1;
    for (; *line != '\n' && *line != 0; ++line)
        count += *line == ',';
    return count;
}

/* Two runs write the same bytes; every row has the columns of the header; the rows are the steps and the start. */
static void tracesAreTheSameBits(void **state)
{
    (void)state;
    static const char *const name[] = {"rod", "top", "stack", "pile", "quadruped"};
    for (int s = 0; s < 5; ++s) {
        const int steps = s == 0 ? 800 : 150; /* the rod falls flat: its second end touches */
        char *text[2][2];
        for (int run = 0; run < 2; ++run) {
            size_t size;
            writeRun(name[s], steps, "test_scenes.csv", "test_scenes.jsonl");
            text[run][0] = readAll("test_scenes.csv", &size);
            text[run][1] = readAll("test_scenes.jsonl", &size);
        }
        assert_string_equal(text[0][0], text[1][0]);
        assert_string_equal(text[0][1], text[1][1]);
        assert_memory_equal(text[0][0], "time,b0_x,b0_y,b0_z,b0_qw", 25);
        const int width = columns(text[0][0]);
        int rows = 0;
        for (const char *line = text[0][0]; *line != 0; line = strchr(line, '\n') + 1, ++rows)
            assert_int_equal(columns(line), width);
        assert_int_equal(rows, steps + 2);
        if (s == 0) {
            assert_int_equal(width, 1 + 13 + 2 * 10);
            assert_memory_equal(text[0][1], "{\"type\":\"touch\",\"time\":", 23);
            assert_non_null(strstr(text[0][1], "{\"type\":\"stick\""));
        }
        for (int run = 0; run < 2; ++run) {
            free(text[run][0]);
            free(text[run][1]);
        }
    }
    remove("test_scenes.csv");
    remove("test_scenes.jsonl");
}

static void unwritableFilesAreRefused(void **state)
{
    (void)state;
    char error[160] = "";
    SceneWorld *world = openScene("rod", NULL, SCENE_SPRAG);
    assert_null(TraceOpen("/no/such/folder/a.csv", world, error));
    assert_non_null(strstr(error, "/no/such/folder/a.csv"));
    assert_null(EventLogOpen("/no/such/folder/a.jsonl", error));
    Trace *trace = TraceOpen("test_scenes_dropped.csv", world, error);
    assert_non_null(trace);
    assert_true(TraceClose(trace, 0)); /* thrown away: nothing is left */
    assert_null(fopen("test_scenes_dropped.csv", "rb"));
    SceneDestroy(world);
}

/* A motion that blows up ends in a status and a sentence, before ODE's collision would abort. */
static void blowUpIsRefused(void **state)
{
    (void)state;
    for (int solver = SCENE_SPRAG; solver <= SCENE_ODE_QUICK; ++solver) {
        double value[SCENE_KEY_MAX];
        defaults(SceneFind("belt"), value);
        value[1] = 1000; /* alpha: the explicit force is unstable at this step */
        SceneWorld *world = openScene("belt", value, (SceneSolver)solver);
        spragStatus status = SPRAG_OK;
        for (int i = 0; i < 1000 && status == SPRAG_OK; ++i)
            status = SceneStep(world, 0.1);
        assert_int_equal(status, SPRAG_ERROR_RANGE);
        assert_non_null(strstr(SceneDetail(world), "1e6 m away"));
        assert_int_equal(SceneStep(world, 0), SPRAG_ERROR_RANGE);
        assert_non_null(strstr(SceneDetail(world), "step size"));
        assert_int_equal(SceneStep(world, NAN), SPRAG_ERROR_RANGE);
        SceneDestroy(world);
    }
}

/* Stock contacts, read from joint feedback: a box at rest presses with its weight. */
static void stockContactsAreRead(void **state)
{
    (void)state;
    for (int solver = SCENE_SPRAG; solver <= SCENE_ODE_STEP; ++solver) {
        SceneWorld *world = openScene("slider", NULL, (SceneSolver)solver);
        advance(world, 1e-3, 50);
        const spragContact *contacts = NULL;
        const int count = SceneGetContacts(world, &contacts);
        double weight = 0, drag = 0;
        for (int i = 0; i < count; ++i) {
            weight += contacts[i].normal_force;
            drag += contacts[i].friction[0];
            CHECK_NEAR(contacts[i].normal[2], 1, 1e-15);
            assert_int_equal(contacts[i].mode, SPRAG_MODE_SLIP);
            assert_true(contacts[i].body[0] == world->body[0] && contacts[i].body[1] == NULL);
        }
        CHECK_NEAR(weight, 9.81, 1e-6);
        if (solver == SCENE_SPRAG)
            CHECK_NEAR(drag, -0.5 * 9.81 * cos(30 * M_PI / 180), 1e-6);
        else /* a pyramid: mu N along each axis */
            CHECK_NEAR(drag, -0.5 * 9.81, 1e-6);
        SceneDestroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(towerStands),
        cmocka_unit_test(archStands),
        cmocka_unit_test(cardsStand),
        cmocka_unit_test(cardsFallWithoutFriction),
        cmocka_unit_test(quadrupedTrots),
        cmocka_unit_test(slidesTheSameEveryWay),
        cmocka_unit_test(topKeepsItsSpin),
        cmocka_unit_test(ballEndsRolling),
        cmocka_unit_test(beltKeepsItsPeriod),
        cmocka_unit_test(everySceneStepsUnderEverySolver),
        cmocka_unit_test(valuesOutOfRangeAreRefused),
        cmocka_unit_test(tracesAreTheSameBits),
        cmocka_unit_test(unwritableFilesAreRefused),
        cmocka_unit_test(blowUpIsRefused),
        cmocka_unit_test(stockContactsAreRead),
    };
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
