#include "problem/problem_entries.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "problem/residual.h"

int spragEntriesAdd(spragEntries *entries, int row, int column, double value)
{
    const size_t need = entries->count + 1;
    if (!spragGrow((void **)&entries->row, &entries->row_room, need, sizeof(int)) ||
        !spragGrow((void **)&entries->column, &entries->column_room, need, sizeof(int)) ||
        !spragGrow((void **)&entries->value, &entries->value_room, need, sizeof(double)))
        return 0;
    entries->row[entries->count] = row;
    entries->column[entries->count] = column;
    entries->value[entries->count++] = value;
    return 1;
}

void spragEntriesFree(spragEntries *entries)
{
    spragFree(entries->row);
    spragFree(entries->column);
    spragFree(entries->value);
}

static int compareKeys(const void *a, const void *b)
{
    const long long x = *(const long long *)a, y = *(const long long *)b;
    return (x > y) - (x < y);
}

/* W of the second tangents: any positive number will do, this one is of the size of the others. */
static void fillSecondTangents(spragProblemData *data)
{
    for (int k = 0; k < data->problem.contact_count; ++k) {
        double *W = data->W + 9 * (size_t)spragProblemDiagonal(&data->problem, k);
        W[8] = W[4] > 0 ? W[4] : 1;
    }
}

spragProblemData *spragEntriesProblem(const spragEntries *entries, int contact_count, int dimension, const double *q,
                                      const double *mu)
{
    const int d = dimension;
    /* key = block row * nc + block column, of every entry, its mirror image, and the diagonal */
    const long long nc = contact_count;
    long long *key = spragAlloc(2 * entries->count + (size_t)nc, sizeof *key);
    if (key == NULL)
        return NULL;
    size_t keys = 0;
    for (size_t e = 0; e < entries->count; ++e) {
        const long long i = entries->row[e] / d, j = entries->column[e] / d;
        key[keys++] = i * nc + j;
        key[keys++] = j * nc + i;
    }
    for (long long k = 0; k < nc; ++k)
        key[keys++] = k * nc + k;
    qsort(key, keys, sizeof *key, compareKeys);
    size_t blocks = 0;
    for (size_t e = 0; e < keys; ++e)
        if (e == 0 || key[e] != key[blocks - 1])
            key[blocks++] = key[e];
    spragProblemData *data = blocks <= INT_MAX ? spragProblemCreate(contact_count, (int)blocks) : NULL;
    if (data != NULL) {
        for (size_t e = 0; e < blocks; ++e) {
            data->column[e] = (int)(key[e] % nc);
            ++data->row_start[key[e] / nc + 1];
        }
        for (int k = 0; k < contact_count; ++k)
            data->row_start[k + 1] += data->row_start[k];
        for (size_t e = 0; e < entries->count; ++e) {
            const long long wanted = entries->row[e] / d * nc + entries->column[e] / d;
            const long long *found = bsearch(&wanted, key, blocks, sizeof *key, compareKeys);
            data->W[9 * (size_t)(found - key) + (size_t)(3 * (entries->row[e] % d) + entries->column[e] % d)] +=
                entries->value[e];
        }
        if (d == 2)
            fillSecondTangents(data);
        for (int i = 0; i < d * contact_count; ++i)
            data->q[3 * (i / d) + i % d] = q[i];
        memcpy(data->mu, mu, (size_t)contact_count * sizeof *mu);
        memcpy(data->mu_minus, mu, (size_t)contact_count * sizeof *mu);
    }
    spragFree(key);
    return data;
}
