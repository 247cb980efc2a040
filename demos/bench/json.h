/* JSON of the suites: opened before the run, whole or absent. */
#ifndef DEMOS_BENCH_JSON_H
#define DEMOS_BENCH_JSON_H

#include <math.h>
#include <stdio.h>

#include <sprag/sprag.h>

#include "scenes/output.h"

/* path NULL: nothing is to be written.  0, or 2 and one line on stderr. */
static inline int benchOpen(Output *out, const char *suite, const char *path)
{
    char error[OUTPUT_ERROR_SIZE];
    if (path == NULL || outputOpen(out, path, error))
        return 0;
    fprintf(stderr, "sprag-bench %s: %s\n", suite, error);
    return 2;
}

static inline int benchClose(Output *out, const char *suite, int keep)
{
    if (out->file == NULL || outputClose(out, keep) || !keep)
        return 0;
    fprintf(stderr, "sprag-bench %s: %s: cannot be written\n", suite, out->path);
    return 2;
}

static inline void jsonBegin(FILE *out, const char *suite)
{
    if (out != NULL)
        fprintf(out, "{\"suite\":\"%s\",\"version\":\"%s\"", suite, spragVersion());
}

/* What JSON has no word for is null. */
static inline void jsonWriteNumber(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, "%.9g", x);
    else
        fprintf(out, "null");
}

#endif
