/* One step of an attached world. */
#ifndef SPRAG_ODE_STEP_H
#define SPRAG_ODE_STEP_H

#include "ode/world.h"

spragStatus spragStep(struct spragWorld *world, double step);

#endif
