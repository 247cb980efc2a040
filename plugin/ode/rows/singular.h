/* What the policy (docs/theory.md 6) changes in the data of a step, before it is solved.
 *
 * A sliding contact with p < 0:
 *   b > 0, the policy lifts    position correction must not keep it: ERP's velocity is taken out of its row;
 *   it jams, restitution e > 0 the impact that ends the slip (spragJamImpulse) leaves v_n+ > 0.  As with a bounce
 *                              this is the normal velocity the row asks for: sticking at it, P = W^-1 ((v_n+, 0) - v)
 *                              is the total impulse of the jam. */
#ifndef SPRAG_ODE_SINGULAR_H
#define SPRAG_ODE_SINGULAR_H

#include "ode/rows/rows.h"

/* m/s, what is added to q of block k's normal row. */
double spragSingularShift(const struct spragWorld *world, const spragIsland *island, int k);
void spragSingularAdjust(const struct spragWorld *world, const spragIsland *island, double *q);

#endif
