/* Does a problem of contacts have a solution?  A criterion that is enough, and what stands against it. */
#ifndef SPRAG_SOLVE_EXISTENCE_H
#define SPRAG_SOLVE_EXISTENCE_H

#include <sprag/sprag.h>

#include "base/arena.h"

/* As spragProblemExistence, of a problem whose blocks are all contacts.  SPRAG_ERROR_MEMORY, or OK. */
spragStatus spragExistenceFind(const spragProblem *problem, spragArena *arena, double *r, spragExistence *out);

#endif
