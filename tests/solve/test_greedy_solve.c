/* How long to visit: until the judge is content, the work is used up, or W is worth forming; and what rests stays. */
#include "support/greedy_heap.h"

#include "solve/greedy/greedy_solve.h"

static double judge(const Heap *heap)
{
    double r[N];
    impulses(heap, r);
    return spragProblemResidual(&heap->random.problem, r);
}

static void endsWhereTheJudgeIsContent(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        Heap *heap = makeHeap(seed);
        const spragSolveOptions options = {.tolerance = 1e-5};
        spragSolveInfo info;
        double u[N];
        const spragStatus status = spragGreedySolve(&options, &heap->greedy, NULL, u, &info);
        const double residual = judge(heap);
        assert_true(status == (residual <= options.tolerance ? SPRAG_OK : SPRAG_NOT_CONVERGED));
        CHECK_NEAR(info.residual, residual, 1e-9 * residual + 1e-14);
        assert_true(info.iterations > 0 && info.method_iterations[SPRAG_SOLVER_GAUSS_SEIDEL] == info.iterations);
        freeHeap(heap);
    }
}

/* With a limit the best of what it has seen comes back, no worse than the guess. */
static void limitsAreKept(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        Heap *heap = makeHeap(seed);
        const spragSolveOptions options = {.tolerance = 1e-13, .iteration_limit = 2};
        spragSolveInfo info;
        double u[N];
        assert_int_equal(spragGreedySolve(&options, &heap->greedy, NULL, u, &info), SPRAG_LIMIT);
        assert_int_equal(info.iterations, 2);
        assert_true(info.residual <= heap->greedy.begun * (1 + 1e-12));
        CHECK_NEAR(info.residual, judge(heap), 1e-9 * info.residual);
        freeHeap(heap);
    }
}

/* From an answer nothing is visited that does not stir. */
static void anAnswerStays(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        Heap *heap = makeHeap(seed);
        spragGreedyBegin(&heap->greedy, NULL, NULL);
        spragGreedyRun(&heap->greedy, 1e-13, 0, 100000L * NC, INFINITY);
        double before[N], after[N], u[N];
        impulses(heap, before);
        const spragSolveOptions options = {.tolerance = 1e-8};
        spragSolveInfo info;
        heap->greedy.visits = 0;
        assert_int_equal(spragGreedySolveRest(&options, 0, 1e-9, &heap->greedy, NULL, u, &info), SPRAG_OK);
        assert_int_equal(heap->greedy.visits, 0);
        assert_int_equal(spragGreedySolveStirred(&options, &heap->greedy, NULL, u, &info), SPRAG_OK);
        assert_int_equal(heap->greedy.visits, 0);
        impulses(heap, after);
        for (int i = 0; i < N; ++i)
            CHECK_NEAR(after[i], before[i], 1e-12);
        freeHeap(heap);
    }
}

static void timeDecidesWhetherWMayCome(void **state)
{
    (void)state;
    Heap *heap = makeHeap(3);
    assert_true(spragGreedyMayEnd(&heap->greedy, 1));
    assert_false(spragGreedyMayEnd(&heap->greedy, 1e-9));
    freeHeap(heap);
}

/* Bodies on the ground, some of which are thrown at it so fast that what is left is rounding: from look to look these
 * alone are visited. */
static void roundingIsNotLookedAtForEver(void **state)
{
    (void)state;
    enum { MANY = 200 };
    const double fast = 1e12; /* m/s */
    spragArena arena = {0};
    spragGreedy greedy;
    double u[3 * MANY];
    assert_true(spragGreedyInit(&greedy, MANY, MANY, &arena));
    greedy.body[MANY] = (spragGreedyBody){0};
    for (int k = 0; k < MANY; ++k) {
        greedy.body[k] = (spragGreedyBody){.inverse_mass = 0.3 + 0.001 * k};
        spragGreedyContact *c = &greedy.contact[k];
        *c = (spragGreedyContact){.direction = {{0.6, 0, 0.8}, {0, 1, 0}, {-0.8, 0, 0.6}}, .mu = 0.5};
        for (int i = 0; i < 3; ++i)
            c->arm[0][i] = 0.1 * (i + 1);
        c->q[0] = k % 20 == 7 ? -fast : -0.1;
        c->q[1] = k % 20 == 7 ? fast / 3 : 0;
        greedy.pair[k][0] = k, greedy.pair[k][1] = MANY;
    }
    spragGreedyFill(&greedy, 0, MANY);
    const spragSolveOptions options = {.tolerance = 1e-6};
    spragSolveInfo info;
    assert_int_equal(spragGreedySolveStirred(&options, &greedy, NULL, u, &info), SPRAG_LIMIT);
    assert_true(info.residual > options.tolerance && info.residual < 1e-12 * fast);
    assert_true(greedy.visits < 4 * MANY);
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endsWhereTheJudgeIsContent),
        cmocka_unit_test(limitsAreKept),
        cmocka_unit_test(anAnswerStays),
        cmocka_unit_test(timeDecidesWhetherWMayCome),
        cmocka_unit_test(roundingIsNotLookedAtForEver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
