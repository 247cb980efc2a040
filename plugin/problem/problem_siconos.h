/* Siconos' text files of contact problems, local or global, in space or in the plane. */
#ifndef SPRAG_PROBLEM_PROBLEM_SICONOS_H
#define SPRAG_PROBLEM_PROBLEM_SICONOS_H

#include <sprag/sprag.h>

/* 1: the file begins with five lines of one whole number each, the last two the same: W and M are square.  Ours begins
 * with two numbers in a line, and if it has one in each, with two bodies there. */
int spragSiconosTextIs(const char *path);

/* In the C locale.  ERROR_FILE, ERROR_FORMAT with the line, ERROR_MEMORY, or what spragProblemCheck says. */
spragStatus spragSiconosTextRead(const char *path, spragProblem **out);

#endif
