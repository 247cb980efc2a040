/* Contacts of boxes, capsules and cylinders with a mesh that is flat where they are.
 *
 * A mesh is asked triangle by triangle, and of each its least overlap is reported: the corner of a triangle that
 * reaches 3 mm under a box that is 4 mm deep in the plane of all of them is to be left sideways.  A box that slides
 * over a flat mesh is stopped by that in mid-air, and thrown up; a capsule that rolls meets edges in front of it.
 *
 * A convex body and the mesh are parted by the least overlap of both as a whole.  So let M_j be the points of the mesh
 * in the contacts of the two.  If all of them lie in one plane (n, h), and the body reaches no farther below it than
 * the contacts say, they are those of the body with that plane: n is the normal of all, each overlaps by what lies
 * below the plane at M_j, and what is round touches at the foot of its axis, not at M_j.  Where one point of the mesh
 * stands out of the plane (a step, a wall, a ridge beneath the body) nothing is changed, nor where the body stands
 * across the plane, as beside the rim of a table.  Of what is slow (in flat.c) only contacts are turned all of which
 * have about the plane's normal: those of a box that leans a little have that of its face, and of the triangles.
 *
 * Of what is round, lies and leans a triangle's contacts end where its line leaves the plane, in mid-line, at depth 0.
 * A wheel rests on that as on a pivot, another one in each step.  A plane has its lower end alone, and so has a mesh
 * where such a point tells that the line leaves it, if the wheel moves, and friction is in proportion to the normal
 * force. */
#ifndef SPRAG_ODE_FLAT_H
#define SPRAG_ODE_FLAT_H

#include "ode/world/world.h"

/* Joints first .. end - 1 of two geoms, one of which is a mesh: contacts that differ from those with its plane are
 * replaced, in the arena (without memory they stay).  Those that have left it, or are none, are `stray`. */
void spragFlatTurn(struct spragWorld *world, int first, int end);

#endif
