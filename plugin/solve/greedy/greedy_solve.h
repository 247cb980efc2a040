/* How long to visit, and what comes of it: the ways in which the rounds and sweeps of greedy.h make an answer.
 *
 * Of what moves: visits until the tolerance is met, time is up, or W is worth its price.  Where friction is high they
 * may lead away, and of two answers that one is taken which takes more energy; where it is infinite they come in
 * rounds, between which what does not press lets go (greedy_hold.h).
 *
 * Of what rests, or rests but for a few bodies: visits of what is stirred, and of nothing else. */
#ifndef SPRAG_SOLVE_GREEDY_SOLVE_H
#define SPRAG_SOLVE_GREEDY_SOLVE_H

#include "problem/problem.h"
#include "solve/greedy/greedy.h"

/* All: from the guess in greedy; its r, u (contact_count x 3) and what is told of the answer.  others: see
 * spragGreedyBegin. */

/* What moves.  OK: within the tolerance; LIMIT: time or visits are used up; NOT_CONVERGED: W is worth forming. */
spragStatus spragGreedySolve(const spragSolveOptions *options, spragGreedy *greedy, double *others, double *u,
                             spragSolveInfo *solve);

/* What seems to rest.  OK: within the tolerance, and what holds creeps no faster than rounding, or after a few visits
 * no faster than `slow`.  roughly: creep is not asked for, and there may be more visits; so it is too where nobody
 * would end the creep (spragCreepMatters).  Else NOT_CONVERGED. */
spragStatus spragGreedySolveRest(const spragSolveOptions *options, int roughly, double slow, spragGreedy *greedy,
                                 double *others, double *u, spragSolveInfo *solve);
/* After it, of what creeps faster than `slow`: some visits.  OK: within the tolerance, and it creeps half as fast.
 * Else NOT_CONVERGED. */
spragStatus spragGreedyCalm(const spragSolveOptions *options, spragGreedy *greedy, double *u, spragSolveInfo *solve);

/* What rests but for a few bodies, and where W is not worth its price: visits of what these stir.  OK: within the
 * tolerance; else LIMIT. */
spragStatus spragGreedySolveStirred(const spragSolveOptions *options, spragGreedy *greedy, double *others, double *u,
                                    spragSolveInfo *solve);

/* 1: in so many seconds, as a rule, the chain ends what that left, with W. */
int spragGreedyMayEnd(const spragGreedy *greedy, double seconds);

#endif
