/* A problem of one block: all its solutions (local.h), of which the policy picks (policy.h), or the only one. */
#ifndef SPRAG_SOLVE_SINGLE_H
#define SPRAG_SOLVE_SINGLE_H

#include <sprag/sprag.h>

/* 1: it is one that spragSingleSolve knows. */
int spragSingleIs(const spragProblem *problem);

/* r (3) becomes its answer, or stays where there is none; adds to info. */
void spragSingleSolve(const spragProblem *problem, const spragSolveOptions *options, double *r, spragSolveInfo *info);

#endif
