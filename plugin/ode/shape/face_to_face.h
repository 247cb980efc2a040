/* Hulls on a face of each other, and boxes, which are hulls, too.
 *
 * ODE's collider names one point, where they overlap most: a corner, another one in each step.
 *
 * Let F be a face of the one, its outward normal n, and G, in the plane m.x = g, the face of the other one whose normal
 * is most against n.  From a point u of F one comes to G along -n after
 *
 *     depth(u) = (m.u - g) / (m.n),
 *
 * which is linear in u: on the part of F that G covers, seen along n, it is least and most at corners, and what touches
 * at corners touches between them.  Where an edge or a corner of the other one is on F, these corners are its ends.
 *
 * Of several faces it is that which is entered by as much as the collider says.  Two edges that cross touch in one
 * point, which it names. */
#ifndef SPRAG_ODE_FACE_TO_FACE_H
#define SPRAG_ODE_FACE_TO_FACE_H

#include "ode/shape/beside.h"
#include "ode/world/hull.h"

enum { SPRAG_FACE_TO_FACE_MOST = 4 };

/* A hull in the world. */
typedef struct spragPlacedHull {
    spragHull hull;
    double centre[3], axis[3][3]; /* m, where its frame begins; rows: its axes */
} spragPlacedHull;

/* Where they touch, in the world, normals into the first.  named: the collider's point.  length: m, of the shorter one.
 * 0: not on a face, or by another depth than the one that is named. */
int spragFaceToFaceFind(const spragPlacedHull hull[2], const spragBesidePoint *named, double length,
                        spragBesidePoint point[SPRAG_FACE_TO_FACE_MOST]);

#endif
