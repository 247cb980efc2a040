#include "ode/shape/caps.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/shape/curvature.h"

#define STANDS 0.5 /* cosine between axis and normal: one that lies more touches along its side */
#define SINGLE (sizeof(dReal) == sizeof(float))
#define ROUNDING (SINGLE ? 2e-6 : 1e-9) /* of the coordinates: by which a point may lie out of the plane */
#define EPSILON (SINGLE ? 1e-6 : 2e-15) /* of the cosine: what the collider's may be wrong by, and is where it is 1 */
#define ABOUT 1e-6                      /* of the depth: how well the collider knows it */
#define TOO_LITTLE 0.1                  /* of ROUNDING: a difference that is none */

/* Joints first .. end - 1, of two geoms, one of which is a cylinder: its end that the face is beside. */
typedef struct Cap {
    spragSnapshot *s;
    int first, end;
    double normal[3], axis[3], centre[3];  /* normal, axis: away from the face */
    double lowest, depth, rounding, about; /* m: of the cylinder along the normal; what all contacts say; how well each
                                              coordinate is known, and lowest */
} Cap;

static const dContactGeom *geomOf(const Cap *cap, int j)
{
    return &cap->s->joint[j].contact->geom;
}

/* Is contact j of the same two geoms as j - 1?  (Colliders number triangles: those of a mesh have their own depths.) */
static int goesOn(const spragSnapshot *s, int j)
{
    const spragJointState *a = &s->joint[j - 1], *b = &s->joint[j];
    if (memcmp(a->body, b->body, sizeof a->body) != 0 || a->contact == NULL || b->contact == NULL || !a->enabled ||
        !b->enabled || a->reversed != b->reversed)
        return 0;
    const dContactGeom *x = &a->contact->geom, *y = &b->contact->geom;
    return x->g1 == y->g1 && x->g2 == y->g2 && x->side1 < 0 && x->side2 < 0;
}

/* Side of the joint of whose two geoms the cylinder is: one of its body's, or a column of the world, with a box of a
 * body on it.  -1: none. */
static int sideOf(struct spragWorld *world, const spragJointState *joint)
{
    for (int side = 0; side < 2 && joint->body[side] >= 0; ++side) {
        const dGeomID own = spragGeomOf(joint, side);
        if (!spragGeomIsOf(world->snapshot.body[joint->body[side]].id, own))
            continue;
        const int class = dGeomGetClass(own);
        if (class == dCylinderClass)
            return side;
        const dGeomID other = spragGeomOf(joint, 1);
        if (class == dBoxClass && joint->body[1] < 0 && spragStaticsFind(&world->statics, own, other) &&
            dGeomGetClass(other) == dCylinderClass)
            return 1;
    }
    return -1;
}

/* Its middle and axis.  (Of a body's not by dGeomGetPosition, which may write.) */
static void readPlace(const spragSnapshot *s, const spragJointState *joint, int side, double middle[3], double axis[3])
{
    const dGeomID geom = spragGeomOf(joint, side);
    const int of_body = joint->body[side] >= 0;
    const dReal *R = of_body ? dGeomGetOffsetRotation(geom) : dGeomGetRotation(geom);
    const double column[3] = {R[2], R[6], R[10]};
    if (!of_body) {
        for (int i = 0; i < 3; ++i)
            middle[i] = dGeomGetPosition(geom)[i];
        memcpy(axis, column, sizeof column);
        return;
    }
    const spragBodyState *body = &s->body[joint->body[side]];
    spragCurvatureArm(geom, body->position, middle);
    for (int i = 0; i < 3; ++i)
        middle[i] += body->position[i];
    spragMul33(axis, body->rotation, column);
}

/* Reads the cylinder, if it stands on what the contacts are of.  0: there is none. */
static int readCap(struct spragWorld *world, Cap *cap)
{
    const spragJointState *joint = &cap->s->joint[cap->first];
    const dContactGeom *geom = geomOf(cap, cap->first);
    const int side = sideOf(world, joint);
    if (side < 0)
        return 0;
    const dGeomID own = spragGeomOf(joint, side);
    dReal radius, length;
    dGeomCylinderGetParams(own, &radius, &length);
    double size = radius + length, middle[3], p = 0, lowest = 0;
    readPlace(cap->s, joint, side, middle, cap->axis);
    for (int i = 0; i < 3; ++i) {
        cap->normal[i] = own == geom->g1 ? geom->normal[i] : -geom->normal[i];
        p += cap->normal[i] * cap->axis[i];
    }
    for (int i = 0; i < 3; ++i) {
        cap->axis[i] *= p < 0 ? -1 : 1;
        cap->centre[i] = middle[i] - 0.5 * length * cap->axis[i];
        lowest += cap->normal[i] * cap->centre[i];
        size += fabs(middle[i]);
    }
    const double sine2 = fmax(1 - p * p, 0), sine = sqrt(sine2);
    cap->lowest = lowest - radius * sine;
    cap->rounding = ROUNDING * size;
    cap->about = cap->rounding + radius * (sqrt(sine2 + EPSILON) - sine);
    cap->depth = geom->depth;
    return fabs(p) > STANDS && fabs(spragDot3(cap->normal, cap->normal) - 1) < ROUNDING;
}

/* Have all the same normal and depth, and lie in the plane into which the cylinder reaches so deep? */
static int isFace(const Cap *cap)
{
    const dReal *n = geomOf(cap, cap->first)->normal;
    double apart = 0, turned = 0;
    for (int j = cap->first; j < cap->end; ++j) {
        const dContactGeom *geom = geomOf(cap, j);
        const double point[3] = {geom->pos[0], geom->pos[1], geom->pos[2]};
        apart = fmax(apart, fabs(spragDot3(cap->normal, point) - cap->lowest - geom->depth));
        apart = fmax(apart, fabs(geom->depth - cap->depth));
        for (int i = 0; i < 3; ++i)
            turned = fmax(turned, fabs(geom->normal[i] - n[i]));
    }
    return turned == 0 && apart <= cap->about + ABOUT * cap->depth;
}

/* m, of the end below the point of contact j. */
static double depthAt(const Cap *cap, int j)
{
    double arm[3];
    for (int i = 0; i < 3; ++i)
        arm[i] = geomOf(cap, j)->pos[i] - cap->centre[i];
    return spragDot3(cap->axis, arm) / spragDot3(cap->normal, cap->axis);
}

static void level(struct spragWorld *world, const Cap *cap)
{
    double deepest = 0;
    for (int j = cap->first; j < cap->end; ++j)
        deepest = fmax(deepest, depthAt(cap, j));
    if (deepest < cap->depth - cap->about - ABOUT * cap->depth)
        return;
    for (int j = cap->first; j < cap->end; ++j) {
        spragJointState *joint = &cap->s->joint[j];
        const double depth = fmin(fmax(depthAt(cap, j), 0), cap->depth);
        dContact *own = cap->depth - depth > TOO_LITTLE * cap->rounding ? spragContactOwn(world, joint) : NULL;
        if (own != NULL)
            own->geom.depth = (dReal)depth;
    }
}

void spragCapsLevel(struct spragWorld *world)
{
    spragSnapshot *s = &world->snapshot;
    for (int j = 1; j < s->joint_count; ++j) {
        if (!goesOn(s, j))
            continue;
        Cap cap = {.s = s, .first = j - 1, .end = j + 1};
        while (cap.end < s->joint_count && goesOn(s, cap.end))
            ++cap.end;
        if (readCap(world, &cap) && isFace(&cap))
            level(world, &cap);
        j = cap.end - 1;
    }
}
