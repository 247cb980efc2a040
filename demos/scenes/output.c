#include "scenes/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* May path be replaced by a new file? */
static int isReplaceable(const char *path)
{
    struct stat s;
    return lstat(path, &s) != 0 || S_ISREG(s.st_mode);
}

int outputOpen(Output *output, const char *path, char *error)
{
    if (strlen(path) >= OUTPUT_PATH_MAX) {
        snprintf(error, OUTPUT_ERROR_SIZE, "the file name is longer than %d characters", OUTPUT_PATH_MAX - 1);
        return 0;
    }
    strcpy(output->path, path);
    output->through = !isReplaceable(path);
    snprintf(output->part, sizeof output->part, "%s%s", path, output->through ? "" : ".part");
    output->file = fopen(output->part, output->through ? "w" : "w+");
    if (output->file == NULL)
        snprintf(error, OUTPUT_ERROR_SIZE, "cannot write %.80s: %s", path, strerror(errno));
    return output->file != NULL;
}

int outputClose(Output *output, int keep)
{
    if (output->file == NULL)
        return 0;
    int good = !ferror(output->file) && fflush(output->file) == 0;
    good = fclose(output->file) == 0 && good;
    output->file = NULL;
    if (output->through || (keep && good && rename(output->part, output->path) == 0))
        return good;
    remove(output->part);
    return !keep && good;
}
