/* The similarities of parts of a heap: on their span the coarse space is the inverse itself. */
#include "support/check.h"

#include "solve/glue/glue_coarse.h"
#include "support/ball_heap.h"

static unsigned long long seed = 11;
static BallHeap heap;

/* v = a + w x p + s p, its own of each part. */
static void moveParts(const spragGlueCoarse *coarse, spragTwist *v)
{
    double own[BALLS][7];
    for (int part = 0; part < coarse->size / 7; ++part)
        for (int m = 0; m < 7; ++m)
            own[part][m] = uniform(&seed);
    for (int i = 0; i < BALLS; ++i) {
        const double *y = own[coarse->part[i] / 7], *p = heap.center[i];
        double turn[3];
        spragCross3(turn, y + 3, p);
        for (int j = 0; j < 3; ++j) {
            v[i].at[j] = y[j] + turn[j] + y[6] * p[j];
            v[i].at[3 + j] = y[3 + j];
        }
    }
}

static void invertsOnItsSpan(void **state)
{
    (void)state;
    spragArena arena = {0};
    for (int trial = 0; trial < 12; ++trial) {
        const int parts = (int[]){1, 2, 7, BALLS, 2 * BALLS}[trial % 5], loose = trial % 2;
        makeBallHeap(&heap, trial < 6 ? 0.4 : 0.7, 100, !loose, &seed);
        spragArenaReset(&arena);
        const spragGlueHeap glued = glueHeapOf(&heap);
        spragGlueCoarse coarse;
        assert_true(spragGlueCoarseInit(&coarse, &glued, parts, &arena));
        assert_int_equal(coarse.size, 7 * (parts < BALLS ? parts : BALLS));
        if (parts >= BALLS)
            continue; /* a body alone has no growth: its seventh row is nothing */
        spragGlueCoarseFactor(&coarse);
        spragTwist v[BALLS + 1] = {0}, force[BALLS + 1] = {0}, back[BALLS + 1] = {0};
        moveParts(&coarse, v);
        ballProduct(&heap, v, force);
        spragGlueCoarseAdd(&coarse, force, back);
        for (int i = 0; i < BALLS; ++i)
            for (int j = 0; j < 6; ++j)
                CHECK_NEAR(back[i].at[j], v[i].at[j], 1e-9);
    }
    spragArenaFree(&arena);
}

/* Of a heap that touches nothing else: nothing slides, whatever moves it as a whole. */
static void similaritiesDoNotSlide(void **state)
{
    (void)state;
    spragArena arena = {0};
    makeBallHeap(&heap, 0.5, 1e10, 0, &seed);
    const spragGlueHeap glued = glueHeapOf(&heap);
    spragGlueCoarse coarse;
    assert_true(spragGlueCoarseInit(&coarse, &glued, 1, &arena));
    spragTwist v[BALLS + 1] = {0};
    moveParts(&coarse, v);
    for (int k = 0; k < heap.contacts; ++k) {
        double d[3];
        ballSlip(&heap, k, v, d);
        const double normal = spragDot3(d, heap.contact[k].n);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(d[i], normal * heap.contact[k].n[i], 1e-14);
    }
    spragArenaFree(&arena);
}

/* Two heaps, and bodies that nothing holds. */
static void heapsApart(void **state)
{
    (void)state;
    spragArena arena = {0};
    makeBallHeap(&heap, 0.4, 100, 0, &seed);
    int kept = 0;
    for (int k = 0; k < heap.contacts; ++k) {
        const int *body = heap.contact[k].body, a = body[0] % 3, b = body[1] % 3;
        if (a == b && a < 2)
            heap.contact[kept++] = heap.contact[k];
    }
    heap.contacts = kept;
    const spragGlueHeap glued = glueHeapOf(&heap);
    spragGlueCoarse coarse;
    assert_true(spragGlueCoarseInit(&coarse, &glued, 4, &arena));
    spragGlueCoarseFactor(&coarse);
    spragTwist x[BALLS + 1] = {0}, out[BALLS + 1] = {0};
    for (int i = 0; i < BALLS; ++i)
        x[i].at[i % 6] = 1;
    spragGlueCoarseAdd(&coarse, x, out);
    for (int i = 0; i < BALLS; ++i)
        for (int j = 0; j < 6; ++j)
            assert_true(isfinite(out[i].at[j]));
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(invertsOnItsSpan), cmocka_unit_test(similaritiesDoNotSlide),
                                       cmocka_unit_test(heapsApart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
