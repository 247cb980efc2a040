/* Does a problem of contacts have a solution?  A criterion that is enough, and what stands against it. */
#ifndef SPRAG_SOLVE_EXISTENCE_H
#define SPRAG_SOLVE_EXISTENCE_H

#include <sprag/sprag.h>

#include "base/arena.h"

/* How far the question goes. */
typedef struct spragExistenceAsk {
    const double *guess; /* (3 nc) N s: of two-sided contacts the sides that it loads are asked first; NULL: none */
    int variants;        /* of two-sided contacts, at most */
    double closing;      /* m/s: a wedge that closes faster ends the search; below INFINITY, without two-sided contacts,
                            margin is only known to be above or below -closing */
    int modest;          /* 1: a motion that parts the contacts only by compliances of 1e-5 W and less does not count */
} spragExistenceAsk;

/* As spragProblemExistence, of a problem whose blocks are contacts, one- or two-sided.  SPRAG_ERROR_MEMORY, or OK. */
spragStatus spragExistenceFind(const spragProblem *problem, const spragExistenceAsk *ask, spragArena *arena, double *r,
                               spragExistence *out);

#endif
