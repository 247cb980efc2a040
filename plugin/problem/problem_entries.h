/* A problem from scalar entries of W in any order: foreign formats store them so. */
#ifndef SPRAG_PROBLEM_PROBLEM_ENTRIES_H
#define SPRAG_PROBLEM_PROBLEM_ENTRIES_H

#include <stddef.h>

#include "problem/problem.h"

typedef struct spragEntries {
    int *row, *column; /* (count) scalar rows and columns */
    double *value;     /* (count); the same place twice is summed */
    size_t count, row_room, column_room, value_room;
} spragEntries;

/* 0: out of memory. */
int spragEntriesAdd(spragEntries *entries, int row, int column, double value);
void spragEntriesFree(spragEntries *entries);

/* Rows d k to d k + d - 1 are those of contact k, d = 3, or 2 in the plane.  There nothing acts along the second
 * tangent: it has q = 0 and a coupling with itself alone, so r and u along it are 0 in every solution.
 * q (d nc), mu (nc).  All blocks CONTACT; symmetric pattern with every diagonal block.  NULL: out of memory. */
spragProblemData *spragEntriesProblem(const spragEntries *entries, int contact_count, int dimension, const double *q,
                                      const double *mu);

#endif
