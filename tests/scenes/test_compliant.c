/* The stiff limit as judge (docs/theory.md 4): a rod on an elastic surface, N = max(0, k depth - c v_n), does what the
 * policy says of the rigid one, the better the stiffer, in the indeterminate and in the inconsistent region. */
#include "support/oracle.h"

#include "scenes/reference.h"

enum { MASS, LENGTH, MU, ANGLE, OMEGA, SLIP, GRAVITY, RESTITUTION, STIFFNESS, DAMPING, KEYS };

/* The rod on its elastic surface, pressed into it by N0. */
static SceneWorld *openPressed(const double *value, double N0)
{
    char error[160];
    SceneWorld *world = SceneCreate(SceneFind("rod"), value, SCENE_SPRAG, NULL, error);
    if (world == NULL)
        fail_msg("%s", error);
    const dReal *x = dBodyGetPosition(world->body[0]);
    const double depth = value[STIFFNESS] > 0 ? N0 / value[STIFFNESS] : 0;
    dBodySetPosition(world->body[0], x[0], x[1], x[2] - depth);
    return world;
}

/* Velocity (along x, normal) of the lower end. */
static void endVelocity(const SceneWorld *world, double v[2])
{
    dVector3 velocity;
    dBodyGetRelPointVel(world->body[0], 0, 0, -0.5 * world->value[LENGTH], velocity);
    v[0] = velocity[0];
    v[1] = velocity[2];
}

typedef enum Outcome { LIFT, JAM, NEITHER } Outcome;

/* What the contact bore, and how it ended. */
typedef struct Impact {
    double Pn, Pt, v_normal, omega, time;
    int paradoxes; /* events */
} Impact;

/* Until the end has left, or rests: its slip has ended and it moves neither up nor down. */
static Outcome run(SceneWorld *world, double h, double limit, Impact *impact)
{
    Outcome outcome = NEITHER;
    memset(impact, 0, sizeof *impact);
    int slipping = 1;
    while (world->time < limit) {
        if (SceneStep(world, h) != SPRAG_OK)
            fail_msg("step %ld: %s", world->step, spragStatusDetail());
        const spragContact *contact = NULL;
        const spragEvent *event = NULL;
        const int contacts = SceneGetContacts(world, &contact), events = spragWorldGetEvents(world->sprag, &event);
        for (int i = 0; i < events; ++i) {
            impact->paradoxes +=
                event[i].type == SPRAG_EVENT_INCONSISTENT || event[i].type == SPRAG_EVENT_INDETERMINATE;
        }
        const int loaded = contacts == 1 && contact->normal_force > 0;
        double v[2];
        endVelocity(world, v);
        if (loaded) {
            impact->Pn += contact->normal_force * h;
            impact->Pt += contact->friction[0] * h;
            slipping &= contact->mode == SPRAG_MODE_SLIP;
        }
        if (!loaded && v[1] > 0) {
            outcome = slipping ? LIFT : JAM;
            break;
        }
    }
    double v[2];
    endVelocity(world, v);
    impact->v_normal = v[1];
    impact->omega = -dBodyGetAngularVel(world->body[0])[1];
    impact->time = world->time;
    return outcome;
}

/* rod_jam.separatrix: N0 < N* leaves, N0 > N* jams; the rigid contact that carried N0 does the same by the policy
 * (test_rod.c, separatrixDecides). */
static void theSeparatrixDivides(void **unused)
{
    (void)unused;
    const Json *one = oracleCase(&oracle, "rod_jam.separatrix"), *expected = jsonGet(one, "expected");
    const Json *rows = jsonGet(expected, "rows");
    double value[SCENE_KEY_MAX];
    ReferenceRodValues(jsonGet(one, "inputs"), value);
    const double p = jsonNumber(expected, "p");
    for (int i = 0; i < rows->count; ++i) {
        const Json *row = &rows->first[i];
        value[STIFFNESS] = jsonNumber(row, "k");
        const double rate = sqrt(-p * value[STIFFNESS]); /* 1/s, at which the saddle is left */
        const double N0 = jsonNumber(row, "N0_over_Nstar") * jsonNumber(expected, "N_star");
        SceneWorld *world = openPressed(value, N0);
        Impact impact;
        const Outcome outcome = run(world, 0.01 / rate, 60 / rate, &impact);
        assert_int_equal(outcome, strcmp(jsonGet(row, "outcome")->text, "lift") == 0 ? LIFT : JAM);
        assert_int_equal(impact.paradoxes, 0); /* the elastic contact has one motion at a time */
        SceneDestroy(world);
    }
    assert_int_equal(rows->count, 10);
}

/* The edge between the two, found by bisection, tends to N* as k grows. */
static void theSeparatrixIsSharp(void **unused)
{
    (void)unused;
    const Json *one = oracleCase(&oracle, "rod_jam.separatrix"), *expected = jsonGet(one, "expected");
    double value[SCENE_KEY_MAX], previous = INFINITY;
    ReferenceRodValues(jsonGet(one, "inputs"), value);
    const double p = jsonNumber(expected, "p"), star = jsonNumber(expected, "N_star");
    for (int power = 4; power <= 8; power += 2) {
        value[STIFFNESS] = pow(10, power);
        const double rate = sqrt(-p * value[STIFFNESS]);
        double low = 0, high = 3;
        for (int k = 0; k < 11; ++k) {
            const double middle = 0.5 * (low + high);
            SceneWorld *world = openPressed(value, middle * star);
            Impact impact;
            *(run(world, 0.002 / rate, 60 / rate, &impact) == LIFT ? &low : &high) = middle;
            SceneDestroy(world);
        }
        const double error = fabs(0.5 * (low + high) - 1);
        print_message("k = %g N/m: the edge is at %.4f N*\n", value[STIFFNESS], 0.5 * (low + high));
        assert_true(error < 0.3 * previous);
        previous = error;
    }
    assert_true(previous < 0.01);
}

/* The impact of an oracle's rod on a surface of k with damping ratio zeta. */
static Impact jamOn(const Json *inputs, double p, double k, double zeta)
{
    double value[SCENE_KEY_MAX];
    ReferenceRodValues(inputs, value);
    const double m = jsonNumber(inputs, "m"), J = jsonNumber(inputs, "J");
    const double l = 0.5 * value[LENGTH], angle = value[ANGLE] * M_PI / 180;
    const double a = l * cos(angle), height = l * sin(angle);
    const double At = 1 / m + height * height / J, An = 1 / m + a * a / J, Atn = -a * height / J;
    const double p_st = An - Atn * Atn / At; /* normal acceleration per force while it sticks */
    value[STIFFNESS] = k;
    value[DAMPING] = 2 * zeta * sqrt(k / p_st);
    const double rate = sqrt(k * fmax(-p, p_st));
    SceneWorld *world = openPressed(value, 0);
    Impact impact;
    assert_int_equal(run(world, 0.002 / rate, 40 * (1 + zeta) / rate, &impact), JAM);
    SceneDestroy(world);
    return impact;
}

/* rod_jam.*, kelvin_voigt_stiff_limit: the elastic impact with damping ratio zeta ends as
 * tabulated, up to k^-1/2 log k and the step. */
static void theImpactHasItsLimit(void **unused)
{
    (void)unused;
    for (int i = 1; i <= 6; ++i) {
        char id[24];
        snprintf(id, sizeof id, "rod_jam.%d", i);
        const Json *one = oracleCase(&oracle, id), *inputs = jsonGet(one, "inputs"),
                   *expected = jsonGet(one, "expected"), *rows = jsonGet(expected, "kelvin_voigt_stiff_limit");
        for (int row = 0; row < rows->count; ++row) {
            const double zeta = jsonNumber(&rows->first[row], "zeta"), v2 = jsonNumber(&rows->first[row], "v2");
            const double Pn = jsonNumber(&rows->first[row], "Pn"), Pt = jsonNumber(&rows->first[row], "Pt");
            double error[2];
            for (int k = 0; k < 2 && zeta > 0; ++k) { /* without damping of its own that of the implicit step counts */
                const Impact impact = jamOn(inputs, jsonNumber(expected, "p"), k == 0 ? 1e10 : 1e12, zeta);
                error[k] = fmax(fmax(fabs(impact.Pn / Pn - 1), fabs(impact.Pt / Pt - 1)),
                                fabs(impact.v_normal - v2) / fabs(jsonNumber(inputs, "v_tip0")));
            }
            if (zeta > 0) {
                print_message("%s zeta %g: relative error %.2g at k = 1e10, %.2g at 1e12\n", id, zeta, error[0],
                              error[1]);
                assert_true(error[1] < 2e-3 && error[1] < fmax(0.3 * error[0], 1e-3));
            }
        }
    }
}

/* What the step of the rigid rod takes at once is where the stiff and strongly damped surface ends. */
static void theRigidAnswerIsTheLimit(void **unused)
{
    (void)unused;
    for (int i = 1; i <= 6; ++i) {
        char id[24];
        snprintf(id, sizeof id, "rod_jam.%d", i);
        const Json *one = oracleCase(&oracle, id), *inputs = jsonGet(one, "inputs");
        double value[SCENE_KEY_MAX];
        ReferenceRodValues(inputs, value);
        SceneWorld *rigid = openPressed(value, 0);
        assert_int_equal(SceneStep(rigid, 1e-7), SPRAG_OK);
        const spragContact *contact = NULL;
        assert_int_equal(SceneGetContacts(rigid, &contact), 1);
        assert_int_equal(contact->mode, SPRAG_MODE_STICK);
        const double Pn = contact->normal_force * 1e-7, Pt = contact->friction[0] * 1e-7;
        const double omega = -dBodyGetAngularVel(rigid->body[0])[1];
        double previous = INFINITY;
        for (double zeta = 1; zeta < 10; zeta *= 3) {
            const Impact impact = jamOn(inputs, jsonNumber(jsonGet(one, "expected"), "p"), 1e12, zeta);
            const double error = fmax(fmax(fabs(impact.Pn / Pn - 1), fabs(impact.Pt / Pt - 1)),
                                      fabs(impact.omega - omega) / fmax(fabs(omega), 1));
            assert_true(error < 0.4 * previous);
            previous = error;
        }
        print_message("%s: the rigid jam to %.2g\n", id, previous);
        assert_true(previous < 1e-2);
        SceneDestroy(rigid);
    }
}

/* ---------------------------------------------------------------- two-sided */

typedef struct Bar {
    dWorldID world;
    spragWorldID sprag;
    dBodyID body;
} Bar;

/* The rod of rod_bilateral.* on a two-sided contact, elastic from both sides where k > 0. */
static Bar openBar(const Json *in, double k, double c)
{
    Bar bar = {.world = dWorldCreate()};
    assert_int_equal(spragWorldAttach(bar.world, NULL, &bar.sprag), SPRAG_OK);
    dWorldSetCFM(bar.world, 0);
    bar.body = dBodyCreate(bar.world);
    const double a = jsonNumber(in, "a"), z = jsonNumber(in, "h"), J = jsonNumber(in, "J");
    const double v1 = jsonNumber(in, "v1"), v3 = jsonNumber(in, "v3");
    dMass mass;
    dMassSetParameters(&mass, jsonNumber(in, "m"), 0, 0, 0, J, J, J, 0, 0, 0);
    dBodySetMass(bar.body, &mass);
    dBodySetPosition(bar.body, a, 0, z);
    dBodySetLinearVel(bar.body, v1 - v3 * z, 0, v3 * a);
    dBodySetAngularVel(bar.body, 0, -v3, 0);
    spragGuideDef def = spragGuideDefDefault();
    def.body = bar.body;
    def.normal[2] = 1;
    def.mu[0] = def.mu[1] = jsonNumber(in, "mu");
    for (int side = 0; side < 2; ++side) {
        def.surface[side].stiffness = k;
        def.surface[side].damping = c;
    }
    spragGuideID guide = NULL;
    assert_int_equal(spragGuideCreate(bar.sprag, &def, &guide), SPRAG_OK);
    return bar;
}

/* Steps under the constant forces of the reference; the contact's state at the end: (normal force, slip, omega). */
static void runBar(Bar bar, const Json *in, double h, int steps, double result[3])
{
    const spragContact *contact = NULL;
    for (int k = 0; k < steps; ++k) {
        dBodyAddForce(bar.body, jsonNumber(in, "F1"), 0, jsonNumber(in, "F2"));
        dBodyAddTorque(bar.body, 0, -jsonNumber(in, "F3"), 0);
        if (spragWorldStep(bar.sprag, h) != SPRAG_OK)
            fail_msg("%s", spragStatusDetail());
    }
    assert_int_equal(spragWorldGetContacts(bar.sprag, &contact), 1);
    result[0] = contact->normal_force;
    result[1] = contact->slip[0];
    result[2] = -dBodyGetAngularVel(bar.body)[1];
    spragWorldDetach(bar.sprag);
    dWorldDestroy(bar.world);
}

/* Beyond the fold of the two-sided rod (docs/theory.md 2).  Where no sliding motion exists the elastic contact runs
 * away to one side until the slip has ended, with the rigid jam's change of omega; where there are two it settles on
 * the one of positive slope, which is the one the rigid step takes. */
static void theFoldHasItsLimit(void **unused)
{
    (void)unused;
    int jams = 0, slides = 0;
    for (const Json *one = NULL; (one = oracleNext(NULL, NULL, one)) != NULL;) {
        const char *id = jsonGet(one, "id")->text;
        if (strncmp(id, "rod_bilateral.v", 15) != 0 || strstr(id, "above") == NULL ||
            (strstr(id, ".n0") == NULL && strstr(id, ".n2") == NULL))
            continue;
        const Json *in = jsonGet(one, "inputs");
        if (jsonNumber(in, "v1") == 0)
            continue;
        const int none = strstr(id, ".n0") != NULL;
        const double k = 1e10, c = 2 * sqrt(k), h = 2e-8; /* the fast time is k^-1/2 = 1e-5 s */
        double rigid[3], elastic[3];
        runBar(openBar(in, 0, 0), in, h, 1, rigid);
        runBar(openBar(in, k, c), in, h, 20000, elastic);
        if (none) {
            assert_true(fabs(rigid[1]) < 1e-9 && fabs(elastic[1]) < 1e-9);
            CHECK_NEAR(elastic[2], rigid[2], 0.02 * (1 + fabs(rigid[2] - jsonNumber(in, "v3"))));
            ++jams;
        } else {
            const Json *solutions = jsonGet(jsonGet(one, "expected"), "solutions");
            const Json *taken = &solutions->first[jsonNumber(&solutions->first[0], "slope") > 0 ? 0 : 1];
            const double N = jsonNumber(taken, "N");
            CHECK_NEAR(rigid[0], N, 1e-4 * (1 + fabs(N)));
            CHECK_NEAR(elastic[0], N, 2e-2 * (1 + fabs(N)));
            ++slides;
        }
    }
    assert_true(jams >= 4 && slides >= 4);
}

/* Stable at any step: a surface of 1e12 N/m stepped at a thousand times its own period is as good as rigid. */
static void anyStepIsStable(void **unused)
{
    (void)unused;
    for (int power = -5; power <= -2; ++power) {
        const double h = pow(10, power);
        double v[2][2], omega[2];
        for (int rigid = 0; rigid < 2; ++rigid) {
            SceneWorld *world =
                openPressed((double[SCENE_KEY_MAX]){1, 2, 2, 120, 0, 1, 9.81, 0, rigid ? 0 : 1e12, rigid ? 0 : 1e4}, 0);
            for (int k = 0; k < 20; ++k)
                assert_int_equal(SceneStep(world, h), SPRAG_OK);
            endVelocity(world, v[rigid]);
            omega[rigid] = dBodyGetAngularVel(world->body[0])[1];
            SceneDestroy(world);
        }
        CHECK_NEAR(omega[0], omega[1], 1e-2);
        CHECK_NEAR(v[0][0], v[1][0], 1e-2);
        CHECK_NEAR(v[0][1], v[1][1], 1e-2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theSeparatrixDivides), cmocka_unit_test(theSeparatrixIsSharp),
        cmocka_unit_test(theImpactHasItsLimit), cmocka_unit_test(theRigidAnswerIsTheLimit),
        cmocka_unit_test(theFoldHasItsLimit),   cmocka_unit_test(anyStepIsStable),
    };
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
