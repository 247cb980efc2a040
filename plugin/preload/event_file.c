#include "preload/event_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "SPRAG_EVENTS_OPEN" /* in the environment: the path that a process before this one has opened */

enum { BUFFER = 1 << 16, LINE = 1024 /* bytes */ };

static FILE *file;
static const char *name;
static size_t unwritten; /* bytes in the buffer */
static char failure[200];

int spragEventFileOpen(const char *path)
{
    static char buffer[BUFFER];
    const char *opened = getenv(VARIABLE);
    if (opened == NULL || strcmp(opened, path) != 0) {
        FILE *empty = fopen(path, "w");
        if (empty == NULL)
            return 0;
        fclose(empty);
        setenv(VARIABLE, path, 1);
    }
    name = path;
    file = fopen(path, "ae");
    if (file != NULL)
        setvbuf(file, buffer, _IOFBF, sizeof buffer);
    return file != NULL;
}

void spragEventFileFlush(void)
{
    if (file != NULL && unwritten > 0 && fflush(file) != 0)
        snprintf(failure, sizeof failure, "cannot write %s: %s", name, strerror(errno));
    unwritten = 0;
}

void spragEventFileAdd(const spragEvent *event)
{
    char line[LINE];
    if (file == NULL)
        return;
    spragEventJson(event, NULL, line, sizeof line);
    const int length = fprintf(file, "%s\n", line);
    unwritten += length > 0 ? (size_t)length : 0;
    if (unwritten > BUFFER / 2)
        spragEventFileFlush();
}

void spragEventFileClose(void)
{
    spragEventFileFlush();
    if (file != NULL)
        fclose(file);
}

const char *spragEventFileError(void)
{
    return failure;
}
