/* Dissection: every edge once, paths up the elimination tree of chains and trees as long as the logarithm of their
 * size, loops and groups of nobody allowed. */
#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/uniform.h"

#include "linalg/block_ldlt.h"
#include "linalg/dissection.h"

enum { EDGES = 1000 };

/* The longest path up the elimination tree; every edge is in the order once. */
static int longestPath(int n, int (*group)[2], int groups)
{
    static int ordered[EDGES][2], order[EDGES], depth[EDGES + 1];
    int longest = 0, seen[EDGES] = {0};
    spragArena arena = {0};
    spragBlockLdlt f;
    assert_true(spragDissect(n, (const int(*)[2])group, groups, order, &arena));
    for (int i = 0; i < n; ++i) {
        assert_in_range(order[i], 0, n - 1);
        assert_int_equal(seen[order[i]]++, 0);
        memcpy(ordered[i], group[order[i]], sizeof ordered[i]);
    }
    assert_true(spragBlockLdltAnalyse(&f, &arena, n, (const int(*)[2])ordered, groups));
    depth[n] = 0;
    for (int i = n - 1; i >= 0; --i) {
        depth[i] = 1 + depth[f.parent[i]];
        longest = depth[i] > longest ? depth[i] : longest;
    }
    spragArenaFree(&arena);
    return longest;
}

static void chainsAndTrees(void **state)
{
    (void)state;
    static int group[EDGES][2];
    for (int n = 1; n <= EDGES; n += n / 3 + 1) {
        const int most = (int)log2(n) + 1;
        for (int i = 0; i < n; ++i)
            group[i][0] = i, group[i][1] = i + 1;
        assert_true(longestPath(n, group, n + 1) <= most);
        for (int i = 0; i < n; ++i) /* held by the world at one end */
            group[i][0] = i - 1, group[i][1] = i;
        assert_true(longestPath(n, group, n) <= most);
        for (int i = 0; i < n; ++i) /* a binary tree: three edges meet in a group */
            group[i][0] = i / 2, group[i][1] = i + 1;
        assert_true(longestPath(n, group, n + 1) <= 3 * most);
    }
}

static void anyGraph(void **state)
{
    (void)state;
    static int group[EDGES][2];
    for (unsigned long long k = 1; k <= 100; ++k) {
        unsigned long long seed = k;
        const int n = 1 + (int)k, groups = 1 + (int)(k / (1 + k % 3));
        for (int i = 0; i < n; ++i) {
            group[i][0] = (int)(fabs(uniform(&seed)) * groups) % groups;
            group[i][1] = (int)(fabs(uniform(&seed)) * (groups + 1)) % (groups + 1) - 1;
        }
        assert_true(longestPath(n, group, groups) <= n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chainsAndTrees), cmocka_unit_test(anyGraph)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
