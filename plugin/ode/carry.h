/* Forces of contact points that moved or are no more, for the guess.
 *
 * Two faces that lie on each other touch along whole edges; which points of them a collider names changes from step to
 * step by rounding.  The force and the moment of a pair of bodies stay what they were: what the last step's points p had,
 * and those points do not have that go on, F and M about c, goes to the points x_i of this step by the change that is
 * least in the sum of squares,
 *
 *     f_i = a + b x d_i,   d_i = x_i - c,   c = mean of x_i,   n a = F,   (sum |d_i|^2 1 - d_i d_i^T) b = M.
 *
 * Points nearly on one line, or nearly one point, would carry M by forces of any size.  A guess with such forces is worse
 * than none: 1000 boxes, one of which stood on three points for one step, were thrown at 8 km/s.  So b d_i gets no more than
 * what the points had that it comes from. */
#ifndef SPRAG_ODE_CARRY_H
#define SPRAG_ODE_CARRY_H

#include "ode/world.h"

/* Makes snapshot.carried, all 0, if any force may be carried.  0: no memory. */
int spragCarryBegin(spragWorldID world);
/* Fills it for the contacts of a pair of bodies: joint, next[joint] .. -1, a list that is used up; what is left of the
 * pair's records: left, next_left[left] .. -1.  Both may hold another pair's too, whose key is the same. */
void spragCarryForces(spragWorldID world, int joint, int *next, int left, const int *next_left);

#endif
