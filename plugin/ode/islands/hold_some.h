/* Contacts of mu = infinity that are in conflict when all of them hold, and are not when only some do; or of which a
 * set holds that parting.h does not come upon.
 *
 * With an infinite coefficient a contact holds (u = 0, r_n >= 0) or is open (u_n >= 0, r = 0).  parting.h begins
 * with all of them held and lets go what pulls.  Where points of one body are to stand still that corrections move
 * apart, as in a groove, they press against each other, nothing pulls, and the compliance of 1e-11 W answers with
 * impulses without bound: that is told as a wedge.  But a set of them may hold while the others open, and then there is
 * none.
 *
 * So the sets are tried, few as they are: those first that differ least from what held in the last step.  Of more than
 * SPRAG_HOLD_FEW contacts those of one face go together. */
#ifndef SPRAG_ODE_HOLD_SOME_H
#define SPRAG_ODE_HOLD_SOME_H

#include "ode/rows/rows.h"
#include "solve/solver.h"

enum { SPRAG_HOLD_FEW = 5 }; /* contacts or faces: 32 sets of them take up to 0.3 ms */

/* Of an island in conflict, wedged, or before cones: r, u, solve and bounds of a set that holds (1), or all as it was
 * (0); -1: no memory.  Adds to *iterations. */
int spragHoldSome(const spragSolveOptions *options, spragIsland *island, int *iterations);

#endif
