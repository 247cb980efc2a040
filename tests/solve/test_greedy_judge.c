/* What the judge says of all contacts together: their energy, and that one of them is no number. */
#include "support/check.h"

#include "base/pool.h"
#include "solve/greedy/greedy.h"
#include "support/random_contacts.h"

enum { CONTACTS = 4000, BODIES = 900 };

static void makeHeap(spragGreedy *greedy, spragArena *arena)
{
    unsigned long long seed = 7;
    assert_int_equal(spragGreedyInit(greedy, CONTACTS, BODIES, arena), 1);
    randomBodies(greedy, &seed);
    for (int k = 0; k < CONTACTS; ++k) {
        randomContact(greedy, k, &seed);
        greedy->contact[k].mu = 0.4;
        for (int i = 0; i < 3; ++i)
            greedy->contact[k].q[i] = uniform(&seed);
    }
    spragGreedyFill(greedy, 0, CONTACTS);
    spragGreedyBegin(greedy, NULL, NULL);
}

/* r . q + r . J M^-1 J^T r / 2, N s m/s, of all ranges. */
static void energyIsThatOfAll(void **state)
{
    (void)state;
    spragArena arena = {0};
    spragGreedy greedy;
    makeHeap(&greedy, &arena);
    spragGreedyRun(&greedy, 0, 0, 2L * CONTACTS, INFINITY);
    spragGreedyResidual(&greedy, NULL);
    double energy = 0, size = 0;
    for (int k = 0; k < CONTACTS; ++k) {
        const spragGreedyContact *c = &greedy.contact[k];
        double moved[3];
        spragGreedyMotion(&greedy, k, moved);
        for (int i = 0; i < 3; ++i) {
            energy += c->r[i] * (c->q[i] + moved[i] / 2);
            size += fabs(c->r[i] * c->q[i]);
        }
    }
    assert_true(fabs(energy) > 1e-3 * size);
    CHECK_NEAR(greedy.energy, energy, 1e-12 * size);
    spragArenaFree(&arena);
}

/* Whichever range it is in, and whatever the others say. */
static void oneThatIsNoNumberIsTold(void **state)
{
    (void)state;
    assert_true(spragRangeCount(CONTACTS) > 2);
    for (int part = 0; part <= 4; ++part) {
        spragArena arena = {0};
        spragGreedy greedy;
        makeHeap(&greedy, &arena);
        assert_true(isfinite(spragGreedyResidual(&greedy, NULL)));
        greedy.contact[part * (CONTACTS - 1) / 4].q[0] = NAN;
        assert_true(isnan(spragGreedyResidual(&greedy, NULL)));
        spragArenaFree(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(energyIsThatOfAll), cmocka_unit_test(oneThatIsNoNumberIsTold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
