/* Depths of a cylinder that stands on a face.
 *
 * ODE's collider of a cylinder and a box clips the end of the cylinder, an octagon, by the plane of the face, and gives
 * all the points that it finds the overlap of the deepest: a barrel that leans by half a degree has no less on the side
 * where it only just touches.  So it is lifted there too, leaves the floor, falls on its other side, and never rests.
 *
 * Let n be the normal of all of them, into the cylinder, a its axis, away from the face (p = n.a > 0), and c the centre
 * of the end.  Below a point x of the plane that end reaches
 *
 *     depth = a.(x - c) / p,      of the octagon, whose corners lie beyond the rim, no more than the whole does.
 *
 * That they are of such a collider the contacts say themselves: they have one normal and one depth, and their points
 * lie in the plane into which the cylinder reaches as deep.  The cylinder is a body's, or a column of the world with a
 * box of a body on it (statics.h).  The deepest corner must be among them: a program that asks for four contacts may be
 * given those of the other side, and these alone bear it.  (With depths of their own, which are 0, such coins sank by
 * their thickness, and rocked at 2 m/s.) */
#ifndef SPRAG_ODE_CAPS_H
#define SPRAG_ODE_CAPS_H

#include "ode/world/world.h"

/* Once the joints of the snapshot are there, and the step's statics have begun: contacts whose depth is not theirs are
 * replaced, in the arena (without memory they stay). */
void spragCapsLevel(struct spragWorld *world);

#endif
