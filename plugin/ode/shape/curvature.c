#include "ode/shape/curvature.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"

int spragGeomIsOf(dBodyID body, dGeomID geom)
{
    dGeomID own = dBodyGetFirstGeom(body);
    while (own != NULL && own != geom)
        own = dBodyGetNextGeom(own);
    return own != NULL;
}

double spragCurvatureRadius(dBodyID body, dGeomID geom)
{
    if (body == NULL)
        return SPRAG_CURVATURE_FLAT;
    if (geom == NULL)
        return 0;
    return spragGeomIsOf(body, geom) ? spragCurvatureOwn(geom) : SPRAG_CURVATURE_UNKNOWN;
}

/* m; 0 of what is no capsule or cylinder. */
static void pipeOf(dGeomID geom, dReal *radius, dReal *length)
{
    const int class = dGeomGetClass(geom);
    *radius = *length = 0;
    if (class == dCapsuleClass)
        dGeomCapsuleGetParams(geom, radius, length);
    else if (class == dCylinderClass)
        dGeomCylinderGetParams(geom, radius, length);
}

double spragCurvatureOwn(dGeomID own)
{
    dReal radius, length;
    switch (dGeomGetClass(own)) {
    case dSphereClass:
        return dGeomSphereGetRadius(own);
    case dCapsuleClass:
    case dCylinderClass:
        pipeOf(own, &radius, &length);
        return radius;
    case dBoxClass:
        return 0;
    case dPlaneClass:
        return SPRAG_CURVATURE_FLAT;
    default:
        return SPRAG_CURVATURE_UNKNOWN;
    }
}

double spragHalfThickness(dGeomID geom)
{
    dVector3 sides = {0, 0, 0, 0};
    dReal radius, length;
    switch (dGeomGetClass(geom)) {
    case dSphereClass:
    case dCapsuleClass:
        return spragCurvatureOwn(geom);
    case dCylinderClass:
        pipeOf(geom, &radius, &length);
        return fmin(radius, 0.5 * length);
    case dBoxClass:
        dGeomBoxGetLengths(geom, sides);
        return 0.5 * fmin(sides[0], fmin(sides[1], sides[2]));
    default:
        return INFINITY;
    }
}

/* Cosine between a contact's normal and that of a face which it is, but for rounding: a collider of boxes takes one. */
#define FACE (1 - (sizeof(dReal) == sizeof(float) ? 1e-6 : 1e-9))

/* Of a capsule or cylinder. */
static void axisOf(dGeomID geom, double axis[3])
{
    const dReal *R = dGeomGetOffsetRotation(geom);
    dVector3 z;
    dBodyVectorToWorld(dGeomGetBody(geom), R[2], R[6], R[10], z);
    for (int i = 0; i < 3; ++i)
        axis[i] = z[i];
}

/* arm (3): from point to the nearest point of the geom's axis, or to its centre.  Not by dGeomGetPosition, which may
 * write: threads share geoms. */
static void armTo(dGeomID geom, double half, const double point[3], double arm[3])
{
    const dBodyID body = dGeomGetBody(geom);
    const dReal *centre = dBodyGetPosition(body);
    dVector3 moved;
    double axis[3];
    if (dGeomIsOffset(geom)) {
        const dReal *offset = dGeomGetOffsetPosition(geom);
        dBodyGetRelPointPos(body, offset[0], offset[1], offset[2], moved);
        centre = moved;
    }
    for (int i = 0; i < 3; ++i)
        arm[i] = centre[i] - point[i];
    if (half <= 0)
        return;
    axisOf(geom, axis);
    const double along = fmin(fmax(-spragDot3(axis, arm), -half), half);
    for (int i = 0; i < 3; ++i)
        arm[i] += along * axis[i];
}

void spragCurvatureArm(dGeomID geom, const double point[3], double arm[3])
{
    armTo(geom, 0, point, arm);
}

int spragCurvatureIsBall(dGeomID geom)
{
    return dGeomGetClass(geom) == dSphereClass && !dGeomIsOffset(geom);
}

/* Of a round geom; sign * n leads into its body. */
static double sunk(double radius, double least, dGeomID geom, const double point[3], const double n[3], double sign,
                   double depth)
{
    dReal same, length;
    double arm[3];
    pipeOf(geom, &same, &length);
    armTo(geom, 0.5 * length, point, arm);
    if (dGeomGetClass(geom) != dCylinderClass)
        return spragCurvatureAlong(radius, least, arm, n, sign);
    least = fmax(least, radius - fmax(depth, 0)); /* on its flat end the axis is no centre */
    return fmin(fmax(sign * spragDot3(arm, n), least), radius);
}

/* A geom with a radius of curvature is its body's, and alive; balls may have a radius of 0, too. */
static int isBox(double radius, dGeomID geom)
{
    return radius == 0 && geom != NULL && dGeomGetClass(geom) == dBoxClass;
}

int spragCurvatureIsBox(double radius, dGeomID geom)
{
    return isBox(radius, geom) && dGeomGetBody(geom) != NULL && !dGeomIsOffset(geom);
}

/* Of what the normal is in the frame of a box. */
static int isAlongAxis(const double n[3])
{
    return fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2]))) > FACE;
}

void spragCurvatureFlatten(double radius[2], const double first[9], const double second[9], const double n[3])
{
    double local[2][3];
    spragMulTransposed33(local[0], first, n);
    spragMulTransposed33(local[1], second, n);
    const int face = isAlongAxis(local[0]);
    if (face != isAlongAxis(local[1]))
        radius[face ? 0 : 1] = SPRAG_CURVATURE_FLAT;
}

/* 1: n is the normal of a face of the box. */
static int isFace(dGeomID box, const double n[3])
{
    const dReal *body = dBodyGetRotation(dGeomGetBody(box)), *own = dGeomGetOffsetRotation(box);
    double turned[3], local[3];
    for (int j = 0; j < 3; ++j)
        turned[j] = body[j] * n[0] + body[4 + j] * n[1] + body[8 + j] * n[2];
    for (int j = 0; j < 3; ++j)
        local[j] = own[j] * turned[0] + own[4 + j] * turned[1] + own[8 + j] * turned[2];
    return isAlongAxis(local);
}

/* Of two boxes: the one whose face it is is flat, if it is not a face of either. */
static void flatten(double radius[2], const dGeomID geom[2], const double n[3])
{
    const int face = isFace(geom[0], n);
    if (face != isFace(geom[1], n))
        radius[face ? 0 : 1] = SPRAG_CURVATURE_FLAT;
}

/* 1: n is the normal of an end of a cylinder, but for what a collider has of rounding. */
static int isEnd(double radius, dGeomID geom, const double n[3])
{
    if (!spragCurvatureIsRound(radius) || dGeomGetClass(geom) != dCylinderClass)
        return 0;
    double axis[3], across[3];
    axisOf(geom, axis);
    spragCross3(across, axis, n);
    return spragDot3(across, across) <= SPRAG_CURVATURE_ASTRAY * SPRAG_CURVATURE_ASTRAY;
}

/* The end of a cylinder is flat to what is on it; of two ends the larger one, as the rim of the other is on it.  Where
 * a face of a box or a plane lies on the end, that is flat, and the rim is taken for a ball. */
static void flattenEnds(double radius[2], const dGeomID geom[2], const double n[3])
{
    if (!(radius[0] < SPRAG_CURVATURE_FLAT && radius[1] < SPRAG_CURVATURE_FLAT))
        return;
    const int end[2] = {isEnd(radius[0], geom[0], n), isEnd(radius[1], geom[1], n)};
    if (!end[0] && !end[1])
        return;
    const int on = end[0] && end[1] ? radius[0] <= radius[1] : end[1]; /* 1: the end of body[1] bears */
    const dGeomID other = geom[1 - on];
    if (!(isBox(radius[1 - on], other) && isFace(other, n)))
        radius[on] = SPRAG_CURVATURE_FLAT;
}

void spragCurvatureSink(double radius[2], const dGeomID geom[2], const double point[3], const double n[3], double depth)
{
    if (isBox(radius[0], geom[0]) && isBox(radius[1], geom[1]))
        flatten(radius, geom, n);
    flattenEnds(radius, geom, n);
    const int both = spragCurvatureIsRound(radius[0]) && spragCurvatureIsRound(radius[1]);
    for (int side = 0; side < 2; ++side)
        if (spragCurvatureIsRound(radius[side]))
            radius[side] = sunk(radius[side], spragCurvatureLeast(radius[side], both), geom[side], point, n,
                                side == 0 ? 1 : -1, depth);
}

/* How far inside the ends of a pipe, over its radius, a point lies that is on its side. */
#define INSIDE 0.01
/* Sine of the angle between two pipes, as they lie in the contact's plane, that are taken for parallel. */
#define PARALLEL 0.1

/* axis (3): of a pipe that is touched on its side, between its ends; else 0.  Of a round geom. */
static void sideAxis(dGeomID geom, const double point[3], const double n[3], double axis[3])
{
    dReal radius, length;
    double arm[3], e[3];
    axis[0] = axis[1] = axis[2] = 0;
    pipeOf(geom, &radius, &length);
    if (!(length > 0))
        return;
    axisOf(geom, e);
    armTo(geom, 0, point, arm);
    if (fabs(spragDot3(e, arm)) > 0.5 * length - INSIDE * radius || fabs(spragDot3(e, n)) > SPRAG_CURVATURE_ASTRAY)
        return;
    memcpy(axis, e, sizeof e);
}

int spragCurvatureAxes(const double radius[2], const dGeomID geom[2], const double point[3], const double n[3],
                       double axis[2][3])
{
    memset(axis, 0, 2 * sizeof *axis);
    if (!spragCurvatureIsRound(radius[0]) || !spragCurvatureIsRound(radius[1]))
        return 0;
    double across[3];
    for (int side = 0; side < 2; ++side)
        sideAxis(geom[side], point, n, axis[side]);
    const int pipes[2] = {spragDot3(axis[0], axis[0]) > 0, spragDot3(axis[1], axis[1]) > 0};
    spragCross3(across, axis[0], axis[1]);
    if (pipes[0] && pipes[1] && fabs(spragDot3(across, n)) < PARALLEL)
        memset(axis[radius[1] < radius[0]], 0, sizeof *axis);
    return pipes[0] || pipes[1];
}

/* Cosines between the axis and the normal, up to which it lies on its side, and from which it stands on its rim. */
#define LIES 0.03
#define LEANS 0.1
/* The same of sines, on its end. */
#define STANDS 1e-3
#define TILTS 1e-2

/* 0 up to the first, 1 from the second on. */
static double between(double x, double first, double second)
{
    return fmin(fmax((x - first) / (second - first), 0), 1);
}

/* Of a round geom on what is flat; sign * n leads into its body. */
static void rimOf(dGeomID geom, const double point[3], const double n[3], double sign, spragRim *rim)
{
    if (dGeomGetClass(geom) != dCylinderClass)
        return;
    dReal radius, length;
    double arm[3], t[3];
    axisOf(geom, rim->axis);
    spragCross3(t, rim->axis, n);
    const double cosine = spragDot3(rim->axis, n), sine = spragNorm3(t),
                 share = fmin(between(fabs(cosine), LIES, LEANS), between(sine, STANDS, TILTS));
    if (!(share > 0))
        return;
    pipeOf(geom, &radius, &length);
    armTo(geom, 0, point, arm);
    const double along = spragDot3(rim->axis, arm);
    for (int i = 0; i < 3; ++i) /* from the lowest line to the point */
        arm[i] -= along * rim->axis[i] + sign * radius / sine * (n[i] - cosine * rim->axis[i]);
    if (spragNorm3(arm) > SPRAG_RIM_LOWEST * radius)
        return;
    rim->radius = radius;
    rim->share = share;
}

void spragCurvatureRim(const double radius[2], const dGeomID geom[2], const double point[3], const double n[3],
                       spragRim *rim)
{
    rim->share = 0;
    for (int side = 0; side < 2; ++side) {
        const double other = radius[1 - side];
        if (spragCurvatureIsRound(radius[side]) &&
            (isinf(other) || (isBox(other, geom[1 - side]) && isFace(geom[1 - side], n))))
            rimOf(geom[side], point, n, side == 0 ? 1 : -1, rim);
    }
}

void spragCurvatureOf(const spragSnapshot *s, const spragJointState *joint, const double point[3], const double n[3],
                      spragCurvature *curvature)
{
    const dGeomID geom[2] = {spragGeomOf(joint, 0), spragGeomOf(joint, 1)};
    for (int side = 0; side < 2; ++side) {
        const int body = joint->body[side];
        curvature->radius[side] = spragCurvatureRadius(body < 0 ? NULL : s->body[body].id, geom[side]);
    }
    spragCurvatureFind(curvature, geom, point, n, joint->contact->geom.depth);
}

double spragCurvatureSunk(double radius, dGeomID geom, const double point[3], const double n[3], double depth,
                          spragRim *rim)
{
    double both[2] = {radius, SPRAG_CURVATURE_FLAT};
    spragCurvatureSink(both, (const dGeomID[2]){geom, NULL}, point, n, depth);
    rim->share = 0;
    if (spragCurvatureIsRound(both[0]))
        rimOf(geom, point, n, 1, rim);
    return both[0];
}
