#include "ode/face.h"

#include <math.h>

#include "ode/rows.h"

#define SAME_NORMAL 1e-6 /* by which two unit vectors of one direction differ */
#define ROUNDING 1e-12   /* of the heights */
#define SLOW 1e-3        /* of the velocity that gravity gives in a step */

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

static int samePair(const spragJointState *a, const spragJointState *b)
{
    return a->body[0] == b->body[0] && a->body[1] == b->body[1] && b->contact != NULL;
}

/* 1: a body of contact i turns, or the two move against each other: at the first of their contacts. */
static int bodiesMove(const spragSnapshot *s, const spragJointState *joint)
{
    const double slow = SLOW * spragNorm3(s->gravity) * s->step;
    double v[3] = {0, 0, 0};
    for (int side = 0; side < 2 && joint->body[side] >= 0; ++side) {
        const spragBodyState *body = &s->body[joint->body[side]];
        double arm[3], turn[3];
        for (int k = 0; k < 3; ++k)
            arm[k] = joint->contact->geom.pos[k] - body->position[k];
        spragCross3(turn, body->velocity + 3, arm);
        if (spragDot3(turn, turn) > slow * slow)
            return 1;
        for (int k = 0; k < 3; ++k)
            v[k] += side == 0 ? body->velocity[k] + turn[k] : -body->velocity[k] - turn[k];
    }
    return spragDot3(v, v) > slow * slow;
}

/* The same, for all contacts of the two. */
static int moves(const spragSnapshot *s, const spragIsland *island, int i, spragFace *face)
{
    if (i >= face->pair && i < face->pair_end)
        return face->moves;
    int pair = i, end = i + 1;
    while (pair > 0 && samePair(&s->joint[island->joint[i]], &s->joint[island->joint[pair - 1]]))
        --pair;
    while (end < island->joint_count && samePair(&s->joint[island->joint[i]], &s->joint[island->joint[end]]))
        ++end;
    face->pair = pair, face->pair_end = end;
    face->moves = bodiesMove(s, &s->joint[island->joint[pair]]);
    return face->moves;
}

void spragFaceFind(const struct spragWorld *world, const spragIsland *island, int i, spragFace *face)
{
    if (i >= face->begin && i < face->end)
        return;
    const int known = face->end; /* where one ended the next begins */
    int begin = i, end = i + 1;
    const spragSnapshot *s = &world->snapshot;
    const int few = (island->joint_count <= SPRAG_BLOCKS_MANY || moves(s, island, i, face)) &&
                    world->config.solver != SPRAG_SOLVER_STOCK;
    while (few && begin > 0 && begin != known && goesOn(s, island, begin))
        --begin;
    while (few && end < island->joint_count && goesOn(s, island, end))
        ++end;
    double sum[3] = {0};
    for (int k = begin; k < end; ++k)
        for (int l = 0; l < 3; ++l)
            sum[l] += s->joint[island->joint[k]].contact->geom.pos[l];
    face->begin = begin, face->end = end;
    for (int l = 0; l < 3; ++l)
        face->middle[l] = sum[l] / (end - begin);
}
