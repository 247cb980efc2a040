/* Two steps: a spanning forest of the graph, and then, part by part, the edge that leaves the smaller of the two sides
 * largest.  Such an edge exists near the middle of every tree (its centroid), and is the last of its part. */
#include "linalg/dissection.h"

#include <string.h>

typedef struct Forest {
    int n, groups;         /* edges, groups */
    const int (*group)[2]; /* (n) ends of an edge, -1: none */
    int *first, *list;     /* edges of group g: list[first[g] .. first[g + 1] - 1] */
    int *parent;           /* (n) the next edge towards the root, or -1 */
    int *size;             /* (n) edges of the same part from this one outwards, itself included */
    int *part;             /* (n) which part it is in */
    int *rest;             /* (n) room */
    int *seen;             /* (groups) 0: not yet reached, -1: a root, e + 1: by edge e */
    int *queue;            /* (groups) */
    int parts;             /* so far */
} Forest;

static void listEdges(Forest *f)
{
    for (int i = 0; i < 2 * f->n; ++i)
        if (f->group[i / 2][i % 2] >= 0)
            ++f->first[f->group[i / 2][i % 2] + 2];
    for (int g = 2; g <= f->groups + 1; ++g)
        f->first[g] += f->first[g - 1];
    for (int i = 0; i < 2 * f->n; ++i)
        if (f->group[i / 2][i % 2] >= 0)
            f->list[f->first[f->group[i / 2][i % 2] + 1]++] = i / 2;
}

/* Breadth first from every group not yet reached: order (n) gets the edges from the roots outwards, and at its end
 * those that close loops.  Returns how many do not. */
static int spread(Forest *f, int *order)
{
    int count = 0, closing = f->n, *met = f->size; /* met: 1, the edge is in the order */
    for (int root = 0, head = 0, tail = 0; root < f->groups; ++root) {
        if (f->seen[root] == 0)
            f->seen[root] = -1, f->queue[tail++] = root;
        for (; head < tail; ++head) {
            const int near = f->queue[head];
            for (int l = f->first[near]; l < f->first[near + 1]; ++l) {
                const int e = f->list[l], far = f->group[e][f->group[e][0] == near];
                if (met[e])
                    continue;
                met[e] = 1;
                f->parent[e] = f->seen[near] > 0 ? f->seen[near] - 1 : -1;
                if (far >= 0 && f->seen[far] != 0) {
                    order[--closing] = e;
                    continue;
                }
                order[count++] = e;
                if (far >= 0)
                    f->seen[far] = e + 1, f->queue[tail++] = far;
            }
        }
    }
    return count;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The edge (n, from the root outwards) that parts the others most evenly. */
static int middleOf(Forest *f, const int *edge, int n)
{
    const int part = f->part[edge[0]];
    int best = edge[0], least = n;
    for (int i = 0; i < n; ++i)
        f->size[edge[i]] = 1;
    for (int i = n - 1; i >= 0; --i) {
        const int e = edge[i], parent = f->parent[e], beyond = f->size[e] - 1,
                  larger_side = larger(beyond, n - 1 - beyond);
        if (parent >= 0 && f->part[parent] == part)
            f->size[parent] += f->size[e];
        if (larger_side < least)
            least = larger_side, best = e;
    }
    return best;
}

/* edge (n): a part, from its root outwards; out in the order of elimination.  The smaller side by recursion, so that it
 * is no deeper than log2 n. */
static void dissect(Forest *f, int *edge, int n)
{
    while (n > 1) {
        const int middle = middleOf(f, edge, n), beyond = ++f->parts;
        int near = 0, far = 0;
        for (int i = 0; i < n; ++i) {
            const int e = edge[i], parent = f->parent[e];
            if (e == middle)
                continue;
            if (parent >= 0 && (parent == middle || f->part[parent] == beyond)) {
                f->part[e] = beyond;
                f->rest[far++] = e;
            } else {
                edge[near++] = e;
            }
        }
        memcpy(edge + near, f->rest, (size_t)far * sizeof *edge);
        edge[n - 1] = middle;
        f->part[middle] = ++f->parts;
        dissect(f, edge + (near < far ? 0 : near), near < far ? near : far);
        if (near < far)
            edge += near;
        n = larger(near, far);
    }
}

int spragDissect(int n, const int (*group)[2], int group_count, int *order, spragArena *arena)
{
    const spragArenaMark mark = spragArenaMarkGet(arena);
    int *room = SPRAG_TAKE(arena, int, 6 * n + 3 * group_count + 2);
    if (room == NULL)
        return 0;
    Forest forest = {.n = n, .groups = group_count, .group = group};
    forest.parent = room, forest.size = room + n, forest.part = room + 2 * n, forest.rest = room + 3 * n;
    forest.list = room + 4 * n, forest.first = room + 6 * n;
    forest.seen = forest.first + group_count + 2, forest.queue = forest.seen + group_count;
    listEdges(&forest);
    dissect(&forest, order, spread(&forest, order));
    spragArenaRelease(arena, mark);
    return 1;
}
