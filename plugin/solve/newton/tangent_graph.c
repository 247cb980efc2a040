#include "solve/newton/tangent_graph.h"

#include "linalg/forest.h"

/* The joints of every body, as 2 joint + side: s = head[i] is the first of body i, head[n + s] the next, -1 the end.
 * NULL: no memory. */
static int *listJoints(const spragTangent *t, spragArena *arena)
{
    const int n = t->bodies->count, sides = 2 * spragTangentLinks(t);
    int *head = SPRAG_TAKE_RAW(arena, int, n + sides);
    for (int i = 0; i < n && head != NULL; ++i)
        head[i] = -1;
    for (int s = sides - 1; s >= 0 && head != NULL; --s) {
        const int body = t->bodies->links->of[s];
        if (body >= 0)
            head[n + s] = head[body], head[body] = s;
    }
    return head;
}

/* The rows of joints, below those of the bodies, which have `count` blocks. */
static void addLinkRows(const spragTangent *t, int count, int *row_start, int *column)
{
    const int n = t->bodies->count;
    for (int j = 0; j < spragTangentLinks(t); ++j) {
        row_start[n + j] = count;
        column[count++] = n + j;
        for (int side = 0; side < 2; ++side) {
            const int body = t->bodies->links->of[2 * j + side];
            t->link_entry[4 * j + 2 * side + 1] = count;
            if (body >= 0)
                column[count++] = body;
        }
    }
    row_start[n + spragTangentLinks(t)] = count;
}

/* list[first[i] .. first[i + 1] - 1]: the sides of contacts that body i is on. */
static void listSides(spragTangent *t)
{
    const spragBodies *bodies = t->bodies;
    const int n = bodies->count, sides = 2 * t->problem->contact_count;
    int *first = t->first;
    for (int s = 0; s < sides; ++s)
        if (bodies->of[s] >= 0)
            ++first[bodies->of[s] + 2];
    for (int i = 2; i <= n + 1; ++i)
        first[i] += first[i - 1];
    for (int s = 0; s < sides; ++s)
        if (bodies->of[s] >= 0)
            t->list[first[bodies->of[s] + 1]++] = s;
}

/* The graph of bodies that touch, joints after them, and where the pairs of bodies of each contact and joint are in it.
 * 0: no memory. */
static int makeGraph(spragTangent *t, spragBlockPattern *pattern, spragArena *arena)
{
    const spragBodies *bodies = t->bodies;
    const int nc = t->problem->contact_count, n = bodies->count, m = spragTangentLinks(t);
    const int *joint = listJoints(t, arena);
    t->first = SPRAG_TAKE(arena, int, n + 2), t->list = SPRAG_TAKE_RAW(arena, int, 2 * nc);
    int *seen = SPRAG_TAKE_RAW(arena, int, n), *place = SPRAG_TAKE_RAW(arena, int, n);
    int *row_start = SPRAG_TAKE_RAW(arena, int, n + m + 1);
    int *column = SPRAG_TAKE_RAW(arena, int, n + 2 * nc + 5 * m);
    t->entry = SPRAG_TAKE_RAW(arena, int, 4 * (nc + m));
    if (t->first == NULL || t->list == NULL || seen == NULL || place == NULL || row_start == NULL || column == NULL ||
        t->entry == NULL || joint == NULL)
        return 0;
    t->link_entry = t->entry + 4 * (size_t)nc;
    listSides(t);
    int count = 0;
    for (int i = 0; i < n; ++i)
        seen[i] = -1;
    for (int i = 0; i < 4 * nc; ++i)
        t->entry[i] = -1;
    for (int i = 0; i < n; ++i) {
        row_start[i] = count;
        seen[i] = i, place[i] = count;
        column[count++] = i;
        for (int l = t->first[i]; l < t->first[i + 1]; ++l) {
            const int s = t->list[l], k = s / 2, side = s % 2, other = bodies->of[2 * k + 1 - side];
            if (other >= 0 && seen[other] != i) {
                seen[other] = i, place[other] = count;
                column[count++] = other;
            }
            int *entry = t->entry + 4 * (size_t)k + 2 * side;
            entry[side] = place[i];
            entry[1 - side] = other >= 0 ? place[other] : -1;
        }
        for (int s = joint[i]; s >= 0; s = joint[n + s]) {
            t->link_entry[4 * (s / 2) + 2 * (s % 2)] = count;
            column[count++] = n + s / 2;
        }
    }
    addLinkRows(t, count, row_start, column);
    *pattern = (spragBlockPattern){6, n + m, row_start, column};
    return 1;
}

int spragTangentGraphAnalyse(spragTangent *t, double price_most, spragArena *arena)
{
    const spragBodies *bodies = t->bodies;
    const int n = bodies->count, m = spragTangentLinks(t);
    spragBlockPattern pattern;
    if (!makeGraph(t, &pattern, arena))
        return 0;
    if (m == 0)
        return spragBlockLuAnalyseAgain(&t->lu, bodies->memo, &pattern, price_most, arena);
    int *after = SPRAG_TAKE_RAW(arena, int, m);
    if (after == NULL || !spragForestFollow(n, m, bodies->links->of, after, arena))
        return 0;
    return spragBlockLuAnalyseSaddle(&t->lu, &pattern, n, after, price_most, arena);
}
