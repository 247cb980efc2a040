/* Critical friction against the closed forms of the theory, and against counting. */
#include "support/oracle.h"
#include "support/states.h"
#include "support/uniform.h"

static const double all[CONTACTS] = {1, 1, 1};

/* The critical value of a kind nearest to the expected one; fails if none is within 1e-10 of it. */
static const spragCritical *expectAt(const spragCriticalSet *set, spragCriticalKind kind, double t)
{
    const spragCritical *best = NULL;
    for (int k = 0; k < set->count; ++k)
        if (set->critical[k].kind == kind && (best == NULL || fabs(set->critical[k].t - t) < fabs(best->t - t)))
            best = &set->critical[k];
    if (best == NULL)
        fail_msg("no critical value of kind %d, expected one at %g", (int)kind, t);
    CHECK_NEAR(best->t, t, 1e-10 * fmax(1, t));
    return best;
}

static void enumerate(const State *s, const double *rate, double to, spragCriticalSet *set)
{
    assert_int_equal(spragCriticalEnumerate(&s->state, rate, 0, to, set), SPRAG_OK);
    assert_false(set->incomplete);
    for (int k = 0; k < set->count; ++k) {
        assert_true(set->critical[k].t > 0 && set->critical[k].t < to);
        assert_true(k == 0 || set->critical[k - 1].t <= set->critical[k].t);
        for (int c = 0; c < s->state.contact_count; ++c)
            CHECK_NEAR(set->critical[k].mu[c], s->mu[c] + set->critical[k].t * rate[c], 1e-12);
    }
}

/* mu* = (1 + a^2) / (|a| h): sliding, one solution below; above it two or none by the
 * sign of the load.  At rest one or three. */
static void theRodFoldsAndHasACusp(void **unused)
{
    (void)unused;
    const Json *one = oracleCase(&oracle, "rod.mustar"), *pairs = jsonGet(jsonGet(one, "inputs"), "pairs");
    const Json *stars = jsonGet(jsonGet(one, "expected"), "mu_star");
    for (int i = 0; i < pairs->count; ++i)
        for (int side = -1; side <= 1; side += 2)
            for (int load = -1; load <= 1; load += 2) {
                const double a = pairs->first[i].first[0].number, h = pairs->first[i].first[1].number;
                State s;
                spragCriticalSet set;
                rodState(&s, a, h, 1, 1, 0);
                s.two_sided[0] = 1;
                s.slip[0] = side;
                s.b[0] = load, s.b[1] = 0.3;
                enumerate(&s, all, 10, &set);
                assert_int_equal(set.count, 1);
                const spragCritical *fold = expectAt(&set, SPRAG_CRITICAL_FOLD, stars->first[i].number);
                assert_int_equal(fold->before, 1);
                assert_int_equal(fold->after, a * side * load < 0 ? 2 : 0);
                spragCriticalSetFree(&set);
                s.slip[0] = 0;
                enumerate(&s, all, 10, &set);
                const spragCritical *cusp = expectAt(&set, SPRAG_CRITICAL_CUSP, stars->first[i].number);
                assert_true((cusp->before == 1 || cusp->before == 3) && (cusp->after == 1 || cusp->after == 3));
                spragCriticalSetFree(&set);
                s.two_sided[0] = 0; /* one-sided: the same fold, for the slip that presses */
                s.slip[0] = side;
                enumerate(&s, all, 10, &set);
                assert_int_equal(set.count, a * side > 0 ? 0 : 1);
                if (set.count > 0) {
                    expectAt(&set, SPRAG_CRITICAL_FOLD, stars->first[i].number);
                    assert_int_equal(set.critical[0].before, 1);
                    assert_int_equal(set.critical[0].after, load > 0 ? 2 : 0);
                }
                spragCriticalSetFree(&set);
            }
    /* the uniform rod, half-length sqrt(3): least mu* over the angles is 4/3, at tan = 2 */
    double least = INFINITY;
    for (int i = -200; i <= 200; ++i) {
        const double angle = atan(jsonNumber(jsonGet(one, "expected"), "at_tan")) + 1e-3 * i;
        State s;
        spragCriticalSet set;
        rodState(&s, sqrt(3) * cos(angle), sqrt(3) * sin(angle), 1, 1, 0);
        s.slip[0] = -1;
        s.b[0] = -1;
        enumerate(&s, all, 10, &set);
        assert_int_equal(set.count, 1);
        if (set.critical[0].t < least)
            least = set.critical[0].t;
        if (i == 0)
            CHECK_NEAR(set.critical[0].t, jsonNumber(jsonGet(one, "expected"), "mu_star_min_uniform"), 1e-10);
        spragCriticalSetFree(&set);
    }
    CHECK_NEAR(least, jsonNumber(jsonGet(one, "expected"), "mu_star_min_uniform"), 1e-10);
}

/* Scaled mu^ = mu H / 2a: folds where 1 + s (mu1^ i1 - mu2^ i2) = 0, k3 = 1 among them; beyond k3 = 1 two solutions
 * meet at N1 = 0 when mu2^ = 1/2 (F and rho positive, sliding right). */
static void theBipodHasItsThresholds(void **unused)
{
    (void)unused;
    int folds = 0, borders = 0;
    for (const Json *one = NULL; (one = oracleNext("bipod", NULL, one)) != NULL;) {
        const Json *in = jsonGet(one, "inputs");
        const double a = jsonNumber(in, "a"), H = jsonNumber(in, "H"), v = jsonNumber(in, "v");
        const double mu[2] = {jsonNumber(in, "mu1"), jsonNumber(in, "mu2")}, scale = H / (2 * a);
        State s;
        spragCriticalSet set;
        bipodState(&s, a, H, jsonNumber(in, "m"), 1, jsonNumber(in, "P"), jsonNumber(in, "F"), 0);
        for (int k = 0; k < 2; ++k)
            s.slip[2 * k] = v, s.two_sided[k] = 1;
        enumerate(&s, mu, 100, &set);
        const spragCriticalKind kind = v != 0 ? SPRAG_CRITICAL_FOLD : SPRAG_CRITICAL_CUSP;
        for (int variant = 0; variant < 4; ++variant) {
            const double slope = scale * (mu[0] * (variant & 1 ? -1 : 1) - mu[1] * (variant & 2 ? -1 : 1));
            for (int sense = -1; sense <= 1; sense += 2)
                if ((v == 0 || v * sense > 0) && -1 / (sense * slope) > 0 && -1 / (sense * slope) < 100) {
                    expectAt(&set, kind, -1 / (sense * slope));
                    ++folds;
                }
        }
        spragCriticalSetFree(&set);
        if (v > 0) {
            s.mu[0] = 0.9 / scale;
            enumerate(&s, (double[]){0, 1}, 2 / scale, &set);
            expectAt(&set, SPRAG_CRITICAL_FOLD, 0.1 / scale);
            const spragCritical *border = expectAt(&set, SPRAG_CRITICAL_BORDER, 0.5 / scale);
            assert_int_equal(border->before, 2);
            assert_int_equal(border->after, 0);
            spragCriticalSetFree(&set);
            ++borders;
        }
    }
    assert_true(folds > 20 && borders > 3);
}

/* Slope of the broken line, Phi' = 2 + sigma (mu1* i1 + mu2* i2), mu* = mu tan phi; folds where it vanishes. */
static void theBrokenLineTurns(void **unused)
{
    (void)unused;
    int folds = 0;
    for (const Json *one = NULL; (one = oracleNext("pk_rigid", NULL, one)) != NULL;) {
        const Json *in = jsonGet(one, "inputs");
        const double phi = jsonNumber(in, "phi"), v = jsonNumber(in, "v"), m[2] = {1, 1};
        const double mu[2] = {jsonNumber(in, "mu1"), jsonNumber(in, "mu2")};
        const double F[4] = {jsonNumber(in, "X1"), jsonNumber(in, "Y1"), jsonNumber(in, "X2"), jsonNumber(in, "Y2")};
        if (jsonNumber(in, "m1") != 1 || jsonNumber(in, "m2") != 1)
            continue;
        State s;
        spragCriticalSet set;
        kleinState(&s, m, phi, F, (double[2]){v, v}, (double[2]){0, 0}, 0);
        enumerate(&s, mu, 50, &set);
        for (int variant = 0; variant < 4; ++variant)
            for (int sense = -1; sense <= 1; sense += 2) {
                const double slope =
                    sense * tan(phi) * (mu[0] * (variant & 1 ? -1 : 1) + mu[1] * (variant & 2 ? -1 : 1));
                const double t = -2 / slope;
                if ((v == 0 || v * sense > 0) && t > 0 && t < 50) {
                    expectAt(&set, v != 0 ? SPRAG_CRITICAL_FOLD : SPRAG_CRITICAL_CUSP, t);
                    ++folds;
                }
            }
        spragCriticalSetFree(&set);
    }
    assert_true(folds > 20);
}

/* (5.17): dn = b33 - mu (b13 e1 + b23 e2) = 0 while sliding; (5.20): mu sqrt(b13^2 + b23^2) = b33 at rest. */
static void theBodyInSpaceFolds(void **unused)
{
    (void)unused;
    int sliding = 0, resting = 0;
    for (const Json *one = NULL; (one = oracleNext("body3d", NULL, one)) != NULL;) {
        const Json *in = jsonGet(one, "inputs"), *out = jsonGet(one, "expected");
        double B[9], Fstar[3], v[2] = {0};
        State s;
        spragCriticalSet set;
        for (int k = 0; k < 3; ++k)
            jsonNumbers(&jsonGet(out, "B")->first[k], 0, 3, B + 3 * k);
        jsonNumbers(jsonGet(in, "Fstar"), 0, 3, Fstar);
        jsonNumbers(jsonGet(in, "v"), 0, 2, v);
        bodyState(&s, B, Fstar, jsonNumber(in, "m"), 0, v, (int)jsonNumber(in, "bilateral"));
        const double speed = hypot(v[0], v[1]), bend = hypot(B[2], B[5]);
        enumerate(&s, all, 100, &set);
        if (speed > 0 && B[2] * v[0] + B[5] * v[1] > 0.1 * speed) {
            expectAt(&set, SPRAG_CRITICAL_FOLD, B[8] * speed / (B[2] * v[0] + B[5] * v[1]));
            ++sliding;
        } else if (speed == 0) {
            const double t = expectAt(&set, SPRAG_CRITICAL_CUSP, B[8] / bend)->t;
            CHECK_NEAR((t - jsonNumber(in, "mu")) * bend, jsonNumber(out, "margin_520"), 1e-9);
            ++resting;
        }
        spragCriticalSetFree(&set);
    }
    assert_true(sliding >= 4 && resting >= 8);
}

static unsigned long long seed = 1;

static int countAt(State *s, const double *rate, double t)
{
    for (int k = 0; k < s->state.contact_count; ++k)
        s->mu[k] = t * rate[k];
    spragSolutionSet set;
    assert_int_equal(spragParadoxEnumerate(&s->state, &set), SPRAG_OK);
    const int count = set.count;
    spragSolutionSetFree(&set);
    memset(s->mu, 0, sizeof s->mu);
    return count;
}

/* Enumerates up to t = RANGE, probes 40 places whether the number of solutions is the one announced, and counts how
 * often it changes, and the probes between two changes that are too near to each other to be found. */
enum { RANGE = 6 };
static void probe(State *s, const double *rate, int *changes, int *missed)
{
    spragCriticalSet set;
    enumerate(s, rate, RANGE, &set);
    for (int i = 0; i < 40; ++i) {
        const double t = 0.5 * RANGE * (1 + uniform(&seed)), apart = RANGE / 64.0;
        int expected = set.count > 0 ? set.critical[0].before : -1, near = 0;
        for (int k = 0; k < set.count; ++k) {
            near |= fabs(set.critical[k].t - t) < 1e-6;
            if (set.critical[k].t < t)
                expected = set.critical[k].after;
        }
        if (near || expected < 0 || countAt(s, rate, t) == expected)
            continue;
        assert_int_equal(countAt(s, rate, t - apart), expected);
        assert_int_equal(countAt(s, rate, t + apart), expected);
        ++*missed;
    }
    for (int k = 0; k < set.count; ++k)
        *changes += set.critical[k].before != set.critical[k].after;
    spragCriticalSetFree(&set);
}

/* Planar bodies on one to three contacts that slide, one- and two-sided: between two critical values the number of
 * solutions is the one they announce. */
static void theNumberChangesNowhereElse(void **unused)
{
    (void)unused;
    int changes = 0, missed = 0;
    for (int round = 0; round < 300; ++round) {
        const int nc = 1 + round % 3;
        State s;
        begin(&s, nc);
        double J[3 * CONTACTS][3] = {{0}}, rate[CONTACTS];
        for (int k = 0; k < nc; ++k) {
            const double x = 2 * uniform(&seed), y = 2 * uniform(&seed),
                         n[2] = {cos(k * uniform(&seed)), sin(k * uniform(&seed))};
            const double row[2][2] = {{n[0], n[1]}, {-n[1], n[0]}};
            for (int i = 0; i < 2; ++i) {
                J[3 * k + i][0] = row[i][0], J[3 * k + i][1] = row[i][1];
                J[3 * k + i][2] = x * row[i][1] - y * row[i][0];
            }
            s.slip[2 * k] = uniform(&seed) > 0 ? 1 : -1;
            s.two_sided[k] = uniform(&seed) > 0;
            s.b[3 * k] = uniform(&seed), s.b[3 * k + 1] = uniform(&seed);
            rate[k] = 0.2 + fabs(uniform(&seed));
        }
        for (int i = 0; i < 3 * nc; ++i)
            for (int j = 0; j < 3 * nc; ++j)
                s.A[3 * nc * i + j] = J[i][0] * J[j][0] + J[i][1] * J[j][1] + 2 * J[i][2] * J[j][2];
        probe(&s, rate, &changes, &missed);
    }
    assert_true(changes > 100 && missed == 0);
}

/* One or two contacts at rest, in space: directions in which they can begin to slip meet between the roots of
 * polynomials. */
static void theNumberAtRestChangesNowhereElse(void **unused)
{
    (void)unused;
    int changes = 0, missed = 0;
    for (int round = 0; round < 150; ++round) {
        const int nc = 1 + round % 2, n = 3 * nc;
        State s;
        double L[36], rate[CONTACTS];
        begin(&s, nc);
        for (int i = 0; i < n * n; ++i)
            L[i] = uniform(&seed);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                s.A[n * i + j] = i == j ? 0.05 : 0;
                for (int k = 0; k < n; ++k)
                    s.A[n * i + j] += L[n * i + k] * L[n * j + k];
            }
        for (int i = 0; i < n; ++i)
            s.b[i] = uniform(&seed);
        for (int k = 0; k < nc; ++k) {
            s.two_sided[k] = uniform(&seed) > 0;
            rate[k] = 0.5 + 0.5 * fabs(uniform(&seed));
        }
        probe(&s, rate, &changes, &missed);
    }
    assert_true(changes > 20 && missed <= 1); /* of 6000 */
}

static void badInputIsNamed(void **unused)
{
    (void)unused;
    State s;
    spragCriticalSet set = {.count = 7};
    rodState(&s, 1, 1, 1, 1, 0);
    assert_int_equal(spragCriticalEnumerate(NULL, all, 0, 1, &set), SPRAG_ERROR_NULL);
    assert_int_equal(spragCriticalEnumerate(&s.state, NULL, 0, 1, &set), SPRAG_ERROR_NULL);
    assert_int_equal(spragCriticalEnumerate(&s.state, all, 0, 1, NULL), SPRAG_ERROR_NULL);
    assert_int_equal(spragCriticalEnumerate(&s.state, all, 1, 1, &set), SPRAG_ERROR_RANGE);
    assert_int_equal(spragCriticalEnumerate(&s.state, all, -1, 1, &set), SPRAG_ERROR_RANGE);
    assert_non_null(strstr(spragStatusDetail(), "contact 0"));
    assert_int_equal(spragCriticalEnumerate(&s.state, (double[]){NAN}, 0, 1, &set), SPRAG_ERROR_NOT_FINITE);
    assert_int_equal(set.count, 7);
    spragCriticalSetFree(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theRodFoldsAndHasACusp),
        cmocka_unit_test(theBipodHasItsThresholds),
        cmocka_unit_test(theBrokenLineTurns),
        cmocka_unit_test(theBodyInSpaceFolds),
        cmocka_unit_test(theNumberChangesNowhereElse),
        cmocka_unit_test(theNumberAtRestChangesNowhereElse),
        cmocka_unit_test(badInputIsNamed),
    };
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
