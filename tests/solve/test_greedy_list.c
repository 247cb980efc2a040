/* What a round visits is the list that a look at all contacts gives, also where only those are looked at that visits
 * may have changed. */
#include "support/check.h"

#include <string.h>

#include "solve/greedy/greedy_list.h"
#include "support/random_contacts.h"

enum { BODIES = 1000, CONTACTS = 3603, ROUNDS = 600, RUNS = 40 };

static void fill(spragGreedy *greedy, unsigned long long *seed)
{
    randomBodies(greedy, seed);
    for (int k = 0; k < CONTACTS; ++k) {
        randomContact(greedy, k, seed);
        spragGreedyContact *c = &greedy->contact[k];
        c->mu = 0.4;
        c->q[0] = uniform(seed) - 0.5, c->q[1] = uniform(seed), c->q[2] = uniform(seed);
    }
    greedy->pair[CONTACTS - 1][0] = BODIES; /* the world against itself */
    greedy->pair[CONTACTS - 1][1] = BODIES;
    spragGreedyFill(greedy, 0, CONTACTS);
    spragGreedyBegin(greedy, NULL, NULL);
}

static double gainOf(const spragGreedy *greedy, int k)
{
    const int *pair = greedy->pair[k];
    return greedy->gain[k] * (greedy->moved[pair[0]] + greedy->moved[pair[1]] - greedy->seen[k]);
}

/* Returns the greatest gain. */
static double checkList(spragGreedy *greedy, double threshold)
{
    double greatest = 0;
    int count = 0;
    const double told = spragGreedyList(greedy, threshold);
    for (int k = 0; k < CONTACTS; ++k) {
        const double gain = gainOf(greedy, k);
        greatest = gain > greatest ? gain : greatest;
        if (!(gain > threshold))
            continue;
        assert_true(count < greedy->listed);
        assert_int_equal(greedy->list[count++], k);
    }
    assert_int_equal(count, greedy->listed);
    assert_true(told == greatest);
    return greatest;
}

/* What visits do to what is listed: now few, now many. */
static void change(spragGreedy *greedy, unsigned long long *seed)
{
    for (int i = 0; i < greedy->listed; ++i) {
        const int k = greedy->list[i];
        for (int side = 0; side < 2; ++side)
            if (greedy->pair[k][side] < BODIES)
                greedy->moved[greedy->pair[k][side]] += 0.1 * (1 + uniform(seed)) * gainOf(greedy, k);
        greedy->seen[k] = greedy->moved[greedy->pair[k][0]] + greedy->moved[greedy->pair[k][1]];
        greedy->gain[k] = 0.5 + 0.4 * uniform(seed);
    }
}

static void isThatOfAll(void **state)
{
    (void)state;
    spragArena arena = {0};
    spragGreedy greedy;
    unsigned long long seed = 5;
    int few = 0;
    assert_int_equal(spragGreedyInit(&greedy, CONTACTS, BODIES, &arena), 1);
    fill(&greedy, &seed);
    greedy.listed = -1;
    double greatest = checkList(&greedy, INFINITY);
    for (int i = 0; i < ROUNDS; ++i) {
        greatest = checkList(&greedy, (i % 50 == 49 ? 0.05 : 0.9) * greatest);
        few += greedy.listed > 0 && greedy.listed < CONTACTS / 32;
        change(&greedy, &seed);
    }
    assert_true(few > ROUNDS / 2);
    assert_non_null(greedy.near);
    assert_true(greedy.near->passes > few / 2);
    spragArenaFree(&arena);
}

/* Without memory for more it is the same list. */
static void sameWithoutIt(void **state)
{
    (void)state;
    static double first[3 * CONTACTS];
    for (int without = 0; without < 2; ++without) {
        spragArena arena = {0};
        spragGreedy greedy;
        unsigned long long seed = 7;
        assert_int_equal(spragGreedyInit(&greedy, CONTACTS, BODIES, &arena), 1);
        fill(&greedy, &seed);
        greedy.rounds_few = without ? 1 << 20 : 0;
        for (int k = 0; k < RUNS; ++k) { /* of few enough visits to stay in double precision */
            spragGreedyRun(&greedy, 1e-9, 0, greedy.visits + 7L * CONTACTS, INFINITY);
            spragGreedyResidual(&greedy, NULL);
        }
        assert_int_equal(greedy.near == NULL, without);
        for (int k = 0; k < CONTACTS; ++k) {
            if (!without)
                memcpy(first + 3 * k, greedy.contact[k].r, 3 * sizeof *first);
            assert_memory_equal(first + 3 * k, greedy.contact[k].r, 3 * sizeof *first);
        }
        spragArenaFree(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(isThatOfAll), cmocka_unit_test(sameWithoutIt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
