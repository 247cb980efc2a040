/* Anderson's mixing on iterations whose answer is known. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "solve/anderson.h"

enum { N = 3000 }; /* three pieces */

/* G(x) = x + rate (target - x), rates from 0.002 to 1: plain iteration takes some ten thousand rounds to 1e-10. */
static double rate(int i)
{
    static const double rates[4] = {0.002, 0.03, 0.3, 1};
    return rates[i % 4];
}

static double target(int i)
{
    return sin(i);
}

static int rounds(spragPool *pool, double *x)
{
    static double G[N], weight[N];
    spragArena arena = {0};
    spragAnderson anderson;
    for (int i = 0; i < N; ++i)
        weight[i] = 1 + i % 3;
    memset(x, 0, N * sizeof *x);
    assert_int_equal(spragAndersonInit(&anderson, N, weight, pool, &arena), 1);
    for (int k = 1; k < 1000; ++k) {
        double worst = 0;
        for (int i = 0; i < N; ++i) {
            G[i] = x[i] + rate(i) * (target(i) - x[i]);
            worst = fmax(worst, fabs(x[i] - target(i)));
        }
        if (worst < 1e-10) {
            spragArenaFree(&arena);
            return k;
        }
        spragAndersonLook(&anderson, x, G);
        spragAndersonMix(&anderson, x, G);
    }
    spragArenaFree(&arena);
    return 1000;
}

static void fewRounds(void **state)
{
    (void)state;
    static double x[N], y[N];
    spragPool *pool = spragPoolMake(3);
    assert_true(rounds(NULL, x) < 60);
    assert_true(rounds(pool, y) < 60);
    spragPoolFree(pool);
    assert_memory_equal(x, y, sizeof x); /* the same bits */
}

/* A drift is steady for ever, a decay has a ratio. */
static void driftAndDecay(void **state)
{
    (void)state;
    static double x[N], G[N], weight[N];
    spragArena arena = {0};
    spragAnderson anderson;
    for (int i = 0; i < N; ++i)
        weight[i] = 1, x[i] = 0;
    assert_int_equal(spragAndersonInit(&anderson, N, weight, NULL, &arena), 1);
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < N; ++i)
            G[i] = x[i] + 0.25 * (i % 5);
        spragAndersonLook(&anderson, x, G);
        if (k == 0)
            assert_true(isinf(anderson.turn));
        spragAndersonMix(&anderson, x, G);
    }
    CHECK_NEAR(anderson.turn, 0, 1e-15);
    CHECK_NEAR(anderson.ratio, 1, 1e-15);
    spragAndersonRestart(&anderson);
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < N; ++i)
            G[i] = 0.9 * x[i];
        spragAndersonLook(&anderson, x, G);
        if (k == 0) { /* onwards without a mix */
            spragAndersonMix(&anderson, x, G);
            memcpy(x, G, sizeof x);
        }
    }
    CHECK_NEAR(anderson.turn, 1 / 0.9 - 1, 1e-12);
    CHECK_NEAR(anderson.ratio, 0.9, 1e-12);
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fewRounds), cmocka_unit_test(driftAndDecay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
