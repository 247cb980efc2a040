/* Heaps that contacts glue together: every tangential row holds without bound (mu = infinity as a force), as between
 * the ten thousand balls that ODE's demo_space_stress makes inside each other, 2e6 contacts, of which neither W nor a
 * factor of it fits into memory, or into the time.  Small ones, whose W is there, are solved here first too: 300 balls
 * in a hundredth of the time that Newton's method takes with W.
 *
 *     u = q + J v + C r,   M v = J^T r,   r_n >= 0  _|_  u_n >= 0,   u_t = 0,
 *
 * is the optimum of a convex problem whose dual lives in the velocities of bodies.  Proximal points
 * (Rockafellar 1976: the method of multipliers) with centers c and a small compliance e of the tangential rows
 * (which have C = 0, or next to nothing, else it does not suit),
 *
 *     r_n(v) = max(0, -(q_n + J_n v) / C),   r_t(v) = c_t - (q_t + J_t v) / e,   M v = J^T r(v),
 *
 * are equations for v, the gradient of a convex function: Newton with an exact line search, each step by
 * conjugate gradients, c := r(v) after it.  (Where C < e the normal row has e and a center too.)
 *
 * What it takes.  The judge is given r, whose bodies move with M^-1 J^T r, not with v: what the gradients leave stands
 * in r multiplied by 1/e, so they must go on until M^-1 g is below the slip (q_t + J_t v), not to some share of where
 * they began.  And e must be small: forces inside such a heap are a thousand times those that move it, and more where
 * contacts barely hold, and the slip is e r_t.  A small e costs nothing if two things are right.
 *
 * Rounding: z = q + J v, which 1/e multiplies, goes with v step by step, by rows.  Steps end small, and so does what
 * rounding leaves of them; of q + J v, or of its part across the normal, it leaves 1e-16 of all that moves.  Then e is
 * 1e-10 of W, where z itself allows 1e-8, and the first center or the second is enough.
 *
 * The preconditioner: 1/e resists everything but what slides nowhere.  In dense heaps that is what moves them, or a
 * part of them, as a whole (glue_coarse.h), beside the 6 x 6 blocks of the bodies: 200 products for 2e6 contacts
 * of 10 000 balls, 480 for 270 000; with blocks alone, and e in stages, 2800 and 5100.  Where a body has a few
 * contacts there are as many such motions as bodies, but a factor of M + J^T S J is cheap (glue_factor.h), and as
 * Cholesky's it is good to an e of 1e-13.  (LU with inverses of whole pivots was not below 1e-8: 55 000 contacts that
 * barely hold 10 000 balls stayed at 2e-4 m/s, whatever mixed the centers.)  A factor is kept
 * until a step takes so many iterations that the next one is cheaper: a heap takes two or three.
 *
 * Not where tangential rows yield by more than e (dContactSlip1, dContactSlip2): every body slides then, softly, at
 * contacts whose normals resist by 1/e.  Blocks of bodies tell nothing of such motions, and Newton's method does not
 * find out who presses: 5000 products, 0.3 to 3 s, in vain.  Among contacts these equations are the easiest there are,
 * as W has the compliance on its diagonal: the chain's Newton method takes four steps. */
#ifndef SPRAG_SOLVE_GLUE_H
#define SPRAG_SOLVE_GLUE_H

#include <sprag/sprag.h>

#include "base/arena.h"

/* Of a problem of BOX blocks 0 <= r_n, r_t free (or 0: what has parted), in an orthonormal frame, that is told of its
 * bodies; of W the diagonal blocks are read alone, and what they have beyond J M^-1 J^T is C.  r (3 nc): in the guess,
 * out with u the best that was found, and what is told of it.  OK, LIMIT; ERROR_MEMORY: r is the guess. */
spragStatus spragGlueSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                           double *u, spragSolveInfo *info);

/* 1: it is such a problem, and its tangential rows hardly yield. */
int spragGlueSuits(const spragProblem *problem);

#endif
