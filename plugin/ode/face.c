#include "ode/face.h"

#include <math.h>

#include "ode/rows.h"

#define SAME_NORMAL 1e-6 /* by which two unit vectors of one direction differ */
#define ROUNDING 1e-12   /* of the heights */

/* Is contact i of the face of the one before it?  Heights of one face differ by no more than it overlaps: feet on two
 * stairs are two. */
static int goesOn(const spragSnapshot *s, const spragIsland *island, int i)
{
    const spragJointState *a = &s->joint[island->joint[i - 1]], *b = &s->joint[island->joint[i]];
    if (a->body[0] != b->body[0] || a->body[1] != b->body[1] || a->reversed != b->reversed || a->contact == NULL ||
        b->contact == NULL)
        return 0;
    const dContactGeom *x = &a->contact->geom, *y = &b->contact->geom;
    if (x->g1 != y->g1 || x->g2 != y->g2)
        return 0;
    double apart = 0, heights[2] = {0};
    for (int k = 0; k < 3; ++k) {
        apart += (double)(x->normal[k] - y->normal[k]) * (x->normal[k] - y->normal[k]);
        heights[0] += (double)x->normal[k] * x->pos[k];
        heights[1] += (double)x->normal[k] * y->pos[k];
    }
    return apart <= SAME_NORMAL * SAME_NORMAL &&
           fabs(heights[0] - heights[1]) <=
               fmax(fmax(x->depth, y->depth), 0) + ROUNDING * (fabs(heights[0]) + fabs(heights[1]));
}

void spragFaceFind(const struct spragWorld *world, const spragIsland *island, int i, spragFace *face)
{
    if (i >= face->begin && i < face->end)
        return;
    const int known = face->end; /* where one ended the next begins */
    int begin = i, end = i + 1;
    const spragSnapshot *s = &world->snapshot;
    const int few = island->joint_count <= SPRAG_BLOCKS_MANY && world->config.solver != SPRAG_SOLVER_STOCK;
    while (few && begin > 0 && begin != known && goesOn(s, island, begin))
        --begin;
    while (few && end < island->joint_count && goesOn(s, island, end))
        ++end;
    double sum[3] = {0};
    for (int k = begin; k < end; ++k)
        for (int l = 0; l < 3; ++l)
            sum[l] += s->joint[island->joint[k]].contact->geom.pos[l];
    *face = (spragFace){.begin = begin, .end = end};
    for (int l = 0; l < 3; ++l)
        face->middle[l] = sum[l] / (end - begin);
}
