#include "ode/look/touch.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/shape/beside.h"
#include "ode/shape/face_to_face.h"
#include "ode/shape/facet.h"
#include "ode/shape/on_hull.h"

#define AGREES 0.98 /* cosine between the normal that is named of two pipes side by side, and theirs, */
#define SAME 1e-3   /* of the lesser radius, and of their depths: a collider's is right to 1e-5 */
/* Of the lesser radius: overlap of cylinders, and of these and capsules, that is left, as their collider names nothing
 * where they overlap by 1e-8 or less; then they fall, by millimetres, once or twice a second. */
#define LEFT 1e-5

int spragTouchMove(const spragSolidPair *pair, spragJointState *joint, const spragPlace *place)
{
    dContact *own = spragContactOwn(pair->world, joint);
    if (own == NULL)
        return 0;
    for (int i = 0; i < 3; ++i) {
        own->geom.pos[i] = (dReal)place->x[i];
        own->geom.normal[i] = (dReal)((joint->reversed ? -1 : 1) * place->n[i]);
    }
    own->geom.depth = (dReal)fmax(place->depth, 0);
    return 1;
}

/* 1: the pair is of two pipes that libccd collides, not of two capsules.  left: m, of their overlap. */
static int areFoundBySearch(const spragSolidPair *pair, spragBesidePipe pipe[2], double *left)
{
    int capsules = 0;
    for (int side = 0; side < 2; ++side) {
        const spragSolid *solid = &pair->solid[side];
        const int is_capsule = solid->class == dCapsuleClass;
        capsules += is_capsule;
        if (capsules > 1 || !(is_capsule || solid->class == dCylinderClass))
            return 0;
        pipe[side] = (spragBesidePipe){.half = solid->half[2], .radius = solid->radius, .is_capsule = is_capsule};
        memcpy(pipe[side].middle, solid->centre, sizeof solid->centre);
        memcpy(pipe[side].axis, solid->axis[2], sizeof solid->axis[2]);
    }
    *left = LEFT * fmin(pipe[0].radius, pipe[1].radius);
    return 1;
}

/* Is the normal that is named about n? */
static int agrees(const spragJointState *joint, const double n[3])
{
    const dReal *named = joint->contact->geom.normal;
    const double cosine = named[0] * n[0] + named[1] * n[1] + named[2] * n[2];
    return (joint->reversed ? -cosine : cosine) >= AGREES;
}

/* Where two pipes touch: at ends of what they share or, crosses, between.  0: nowhere, or the one contact has not the
 * normal and the depth of those: it is not the collider's, but the program's own. */
static int findTouch(const spragSolidPair *pair, const spragBesidePipe pipe[2], spragBesidePoint point[2], int *crosses)
{
    const spragJointState *joint = spragSolidJoint(pair, 0);
    spragBesidePoint cross;
    const int between = spragBesideCross(pipe, &cross);
    int count = spragBesideFind(pipe, point);
    double deepest = between ? cross.depth : -INFINITY;
    *crosses = count == 0 && between;
    if (*crosses)
        point[count++] = cross;
    for (int k = 0; k < count; ++k) {
        deepest = fmax(deepest, point[k].depth);
        if (!agrees(joint, point[k].normal))
            return 0;
    }
    return fabs(deepest - joint->contact->geom.depth) <= SAME * fmin(pipe[0].radius, pipe[1].radius) ? count : 0;
}

static spragPlace placeOf(const spragBesidePoint *point)
{
    spragPlace place = {.depth = point->depth};
    memcpy(place.x, point->x, sizeof place.x);
    memcpy(place.n, point->normal, sizeof place.n);
    return place;
}

static spragPlace placeNamed(const spragJointState *joint)
{
    const dContactGeom *geom = &joint->contact->geom;
    spragPlace place = {.depth = geom->depth};
    for (int i = 0; i < 3; ++i) {
        place.x[i] = geom->pos[i];
        place.n[i] = (joint->reversed ? -1 : 1) * geom->normal[i];
    }
    return place;
}

/* What is named is moved to the first of the places, or stays where it is, but for what is left of the overlap.  0: no
 * memory. */
static int moveNamed(const spragSolidPair *pair, const spragPlace *place, int count, double left)
{
    for (int k = 0; k < pair->count; ++k) {
        spragPlace at = count > 0 ? place[0] : placeNamed(spragSolidJoint(pair, k));
        at.depth -= count > 0 ? 0 : left;
        if (!spragTouchMove(pair, spragSolidJoint(pair, k), &at))
            return 0;
    }
    return 1;
}

static int settleBeside(const spragSolidPair *pair, spragPlace place[SPRAG_TOUCH_MOST])
{
    spragBesidePipe pipe[2];
    spragBesidePoint point[2];
    double left;
    int crosses = 0;
    if (!areFoundBySearch(pair, pipe, &left))
        return 0;
    const int count = pair->count == 1 ? findTouch(pair, pipe, point, &crosses) : 0;
    const double most = crosses ? INFINITY : 2 * spragBesideSeen(pipe);
    for (int k = 0; k < count; ++k) {
        place[k] = placeOf(&point[k]);
        place[k].depth = fmin(place[k].depth, most) - left;
    }
    if (!moveNamed(pair, place, count, left))
        return -1;
    return crosses ? 0 : count;
}

static int isRound(const spragSolid *solid)
{
    return solid->class == dCapsuleClass || solid->class == dCylinderClass || solid->class == dSphereClass;
}

int spragTouchIsRoundOnHull(const spragSolidPair *pair)
{
    const int second = pair->solid[1].class == dConvexClass;
    return pair->solid[second].class == dConvexClass && isRound(&pair->solid[!second]);
}

/* The round one, seen from the hull. */
static spragBesidePipe pipeOn(const spragSolid *hull, const spragSolid *round)
{
    spragBesidePipe pipe = {
        .half = round->half[2], .radius = round->radius, .is_capsule = round->class != dCylinderClass};
    spragSolidToFrame(hull, 1, round->centre, pipe.middle);
    spragSolidToFrame(hull, 0, round->axis[2], pipe.axis);
    return pipe;
}

static int settleOnHull(const spragSolidPair *pair, spragPlace place[SPRAG_TOUCH_MOST])
{
    const int side = pair->solid[1].class == dConvexClass; /* whose the hull is */
    const spragSolid *solid = &pair->solid[side], *round = &pair->solid[!side];
    const double sign = side ? 1 : -1, left = LEFT * round->radius; /* places have normals into the first */
    const spragPlace first = placeNamed(spragSolidJoint(pair, 0));
    const spragBesidePipe pipe = pipeOn(solid, round);
    spragBesidePoint named = {.depth = first.depth}, point[SPRAG_ON_HULL_MOST];
    spragHull hull;
    double across[3];
    int count = 0;
    spragSolidToFrame(solid, 0, round->axis[0], across);
    spragSolidToFrame(solid, 0, first.n, named.normal);
    for (int i = 0; i < 3; ++i)
        named.normal[i] *= sign;
    if (pair->count == 1 && spragHullRead(spragGeomOf(spragSolidJoint(pair, 0), side), &hull))
        count = spragOnHullFind(&hull, &pipe, across, &named, point);
    for (int k = 0; k < count; ++k) {
        place[k].depth = point[k].depth - left;
        spragSolidToWorld(solid, 1, point[k].x, place[k].x);
        spragSolidToWorld(solid, 0, point[k].normal, place[k].n);
        for (int i = 0; i < 3; ++i)
            place[k].n[i] *= sign;
    }
    return moveNamed(pair, place, count, left) ? count : -1;
}

static int areHulls(const spragSolidPair *pair)
{
    int hulls = 0, boxes = 0;
    for (int side = 0; side < 2; ++side) {
        hulls += pair->solid[side].class == dConvexClass;
        boxes += pair->solid[side].class == dBoxClass;
    }
    return hulls > 0 && hulls + boxes == 2;
}

typedef struct Box {
    dReal planes[4 * 6], points[3 * 8];
} Box;

/* 0: its planes and points are unknown. */
static int placeHull(const spragSolid *solid, dGeomID geom, Box *box, spragPlacedHull *hull)
{
    memcpy(hull->centre, solid->centre, sizeof hull->centre);
    memcpy(hull->axis, solid->axis, sizeof hull->axis);
    if (solid->class == dConvexClass)
        return spragHullRead(geom, &hull->hull);
    memset(box, 0, sizeof *box);
    for (int k = 0; k < 8; ++k)
        for (int i = 0; i < 3; ++i)
            box->points[3 * k + i] = (dReal)(k >> i & 1 ? solid->half[i] : -solid->half[i]);
    for (int k = 0; k < 6; ++k) {
        box->planes[4 * k + k / 2] = k % 2 ? -1 : 1;
        box->planes[4 * k + 3] = (dReal)solid->half[k / 2];
    }
    hull->hull = (spragHull){.planes = box->planes, .points = box->points, .plane_count = 6, .point_count = 8};
    return 1;
}

static int settleHulls(const spragSolidPair *pair, spragPlace place[SPRAG_TOUCH_MOST])
{
    const spragJointState *joint = spragSolidJoint(pair, 0);
    const spragPlace first = placeNamed(joint);
    spragBesidePoint named = {.depth = first.depth}, point[SPRAG_FACE_TO_FACE_MOST];
    spragPlacedHull hull[2];
    Box box[2];
    if (pair->count != 1)
        return 0;
    for (int side = 0; side < 2; ++side)
        if (!placeHull(&pair->solid[side], spragGeomOf(joint, side), &box[side], &hull[side]))
            return 0;
    memcpy(named.normal, first.n, sizeof named.normal);
    const double length = fmin(spragHullLength(&hull[0].hull), spragHullLength(&hull[1].hull)), left = LEFT * length;
    const int count = spragFaceToFaceFind(hull, &named, length, point);
    for (int k = 0; k < count; ++k) {
        place[k] = placeOf(&point[k]);
        place[k].depth -= left;
    }
    return count == 0 || moveNamed(pair, place, count, left) ? count : -1;
}

int spragTouchSettle(const spragSolidPair *pair, spragPlace place[SPRAG_TOUCH_MOST])
{
    if (areHulls(pair))
        return settleHulls(pair, place);
    return (spragTouchIsRoundOnHull(pair) ? settleOnHull : settleBeside)(pair, place);
}
