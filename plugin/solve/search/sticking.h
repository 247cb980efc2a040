/* Who sticks, where friction has no bound (mu = infinity), and nothing slides.
 *
 * Coulomb's law has two modes then:  u = 0, r_n >= 0,  or  r = 0, u_n >= 0.  A contact that parts lets go all three of
 * its rows at once, which bounds cannot say: with them a problem is solved for each set of contacts that hold.  Here
 * Newton's method goes by the modes themselves (Alart and Curnier 1991, with a disc of infinite radius),
 *
 *     x_n = r_n - u_n / w > 0:  u = 0,      else  r = 0,      w = trace(W_kk) / 3,
 *
 * on proximal problems u = W r + q + lambda w (r - center), as W is singular where walls and towers rest.  A step
 * is a linear system of those that stick, factorised among bodies where that is cheaper (solve/newton/tangent.h); all
 * contacts whose x_n has another sign then change their mode, as pivots of whole blocks do (pivots.c).  Nothing says
 * that this ends, as the tangential rows come and go with the normal one; where it does the answer obeys the law.
 * Other rows have their bounds, and three modes. */
#ifndef SPRAG_SOLVE_STICKING_H
#define SPRAG_SOLVE_STICKING_H

#include <sprag/sprag.h>

#include "base/arena.h"

/* 1: all blocks are boxes, and some of them may part. */
int spragStickingSuits(const spragProblem *problem, const unsigned char *parts);

/* parts (nc), 1: a contact with mu = infinity; its bounds are those of one that holds.  r (3 nc) in/out: the guess, the
 * answer.  sticks (nc): which contacts hold.  NOT_CONVERGED: r and sticks are the last iterate's.  ERROR_MEMORY: r is
 * the guess.  Adds to info->iterations and ->work. */
spragStatus spragStickingSolve(const spragProblem *problem, const unsigned char *parts,
                               const spragSolveOptions *options, spragArena *arena, double *r, unsigned char *sticks,
                               spragSolveInfo *info);

#endif
