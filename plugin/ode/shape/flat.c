#include "ode/shape/flat.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/shape/curvature.h"

#define SAME 1e-6     /* by which two unit vectors of one direction differ */
#define TRAVELS 0.05  /* of its size, in a step */
#define ROUNDING 3e-7 /* of the coordinates: those of triangles are in single precision */
#define SPREAD 0.02   /* of their length: what points must lie beside a line to make a plane, exact ones, */
#define WIDELY 0.1    /* and those of what is round */
#define DEEPER 2      /* times the deepest overlap: how far at most the body reaches below the plane */
#define EXACTLY 1e-3  /* of the depth: how well colliders know it of boxes */
#define ROUGHLY 0.25  /* of the depth: how well colliders know it of what is round */
#define PARALLEL 1e-4 /* of the cosine between two directions */
#define ALONG 0.1     /* cosine between the axis of a cylinder that lies and the normal */
#define UPRIGHT 0.995 /* cosine between normals that are much the same */
#define LEVEL 0.9998  /* the same, of what is slow */
#define FALLS 1.5     /* steps of free fall: what is slower than after them rests, or rocks */
#define TOUCHES 1e-9  /* of the radius: what overlaps by no more only touches */
enum { MOST = 64 };   /* contacts of two geoms */

/* The geom of a body: half its sides (box), or radius, and half its length along z. */
typedef struct Shape {
    int class;
    double centre[3], axis[3][3], half[3], radius;
} Shape;

typedef struct Flat {
    spragSnapshot *s;
    int first, count;
    Shape shape;
    double sign;              /* sign * the normal of a contact leads into the body */
    double point[MOST][3];    /* m, of the mesh */
    double rounding, deepest; /* m: of the coordinates; of the overlaps */
    double normal[3], height; /* the plane, into the body */
} Flat;

static const dContactGeom *geomOf(const Flat *flat, int k)
{
    return &flat->s->joint[flat->first + k].contact->geom;
}

/* 1: a box, capsule or cylinder, and alive: one of the body's own. */
static int readShape(dBodyID body, dGeomID geom, Shape *shape)
{
    if (!spragGeomIsOf(body, geom))
        return 0;
    dVector3 sides = {0, 0, 0, 0};
    dReal radius = 0, length = 0;
    shape->class = dGeomGetClass(geom);
    if (shape->class == dBoxClass)
        dGeomBoxGetLengths(geom, sides);
    else if (shape->class == dCapsuleClass)
        dGeomCapsuleGetParams(geom, &radius, &length);
    else if (shape->class == dCylinderClass)
        dGeomCylinderGetParams(geom, &radius, &length);
    else
        return 0;
    const dReal *position = dGeomGetPosition(geom), *R = dGeomGetRotation(geom);
    for (int i = 0; i < 3; ++i) {
        shape->centre[i] = position[i];
        for (int l = 0; l < 3; ++l)
            shape->axis[i][l] = R[4 * l + i];
        shape->half[i] = 0.5 * sides[i];
    }
    shape->radius = radius;
    if (shape->class != dBoxClass)
        shape->half[2] = 0.5 * length;
    return 1;
}

/* m, along n, of its point that lies farthest against n. */
static double lowest(const Shape *shape, const double n[3])
{
    const double centre = spragDot3(n, shape->centre), part = spragDot3(n, shape->axis[2]),
                 ends = fabs(part) * shape->half[2];
    if (shape->class == dCapsuleClass)
        return centre - ends - shape->radius;
    if (shape->class == dCylinderClass)
        return centre - ends - shape->radius * sqrt(fmax(1 - part * part, 0));
    return centre - ends - fabs(spragDot3(n, shape->axis[0])) * shape->half[0] -
           fabs(spragDot3(n, shape->axis[1])) * shape->half[1];
}

static void between(const double from[3], const double to[3], double arm[3])
{
    for (int i = 0; i < 3; ++i)
        arm[i] = to[i] - from[i];
}

/* 1: it touches a plane across n along its side. */
static int lies(const Shape *shape, const double n[3])
{
    return shape->class == dCapsuleClass ||
           (shape->class == dCylinderClass && fabs(spragDot3(shape->axis[2], n)) <= ALONG);
}

/* Of what lies, on a plane across n: the point becomes the foot of the axis beside it.  m, along n. */
static double footBelow(const Shape *shape, const double n[3], double point[3])
{
    const double part = spragDot3(shape->axis[2], n);
    double arm[3], down[3];
    between(shape->centre, point, arm);
    const double along = fmin(fmax(spragDot3(shape->axis[2], arm), -shape->half[2]), shape->half[2]);
    for (int i = 0; i < 3; ++i)
        down[i] = -n[i] + (shape->class == dCylinderClass ? part * shape->axis[2][i] : 0);
    const double length = spragNorm3(down);
    for (int i = 0; i < 3; ++i)
        point[i] = shape->centre[i] + along * shape->axis[2][i] + shape->radius / length * down[i];
    return spragDot3(n, point);
}

/* m: how far a box reaches against n from a point that lies in it.  (That above one of its lower corners may lie
 * beside it; such contacts have about the plane's normal, and their own depth.) */
static double below(const Shape *shape, const double n[3], const double point[3])
{
    double arm[3], most = INFINITY;
    between(shape->centre, point, arm);
    for (int i = 0; i < 3; ++i) {
        const double at = spragDot3(shape->axis[i], arm), down = -spragDot3(shape->axis[i], n);
        if (fabs(down) > PARALLEL) /* else it may lie in that face */
            most = fmin(most, (shape->half[i] - copysign(at, down * at)) / fabs(down));
    }
    return fmax(most, 0);
}

/* m, from the side of what lies to a point within. */
static double within(const Shape *shape, const double point[3])
{
    double arm[3];
    between(shape->centre, point, arm);
    const double along = fmin(fmax(spragDot3(shape->axis[2], arm), -shape->half[2]), shape->half[2]);
    for (int i = 0; i < 3; ++i)
        arm[i] -= along * shape->axis[2][i];
    return shape->radius - spragNorm3(arm);
}

/* m, along n, from a point that a collider names to the mesh's: it is the body's, or the mesh's, which are apart by
 * the depth, or, where two edges meet, between both. */
static double toMesh(const Shape *shape, const double n[3], const dContactGeom *geom)
{
    const double depth = fmax(geom->depth, 0), point[3] = {geom->pos[0], geom->pos[1], geom->pos[2]};
    if (shape->class == dBoxClass)
        return fmax(depth - below(shape, n, point), 0);
    return (lies(shape, n) ? within(shape, point) : spragDot3(n, point) - lowest(shape, n)) > 0.5 * depth ? 0 : depth;
}

static void findPoints(Flat *flat)
{
    for (int k = 0; k < flat->count; ++k) {
        const dContactGeom *geom = geomOf(flat, k);
        double n[3], size = 0;
        for (int i = 0; i < 3; ++i) {
            n[i] = flat->sign * geom->normal[i];
            size += fabs(geom->pos[i]);
        }
        const double by = toMesh(&flat->shape, n, geom);
        for (int i = 0; i < 3; ++i)
            flat->point[k][i] = geom->pos[i] + by * n[i];
        flat->rounding = fmax(flat->rounding, ROUNDING * size);
        flat->deepest = fmax(flat->deepest, geom->depth);
    }
}

/* Has contact k the normal and the depth of another, below it along n?  At an edge whose normal is across the line of
 * what leans both ends of that have the depth of the lower one: the mesh is not at the upper one's. */
static int isUpper(const Flat *flat, int k, const double n[3])
{
    const dContactGeom *own = geomOf(flat, k);
    int found = 0;
    for (int l = k > 0 ? k - 1 : 0; l < flat->count && l <= k + 1 && flat->shape.class != dBoxClass; ++l) {
        const dContactGeom *other = geomOf(flat, l);
        found |= other->depth == own->depth && memcmp(other->normal, own->normal, 3 * sizeof(dReal)) == 0 &&
                 spragDot3(n, flat->point[k]) > spragDot3(n, flat->point[l]);
    }
    return found;
}

/* m: how far a point of the mesh lies at most from the plane through `from` across n. */
static double spread(const Flat *flat, const double n[3], const double from[3])
{
    double most = 0;
    for (int k = 0; k < flat->count; ++k) {
        if (isUpper(flat, k, n))
            continue;
        const double *point = flat->point[k], arm[3] = {point[0] - from[0], point[1] - from[1], point[2] - from[2]};
        most = fmax(most, fabs(spragDot3(n, arm)));
    }
    return most;
}

/* From the first point to the one farthest from it; its length. */
static double longest(const Flat *flat, double along[3])
{
    double arm[3], length = along[0] = along[1] = along[2] = 0;
    for (int k = 1; k < flat->count; ++k) {
        between(flat->point[0], flat->point[k], arm);
        if (spragNorm3(arm) > length) {
            length = spragNorm3(arm);
            memcpy(along, arm, sizeof arm);
        }
    }
    return length;
}

/* The plane of three points that are far apart.  0: all lie on a line. */
static int planeOfPoints(const Flat *flat, double n[3])
{
    double along[3], arm[3], across[3], greatest = 0;
    const double length = longest(flat, along);
    for (int k = 1; k < flat->count; ++k) {
        between(flat->point[0], flat->point[k], arm);
        spragCross3(across, along, arm);
        const double area = spragNorm3(across);
        if (area > greatest) {
            greatest = area;
            memcpy(n, across, sizeof across);
        }
    }
    if (!(greatest > (flat->shape.class == dBoxClass ? SPREAD : WIDELY) * length * length))
        return 0;
    between(flat->point[0], flat->shape.centre, arm);
    const double scale = (spragDot3(n, arm) < 0 ? -1 : 1) / greatest;
    for (int i = 0; i < 3; ++i)
        n[i] *= scale;
    return 1;
}

/* The normal of contact k, level: less its part along the points.  1: it is another than that of contact k - 1. */
static int normalOf(const Flat *flat, int k, int level, double n[3])
{
    const dReal *normal = geomOf(flat, k)->normal;
    double along[3] = {0}, part = 0;
    for (int i = 0; i < 3; ++i)
        n[i] = flat->sign * normal[i];
    if (level && longest(flat, along) > 0)
        part = spragDot3(n, along) / spragDot3(along, along);
    for (int i = 0; i < 3; ++i)
        n[i] -= part * along[i];
    const double length = spragNorm3(n);
    for (int i = 0; i < 3; ++i)
        n[i] /= length;
    return length > 0 && (k == 0 || memcmp(normal, geomOf(flat, k - 1)->normal, 3 * sizeof *normal) != 0);
}

/* Cosine between the normal of contact k and n. */
static double agrees(const Flat *flat, int k, const double n[3])
{
    const dReal *normal = geomOf(flat, k)->normal;
    return flat->sign * (n[0] * normal[0] + n[1] * normal[1] + n[2] * normal[2]);
}

/* 1: the body reaches no farther below the plane than contacts say, and no contact is deeper: of a triangle in the
 * plane its overlap with that is one of those of which the least is named.  Of what is round the contact with the plane
 * may be missing; but then it may also lie between two edges. */
static int isBelow(const Flat *flat, const double n[3], double height)
{
    const double sunk = height - lowest(&flat->shape, n),
                 least = flat->shape.class == dBoxClass ? 1 - EXACTLY : 1.0 / DEEPER;
    double up = lies(&flat->shape, n) ? -1 : 1;
    for (int k = 0; k < flat->count && up < UPRIGHT; ++k)
        up = fmax(up, agrees(flat, k, n));
    return sunk >= least * flat->deepest - flat->rounding &&
           sunk <= (up < UPRIGHT ? 1 + ROUGHLY : DEEPER) * flat->deepest + flat->rounding;
}

/* Takes the plane through `from` across n, if it may be and the points lie less apart from it. */
static void improve(Flat *flat, const double n[3], const double from[3], double *least)
{
    const double apart = spread(flat, n, from), height = spragDot3(n, from);
    if (!(apart < *least) || !isBelow(flat, n, height))
        return;
    *least = apart;
    memcpy(flat->normal, n, sizeof flat->normal);
    flat->height = height;
}

/* Of the normals that contacts have, and the one of their points, the best.  A box with a row of points may lie on it,
 * or stand beside it.  What is round has points along a line, on which edges may have their own normals; there the line
 * itself says how it lies.  (Three points make a plane of anything.) */
static int findPlane(Flat *flat)
{
    const int box = flat->shape.class == dBoxClass;
    const double limit = fmax(flat->rounding, box ? 0 : ROUGHLY * flat->deepest);
    double of_points[3], n[3], least = INFINITY;
    const int wide = planeOfPoints(flat, of_points);
    if (box && !wide)
        return 0;
    for (int level = 0; level <= !box && !(least <= limit); ++level)
        for (int k = 0; k < flat->count; ++k)
            if (normalOf(flat, k, level, n))
                improve(flat, n, flat->point[k], &least);
    if (wide && flat->count > 3 && !(least <= flat->rounding))
        improve(flat, of_points, flat->point[0], &least);
    return least <= limit;
}

static int isAsPlane(const Flat *flat, int k)
{
    const dReal *normal = geomOf(flat, k)->normal;
    double apart = 0;
    for (int i = 0; i < 3; ++i)
        apart += (flat->sign * normal[i] - flat->normal[i]) * (flat->sign * normal[i] - flat->normal[i]);
    return apart <= SAME * SAME;
}

/* Can a box have the normal n, into it, by a mesh in the plane?  By one of its own faces, or by an edge of its own and
 * one in the plane.  Else it is another triangle's: of a floor on which its edge stands while its face leans on
 * what else is in the plane of its points. */
static int isOfBox(const Flat *flat, const double n[3])
{
    double edge[3]; /* along which it would lie, in the plane */
    spragCross3(edge, n, flat->normal);
    const double length = spragNorm3(edge);
    int found = 0;
    for (int i = 0; i < 3; ++i) {
        const double part = fabs(spragDot3(n, flat->shape.axis[i]));
        found |= part > 1 - PARALLEL ||
                 (part < PARALLEL && fabs(spragDot3(edge, flat->shape.axis[i])) < (1 - PARALLEL) * length);
    }
    return found;
}

/* Is contact k of an edge in the plane, above which the body lies `depth` deep there?  Of a triangle the least overlap
 * is named: at an edge beside its foot a round body has less, by r (1 / cos - 1), than in the plane.  What it leans on
 * besides has as much. */
static int isEdge(const Flat *flat, int k, double depth)
{
    const dContactGeom *geom = geomOf(flat, k);
    const double n[3] = {flat->sign * geom->normal[0], flat->sign * geom->normal[1], flat->sign * geom->normal[2]};
    const double up = agrees(flat, k, flat->normal), along = fabs(spragDot3(n, flat->shape.axis[2]));
    if (flat->shape.class == dBoxClass)
        return isOfBox(flat, n);
    if (up >= UPRIGHT)
        return 1;
    if (!lies(&flat->shape, flat->normal))
        return fabs(spragDot3(flat->shape.axis[2], flat->normal)) > UPRIGHT && along < ALONG;
    return (flat->shape.class == dCylinderClass && along > UPRIGHT) ||
           (up > 0 && geom->depth <= depth - 0.5 * (flat->shape.radius - depth) * (1 / up - 1));
}

/* Contact k becomes one with the plane. */
static void turn(struct spragWorld *world, Flat *flat, int k)
{
    spragJointState *joint = &flat->s->joint[flat->first + k];
    const int box = flat->shape.class == dBoxClass, leans = agrees(flat, k, flat->normal) < UPRIGHT;
    double point[3], depth = joint->contact->geom.depth;
    memcpy(point, flat->point[k], sizeof point);
    if (lies(&flat->shape, flat->normal))
        depth = flat->height - footBelow(&flat->shape, flat->normal, point);
    else if (leans && box)
        depth = below(&flat->shape, flat->normal, point);
    depth = fmin(depth, flat->height - lowest(&flat->shape, flat->normal));
    if (!isEdge(flat, k, depth))
        return;
    if (depth <= 0 && (leans || !box) && !joint->listened) {
        joint->stray = 1;
        ++flat->s->stray_count;
        return;
    }
    dContact *own = spragContactOwn(world, joint);
    if (own == NULL)
        return;
    for (int i = 0; i < 3; ++i) {
        own->geom.pos[i] = (dReal)point[i];
        own->geom.normal[i] = (dReal)(flat->sign * flat->normal[i]);
    }
    own->geom.depth = (dReal)fmax(depth, 0);
}

/* m/s, of the body (a, or b) over the mesh. */
static double speedOver(const Flat *flat, const int body[2])
{
    const spragBodyState *a = &flat->s->body[body[0]], *b = body[1] < 0 ? NULL : &flat->s->body[body[1]];
    double v[3];
    for (int i = 0; i < 3; ++i)
        v[i] = a->velocity[i] - (b == NULL ? 0 : b->velocity[i]);
    return spragNorm3(v);
}

/* Does it travel over the mesh, by so much of its size in a step that edges throw it?  What is slower keeps the
 * collider's contacts: in corners the points alone do not always tell a floor from what stands on it. */
static int travels(const Flat *flat, const int body[2])
{
    const Shape *shape = &flat->shape;
    const double size = fmax(shape->radius, fmax(shape->half[0], fmax(shape->half[1], shape->half[2])));
    return speedOver(flat, body) * flat->s->step > TRAVELS * size;
}

/* Do all contacts have all but the plane's normal?  Then there is no corner. */
static int isLevel(const Flat *flat)
{
    double least = 1;
    for (int k = 0; k < flat->count; ++k)
        least = fmin(least, agrees(flat, k, flat->normal));
    return least >= LEVEL;
}

/* Is contact k between the ends of what lies? */
static int isInner(const Flat *flat, int k)
{
    const dContactGeom *geom = geomOf(flat, k);
    const double point[3] = {geom->pos[0], geom->pos[1], geom->pos[2]};
    double arm[3];
    between(flat->shape.centre, point, arm);
    return fabs(spragDot3(flat->shape.axis[2], arm)) < (1 - SPREAD) * flat->shape.half[2];
}

/* Friction that is a force is of each contact, and so is a surface of its own: those stay. */
static int mayGo(const spragJointState *joint)
{
    const int cone = dContactApprox1_1 | dContactApprox1_2;
    const dSurfaceParameters *surface = &joint->contact->surface;
    return !joint->stray && joint->serial == 0 && ((surface->mode & cone) == cone || surface->mu == dInfinity);
}

/* Of a cylinder or capsule that leans one end is below the plane, and nothing else touches it: not where its line
 * leaves the plane, of which the mesh's last triangle tells, nor what lies between.  (What is as slow as what falls
 * keeps them: it would come down on its other end, by g h^2, and where the plane is not found in each step it rocks on.
 * What only touches, and leans by rounding alone, would fall so, too.) */
static void leaveOutInner(Flat *flat, const int body[2])
{
    const double slow = FALLS * flat->s->step * spragNorm3(flat->s->gravity);
    int leaves = 0, end = 0;
    if (!(flat->deepest > TOUCHES * flat->shape.radius && speedOver(flat, body) > slow))
        return;
    for (int k = 0; k < flat->count; ++k) {
        const double depth = geomOf(flat, k)->depth;
        leaves |= isInner(flat, k) && depth < EXACTLY * flat->deepest;
        end |= !isInner(flat, k) && depth > (1 - ROUGHLY) * flat->deepest;
    }
    for (int k = 0; k < flat->count && leaves && end; ++k) {
        spragJointState *joint = &flat->s->joint[flat->first + k];
        if (!mayGo(joint) || !isInner(flat, k))
            continue;
        joint->stray = 1;
        ++flat->s->stray_count;
    }
}

void spragFlatTurn(struct spragWorld *world, int first, int end)
{
    Flat flat = {.s = &world->snapshot, .first = first, .count = end - first};
    const spragJointState *joint = &flat.s->joint[first];
    const dContactGeom *geom = &joint->contact->geom;
    int found = 0;
    for (int side = 0; side < 2 && joint->body[side] >= 0 && !found; ++side) {
        const dGeomID own = spragGeomOf(joint, side);
        found = own != NULL && readShape(flat.s->body[joint->body[side]].id, own, &flat.shape);
        flat.sign = own == geom->g1 ? 1 : -1;
    }
    if (!found || flat.count > MOST)
        return;
    findPoints(&flat);
    if (!findPlane(&flat) || !(travels(&flat, joint->body) || isLevel(&flat)))
        return;
    for (int k = 0; k < flat.count; ++k)
        if (!isAsPlane(&flat, k))
            turn(world, &flat, k);
    if (lies(&flat.shape, flat.normal))
        leaveOutInner(&flat, joint->body);
}
