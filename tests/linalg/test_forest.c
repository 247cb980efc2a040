/* Joints and bodies of their own: as many as a spanning forest has, no body twice, and a matrix with columns of the
 * owned bodies alone that has full rank. */
#include "support/check.h"
#include "support/uniform.h"

#include "linalg/forest.h"
#include "linalg/lu.h"

enum { MOST = 60 };

static int drawn(unsigned long long *seed, int count)
{
    return (int)(0.5 * (uniform(seed) + 1) * count) % count;
}

/* Bodies that joints connect, the world (number n) among them: joints that close no loop. */
static int forestSize(int n, int m, int (*of)[2])
{
    int set[MOST + 1], size = 0;
    for (int i = 0; i <= n; ++i)
        set[i] = i;
    for (int j = 0; j < m; ++j) {
        const int a = set[of[j][0] < 0 ? n : of[j][0]], b = set[of[j][1] < 0 ? n : of[j][1]];
        size += a != b;
        for (int i = 0; i <= n; ++i)
            set[i] = set[i] == a ? b : set[i];
    }
    return size;
}

static void checkOwners(int n, int m, int (*of)[2], unsigned long long *seed)
{
    static double A[MOST * MOST];
    int owner[MOST], pivot[MOST], taken[MOST] = {0}, owned[MOST], count = 0;
    spragArena arena = {0};
    assert_true(spragForestFollow(n, m, of[0], owner, &arena));
    spragArenaFree(&arena);
    for (int j = 0; j < m; ++j) {
        if (owner[j] < 0)
            continue;
        assert_true(owner[j] == of[j][0] || owner[j] == of[j][1]);
        assert_int_equal(taken[owner[j]]++, 0);
        owned[count++] = j;
    }
    assert_int_equal(count, forestSize(n, m, of));
    for (int a = 0; a < count; ++a)
        for (int b = 0; b < count; ++b) {
            const int *ends = of[owned[a]], body = owner[owned[b]];
            A[count * a + b] = body == ends[0] || body == ends[1] ? 2 + uniform(seed) : 0;
        }
    assert_int_equal(spragLuFactor(count, A, pivot, 1e-12), count);
}

static void everyJointOfAForestHasABody(void **state)
{
    (void)state;
    int of[MOST][2];
    for (unsigned long long trial = 1; trial <= 300; ++trial) {
        unsigned long long seed = trial;
        const int n = 1 + drawn(&seed, MOST), m = drawn(&seed, MOST);
        for (int j = 0; j < m; ++j) {
            of[j][0] = drawn(&seed, n);
            of[j][1] = (of[j][0] + 1 + drawn(&seed, n)) % (n + 1);
            of[j][1] = of[j][1] == n || of[j][1] == of[j][0] ? -1 : of[j][1];
        }
        checkOwners(n, m, of, &seed);
    }
    for (int held = 0; held < 2; ++held) { /* a chain, free or held at one end */
        unsigned long long seed = 7;
        for (int j = 0; j < MOST - 1; ++j)
            of[j][0] = j, of[j][1] = j + 1 - held > j ? j + 1 : j - 1;
        checkOwners(MOST, MOST - 1, of, &seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyJointOfAForestHasABody)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
