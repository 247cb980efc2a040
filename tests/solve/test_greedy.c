/* Gauss-Seidel on velocities of bodies: its products are those of W = J M^-1 J^T, it comes to the answer of the problem
 * with that W, and visits what is far off before what is content. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "linalg/vec3.h"
#include "support/greedy_heap.h"

static void productIsThatOfW(void **state)
{
    (void)state;
    Heap *heap = makeHeap(11);
    unsigned long long seed = 5;
    for (int k = 0; k < NC; ++k)
        for (int i = 0; i < 3; ++i)
            heap->greedy.contact[k].r[i] = uniform(&seed);
    spragGreedySum(&heap->greedy);
    for (int k = 0; k < NC; ++k) {
        double u[3], expected[3] = {0};
        spragGreedyMotion(&heap->greedy, k, u);
        for (int l = 0; l < NC; ++l)
            spragMulAdd33(expected, heap->random.W + 9 * (NC * k + l), heap->greedy.contact[l].r);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(u[i], expected[i], 1e-12);
    }
    freeHeap(heap);
}

/* The velocities carried along through all visits are still those of the impulses, and the judge is content. */
static void comesToTheAnswer(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        Heap *heap = makeHeap(seed);
        double r[N];
        spragGreedySum(&heap->greedy);
        spragGreedyBegin(&heap->greedy, NULL, NULL);
        assert_int_equal(heap->greedy.visits, 0);
        spragGreedyRun(&heap->greedy, 1e-12, 0, 100000L * NC, INFINITY);
        impulses(heap, r);
        const double residual = spragProblemResidual(&heap->random.problem, r);
        if (!(residual <= 1e-9))
            fail_msg("seed %llu: residual %g after %ld visits", seed, residual, heap->greedy.visits);
        double carried[NC][3], summed[3];
        for (int k = 0; k < NC; ++k)
            spragGreedyMotion(&heap->greedy, k, carried[k]);
        spragGreedySum(&heap->greedy);
        for (int k = 0; k < NC; ++k) {
            spragGreedyMotion(&heap->greedy, k, summed);
            for (int i = 0; i < 3; ++i)
                CHECK_NEAR(carried[k][i], summed[i], 1e-11);
        }
        freeHeap(heap);
    }
}

/* One contact is made wrong in an answer: fewer visits mend it than sweeps of all would make. */
static void visitsWhatIsWrong(void **state)
{
    (void)state;
    Heap *heap = makeHeap(3);
    spragGreedy *greedy = &heap->greedy;
    spragGreedySum(greedy);
    spragGreedyBegin(greedy, NULL, NULL);
    spragGreedyRun(greedy, 1e-12, 0, 100000L * NC, INFINITY);
    spragGreedyBegin(greedy, NULL, NULL);
    spragGreedyRun(greedy, 1e-9, 0, 100L * NC, INFINITY);
    assert_int_equal(greedy->visits, 0); /* it was content */
    freeHeap(heap);
}

/* Steps back to the best that the judge has seen. */
static void bestIsKept(void **state)
{
    (void)state;
    Heap *heap = makeHeap(6);
    spragGreedy *greedy = &heap->greedy;
    double u[N], r[N], back[N];
    spragGreedyBegin(greedy, NULL, NULL);
    spragGreedyRun(greedy, 0, 0, 5 * NC, INFINITY);
    const double residual = spragGreedyResidual(greedy, u);
    impulses(heap, r);
    for (int k = 0; k < NC; ++k)
        greedy->contact[k].r[0] += 1;
    spragGreedySum(greedy);
    assert_true(spragGreedyResidual(greedy, u) > 2 * residual);
    CHECK_NEAR(spragGreedyBest(greedy, u), residual, 1e-12);
    impulses(heap, back);
    for (int i = 0; i < N; ++i)
        CHECK_NEAR(back[i], r[i], 0);
    CHECK_NEAR(spragProblemResidual(&heap->random.problem, r), residual, 1e-12);
    freeHeap(heap);
}

/* A body between two walls that all but face each other, squeezed with 1e6 N s: hardly anything moves it along the
 * normals, and the least energy has it so, but along the walls it is thrown.  The guess is dropped. */
static void selfStressIsNoGuess(void **state)
{
    (void)state;
    const double off = 1e-4; /* rad */
    spragArena arena = {0};
    spragGreedy greedy;
    assert_int_equal(spragGreedyInit(&greedy, 2, 1, &arena), 1);
    greedy.body[0] = (spragGreedyBody){.inverse_mass = 1};
    greedy.body[1] = (spragGreedyBody){.inverse_mass = 0}; /* the world */
    for (int k = 0; k < 2; ++k) {
        spragGreedyContact *c = &greedy.contact[k];
        const double n[3] = {0, k * sin(off), k == 0 ? 1 : -cos(off)};
        *c = (spragGreedyContact){.mu = 0.5, .q = {-0.1}, .r = {1e6}};
        memcpy(greedy.pair[k], (int[2]){0, 1}, sizeof greedy.pair[k]);
        memcpy(c->direction[0], n, sizeof n);
        c->direction[1][0] = 1;
        spragCross3(c->direction[2], c->direction[0], c->direction[1]);
    }
    spragGreedyFill(&greedy, 0, 2);
    spragGreedyBegin(&greedy, NULL, NULL);
    assert_true(greedy.best_residual <= 0.1);
    spragArenaFree(&arena);
}

static void stopsInTime(void **state)
{
    (void)state;
    Heap *heap = makeHeap(4);
    spragGreedySum(&heap->greedy);
    spragGreedyBegin(&heap->greedy, NULL, NULL);
    spragGreedyRun(&heap->greedy, 0, 3 * NC, 1000000, 0); /* the deadline is long past */
    assert_in_range(heap->greedy.visits, 3 * NC, 5 * NC);
    spragGreedyRun(&heap->greedy, 0, 0, 40 * NC, INFINITY);
    assert_in_range(heap->greedy.visits, 40 * NC, 41 * NC);
    freeHeap(heap);
}

enum { MANY = 3000, BODIES_MANY = 1200, THREADS = 4 };

static void solveMany(void *data, int worker, int piece)
{
    (void)worker, (void)piece;
    spragGreedy *greedy = data;
    spragGreedyBegin(greedy, NULL, NULL);
    const double before = greedy->best_residual;
    spragGreedyRun(greedy, 1e-3 * before, 0, 7L * MANY, INFINITY); /* too few to go by eights */
    double kept[2][3], summed[2][3];
    spragGreedyMotion(greedy, 0, kept[0]);
    spragGreedyMotion(greedy, MANY - 1, kept[1]);
    assert_true(spragGreedyResidual(greedy, NULL) < 0.6 * before);
    spragGreedySum(greedy);
    spragGreedyMotion(greedy, 0, summed[0]);
    spragGreedyMotion(greedy, MANY - 1, summed[1]);
    for (int i = 0; i < 6; ++i)
        CHECK_NEAR(kept[i / 3][i % 3], summed[i / 3][i % 3], 1e-10);
}

/* Rounds of many contacts are shared out: the same bits for any number of threads, and
 * velocities that are those of the impulses. */
static void sharedRoundsKeepBits(void **state)
{
    (void)state;
    static double first[3 * MANY];
    for (int threads = 0; threads <= THREADS; ++threads) {
        spragArena arena = {0};
        spragGreedy greedy;
        unsigned long long seed = 3;
        assert_int_equal(spragGreedyInit(&greedy, MANY, BODIES_MANY, &arena), 1);
        assert_in_range(greedy.part_count, 2, 8);
        randomBodies(&greedy, &seed);
        for (int k = 0; k < MANY; ++k) {
            randomContact(&greedy, k, &seed);
            spragGreedyContact *c = &greedy.contact[k];
            c->mu = 0.4;
            c->q[0] = uniform(&seed) - 0.5, c->q[1] = uniform(&seed), c->q[2] = uniform(&seed);
        }
        spragGreedyFill(&greedy, 0, MANY);
        spragPool *pool = threads == 0 ? NULL : spragPoolMake(threads);
        spragPoolRun(pool, solveMany, &greedy, 1);
        for (int k = 0; k < MANY; ++k) {
            if (threads == 0)
                memcpy(first + 3 * k, greedy.contact[k].r, 3 * sizeof *first);
            assert_memory_equal(first + 3 * k, greedy.contact[k].r, 3 * sizeof *first);
        }
        spragPoolFree(pool);
        spragArenaFree(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(productIsThatOfW),     cmocka_unit_test(comesToTheAnswer),
        cmocka_unit_test(visitsWhatIsWrong),    cmocka_unit_test(bestIsKept),
        cmocka_unit_test(selfStressIsNoGuess),  cmocka_unit_test(stopsInTime),
        cmocka_unit_test(sharedRoundsKeepBits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
