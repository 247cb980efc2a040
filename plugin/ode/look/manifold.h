/* Points of contact that the collider does not name in this step, though the bodies still touch there.
 *
 * Of two bodies that touch along a line or a face some of ODE's colliders name one point, the deepest: a capsule on a
 * box has one of its ends, a cylinder on a plane one point of its rim, two of them one of their line.  It falls off
 * the point that was named last, and is thrown back by that in the next step: it rocks for ever, with overlaps of up
 * to half its radius, and so does all that leans on it.  So two geoms keep what was named in the steps before (a
 * contact manifold, as other engines have it), as long as it is true:
 *
 *     the collider still names a point of theirs, and none near it;
 *     the bodies overlap there now, by as much as follows from how they lie, and have the forms that they had;
 *     the point has hardly moved on either surface since it was named, and lies within both geoms.
 *
 * A round side (a capsule, a cylinder that lies) is followed by its centre of curvature, so that what rolls is not
 * held:
 *
 *     depth = depth_named - (n . (c_0 - c_1) - the same when it was named),   c: centre, or point of a flat side,
 *
 * with the normal n of the flat side, and of two round ones along c_0 - c_1, each where it is nearest to the other.
 * (Fixed centres lean once the bodies slide along each other: a capsule went down a groove with 1.2 to 1.6 times
 * g sin(slope).)  On the face of a body's box, and of two round sides, a point may go on for ever.  Others have to stay
 * about where they were, and where they soon would not they are not kept: a body that rolls fell each time on one that
 * was given up.
 *
 * For boxes, capsules, cylinders and convex hulls, not for two boxes, whose collider names all points.  Of a hull that
 * rocks those that have just parted wait, and are contacts again where they touch again: the collider names one of the
 * two or more on which it lands, and so a tower of hulls swayed on and on.  Of geoms without a body nobody knows what
 * and where they are: there the point has to lie in the plane of one that is named, and a box has none.  But what lies
 * on one of the statics (statics.h) rolls on it, or rocks from end to end: these are as those of a body that stands
 * still: points stay on them where they are, also if the program moves or turns them.
 *
 * Two cylinders, or one and a capsule, need no memory where they lie side by side, nor a hull and what is round, nor
 * hulls and boxes on a hull's face or a hull's on theirs: all points are computed, and what is named of them is put
 * right (touch.h).
 *
 * A kept point is a contact joint of the snapshot with the id, surface and feedback of the nearest one that is named:
 * the sum of their forces is its feedback.  ODE knows nothing of it; in an island that it solves it does not act. */
#ifndef SPRAG_ODE_MANIFOLD_H
#define SPRAG_ODE_MANIFOLD_H

#include "ode/look/solid.h"

/* A point that was named. */
typedef struct spragManifoldPoint {
    dBodyID body[2]; /* compared, never followed, as geoms */
    int serial[2];
    dGeomID geom[2];
    unsigned long long form[2]; /* of the geoms: sizes and place on their bodies */
    int side[2];                /* what each geom is there: spragManifoldSide */
    int even[2];                /* 1: a face of a body's box or cylinder, exactly */
    double carrier[2][3];       /* m, in the frame of each geom: the centre of curvature, or the point */
    double normal[2][3];        /* into body[0], in the frame of each */
    double from[2];             /* m, along the normal from the point to the carriers, away from the other body */
    double depth, arm;          /* m; from the nearer of the geoms' centres */
} spragManifoldPoint;

/* Forgets points of geoms that are gone. */
void spragManifoldForget(spragWorldID world, const spragGone *gone);

/* Once the joints of the snapshot are there, and the step's statics have begun: adds the points that are kept,
 * and notes those that are named.  0: no memory. */
int spragManifoldKeep(spragWorldID world);

#endif
