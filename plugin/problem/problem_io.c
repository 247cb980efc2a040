/* Problem files: Siconos' text by how it begins, FCLib's HDF5 by the extension, else text. */
#include <string.h>

#include "base/c_locale.h"
#include "base/floats.h"
#include "base/status.h"
#include "problem/problem_fclib.h"
#include "problem/problem_siconos.h"
#include "problem/problem_text.h"

static int isHdf5(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && (strcmp(dot, ".hdf5") == 0 || strcmp(dot, ".h5") == 0);
}

spragStatus spragProblemRead(const char *path, spragProblem **out)
{
    SPRAG_FLOATS;
    spragDetailClear();
    if (path == NULL || out == NULL)
        return spragFail(SPRAG_ERROR_NULL, "path or out is NULL");
    const spragLocale locale = spragLocaleEnter();
    const spragStatus status = spragSiconosTextIs(path) ? spragSiconosTextRead(path, out)
                               : isHdf5(path)           ? spragFclibRead(path, out)
                                                        : spragTextRead(path, out);
    spragLocaleLeave(locale);
    return status;
}

spragStatus spragProblemWrite(const spragProblem *problem, const char *path)
{
    SPRAG_FLOATS;
    spragStatus status = spragProblemCheckQuick(problem);
    if (status != SPRAG_OK)
        return status;
    if (path == NULL)
        return spragFail(SPRAG_ERROR_NULL, "path is NULL");
    if (problem->contact_count == 0)
        return spragFail(SPRAG_ERROR_SIZE, "%s: a problem without contacts cannot be written", path);
    const spragLocale locale = spragLocaleEnter();
    status = isHdf5(path) ? spragFclibWrite(problem, path) : spragTextWrite(problem, path);
    spragLocaleLeave(locale);
    return status;
}
