/* Solution sets of rank-deficient systems, and their points in friction cones. */
#include "support/check.h"
#include "support/uniform.h"

#include <string.h>

#include "analysis/affine.h"

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* K = L R of the given rank, times `scale`. */
static void productOf(unsigned long long *seed, int rows, int columns, int rank, double scale, double *K)
{
    double L[AFFINE_MAX * AFFINE_MAX], R[AFFINE_MAX * AFFINE_MAX];
    for (int i = 0; i < rows * rank; ++i)
        L[i] = uniform(seed);
    for (int i = 0; i < rank * columns; ++i)
        R[i] = uniform(seed);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            K[columns * i + j] = 0;
            for (int k = 0; k < rank; ++k)
                K[columns * i + j] += scale * L[rank * i + k] * R[columns * k + j];
        }
}

/* Whatever the shape, rank and scale: K point = c, K null = 0, null vectors orthonormal, point across them. */
static void setsAreThoseOfTheSystem(void **state)
{
    (void)state;
    unsigned long long seed = 1;
    for (int round = 0; round < 2000; ++round) {
        const int rows = 1 + round % AFFINE_MAX, columns = 1 + round / AFFINE_MAX % AFFINE_MAX;
        const int full = rows < columns ? rows : columns, rank = 1 + round % full;
        const double scale = pow(10, round % 19 - 9);
        double K[AFFINE_MAX * AFFINE_MAX], x[AFFINE_MAX], c[AFFINE_MAX], size = 0;
        AffineSet set;
        productOf(&seed, rows, columns, rank, scale, K);
        for (int j = 0; j < columns; ++j)
            x[j] = uniform(&seed);
        for (int i = 0; i < rows; ++i)
            c[i] = dot(columns, K + columns * i, x), size = fmax(size, fabs(c[i]));
        spragAffineSolve(rows, columns, K, c, size, &set);
        assert_true(set.consistent);
        assert_int_equal(set.columns, columns);
        assert_int_equal(set.nulls, columns - rank);
        for (int i = 0; i < rows; ++i)
            CHECK_NEAR(dot(columns, K + columns * i, set.point), c[i], 1e-7 * scale);
        assert_true(dot(columns, set.point, set.point) <= dot(columns, x, x) * (1 + 1e-6)); /* the shortest */
        for (int a = 0; a < set.nulls; ++a) {
            CHECK_NEAR(dot(columns, set.null[a], set.point), 0, 1e-9 * sqrt(dot(columns, set.point, set.point)));
            for (int i = 0; i < rows; ++i)
                CHECK_NEAR(dot(columns, K + columns * i, set.null[a]), 0, 1e-7 * scale);
            for (int b = 0; b < set.nulls; ++b)
                CHECK_NEAR(dot(columns, set.null[a], set.null[b]), a == b, 1e-14);
        }
    }
}

/* A part of c that K does not reach: no solution where it is more than rounding of `scale`. */
static void contradictionsAreSeen(void **state)
{
    (void)state;
    const double K[4] = {1, 2, 2, 4}, none[2] = {1, 2 + 1e-6}, nearly[2] = {1, 2 + 1e-12};
    AffineSet set;
    spragAffineSolve(2, 2, K, none, 2, &set);
    assert_false(set.consistent);
    spragAffineSolve(2, 2, K, none, 1e4, &set);
    assert_true(set.consistent);
    spragAffineSolve(2, 2, K, nearly, 2, &set);
    assert_true(set.consistent);
    assert_int_equal(set.nulls, 1);
    CHECK_NEAR(set.point[0], 0.2, 1e-11);
    CHECK_NEAR(set.point[1], 0.4, 1e-11);
}

static void violationsAreMeasured(void **state)
{
    (void)state;
    const double x[3] = {2, 3, -4};
    const AffineCone inside = {0, 1, 2, 1, 3}, outside = {0, 1, 2, 1, 2}, other = {0, 1, 2, -1, 1},
                     line = {0, 1, -1, 1, 1};
    const AffineCone both[2] = {inside, outside};
    CHECK_NEAR(spragAffineViolation(1, &inside, x), -1, 0);
    CHECK_NEAR(spragAffineViolation(1, &outside, x), 1, 0);
    CHECK_NEAR(spragAffineViolation(1, &other, x), 7, 0);
    CHECK_NEAR(spragAffineViolation(1, &line, x), 1, 0);
    CHECK_NEAR(spragAffineViolation(2, both, x), 1, 0);
}

/* A weightless body between two walls that lean by `angle` from facing each other (points apart along x, normals (cos,
 * sin) and (-cos, sin)), loaded by `load` along y: forces n_1, t_1, n_2, t_2 with
 *     x:     (n_1 - n_2) cos - (t_1 - t_2) sin = 0,
 *     y:     (n_1 + n_2) sin + (t_1 + t_2) cos = load,
 *     turn:  what is left of y, alike.
 * Pressed out of the wedge (load < 0) it is held iff the line of the points is inside both cones: mu >= tan(angle). */
static int wedgeHolds(double angle, double mu, double load, double unit)
{
    const double c = cos(angle), s = sin(angle);
    const double K[12] = {c, -s, -c, s, s, c, s, c, s, c, -s, -c};
    const double right[3] = {0, load, 0};
    const AffineCone cone[2] = {{0, 1, -1, 1, mu}, {2, 3, -1, 1, mu}};
    double scaled[12], x[AFFINE_MAX] = {0};
    AffineSet set;
    for (int i = 0; i < 12; ++i)
        scaled[i] = unit * K[i];
    spragAffineSolve(3, 4, scaled, right, fabs(load), &set);
    assert_true(set.consistent);
    assert_int_equal(set.nulls, 1);
    if (!spragAffineFeasible(&set, 2, cone, fabs(load) / unit, x))
        return 0;
    for (int i = 0; i < 3; ++i)
        CHECK_NEAR(dot(4, scaled + 4 * i, x), right[i], 1e-9 * fabs(load));
    assert_true(spragAffineViolation(2, cone, x) <= 1e-9 * sqrt(dot(4, x, x)));
    return 1;
}

static void wedgesHoldAboveTheirAngle(void **state)
{
    (void)state;
    for (double angle = 0.1; angle < 1.2; angle += 0.1)
        for (double unit = 1e-6; unit < 1e7; unit *= 1e4)
            for (double load = -1e3; load < -1e-10; load *= 1e-4) {
                assert_true(wedgeHolds(angle, tan(angle) * 1.01, load, unit));
                assert_false(wedgeHolds(angle, tan(angle) * 0.99, load, unit));
            }
}

/* Sets with three free directions: a point where one is known to be inside, none where a cut says so. */
static void pointsAreFoundInSpace(void **state)
{
    (void)state;
    unsigned long long seed = 12;
    for (int round = 0; round < 200; ++round) {
        double K[6 * 9], x[9], c[6], found[AFFINE_MAX], size = 0;
        const AffineCone cone[3] = {{0, 1, 2, 1, 0.5}, {3, 4, 5, 1, 0.8}, {6, 7, 8, -1, 0.3}};
        AffineSet set;
        productOf(&seed, 6, 9, 6, 1, K);
        for (int k = 0; k < 3; ++k) { /* inside by a third of the cone */
            const double angle = 4 * uniform(&seed), n = 1.5 + uniform(&seed), t = 0.67 * cone[k].mu * n;
            x[3 * k] = cone[k].sign * n, x[3 * k + 1] = t * cos(angle), x[3 * k + 2] = t * sin(angle);
        }
        for (int i = 0; i < 6; ++i)
            c[i] = dot(9, K + 9 * i, x), size = fmax(size, fabs(c[i]));
        spragAffineSolve(6, 9, K, c, size, &set);
        assert_int_equal(spragAffineFeasible(&set, 3, cone, size, found), 1);
        assert_true(spragAffineViolation(3, cone, found) <= 1e-9 * sqrt(dot(9, found, found)));
        for (int j = 0; j < 9; ++j) /* x_0 + x_3 - x_6 < 0, the first row now: no cones have that */
            K[j] = j == 0 || j == 3 ? 1 : j == 6 ? -1 : 0;
        c[0] = -0.1;
        spragAffineSolve(6, 9, K, c, size, &set);
        assert_int_equal(spragAffineFeasible(&set, 3, cone, size, found), 0);
    }
}

/* x_0 = x_1 through 0: along the diagonal where both cones allow it, with the sign they ask for. */
static void theApexIsLeft(void **state)
{
    (void)state;
    const double K[2] = {1, -1}, zero = 0;
    AffineSet set;
    spragAffineSolve(1, 2, K, &zero, 1, &set);
    for (int sign = -1; sign <= 1; sign += 2) {
        const AffineCone both[2] = {{0, -1, -1, sign, 1}, {1, -1, -1, sign, 1}},
                         opposed[2] = {{0, -1, -1, sign, 1}, {1, -1, -1, -sign, 1}};
        double x[AFFINE_MAX] = {0};
        assert_int_equal(spragAffineOffApex(&set, 2, opposed, 3, x), 0);
        CHECK_NEAR(x[0], 0, 0);
        assert_int_equal(spragAffineOffApex(&set, 2, both, 3, x), 1);
        CHECK_NEAR(x[0], sign * 3 / sqrt(2), 1e-14);
        CHECK_NEAR(x[1], x[0], 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setsAreThoseOfTheSystem), cmocka_unit_test(contradictionsAreSeen),
        cmocka_unit_test(violationsAreMeasured),   cmocka_unit_test(wedgesHoldAboveTheirAngle),
        cmocka_unit_test(pointsAreFoundInSpace),   cmocka_unit_test(theApexIsLeft)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
