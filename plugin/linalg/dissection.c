#include "linalg/dissection.h"

#include <string.h>

typedef struct Forest {
    const int (*group)[2];
    int *parent; /* (n) edge towards the root, or -1 */
    int *size;   /* (n) edges from it on, within its part */
    int *part;   /* (n) */
    int *rest;   /* (n) room */
    int parts;
} Forest;

/* Edges of each group: list[first[g] .. first[g + 1] - 1]. */
static void listEdges(int n, const int (*group)[2], int groups, int *first, int *list)
{
    memset(first, 0, (size_t)(groups + 2) * sizeof *first);
    for (int i = 0; i < 2 * n; ++i)
        if (group[i / 2][i % 2] >= 0)
            ++first[group[i / 2][i % 2] + 2];
    for (int g = 2; g <= groups + 1; ++g)
        first[g] += first[g - 1];
    for (int i = 0; i < 2 * n; ++i)
        if (group[i / 2][i % 2] >= 0)
            list[first[group[i / 2][i % 2] + 1]++] = i / 2;
}

/* Edges in the order in which they are met from the roots outwards, those that close loops at the end.  Returns how
 * many do not.  seen (groups): 0; queue (groups). */
static int spread(Forest *forest, int n, int groups, const int *first, const int *list, int *seen, int *queue,
                  int *order)
{
    int count = 0, closing = n, *by = forest->size; /* by: 1, the edge is in the order */
    memset(by, 0, (size_t)n * sizeof *by);
    for (int root = 0, head = 0, tail = 0; root < groups; ++root) {
        if (seen[root] == 0)
            seen[root] = -1, queue[tail++] = root;
        for (; head < tail; ++head)
            for (int l = first[queue[head]]; l < first[queue[head] + 1]; ++l) {
                const int e = list[l], near = queue[head];
                const int far = forest->group[e][forest->group[e][0] == near];
                if (by[e])
                    continue;
                by[e] = 1;
                forest->parent[e] = seen[near] > 0 ? seen[near] - 1 : -1;
                if (far >= 0 && seen[far] != 0) {
                    order[--closing] = e;
                    continue;
                }
                order[count++] = e;
                if (far >= 0)
                    seen[far] = e + 1, queue[tail++] = far;
            }
    }
    return count;
}

/* edge (n): a part, from its root outwards; out in the order of elimination. */
static void dissect(Forest *forest, int *edge, int n)
{
    while (n > 1) {
        const int part = forest->part[edge[0]];
        int best = edge[0], worst = n;
        for (int i = 0; i < n; ++i)
            forest->size[edge[i]] = 1;
        for (int i = n - 1; i >= 0; --i) {
            const int e = edge[i], parent = forest->parent[e], below = forest->size[e] - 1, above = n - 1 - below;
            if (parent >= 0 && forest->part[parent] == part)
                forest->size[parent] += forest->size[e];
            if ((below > above ? below : above) < worst)
                worst = below > above ? below : above, best = e;
        }
        const int beyond = ++forest->parts;
        int near = 0, far = 0;
        for (int i = 0; i < n; ++i) {
            const int e = edge[i], parent = forest->parent[e];
            if (e == best)
                continue;
            if (parent >= 0 && (parent == best || forest->part[parent] == beyond)) {
                forest->part[e] = beyond;
                forest->rest[far++] = e;
            } else {
                edge[near++] = e;
            }
        }
        memcpy(edge + near, forest->rest, (size_t)far * sizeof *edge);
        edge[n - 1] = best;
        forest->part[best] = ++forest->parts;
        dissect(forest, edge + (near < far ? 0 : near), near < far ? near : far);
        if (near < far)
            edge += near;
        n = near < far ? far : near;
    }
}

int spragDissect(int n, const int (*group)[2], int group_count, int *order, spragArena *arena)
{
    const spragArenaMark mark = spragArenaMarkGet(arena);
    int *room = SPRAG_TAKE(arena, int, 6 * n + 3 * group_count + 2);
    if (room == NULL)
        return 0;
    int *first = room + 6 * n, *seen = first + group_count + 2, *queue = seen + group_count;
    Forest forest = {.group = group, .parent = room, .size = room + n, .part = room + 2 * n, .rest = room + 3 * n};
    listEdges(n, group, group_count, first, room + 4 * n);
    dissect(&forest, order, spread(&forest, n, group_count, first, room + 4 * n, seen, queue, order));
    spragArenaRelease(arena, mark);
    return 1;
}
