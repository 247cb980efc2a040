/* Siconos' text files of a FrictionContactProblem in its sparse block storage. */
#ifndef SPRAG_PROBLEM_PROBLEM_SICONOS_H
#define SPRAG_PROBLEM_PROBLEM_SICONOS_H

#include <sprag/sprag.h>

/* In the C locale.  ERROR_FILE, ERROR_FORMAT with the line, ERROR_MEMORY, or what spragProblemCheck says. */
spragStatus spragSiconosTextRead(const char *path, spragProblem **out);

#endif
