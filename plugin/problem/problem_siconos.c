/* Siconos writes, in this order: dimension, contacts, storage (1 = sparse blocks), rows, columns, blocks, block rows,
 * block columns, cumulated sizes of both, filled1, filled2, index1 (filled1), index2 (filled2), then per block its
 * number and 9 values column by column; then q, then mu. */
#include "problem/problem_siconos.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "problem/problem_entries.h"

typedef struct Text {
    FILE *file;
    long long size;    /* bytes */
    const char *where; /* what is read, for the message */
    int failed;
} Text;

static int nextInt(Text *text, const char *where)
{
    int value = 0;
    if (!text->failed) {
        text->where = where;
        text->failed = fscanf(text->file, "%d", &value) != 1;
    }
    return value;
}

static double nextNumber(Text *text, const char *where)
{
    double value = 0;
    if (!text->failed) {
        text->where = where;
        text->failed = fscanf(text->file, "%lf", &value) != 1 || !isfinite(value);
    }
    return value;
}

/* The number of things that take `least` bytes each or more: it fails where the file is too short for so many. */
static int nextCount(Text *text, long long least, const char *where)
{
    const int count = nextInt(text, where);
    if (count < 1 || count > text->size / least || count > SPRAG_BLOCKS_MOST)
        text->failed = 1;
    return text->failed ? 0 : count;
}

static void expectInt(Text *text, int expected, const char *where)
{
    if (nextInt(text, where) != expected)
        text->failed = 1;
}

/* The line that has been reached. */
static int lineReached(const Text *text)
{
    const long end = ftell(text->file);
    int line = 1;
    rewind(text->file);
    for (long at = 0; at < end; ++at)
        line += fgetc(text->file) == '\n';
    return line;
}

/* Pattern and values of the blocks.  0: no memory. */
static int readBlocks(Text *text, int nc, spragEntries *entries)
{
    const int blocks = nextCount(text, 20, "number of blocks, as many as the file holds"); /* 10 numbers and spaces */
    expectInt(text, nc, "number of block rows");
    expectInt(text, nc, "number of block columns");
    for (int i = 0; i < 2 * nc; ++i)
        expectInt(text, 3 * (i % nc + 1), "sizes of the blocks, 3 each");
    expectInt(text, nc + 1, "filled1 = block rows + 1");
    expectInt(text, blocks, "filled2 = blocks");
    if (text->failed)
        return 1;
    int *start = spragAlloc((size_t)nc + 1, sizeof *start), *column = spragAlloc((size_t)blocks, sizeof *column);
    int memory = start != NULL && column != NULL;
    for (int k = 0; memory && k <= nc; ++k)
        start[k] = nextInt(text, "index1");
    for (int e = 0; memory && e < blocks; ++e)
        column[e] = nextInt(text, "index2");
    for (int k = 0; memory && k < nc && !text->failed; ++k)
        if (start[0] != 0 || start[k] > start[k + 1] || start[nc] != blocks)
            text->failed = 1, text->where = "index1 ascending from 0 to the number of blocks";
    for (int k = 0; memory && k < nc && !text->failed; ++k)
        for (int e = start[k]; memory && e < start[k + 1] && !text->failed; ++e) {
            if (column[e] < 0 || column[e] >= nc) {
                text->where = "index2 below the number of block columns", text->failed = 1;
                break;
            }
            expectInt(text, e, "number of a block");
            for (int i = 0; memory && i < 9; ++i)
                memory = spragEntriesAdd(entries, 3 * k + i % 3, 3 * column[e] + i / 3, nextNumber(text, "W"));
        }
    spragFree(start);
    spragFree(column);
    return memory;
}

spragStatus spragSiconosTextRead(const char *path, spragProblem **out)
{
    Text text = {.file = fopen(path, "r"), .where = "dimension"};
    if (text.file == NULL)
        return spragFail(SPRAG_ERROR_FILE, "%s: %s", path, strerror(errno));
    spragEntries entries = {0};
    spragProblemData *data = NULL;
    int memory = 1;
    if (fseek(text.file, 0, SEEK_END) == 0)
        text.size = ftell(text.file);
    rewind(text.file);
    expectInt(&text, 3, "an HDF5 file, or Siconos text, which begins with dimension 3");
    const int nc = nextCount(&text, 16, "number of contacts, as many as the file holds"); /* 8 numbers and spaces */
    expectInt(&text, 1, "storage 1 (sparse blocks)");
    expectInt(&text, 3 * nc, "rows = 3 contacts");
    expectInt(&text, 3 * nc, "columns = 3 contacts");
    if (!text.failed)
        memory = readBlocks(&text, nc, &entries);
    if (!text.failed && memory) {
        data = spragEntriesProblem(&entries, nc);
        memory = data != NULL;
    }
    for (int i = 0; data != NULL && i < 3 * nc; ++i)
        data->q[i] = nextNumber(&text, "q");
    for (int k = 0; data != NULL && k < nc; ++k)
        data->mu_minus[k] = data->mu[k] = nextNumber(&text, "mu");
    const int broken = ferror(text.file), line = text.failed && !broken ? lineReached(&text) : 0;
    fclose(text.file);
    spragEntriesFree(&entries);
    if (!memory || text.failed) {
        if (data != NULL)
            spragProblemFree(&data->problem);
        if (broken)
            return spragFail(SPRAG_ERROR_FILE, "%s: cannot be read", path);
        return !memory ? spragFail(SPRAG_ERROR_MEMORY, "%s: out of memory", path)
                       : spragFail(SPRAG_ERROR_FORMAT, "%s:%d: expected %s", path, line, text.where);
    }
    return spragProblemFinish(data, path, out);
}
