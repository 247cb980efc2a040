/* Where two solids touch: computed, in place of what their collider names. */
#ifndef SPRAG_ODE_TOUCH_H
#define SPRAG_ODE_TOUCH_H

#include "ode/look/solid.h"

enum { SPRAG_TOUCH_MOST = 2 }; /* points of two solids */

/* A contact of the joint's own, at that place.  0: no memory. */
int spragTouchMove(const spragSolidPair *pair, spragJointState *joint, const spragPlace *place);

/* What the collider names is moved to where two pipes touch, and leaves some of the overlap.  place: where they touch
 * if they lie side by side, as many as are returned; 0: they do not.  -1: no memory. */
int spragTouchSettle(const spragSolidPair *pair, spragPlace place[SPRAG_TOUCH_MOST]);

#endif
