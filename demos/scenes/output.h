/* Files that are whole or absent: written as PATH.part and renamed when done.  That must never replace a device, a pipe
 * or a link (/dev/null, /dev/stdout): those are written through. */
#ifndef DEMOS_SCENES_OUTPUT_H
#define DEMOS_SCENES_OUTPUT_H

#include <stdio.h>

enum { OUTPUT_PATH_MAX = 4096, OUTPUT_ERROR_SIZE = 160 };

typedef struct Output {
    FILE *file; /* for writing, and reading back where it is a file of its own; NULL: not open */
    char path[OUTPUT_PATH_MAX], part[OUTPUT_PATH_MAX + 8];
    int through; /* written in place */
} Output;

/* 0 and one line in error (OUTPUT_ERROR_SIZE bytes) where it cannot be written; nothing is left behind. */
int outputOpen(Output *output, const char *path, char *error);
/* Closes; keep: 1 if it then is whole under its name.  Else nothing is left of it. */
int outputClose(Output *output, int keep);

#endif
