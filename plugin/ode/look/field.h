/* Contacts with a heightfield of the world.
 *
 * ODE asks a heightfield, for each of its triangles, where a body reaches lowest below the triangle's plane, and names
 * that point if it lies above or below the triangle; of wide bodies also the vertices within.  Two of its answers throw
 * bodies.
 *
 * Meshes.  Of a vertex x of the field, n the normal of its triangle into the body, a ray tells where x + t n leaves the
 * mesh: on the other side.  So a block of 0.25 m that has sunk by 1 mm is 0.249 m deep, and what hangs above a vertex
 * is as deep as it is high.  Where it overlaps the depth is the way back,
 *
 *     depth = the least t >= 0 with x - t n on a triangle of the mesh,
 *
 * and where there is none the mesh is above x, and there is no contact.
 *
 * What has sunk.  Over a convex edge what is round has no contact: the points where it is lowest below the two planes
 * have each passed the edge, and on a peak all have, however deep it is.  It falls through the field until it has
 * moved along, and is found as deep as it has fallen.  ERP would part it at e = erp depth / T, and throw it up by e^2 /
 * 2 g: at 240 steps a second 0.2 m deep by 4.7 m.  It should be lifted, and come to rest when it is out:
 *
 *     e <= sqrt(2 g depth) + cfm F.
 *
 * So a contact that asks for more has an ERP of its own, by which it asks for that.  (What gives bears F by e = cfm F:
 * up to F it bears as before.  F is ten times the weight of the body, or of the heaviest that it touches, which may lie
 * on it; of a body in joints, as wheels and feet are, a thousand times its own, as its load is unknown; and what the
 * program presses it with.)  Not springs: of a spragSurface, or made by the program of an ERP and a CFM, if cfm m / h
 * > 1. */
#ifndef SPRAG_ODE_FIELD_H
#define SPRAG_ODE_FIELD_H

#include "ode/world/world.h"

/* A contact that is enabled, overlaps and has no number of a triangle: is replaced, in the arena (without memory it
 * stays), or `stray`.  It is asked whose geoms these are only where there is something to mend.  *load: NULL before the
 * step's first such contact, then kg (body_count), in the arena. */
void spragFieldMend(struct spragWorld *world, spragJointState *joint, const double **load);

#endif
