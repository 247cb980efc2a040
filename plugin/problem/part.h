/* The problem of some of the blocks of another, where the impulses of the rest are 0. */
#ifndef SPRAG_PROBLEM_PART_H
#define SPRAG_PROBLEM_PART_H

#include <sprag/sprag.h>

#include "base/arena.h"

/* block (count) ascending, numbers in `whole`; a ROLLING block only together with its parent.  The arrays of `part` are
 * the arena's, but `bodies` is NULL.  0: no memory. */
int spragPartTake(const spragProblem *whole, const int *block, int count, spragArena *arena, spragProblem *part);

/* The same for a caller that takes many parts: place (nc of the whole), room for numbers, is -1 before and after. */
int spragPartTakeBy(const spragProblem *whole, const int *block, int count, int *place, spragArena *arena,
                    spragProblem *part);

#endif
