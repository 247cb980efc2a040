#include "ode/shape/face_to_face.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/shape/facet.h"

#define AGREES 0.9   /* cosine between the normal that is named and a face's: of flush hulls it leans */
#define AGAINST 0.2  /* minus the cosine between the normals of both faces */
#define SAME 1e-3    /* of the length, and of their depths */
#define PARTED 1e-5  /* of the length: a gap that is none (it is what is left of steps) */
#define NOTHING 1e-6 /* of its square: an area that is none */
enum {
    FACES = 3, /* are looked at, of each hull */
    CUT = 2 * SPRAG_FACET_CORNERS
};

typedef spragPlacedHull Hull;
typedef spragBesidePoint Point;

/* The plane of the other one's face, in the frame of the first. */
typedef struct Lower {
    double at[3], normal[3], slope; /* m, a point of it; slope: m.n */
} Lower;

/* From the frame of one into that of the other.  is_point: 0, of directions. */
static void into(const Hull *to, const Hull *from, int is_point, const double x[3], double y[3])
{
    double w[3];
    spragMulTransposed33(w, (const double *)from->axis, x);
    for (int i = 0; i < 3 && is_point; ++i)
        w[i] += from->centre[i] - to->centre[i];
    spragMul33(y, (const double *)to->axis, w);
}

/* m, how far the hull reaches along n, which is of the frame, from where this begins. */
static double reach(const Hull *frame, const Hull *hull, const double n[3])
{
    const double zero[3] = {0, 0, 0};
    double own[3], begin[3], most = -INFINITY;
    into(hull, frame, 0, n, own);
    into(frame, hull, 1, zero, begin);
    for (int k = 0; k < hull->hull.point_count; ++k) {
        const dReal *x = hull->hull.points + 3 * k;
        most = fmax(most, own[0] * x[0] + own[1] * x[1] + own[2] * x[2]);
    }
    return most + spragDot3(n, begin);
}

/* m, by how much they overlap along n, outward from the first, of whose frame it is. */
static double overlap(const Hull *own, const Hull *other, const double n[3])
{
    const double back[3] = {-n[0], -n[1], -n[2]};
    return reach(own, own, n) + reach(own, other, back);
}

/* The other one's face that is most against this one.  0: it has none. */
static int findAgainst(const Hull *own, const Hull *other, const spragFacet *face, spragFacet *against)
{
    double n[3], back[3], seen[1][3];
    int k;
    into(other, own, 0, face->normal, n);
    for (int i = 0; i < 3; ++i)
        back[i] = -n[i];
    return spragFacetNext(&other->hull, back, AGAINST, seen, 0, &k) && spragFacetFind(&other->hull, k, against) &&
           spragDot3(against->normal, back) >= AGAINST;
}

/* The corners of that face as they lie above this one, counter-clockwise, and its plane. */
static void project(const Hull *own, const Hull *other, const spragFacet *face, const spragFacet *against,
                    double (*corner)[2], Lower *lower)
{
    double x[3];
    into(own, other, 0, against->normal, lower->normal);
    lower->slope = spragDot3(lower->normal, face->normal);
    for (int k = 0; k < against->corners; ++k) {
        spragFacetAt(against, against->corner[against->corners - 1 - k], x);
        into(own, other, 1, x, lower->at);
        for (int i = 0; i < 2; ++i)
            corner[k][i] = spragDot3(face->along[i], lower->at);
    }
}

/* m, how far the lower plane lies below that corner, at u. */
static double depthAt(const spragFacet *face, const Lower *lower, const double corner[2], double u[3])
{
    double arm[3];
    spragFacetAt(face, corner, u);
    for (int i = 0; i < 3; ++i)
        arm[i] = u[i] - lower->at[i];
    return spragDot3(lower->normal, arm) / lower->slope;
}

/* Four corners at most, and the lowest one, unless all are as low.  (Of a leaning prism of many sides that adds least.)
 */
static int thin(const spragFacet *face, const Lower *lower, double length, double (*corner)[2], int count)
{
    double least = INFINITY, most = -INFINITY, u[3];
    int lowest = -1;
    count = spragPlanarThin(corner, count, CUT, NOTHING * length * length, -1);
    for (int k = 0; k < count; ++k) {
        const double depth = depthAt(face, lower, corner[k], u);
        least = fmin(least, depth);
        if (depth > most)
            most = depth, lowest = k;
    }
    return spragPlanarThin(corner, count, SPRAG_FACE_TO_FACE_MOST, 0, most - least > PARTED * length ? lowest : -1);
}

/* Where the other one, whose depth that is, touches the face, in the frame of the first.  0: its face that is most
 * against this one does not reach as deep, which is that of a point or an edge of others. */
static int findOnFace(const Hull *own, const Hull *other, const spragFacet *face, double length, double depth,
                      Point point[SPRAG_FACE_TO_FACE_MOST])
{
    double deepest = -INFINITY;
    spragFacet against;
    Lower lower;
    double corner[CUT][2], u[3];
    if (!findAgainst(own, other, face, &against))
        return 0;
    project(own, other, face, &against, corner, &lower);
    const int shared = spragFacetOverlap(face, corner, against.corners, CUT);
    int count = 0;
    for (int k = 0; k < shared; ++k)
        if (depthAt(face, &lower, corner[k], u) >= -PARTED * length)
            memmove(corner[count++], corner[k], sizeof *corner);
    count = thin(face, &lower, length, corner, count);
    for (int k = 0; k < count; ++k) {
        point[k].depth = depthAt(face, &lower, corner[k], u);
        deepest = fmax(deepest, point[k].depth);
        for (int i = 0; i < 3; ++i)
            point[k].x[i] = u[i] - 0.5 * point[k].depth * face->normal[i];
        memcpy(point[k].normal, face->normal, sizeof point[k].normal);
    }
    return deepest > depth - SAME * length ? count : 0;
}

/* On a face of hull[side] that is entered by less than that. */
static int findOn(const Hull hull[2], int side, const Point *named, double length, double *least,
                  Point point[SPRAG_FACE_TO_FACE_MOST])
{
    const Hull *own = &hull[side], *other = &hull[!side];
    const double sign = side ? 1 : -1; /* of the normal into the first, outward from this one */
    double n[3], seen[FACES][3];
    int k;
    spragMul33(n, (const double *)own->axis, named->normal);
    for (int i = 0; i < 3; ++i)
        n[i] *= sign;
    for (int f = 0; f < FACES && spragFacetNext(&own->hull, n, AGREES, seen, f, &k); ++f) {
        Point here[SPRAG_FACE_TO_FACE_MOST];
        spragFacet face;
        if (!spragFacetFind(&own->hull, k, &face))
            continue;
        const double depth = overlap(own, other, face.normal);
        if (fabs(depth - named->depth) > SAME * length || depth >= *least)
            continue;
        const int count = findOnFace(own, other, &face, length, depth, here);
        if (count == 0)
            continue;
        *least = depth;
        for (int j = 0; j < count; ++j) {
            point[j].depth = here[j].depth;
            spragMulTransposed33(point[j].x, (const double *)own->axis, here[j].x);
            spragMulTransposed33(point[j].normal, (const double *)own->axis, here[j].normal);
            for (int i = 0; i < 3; ++i) {
                point[j].x[i] += own->centre[i];
                point[j].normal[i] *= sign;
            }
        }
        return count;
    }
    return 0;
}

int spragFaceToFaceFind(const spragPlacedHull hull[2], const spragBesidePoint *named, double length,
                        spragBesidePoint point[SPRAG_FACE_TO_FACE_MOST])
{
    double least = INFINITY;
    const int first = findOn(hull, 0, named, length, &least, point),
              second = findOn(hull, 1, named, length, &least, point);
    return second > 0 ? second : first;
}
