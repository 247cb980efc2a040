/* Points of two faces that stay where they are.
 *
 * Where two boxes lie on each other, or touch along an edge, a collider has the choice of points, and rounding makes
 * it: from step to step it names other ones of the same patch.  As good as they are for the geometry, a pile at rest is
 * another problem with them.  The force and the moment of a pair can be carried over (carry.h), but among touching
 * towers they are shared out to points that bear next to nothing, and hold each other; a single point of two parallel
 * edges cannot carry the moment at all.  125 cubes that touch were solved anew in every second step for that, 150 ms.
 *
 * So a contact takes the place of its record, x and n and the depth, where that is as good an answer of the collider as
 * its own: the two bodies have not moved at x; the collider's point has the same normal, plane and depth; and x lies
 * within both geoms.  All of that up to STAYS of the arm, far less than anybody sees.  A contact without a record takes
 * one of its pair that no contact continues.
 *
 * Nor is the number of points the same.  Where edges of two boxes coincide, as those of bricks do, a collider names a
 * corner once or twice, or leaves it out for another point along the edge.  Of two points of a corner one may bear all,
 * and the other goes on.  So the records that bear most go on, in the place of any contact for which they are as good.
 *
 * For boxes about the centres of bodies, which can be asked what lies within them.  Colliders name the points of balls
 * and capsules, and those of a box on a plane, by their shape alone; and of geoms without a body nobody knows whether
 * they are still there, or where they were.  (Of ODE in single precision places are too coarse to stay.)  In islands of
 * more than SPRAG_BLOCKS_MANY joints: smaller ones are solved in less time than this saves. */
#ifndef SPRAG_ODE_STAY_H
#define SPRAG_ODE_STAY_H

#include "ode/world/world.h"

/* Makes room, if any contact may stay.  0: no memory. */
int spragStayBegin(spragWorldID world);
/* Asks for what spragStayTake will read of the joint's bodies. */
void spragStayAsk(const spragSnapshot *snapshot, const spragJointState *joint);
/* Contacts j, next[j] .. -1 of a pair of bodies, with their records; left, next_left[left] .. -1: records of the pair
 * that no contact continues yet.  Both lists may hold another pair's too, whose key is the same. */
void spragStayTake(spragWorldID world, int j, const int *next, int *left, int *next_left);

#endif
