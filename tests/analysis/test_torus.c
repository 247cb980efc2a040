/* Zeros of trigonometric polynomials: systems whose zeros are known, turned and mixed; double ones; curves; none. */
#include "support/check.h"
#include "support/uniform.h"

#include <string.h>

#include "analysis/torus.h"

static TorusSystem system;
static TorusZeros zeros;

static int always(const void *context, const double *c, double h)
{
    (void)context, (void)c, (void)h;
    return 1;
}

static int never(const void *context, const double *c, double h)
{
    (void)context, (void)c, (void)h;
    return 0;
}

typedef double Function(const double *theta, const double *parameter);

static TorusPolynomial polynomial(Function *f, const double *parameter)
{
    TorusPolynomial p;
    double value[TORUS_SIZE];
    for (int at = 0; at < TORUS_SIZE; ++at) {
        const int j[3] = {at / 25, at / 5 % 5, at % 5};
        const double theta[3] = {2 * M_PI * j[0] / 5, 2 * M_PI * j[1] / 5, 2 * M_PI * j[2] / 5};
        value[at] = f(theta, parameter);
    }
    spragTorusInterpolate(&p, value);
    return p;
}

static void begin(int angles)
{
    memset(&system, 0, sizeof system);
    system.angles = angles;
    system.possible = always;
}

/* The number of zeros within 1e-9 (angles modulo 2 pi) of theta. */
static int foundAt(const double *theta)
{
    int count = 0;
    for (int z = 0; z < zeros.count; ++z) {
        double distance = 0;
        for (int i = 0; i < system.angles; ++i)
            distance = fmax(distance, fabs(sin(0.5 * (theta[i] - zeros.zero[z].angle[i]))));
        count += distance < 1e-9;
    }
    return count;
}

/* ---------------------------------------------------------------- the polynomials themselves */

static double mixed(const double *t, const double *a)
{
    return a[0] + a[1] * cos(t[0]) * sin(2 * t[1]) + a[2] * cos(2 * t[0] - t[1] + 2 * t[2]) + a[3] * sin(t[2]);
}

static void interpolationIsExact(void **state)
{
    (void)state;
    unsigned long long seed = 4;
    for (int round = 0; round < 100; ++round) {
        double a[4], theta[3], gradient[3];
        for (int i = 0; i < 4; ++i)
            a[i] = uniform(&seed);
        for (int i = 0; i < 3; ++i)
            theta[i] = 7 * uniform(&seed);
        const TorusPolynomial p = polynomial(mixed, a);
        CHECK_NEAR(spragTorusValue(&p, theta, gradient), mixed(theta, a), 1e-14);
        assert_true(p.size >= fabs(mixed(theta, a)));
        const double phase = sin(2 * theta[0] - theta[1] + 2 * theta[2]);
        CHECK_NEAR(gradient[0], -a[1] * sin(theta[0]) * sin(2 * theta[1]) - 2 * a[2] * phase, 1e-14);
        CHECK_NEAR(gradient[1], 2 * a[1] * cos(theta[0]) * cos(2 * theta[1]) + a[2] * phase, 1e-14);
        CHECK_NEAR(gradient[2], a[3] * cos(theta[2]) - 2 * a[2] * phase, 1e-14);
    }
}

/* ---------------------------------------------------------------- one angle */

/* cos(n (theta - turn)) - level, n = 1 or 2 */
static double cosine(const double *t, const double *a)
{
    return cos(a[0] * (t[0] - a[1])) - a[2];
}

static void zerosOnTheCircle(void **state)
{
    (void)state;
    for (int n = 1; n <= 2; ++n)
        for (double level = -1.25; level < 1.3; level += 0.25)
            for (double turn = 0; turn < 6; turn += 0.7) {
                const double a[3] = {n, turn, level};
                begin(1);
                system.f[0] = polynomial(cosine, a);
                spragTorusSolve(&system, &zeros);
                const int touches = fabs(level) == 1;
                assert_int_equal(zeros.count, fabs(level) > 1 ? 0 : touches ? n : 2 * n);
                assert_false(zeros.incomplete);
                for (int z = 0; z < zeros.count; ++z) {
                    /* a touching zero is known to the root of rounding only */
                    CHECK_NEAR(cosine(zeros.zero[z].angle, a), 0, 1e-13);
                    assert_int_equal(zeros.zero[z].multiplicity, touches ? 2 : 1);
                    assert_false(zeros.zero[z].curve);
                }
                if (fabs(level) < 1)
                    for (int k = 0; k < 2 * n; ++k) {
                        const double side = k % 2 ? 1 : -1,
                                     theta = turn + (side * acos(level) + 2 * M_PI * (k / 2)) / n;
                        assert_int_equal(foundAt(&theta), 1);
                    }
            }
}

/* Two zeros that draw together as the root of the distance from the fold: told
 * apart down to 1e-5, none beyond the fold. */
static void zerosNearAFold(void **state)
{
    (void)state;
    for (double gap = 1e-2; gap > 1e-10; gap *= 0.1) {
        const double before[3] = {1, 0.3, 1 - gap}, beyond[3] = {1, 0.3, 1 + gap};
        begin(1);
        system.f[0] = polynomial(cosine, before);
        spragTorusSolve(&system, &zeros);
        assert_int_equal(zeros.count, 2);
        for (int side = -1; side <= 1; side += 2) {
            double nearest = 1;
            for (int z = 0; z < 2; ++z)
                nearest = fmin(nearest, fabs(zeros.zero[z].angle[0] - 0.3 - side * acos(1 - gap)));
            CHECK_NEAR(nearest / acos(1 - gap), 0, 1e-5);
        }
        system.f[0] = polynomial(cosine, beyond);
        spragTorusSolve(&system, &zeros);
        assert_int_equal(zeros.count, 0);
    }
}

/* ---------------------------------------------------------------- several angles */

/* cos(theta_i - turn_i) - level_i of one angle, n = 2 for the first; mixed by a matrix. */
typedef struct Product {
    int angles;
    double turn[3], level[3], matrix[9];
} Product;
static const Product *product;

static double productOf(const double *t, const double *row)
{
    double sum = 0;
    for (int i = 0; i < product->angles; ++i)
        sum += row[i] * (cos((i == 0 ? 2 : 1) * (t[i] - product->turn[i])) - product->level[i]);
    return sum;
}

/* 4 x 2 x 2 zeros, wherever they are turned to and however the equations are mixed. */
static void zerosOfProducts(void **state)
{
    (void)state;
    unsigned long long seed = 8;
    for (int round = 0; round < 60; ++round) {
        Product p = {.angles = 2 + round % 2};
        product = &p;
        for (int i = 0; i < 3; ++i)
            p.turn[i] = 3 * uniform(&seed), p.level[i] = 0.8 * uniform(&seed);
        for (int i = 0; i < 9; ++i)
            p.matrix[i] = 0.4 * uniform(&seed) + (i % 4 == 0 ? 1 : 0);
        begin(p.angles);
        for (int k = 0; k < p.angles; ++k)
            system.f[k] = polynomial(productOf, p.matrix + 3 * k);
        spragTorusSolve(&system, &zeros);
        const int expected = p.angles == 2 ? 8 : 16;
        assert_int_equal(zeros.count, expected);
        for (int z = 0; z < expected; ++z) {
            double theta[3];
            for (int i = 0; i < p.angles; ++i)
                theta[i] = p.turn[i] + (z >> i & 1 ? 1 : -1) * acos(p.level[i]) / (i == 0 ? 2 : 1);
            if (z >> p.angles & 1)
                theta[0] += M_PI;
            assert_int_equal(foundAt(theta), 1);
        }
        for (int z = 0; z < zeros.count; ++z)
            assert_int_equal(zeros.zero[z].multiplicity, 1);
    }
}

static double firstCosine(const double *t, const double *a)
{
    return cos(t[0]) - a[0];
}

static double firstSine(const double *t, const double *a)
{
    return sin(t[0]) - a[0];
}

static double secondSine(const double *t, const double *a)
{
    return sin(t[1]) - a[0];
}

static double apart(const double *t, const double *a)
{
    return sin(t[0] - t[1] - a[0]);
}

static double apartTwice(const double *t, const double *a)
{
    return sin(2 * (t[0] - t[1] - a[0]));
}

/* Side conditions: all of one sign t = +1 or -1. */
static void sidesAreKept(void **state)
{
    (void)state;
    const double half = 0.5, none = 0;
    begin(2);
    system.f[0] = polynomial(firstCosine, &half);
    system.f[1] = polynomial(secondSine, &half);
    spragTorusSolve(&system, &zeros);
    assert_int_equal(zeros.count, 4);
    system.sign_count = 1; /* sin theta_0 of either sign: no condition */
    system.sign[0] = polynomial(firstSine, &none);
    spragTorusSolve(&system, &zeros);
    assert_int_equal(zeros.count, 4);
    system.sign_count = 2; /* and sin theta_1 = 1/2 of the same: theta_0 = + pi / 3 */
    system.sign[1] = polynomial(secondSine, &none);
    spragTorusSolve(&system, &zeros);
    assert_int_equal(zeros.count, 2);
    for (int z = 0; z < 2; ++z)
        CHECK_NEAR(zeros.zero[z].angle[0], M_PI / 3, 1e-12);
    system.least[1] = 0.6; /* more than sin theta_1 has */
    spragTorusSolve(&system, &zeros);
    assert_int_equal(zeros.count, 0);
}

/* Both equations say theta_0 - theta_1 = 0.4 or 0.4 + pi: two curves, some of whose points stand for them. */
static void curvesAreRepresented(void **state)
{
    (void)state;
    const double turn = 0.4;
    begin(2);
    system.f[0] = polynomial(apart, &turn);
    system.f[1] = polynomial(apartTwice, &turn);
    spragTorusSolve(&system, &zeros);
    assert_false(zeros.incomplete);
    int curve[2] = {0, 0};
    for (int z = 0; z < zeros.count; ++z) {
        assert_true(zeros.zero[z].curve);
        const double *angle = zeros.zero[z].angle;
        CHECK_NEAR(sin(angle[0] - angle[1] - turn), 0, 1e-8);
        ++curve[cos(angle[0] - angle[1] - turn) < 0];
    }
    assert_true(curve[0] > 0 && curve[1] > 0);
    system.possible = never; /* what the caller knows better */
    spragTorusSolve(&system, &zeros);
    assert_int_equal(zeros.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(interpolationIsExact), cmocka_unit_test(zerosOnTheCircle),
                                       cmocka_unit_test(zerosNearAFold),       cmocka_unit_test(zerosOfProducts),
                                       cmocka_unit_test(sidesAreKept),         cmocka_unit_test(curvesAreRepresented)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
