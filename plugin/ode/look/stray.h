/* Contacts of a ball that are none.
 *
 * A ball on a plane touches it at one point, the foot of its centre.  A mesh is asked triangle by triangle, and of each
 * that reaches into the ball the nearest point is reported: of those beside the one that it lies on a point of their
 * common edge, with the normal of the triangle.  A ball that rolls at v moves there along that normal, at v times the
 * sine of the angle to the foot: it is thrown up in front, held back, and hops.
 *
 * So of the contacts of a ball with one mesh those are left out that lie on the plane of another one whose normal leads
 * to the ball's centre, or below it.  There the ball has nothing but what is sunk into that plane.  Edges are real, and
 * left alone, where no such contact is beside them: where the ball rolls over the rim of a table, or in a groove.  Of
 * triangles in one plane, at whose common edge the ball stands, the first that was named keeps its contact.
 *
 * What rests on a mesh keeps some of its overlap.  Triangles have coordinates in single precision, so that a slope of
 * them is uneven by up to 1e-6 m at 16 m from the origin.  What lies on it without an overlap has no contact where it
 * is lower, falls there by g h^2 in a step, and is thrown back. */
#ifndef SPRAG_ODE_STRAY_H
#define SPRAG_ODE_STRAY_H

#include "ode/world/world.h"

/* Sets `stray` of such contacts, before islands are found.  (Not of those whose feedback the user wants.)  Of what is
 * no ball contacts are left out that lie between others of one face (between.h).  Of what lies on a heightfield depths
 * are put right (field.h). */
void spragStraysFind(struct spragWorld *world);

/* Afterwards: they have the island of their bodies, with which they are kept from ODE, and are not in its list. */
void spragStraysPlace(spragSnapshot *snapshot);

#endif
