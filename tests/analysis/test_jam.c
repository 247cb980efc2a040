/* The impact that ends a slip, against the oracle (planar, three restitutions) and
 * against small explicit steps (3D). */
#include <sprag/sprag.h>

#include "support/oracle.h"

/* G of a uniform rod's end, frame (n, t, -), in the plane; the third axis feels the mass only. */
static void rodInertia(const Json *inputs, double G[9])
{
    const double m = jsonNumber(inputs, "m"), J = jsonNumber(inputs, "J"), l = jsonNumber(inputs, "l");
    const double a = l * cos(jsonNumber(inputs, "theta0")), h = l * sin(jsonNumber(inputs, "theta0"));
    const double values[9] = {1 / m + a * a / J, -a * h / J, 0, -a * h / J, 1 / m + h * h / J, 0, 0, 0, 1 / m};
    memcpy(G, values, sizeof values);
}

static void rodsOfTheOracle(void **state)
{
    (void)state;
    for (int k = 1; k <= 6; ++k) {
        char id[24];
        snprintf(id, sizeof id, "rod_jam.%d", k);
        const Json *source = oracleCase(&oracle, id), *inputs = jsonGet(source, "inputs");
        const Json *rows = jsonGet(jsonGet(source, "expected"), "energetic_restitution");
        double G[9], P[3], after[3];
        rodInertia(inputs, G);
        const double v[3] = {0, jsonNumber(inputs, "v_tip0"), 0};
        for (int i = 0; i < rows->count; ++i) {
            const Json *row = &rows->first[i];
            assert_int_equal(spragJamImpulse(G, jsonNumber(inputs, "mu"), jsonNumber(row, "e"), v, P, after), SPRAG_OK);
            CHECK_NEAR(P[0], jsonNumber(row, "Pn"), 1e-10);
            CHECK_NEAR(P[1], jsonNumber(row, "Pt"), 1e-10);
            CHECK_NEAR(P[2], 0, 1e-12);
            CHECK_NEAR(after[0], jsonGet(row, "v_tip")->first[1].number, 1e-10);
            CHECK_NEAR(after[1], 0, 1e-10);
        }
    }
}

/* Explicit steps of the normal impulse, as small as it takes; once the slip is
 * gone it sticks, if friction can hold it. */
static void bruteForce(const double G[9], double mu, double restitution, const double v0[3], double dN, double P[3],
                       double v[3])
{
    double compressed = 0, returned = 0;
    memcpy(v, v0, 3 * sizeof *v);
    memset(P, 0, 3 * sizeof *P);
    const double det = G[4] * G[8] - G[5] * G[7];
    const double hold[2] = {(G[5] * G[6] - G[8] * G[3]) / det, (G[7] * G[3] - G[4] * G[6]) / det};
    const int holds = hypot(hold[0], hold[1]) <= mu;
    int stuck = 0;
    for (long k = 0; k < 100000000; ++k) {
        const double speed = hypot(v[1], v[2]);
        stuck |= holds && speed < 3 * mu * dN * (G[4] + G[8]);
        const double r[3] = {dN, stuck ? hold[0] * dN : -mu * dN * v[1] / speed,
                             stuck ? hold[1] * dN : -mu * dN * v[2] / speed};
        const double before = v[0];
        for (int i = 0; i < 3; ++i) {
            P[i] += r[i];
            for (int j = 0; j < 3; ++j)
                v[i] += G[3 * i + j] * r[j];
        }
        const double work = 0.5 * (before + v[0]) * dN;
        if (work < 0)
            compressed -= work;
        else
            returned += work;
        if (work > 0 && returned >= restitution * restitution * compressed)
            return;
    }
    fail_msg("the impact did not end");
}

/* Against explicit steps, for restitution 0, 1/2, 1, and v_after = v + G P to the quadrature. */
static void checkImpulse(const double G[9], double mu, const double v[3], int slips_on, double dN)
{
    double P[3], after[3], slow[3], slow_after[3];
    for (int e = 0; e < 3; ++e) {
        assert_int_equal(spragJamImpulse(G, mu, 0.5 * e, v, P, after), SPRAG_OK);
        bruteForce(G, mu, 0.5 * e, v, dN, slow, slow_after);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(P[i], slow[i], 500 * dN);
            CHECK_NEAR(after[i], slow_after[i], 1e4 * dN);
            CHECK_NEAR(v[i] + G[3 * i] * P[0] + G[3 * i + 1] * P[1] + G[3 * i + 2] * P[2], after[i], 1e-7);
        }
        assert_int_equal(hypot(after[1], after[2]) > 1e-6, slips_on);
    }
}

/* Where G_tt is much softer one way than the other, friction that stops a slip cannot hold the contact against what the
 * normal force then asks: it slips on, in a direction of its own. */
static void slipGoesOnAfterTheStop(void **state)
{
    (void)state;
    for (double across = -0.06; across < 0.07; across += 0.02) {
        if (fabs(across) < 0.03)
            continue; /* held */
        const double G[9] = {1.4, 1, across, 1, 1, 0, across, 0, 0.01}, v[3] = {0, 1, 0.02}, mu = 2;
        assert_true(spragPainleveSlope(G, mu, v + 1) < -0.3);
        checkImpulse(G, mu, v, 1, 1e-6);
    }
}

/* Straight towards rest in a direction that repels, G_tt = diag(1, 10): what stops there, or next to it, slips
 * on.  G_tn = mu G_tt e - 4.5 e for the direction e of slip, so f = 4.5, g = 0; |G_tt^-1 G_tn| = 1.22 mu, p = -0.3. */
static void aDirectionThatRepels(void **state)
{
    (void)state;
    const double x = sqrt(0.1), y = sqrt(0.9), mu = 1, c[2] = {(1 - 4.5) * x, (1 - 0.45) * y};
    const double G[9] = {4.3, c[0], 10 * c[1], c[0], 1, 0, 10 * c[1], 0, 10};
    double P[3], after[3];
    for (double aside = 1e-16; aside < 1e-3; aside *= 100) {
        const double v[3] = {0, x, y + aside};
        assert_int_equal(spragJamImpulse(G, mu, 0, v, P, after), SPRAG_OK);
        CHECK_NEAR(after[0], 0, 1e-12);
        CHECK_NEAR(P[0], 0.3176, 1e-4);
        CHECK_NEAR(after[1], -0.0234, 1e-4);
        CHECK_NEAR(after[2], 0.0137, 1e-4);
    }
    checkImpulse(G, mu, (double[]){0, x, y + 0.1}, 1, 1e-7);
}

/* The direction turns so fast that v_n falls and rises again within a hundredth of the slip: a small impulse, yet it
 * turns the slip by 0.025 rad. */
static void aSlipThatTurnsAwayAtOnce(void **state)
{
    (void)state;
    const double G[9] = {0.8376, 0.3663, 0.4322, 0.3663, 0.2786, 0.7836, 0.4322, 0.7836, 4.581}, mu = 14.1786;
    const double v[3] = {0, -1.01734, 1.08859};
    double P[3], after[3];
    assert_true(spragPainleveSlope(G, mu, v + 1) < -0.09);
    checkImpulse(G, mu, v, 1, 1e-8);
    assert_int_equal(spragJamImpulse(G, mu, 0, v, P, after), SPRAG_OK);
    CHECK_NEAR(P[0], 1.14e-3, 1e-5);
}

/* Every jam ends, however different G is in different directions: v_n = 0 where nothing comes back, in the cone. */
static void everyJamEnds(void **state)
{
    (void)state;
    unsigned long long seed = 1;
    int found = 0;
    for (int k = 0; k < 3000; ++k) {
        double x[12], A[9], G[9], P[3], after[3];
        for (int i = 0; i < 12; ++i) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            x[i] = (double)(seed >> 11) * 0x1p-53;
        }
        for (int i = 0; i < 9; ++i)
            A[i] = (2 * x[i] - 1) * (i / 3 == 1 ? pow(10, 1.5 * x[9]) : 1);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                G[3 * i + j] = A[3 * i] * A[3 * j] + A[3 * i + 1] * A[3 * j + 1] + A[3 * i + 2] * A[3 * j + 2];
        const double v[3] = {0, cos(6.28 * x[10]), sin(6.28 * x[10])}, mu = pow(10, 2 * x[11] - 1);
        if (!(spragPainleveSlope(G, mu, v + 1) < -1e-6))
            continue;
        ++found;
        assert_int_equal(spragJamImpulse(G, mu, 0, v, P, after), SPRAG_OK);
        CHECK_NEAR(after[0], 0, 1e-9);
        assert_true(hypot(P[1], P[2]) <= mu * P[0] * (1 + 1e-9));
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(v[i] + G[3 * i] * P[0] + G[3 * i + 1] * P[1] + G[3 * i + 2] * P[2], after[i], 1e-4);
    }
    assert_true(found > 500);
}

/* Bodies with a point at r: G = E/m - [r] J^-1 [r], slips and mu for which p < 0; the slip turns on its way to rest. */
static void bodiesInSpace(void **state)
{
    (void)state;
    unsigned long long seed = 12345;
    int found = 0, turned = 0;
    for (int k = 0; k < 4000 && found < 12; ++k) {
        double x[8];
        for (int i = 0; i < 8; ++i) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            x[i] = (double)(seed >> 11) * 0x1p-53;
        }
        const double r[3] = {2 * x[0] - 1, 2 * x[1] - 1, 2 * x[2] - 1};
        const double J[3] = {0.05 + 0.2 * x[3], 0.05 + 0.2 * x[4], 0.05 + 0.2 * x[5]};
        const double R[9] = {0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0};
        double G[9], P[3], after[3];
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                G[3 * i + j] = i == j;
                for (int m = 0; m < 3; ++m)
                    G[3 * i + j] -= R[3 * i + m] / J[m] * R[3 * m + j];
            }
        const double v[3] = {0, cos(6.28 * x[6]), sin(6.28 * x[6])}, mu = 0.5 + x[7];
        const double slip[2] = {v[1], v[2]};
        if (!(spragPainleveSlope(G, mu, slip) < -0.1)) {
            assert_int_equal(spragJamImpulse(G, mu, 0.5, v, P, after),
                             spragPainleveSlope(G, mu, slip) < 0 ? SPRAG_OK : SPRAG_NO_SOLUTION);
            continue;
        }
        const double det = G[4] * G[8] - G[5] * G[7];
        const double hold[2] = {(G[5] * G[6] - G[8] * G[3]) / det, (G[7] * G[3] - G[4] * G[6]) / det};
        if (hypot(hold[0], hold[1]) > mu)
            continue; /* slips on: above */
        ++found;
        turned += fabs(G[5]) > 0.5;
        checkImpulse(G, mu, v, 0, 2e-7);
    }
    assert_int_equal(found, 12);
    assert_true(turned > 0);
}

static void badInput(void **state)
{
    (void)state;
    const double G[9] = {2, 1, 0, 1, 2, 0, 0, 0, 1}, v[3] = {0, 1, 0};
    double P[3] = {7, 7, 7}, after[3];
    assert_int_equal(spragJamImpulse(NULL, 1, 0, v, P, after), SPRAG_ERROR_NULL);
    assert_true(isnan(spragPainleveSlope(NULL, 1, v + 1)) && isnan(spragPainleveSlope(G, 1, NULL)));
    assert_int_equal(spragJamImpulse(G, -1, 0, v, P, after), SPRAG_ERROR_RANGE);
    assert_int_equal(spragJamImpulse(G, INFINITY, 0, v, P, after), SPRAG_ERROR_RANGE);
    assert_int_equal(spragJamImpulse(G, 3, 1.5, v, P, after), SPRAG_ERROR_RANGE);
    assert_int_equal(spragJamImpulse(G, 3, NAN, v, P, after), SPRAG_ERROR_RANGE);
    assert_int_equal(spragJamImpulse(G, 0.5, 0, v, P, after), SPRAG_NO_SOLUTION);
    assert_int_equal(spragJamImpulse(G, 3, 0, (double[]){0, 0, 0}, P, after), SPRAG_NO_SOLUTION);
    assert_int_equal(spragJamImpulse(G, 3, 0, (double[]){0, NAN, 0}, P, after), SPRAG_ERROR_NOT_FINITE);
    assert_int_equal(spragJamImpulse((double[]){2, 3, 0, 3, 2, 0, 0, 0, 1}, 3, 0, v, P, after), SPRAG_ERROR_INDEFINITE);
    assert_int_equal(spragJamImpulse((double[]){2, 1, 0, 0, 2, 0, 0, 0, 1}, 3, 0, v, P, after),
                     SPRAG_ERROR_NOT_SYMMETRIC);
    for (int pair = 0; pair < 3; ++pair) { /* each of them, and the smallest that counts */
        static const int row[] = {0, 0, 1}, column[] = {1, 2, 2};
        double skew[9];
        memcpy(skew, G, sizeof skew);
        skew[3 * row[pair] + column[pair]] += 1e-7;
        assert_int_equal(spragJamImpulse(skew, 3, 0, v, P, after), SPRAG_ERROR_NOT_SYMMETRIC);
    }
    /* positive minors of two rows, det = -0.2 */
    assert_int_equal(spragJamImpulse((double[]){1, 0.6, 0.6, 0.6, 1, -0.5, 0.6, -0.5, 1}, 3, 0, v, P, after),
                     SPRAG_ERROR_INDEFINITE);
    assert_true(P[0] == 7 && P[1] == 7 && P[2] == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rodsOfTheOracle),
        cmocka_unit_test(slipGoesOnAfterTheStop),
        cmocka_unit_test(aDirectionThatRepels),
        cmocka_unit_test(aSlipThatTurnsAwayAtOnce),
        cmocka_unit_test(everyJamEnds),
        cmocka_unit_test(bodiesInSpace),
        cmocka_unit_test(badInput),
    };
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
