/* The beads of Painleve and Klein in an ODE world: the compliant rod's runs (oracle_open.json, pk_elastic.*: events
 * and samples), its equilibria, and every case of the rigid one (pk_rigid.*). */
#include "scenes/accuracy.h"
#include "support/uniform.h"

enum { MU1, MU2, ANGLE, LENGTH, X1, Y1, X2, Y2, SPEED, STIFFNESS, DAMPING, EXTENSION };

static const double second[2] = {1, 1}; /* kg, both masses */

static void elasticValues(const Json *in, double *value)
{
    const double pairs[3][2] = {{jsonGet(in, "mu")->first[0].number, jsonGet(in, "mu")->first[1].number},
                                {jsonGet(in, "X")->first[0].number, jsonGet(in, "X")->first[1].number},
                                {jsonGet(in, "Y")->first[0].number, jsonGet(in, "Y")->first[1].number}};
    value[MU1] = pairs[0][0], value[MU2] = pairs[0][1];
    value[X1] = pairs[1][0], value[X2] = pairs[1][1];
    value[Y1] = pairs[2][0], value[Y2] = pairs[2][1];
    value[LENGTH] = jsonNumber(in, "l");
    value[ANGLE] = asin(jsonNumber(in, "d") / jsonNumber(in, "l")) * 180 / M_PI;
    value[STIFFNESS] = jsonNumber(in, "K");
    value[DAMPING] = jsonNumber(in, "C");
}

static SceneWorld *openBeads(const double *value)
{
    char error[160];
    SceneWorld *world = SceneCreate(SceneFind("painleve-klein"), value, SCENE_SPRAG, NULL, error);
    if (world == NULL)
        fail_msg("%s", error);
    return world;
}

static void beadState(const SceneWorld *world, double *state)
{
    for (int k = 0; k < 2; ++k) {
        const dReal *x = dBodyGetPosition(world->body[k]), *v = dBodyGetLinearVel(world->body[k]);
        const dReal *w = dBodyGetAngularVel(world->body[k]);
        assert_true(fabs(x[1]) + fabs(v[1]) + fabs(w[0]) + fabs(w[1]) + fabs(w[2]) < 1e-9);
        assert_true(fabs(v[2]) < 1e-9);
        state[k] = x[0];
        state[2 + k] = v[0];
    }
}

/* ---------------------------------------------------------------- signs of the slips, and when they change */

enum { CHANGES = 16, SAMPLES = 16 };

typedef struct Changes {
    int count, sign[CHANGES];
    double time[CHANGES];
} Changes;

static void addChange(Changes *changes, int sign, double time)
{
    assert_true(changes->count < CHANGES);
    changes->sign[changes->count] = sign;
    changes->time[changes->count++] = time;
}

typedef struct Run {
    Changes bead[2];
    double sample[SAMPLES][4];
} Run;

static void runBeads(const double *value, const double *time, int samples, double h, Run *run)
{
    SceneWorld *world = openBeads(value);
    int sign[2], since[2] = {0, 0};
    memset(run, 0, sizeof *run);
    sign[0] = sign[1] = (value[SPEED] > 0) - (value[SPEED] < 0);
    for (int i = 0; i < samples; ++i) {
        const long step = lround(time[i] / h);
        assert_true(fabs((double)step * h - time[i]) < 1e-9);
        while (world->step < step) {
            assert_int_equal(SceneStep(world, h), SPRAG_OK);
            double state[4];
            beadState(world, state);
            for (int k = 0; k < 2; ++k) {
                const int now = (state[2 + k] > 1e-9) - (state[2 + k] < -1e-9);
                if (now == sign[k])
                    continue;
                Changes *changes = &run->bead[k];
                /* a slip that turns may stand for one grid point */
                if (changes->count > 0 && changes->sign[changes->count - 1] == 0 && world->step - since[k] <= 1)
                    changes->sign[changes->count - 1] = now;
                else
                    addChange(changes, now, world->time);
                sign[k] = now;
                since[k] = (int)world->step;
            }
        }
        beadState(world, run->sample[i]);
    }
    SceneDestroy(world);
}

static void readChanges(const Json *log, Changes bead[2])
{
    memset(bead, 0, 2 * sizeof *bead);
    for (int i = 0; i < log->count; ++i) {
        const Json *entry = log->first[i].first;
        const int k = (int)entry[2].number - 1;
        addChange(&bead[k], (int)entry[3].first[k].number, entry[0].number);
    }
}

static double checkChanges(const char *id, const Changes expected[2], const Run *run, double tolerance)
{
    double worst = 0;
    for (int k = 0; k < 2; ++k) {
        const Changes *seen = &run->bead[k];
        if (seen->count != expected[k].count)
            fail_msg("%s: bead %d changes %d times, expected %d", id, k + 1, seen->count, expected[k].count);
        for (int i = 0; i < seen->count; ++i) {
            assert_int_equal(seen->sign[i], expected[k].sign[i]);
            CHECK_NEAR(seen->time[i], expected[k].time[i], tolerance);
            worst = fmax(worst, fabs(seen->time[i] - expected[k].time[i]));
        }
    }
    return worst;
}

/* s, the least time between two changes */
static double leastPause(const Changes bead[2])
{
    double least = INFINITY;
    for (int i = 0; i < bead[0].count + bead[1].count; ++i)
        for (int j = 0; j < i; ++j) {
            const double a = i < bead[0].count ? bead[0].time[i] : bead[1].time[i - bead[0].count];
            const double b = j < bead[0].count ? bead[0].time[j] : bead[1].time[j - bead[0].count];
            least = fmin(least, fabs(a - b));
        }
    return least;
}

/* The acceptance rule at the steps of a game and finer: samples before the first change, and, where no two changes fall
 * within three steps, the same changes at extrapolated times within two. */
static int ruleHolds(const char *id, const double *value, const double *time, int samples, double reference[][4],
                     const Changes expected[2], double h)
{
    Run *coarse = malloc(sizeof *coarse), *fine = malloc(sizeof *fine);
    assert_true(coarse != NULL && fine != NULL);
    runBeads(value, time, samples, h, coarse);
    runBeads(value, time, samples, 0.5 * h, fine);
    int wrong = 0;
    double first = INFINITY;
    for (int k = 0; k < 2; ++k) {
        if (expected[k].count > 0)
            first = fmin(first, expected[k].time[0]);
        if (leastPause(expected) < 3 * h)
            continue;
        assert_int_equal(coarse->bead[k].count, expected[k].count);
        assert_int_equal(fine->bead[k].count, expected[k].count);
        for (int i = 0; i < expected[k].count; ++i) {
            assert_int_equal(coarse->bead[k].sign[i], expected[k].sign[i]);
            CHECK_NEAR(2 * fine->bead[k].time[i] - coarse->bead[k].time[i], expected[k].time[i], 2 * h);
        }
    }
    for (int i = 0; i < samples && time[i] < first - 3 * h; ++i)
        wrong += accuracyJudge(id, time[i], h, 1, 4, reference[i], coarse->sample[i], fine->sample[i]);
    free(coarse);
    free(fine);
    return wrong;
}

/* Every run at h = 1e-5: the same changes of slip, to 1e-4 s of the reference, samples to 1e-3 (m, m/s).  Against h =
 * 2e-5 by the acceptance rule, before the first change, which falls into the grid as it may. */
static void compliantRuns(void **unused)
{
    (void)unused;
    static const double h = 2e-5;
    int seen = 0, wrong = 0;
    for (const Json *one = NULL; (one = oracleNext("pk_elastic", "trajectory", one)) != NULL;) {
        ++seen;
        const char *id = jsonGet(one, "id")->text;
        const Json *in = jsonGet(one, "inputs"), *out = jsonGet(one, "expected");
        const Json *rows = jsonGet(out, "samples_t_x1_x2_v1_v2_delta_R");
        double value[SCENE_KEY_MAX], time[SAMPLES], reference[SAMPLES][4];
        elasticValues(in, value);
        value[SPEED] = jsonGet(in, "v0")->first[0].number;
        value[EXTENSION] = jsonNumber(in, "delta0");
        for (int i = 0; i < rows->count; ++i) {
            time[i] = rows->first[i].first[0].number;
            assert_int_equal(jsonNumbers(&rows->first[i], 1, 4, reference[i]), 4);
        }
        Changes expected[2];
        Run *coarse = malloc(sizeof *coarse), *fine = malloc(sizeof *fine);
        assert_true(coarse != NULL && fine != NULL);
        readChanges(jsonGet(out, "events_t_kind_bead_newmode_state_R"), expected);
        double first = INFINITY, worst = 0;
        for (int k = 0; k < 2; ++k)
            if (expected[k].count > 0)
                first = fmin(first, expected[k].time[0]);
        int smooth = 0;
        while (smooth < rows->count && smooth < 6 && time[smooth] < first)
            ++smooth;
        runBeads(value, time, smooth, h, coarse);
        runBeads(value, time, rows->count, 0.5 * h, fine);
        const double late = checkChanges(id, expected, fine, 1e-4);
        for (int i = 0; i < rows->count; ++i) {
            if (i < smooth)
                wrong += accuracyJudge(id, time[i], h, 1, 4, reference[i], coarse->sample[i], fine->sample[i]);
            worst = fmax(worst, accuracyDistance(4, fine->sample[i], reference[i]));
        }
        print_message("%-34s events to %.1e s, samples to %.1e at h = 1e-5\n", id, late, worst);
        assert_true(worst < 1e-3);
        wrong += ruleHolds(id, value, time, rows->count, reference, expected, 1e-3);
        wrong += ruleHolds(id, value, time, rows->count, reference, expected, 1e-4);
        free(coarse);
        free(fine);
    }
    assert_int_equal(seen, 7);
    assert_int_equal(wrong, 0);
}

/* The figures that were printed with the example: .802, .803, 1.403 s. */
static void thePrintedTimes(void **unused)
{
    (void)unused;
    const Scene *scene = SceneFind("painleve-klein");
    double value[SCENE_KEY_MAX];
    for (int i = 0; scene->keys[i].name != NULL; ++i)
        value[i] = scene->keys[i].value;
    value[STIFFNESS] = 100, value[DAMPING] = 10, value[EXTENSION] = 0.12;
    Run run;
    runBeads(value, (double[]){2}, 1, 1e-4, &run);
    assert_true(run.bead[1].count == 1 && run.bead[0].count == 2);
    CHECK_NEAR(run.bead[1].time[0], 0.802, 2e-3);
    CHECK_NEAR(run.bead[0].time[0], 0.803, 2e-3);
    CHECK_NEAR(run.bead[0].time[1], 1.403, 2e-3);
    value[EXTENSION] = 0.03;
    runBeads(value, (double[]){2}, 1, 1e-4, &run);
    assert_int_equal(run.bead[0].count + run.bead[1].count, 0); /* slides on, uniformly accelerated */
}

/* Events of bead 2's stop, bead 1's turn and its stop; of the rigid beads, that stop together whatever the one alone
 * would do. */
static void stopsAndTurnsAreTold(void **unused)
{
    (void)unused;
    static const spragEventType compliant[] = {SPRAG_EVENT_STICK, SPRAG_EVENT_REVERSE, SPRAG_EVENT_STICK},
                                rigid[] = {SPRAG_EVENT_STICK, SPRAG_EVENT_STICK};
    for (int k = 0; k < 8; ++k) {
        double value[SCENE_KEY_MAX];
        for (int i = 0; SceneFind("painleve-klein")->keys[i].name != NULL; ++i)
            value[i] = SceneFind("painleve-klein")->keys[i].value;
        if (k % 2)
            value[STIFFNESS] = 100, value[DAMPING] = 10, value[EXTENSION] = 0.12;
        else
            value[MU2] = 0.5, value[X1] = -6, value[SPEED] = 1 + 0.007 * k;
        const double h = 1e-3 / (1 + 0.3 * k);
        SceneWorld *world = openBeads(value);
        int count = 0;
        while (world->time < 1.5) {
            const spragEvent *event;
            assert_int_equal(SceneStep(world, h), SPRAG_OK);
            const int events = spragWorldGetEvents(world->sprag, &event);
            for (int i = 0; i < events && world->step > 1; ++i) {
                assert_in_range(count, 0, k % 2 ? 2 : 1);
                assert_int_equal(event[i].type, k % 2 ? compliant[count] : rigid[count]);
                ++count;
            }
        }
        assert_int_equal(count, k % 2 ? 3 : 2);
        SceneDestroy(world);
    }
}

/* Sliding with constant extension: started at an equilibrium it stays (stable) with the tabulated acceleration, started
 * on either side of the unstable one it runs to different ends. */
static void compliantEquilibria(void **unused)
{
    (void)unused;
    static const char *const ids[] = {"pk_elastic.equilibria.K100.X3.6", "pk_elastic.equilibria.K10000.X3.6"};
    for (int c = 0; c < 2; ++c) {
        const Json *one = oracleCase(&oracle, ids[c]), *list = jsonGet(jsonGet(one, "expected"), "equilibria");
        int unstable = 0;
        for (int i = 0; i < list->count; ++i) {
            const double delta = jsonNumber(&list->first[i], "delta"), acc = jsonNumber(&list->first[i], "acc");
            double value[SCENE_KEY_MAX], state[4], extension[2];
            elasticValues(jsonGet(one, "inputs"), value);
            value[SPEED] = 1000; /* slides through all of it */
            const double h = 1e-4;
            for (int side = 0; side < 2; ++side) {
                value[EXTENSION] = delta * (side == 0 ? 1 - 1e-3 : 1 + 1e-3);
                SceneWorld *world = openBeads(value);
                while (world->time < 0.2)
                    assert_int_equal(SceneStep(world, h), SPRAG_OK);
                beadState(world, state);
                const double d = value[LENGTH] * sin(value[ANGLE] * M_PI / 180);
                extension[side] = hypot(state[0] - state[1], d) - value[LENGTH];
                if (jsonNumber(&list->first[i], "stable") != 0) {
                    CHECK_NEAR((state[2] - 1000) / 0.2, acc, 0.02 * fabs(acc));
                    CHECK_NEAR((state[3] - 1000) / 0.2, acc, 0.02 * fabs(acc));
                }
                SceneDestroy(world);
            }
            if (jsonNumber(&list->first[i], "stable") != 0) {
                assert_true(fabs(extension[0] - delta) < 1e-3 * delta && fabs(extension[1] - delta) < 1e-3 * delta);
            } else {
                assert_true(extension[0] < delta * (1 - 1.1e-3) && extension[1] > delta * (1 + 1.1e-3));
                ++unstable;
            }
        }
        assert_int_equal(unstable, 1);
    }
}

/* ---------------------------------------------------------------- rigid */

/* One step from the instant of the reference: the solution taken is one of the set with positive slope (rest where it
 * rests and can), first order in h; without any, the slip ends at once.  Events say which of these it was, and no event
 * says it where there is one solution: the two beads are judged together. */
static void rigidCases(void **unused)
{
    (void)unused;
    int seen = 0, jams = 0;
    for (const Json *one = NULL; (one = oracleNext("pk_rigid", NULL, one)) != NULL;) {
        const Json *in = jsonGet(one, "inputs");
        if (jsonNumber(in, "m1") != second[0] || jsonNumber(in, "m2") != second[1])
            continue;
        const char *id = jsonGet(one, "id")->text;
        const Json *solutions = jsonGet(jsonGet(one, "expected"), "solutions");
        const double v = jsonNumber(in, "v"), h = 1e-6;
        double value[SCENE_KEY_MAX] = {[LENGTH] = 1, [SPEED] = v}, state[4];
        value[MU1] = jsonNumber(in, "mu1"), value[MU2] = jsonNumber(in, "mu2");
        value[X1] = jsonNumber(in, "X1"), value[Y1] = jsonNumber(in, "Y1");
        value[X2] = jsonNumber(in, "X2"), value[Y2] = jsonNumber(in, "Y2");
        value[ANGLE] = jsonNumber(in, "phi") * 180 / M_PI;
        SceneWorld *world = openBeads(value);
        assert_int_equal(SceneStep(world, h), SPRAG_OK);
        assert_true(spragWorldGetStepInfo(world->sprag).residual <= 1e-8);
        beadState(world, state);
        int known = 0, realisable = 0;
        for (int k = 0; k < solutions->count; ++k) {
            const Json *s = &solutions->first[k];
            const int rest = strcmp(jsonGet(s, "mode")->text, "rest") == 0,
                      lasts = rest || jsonNumber(s, "stable") != 0;
            const double acceleration = rest ? 0 : jsonNumber(s, "xdd");
            realisable += lasts;
            known |= lasts && fabs((state[2] - v) / h - acceleration) < 1e-3 * (1 + fabs(acceleration));
        }
        int inconsistent = 0, indeterminate = 0, jam = 0;
        const spragEvent *event = NULL;
        for (int k = spragWorldGetEvents(world->sprag, &event) - 1; k >= 0; --k) {
            inconsistent |= event[k].type == SPRAG_EVENT_INCONSISTENT;
            indeterminate |= event[k].type == SPRAG_EVENT_INDETERMINATE;
            jam |= event[k].type == SPRAG_EVENT_JAM;
            if (v != 0 && event[k].type == SPRAG_EVENT_INDETERMINATE)
                assert_int_equal(event[k].paradox_class, realisable > 1 ? 4 : 3);
        }
        assert_int_equal(inconsistent, solutions->count == 0);
        assert_int_equal(indeterminate, solutions->count > 1);
        assert_int_equal(jam, solutions->count == 0);
        if (realisable > 0 && !known)
            fail_msg("%s: acceleration %g is none of the realisable ones", id, (state[2] - v) / h);
        if (realisable == 0) {
            ++jams;
            CHECK_NEAR(state[2], 0, 1e-9);
            CHECK_NEAR(state[3], 0, 1e-9);
        }
        SceneDestroy(world);
        ++seen;
    }
    assert_true(seen >= 12 && jams >= 3);
}

/* ---------------------------------------------------------------- class 4, beads seen for the first time */

/* Roots R of  X1 - X2 = 2 c R + t sigma (mu1 |s R - Y1| - mu2 |s R + Y2|)  on the rising parts of the line. */
static int risingRoots(const double *v, double t, double *root)
{
    const double c = cos(v[ANGLE] * M_PI / 180), s = sin(v[ANGLE] * M_PI / 180), rub = v[SPEED] > 0 ? t : -t;
    int count = 0;
    for (int side = 0; side < 4; ++side) {
        const double a = side & 1 ? -rub * v[MU1] : rub * v[MU1], b = side & 2 ? -rub * v[MU2] : rub * v[MU2];
        const double slope = 2 * c + s * (a - b), R = (v[X1] - v[X2] + a * v[Y1] + b * v[Y2]) / slope;
        if (slope > 0 && (s * R - v[Y1] >= 0) == !(side & 1) && (s * R + v[Y2] >= 0) == !(side & 2))
            root[count++] = R;
    }
    return count;
}

/* The root that R without friction comes to when friction grows; NaN: it leaps. */
static double grownRoot(const double *value)
{
    enum { STEPS = 2000 };
    double R = (value[X1] - value[X2]) / (2 * cos(value[ANGLE] * M_PI / 180));
    for (int step = 1; step <= STEPS; ++step) {
        double root[4], nearest = NAN;
        const int count = risingRoots(value, (double)step / STEPS, root);
        for (int k = 0; k < count; ++k)
            nearest = fabs(root[k] - R) < fabs(nearest - R) || isnan(nearest) ? root[k] : nearest;
        if (!(fabs(nearest - R) < 0.02 * (1 + fabs(R))))
            return NAN;
        R = nearest;
    }
    return R;
}

static void frictionGrowsToTheVariant(void **state)
{
    (void)state;
    double value[SCENE_KEY_MAX];
    unsigned long long seed = 9;
    int tried = 0;
    for (int round = 0; round < 1000; ++round) {
        const SceneKey *keys = SceneFind("painleve-klein")->keys;
        for (int k = 0; keys[k].name != NULL; ++k)
            value[k] = keys[k].value;
        value[MU1] = 1.5 + 1.5 * uniform(&seed), value[MU2] = 1.5 + 1.5 * uniform(&seed);
        value[ANGLE] = 50 + 30 * uniform(&seed);
        value[SPEED] = uniform(&seed) > 0 ? 10 : -10;
        for (int k = X1; k <= Y2; ++k)
            value[k] = 5 * uniform(&seed);
        double root[4];
        const double R = risingRoots(value, 1, root) > 1 ? grownRoot(value) : NAN;
        if (isnan(R))
            continue;
        const spragContact *contact = NULL;
        SceneWorld *world = openBeads(value);
        assert_int_equal(SceneStep(world, 1e-5), SPRAG_OK);
        assert_int_equal(spragWorldGetContacts(world->sprag, &contact), 2);
        if (contact[0].paradox_class == 4) { /* else one of the roots has a bead that alone would not slide so */
            const double N = R * sin(value[ANGLE] * M_PI / 180) - value[Y1];
            CHECK_NEAR(contact[0].normal_force, N, 1e-3 * (1 + fabs(N)));
            ++tried;
        }
        SceneDestroy(world);
    }
    print_message("%d beads of class 4\n", tried);
    assert_true(tried >= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigidCases),           cmocka_unit_test(thePrintedTimes),
        cmocka_unit_test(stopsAndTurnsAreTold), cmocka_unit_test(compliantEquilibria),
        cmocka_unit_test(compliantRuns),        cmocka_unit_test(frictionGrowsToTheVariant),
    };
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
