/* Capsules, cylinders and convex hulls that no body has: rails, pipes, columns, rocks and floors of the world.  Pipes,
 * for short.  For hulls boxes are such, too: of others than hulls ODE's collider names all points on them.  And
 * heightfields, which are no pipes, but found in the same way.
 *
 * Of a geom without a body a contact knows the address alone, and nobody says whether it is still alive.  It is, if it
 * is found in a space: looked for are the space that holds a geom which is known to be alive, those that hold that one,
 * and all that lie within; but not in quadtrees, since ODE does not tell what they hold, nor beyond them.  (A program
 * that keeps such geoms in another space than its bodies' has contacts with the world, of which nothing is known.)
 *
 * The spaces are gone through at most once in a step, some 10 ns a geom, and not if there are more than
 * SPRAG_PIPES_AMONG.  (More often where bodies lie in more than SPRAG_PIPES_TOPS spaces that lie in none.)  What was
 * none, a floor or a wall, is known for up to SPRAG_PIPES_STEPS steps, the first SPRAG_PIPES_OTHERS of them. */
#ifndef SPRAG_ODE_PIPES_H
#define SPRAG_ODE_PIPES_H

#include <ode/ode.h>

#include "base/arena.h"
#include "ode/world/gone.h"

enum { SPRAG_PIPES_AMONG = 1000, SPRAG_PIPES_STEPS = 64, SPRAG_PIPES_OTHERS = 64, SPRAG_PIPES_TOPS = 8 };

/* A geom, and the outermost open space about it. */
typedef struct spragPlaced {
    dGeomID geom; /* NULL: it is free */
    dSpaceID top;
} spragPlaced;

/* A world's, from step to step; {0} at its beginning. */
typedef struct spragPipes {
    spragPlaced other[2 * SPRAG_PIPES_OTHERS]; /* no pipes */
    int others;
    spragArena *arena;                /* of the step */
    dSpaceID space[SPRAG_PIPES_TOPS]; /* that have been gone through in it, or NULL */
    spragPointerMap map[SPRAG_PIPES_TOPS];
    int next; /* whose place is the next one's */
} spragPipes;

/* A step begins, the one of this number. */
void spragPipesBegin(spragPipes *pipes, spragArena *arena, long step);

/* Forgets what is gone. */
void spragPipesForget(spragPipes *pipes, const spragGone *gone);

/* 1: geom, which may be gone, is such a pipe in a space about `alive`, or a box if that is a hull.  0: it is not, or
 * there is no memory. */
int spragPipesFind(spragPipes *pipes, dGeomID alive, dGeomID geom);

/* The same of heightfields.  (What is none is not known: it is asked anew.) */
int spragPipesIsField(spragPipes *pipes, dGeomID alive, dGeomID geom);

#endif
