/* Islands whose contacts hold without bound, or by mu_static, or are wedged: solved as if all were rigid (parting.h).
 *
 * Where the answer is none, other sets of contacts may hold (hold_some.h); else contacts yield (soften.h).
 *
 * An island may be solved again and again in one step: for each set of bounds of its joints' friction (bounded.h,
 * settle.h), each direction of sliding ends, each row let go, and smaller corrections where an answer throws bodies
 * (surge.h).  All these solutions together have island->work.most 3x3 products, some times what one of them has.  From
 * half of that on each has less, none has more than is left of it, and when it is spent the searches end with the best
 * answer so far.  (Dolls with friction in their joints on a floor of mu = infinity took up to 13 s in one step;
 * contacts that were never emptied, beside joints, 10 s.) */
#ifndef SPRAG_ODE_RELEASE_H
#define SPRAG_ODE_RELEASE_H

#include "ode/rows/rows.h"
#include "solve/solver.h"

/* Solves the island's problem from island->r: fills r, u and solve (its iterations: of all attempts).  Status as the
 * chain's. */
spragStatus spragReleaseSolve(const spragSolveOptions *options, spragIsland *island);

#endif
