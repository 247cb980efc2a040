/* Handing an island's forces to ODE.
 *
 * The island's joints are disabled, the forces added to its bodies, ODE steps, the joints are enabled again.  (Where no
 * joint is left to ODE, and no callback may look, ODE's lists of joints are empty for that time: to walk through those
 * of 10 000 boxes took it two thirds of its step.)  Disabled joints would hide from ODE that the bodies hang together:
 * it would not wake a sleeper, and would put to sleep what is idle in an island that is awake.  So Sprag does to these
 * bodies what ODE would have done, and keeps ODE's counters.  A moved callback of the user sees the joints enabled,
 * with the feedback of this step. */
#ifndef SPRAG_ODE_PARK_H
#define SPRAG_ODE_PARK_H

#include "ode/world/world.h"

/* Cannot fail.  1: a moved callback of the user's will be called. */
int spragPark(struct spragWorld *world);
/* After ODE's step; or, with stepped = 0, instead of it: everything as before spragPark. */
void spragUnpark(struct spragWorld *world, int stepped);

#endif
