/* Where the shared material (problems, reference values) is:
 * SPRAG_SHARED, ../shared beside the source, /work/shared. */
#ifndef TESTS_SUPPORT_SHARED_H
#define TESTS_SUPPORT_SHARED_H

#include <stdlib.h>
#include <unistd.h>

#include <sprag/sprag.h>

#include "support/check.h"

/* Path of a file under shared/, or NULL after a message: the test then skips. Valid to the next call. */
static inline const char *sharedPath(const char *relative)
{
    static char path[1024];
    const char *const root[] = {getenv("SPRAG_SHARED"), SPRAG_SOURCE_DIR "/../shared", "/work/shared"};
    for (size_t k = 0; k < sizeof root / sizeof *root; ++k) {
        if (root[k] == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", root[k], relative);
        if (access(path, R_OK) == 0)
            return path;
    }
    fprintf(stderr, "skipped: no shared/%s (set SPRAG_SHARED)\n", relative);
    return NULL;
}

/* The file under shared/problems, read; NULL: the test skips. */
static inline spragProblem *sharedProblem(const char *name)
{
    char file[256];
    spragProblem *problem = NULL;
    snprintf(file, sizeof file, "problems/%s", name);
    const char *path = sharedPath(file);
    if (path != NULL && spragProblemRead(path, &problem) != SPRAG_OK)
        fail_msg("%s", spragStatusDetail());
    return problem;
}

#endif
