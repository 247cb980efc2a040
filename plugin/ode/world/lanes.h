/* Threads of a world and their memory.
 *
 * Each thread has a lane: an arena for what lives until the next step, and one for scratch.  Lane 0 is that of the
 * thread that called the step. */
#ifndef SPRAG_ODE_LANES_H
#define SPRAG_ODE_LANES_H

#include "ode/world/world.h"

/* As many as configured, before the first step and after a change.  Error: no memory, and there are none. */
spragStatus spragLanesMake(struct spragWorld *world);
void spragLanesFree(struct spragWorld *world);

#endif
