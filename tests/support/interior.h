/* What the interior methods are given: the cones, factors for their pattern, and a guess from sweeps. */
#ifndef TESTS_SUPPORT_INTERIOR_H
#define TESTS_SUPPORT_INTERIOR_H

#include "support/check.h"
#include "support/random_problem.h"

#include "linalg/block_lu.h"
#include "solve/cones.h"
#include "solve/sweep.h"

typedef struct InteriorSetup {
    spragArena arena;
    spragCones cones;
    spragBlockLu lu;
    double *matrix, r[N];
} InteriorSetup;

static inline void interiorSetup(InteriorSetup *s, const spragProblem *problem, int sweeps)
{
    spragSweeper sweeper;
    memset(s, 0, sizeof *s);
    assert_true(spragConesInit(&s->cones, problem, &s->arena));
    const spragProblem *own = s->cones.problem;
    s->matrix = SPRAG_TAKE(&s->arena, double, 9 * own->block_count);
    assert_true(spragBlockLuAnalyse(&s->lu, own->contact_count, own->row_start, own->column, INFINITY, &s->arena) > 0);
    assert_true(spragSweeperInit(&sweeper, problem, NULL, &s->arena));
    for (int k = 0; k < sweeps; ++k)
        spragSweep(&sweeper, s->r);
}

#endif
