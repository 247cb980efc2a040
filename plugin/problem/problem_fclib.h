/* FCLib's HDF5 files (Acary et al., frictionalcontactlibrary). */
#ifndef SPRAG_PROBLEM_PROBLEM_FCLIB_H
#define SPRAG_PROBLEM_PROBLEM_FCLIB_H

#include <sprag/sprag.h>

/* SPRAG_ERROR_UNSUPPORTED where this build has no HDF5. */
spragStatus spragFclibRead(const char *path, spragProblem **out);
spragStatus spragFclibWrite(const spragProblem *problem, const char *path);

#endif
