/* The joints of an island as solvers are told of them (problem/bodies.h). */
#ifndef SPRAG_ODE_LINKS_H
#define SPRAG_ODE_LINKS_H

#include "ode/rows.h"

/* island->links from its mechanisms.  0: no memory. */
int spragLinksMake(const spragSnapshot *snapshot, spragIsland *island);

#endif
