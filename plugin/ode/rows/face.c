#include "ode/rows/face.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "ode/rows/rows.h"

#define SAME_NORMAL 1e-6 /* by which two unit vectors of one direction differ */
#define ROUNDING 1e-12   /* of the heights */
#define STRAIGHT 1e-3    /* how far from a line points of its length lie */
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
    double m[3], n[3], apart = 0, heights[2] = {0};
    spragContactNormal(a, m);
    spragContactNormal(b, n);
    for (int k = 0; k < 3; ++k) {
        apart += (m[k] - n[k]) * (m[k] - n[k]);
        heights[0] += m[k] * x->pos[k];
        heights[1] += m[k] * y->pos[k];
    }
    return apart <= SAME_NORMAL * SAME_NORMAL &&
           fabs(heights[0] - heights[1]) <=
               spragMax(spragMax(x->depth, y->depth), 0) + ROUNDING * (fabs(heights[0]) + fabs(heights[1]));
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

/* m, from the point of contact `from` of the island to that of contact `to`. */
static void between(const spragSnapshot *s, const spragIsland *island, int from, int to, double arm[3])
{
    const dReal *a = s->joint[island->joint[from]].contact->geom.pos,
                *b = s->joint[island->joint[to]].contact->geom.pos;
    for (int k = 0; k < 3; ++k)
        arm[k] = (double)b[k] - a[k];
}

/* 1: the points of the face lie on a line, along (3) from the first to the one farthest from it. */
static int isLine(const spragSnapshot *s, const spragIsland *island, const spragFace *face, double along[3])
{
    double arm[3], across[3], length = along[0] = along[1] = along[2] = 0;
    for (int k = face->begin + 1; k < face->end; ++k) {
        between(s, island, face->begin, k, arm);
        if (spragNorm3(arm) > length) {
            length = spragNorm3(arm);
            memcpy(along, arm, sizeof arm);
        }
    }
    for (int k = face->begin + 1; k < face->end; ++k) {
        between(s, island, face->begin, k, arm);
        spragCross3(across, along, arm);
        if (spragNorm3(across) > STRAIGHT * length * length)
            return 0;
    }
    return length > 0;
}

/* Of the first body against the second, and from the first to the contact; 0: no line rolls there. */
static int turns(const spragSnapshot *s, const spragJointState *joint, double turn[3], double arm[3])
{
    const spragBodyState *a = &s->body[joint->body[0]], *b = joint->body[1] < 0 ? NULL : &s->body[joint->body[1]];
    for (int k = 0; k < 3; ++k) {
        turn[k] = a->velocity[3 + k] - (b == NULL ? 0 : b->velocity[3 + k]);
        arm[k] = joint->contact->geom.pos[k] - a->position[k];
    }
    const double slow = SLOW * s->step; /* of gravity */
    return spragDot3(turn, turn) * spragDot3(arm, arm) > slow * slow * spragDot3(s->gravity, s->gravity);
}

int spragFaceTurns(const spragSnapshot *s, const spragJointState *joint)
{
    double turn[3], arm[3];
    return turns(s, joint, turn, arm);
}

/* rad a step, up to which a line rolls, and what it and ERP come to at most.  The points change places by that while
 * corrections of the last step lay it flat: a capsule that turned by 0.85 at ERP 0.2 (0.4 at 0.5) rocked from end to
 * end for ever, and gained energy. */
#define ROLLS_MOST 0.6
#define ROLLS_ERP 0.8

/* 1: its points lie on a line, and a body turns about that, against the other one, slowly enough. */
static int rolls(const spragSnapshot *s, const spragIsland *island, const spragFace *face, double line[3])
{
    double turn[3], arm[3], across[3];
    if (face->end - face->begin < 2 || !turns(s, &s->joint[island->joint[face->begin]], turn, arm) ||
        !isLine(s, island, face, line))
        return 0;
    const double length = spragNorm3(line);
    for (int k = 0; k < 3; ++k)
        line[k] /= length;
    spragCross3(across, line, arm);
    const dSurfaceParameters *surface = &s->joint[island->joint[face->begin]].contact->surface;
    const double erp = surface->mode & dContactSoftERP ? surface->soft_erp : s->erp;
    const double rate = fabs(spragDot3(turn, line));
    return rate * spragNorm3(across) > SLOW * spragNorm3(s->gravity) * s->step &&
           rate * s->step <= fmin(ROLLS_MOST, ROLLS_ERP - erp);
}

enum { ROLLS_JOINTS = 24 }; /* in an island at most: heaps of 30 contacts and more pay for it, some 5 % */

/* 0: it may be solved contact by contact, without rows (matrix_free.h), and a contact then has but one point. */
static int hasRows(const struct spragWorld *world, const spragIsland *island)
{
    return island->contact_count != island->joint_count || island->joint_count < SPRAG_MATRIX_FREE_LEAST ||
           (island->joint_count <= ROLLS_JOINTS && world->config.tolerance < SPRAG_ROUGH &&
            !(world->config.time_limit > 0));
}

void spragFaceFind(const struct spragWorld *world, const spragIsland *island, int i, spragFace *face)
{
    if (i >= face->begin && i < face->end)
        return;
    const int known = face->end; /* where one ended the next begins */
    int begin = i, end = i + 1;
    const spragSnapshot *s = &world->snapshot;
    const int few = island->joint_count <= SPRAG_BLOCKS_MANY,
              one = (few || moves(s, island, i, face)) && world->config.solver != SPRAG_SOLVER_STOCK;
    while (one && begin > 0 && begin != known && goesOn(s, island, begin))
        --begin;
    while (one && end < island->joint_count && goesOn(s, island, end))
        ++end;
    double sum[3] = {0};
    for (int k = begin; k < end; ++k)
        for (int l = 0; l < 3; ++l)
            sum[l] += s->joint[island->joint[k]].contact->geom.pos[l];
    face->begin = begin, face->end = end;
    for (int l = 0; l < 3; ++l)
        face->middle[l] = sum[l] / (end - begin);
    face->rolls = few && rolls(s, island, face, face->line) && hasRows(world, island);
}
