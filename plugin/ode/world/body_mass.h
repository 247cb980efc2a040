/* Mass and inertia of a dynamic body, and their inverses, in world axes. */
#ifndef SPRAG_ODE_BODY_MASS_H
#define SPRAG_ODE_BODY_MASS_H

#include "ode/world/world.h"

/* Asks ODE for them: of sleepers only when their island wakes.  index: how messages call it.  SPRAG_ERROR_NOT_FINITE,
 * or SPRAG_ERROR_RANGE for a mass or an inertia that is not positive. */
spragStatus spragBodyMass(spragBodyState *body, int index);

#endif
