/* The world as it stands before a step: every body and joint, checked, in order of creation. */
#ifndef SPRAG_ODE_SNAPSHOT_H
#define SPRAG_ODE_SNAPSHOT_H

#include "ode/world/world.h"

/* Takes note of a step that was made. */
void spragPaceNote(spragPace *pace, double step);

/* Fills world->snapshot from the arena.  SPRAG_ERROR_NOT_FINITE or _RANGE for a body that cannot be stepped. */
spragStatus spragSnapshotTake(spragWorldID world, double step);

#endif
