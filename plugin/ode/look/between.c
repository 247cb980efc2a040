#include "ode/look/between.h"

#include <math.h>

#include "ode/rows/contact_law.h"
#include "ode/shape/planar.h"

#define SAME 1e-4     /* by which two unit vectors of one direction differ: those of small triangles are rounded */
#define BESIDE 1e-4   /* of the distance from the first: how far beside its edges a point is in the hull */
#define DEEPER 0.02   /* of its depth: by which a contact may be deeper than what is between the corners */
#define ROUNDING 3e-7 /* of the coordinates: those of triangles are in single precision */
enum { MOST = SPRAG_PLANAR_MOST }; /* contacts of one face */

/* Contacts with one normal, in the plane across it. */
typedef struct Face {
    int count, joint[MOST]; /* in the snapshot */
    double x[MOST][2];      /* m, from the first one */
    double depth[MOST];     /* m */
    double rounding;        /* m */
    int corner[MOST], corners;
} Face;

/* ---------------------------------------------------------------- which contacts */

static int sameNumbers(const dReal *a, const dReal *b)
{
    double apart = 0;
    for (int i = 0; i < 3; ++i)
        apart += (double)(a[i] - b[i]) * (a[i] - b[i]);
    return apart <= SAME * SAME;
}

/* Numbers that the mode makes no use of may be anything. */
static int sameLaw(const dContact *a, const dContact *b)
{
    const dSurfaceParameters *p = &a->surface, *q = &b->surface;
    const int mode = p->mode;
    return mode == q->mode && p->mu == q->mu && (!(mode & dContactSoftERP) || p->soft_erp == q->soft_erp) &&
           (!(mode & dContactSoftCFM) || p->soft_cfm == q->soft_cfm) &&
           (!(mode & dContactBounce) || (p->bounce == q->bounce && p->bounce_vel == q->bounce_vel)) &&
           (!(mode & dContactMotion1) || p->motion1 == q->motion1) &&
           (!(mode & dContactMotion2) || p->motion2 == q->motion2) && (!(mode & dContactRolling) || p->rho == q->rho) &&
           (!(mode & dContactSlip1) || p->slip1 == q->slip1) && (!(mode & dContactSlip2) || p->slip2 == q->slip2) &&
           (!(mode & dContactFDir1) || sameNumbers(a->fdir1, b->fdir1));
}

static int mayGo(const spragJointState *joint)
{
    const dContact *contact = joint->contact;
    return !joint->stray && joint->serial == 0 && spragNormalIsUnit(&contact->geom) &&
           (spragContactIsPlain(contact, 1) || spragContactSticks(contact, 1) || spragContactIsRoller(contact, 1));
}

/* Puts joint j into the face, whose first one gives its plane. */
static void add(const spragSnapshot *s, Face *face, const dVector3 tangent[2], int j)
{
    const dContactGeom *geom = &s->joint[j].contact->geom, *origin = &s->joint[face->joint[0]].contact->geom;
    double arm[3], size = 0;
    for (int i = 0; i < 3; ++i) {
        arm[i] = geom->pos[i] - origin->pos[i];
        size += fabs(geom->pos[i]);
    }
    face->joint[face->count] = j;
    face->depth[face->count] = geom->depth;
    for (int i = 0; i < 2; ++i)
        face->x[face->count][i] = tangent[i][0] * arm[0] + tangent[i][1] * arm[1] + tangent[i][2] * arm[2];
    face->rounding = fmax(face->rounding, ROUNDING * size);
    ++face->count;
}

/* All that are as joint j, which is taken out of those that are left; first: of the run. */
static void gather(const spragSnapshot *s, int first, int end, int j, char *left, Face *face)
{
    const dContact *own = s->joint[j].contact;
    dVector3 tangent[2];
    dPlaneSpace(own->geom.normal, tangent[0], tangent[1]);
    face->count = face->corners = 0;
    face->rounding = 0;
    face->joint[0] = j;
    for (int k = j; k < end; ++k) {
        const dContact *other = s->joint[k].contact;
        if (!left[k - first] || !sameNumbers(own->geom.normal, other->geom.normal) || !sameLaw(own, other))
            continue;
        left[k - first] = 0;
        add(s, face, (const dVector3 *)tangent, k);
    }
}

/* ---------------------------------------------------------------- the hull */

/* But for those that stand out by no more than triangles are rounded. */
static void findCorners(Face *face)
{
    double most = 0;
    for (int k = 1; k < face->count; ++k)
        most = fmax(most, spragNorm2(face->x[k]));
    face->corners =
        spragPlanarHull((const double(*)[2])face->x, face->count, fmax(BESIDE * most, face->rounding), face->corner);
}

/* m, between corners a, b, c at point k.  *inside: the least of its weights, how well it lies between them. */
static double depthBetween(const Face *face, int k, int a, int b, int c, double *inside)
{
    const double *x = face->x[k], *A = face->x[a], *B = face->x[b], *C = face->x[c], whole = spragPlanarArea(A, B, C);
    const double w[3] = {spragPlanarArea(B, C, x) / whole, spragPlanarArea(C, A, x) / whole,
                         spragPlanarArea(A, B, x) / whole};
    *inside = fmin(w[0], fmin(w[1], w[2]));
    return w[0] * face->depth[a] + w[1] * face->depth[b] + w[2] * face->depth[c];
}

/* m, between the corners at point k: in that triangle of the fan from the first corner in which it lies. */
static double depthAt(const Face *face, int k)
{
    const int *corner = face->corner;
    if (face->corners == 1)
        return face->depth[corner[0]];
    if (face->corners == 2) {
        const double whole = spragPlanarDistance(face->x[corner[0]], face->x[corner[1]]),
                     part = fmin(spragPlanarDistance(face->x[corner[0]], face->x[k]) / whole, 1);
        return (1 - part) * face->depth[corner[0]] + part * face->depth[corner[1]];
    }
    double depth = 0, best = -INFINITY;
    for (int i = 1; i + 1 < face->corners; ++i) {
        double inside;
        const double here = depthBetween(face, k, corner[0], corner[i], corner[i + 1], &inside);
        if (!(inside > best))
            continue;
        best = inside;
        depth = here;
    }
    return depth;
}

static int isCorner(const Face *face, int k)
{
    int found = 0;
    for (int i = 0; i < face->corners; ++i)
        found |= face->corner[i] == k;
    return found;
}

static void leaveOut(spragSnapshot *s, const Face *face)
{
    for (int k = 0; k < face->count; ++k) {
        if (isCorner(face, k) || face->depth[k] > depthAt(face, k) + DEEPER * fabs(face->depth[k]) + face->rounding)
            continue;
        s->joint[face->joint[k]].stray = 1;
        ++s->stray_count;
    }
}

void spragBetweenLeaveOut(spragSnapshot *s, int first, int end)
{
    char left[MOST];
    Face face;
    if (end - first > MOST)
        return;
    for (int j = first; j < end; ++j)
        left[j - first] = (char)mayGo(&s->joint[j]);
    for (int j = first; j < end; ++j) {
        if (!left[j - first])
            continue;
        gather(s, first, end, j, left, &face);
        if (face.count < 2)
            continue;
        findCorners(&face);
        leaveOut(s, &face);
    }
}
