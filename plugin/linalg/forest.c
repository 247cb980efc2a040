#include "linalg/forest.h"

#include "base/sets.h"

int spragForestFollow(int n, int m, const int *of, int *owner, spragArena *arena)
{
    const spragArenaMark mark = spragArenaMarkGet(arena);
    int *parent = SPRAG_TAKE_RAW(arena, int, n + 1); /* the world is number n */
    int *left = SPRAG_TAKE(arena, int, 2 * n);       /* of each body: how many joints not yet owned, */
    if (parent == NULL || left == NULL)
        return 0;
    int *mixed = left + n; /* and the exclusive or of their numbers: of a leaf that is the number itself */
    for (int i = 0; i <= n; ++i)
        parent[i] = i;
    for (int j = 0; j < m; ++j) {
        const int a = of[2 * j] < 0 ? n : of[2 * j], b = of[2 * j + 1] < 0 ? n : of[2 * j + 1];
        owner[j] = -1;
        if (!spragSetJoin(parent, a, b)) /* it would close a loop */
            continue;
        for (int side = 0; side < 2; ++side)
            if (of[2 * j + side] >= 0)
                ++left[of[2 * j + side]], mixed[of[2 * j + side]] ^= j;
    }
    for (int i = 0; i < n; ++i)
        for (int leaf = i; leaf >= 0 && left[leaf] == 1;) {
            const int j = mixed[leaf], other = of[2 * j] == leaf ? of[2 * j + 1] : of[2 * j];
            owner[j] = leaf;
            left[leaf] = 0;
            if (other >= 0)
                --left[other], mixed[other] ^= j;
            leaf = other;
        }
    spragArenaRelease(arena, mark);
    return 1;
}
