/* Conflict.  Contacts of mu = infinity can ask for what no motion gives: two that hold a body against two that push it
 * out.  The impulses of the answer are then without limit but for a compliance of 1e-11 W (delassus.c), with which
 * there is one. */
#ifndef SPRAG_ODE_CONFLICT_H
#define SPRAG_ODE_CONFLICT_H

#include "ode/rows/rows.h"

/* 1: some contact has mu = infinity.  (Where it parts it holds nothing, whatever its rows ask for.) */
int spragHasInfinite(const spragIsland *island);

/* 1: by the island's impulses contacts of mu = infinity ask for what no motion gives. */
int spragConflicts(const spragIsland *island);

/* island->wedge.speed: the speed at which contacts of mu = infinity yield that are in conflict whatever the others of
 * the island do, or 0.  OK or ERROR_MEMORY. */
spragStatus spragConflictFind(spragIsland *island);

/* Where contacts in conflict yield at a speed that counts: wedge, rigid, and u as rigid contacts have it. */
void spragYieldTell(spragIsland *island);

#endif
