/* Files under a temporary name that are renamed when whole.  That must never replace a device, a pipe or a link
 * (/dev/null, /dev/stdout): those are written through. */
#ifndef DEMOS_SCENES_OUTPUT_H
#define DEMOS_SCENES_OUTPUT_H

#include <sys/stat.h>

/* 1: path may be replaced by a new file; 0: it must be written through. */
static inline int outputIsReplaceable(const char *path)
{
    struct stat s;
    return lstat(path, &s) != 0 || S_ISREG(s.st_mode);
}

#endif
