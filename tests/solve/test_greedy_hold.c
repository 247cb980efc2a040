/* Visits of contacts with mu = infinity: none adds to the energy, all are judged as the BOX blocks that they are, and
 * between rounds what does not press parts, and what presses holds. */
#include "support/check.h"

#include "problem/residual.h"
#include "solve/greedy/greedy.h"
#include "solve/greedy/greedy_hold.h"
#include "support/random_heap.h"

/* Whatever the rows ask for, in double precision and in single. */
static void noneAddsToTheEnergy(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 8; ++seed) {
        Heap *heap =
            openHeap((unsigned long long)seed, seed % 4 < 2 ? SPRAG_GREEDY_GLUED : SPRAG_GREEDY_STICKS, 0, seed % 2);
        spragGreedy *greedy = &heap->greedy;
        double before = greedy->energy;
        for (int look = 0; look < 20; ++look) {
            spragGreedyRun(greedy, 1e-12, 0, greedy->visits + 2 * CONTACTS, INFINITY);
            spragGreedyResidual(greedy, NULL);
            if (!(greedy->energy <= before + 1e-5 * fabs(before)))
                fail_msg("seed %d, look %d: energy %.10g after %.10g", seed, look, greedy->energy, before);
            before = greedy->energy;
        }
        assert_true(greedy->energy < 0);
        freeHeap(heap);
    }
}

/* One that holds without pressing, one that does not press and parts, one that presses: as residual.c has them. */
static void theyAreJudgedAsBoxes(void **state)
{
    (void)state;
    const double u[3] = {0.2, 0.3, -0.4}, free[3] = {0, 0, 0}, held[3] = {0, 0.5, 0.1}, pressed[3] = {2, 0, 0};
    CHECK_NEAR(spragStickResidual(1, free, u, 1), 0.5, 1e-15);
    CHECK_NEAR(spragStickResidual(0, free, u, 1), 0, 1e-15);
    CHECK_NEAR(spragStickResidual(0, held, u, 0.1), 0.1 * hypot(0.5, 0.1), 1e-15);
    CHECK_NEAR(spragStickResidual(0, held, u, 10), 0.5, 1e-15);
    CHECK_NEAR(spragStickResidual(0, pressed, u, 1), hypot(0.2, 0.5), 1e-15);
    assert_true(spragStickParts(free, u, 1) && spragStickParts(held, u, 0.1));
    assert_false(spragStickParts(held, u, 10) || spragStickParts(pressed, u, 1));
}

/* After some rounds what parts holds next to nothing, and what presses does not slip. */
static void roundsFindWhatHolds(void **state)
{
    (void)state;
    Heap *heap = openHeap(3, SPRAG_GREEDY_STICKS, 0, 0);
    spragGreedy *greedy = &heap->greedy;
    assert_true(spragGreedySticks(greedy, 0));
    spragGreedyHoldFirst(greedy);
    int parted = 0;
    for (int round = 0; round < 40; ++round) {
        spragGreedyResidual(greedy, NULL);
        spragGreedyRun(greedy, 1e-12, 0, greedy->visits + 200 * CONTACTS, INFINITY);
        if (!spragGreedyHoldAgain(greedy, round % 2 == 0, 1))
            break;
    }
    for (int k = 0; k < CONTACTS; ++k) {
        const spragGreedyContact *c = &greedy->contact[k];
        assert_true(c->mu == SPRAG_GREEDY_STICKS || c->mu == SPRAG_GREEDY_PARTED);
        if (c->mu == SPRAG_GREEDY_PARTED) {
            ++parted;
            assert_true(c->r[1] == 0 && c->r[2] == 0);
        }
    }
    assert_true(parted > CONTACTS / 10 && parted < CONTACTS);
    freeHeap(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(noneAddsToTheEnergy), cmocka_unit_test(theyAreJudgedAsBoxes),
                                       cmocka_unit_test(roundsFindWhatHolds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
