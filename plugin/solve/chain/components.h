/* A problem that falls apart, solved part by part.
 *
 * Blocks couple where W has an entry for them.  The connected components of that graph have nothing to do with each
 * other:  u_C = W_CC r_C + q_C.  A step's islands are such components already; a problem file may hold a whole world,
 * and a few balls that lie apart, or a wedge without a solution, should not decide how the rest is solved.  (250 boxes
 * on the ground as one problem are 964 contacts for Newton's method, and by themselves four for the mode search.) */
#ifndef SPRAG_SOLVE_COMPONENTS_H
#define SPRAG_SOLVE_COMPONENTS_H

#include "solve/solver.h"

/* As spragChainSolve, component by component, the smallest first: what is left of the time is for the largest.  The
 * work limit is shared out by size.  *info: sums, the residual of all, the solver of the largest. */
spragStatus spragComponentsSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                                 double *r, double *u, spragSolveInfo *info);

#endif
