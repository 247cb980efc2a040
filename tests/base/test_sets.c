/* Disjoint sets. */
#include "support/check.h"

#include "base/sets.h"

/* Joined at random: the same sets as by looking at all pairs, and the least member stands for its set. */
static void setsAreThoseOfAllPairs(void **state)
{
    (void)state;
    enum { COUNT = 40, ROUNDS = 200 };
    unsigned long long seed = 7;
    for (int round = 0; round < ROUNDS; ++round) {
        int parent[COUNT], root[COUNT];
        for (int i = 0; i < COUNT; ++i)
            parent[i] = root[i] = i;
        for (int n = 0; n < round % COUNT; ++n) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            const int a = (int)(seed >> 33) % COUNT, b = (int)(seed >> 49) % COUNT;
            assert_int_equal(spragSetJoin(parent, a, b), root[a] != root[b]);
            const int low = root[a] < root[b] ? root[a] : root[b], high = root[a] < root[b] ? root[b] : root[a];
            for (int i = 0; i < COUNT; ++i)
                root[i] = root[i] == high ? low : root[i];
        }
        for (int i = 0; i < COUNT; ++i)
            assert_int_equal(spragSetFind(parent, i), root[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setsAreThoseOfAllPairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
