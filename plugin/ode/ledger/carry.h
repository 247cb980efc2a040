/* Forces of contact points that moved or are no more, for the guess.
 *
 * Two faces that lie on each other touch along whole edges; which points of them a collider names changes from step
 * to step by rounding. The force and the moment of a pair of bodies stay what they were. So what the points of the last
 * step had, less what the points that go on have in their guess, F and M about c, is given to the points x_i of this
 * step, by changes f_i that are least in sum |f_i|^2 / w_i,
 *
 *     f_i = w_i (a + b x d_i),   d_i = x_i - c,   c = sum w_i x_i / sum w_i,
 *     a sum w_i = F,   (sum w_i (|d_i|^2 1 - d_i d_i^T)) b = M.
 *
 * But what a point had that is no more is at first the guess of the nearest one, where the bodies rest: that may be the
 * only one that can bear it, and have borne nothing (a corner that was named twice). F and M are what then lacks.
 *
 * First w_i = N_i, the load a point has: what is loaded little changes little, and what is open stays open. A force
 * that leaves its cone all the same is drawn back, as far inside as it was outside, and what that takes is shared out
 * again: as a rule one or two rounds end with all forces within their cones. (Whoever takes a guess cuts off what
 * pulls, and then the pair lacks it: 1e-9 N are creep of 1e-12 m/s, and a full solution.) Tried for points without
 * load: shares of 2 %, 20 % or 100 % of the mean (walls have more steps to solve).
 *
 * Where that fails, or the bodies move, all w_i are 1, and cones are not looked at. Points nearly on one line, or
 * nearly one point, would carry M by forces of any size. A guess with such forces is worse than none: 1000 boxes, one
 * of which stood on three points for one step, were thrown at 8 km/s. So no point gets more than the sum of the
 * forces that F and M come from. */
#ifndef SPRAG_ODE_CARRY_H
#define SPRAG_ODE_CARRY_H

#include "ode/world/world.h"

/* Makes snapshot.carried, all 0, if any force may be carried.  0: no memory. */
int spragCarryBegin(spragWorldID world);
/* Fills snapshot.carried for the contacts of a pair of bodies: joint, next[joint] .. -1, a list that is used up.  left,
 * next_left[left] .. -1: records of the pair that no contact continues.  Both lists may hold another pair's too, whose
 * key is the same. */
void spragCarryForces(spragWorldID world, int joint, int *next, int left, const int *next_left);

#endif
