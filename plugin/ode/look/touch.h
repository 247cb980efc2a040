/* Where two solids touch: computed, in place of what their collider names. */
#ifndef SPRAG_ODE_TOUCH_H
#define SPRAG_ODE_TOUCH_H

#include "ode/look/solid.h"

enum { SPRAG_TOUCH_MOST = 8 }; /* points of two solids */

/* 1: a hull and a capsule, cylinder or ball. */
int spragTouchIsRoundOnHull(const spragSolidPair *pair);

/* A contact of the joint's own, at that place.  0: no memory. */
int spragTouchMove(const spragSolidPair *pair, spragJointState *joint, const spragPlace *place);

/* What the collider names is moved to where two pipes touch, or a hull and what is round, a hull or a box, and leaves
 * some of the overlap.  place: where they touch if they lie side by side, or on a face, as many as are returned; 0:
 * they do not.  -1: no memory. */
int spragTouchSettle(const spragSolidPair *pair, spragPlace place[SPRAG_TOUCH_MOST]);

#endif
