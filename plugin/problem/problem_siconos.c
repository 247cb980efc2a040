/* Siconos' text files (FrictionContactProblem, GlobalFrictionContactProblem).
 *
 *   local:   d, contacts, W, q, mu              u = W r + q
 *   global:  d, contacts, M, H, f, w, mu        M v = H r + f,  u = H' v + w  (problem_global.h)
 *
 * d is 3, or 2 in the plane.  What follows the first matrix says which of both a file is: q and mu are d + 1 numbers a
 * contact, and some files have one of no meaning at the end.  A matrix is: storage, rows, columns, then in storage
 *
 *   0 (dense)    rows and columns once more; the numbers, column by column
 *   1 (blocks)   blocks, block rows, block columns; cumulated sizes of both; filled1, filled2; index1 (filled1),
 *                index2 (filled2); per block its number, and its numbers column by column
 *   2 (CSparse)  a number, and what cs_print prints: triplets "row column : number", by columns "row : number", or (as
 *                Siconos itself adds) by rows "column : number" */
#include "problem/problem_siconos.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/status.h"
#include "problem/problem_global.h"

/* ---------------------------------------------------------------- what comes next */

typedef struct Text {
    FILE *file;
    long long size;    /* bytes */
    const char *where; /* what is read, for the message */
    int failed, out_of_memory;
} Text;

static int goesOn(const Text *text)
{
    return !text->failed && !text->out_of_memory;
}

static int nextInt(Text *text, const char *where)
{
    int value = 0;
    if (goesOn(text)) {
        text->where = where;
        text->failed = fscanf(text->file, "%d", &value) != 1;
    }
    return value;
}

static double nextNumber(Text *text, const char *where)
{
    double value = 0;
    if (goesOn(text)) {
        text->where = where;
        text->failed = fscanf(text->file, "%lf", &value) != 1 || !isfinite(value);
    }
    return value;
}

static void refuseUnless(Text *text, int fits, const char *where)
{
    if (goesOn(text) && !fits)
        text->failed = 1, text->where = where;
}

/* 1 to most; 0 after a failure */
static int nextCount(Text *text, long long most, const char *where)
{
    const int count = nextInt(text, where);
    refuseUnless(text, count >= 1 && count <= most && count <= SPRAG_BLOCKS_MOST, where);
    return goesOn(text) ? count : 0;
}

static void expectInt(Text *text, int expected, const char *where)
{
    refuseUnless(text, nextInt(text, where) == expected, where);
}

enum { WORD = 32 };

static void nextWord(Text *text, char word[WORD], const char *where)
{
    word[0] = '\0';
    if (!goesOn(text))
        return;
    text->where = where;
    text->failed = fscanf(text->file, "%31s", word) != 1;
}

static void expectWord(Text *text, const char *expected, const char *where)
{
    char word[WORD];
    nextWord(text, word, where);
    refuseUnless(text, strcmp(word, expected) == 0, where);
}

static void skipLine(Text *text)
{
    if (goesOn(text) && fscanf(text->file, "%*[^\n]") == EOF)
        text->failed = 1;
}

/* Words from here to the end of the file, or more than `most`. */
static long long wordsLeft(Text *text, long long most)
{
    const long here = ftell(text->file);
    long long count = 0;
    while (goesOn(text) && count <= most && fscanf(text->file, "%*s") != EOF)
        ++count;
    if (fseek(text->file, here, SEEK_SET) != 0)
        text->failed = 1;
    return count;
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

/* Room for count things; NULL after a failure. */
static void *takeRoom(Text *text, int count, size_t size)
{
    void *room = goesOn(text) ? spragAlloc((size_t)count, size) : NULL;
    text->out_of_memory |= goesOn(text) && room == NULL;
    return room;
}

static double *nextVector(Text *text, int count, const char *where)
{
    double *x = takeRoom(text, count, sizeof *x);
    for (int i = 0; goesOn(text) && i < count; ++i)
        x[i] = nextNumber(text, where);
    return x;
}

/* ---------------------------------------------------------------- matrices */

typedef struct Matrix {
    int rows, columns;
    spragEntries entries;
} Matrix;

/* Zeros are no entries: blocks of nothing else are not stored. */
static void addEntry(Text *text, Matrix *A, int row, int column, double value)
{
    refuseUnless(text, row >= 0 && row < A->rows && column >= 0 && column < A->columns,
                 "rows and columns from 0, below their numbers");
    if (goesOn(text) && value != 0 && !spragEntriesAdd(&A->entries, row, column, value))
        text->out_of_memory = 1;
}

static void readDense(Text *text, Matrix *A)
{
    expectInt(text, A->rows, "rows once more");
    expectInt(text, A->columns, "columns once more");
    for (int j = 0; j < A->columns && goesOn(text); ++j)
        for (int i = 0; i < A->rows && goesOn(text); ++i)
            addEntry(text, A, i, j, nextNumber(text, "a number of the matrix"));
}

/* (count) integers that rise to `last`, or that do not fall; NULL after a failure. */
static int *nextRising(Text *text, int count, int first, int step, int last, const char *where)
{
    int *x = takeRoom(text, count, sizeof *x);
    for (int i = 0; i < count && goesOn(text); ++i) {
        x[i] = nextInt(text, where);
        refuseUnless(text, x[i] >= (i > 0 ? x[i - 1] + step : first) && x[i] <= last, where);
    }
    if (goesOn(text))
        refuseUnless(text, x[count - 1] == last, where);
    return x;
}

/* Block `number` of block row k, which has the rows from `row` to row_end - 1. */
static void readBlock(Text *text, Matrix *A, int number, int row, int row_end, const int *column_end, int block_column)
{
    const int column = block_column > 0 ? column_end[block_column - 1] : 0;
    expectInt(text, number, "number of a block");
    for (int j = column; j < column_end[block_column] && goesOn(text); ++j)
        for (int i = row; i < row_end && goesOn(text); ++i)
            addEntry(text, A, i, j, nextNumber(text, "a number of the matrix"));
}

static void readBlocks(Text *text, Matrix *A)
{
    const int blocks = nextCount(text, text->size / 4, "number of blocks, as many as the file holds");
    const int rows = nextCount(text, A->rows, "number of block rows");
    const int columns = nextCount(text, A->columns, "number of block columns");
    int *row_end = nextRising(text, rows, 1, 1, A->rows, "cumulated sizes of the block rows");
    int *column_end = nextRising(text, columns, 1, 1, A->columns, "cumulated sizes of the block columns");
    const int filled = nextCount(text, rows + 1, "filled1, at most block rows + 1");
    expectInt(text, blocks, "filled2 = blocks");
    int *start = nextRising(text, filled, 0, 0, blocks, "index1, from 0 to the number of blocks");
    int *column = takeRoom(text, blocks, sizeof *column);
    for (int e = 0; e < blocks && goesOn(text); ++e) {
        column[e] = nextInt(text, "index2");
        refuseUnless(text, column[e] >= 0 && column[e] < columns, "index2 below the number of block columns");
    }
    refuseUnless(text, start == NULL || start[0] == 0, "index1, from 0 to the number of blocks");
    for (int k = 0; k < filled - 1 && goesOn(text); ++k)
        for (int e = start[k]; e < start[k + 1] && goesOn(text); ++e)
            readBlock(text, A, e, k > 0 ? row_end[k - 1] : 0, row_end[k], column_end, column[e]);
    spragFree(row_end);
    spragFree(column_end);
    spragFree(start);
    spragFree(column);
}

static void readSparse(Text *text, Matrix *A)
{
    char word[WORD];
    nextInt(text, "kind of sparse matrix");
    expectWord(text, "CSparse", "what cs_print prints");
    skipLine(text);
    nextWord(text, word, "triplet: or the size");
    const int triplets = strcmp(word, "triplet:") == 0;
    while (goesOn(text) && strcmp(word, "nnz:") != 0)
        nextWord(text, word, "nnz:");
    const int count = nextInt(text, "the number of entries");
    skipLine(text);
    for (int e = 0, line = 0, by_rows = 0; e < count && goesOn(text);) {
        nextWord(text, word, "an entry, as many as nnz says");
        if (!triplets && (strcmp(word, "col") == 0 || strcmp(word, "row") == 0)) {
            by_rows = word[0] == 'r';
            line = nextInt(text, "a column or row");
            skipLine(text);
            continue;
        }
        char *end;
        const long first = strtol(word, &end, 10);
        refuseUnless(text, end > word && *end == '\0' && first >= 0 && first < SPRAG_BLOCKS_MOST,
                     "the place of an entry");
        line = triplets ? nextInt(text, "the column of an entry") : line;
        expectWord(text, ":", ": between a place and its number");
        addEntry(text, A, by_rows ? line : (int)first, by_rows ? (int)first : line,
                 nextNumber(text, "a number of the matrix"));
        ++e;
    }
}

static void readMatrix(Text *text, Matrix *A)
{
    const char *const storages = "storage 0 (dense), 1 (sparse blocks) or 2 (CSparse)";
    const int storage = nextInt(text, storages);
    refuseUnless(text, storage >= 0 && storage <= 2, storages);
    A->rows = nextCount(text, text->size / 2, "rows, no more than the file holds"); /* of which it has a vector */
    A->columns = nextCount(text, text->size / 2, "columns, no more than the file holds");
    if (goesOn(text))
        (storage == 0 ? readDense : storage == 1 ? readBlocks : readSparse)(text, A);
}

/* ---------------------------------------------------------------- problems */

/* g->W and g->q; mu comes next. */
static void readLocal(Text *text, int rows, Matrix *W, spragGlobal *g)
{
    refuseUnless(text, W->rows == rows, "rows = dimension x contacts");
    refuseUnless(text, W->columns == rows, "columns = dimension x contacts");
    g->W = W->entries;
    g->q = nextVector(text, rows, "q");
}

/* The same of a global problem, eliminated. */
static spragStatus readGlobal(Text *text, const char *path, int rows, Matrix *M, spragGlobal *g)
{
    Matrix H = {0};
    refuseUnless(text, M->rows == M->columns, "M, a square matrix");
    readMatrix(text, &H);
    refuseUnless(text, H.rows == M->rows, "H with the rows of M");
    refuseUnless(text, H.columns == rows, "H with dimension x contacts columns");
    g->n = M->rows, g->m = rows;
    g->M = M->entries, g->H = H.entries;
    g->f = nextVector(text, g->n, "f");
    g->w = nextVector(text, g->m, "w");
    return goesOn(text) ? spragGlobalEliminate(g, path) : SPRAG_OK;
}

/* NULL after a failure. */
static spragProblemData *readProblem(Text *text, const char *path, spragStatus *status)
{
    const char *const begins = "an HDF5 file, or Siconos text, which begins with dimension 2 or 3";
    const int d = nextInt(text, begins);
    refuseUnless(text, d == 2 || d == 3, begins);
    /* the least: q, mu, and a space after each */
    const int nc =
        nextCount(text, text->size / (2 * (d == 2 ? 3 : 4)), "number of contacts, as many as the file holds");
    Matrix first = {0};
    readMatrix(text, &first);
    const long long most = (d + 1) * (long long)nc + 1;
    spragGlobal g = {0};
    if (goesOn(text) && wordsLeft(text, most) > most)
        *status = readGlobal(text, path, d * nc, &first, &g);
    else
        readLocal(text, d * nc, &first, &g);
    double *mu = *status == SPRAG_OK ? nextVector(text, nc, "mu") : NULL;
    spragProblemData *data = goesOn(text) && mu != NULL ? spragEntriesProblem(&g.W, nc, d, g.q, mu) : NULL;
    text->out_of_memory |= goesOn(text) && mu != NULL && data == NULL;
    spragFree(mu);
    spragGlobalFree(&g);
    return data;
}

int spragSiconosTextIs(const char *path)
{
    enum { LINES = 5 }; /* dimension, contacts, storage, rows, columns */
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) /* what a pipe holds is read once */
        return 0;
    FILE *file = fopen(path, "r");
    long number[LINES] = {0};
    int alone = file != NULL;
    for (int line = 0; alone && line < LINES;) {
        char text[WORD], *end;
        if (fgets(text, sizeof text, file) == NULL)
            text[0] = '\0';
        const int empty = text[strspn(text, " \t\r")] == '\n';
        number[line] = strtol(text, &end, 10);
        alone = empty || (end > text && end[strspn(end, " \t\r")] == '\n');
        line += !empty;
    }
    if (file != NULL)
        fclose(file);
    return alone && number[3] == number[4] && number[3] > 0;
}

spragStatus spragSiconosTextRead(const char *path, spragProblem **out)
{
    Text text = {.file = fopen(path, "r"), .where = "dimension"};
    if (text.file == NULL)
        return spragFail(SPRAG_ERROR_FILE, "%s: %s", path, strerror(errno));
    if (fseek(text.file, 0, SEEK_END) == 0)
        text.size = ftell(text.file);
    rewind(text.file);
    spragStatus status = SPRAG_OK;
    spragProblemData *data = readProblem(&text, path, &status);
    const int broken = ferror(text.file), line = text.failed && !broken ? lineReached(&text) : 0;
    fclose(text.file);
    if (broken)
        status = spragFail(SPRAG_ERROR_FILE, "%s: cannot be read", path);
    else if (text.failed)
        status = spragFail(SPRAG_ERROR_FORMAT, "%s:%d: expected %s", path, line, text.where);
    else if (text.out_of_memory)
        status = spragFail(SPRAG_ERROR_MEMORY, "%s: out of memory", path);
    if (data != NULL && status != SPRAG_OK)
        spragProblemFree(&data->problem);
    return status != SPRAG_OK ? status : spragProblemFinish(data, path, out);
}
