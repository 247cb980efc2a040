/* Handing an island's forces to ODE.
 *
 * The island's joints are disabled, the forces added to its bodies, ODE steps, the joints are enabled again.  Disabled
 * joints would hide from ODE that the bodies hang together: it would not wake a sleeper nor keep the island awake while
 * one body of it moves.  So where a body of ODE's island sleeps or may fall asleep, the bodies are tied for the step
 * by null joints (no rows), and ODE decides as ever.  A body that ODE put to sleep in the step did not use its forces:
 * its accumulators get back what they held. */
#ifndef SPRAG_ODE_PARK_H
#define SPRAG_ODE_PARK_H

#include "ode/world.h"

/* Everything that can fail (the pool of null joints), without touching a body.  Then Park cannot fail. */
spragStatus spragParkPrepare(struct spragWorld *world);
void spragPark(struct spragWorld *world);
/* After ODE's step; or, with stepped = 0, instead of it: everything as before spragPark. */
void spragUnpark(struct spragWorld *world, int stepped);

#endif
