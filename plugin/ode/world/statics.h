/* Statics, the geoms without a body that bodies lie on: capsules, cylinders and convex hulls (rails, columns, rocks,
 * floors), and boxes for the hulls of bodies (of others on them ODE's collider names all points).  Heightfields are
 * found in the same way, but asked for by themselves.
 *
 * Of a geom without a body a contact knows the address alone, and nobody says whether it is still alive.  It is, if it
 * is found in a space: looked for are the space that holds a geom which is known to be alive, those that hold that one,
 * and all that lie within; but not in quadtrees, since ODE does not tell what they hold, nor beyond them.  (A program
 * that keeps such geoms in another space than its bodies' has contacts with the world, of which nothing is known.)
 *
 * The spaces are gone through at most once in a step, some 10 ns a geom, and not if there are more than
 * SPRAG_STATICS_AMONG.  (More often where bodies lie in more than SPRAG_STATICS_TOPS spaces that lie in none.)  What is
 * none, a plane or a mesh, is known for up to SPRAG_STATICS_STEPS steps, the first SPRAG_STATICS_OTHERS of them. */
#ifndef SPRAG_ODE_STATICS_H
#define SPRAG_ODE_STATICS_H

#include <ode/ode.h>

#include "base/arena.h"
#include "ode/world/gone.h"

enum { SPRAG_STATICS_AMONG = 1000, SPRAG_STATICS_STEPS = 64, SPRAG_STATICS_OTHERS = 64, SPRAG_STATICS_TOPS = 8 };

/* A geom, and the outermost open space about it. */
typedef struct spragPlaced {
    dGeomID geom; /* NULL: it is free */
    dSpaceID top;
} spragPlaced;

/* A world's, from step to step; {0} at its beginning. */
typedef struct spragStatics {
    spragPlaced other[2 * SPRAG_STATICS_OTHERS]; /* what is none */
    int others;
    spragArena *arena;                  /* of the step */
    dSpaceID space[SPRAG_STATICS_TOPS]; /* that have been gone through in it, or NULL */
    spragPointerMap map[SPRAG_STATICS_TOPS];
    int next; /* whose place is the next one's */
} spragStatics;

/* A step begins, the one of this number. */
void spragStaticsBegin(spragStatics *statics, spragArena *arena, long step);

/* Forgets what is gone. */
void spragStaticsForget(spragStatics *statics, const spragGone *gone);

/* 1: geom, which may be gone, is one of the statics, in a space about `alive`.  (A box is one if `alive` is a hull.)
 * 0: it is none, or there is no memory. */
int spragStaticsFind(spragStatics *statics, dGeomID alive, dGeomID geom);

/* The same of heightfields.  (What is none is not known: it is asked anew.) */
int spragStaticsIsField(spragStatics *statics, dGeomID alive, dGeomID geom);

#endif
