/* Large heaps that contacts glue together: every tangential row holds without bound (mu = infinity as a force), as between
 * the ten thousand balls that ODE's demo_space_stress makes inside each other, 2e6 contacts.  Neither W nor a factor of it fits
 * into memory, or into the time.
 *
 *     u = q + J v + C r,   M v = J^T r,   r_n >= 0  _|_  u_n >= 0,   u_t = 0,
 *
 * is the optimum of a convex problem whose dual lives in the velocities of bodies.  Proximal points (Rockafellar 1976: the
 * method of multipliers) with centers c and a small compliance e of the tangential rows,
 *
 *     r_n(v) = max(0, -(q_n + J_n v) / C),   r_t(v) = c_t - (q_t + J_t v) / e,   M v = J^T r(v),
 *
 * are equations for v, the gradient of a convex function: Newton, each step by conjugate gradients with the 6 x 6 blocks of the
 * bodies as preconditioner, c := r(v) after it.  (Where C < e the normal row has e and a center too.)
 *
 * What it takes.  The judge is given r, whose bodies move with M^-1 J^T r, not with v: what the gradients leave stands in
 * r multiplied by 1/e, so they must go on until M^-1 g is below the slip (q_t + J_t v), not to some share of where they
 * began.  And e must be small: forces inside such a heap are a thousand times those that move it (uniform expansion moves no contact
 * sideways), and so is the slip e r_t.  Rounding leaves some 1e-15 |v| / e, so e goes down by tenths until a center or two are enough:
 * 3000 balls with 182 000 contacts are at 6e-7 m/s after 3300 products.  With e in the normal rows as well as C, or gradients to a
 * thousandth of where they begin, it is 2 m/s after any number. 
 *
 * Heaps that have come half apart have many more modes that next to nothing resists: 3000 balls with 19 000 contacts are at 4e-3 m/s
 * after 15 000 products.  But a factor of M + J^T S J (solve/tangent) is cheap then.  It is the preconditioner, also where e is another
 * and some contacts have opened since, until one step takes more iterations than are cheaper than the next factor; and as
 * the centers are a linear iteration while nothing opens or closes, Anderson's mixing finds what goes on slowly in it: 3e-7 m/s with three
 * factors and 110 products; 63 000 contacts of 10 000 balls, 2e-8 with two and 290.  Its pivots, blocks inverted, lose twice the
 * digits of e, so e ends at 1e-8, and at 1e-7 where
 * that is below rounding. */
#ifndef SPRAG_SOLVE_GLUE_H
#define SPRAG_SOLVE_GLUE_H

#include <sprag/sprag.h>

#include "base/arena.h"

/* Of a problem of BOX blocks 0 <= r_n, r_t free in an orthonormal frame, that is told of its bodies and their C; of W the
 * diagonal blocks are read alone.  r (3 nc): in the guess, out with u the best that was found, and what is told of it.  OK, LIMIT,
 * NOT_CONVERGED; ERROR_MEMORY: r is the guess. */
spragStatus spragGlueSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                           double *u, spragSolveInfo *info);

#endif
