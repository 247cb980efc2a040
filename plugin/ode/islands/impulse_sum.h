/* What the impulses of an island give its bodies:  J^T r + E^T lambda,  with rows J of blocks and E of joints. */
#ifndef SPRAG_ODE_IMPULSE_SUM_H
#define SPRAG_ODE_IMPULSE_SUM_H

#include "ode/world/world.h"

/* Added to the impulse of every body (linear, then angular), in the same order for any number of threads. */
void spragImpulseSum(spragSnapshot *snapshot, const spragIsland *island);

#endif
