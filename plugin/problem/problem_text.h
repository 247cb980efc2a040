/* Problem files as text, in the format of sprag.h (spragProblemRead). */
#ifndef SPRAG_PROBLEM_PROBLEM_TEXT_H
#define SPRAG_PROBLEM_PROBLEM_TEXT_H

#include "problem/problem.h"

/* Words for spragBlockKind. */
enum { SPRAG_KIND_COUNT = SPRAG_BLOCK_ROLLING + 1 };
extern const char *const spragKindName[SPRAG_KIND_COUNT];

/* Both are called in the C locale. */
spragStatus spragTextRead(const char *path, spragProblem **out);
spragStatus spragTextWrite(const spragProblem *problem, const char *path);

#endif
