#include "problem/problem_fclib.h"

#include "base/status.h"

spragStatus spragFclibRead(const char *path, spragProblem **out)
{
    (void)out;
    return spragFail(SPRAG_ERROR_UNSUPPORTED, "%s: this build of Sprag has no libfclib", path);
}

spragStatus spragFclibWrite(const spragProblem *problem, const char *path)
{
    (void)problem;
    return spragFail(SPRAG_ERROR_UNSUPPORTED, "%s: this build of Sprag has no libfclib", path);
}
