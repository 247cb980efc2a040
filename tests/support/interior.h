/* What the interior methods are given: factors for W's pattern, and a guess from sweeps. */
#ifndef TESTS_SUPPORT_INTERIOR_H
#define TESTS_SUPPORT_INTERIOR_H

#include "support/check.h"
#include "support/random_problem.h"

#include "linalg/block_lu.h"
#include "solve/sweep.h"

typedef struct InteriorSetup {
    spragArena arena;
    spragBlockLu lu;
    double matrix[9 * NC * NC], r[N];
} InteriorSetup;

static inline void interiorSetup(InteriorSetup *s, const spragProblem *problem, int sweeps)
{
    spragSweeper sweeper;
    memset(s, 0, sizeof *s);
    assert_true(spragBlockLuAnalyse(&s->lu, problem->contact_count, problem->row_start, problem->column, INFINITY,
                                    &s->arena) > 0);
    assert_true(spragSweeperInit(&sweeper, problem, NULL, &s->arena));
    for (int k = 0; k < sweeps; ++k)
        spragSweep(&sweeper, s->r);
}

#endif
