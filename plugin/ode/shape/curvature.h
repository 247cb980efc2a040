/* How the surfaces of two bodies are curved where they touch: radii and axes of their geoms.  Jdot v follows from them
 * (velocity_product.h). */
#ifndef SPRAG_ODE_CURVATURE_H
#define SPRAG_ODE_CURVATURE_H

#include <math.h>

#include "linalg/vec3.h"
#include "ode/world/world.h"

/* Radius of a flat surface. */
#define SPRAG_CURVATURE_FLAT INFINITY
/* Surfaces nothing is known of (trimesh, convex hull): no term, but for what turns as the user says. */
#define SPRAG_CURVATURE_UNKNOWN NAN
/* How far from the normal's line the centre of a round surface may lie, in radii; farther off the radius is UNKNOWN.
 * (Where two triangles meet a ball has a contact with either, and one of them has its point on the edge and the normal
 * of its triangle.) */
#define SPRAG_CURVATURE_ASTRAY 0.1

/* 1: geom is one of the body's own, and so alive; what a contact remembers may be gone. */
int spragGeomIsOf(dBodyID body, dGeomID geom);

/* m, radius of curvature of one body's surface at the contact, from the geom if it is one of the body's own: sphere
 * and rounded bodies their radius, box and none 0 (a tip), plane and the world flat. */
double spragCurvatureRadius(dBodyID body, dGeomID geom);
/* m, that of a geom that is known to be its body's. */
double spragCurvatureOwn(dGeomID own);

/* m, half the thickness, where it is thinnest, of a geom that is alive; INFINITY: none knows (a mesh, a hull). */
double spragHalfThickness(dGeomID geom);

/* 1: a finite radius > 0.  (Only of a geom that is its body's, and so alive, a radius is known.) */
static inline int spragCurvatureIsRound(double radius)
{
    return radius > 0 && radius < SPRAG_CURVATURE_FLAT;
}

/* arm (3): m, from the point to the centre of a geom that is its body's. */
void spragCurvatureArm(dGeomID geom, const double point[3], double arm[3]);

/* 1: a sphere about the centre of its body. */
int spragCurvatureIsBall(dGeomID geom);
/* 1: a box about the centre of its body; radius: its own. */
int spragCurvatureIsBox(double radius, dGeomID geom);
/* Of two such boxes with these rotations: what spragCurvatureSink does to radius. */
void spragCurvatureFlatten(double radius[2], const double first[9], const double second[9], const double n[3]);

/* Radii (2) of the geoms of the two bodies, to the distances, m, of their centres of curvature from the contact's
 * point along n.  A point of bodies that overlap is sunk in: by half of `depth` between two balls, all of it where it
 * is on a box or a triangle, not at all on a plane.  A ball that turns with w while it falls on a box would else seem
 * to leave it with w^2 depth, and hop by h times that.  UNKNOWN where the centre of a ball or capsule does not lie
 * along n.  FLAT is the box of two that has n for the normal of a face: the other has a corner or an edge there; and
 * the end of a cylinder, where n is its normal, to all but a face of a box.  (Two round bodies keep half of their
 * radii, so that n does not turn with their slip over no distance where they lie inside each other.) */
void spragCurvatureSink(double radius[2], const dGeomID geom[2], const double point[3], const double n[3],
                        double depth);

/* axis (2 x 3): of capsules and cylinders that are touched on their side: they are straight along it.  0 where there
 * is none, and where the other surface is not round: a plane asks for none.  (Of two that are parallel the thinner has
 * none, as what is touched beyond its end.)  radius: as they are sunk.  1: there is one. */
int spragCurvatureAxes(const double radius[2], const dGeomID geom[2], const double point[3], const double n[3],
                       double axis[2][3]);

/* Of a ball or capsule.  arm (3): m, from the contact's point to the centre of curvature; sign * n leads into its body;
 * least: m, nearer a centre does not count. */
static inline double spragCurvatureAlong(double radius, double least, const double arm[3], const double n[3],
                                         double sign)
{
    const double along = sign * spragDot3(arm, n);
    return spragDot3(arm, arm) - along * along > SPRAG_CURVATURE_ASTRAY * SPRAG_CURVATURE_ASTRAY * radius * radius
               ? SPRAG_CURVATURE_UNKNOWN
               : fmin(fmax(along, least), radius);
}

/* m, nearer to the point than this the centre of a round body does not count; both: the other is round too. */
static inline double spragCurvatureLeast(double radius, int both)
{
    return (both ? 0.5 : 0.01) * radius;
}

/* How far from the lowest line of a cylinder that leans, over its radius, a point lies that is on its rim. */
#define SPRAG_RIM_LOWEST 0.01

/* A cylinder that leans, and touches what is flat with its rim.  The trace of contact is the rim's circle
 * (velocity_product.h). */
typedef struct spragRim {
    double axis[3]; /* of the cylinder, a unit vector */
    double radius;  /* m, of the circle */
    double share;   /* of the contact's motion over the body that is the rim's; the rest is a ball's; 0: no rim, and
                     * nothing else is filled */
} spragRim;

/* radius: as they are sunk.  The other surface must be flat, a plane's, the world's, an end or a face of a box, and the
 * point on the lowest line of the cylinder.  (Colliders name a second one there, where that line goes through the face;
 * near an end ODE's takes corners of an octagon for the rim, and they are tips that are taken for a ball.)
 * share: all, but for what lies on an end or on its side. */
void spragCurvatureRim(const double radius[2], const dGeomID geom[2], const double point[3], const double n[3],
                       spragRim *rim);

/* How the surfaces of the two bodies are curved where they touch. */
typedef struct spragCurvature {
    double radius[2];  /* m, spragCurvatureSink; or as the user says */
    double axis[2][3]; /* spragCurvatureAxes, */
    int has_axis;      /* 1: there is one */
    spragRim rim;      /* of the body that is round, where the other is flat */
} spragCurvature;

/* Of two geoms whose own radii are in curvature->radius: as they are sunk at this point, and the axes and the rim. */
static inline void spragCurvatureFind(spragCurvature *curvature, const dGeomID geom[2], const double point[3],
                                      const double n[3], double depth)
{
    spragCurvatureSink(curvature->radius, geom, point, n, depth);
    curvature->has_axis = spragCurvatureAxes(curvature->radius, geom, point, n, curvature->axis);
    spragCurvatureRim(curvature->radius, geom, point, n, &curvature->rim);
}

/* Of a contact joint at this point; n: its normal, into body[0]. */
void spragCurvatureOf(const spragSnapshot *snapshot, const spragJointState *joint, const double point[3],
                      const double n[3], spragCurvature *curvature);

/* The radius of the first of two geoms, on what is flat, and its rim. */
double spragCurvatureSunk(double radius, dGeomID geom, const double point[3], const double n[3], double depth,
                          spragRim *rim);

#endif
