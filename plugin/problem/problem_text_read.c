/* Problem files as text: reading.  A reader that meets what it did not expect says so once, with file and line. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "problem/problem_text.h"

/* ---------------------------------------------------------------- tokens */

typedef struct Reader {
    const char *path;
    char *text, *at; /* whole file, NUL-terminated */
    int line;
    const char *surplus; /* what follows the first record that does not end its line, or NULL */
    int surplus_line;
    spragStatus status; /* first failure; later reads return zero */
} Reader;

static void skipSpace(Reader *in)
{
    for (;; ++in->at) {
        if (*in->at == '#')
            while (in->at[0] != '\0' && in->at[1] != '\0' && in->at[1] != '\n')
                ++in->at;
        else if (*in->at == '\n')
            ++in->line;
        else if (*in->at == '\0' || strchr(" \t\r", *in->at) == NULL)
            return;
    }
}

/* Of the word that begins here, as it is quoted. */
static int lengthOf(const char *word)
{
    int length = 0;
    while (length < 20 && word[length] != '\0' && strchr(" \t\r\n", word[length]) == NULL)
        ++length;
    return length;
}

/* After a record.  A file may have several on a line; but where one has a number too many the reader stumbles over it
 * only lines later. */
static void endRecord(Reader *in)
{
    const char *rest = in->at + strspn(in->at, " \t\r");
    if (in->surplus == NULL && *rest != '\0' && *rest != '\n' && *rest != '#')
        in->surplus = rest, in->surplus_line = in->line;
}

static void refuse(Reader *in, const char *expected)
{
    if (in->status != SPRAG_OK)
        return;
    const int length = lengthOf(in->at);
    if (in->surplus != NULL && (in->surplus_line < in->line || in->surplus == in->at))
        in->status = spragFail(SPRAG_ERROR_FORMAT, "%s:%d: '%.*s', expected the end of the line (or, in line %d, %s)",
                               in->path, in->surplus_line, lengthOf(in->surplus), in->surplus, in->line, expected);
    else if (length == 0)
        in->status =
            spragFail(SPRAG_ERROR_FORMAT, "%s: the file ends at line %d, expected %s", in->path, in->line, expected);
    else
        in->status =
            spragFail(SPRAG_ERROR_FORMAT, "%s:%d: '%.*s', expected %s", in->path, in->line, length, in->at, expected);
}

static int atTokenEnd(const char *end)
{
    return *end == '\0' || strchr(" \t\r\n", *end) != NULL;
}

static double readDouble(Reader *in, const char *expected)
{
    skipSpace(in);
    char *end;
    const double value = strtod(in->at, &end);
    const size_t length = (size_t)(end - in->at);
    if (length == 0 || !atTokenEnd(end) || isnan(value) || memchr(in->at, 'x', length) != NULL ||
        memchr(in->at, 'X', length) != NULL) { /* 0x10 is no decimal number, whatever strtod says */
        refuse(in, expected);
        return 0;
    }
    in->at = end;
    return value;
}

static double readFinite(Reader *in, const char *expected)
{
    skipSpace(in);
    char *const begin = in->at;
    const double value = readDouble(in, expected);
    if (isfinite(value))
        return value;
    in->at = begin;
    refuse(in, expected);
    return 0;
}

static double readNonNegative(Reader *in, const char *expected)
{
    skipSpace(in);
    char *const begin = in->at;
    const double value = readFinite(in, expected);
    if (value >= 0)
        return value;
    in->at = begin;
    refuse(in, expected);
    return 0;
}

static int readInt(Reader *in, int low, int high, const char *expected)
{
    skipSpace(in);
    char *end;
    errno = 0;
    const long value = strtol(in->at, &end, 10);
    if (end == in->at || !atTokenEnd(end) || errno != 0 || value < low || value > high) {
        refuse(in, expected);
        return low;
    }
    in->at = end;
    return (int)value;
}

/* Index of the next word in a list of names. */
static int readName(Reader *in, const char *const *name, int count, const char *expected)
{
    skipSpace(in);
    for (int k = 0; k < count; ++k) {
        const size_t length = strlen(name[k]);
        if (strncmp(in->at, name[k], length) == 0 && atTokenEnd(in->at + length)) {
            in->at += length;
            return k;
        }
    }
    refuse(in, expected);
    return 0;
}

static spragStatus slurp(const char *path, char **text)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return spragFail(SPRAG_ERROR_FILE, "%s: %s", path, strerror(errno));
    size_t length = 0, capacity = 0;
    char *buffer = NULL;
    do {
        void *grown = buffer;
        if (!spragGrow(&grown, &capacity, length + 65536 + 1, 1)) {
            spragFree(buffer);
            fclose(file);
            return spragFail(SPRAG_ERROR_MEMORY, "%s: out of memory after %zu bytes", path, length);
        }
        buffer = grown;
        length += fread(buffer + length, 1, 65536, file);
    } while (!feof(file) && !ferror(file));
    const int failed = ferror(file), why = errno;
    fclose(file);
    if (failed) {
        spragFree(buffer);
        return spragFail(SPRAG_ERROR_FILE, "%s: cannot be read: %s", path, strerror(why));
    }
    buffer[length] = '\0';
    const size_t text_length = strlen(buffer);
    if (text_length < length) {
        spragFree(buffer);
        return spragFail(SPRAG_ERROR_FORMAT, "%s: byte %zu is zero, expected text (HDF5 files end in .hdf5 or .h5)",
                         path, text_length);
    }
    *text = buffer;
    return SPRAG_OK;
}

/* ---------------------------------------------------------------- reading */

static void readPlain(Reader *in, spragProblemData *data)
{
    const int nc = data->problem.contact_count, nb = data->problem.block_count;
    for (int k = 0; k < nc && in->status == SPRAG_OK; ++k) {
        data->mu[k] = data->mu_minus[k] = readNonNegative(in, "mu >= 0");
        data->body[2 * k] = readInt(in, -1, INT_MAX, "a body number, -1 for the world");
        data->body[2 * k + 1] = readInt(in, -1, INT_MAX, "a body number, -1 for the world");
        endRecord(in);
    }
    for (int k = 0; k < nc && in->status == SPRAG_OK; ++k) {
        for (int a = 0; a < 3; ++a)
            data->q[3 * k + a] = readFinite(in, "a component of q");
        endRecord(in);
    }
    int row = 0, column = -1;
    for (int e = 0; e < nb && in->status == SPRAG_OK; ++e) {
        const int i = readInt(in, row, nc - 1, "a block row, ascending, below the number of contacts");
        if (i > row)
            column = -1;
        for (; row < i; ++row)
            data->row_start[row + 1] = e;
        column = data->column[e] = readInt(in, column + 1, nc - 1, "a block column, ascending in its row");
        for (int a = 0; a < 9; ++a)
            data->W[9 * (size_t)e + (size_t)a] = readFinite(in, "an entry of W");
        endRecord(in);
    }
    for (; row < nc; ++row)
        data->row_start[row + 1] = nb;
}

static void readBlockLine(Reader *in, spragProblemData *data)
{
    const int last = data->problem.contact_count - 1;
    const size_t k = (size_t)readInt(in, 0, last, "a contact number");
    data->kind[k] =
        (unsigned char)readName(in, spragKindName, SPRAG_KIND_COUNT, "contact, two-sided, force-limit, box or rolling");
    data->mu_minus[k] = readNonNegative(in, "mu_minus >= 0");
    for (size_t a = 0; a < 6; ++a)
        data->bound[6 * k + a] = readDouble(in, "a bound");
    data->parent[k] = readInt(in, -1, last, "a parent contact, or -1");
}

static void readHistoryLine(Reader *in, spragProblemData *data)
{
    spragContactHistory *h = &data->history[readInt(in, 0, data->problem.contact_count - 1, "a contact number")];
    for (int a = 0; a < 2; ++a)
        h->slip[a] = readFinite(in, "a slip velocity");
    h->free_acceleration = readFinite(in, "b");
    h->previous_normal = readFinite(in, "the previous normal force");
    for (int a = 0; a < 2; ++a)
        h->previous_slip[a] = readFinite(in, "the previous slip");
    h->mode = (unsigned char)readInt(in, 0, 2, "a mode, 0 to 2");
    h->variant = (signed char)readInt(in, -1, 1, "a variant, -1 to 1");
    h->fresh = (unsigned char)readInt(in, 0, 1, "fresh, 0 or 1");
}

static void readHeldLine(Reader *in, spragProblemData *data)
{
    spragContactHistory *h = &data->history[readInt(in, 0, data->problem.contact_count - 1, "a contact number")];
    for (int a = 0; a < 9; ++a)
        h->held[a] = readFinite(in, "a number of the block that motors take off");
}

static void readExtensions(Reader *in, spragProblemData *data)
{
    static const char *const keyword[] = {"step", "block", "history", "held"};
    data->problem.history = NULL; /* a file without a line of history has none */
    for (skipSpace(in); *in->at != '\0' && in->status == SPRAG_OK; skipSpace(in)) {
        switch (readName(in, keyword, 4, "step, block, history, held or the end of the file")) {
        case 0:
            data->problem.step = readNonNegative(in, "a step >= 0, in s");
            break;
        case 1:
            readBlockLine(in, data);
            break;
        case 3:
            data->problem.history = data->history;
            readHeldLine(in, data);
            break;
        default:
            data->problem.history = data->history;
            readHistoryLine(in, data);
        }
        endRecord(in);
    }
}

static spragStatus readText(Reader *in, spragProblem **out)
{
    const int nc = readInt(in, 1, SPRAG_BLOCKS_MOST, "the number of contacts, 1 or more");
    const int nb = readInt(in, 1, SPRAG_BLOCKS_MOST, "the number of blocks, 1 or more");
    endRecord(in);
    if (in->status != SPRAG_OK)
        return in->status;
    /* A block takes at least 22 characters: a header that promises more than the file can hold is refused before
     * memory is taken for it. */
    if (strlen(in->at) < 22 * (size_t)nb || strlen(in->at) < 12 * (size_t)nc)
        return spragFail(SPRAG_ERROR_FORMAT, "%s:%d: %d contacts and %d blocks do not fit into the file", in->path,
                         in->line, nc, nb);
    spragProblemData *data = spragProblemCreate(nc, nb);
    if (data == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "%s: out of memory for %d contacts", in->path, nc);
    readPlain(in, data);
    if (in->status == SPRAG_OK)
        readExtensions(in, data);
    if (in->status == SPRAG_OK)
        return spragProblemFinish(data, in->path, out);
    spragProblemFree(&data->problem);
    return in->status;
}

spragStatus spragTextRead(const char *path, spragProblem **out)
{
    Reader in = {.path = path, .line = 1, .status = SPRAG_OK};
    spragStatus status = slurp(path, &in.text);
    if (status != SPRAG_OK)
        return status;
    in.at = in.text + (strncmp(in.text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0); /* what some editors put before UTF-8 */
    status = readText(&in, out);
    spragFree(in.text);
    return status;
}
