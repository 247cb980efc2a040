/* One step of an attached world. */
#ifndef SPRAG_ODE_STEP_H
#define SPRAG_ODE_STEP_H

#include "ode/world.h"

/* A contact was made: halfway to as many joints as in the last step the threads are
 * woken, which takes a tenth of a millisecond. */
void spragStepContactMade(struct spragWorld *world);

spragStatus spragStep(struct spragWorld *world, double step);

#endif
