/* Islands without an answer that is found: contacts yield, by a compliance s w on the diagonal of W, w the mean of the
 * diagonal of W_kk.
 *
 * Conflict (conflict.h).  The impulses of an answer are without limit but for a compliance of 1e-11 W (delassus.c),
 * with which there is one.  Where every contact holds by infinite friction pivots find it; if they do not (rounding
 * alone leaves 1e-6 m/s of 1e9 N s), all contacts yield by s = 1e-8, ODE's CFM in a world of kilograms, and by ten
 * times that until an answer is found.  Where others have a part in it no method finds it (Newton's took 5000 to 40
 * 000 steps): they yield by s = 1e-5 at once, and with them rolling friction.  Where contacts yield by a micrometre a
 * second and more the island is told of as a wedge, below: what is solved and judged has the compliance of the world's
 * CFM, of W's, and this one; `rigid` has none.
 *
 * Wedged.  Where an island was missed by some milliseconds of the chain, existence.c is asked whether some motion
 * parts all contacts faster than it slides.  If so a solution exists, and the rest of the chain goes on looking for it.
 * If not, friction locks a wedge: impulses inside the cones which stop each other (W r = 0) and which the motion drives
 * home (q.r < 0), as between the planks that a game has let a door sink into, all pushing it out.  There may be a rigid
 * solution all the same: boxes that a wall pushes have one in two of three such islands.  It has some milliseconds more
 * (release.c), and of the planks none has been seen (stormbaancoureur: all of 20).  Then all contacts yield,
 * along their normals or, if need be, in all directions, by s = 1e-3 or, if need be, 1e-2 or 1e-1, with which a
 * solution exists by the same criterion.  That problem is solved and judged; the closing speed and the residual of the
 * rigid one are kept beside it (spragWedge), counted and told on their own.
 *
 * Squeezed.  If there is such a wedge without any friction, no motion keeps the bodies apart: a box between the floor
 * and a press, or in the jaws of a gripper, which are driven and do not give way.  Nothing but the compliance that the
 * world's CFM gives has an answer then.  So where the last step did not find that, this one does not look for it, and
 * contacts yield at once.
 *
 * Guides.  Two-sided contacts lock too, a slider that jams with the floor that pushes it out.  They yield only where no
 * contact has a part in the wedge, or where contacts that yield are not enough: what joints hold is not to move.  Rows
 * across a sliding bearing that contradict each other (two rails) are a wedge that closes by what they differ.  With a
 * CFM of 1e-10 a jam has an answer of 1e9 N s, which nobody finds to 1e-8 m/s: guides with huge impulses that were
 * missed are asked for a motion by modest ones.
 *
 * W is the true one in the end.  If no yielding is of use, the answer is what it was.  (Of use is also what misses,
 * by less than a tenth of what the rigid answer leaves.)
 * Such islands count as fallbacks. */
#ifndef SPRAG_ODE_SOFTEN_H
#define SPRAG_ODE_SOFTEN_H

#include "ode/rows/rows.h"

/* Solves the missed island so: a wedge, or a conflict where island->wedge.speed is 0.  guess (3 block_count): where to
 * begin, or NULL.  Fills r, u, solve, wedge and rigid; adds to *iterations.  Status as the chain's. */
spragStatus spragYieldingSolve(const spragSolveOptions *options, spragIsland *island, const double *guess,
                               int *iterations);

/* Under a limit there is no time to ask for a wedge.  In one, sweeps of rigid contacts never end: either impulses grow
 * until rounding throws bodies, or r = 0 is the better answer, and bodies fall through the ground.  So a small island
 * that was missed by a tenth and more of what r = 0 leaves is swept from rest with s = 1e-1, which ends.  Of the two
 * answers the better one by the judge of the rigid problem is taken; where impulses were huge, the new one.  Status:
 * LIMIT, or as it was, or ERROR_MEMORY. */
spragStatus spragYieldingSweep(const spragSolveOptions *options, spragIsland *island, int *iterations);

/* As spragYieldingSweep, where friction is high: some sweeps from r = 0 with coefficients of at most 1.  The residual
 * of r = 0 is the approach over sqrt(1 + mu^2), so no answer may be much better by it; but r = 0 lets bodies fall into
 * each other, and ERP throws them out.  So where bodies still approach that answer is taken that leaves less kinetic
 * energy. */
spragStatus spragSlippingSweep(const spragSolveOptions *options, spragIsland *island, int *iterations);

/* 1: it has guides without play, or sliding bearings. */
int spragHasGuides(const spragIsland *island);

/* island->wedge.speed: about the speed at which a wedge closes that friction locks (existence.c), or 0.  OK or
 * ERROR_MEMORY. */
spragStatus spragWedgeFind(spragIsland *island);

/* island->wedge.squeezed: 1 if contacts close whatever their friction; then its speed is no less than how fast.  Else
 * island->wedge.unsqueezed says for how many steps that may be believed.  OK or ERROR_MEMORY. */
spragStatus spragSqueezeFind(spragIsland *island);

#endif
