/* What a program says on stdout must arrive: a full disk is no success. */
#ifndef DEMOS_SAID_H
#define DEMOS_SAID_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The exit code: `code`, or 2 with one line on stderr where something that was printed is lost. */
static inline int saidAll(const char *program, int code)
{
    const int flushed = fflush(stdout) == 0;
    if (flushed && !ferror(stdout))
        return code;
    fprintf(stderr, "%s: stdout cannot be written%s%s\n", program, flushed ? "" : ": ", flushed ? "" : strerror(errno));
    return 2;
}

#endif
