/* Planes and points of a convex hull (dCreateConvex), which ODE does not give back.
 *
 * A hull's arrays are the program's, for as long as the geom lives, and ODE keeps their addresses.  Where, is found,
 * not assumed (as in layout.h): once per process two hulls are made, and searched for what they were made of.  Where it
 * is not found unambiguously, hulls stay unknown. */
#ifndef SPRAG_ODE_HULL_H
#define SPRAG_ODE_HULL_H

#include <ode/ode.h>

/* In the frame of the geom.  Not to be trusted but for its points: by these alone ODE's colliders go, and a plane that
 * faces inward, or an array that is cut short, nobody notices. */
typedef struct spragHull {
    const dReal *planes; /* (plane_count x 4), or NULL */
    const dReal *points; /* (point_count x 3) m */
    int plane_count, point_count;
} spragHull;

/* Looks for them; any thread.  ODE must be initialised. */
int spragHullsKnown(void);

/* geom: a hull that is alive.  0: unknown, or it has none. */
int spragHullRead(dGeomID geom, spragHull *hull);

#endif
