/* What the interior methods are given: the cones, their tangent, and a guess from sweeps. */
#ifndef TESTS_SUPPORT_INTERIOR_H
#define TESTS_SUPPORT_INTERIOR_H

#include "support/check.h"
#include "support/random_problem.h"

#include "solve/newton/cones.h"
#include "solve/newton/tangent.h"
#include "solve/sweep/sweep.h"

typedef struct InteriorSetup {
    spragArena arena;
    spragCones cones;
    spragTangent tangent;
    double r[N];
} InteriorSetup;

static inline void interiorSetup(InteriorSetup *s, const spragProblem *problem, int sweeps)
{
    spragSweeper sweeper;
    memset(s, 0, sizeof *s);
    assert_true(spragConesInit(&s->cones, problem, &s->arena));
    assert_int_equal(
        spragTangentInit(&s->tangent, s->cones.problem, s->cones.load, SPRAG_TANGENT_CHEAPER, INFINITY, &s->arena), 1);
    assert_true(spragSweeperInit(&sweeper, problem, NULL, &s->arena));
    for (int k = 0; k < sweeps; ++k)
        spragSweep(&sweeper, s->r);
}

#endif
