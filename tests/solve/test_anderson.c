/* Anderson's mixing on iterations whose answer is known. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "solve/sweep/anderson.h"

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

static const int start[] = {0, 1000, 1001, N};
enum { PIECES = sizeof start / sizeof *start - 1 };

static void iterate(void *data, int worker, int piece)
{
    (void)worker;
    spragAnderson *anderson = data;
    for (int i = start[piece]; i < start[piece + 1]; ++i) {
        assert_memory_equal(&anderson->x[i], &anderson->G[i], sizeof(double));
        anderson->G[i] = anderson->x[i] + rate(i) * (target(i) - anderson->x[i]);
    }
    spragAndersonGather(anderson, piece);
}

static void begin(spragAnderson *anderson, const double *weight, spragPool *pool, spragArena *arena)
{
    assert_int_equal(spragAndersonInit(anderson, PIECES, start, weight, pool, arena), 1);
    memset(anderson->x, 0, N * sizeof(double));
    memset(anderson->G, 0, N * sizeof(double));
}

static int rounds(spragPool *pool, double *x)
{
    static double weight[N];
    spragArena arena = {0};
    spragAnderson anderson;
    for (int i = 0; i < N; ++i)
        weight[i] = 1 + i % 3;
    begin(&anderson, weight, pool, &arena);
    for (int k = 1; k < 1000; ++k) {
        double worst = 0;
        for (int i = 0; i < N; ++i)
            worst = fmax(worst, fabs(anderson.x[i] - target(i)));
        if (worst < 1e-10) {
            memcpy(x, anderson.x, N * sizeof *x);
            spragArenaFree(&arena);
            return k;
        }
        spragPoolRun(pool, iterate, &anderson, PIECES);
        spragAndersonLook(&anderson);
        spragAndersonMix(&anderson);
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

static void lookAtAll(spragAnderson *anderson)
{
    for (int piece = 0; piece < PIECES; ++piece)
        spragAndersonGather(anderson, piece);
    spragAndersonLook(anderson);
}

/* A drift is steady for ever, a decay has a ratio. */
static void driftAndDecay(void **state)
{
    (void)state;
    static double weight[N];
    spragArena arena = {0};
    spragAnderson anderson;
    for (int i = 0; i < N; ++i)
        weight[i] = 1;
    begin(&anderson, weight, NULL, &arena);
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < N; ++i)
            anderson.G[i] = anderson.x[i] + 0.25 * (i % 5);
        lookAtAll(&anderson);
        if (k == 0)
            assert_true(isinf(anderson.turn));
        spragAndersonMix(&anderson);
    }
    CHECK_NEAR(anderson.turn, 0, 1e-15);
    CHECK_NEAR(anderson.ratio, 1, 1e-15);
    spragAndersonRestart(&anderson);
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < N; ++i)
            anderson.G[i] = 0.9 * anderson.x[i];
        lookAtAll(&anderson);
        if (k == 0) /* the first one after a start goes on without a mix */
            spragAndersonMix(&anderson);
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
