/* One step of an attached world. */
#ifndef SPRAG_ODE_STEP_H
#define SPRAG_ODE_STEP_H

#include "ode/world/world.h"

/* A contact was made.  Once the world has half as many joints as in the last step its threads are woken, which takes a
 * tenth of a millisecond: they are awake when the step begins. */
void spragStepContactMade(struct spragWorld *world);

/* step: s, > 0.  OK; ERROR_MEMORY, or (of a world that is not lenient) what is absurd in it: the world is then as it
 * was. */
spragStatus spragStep(struct spragWorld *world, double step);

#endif
