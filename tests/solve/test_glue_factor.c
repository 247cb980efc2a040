/* The factor of a whole heap, soft where tangential rows are a million million times as stiff. */
#include "support/check.h"

#include "solve/glue/glue_factor.h"
#include "support/ball_heap.h"

static unsigned long long seed = 3;
static BallHeap heap;

/* Of conjugate gradients with it a step or two are enough, whatever moves: what is soft is right to some digits. */
static void isNearTheMatrix(void **state)
{
    (void)state;
    spragArena arena = {0};
    for (int trial = 0; trial < 12; ++trial) {
        const double stiff = (double[]){1, 1e4, 1e8, 1e11}[trial % 4];
        makeBallHeap(&heap, 0.4 + 0.03 * trial, stiff, trial % 3 > 0, &seed);
        spragArenaReset(&arena);
        const spragGlueHeap glued = glueHeapOf(&heap);
        spragGlueFactor factor;
        assert_int_equal(spragGlueFactorInit(&factor, &glued, INFINITY, &arena), 1);
        assert_int_equal(spragGlueFactorMake(&factor), 1);
        spragTwist x[BALLS + 1] = {0}, force[BALLS + 1] = {0};
        double energy = 0, left = 0;
        for (int i = 0; i < BALLS; ++i)
            for (int j = 0; j < 6; ++j)
                x[i].at[j] = uniform(&seed);
        ballProduct(&heap, x, force);
        for (int i = 0; i < BALLS; ++i)
            for (int j = 0; j < 6; ++j)
                energy += x[i].at[j] * force[i].at[j];
        spragTwist back[BALLS + 1] = {0}, miss[BALLS + 1] = {0};
        memcpy(back, force, sizeof force);
        spragBlockLuSolve(&factor.lu, back[0].at);
        for (int i = 0; i < BALLS; ++i)
            for (int j = 0; j < 6; ++j)
                back[i].at[j] -= x[i].at[j];
        ballProduct(&heap, back, miss);
        for (int i = 0; i < BALLS; ++i)
            for (int j = 0; j < 6; ++j)
                left += back[i].at[j] * miss[i].at[j];
        assert_true(left <= 1e-8 * energy);
    }
    spragArenaFree(&arena);
}

static void isRefusedWhereItIsDear(void **state)
{
    (void)state;
    spragArena arena = {0};
    const spragGlueHeap glued = glueHeapOf(&heap);
    spragGlueFactor factor;
    makeBallHeap(&heap, 0.5, 10, 1, &seed);
    assert_int_equal(spragGlueFactorInit(&factor, &glued, 10, &arena), -1);
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(isNearTheMatrix), cmocka_unit_test(isRefusedWhereItIsDear)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
