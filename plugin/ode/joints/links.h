/* The joints of an island as solvers are told of them (problem/bodies.h). */
#ifndef SPRAG_ODE_LINKS_H
#define SPRAG_ODE_LINKS_H

#include "ode/rows/rows.h"

/* island->links from its mechanisms.  0: no memory. */
int spragLinksMake(const spragSnapshot *snapshot, spragIsland *island);

/* Of a product by what its blocks reach (problem/reaches.h), in products of 3x3 blocks. */
double spragReachesPrice(const spragIsland *island);
/* island->reaches; locked: bits of the rows that joints hold, free: 1/kg, traces of J M^-1 J^T, both of every block and
 * kept, NULL without joints.  0: no memory. */
int spragReachesMake(spragIsland *island, const unsigned char *locked, const double *free);

#endif
