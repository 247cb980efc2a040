/* Islands: the bodies and joints that must be solved together.
 *
 * ODE's island (here: component) holds all bodies reachable through enabled joints, kinematic bodies included; one
 * enabled body wakes all of it.  Kinematic bodies do not move under forces, so what hangs together only through them is
 * independent: Sprag's islands are the components of the dynamic bodies alone.  An island without contacts is none of
 * Sprag's business. */
#ifndef SPRAG_ODE_ISLAND_H
#define SPRAG_ODE_ISLAND_H

#include "ode/world/world.h"

/* Fills component, awake, island of the bodies, island of the joints, and snapshot.island.  ERROR_MEMORY or OK. */
spragStatus spragIslandsFind(spragArena *arena, spragSnapshot *snapshot);

#endif
