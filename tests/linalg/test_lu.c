/* Dense LU: solutions, sign of the determinant, rank, and equilibration in any units. */
#include "support/check.h"
#include "support/uniform.h"

#include "linalg/lu.h"

#include <string.h>

enum { N = 12 };

static unsigned long long seed = 1;

static void randomSystemsAreSolved(void **state)
{
    (void)state;
    for (int round = 0; round < 200; ++round) {
        const int n = 1 + round % N;
        double A[N * N], F[N * N], x[N], b[N];
        int pivot[N];
        for (int i = 0; i < n * n; ++i)
            A[i] = uniform(&seed);
        for (int i = 0; i < n; ++i)
            x[i] = uniform(&seed);
        for (int i = 0; i < n; ++i) {
            b[i] = 0;
            for (int j = 0; j < n; ++j)
                b[i] += A[n * i + j] * x[j];
        }
        memcpy(F, A, sizeof A);
        assert_int_equal(spragLuFactor(n, F, pivot, 1e-14), n);
        spragLuSolve(n, F, pivot, b);
        double error = 0;
        for (int i = 0; i < n; ++i) {
            double residual = 0;
            for (int j = 0; j < n; ++j)
                residual += A[n * i + j] * (b[j] - x[j]);
            error = fmax(error, fabs(residual));
        }
        CHECK_NEAR(error, 0, 1e-12);
    }
}

static void theSignIsThatOfTheDeterminant(void **state)
{
    (void)state;
    int pivot[3];
    double even[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0}, odd[9] = {0, 1, 0, 1, 0, 0, 0, 0, 1}, turned[4] = {0, 1, 1, 0};
    assert_int_equal(spragLuFactor(3, even, pivot, 1e-14), 3);
    assert_int_equal(spragLuSign(3, even, pivot), 1);
    assert_int_equal(spragLuFactor(3, odd, pivot, 1e-14), 3);
    assert_int_equal(spragLuSign(3, odd, pivot), -1);
    assert_int_equal(spragLuFactor(2, turned, pivot, 1e-14), 2);
    assert_int_equal(spragLuSign(2, turned, pivot), -1);
}

/* Rows and columns in any units: after equilibration the entries are those of the matrix with a largest entry near
 * one in every row, and exactly A = R A' C. */
static void equilibrationIsExact(void **state)
{
    (void)state;
    enum { M = 5 };
    double A[M * M], B[M * M], row[M], column[M];
    for (int i = 0; i < M * M; ++i)
        A[i] = B[i] = i % M == 3 ? 0 : uniform(&seed) * pow(10, 40 * (i / M) - 70 - 30 * (i % M));
    spragLuEquilibrate(M, B, row, column);
    for (int i = 0; i < M; ++i) {
        double largest = 0;
        for (int j = 0; j < M; ++j) {
            assert_true(row[i] * B[M * i + j] * column[j] == A[M * i + j]);
            largest = fmax(largest, fabs(B[M * i + j]));
        }
        assert_true(largest >= 1 && largest < 2);
    }
}

/* Rank two of three, whatever the scale; a pivot at the zero test's threshold falls, above it stands. */
static void rankIsFoundAtEveryScale(void **state)
{
    (void)state;
    for (double scale = 1e-100; scale < 1e101; scale *= 1e50) {
        int pivot[3];
        double A[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
        for (int i = 0; i < 9; ++i)
            A[i] *= scale;
        assert_int_equal(spragLuFactor(3, A, pivot, 1e-14), 2);
        double above[4] = {scale, 0, 0, 2e-12 * scale}, below[4] = {scale, 0, 0, 0.5e-12 * scale};
        assert_int_equal(spragLuFactor(2, above, pivot, 1e-12), 2);
        assert_int_equal(spragLuFactor(2, below, pivot, 1e-12), 1);
    }
    double zero[4] = {0};
    int pivot[2];
    assert_int_equal(spragLuFactor(2, zero, pivot, 1e-12), 0);
    assert_int_equal(spragLuSign(2, zero, pivot), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(randomSystemsAreSolved),
        cmocka_unit_test(theSignIsThatOfTheDeterminant),
        cmocka_unit_test(rankIsFoundAtEveryScale),
        cmocka_unit_test(equilibrationIsExact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
