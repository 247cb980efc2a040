/* L D L^T within envelopes: random banded matrices, redundant rows, and the part that is not read. */
#include "support/check.h"
#include "support/uniform.h"

#include <string.h>

#include "linalg/ldlt.h"

enum { N = 12 };

static unsigned long long seed = 5;

/* A = B B' with B banded: rows reach `band` columns to the left. */
static void banded(int band, double A[N * N], int first[N])
{
    double B[N * N] = {0};
    memset(A, 0, N * N * sizeof *A);
    for (int i = 0; i < N; ++i) {
        first[i] = i > band ? i - band : 0;
        for (int j = first[i]; j <= i; ++j)
            B[N * i + j] = uniform(&seed) + 2 * (i == j);
    }
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            for (int k = 0; k < N; ++k)
                A[N * i + j] += B[N * i + k] * B[N * j + k];
}

static void solveInEnvelope(double A[N * N], const int first[N], double x[N])
{
    double inverse[N];
    spragLdltFactor(N, first, A, inverse);
    spragLdltForward(N, first, A, 1, 0, x);
    for (int i = 0; i < N; ++i)
        x[i] *= inverse[i];
    spragLdltBackward(N, first, A, x);
}

static void everyBandIsSolved(void **state)
{
    (void)state;
    for (int band = 0; band < N; ++band) {
        double A[N * N], L[N * N], x[N], b[N];
        int first[N];
        banded(band, A, first);
        memcpy(L, A, sizeof L);
        for (int i = 0; i < N; ++i)
            x[i] = b[i] = uniform(&seed);
        solveInEnvelope(L, first, x);
        for (int i = 0; i < N; ++i) {
            double sum = -b[i];
            for (int j = 0; j < N; ++j)
                sum += A[N * i + j] * x[j];
            CHECK_NEAR(sum, 0, 1e-10);
        }
    }
}

/* The same row twice: the second one carries nothing, the equations hold. */
static void aRedundantRowCarriesNothing(void **state)
{
    (void)state;
    double A[N * N], L[N * N], x[N], b[N];
    int first[N];
    banded(N, A, first);
    for (int j = 0; j < N; ++j)
        A[N * (N - 1) + j] = A[N * 3 + j];
    for (int i = 0; i < N; ++i)
        A[N * i + N - 1] = A[N * i + 3];
    memcpy(L, A, sizeof L);
    for (int i = 0; i < N; ++i)
        x[i] = b[i] = i == N - 1 ? b[3] : uniform(&seed);
    solveInEnvelope(L, first, x);
    CHECK_NEAR(x[N - 1], 0, 0);
    for (int i = 0; i < N; ++i) {
        double sum = -b[i];
        for (int j = 0; j < N; ++j)
            sum += A[N * i + j] * x[j];
        CHECK_NEAR(sum, 0, 1e-10);
    }
}

/* Zero rows above `top` are not read. */
static void forwardStartsAtTheTop(void **state)
{
    (void)state;
    double A[N * N], inverse[N], x[2 * N] = {0}, y[2 * N];
    int first[N];
    banded(4, A, first);
    spragLdltFactor(N, first, A, inverse);
    for (int i = 2 * 5; i < 2 * N; ++i)
        x[i] = uniform(&seed);
    memcpy(y, x, sizeof y);
    spragLdltForward(N, first, A, 2, 0, x);
    spragLdltForward(N, first, A, 2, 5, y);
    assert_memory_equal(x, y, sizeof x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyBandIsSolved),
        cmocka_unit_test(aRedundantRowCarriesNothing),
        cmocka_unit_test(forwardStartsAtTheTop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
