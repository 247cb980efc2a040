/* Contacts with a mesh that lie between others of the same face.
 *
 * A mesh is asked triangle by triangle, and names where each of them ends: a wheel that lies across five small ones
 * has ten contacts on its lowest line, a box sixteen and more, where a plane names two and four.  Let P_k be points of
 * two bodies with one normal n and one law, whose gaps g_k are linear in P_k.  A point between others is
 *
 *     P_k = sum a_j P_j,    a_j >= 0,    sum a_j = 1,
 *
 * of the corners P_j of their convex hull.  Its gap and its approach are the same sum of theirs, so that it neither
 * opens nor presses unless they do; and what force it has along n the corners have in its place, with the same moment.
 * To the bodies it is nothing new, but to the problem it is another row that depends on the others: W is singular, the
 * methods that look for modes find dozens that are as good, and the ids of contacts change from triangle to triangle.
 * So only the corners are kept, and the wheel rolls as on a plane.
 *
 * That is so where friction is in proportion to the normal force.  (As a force it is of each contact: they are left
 * alone, and so are those with a surface of their own.)  What gives, along n or in slip, gives as much as on a plane,
 * whatever the number of triangles: tyres do not get stiffer, nor one of a car stiffer than the others.  A contact that
 * is deeper than what is between its corners is kept.  Those that are left out have the feedback 0. */
#ifndef SPRAG_ODE_BETWEEN_H
#define SPRAG_ODE_BETWEEN_H

#include "ode/world/world.h"

/* Joints first .. end - 1, of two geoms: sets `stray` of those. */
void spragBetweenLeaveOut(spragSnapshot *snapshot, int first, int end);

#endif
