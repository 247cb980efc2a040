#include "ode/look/solid.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/shape/curvature.h"

#define FACE 0.9999 /* cosine between the normals of a face and of a contact with it */
#define ALONG 0.05  /* cosine between the axis of a cylinder that lies and the normal */
#define ASTRAY 0.1  /* of the radius: how far from the normal a centre of curvature may lie */

static void mix(unsigned long long *form, const double *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        unsigned long long bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        *form = (*form ^ bits) * 0x9E3779B97F4A7C15ULL;
        *form ^= *form >> 32;
    }
}

/* Class and sizes; 0: of another class. */
static int readSizes(dGeomID geom, double radius, spragSolid *solid)
{
    dVector3 sides = {0, 0, 0, 0};
    dReal same = 0, length = 0;
    solid->class = dGeomGetClass(geom);
    solid->radius = radius;
    if (solid->class == dBoxClass)
        dGeomBoxGetLengths(geom, sides);
    else if (solid->class == dCapsuleClass)
        dGeomCapsuleGetParams(geom, &same, &length);
    else if (solid->class == dCylinderClass)
        dGeomCylinderGetParams(geom, &same, &length);
    else if (solid->class != dConvexClass && solid->class != dSphereClass)
        return 0;
    for (int i = 0; i < 3; ++i)
        solid->half[i] = 0.5 * sides[i];
    if (solid->class != dBoxClass)
        solid->half[2] = 0.5 * length;
    solid->form = (unsigned long long)solid->class;
    mix(&solid->form, solid->half, 3);
    mix(&solid->form, &solid->radius, 1);
    solid->least = solid->class == dConvexClass ? 0 : spragHalfThickness(geom);
    return 1;
}

/* Not by dGeomGetPosition, which may write. */
int spragSolidRead(const spragBodyState *body, dGeomID geom, spragSolid *solid)
{
    const double curvature = spragCurvatureRadius(body->id, geom);
    const int hull = isnan(curvature) && spragGeomIsOf(body->id, geom) && dGeomGetClass(geom) == dConvexClass;
    const double radius = hull ? 0 : curvature;
    if (geom == NULL || !(radius >= 0 && radius < SPRAG_CURVATURE_FLAT) || !readSizes(geom, radius, solid))
        return 0;
    const dReal *own = dGeomGetOffsetRotation(geom), *place = dGeomGetOffsetPosition(geom);
    spragCurvatureArm(geom, body->position, solid->centre);
    for (int i = 0; i < 3; ++i) {
        const double column[4] = {own[i], own[4 + i], own[8 + i], place[i]};
        mix(&solid->form, column, 4);
        spragMul33(solid->axis[i], body->rotation, column);
        solid->centre[i] += body->position[i];
    }
    return 1;
}

/* Of one of the statics, as it lies now.  (A geom without a body is never out of date: here nothing writes.) */
static void readStatic(dGeomID geom, spragSolid *solid)
{
    const dReal *place = dGeomGetPosition(geom), *R = dGeomGetRotation(geom);
    const int class = dGeomGetClass(geom), is_even = class == dConvexClass || class == dBoxClass;
    readSizes(geom, is_even ? 0 : spragCurvatureOwn(geom), solid);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k)
            solid->axis[i][k] = R[4 * k + i];
        solid->centre[i] = place[i];
    }
}

double spragSolidOutside(const spragSolid *solid, const double x[3])
{
    double d[3], l[3];
    for (int i = 0; i < 3; ++i)
        d[i] = x[i] - solid->centre[i];
    for (int i = 0; i < 3; ++i)
        l[i] = spragDot3(solid->axis[i], d);
    const double along = fabs(l[2]) - solid->half[2], across = spragNorm2(l);
    if (solid->class == dConvexClass)
        return -INFINITY; /* its points are fixed in it */
    if (solid->class == dBoxClass)
        return fmax(along, fmax(fabs(l[0]) - solid->half[0], fabs(l[1]) - solid->half[1]));
    if (solid->class == dCapsuleClass)
        return sqrt(across * across + fmax(along, 0) * fmax(along, 0)) - solid->radius;
    return fmax(along, across - solid->radius);
}

void spragSolidNearest(const spragSolid *solid, const double x[3], double centre[3])
{
    const double *z = solid->axis[2],
                 d[3] = {x[0] - solid->centre[0], x[1] - solid->centre[1], x[2] - solid->centre[2]},
                 along = fmin(fmax(spragDot3(z, d), -solid->half[2]), solid->half[2]);
    for (int i = 0; i < 3; ++i)
        centre[i] = solid->centre[i] + along * z[i];
}

double spragSolidFaces(const spragSolid *solid, const double n[3])
{
    double most = solid->class < 0 ? 1 : 0;
    const int even = solid->class == dBoxClass || solid->class == dCylinderClass;
    for (int i = solid->class == dBoxClass ? 0 : 2; i < 3 && even; ++i)
        most = fmax(most, fabs(spragDot3(solid->axis[i], n)));
    return most;
}

spragManifoldSide spragSolidSideAt(const spragSolid *solid, const double x[3], const double n[3], double centre[3])
{
    const double up = spragSolidFaces(solid, n);
    double d[3];
    memcpy(centre, x, 3 * sizeof *centre);
    if (up >= FACE)
        return SPRAG_MANIFOLD_FLAT;
    if (solid->class == dBoxClass || solid->class == dConvexClass || (solid->class == dCylinderClass && up > ALONG))
        return SPRAG_MANIFOLD_EDGE;
    spragSolidNearest(solid, x, d);
    for (int i = 0; i < 3; ++i)
        d[i] -= x[i];
    const double part = spragDot3(d, n), most = ASTRAY * solid->radius;
    if (spragDot3(d, d) - part * part > most * most)
        return SPRAG_MANIFOLD_EDGE;
    for (int i = 0; i < 3; ++i)
        centre[i] += d[i];
    return SPRAG_MANIFOLD_ROUND;
}

void spragSolidToFrame(const spragSolid *solid, int is_point, const double x[3], double local[3])
{
    double d[3] = {x[0], x[1], x[2]};
    for (int i = 0; i < 3 && is_point && solid->class >= 0; ++i)
        d[i] -= solid->centre[i];
    if (solid->class < 0)
        memcpy(local, d, sizeof d);
    else
        spragMul33(local, (const double *)solid->axis, d);
}

void spragSolidToWorld(const spragSolid *solid, int is_point, const double local[3], double x[3])
{
    memcpy(x, local, 3 * sizeof *x);
    if (solid->class < 0)
        return;
    spragMulTransposed33(x, (const double *)solid->axis, local);
    for (int i = 0; i < 3 && is_point; ++i)
        x[i] += solid->centre[i];
}

int spragSolidLiesOnStatic(const spragSolidPair *pair)
{
    const spragJointState *joint = spragSolidJoint(pair, 0);
    return spragStaticsFind(&pair->world->statics, spragGeomOf(joint, 0), spragGeomOf(joint, 1));
}

int spragSolidReadBoth(spragSolidPair *pair)
{
    const spragSnapshot *s = &pair->world->snapshot;
    const spragJointState *joint = spragSolidJoint(pair, 0);
    for (int side = 0; side < 2; ++side) {
        spragSolid *solid = &pair->solid[side];
        const dGeomID geom = spragGeomOf(joint, side);
        solid->class = -1;
        solid->form = 0;
        if (joint->body[side] < 0 && !spragSolidLiesOnStatic(pair))
            continue;
        if (joint->body[side] < 0)
            readStatic(geom, solid);
        else if (!spragSolidRead(&s->body[joint->body[side]], geom, solid))
            return 0;
    }
    return 1;
}
