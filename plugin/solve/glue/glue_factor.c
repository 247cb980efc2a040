#include "solve/glue/glue_factor.h"

#include <string.h>

#include "linalg/vec3.h"

/* The graph of bodies that touch, the diagonal first in its row, and where the pairs of each contact are in it. */
static int makeGraph(spragGlueFactor *factor, int *row_start, int *column, spragArena *arena)
{
    const spragGlueContact *contact = factor->heap->contact;
    const int n = factor->heap->bodies, contacts = factor->heap->contacts;
    int *first, *list, *seen = SPRAG_TAKE_RAW(arena, int, n), *place = SPRAG_TAKE_RAW(arena, int, n);
    if (!spragGlueSides(factor->heap, &first, &list, arena) || seen == NULL || place == NULL)
        return 0;
    memset(seen, -1, (size_t)n * sizeof *seen);
    int count = 0;
    for (int i = 0; i < n; ++i) {
        row_start[i] = count;
        seen[i] = i, place[i] = count;
        column[count++] = i;
        for (int l = first[i]; l < first[i + 1]; ++l) {
            const int k = list[l] / 2, side = list[l] % 2, other = contact[k].body[1 - side];
            if (other < n && seen[other] != i) {
                seen[other] = i, place[other] = count;
                column[count++] = other;
            }
            factor->entry[k][3 * side] = place[i];
            factor->entry[k][1 + side] = other < n ? place[other] : -1;
        }
    }
    row_start[n] = count;
    for (int k = 0; k < contacts; ++k)
        for (int side = 0; side < 2; ++side)
            if (contact[k].body[side] == n)
                factor->entry[k][3 * side] = factor->entry[k][1] = factor->entry[k][2] = -1;
    return 1;
}

int spragGlueFactorInit(spragGlueFactor *factor, const spragGlueHeap *heap, double price_most, spragArena *arena)
{
    const int bodies = heap->bodies, contacts = heap->contacts;
    int *row_start = SPRAG_TAKE_RAW(arena, int, bodies + 1);
    int *column = SPRAG_TAKE_RAW(arena, int, (size_t)bodies + 2 * (size_t)contacts);
    *factor =
        (spragGlueFactor){.heap = heap, .entry = spragArenaTakeRaw(arena, (size_t)contacts, sizeof *factor->entry)};
    if (row_start == NULL || column == NULL || factor->entry == NULL)
        return 0;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const int known = makeGraph(factor, row_start, column, arena);
    spragArenaRelease(arena, mark);
    if (!known)
        return 0;
    const int found = spragBlockLuAnalyseSymmetric(&factor->lu, &(spragBlockPattern){6, bodies, row_start, column},
                                                   price_most, arena);
    if (found != 1)
        return found;
    spragPool *pool = spragPoolHere();
    factor->matrix = SPRAG_TAKE_RAW(arena, double, 36 * (size_t)row_start[bodies]);
    return factor->matrix != NULL && (pool == NULL || spragBlockLuShare(&factor->lu, pool, arena));
}

/* Rows of J of one side: d times the identity, and the arm's cross product. */
static void rowsOf(const spragGlueContact *contact, int side, double row[3][6])
{
    const double sign = side == 0 ? 1 : -1;
    for (int i = 0; i < 3; ++i) {
        double d[3] = {0, 0, 0};
        d[i] = sign;
        memcpy(row[i], d, sizeof d);
        spragCross3(row[i] + 3, contact->arm[side], d);
    }
}

static void addLink(spragGlueFactor *factor, const spragGlueContact *contact, const int entry[4], double normal)
{
    double row[2][3][6], n[2][6];
    for (int side = 0; side < 2; ++side) {
        rowsOf(contact, side, row[side]);
        for (int i = 0; i < 6; ++i)
            n[side][i] =
                contact->n[0] * row[side][0][i] + contact->n[1] * row[side][1][i] + contact->n[2] * row[side][2][i];
    }
    const double along = normal - contact->tangential;
    for (int pair = 0; pair < 4; ++pair) {
        if (entry[pair] < 0)
            continue;
        const int a = pair / 2, b = pair % 2;
        double *block = factor->matrix + 36 * (size_t)entry[pair];
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j)
                block[6 * i + j] += contact->tangential * (row[a][0][i] * row[b][0][j] + row[a][1][i] * row[b][1][j] +
                                                           row[a][2][i] * row[b][2][j]) +
                                    along * n[a][i] * n[b][j];
    }
}

int spragGlueFactorMake(spragGlueFactor *factor)
{
    const spragGlueHeap *heap = factor->heap;
    const spragBlockLu *lu = &factor->lu;
    memset(factor->matrix, 0, 36 * (size_t)lu->row_start[lu->n] * sizeof *factor->matrix);
    for (int i = 0; i < lu->n; ++i) {
        double *block = factor->matrix + 36 * (size_t)lu->row_start[i];
        for (int a = 0; a < 3; ++a) {
            block[7 * a] = heap->mass[i].mass;
            memcpy(block + 6 * (3 + a) + 3, heap->mass[i].inertia + 3 * a, 3 * sizeof *block);
        }
    }
    for (int k = 0; k < heap->contacts; ++k)
        addLink(factor, &heap->contact[k], factor->entry[k], heap->pressed[k] ? heap->contact[k].normal : 0);
    return spragBlockLuFactor(&factor->lu, factor->matrix);
}
