#include "ode/look/field.h"

#include <math.h>

#include "linalg/vec3.h"
#include "ode/rows/rows.h"
#include "ode/shape/curvature.h"
#include "ode/world/statics.h"

#define BESIDE 1e-9   /* of a triangle's size: by which what is on an edge may seem to lie beside it */
#define PARALLEL 1e-9 /* sine of the angle between a triangle and a line that misses it */
#define LOADS 10      /* times a body's weight, or that of what touches it: what a contact is taken to bear */
#define JOINED 1000   /* the same of a body in joints, times its own: who knows what these bear on it */

/* ---------------------------------------------------------------- meshes */

/* m, along the unit vector d from x to the triangle; INFINITY: it is not on the way. */
static double wayToTriangle(const double x[3], const double d[3], dVector3 v[3])
{
    double a[3], b[3], from[3], p[3], q[3];
    for (int i = 0; i < 3; ++i) {
        a[i] = v[1][i] - v[0][i];
        b[i] = v[2][i] - v[0][i];
        from[i] = x[i] - v[0][i];
    }
    spragCross3(p, d, b);
    spragCross3(q, from, a);
    const double whole = spragDot3(a, p);
    if (!(fabs(whole) > PARALLEL * spragNorm3(a) * spragNorm3(b)))
        return INFINITY;
    const double u = spragDot3(from, p) / whole, w = spragDot3(d, q) / whole;
    if (u < -BESIDE || w < -BESIDE || u + w > 1 + BESIDE)
        return INFINITY;
    const double way = spragDot3(b, q) / whole;
    return way >= 0 ? way : INFINITY;
}

/* m, along d from x to the first triangle. */
static double wayOut(dGeomID mesh, const double x[3], const double d[3])
{
    const int count = dGeomTriMeshGetTriangleCount(mesh);
    double least = INFINITY;
    for (int k = 0; k < count; ++k) {
        dVector3 v[3];
        dGeomTriMeshGetTriangle(mesh, k, &v[0], &v[1], &v[2]);
        least = fmin(least, wayToTriangle(x, d, v));
    }
    return least;
}

/* 0: the mesh is above the vertex. */
static int levelMesh(struct spragWorld *world, spragJointState *joint, dGeomID mesh)
{
    const dContactGeom *geom = &joint->contact->geom;
    const double sign = mesh == geom->g1 ? -1 : 1, x[3] = {geom->pos[0], geom->pos[1], geom->pos[2]},
                 back[3] = {sign * geom->normal[0], sign * geom->normal[1], sign * geom->normal[2]};
    const double way = wayOut(mesh, x, back);
    if (!isfinite(way) && !joint->listened) {
        joint->stray = 1;
        ++world->snapshot.stray_count;
        return 0;
    }
    dContact *own = spragContactOwn(world, joint);
    if (own != NULL)
        own->geom.depth = (dReal)(isfinite(way) ? way : 0);
    return 1;
}

/* ---------------------------------------------------------------- what has sunk */

static double massOf(const spragBodyState *body)
{
    return body->inverse_mass > 0 ? 1 / body->inverse_mass : 0;
}

/* kg (body_count): what a contact of each body may have to bear.  NULL: no memory. */
static const double *findLoads(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    double *load = SPRAG_TAKE_RAW(&world->arena, double, s->body_count);
    for (int i = 0; load != NULL && i < s->body_count; ++i)
        load[i] = LOADS * massOf(&s->body[i]);
    for (int j = 0; load != NULL && j < s->joint_count; ++j) {
        const spragJointState *joint = &s->joint[j];
        for (int side = 0; side < 2; ++side) {
            const int own = joint->body[side], other = joint->body[!side];
            if (own >= 0 && other >= 0)
                load[own] = fmax(load[own], LOADS * massOf(&s->body[other]));
            if (own >= 0 && joint->type != dJointTypeContact)
                load[own] = fmax(load[own], JOINED * massOf(&s->body[own]));
        }
    }
    return load;
}

/* m/s: what lifts it out. */
static double liftOf(const spragSnapshot *s, const dContactGeom *geom)
{
    return sqrt(2 * spragNorm3(s->gravity) * fmax(geom->depth - s->layer, 0));
}

/* m/s: what the contact gives under its load, and under what the program presses it with. */
static double givenOf(const spragSnapshot *s, const spragJointState *joint, const double *load)
{
    const dSurfaceParameters *p = &joint->contact->surface;
    const int body = joint->body[0];
    return (p->mode & dContactSoftCFM ? p->soft_cfm : s->cfm) *
           (load[body] * spragNorm3(s->gravity) + spragNorm3(s->body[body].force));
}

/* m/s: what ERP asks for. */
static double askedOf(const spragSnapshot *s, const spragJointState *joint)
{
    const dSurfaceParameters *p = &joint->contact->surface;
    const int own = (p->mode & dContactSoftERP) != 0;
    return spragCorrection(s, own ? p->soft_erp : s->erp, own ? s->step : s->pace, joint->contact->geom.depth);
}

/* A spring may ask for more: a surface's, or one made of ERP and CFM that takes steps to stop the body. */
static int isSpring(const spragSnapshot *s, const spragJointState *joint)
{
    const dSurfaceParameters *p = &joint->contact->surface;
    const int own = dContactSoftERP | dContactSoftCFM;
    return joint->serial != 0 || ((p->mode & own) == own && p->soft_cfm * massOf(&s->body[joint->body[0]]) > s->step);
}

/* Does ERP ask for more than that? */
static int isThrown(const spragSnapshot *s, const spragJointState *joint)
{
    return s->slow > 0 && askedOf(s, joint) > liftOf(s, &joint->contact->geom) && !isSpring(s, joint);
}

static void lift(struct spragWorld *world, spragJointState *joint, const double **load)
{
    const spragSnapshot *s = &world->snapshot;
    if (*load == NULL && (*load = findLoads(world)) == NULL)
        return;
    const double most = liftOf(s, &joint->contact->geom) + givenOf(s, joint, *load);
    if (!(askedOf(s, joint) > most))
        return;
    dContact *own = spragContactOwn(world, joint);
    if (own == NULL)
        return;
    own->surface.mode |= dContactSoftERP;
    own->surface.soft_erp = (dReal)(most * s->step / (own->geom.depth - s->layer));
}

/* ---------------------------------------------------------------- the contact */

/* Is the geom, which is alive if it is its body's, a mesh? */
static int isMeshOf(const spragSnapshot *s, int body, dGeomID own)
{
    if (own != s->geom[body] && !spragGeomIsOf(s->body[body].id, own))
        return 0;
    return own != NULL && dGeomGetClass(own) == dTriMeshClass;
}

void spragFieldMend(struct spragWorld *world, spragJointState *joint, const double **load)
{
    const spragSnapshot *s = &world->snapshot;
    const dContactGeom *geom = &joint->contact->geom;
    if (joint->body[1] >= 0)
        return;
    const dGeomID own = spragGeomOf(joint, 0);
    const int mesh = geom->side1 < 0 && geom->side2 < 0 && isMeshOf(s, joint->body[0], own);
    if (!mesh && !(isThrown(s, joint) && spragGeomIsOf(s->body[joint->body[0]].id, own)))
        return;
    if (!spragNormalIsUnit(geom) || !spragStaticsIsField(&world->statics, own, spragGeomOf(joint, 1)))
        return;
    if ((!mesh || levelMesh(world, joint, own)) && isThrown(s, joint))
        lift(world, joint, load);
}
