/* Continuation along the interior path, through its folds; for high friction, where interior.c is stopped by them. */
#ifndef SPRAG_SOLVE_PATH_H
#define SPRAG_SOLVE_PATH_H

#include <sprag/sprag.h>

#include "solve/newton/cones.h"
#include "solve/newton/tangent.h"
#include "solve/stop.h"

typedef struct spragPath spragPath;

/* The start of the path, twice as long as r is in the mean.  fine: 1: it goes on where rounding shortens its steps, up
 * to 70 cones in fine arithmetic.  NULL: no memory, or no start.  All is the arena's, which takes nothing back as long
 * as the path goes on. */
spragPath *spragPathBegin(const spragCones *cones, int fine, const double *r, spragArena *arena);
/* Goes on from where it ended, until `stop` or where it is lost.  r, of the problem that the cones are made of: the
 * best point on this way, unless stop.limit is 0.  tangent is of the cones' problem and loads.  Returns
 * factorisations. */
int spragPathGo(spragPath *path, const spragStop *stop, spragTangent *tangent, double *r);

#endif
