/* The dense factorisation in fine arithmetic: random systems, signs of determinants, and digits that double has not. */
#include "support/check.h"
#include "support/uniform.h"

#include "linalg/fine.h"

#include <float.h>
#include <string.h>

enum { N = 12 };

static void randomSystemsAreSolvedToItsRounding(void **state)
{
    (void)state;
    unsigned long long seed = 4;
    for (int round = 0; round < 200; ++round) {
        const int n = 1 + round % N;
        spragFine A[N * N], x[N], b[N], worst = 0;
        int pivot[N];
        for (int i = 0; i < n * n; ++i)
            A[i] = uniform(&seed);
        for (int i = 0; i < n; ++i)
            x[i] = uniform(&seed);
        spragFine F[N * N];
        memcpy(F, A, sizeof F);
        for (int i = 0; i < n; ++i) {
            b[i] = 0;
            for (int j = 0; j < n; ++j)
                b[i] += A[n * i + j] * x[j];
        }
        assert_true(spragFineFactor(n, F, pivot) != 0);
        spragFineSolve(n, F, pivot, b);
        for (int i = 0; i < n; ++i) {
            spragFine residual = 0;
            for (int j = 0; j < n; ++j)
                residual += A[n * i + j] * (b[j] - x[j]);
            worst = spragFineMax(worst, fabsl(residual));
        }
        assert_true(worst <= 1e3L * LDBL_EPSILON);
    }
}

/* Permutations and reflections of a diagonal; a matrix of rank one. */
static void theSignIsThatOfTheDeterminant(void **state)
{
    (void)state;
    int pivot[3];
    spragFine even[9] = {0, 2, 0, 0, 0, 3, 4, 0, 0}, odd[9] = {0, 2, 0, 3, 0, 0, 0, 0, 4};
    spragFine negative[9] = {-1, 0, 0, 0, 2, 0, 0, 0, 3}, both[9] = {0, -2, 0, 3, 0, 0, 0, 0, 4};
    spragFine flat[9] = {1, 2, 3, 2, 4, 6, 3, 6, 9};
    assert_int_equal(spragFineFactor(3, even, pivot), 1);
    assert_int_equal(spragFineFactor(3, odd, pivot), -1);
    assert_int_equal(spragFineFactor(3, negative, pivot), -1);
    assert_int_equal(spragFineFactor(3, both, pivot), 1);
    assert_int_equal(spragFineFactor(3, flat, pivot), 0);
}

/* [1 1; 1 1 + e] x = (2, 2 + e): x = (1, 1) for an e that 1 + e has no place for in double. */
static void digitsBeyondDouble(void **state)
{
    (void)state;
    if (LDBL_EPSILON >= DBL_EPSILON)
        skip(); /* where long double is double */
    const spragFine e = 4 * LDBL_EPSILON;
    spragFine A[4] = {1, 1, 1, 1 + e}, x[2] = {2, 2 + e};
    int pivot[2];
    assert_int_equal(spragFineFactor(2, A, pivot), 1);
    spragFineSolve(2, A, pivot, x);
    CHECK_NEAR((double)x[0], 1, 0);
    CHECK_NEAR((double)x[1], 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(randomSystemsAreSolvedToItsRounding),
                                       cmocka_unit_test(theSignIsThatOfTheDeterminant),
                                       cmocka_unit_test(digitsBeyondDouble)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
