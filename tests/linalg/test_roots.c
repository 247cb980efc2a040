/* Polynomials with known roots: real, in complex pairs, double, far apart, in any units. */
#include "support/check.h"
#include "support/uniform.h"

#include "linalg/roots.h"

/* a := a (t - r) */
static int times(int degree, double *a, double r)
{
    a[degree + 1] = a[degree];
    for (int k = degree; k > 0; --k)
        a[k] = a[k - 1] - r * a[k];
    a[0] *= -r;
    return degree + 1;
}

/* a := a ((t - x)^2 + y^2) */
static int timesPair(int degree, double *a, double x, double y)
{
    double b[SPRAG_ROOTS_DEGREE + 1] = {0};
    for (int k = 0; k <= degree; ++k) {
        b[k] += a[k] * (x * x + y * y);
        b[k + 1] -= 2 * x * a[k];
        b[k + 2] += a[k];
    }
    for (int k = 0; k <= degree + 2; ++k)
        a[k] = b[k];
    return degree + 2;
}

/* Distinct roots, at least 0.05 apart, and pairs off the axis, in units of t and of the polynomial. */
static void knownRootsAreFound(void **state)
{
    (void)state;
    unsigned long long seed = 17;
    int counts[5] = {0};
    for (int round = 0; round < 5000; ++round) {
        const double unit = pow(10, round % 13 - 6), size = pow(10, round % 7 * 3 - 9);
        double a[SPRAG_ROOTS_DEGREE + 1] = {1}, root[SPRAG_ROOTS_DEGREE], real[4], found = 0;
        int degree = 0, n = 0;
        const int pairs = round % 3, reals = (pairs == 2 ? 0 : pairs == 1 ? round / 3 % 3 : 2 + round / 3 % 3);
        for (int k = 0; k < pairs; ++k)
            degree = timesPair(degree, a, uniform(&seed) * unit, (0.1 + fabs(uniform(&seed))) * unit);
        while (n < reals) {
            const double r = uniform(&seed);
            int apart = 1;
            for (int k = 0; k < n; ++k)
                apart &= fabs(r - real[k] / unit) > 0.05;
            if (!apart)
                continue;
            int at = n++;
            for (; at > 0 && real[at - 1] > r * unit; --at)
                real[at] = real[at - 1];
            real[at] = r * unit;
            degree = times(degree, a, r * unit);
        }
        if (degree < 2)
            continue;
        for (int k = 0; k <= degree; ++k)
            a[k] *= size;
        const int count = spragRealRoots(degree, a, 3 * unit, root);
        assert_int_equal(count, n);
        for (int k = 0; k < n; ++k)
            found = fmax(found, fabs(root[k] - real[k]) / unit);
        CHECK_NEAR(found, 0, 1e-10);
        ++counts[n];
    }
    for (int n = 0; n <= 4; ++n)
        assert_true(counts[n] > 200);
}

/* (t - r)^2 times what is left: once, not twice or never, however its coefficients are rounded. */
static void doubleRootsCountOnce(void **state)
{
    (void)state;
    unsigned long long seed = 23;
    for (int round = 0; round < 2000; ++round) {
        double a[SPRAG_ROOTS_DEGREE + 1] = {1}, root[SPRAG_ROOTS_DEGREE], nearest = INFINITY;
        const double r = 0.5 * uniform(&seed);
        int degree = times(times(0, a, r), a, r), others = 0;
        if (round % 3 == 1)
            degree = timesPair(degree, a, uniform(&seed), 0.2 + fabs(uniform(&seed)));
        if (round % 3 == 2) {
            degree = times(times(degree, a, -1.3), a, 1.7);
            others = 2;
        }
        const int count = spragRealRoots(degree, a, 10, root);
        assert_int_equal(count, 1 + others);
        for (int k = 0; k < count; ++k)
            nearest = fmin(nearest, fabs(root[k] - r));
        CHECK_NEAR(nearest, 0, 1e-7);
    }
}

/* Only what is inside the bound, also where the polynomial turns outside. */
static void boundsAreKept(void **state)
{
    (void)state;
    const double cubic[4] = {-6, 11, -6, 1}, line[3] = {2, -4, 0}, flat[3] = {1, 0, 0}; /* roots 1, 2, 3; 1/2; none */
    double root[SPRAG_ROOTS_DEGREE];
    assert_int_equal(spragRealRoots(3, cubic, 10, root), 3);
    assert_int_equal(spragRealRoots(3, cubic, 2.5, root), 2);
    CHECK_NEAR(root[1], 2, 1e-15);
    assert_int_equal(spragRealRoots(3, cubic, 1.2, root), 1);
    CHECK_NEAR(root[0], 1, 1e-15);
    assert_int_equal(spragRealRoots(3, cubic, 0.5, root), 0);
    assert_int_equal(spragRealRoots(2, line, 10, root), 1);
    CHECK_NEAR(root[0], 0.5, 0);
    assert_int_equal(spragRealRoots(2, flat, 10, root), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(knownRootsAreFound), cmocka_unit_test(doubleRootsCountOnce),
                                       cmocka_unit_test(boundsAreKept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
