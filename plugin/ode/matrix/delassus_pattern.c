#include "ode/matrix/delassus_pattern.h"

#include <stdint.h>
#include <string.h>

#include "base/pool.h"

/* ---------------------------------------------------------------- who is on what */

typedef struct Grouping {
    const spragSnapshot *snapshot;
    const int *body; /* (block_count x 2) */
    int (*group)[2];
} Grouping;

static void groupRange(void *data, int range, int first, int end)
{
    (void)range;
    const Grouping *grouping = data;
    const spragSnapshot *s = grouping->snapshot;
    for (int k = first; k < end; ++k) {
        int *group = grouping->group[k];
        const int *body = grouping->body + 2 * (size_t)k;
        group[0] = spragIsDynamic(s, body[0]) ? s->body[body[0]].place : -1;
        group[1] = spragIsDynamic(s, body[1]) ? s->body[body[1]].place : -1;
        if (group[1] == group[0])
            group[1] = -1;
    }
}

int spragAdjacencyMake(struct spragWorld *world, spragIsland *island, spragAdjacency *adjacency)
{
    const int count = island->block_count;
    int *start = SPRAG_TAKE(&island->lane->arena, int, island->body_count + 2);
    adjacency->start = island->on_start = start;
    adjacency->list = island->on = SPRAG_TAKE_RAW(&island->lane->arena, int, 2 * count);
    adjacency->group = spragArenaTakeRaw(&island->lane->scratch, (size_t)count, sizeof *adjacency->group);
    if (start == NULL || adjacency->list == NULL || adjacency->group == NULL)
        return 0;
    spragRangesRun(count, groupRange, &(Grouping){&world->snapshot, island->problem.body, adjacency->group});
    for (int k = 0; k < count; ++k)
        for (int side = 0; side < 2; ++side)
            if (adjacency->group[k][side] >= 0)
                ++start[adjacency->group[k][side] + 2];
    for (int i = 2; i <= island->body_count + 1; ++i)
        start[i] += start[i - 1];
    for (int k = 0; k < count; ++k)
        for (int side = 0; side < 2; ++side)
            if (adjacency->group[k][side] >= 0)
                adjacency->list[start[adjacency->group[k][side] + 1]++] = k;
    return 1;
}

/* ---------------------------------------------------------------- the pattern */

/* Columns of block row k: the merge of the lists of its groups.  Returns how many; column NULL: only that. */
static int mergeColumns(const spragAdjacency *adjacency, int k, int *column)
{
    int at[2] = {0, 0}, end[2] = {0, 0}, count = 0;
    for (int side = 0; side < 2; ++side) {
        const int group = adjacency->group[k][side];
        if (group >= 0) {
            at[side] = adjacency->start[group];
            end[side] = adjacency->start[group + 1];
        }
    }
    while (at[0] < end[0] || at[1] < end[1]) {
        const int a = at[0] < end[0] ? adjacency->list[at[0]] : INT32_MAX;
        const int b = at[1] < end[1] ? adjacency->list[at[1]] : INT32_MAX;
        at[0] += a <= b;
        at[1] += b <= a;
        if (column != NULL)
            column[count] = a < b ? a : b;
        ++count;
    }
    return count;
}

/* Blocks side by side join the same bodies more often than not: their rows have the same columns. */
static int repeats(const spragAdjacency *adjacency, int k)
{
    return memcmp(adjacency->group[k], adjacency->group[k - 1], sizeof *adjacency->group) == 0;
}

typedef struct Pattern {
    const spragAdjacency *adjacency;
    int *row_start, *column;
} Pattern;

/* row_start[k + 1]: columns of row k, first .. end - 1. */
static void countRange(void *data, int range, int first, int end)
{
    (void)range;
    const Pattern *pattern = data;
    for (int k = first; k < end; ++k)
        pattern->row_start[k + 1] = k > first && repeats(pattern->adjacency, k)
                                        ? pattern->row_start[k]
                                        : mergeColumns(pattern->adjacency, k, NULL);
}

static void columnRange(void *data, int range, int first, int end)
{
    (void)range;
    const Pattern *pattern = data;
    for (int k = first; k < end; ++k) {
        const int start = pattern->row_start[k], count = pattern->row_start[k + 1] - start;
        if (k > first && repeats(pattern->adjacency, k))
            memcpy(pattern->column + start, pattern->column + start - count, (size_t)count * sizeof(int));
        else
            mergeColumns(pattern->adjacency, k, pattern->column + start);
    }
}

size_t spragPatternBound(const spragIsland *island, const spragAdjacency *adjacency)
{
    size_t sum = 0;
    for (int k = 0; k < island->block_count; ++k)
        for (int side = 0; side < 2; ++side)
            if (adjacency->group[k][side] >= 0)
                sum += (size_t)(adjacency->start[adjacency->group[k][side] + 1] -
                                adjacency->start[adjacency->group[k][side]]);
    return sum;
}

int spragPatternMake(spragIsland *island, const spragAdjacency *adjacency, size_t bound)
{
    const int count = island->block_count;
    if (bound > SPRAG_PATTERN_MOST) {
        spragIslandFail(island,
                        "a heap in which so many contacts share bodies that their matrix would take more than 2.4 GB");
        return 1;
    }
    int *row_start = SPRAG_TAKE_RAW(&island->lane->arena, int, count + 1);
    Pattern pattern = {adjacency, row_start, NULL};
    if (row_start == NULL)
        return 0;
    row_start[0] = 0;
    spragRangesRun(count, countRange, &pattern);
    for (int k = 0; k < count; ++k)
        row_start[k + 1] += row_start[k];
    int *column = pattern.column = SPRAG_TAKE_RAW(&island->lane->arena, int, row_start[count]);
    if (column == NULL)
        return 0;
    spragRangesRun(count, columnRange, &pattern);
    island->problem.contact_count = count;
    island->problem.block_count = row_start[count];
    island->problem.row_start = row_start;
    island->problem.column = column;
    return 1;
}

int spragPatternMakeDiagonal(spragIsland *island)
{
    const int n = island->block_count;
    int *row_start = SPRAG_TAKE_RAW(&island->lane->arena, int, 2 * n + 1);
    if (row_start == NULL)
        return 0;
    int *column = row_start + n + 1;
    for (int k = 0; k < n; ++k)
        row_start[k] = column[k] = k;
    row_start[n] = n;
    island->problem.contact_count = island->problem.block_count = n;
    island->problem.row_start = row_start;
    island->problem.column = column;
    return 1;
}
