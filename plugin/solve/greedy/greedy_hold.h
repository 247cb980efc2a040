/* Contacts with mu = infinity in the visits of greedy.h.
 *
 * What holds its tangential rows without bound makes a convex problem, the least energy r.q + r.W r / 2 over r_n >= 0,
 * and a visit, which solves a contact exactly, never adds to it: such visits lead nowhere astray, whatever rows ask for
 * that no motion gives.  But an infinite coefficient (SPRAG_GREEDY_STICKS) holds only what presses.  So some visits are
 * made with each contact as it was taken, holding or parted, and then what parts holds no more, and what presses does,
 * and so on (as in parting.h).  With mu = 10 or 100 in place of infinity, or if each visit decides whether its
 * contact holds, heaps of 50 boxes and more get energy from their visits, and fly apart.
 *
 * So coefficients above SPRAG_GREEDY_STEEP, too, are taken for infinite, and the last visits are made with the true one
 * of those that are beyond their cones then, or have parted. */
#ifndef SPRAG_SOLVE_GREEDY_HOLD_H
#define SPRAG_SOLVE_GREEDY_HOLD_H

#include "solve/greedy/greedy.h"

/* 1: some contacts have an infinite coefficient, or, if `steep`, a high one. */
int spragGreedySticks(const spragGreedy *greedy, int steep);

/* What is steep becomes infinite; mu (contact_count): as they were. */
void spragGreedyHoldSteep(spragGreedy *greedy, double *mu);
/* Those of them that ask for more than they have, or all, are what they were.  1: there are some. */
int spragGreedyHoldLess(spragGreedy *greedy, const double *mu, int all);

/* From the guess: those hold that bear a load, or close. */
void spragGreedyHoldFirst(spragGreedy *greedy);

/* From where visits came to: what bears nothing holds no more, and is given up; with_return: what bears a load holds
 * again.  The judge has to look before the next visit.  1: something changed. */
int spragGreedyHoldAgain(spragGreedy *greedy, int release, int with_return);

#endif
