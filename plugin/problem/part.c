#include "problem/part.h"

#include <string.h>

/* Copies of the entries of `block`, `size` bytes each; NULL where there are none, or no memory (*taken = 0). */
static void *entriesOf(const void *array, size_t size, const int *block, int count, spragArena *arena, int *taken)
{
    if (array == NULL)
        return NULL;
    unsigned char *copy = spragArenaTakeRaw(arena, (size_t)count, size);
    *taken &= copy != NULL;
    for (int i = 0; i < count && copy != NULL; ++i)
        memcpy(copy + size * (size_t)i, (const unsigned char *)array + size * (size_t)block[i], size);
    return copy;
}

/* W of the part: the blocks (k, j) with both in it.  place (nc): number in the part, or -1. */
static int takeMatrix(const spragProblem *whole, const int *block, int count, const int *place, spragArena *arena,
                      spragProblem *part)
{
    int *row_start = SPRAG_TAKE_RAW(arena, int, count + 1);
    if (row_start == NULL)
        return 0;
    row_start[0] = 0;
    for (int i = 0; i < count; ++i) {
        row_start[i + 1] = row_start[i];
        for (int e = whole->row_start[block[i]]; e < whole->row_start[block[i] + 1]; ++e)
            row_start[i + 1] += place[whole->column[e]] >= 0;
    }
    int *column = SPRAG_TAKE_RAW(arena, int, row_start[count]);
    double *W = SPRAG_TAKE_RAW(arena, double, 9 * (size_t)row_start[count]);
    if (column == NULL || W == NULL)
        return 0;
    for (int i = 0, n = 0; i < count; ++i)
        for (int e = whole->row_start[block[i]]; e < whole->row_start[block[i] + 1]; ++e)
            if (place[whole->column[e]] >= 0) {
                column[n] = place[whole->column[e]];
                memcpy(W + 9 * (size_t)n++, whole->W + 9 * (size_t)e, 9 * sizeof *W);
            }
    part->block_count = row_start[count];
    part->row_start = row_start, part->column = column, part->W = W;
    return 1;
}

int spragPartTakeBy(const spragProblem *whole, const int *block, int count, int *place, spragArena *arena,
                    spragProblem *part)
{
    int taken = 1;
    for (int i = 0; i < count; ++i)
        place[block[i]] = i;
    int *parent = entriesOf(whole->parent, sizeof *parent, block, count, arena, &taken);
    for (int i = 0; i < count && parent != NULL; ++i)
        parent[i] = parent[i] >= 0 ? place[parent[i]] : -1;
    *part = (spragProblem){
        .contact_count = count,
        .q = entriesOf(whole->q, 3 * sizeof *whole->q, block, count, arena, &taken),
        .mu = entriesOf(whole->mu, sizeof *whole->mu, block, count, arena, &taken),
        .mu_minus = entriesOf(whole->mu_minus, sizeof *whole->mu_minus, block, count, arena, &taken),
        .kind = entriesOf(whole->kind, sizeof *whole->kind, block, count, arena, &taken),
        .bound = entriesOf(whole->bound, 6 * sizeof *whole->bound, block, count, arena, &taken),
        .parent = parent,
        .body = entriesOf(whole->body, 2 * sizeof *whole->body, block, count, arena, &taken),
        .history = entriesOf(whole->history, sizeof *whole->history, block, count, arena, &taken),
        .step = whole->step,
        .asymmetry = whole->asymmetry,
    };
    taken = taken && takeMatrix(whole, block, count, place, arena, part);
    for (int i = 0; i < count; ++i)
        place[block[i]] = -1;
    return taken;
}

int spragPartTake(const spragProblem *whole, const int *block, int count, spragArena *arena, spragProblem *part)
{
    int *place = SPRAG_TAKE_RAW(arena, int, whole->contact_count);
    for (int k = 0; k < whole->contact_count && place != NULL; ++k)
        place[k] = -1;
    return place != NULL && spragPartTakeBy(whole, block, count, place, arena, part);
}
