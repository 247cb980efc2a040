/* One contact: all its solutions, against a scan over directions, the law and the reference modes. */
#include "support/check.h"
#include "support/oracle.h"
#include "support/random_problem.h"

#include <string.h>

#include "linalg/vec3.h"
#include "solve/contact/local.h"

static void randomBlockAndLoad(unsigned long long *seed, double ridge, double W[9], double q[3])
{
    randomBlock(seed, ridge, W);
    for (int i = 0; i < 3; ++i)
        q[i] = uniform(seed);
}

/* How far a solution is from the law it claims, m/s and N s. */
static double lawError(const double W[9], const double q[3], double mu_plus, double mu_minus, int two_sided,
                       const spragLocalSolution *s)
{
    double u[3] = {q[0], q[1], q[2]}, error = 0;
    spragMulAdd33(u, W, s->r);
    const double mu = s->r[0] < 0 ? mu_minus : mu_plus, limit = mu * fabs(s->r[0]);
    const double friction = spragNorm2(s->r + 1), speed = spragNorm2(u + 1);
    for (int i = 0; i < 3; ++i)
        error = fmax(error, fabs(u[i] - s->u[i]));
    if (!two_sided)
        error = fmax(error, -s->r[0]);
    switch (s->mode) {
    case SPRAG_MODE_OPEN:
        return fmax(error, fmax(-u[0], spragNorm3(s->r)));
    case SPRAG_MODE_STICK:
        return fmax(error, fmax(spragNorm3(u), friction - limit));
    default:
        error = fmax(error, fabs(u[0]));
        error = fmax(error, fabs(friction - limit));
        return fmax(error, fabs(s->r[1] * u[1] + s->r[2] * u[2] + limit * speed));
    }
}

/* Slip directions by brute force: zeros of d (e_perp . u_t) with N of the sign asked and u_t . e > 0.  -1: two zeros or
 * an edge too close for the grid to tell. */
static int scanSlips(const double W[9], const double q[3], double mu, int sign)
{
    enum { STEPS = 40000 };
    int count = 0;
    double before = 0;
    for (int k = 0; k <= STEPS; ++k) {
        const double x = 2 * M_PI * k / STEPS, e[2] = {cos(x), sin(x)};
        const double d = W[0] - sign * mu * (W[1] * e[0] + W[2] * e[1]), dN = -q[0]; /* d N */
        double dw[2];
        for (int a = 0; a < 2; ++a)
            dw[a] = d * q[1 + a] +
                    dN * (W[3 * (1 + a)] - sign * mu * (W[3 * (1 + a) + 1] * e[0] + W[3 * (1 + a) + 2] * e[1]));
        const double f = -e[1] * dw[0] + e[0] * dw[1], nu = e[0] * dw[0] + e[1] * dw[1];
        if (k > 0 && (f < 0) != (before < 0)) {
            if (fabs(d) < 1e-2 || fabs(nu) < 1e-3)
                return -1;
            count += dN * sign / d > 0 && nu / d > 0;
        } else if (k > 0 && fabs(f) < 1e-6) {
            return -1;
        }
        before = f;
    }
    return count;
}

static void everySolutionIsFound(void **state)
{
    (void)state;
    unsigned long long seed = 5;
    int seen[SPRAG_LOCAL_MAX + 1] = {0}, compared = 0;
    for (int trial = 0; trial < 500; ++trial) {
        double W[9], q[3];
        randomBlockAndLoad(&seed, trial % 2 == 0 ? 0.002 : 0.3, W, q);
        const double mu = 0.05 + 6 * fabs(uniform(&seed)), mu_minus = 0.3 * mu;
        for (int two_sided = 0; two_sided < 2; ++two_sided) {
            spragLocalSolution solution[SPRAG_LOCAL_MAX];
            const int count = spragLocalEnumerate(two_sided ? SPRAG_BLOCK_TWO_SIDED : SPRAG_BLOCK_CONTACT, W, q, mu,
                                                  mu_minus, solution);
            assert_true(count >= 0 && count <= SPRAG_LOCAL_MAX);
            assert_true(count > 0 || q[0] < 0 || two_sided);
            int slips = 0;
            for (int k = 0; k < count; ++k) {
                slips += solution[k].mode == SPRAG_MODE_SLIP;
                const double size = 1 + spragNorm3(solution[k].r) * (W[0] + W[4] + W[8]);
                CHECK_NEAR(lawError(W, q, mu, mu_minus, two_sided, &solution[k]) / size, 0, 1e-13);
            }
            const int plus = scanSlips(W, q, mu, 1), minus = two_sided ? scanSlips(W, q, mu_minus, -1) : 0;
            ++seen[count];
            if (plus < 0 || minus < 0)
                continue;
            ++compared;
            assert_int_equal(slips, plus + minus);
        }
    }
    assert_true(compared > 700);
    assert_true(seen[1] > 500 && seen[3] > 2);
}

/* Stability says what it claims: normal by the slope of w_n(N), direction by turning e a little. */
static void stabilityIsADerivative(void **state)
{
    (void)state;
    unsigned long long seed = 11;
    int stable = 0, unstable = 0;
    for (int trial = 0; trial < 12000; ++trial) {
        double W[9], q[3];
        randomBlockAndLoad(&seed, 0.01, W, q);
        const double mu = 0.5 + 3 * fabs(uniform(&seed));
        spragLocalSolution solution[SPRAG_LOCAL_MAX];
        const int count = spragLocalEnumerate(SPRAG_BLOCK_CONTACT, W, q, mu, mu, solution);
        for (int k = 0; k < count; ++k) {
            const spragLocalSolution *s = &solution[k];
            if (s->mode != SPRAG_MODE_SLIP)
                continue;
            const double speed = spragNorm2(s->u + 1), e[2] = {s->u[1] / speed, s->u[2] / speed};
            double across[2];
            for (int side = 0; side < 2; ++side) { /* u across e where e is turned by psi, u_n = 0 kept */
                const double psi = side ? 1e-6 : -1e-6;
                const double t[2] = {e[0] * cos(psi) - e[1] * sin(psi), e[1] * cos(psi) + e[0] * sin(psi)};
                const double normal = -q[0] / (W[0] - mu * (W[1] * t[0] + W[2] * t[1]));
                const double r[3] = {normal, -mu * normal * t[0], -mu * normal * t[1]};
                double u[3] = {q[0], q[1], q[2]};
                spragMulAdd33(u, W, r);
                across[side] = -t[1] * u[1] + t[0] * u[2];
            }
            if (fabs(across[1] - across[0]) < 1e-9)
                continue;
            assert_int_equal(s->direction_stable, across[1] < across[0]);
            assert_int_equal(s->normal_stable, W[0] - mu * (W[1] * e[0] + W[2] * e[1]) > 0);
            stable += s->direction_stable, unstable += !s->direction_stable;
        }
    }
    assert_true(stable > 2000 && unstable > 30);
}

/* Where the quick test promises one solution there is one, and it is that. */
static void regularMeansUnique(void **state)
{
    (void)state;
    unsigned long long seed = 3;
    int regular = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        double W[9], q[3], r[3];
        randomBlockAndLoad(&seed, trial % 2 ? 0.02 : 0.5, W, q);
        const double mu = 1.5 * fabs(uniform(&seed));
        if (!spragLocalRegular(W, q, mu, r))
            continue;
        ++regular;
        spragLocalSolution solution[SPRAG_LOCAL_MAX];
        assert_int_equal(spragLocalEnumerate(SPRAG_BLOCK_CONTACT, W, q, mu, mu, solution), 1);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(r[i], solution[0].r[i], 1e-11 * (1 + spragNorm3(r)));
        if (solution[0].mode == SPRAG_MODE_STICK) {
            double u[3] = {q[0], q[1], q[2]};
            spragMulAdd33(u, W, r);
            CHECK_NEAR(spragNorm3(u), 0, 1e-15 * (1 + spragNorm3(r)));
        }
    }
    assert_true(regular > 8000);
}

static int oracleMode(const char *text)
{
    return strncmp(text, "lift", 4) == 0 || strncmp(text, "detach", 6) == 0 ? SPRAG_MODE_OPEN
           : strncmp(text, "stick", 5) == 0                                 ? SPRAG_MODE_STICK
                                                                            : SPRAG_MODE_SLIP;
}

/* Finds the expected solution among the listed ones by mode and reaction. */
static const spragLocalSolution *findSolution(int count, const spragLocalSolution *solution, int mode,
                                              const double r[3])
{
    for (int k = 0; k < count; ++k) {
        double d[3];
        for (int i = 0; i < 3; ++i)
            d[i] = solution[k].r[i] - r[i];
        if ((int)solution[k].mode == mode && spragNorm3(d) <= 1e-9 * (1 + spragNorm3(r)))
            return &solution[k];
    }
    return NULL;
}

/* As many as the reference has found. */
static int enumerateAll(int two_sided, const double W[9], const double q[3], double mu, const Json *expected,
                        spragLocalSolution solution[SPRAG_LOCAL_MAX])
{
    const int count =
        spragLocalEnumerate(two_sided ? SPRAG_BLOCK_TWO_SIDED : SPRAG_BLOCK_CONTACT, W, q, mu, mu, solution);
    assert_int_equal(count, (int)jsonNumber(expected, "count"));
    return count;
}

/* body3d at rest: forces for impulses, accelerations for velocities; axes 3, 1, 2 are n, t1, t2. */
static void bodyAtRest(const Json *c, int *cases)
{
    const Json *in = jsonGet(c, "inputs"), *expected = jsonGet(c, "expected");
    double v[2] = {0}, F[3] = {0}, B[3][3] = {{0}}, W[9];
    jsonNumbers(jsonGet(in, "v"), 0, 2, v);
    if (v[0] != 0 || v[1] != 0)
        return;
    ++*cases;
    jsonNumbers(jsonGet(in, "Fstar"), 0, 3, F);
    for (int i = 0; i < 3; ++i)
        jsonNumbers(&jsonGet(expected, "B")->first[i], 0, 3, B[i]);
    static const int axis[3] = {2, 0, 1};
    for (int i = 0; i < 9; ++i)
        W[i] = B[axis[i / 3]][axis[i % 3]];
    const double q[3] = {F[2], F[0], F[1]}, mu = jsonNumber(in, "mu");
    const int two_sided = jsonNumber(in, "bilateral") != 0;
    spragLocalSolution solution[SPRAG_LOCAL_MAX];
    const int count = enumerateAll(two_sided, W, q, mu, expected, solution);
    const Json *list = jsonGet(expected, "solutions");
    for (int k = 0; k < list->count; ++k) {
        double R[3];
        jsonNumbers(jsonGet(&list->first[k], "R"), 0, 3, R);
        const double r[3] = {R[2], R[0], R[1]};
        const int mode = oracleMode(jsonGet(&list->first[k], "mode")->text);
        const spragLocalSolution *found = findSolution(count, solution, mode, r);
        assert_non_null(found);
        if (mode == SPRAG_MODE_SLIP) {
            assert_int_equal(found->normal_stable, (int)jsonNumber(&list->first[k], "normal_stable"));
            assert_int_equal(found->direction_stable, (int)jsonNumber(&list->first[k], "direction_stable"));
        }
    }
}

/* The rod's end at rest, planar: t2 decoupled (Ivanov 2009, 5.2 to 5.7). */
static void rodAtRest(const Json *c, int two_sided, int *cases)
{
    const Json *in = jsonGet(c, "inputs"), *expected = jsonGet(c, "expected");
    if (jsonNumber(in, "v1") != 0)
        return;
    ++*cases;
    const double a = jsonNumber(in, "a"), h = jsonNumber(in, "h"), m = jsonNumber(in, "m"), J = jsonNumber(in, "J");
    const double F1 = jsonNumber(in, "F1"), F2 = jsonNumber(in, "F2"), F3 = jsonNumber(in, "F3");
    const double v3 = jsonNumber(in, "v3"), mu = jsonNumber(in, "mu");
    const double W[9] = {1 / m + a * a / J, -a * h / J, 0, -a * h / J, 1 / m + h * h / J, 0, 0, 0, 1 / m};
    const double q[3] = {F2 / m - a * F3 / J + h * v3 * v3, F1 / m + h * F3 / J + a * v3 * v3, 0};
    spragLocalSolution solution[SPRAG_LOCAL_MAX];
    const int count = enumerateAll(two_sided, W, q, mu, expected, solution);
    const Json *list = jsonGet(expected, "solutions");
    for (int k = 0; k < list->count; ++k) {
        const double r[3] = {jsonNumber(&list->first[k], "N"), jsonNumber(&list->first[k], "T"), 0};
        const int mode = oracleMode(jsonGet(&list->first[k], "mode")->text);
        const spragLocalSolution *found = findSolution(count, solution, mode, r);
        assert_non_null(found);
        if (mode == SPRAG_MODE_SLIP)
            assert_int_equal(found->normal_stable, jsonNumber(&list->first[k], "slope") > 0);
    }
}

static void referenceModesAtRest(void **state)
{
    (void)state;
    int body = 0, rod = 0, guide = 0;
    for (const Json *c = NULL; (c = oracleNext(NULL, "modes", c)) != NULL;) {
        const char *system = jsonGet(c, "system")->text;
        if (strcmp(system, "body3d") == 0)
            bodyAtRest(c, &body);
        else if (strcmp(system, "rod_unilateral") == 0)
            rodAtRest(c, 0, &rod);
        else if (strcmp(system, "rod_bilateral") == 0)
            rodAtRest(c, 1, &guide);
    }
    assert_true(body >= 12 && rod >= 6 && guide >= 4);
}

static void edges(void **state)
{
    (void)state;
    spragLocalSolution s[SPRAG_LOCAL_MAX];
    const double W[9] = {2, 0.1, 0, 0.1, 1, 0, 0, 0, 1};
    const double pressed[3] = {-1, 3, 4}, touching[3] = {0, 0, 0}, sliding[3] = {0, 1, 0};
    assert_int_equal(spragLocalEnumerate(SPRAG_BLOCK_CONTACT, W, pressed, 0, 0, s), 1); /* no friction */
    CHECK_NEAR(s[0].r[0], 0.5, 1e-15);
    assert_true(s[0].r[1] == 0 && s[0].r[2] == 0 && s[0].mode == SPRAG_MODE_SLIP);
    assert_int_equal(spragLocalEnumerate(SPRAG_BLOCK_CONTACT, W, touching, 0.5, 0.5, s), 1);
    assert_true(s[0].r[0] == 0 && s[0].mode == SPRAG_MODE_OPEN);
    assert_int_equal(spragLocalEnumerate(SPRAG_BLOCK_CONTACT, W, sliding, 0.5, 0.5, s), 1);
    assert_int_equal(s[0].mode, SPRAG_MODE_OPEN);
    /* no mobility along t2: it cannot move there and needs no force */
    const double guided[9] = {1, 0, 0, 0, 1, 0, 0, 0, 0}, load[3] = {-1, 2, 0};
    const int count = spragLocalEnumerate(SPRAG_BLOCK_CONTACT, guided, load, 0.5, 0.5, s);
    assert_int_equal(count, 1);
    CHECK_NEAR(s[0].r[0], 1, 1e-15);
    CHECK_NEAR(s[0].r[1], -0.5, 1e-15);
    CHECK_NEAR(s[0].r[2], 0, 1e-15);
}

/* mu = 0: it leaves, or is pressed and slips as the normal force has it; u = W r + q for every solution of any kind. */
static void velocitiesAreThoseOfTheForces(void **state)
{
    (void)state;
    unsigned long long seed = 41;
    int pressed = 0;
    for (int round = 0; round < 500; ++round) {
        double W[9], q[3];
        spragLocalSolution solution[SPRAG_LOCAL_MAX];
        randomBlockAndLoad(&seed, 0.1, W, q);
        const double mu = round % 2 ? 0 : 0.7;
        const int count = spragLocalEnumerate(SPRAG_BLOCK_CONTACT, W, q, mu, mu, solution);
        assert_true(count > 0 && (mu > 0 || count == 1));
        for (int k = 0; k < count; ++k) {
            double u[3] = {q[0], q[1], q[2]};
            spragMulAdd33(u, W, solution[k].r);
            for (int i = 0; i < 3; ++i)
                CHECK_NEAR(solution[k].u[i], u[i], 1e-12 * (1 + spragNorm3(solution[k].r)));
        }
        if (mu == 0 && q[0] < 0) {
            CHECK_NEAR(solution[0].r[0], -q[0] / W[0], 1e-14);
            assert_int_equal(solution[0].mode, SPRAG_MODE_SLIP);
            ++pressed;
        }
    }
    assert_true(pressed > 50);
}

/* A body that a guide holds along one direction of the tangential plane: W = J J^T with no motion along it.  It sticks
 * where nothing moves it that way, and cannot where something does. */
static void guidedBodiesStickAcrossTheGuide(void **state)
{
    (void)state;
    for (double angle = 0; angle < 3; angle += 0.23)
        for (int moved = 0; moved < 2; ++moved) {
            const double along[2] = {cos(angle), sin(angle)}, across[2] = {-along[1], along[0]};
            const double W[9] = {2,
                                 0.3 * along[0],
                                 0.3 * along[1],
                                 0.3 * along[0],
                                 along[0] * along[0],
                                 along[0] * along[1],
                                 0.3 * along[1],
                                 along[0] * along[1],
                                 along[1] * along[1]};
            const double q[3] = {-1, 0.1 * along[0] + 0.2 * moved * across[0],
                                 0.1 * along[1] + 0.2 * moved * across[1]};
            spragLocalSolution solution[SPRAG_LOCAL_MAX];
            const int count = spragLocalEnumerate(SPRAG_BLOCK_CONTACT, W, q, 0.8, 0.8, solution);
            assert_int_equal(count, 1);
            assert_int_equal(solution[0].mode, moved ? SPRAG_MODE_SLIP : SPRAG_MODE_STICK);
            if (moved) /* whatever friction does, the guide's motion goes on */
                CHECK_NEAR(spragNorm2(solution[0].u + 1) >= 0.2, 1, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(velocitiesAreThoseOfTheForces),
                                       cmocka_unit_test(guidedBodiesStickAcrossTheGuide),
                                       cmocka_unit_test(everySolutionIsFound),
                                       cmocka_unit_test(stabilityIsADerivative),
                                       cmocka_unit_test(regularMeansUnique),
                                       cmocka_unit_test(referenceModesAtRest),
                                       cmocka_unit_test(edges)};
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
