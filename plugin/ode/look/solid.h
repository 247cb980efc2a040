/* The form of a geom, where it lies in this step, and two geoms that have contacts.
 *
 * Of a geom without a body a contact has the address alone.  Nothing is known of it, unless it is found among the
 * statics (statics.h). */
#ifndef SPRAG_ODE_SOLID_H
#define SPRAG_ODE_SOLID_H

#include "ode/world/world.h"

/* What of a geom a point is on; an edge may be a corner. */
typedef enum spragManifoldSide { SPRAG_MANIFOLD_EDGE, SPRAG_MANIFOLD_FLAT, SPRAG_MANIFOLD_ROUND } spragManifoldSide;

/* A box, ball, capsule, cylinder or convex hull. */
typedef struct spragSolid {
    int class;                    /* -1: the world's, of which nothing is known */
    double centre[3], axis[3][3]; /* m; rows: its axes in the world's */
    double half[3], radius;       /* m, of a box; of others along z */
    double least;                 /* m, half its thickness */
    unsigned long long form;      /* of its sizes and its place on the body: another one, another form */
} spragSolid;

/* Joints first .. first + count - 1 of the snapshot, all contacts of two geoms: of body[0] and body[1]. */
typedef struct spragSolidPair {
    spragWorldID world;
    int first, count;
    spragSolid solid[2];
} spragSolidPair;

/* Where two solids touch. */
typedef struct spragPlace {
    double x[3], n[3], depth; /* m; n: into the first */
    int touches;              /* 0: it waits */
} spragPlace;

/* The k-th contact of the pair. */
static inline spragJointState *spragSolidJoint(const spragSolidPair *pair, int k)
{
    return &pair->world->snapshot.joint[pair->first + k];
}

/* 0: it is of another class, or not the body's. */
int spragSolidRead(const spragBodyState *body, dGeomID geom, spragSolid *solid);

/* Is the pair's second geom one of the statics?  The first one must be its body's. */
int spragSolidLiesOnStatic(const spragSolidPair *pair);

/* Reads both.  0: either is of another class. */
int spragSolidReadBoth(spragSolidPair *pair);

/* m, how far the point lies outside the solid; < 0: within it. */
double spragSolidOutside(const spragSolid *solid, const double x[3]);

/* m: the point of the axis of a capsule or cylinder that is nearest to x. */
void spragSolidNearest(const spragSolid *solid, const double x[3], double centre[3]);

/* The greatest cosine between n and the normal of a face; the world's are its own. */
double spragSolidFaces(const spragSolid *solid, const double n[3]);

/* What the solid is at its point x, whose normal is n.  centre: that of curvature, or x. */
spragManifoldSide spragSolidSideAt(const spragSolid *solid, const double x[3], const double n[3], double centre[3]);

/* From the world's frame to that of the solid; of the world, of which nothing is known, they are the same. */
void spragSolidToFrame(const spragSolid *solid, int is_point, const double x[3], double local[3]);
void spragSolidToWorld(const spragSolid *solid, int is_point, const double local[3], double x[3]);

#endif
