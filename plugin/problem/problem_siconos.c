/* Siconos writes, in this order: dimension d (3, or 2 in the plane), contacts, storage, rows, columns; W; q, then mu.
 * W in storage 0, dense: rows and columns once more, then its numbers column by column.
 * W in storage 1, sparse blocks: blocks, block rows, block columns, cumulated sizes of both, filled1, filled2, index1
 * (filled1), index2 (filled2), then per block its number and d^2 values column by column. */
#include "problem/problem_siconos.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static int nextOf(Text *text, int one, int other, const char *where)
{
    const int value = nextInt(text, where);
    text->failed |= value != one && value != other;
    return value;
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

/* W of `d` nc rows, dense.  Zeros are no entries: blocks of nothing else are not stored.  0: no memory. */
static int readDense(Text *text, int d, int nc, spragEntries *entries)
{
    int memory = 1;
    expectInt(text, d * nc, "rows once more");
    expectInt(text, d * nc, "columns once more");
    for (int j = 0; memory && j < d * nc && !text->failed; ++j)
        for (int i = 0; memory && i < d * nc && !text->failed; ++i) {
            const double value = nextNumber(text, "W");
            memory = value == 0 || spragEntriesAdd(entries, i, j, value);
        }
    return memory;
}

/* Pattern and values of the blocks (d x d).  0: no memory. */
static int readBlocks(Text *text, int d, int nc, spragEntries *entries)
{
    const int blocks = nextCount(text, 2 * (d * d + 1), "number of blocks, as many as the file holds");
    expectInt(text, nc, "number of block rows");
    expectInt(text, nc, "number of block columns");
    for (int i = 0; i < 2 * nc; ++i)
        expectInt(text, d * (i % nc + 1), d == 3 ? "sizes of the blocks, 3 each" : "sizes of the blocks, 2 each");
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
            for (int i = 0; memory && i < d * d; ++i)
                memory = spragEntriesAdd(entries, d * k + i % d, d * column[e] + i / d, nextNumber(text, "W"));
        }
    spragFree(start);
    spragFree(column);
    return memory;
}

int spragSiconosTextIs(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) /* what a pipe holds is read once */
        return 0;
    FILE *file = fopen(path, "r");
    int alone = file != NULL;
    for (int line = 0; alone && line < 3; ++line) {
        char text[32], *end;
        if (fgets(text, sizeof text, file) == NULL)
            text[0] = '\0';
        strtol(text, &end, 10);
        alone = end > text && end[strspn(end, " \t\r")] == '\n';
    }
    if (file != NULL)
        fclose(file);
    return alone;
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
    const int d = nextOf(&text, 2, 3, "an HDF5 file, or Siconos text, which begins with dimension 2 or 3");
    /* the least: d^2 numbers of W, d of q, mu, and a space after each */
    const int nc = nextCount(&text, 2 * (d * d + d + 1), "number of contacts, as many as the file holds");
    const int in_blocks = nextOf(&text, 0, 1, "storage 0 (dense) or 1 (sparse blocks)");
    expectInt(&text, d * nc, "rows = dimension x contacts");
    expectInt(&text, d * nc, "columns = dimension x contacts");
    if (!text.failed)
        memory = in_blocks ? readBlocks(&text, d, nc, &entries) : readDense(&text, d, nc, &entries);
    if (!text.failed && memory) {
        data = spragEntriesProblem(&entries, nc, d);
        memory = data != NULL;
    }
    for (int i = 0; data != NULL && i < d * nc; ++i)
        data->q[3 * (i / d) + i % d] = nextNumber(&text, "q");
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
