#include "ode/stay.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/curvature.h"
#include "ode/ledger.h"
#include "ode/rows.h"

#define STAYS 1e-8    /* of the arm */
#define CHANGES 1e-5  /* of the arm, the same: what the program changes itself, as a geom's size */
#define THERE 1e-12   /* of the arm: it is where its record was */
#define PARALLEL 1e-4 /* rad: of edges, up to which the normal across them is anything */

/* 1: x lies within the box about its body's centre, or up to `most` m outside each of its faces.  (Outside,
 * dGeomBoxPointDepth is as far off as the box is large.) */
static int isWithin(dGeomID box, const spragBodyState *body, const double x[3], double most)
{
    double d[3], local[3];
    dVector3 length;
    for (int i = 0; i < 3; ++i)
        d[i] = x[i] - body->position[i];
    spragMulTransposed33(local, body->rotation, d);
    dGeomBoxGetLengths(box, length);
    for (int i = 0; i < 3; ++i)
        if (!(fabs(local[i]) <= 0.5 * length[i] + most))
            return 0;
    return 1;
}

/* m^2, how far the record's point is from where the body would have it now. */
static double movedSquared(const spragSnapshot *s, const spragContactMemory *memory, int body, int side)
{
    double apart[3];
    for (int i = 0; i < 3; ++i)
        apart[i] = s->body[body].position[i] + spragDot3(s->body[body].rotation + 3 * i, memory->local[side]) -
                   memory->position[i];
    return spragDot3(apart, apart);
}

/* 1: the record is of the contact's bodies and geoms, -1: in the other order, 0: of others. */
static int orderOf(const spragSnapshot *s, const spragJointState *joint, const spragContactMemory *memory)
{
    const dContactGeom *geom = &joint->contact->geom;
    for (int turned = 0; turned < 2 && !memory->is_guide; ++turned) {
        int same = 1;
        for (int side = 0; side < 2; ++side) {
            const int body = joint->body[side], theirs = side ^ turned;
            same &= s->body[body].id == memory->body[theirs] && s->body[body].serial == memory->serial[theirs] &&
                    (side == 0 ? geom->g1 : geom->g2) == memory->geom[theirs];
        }
        if (same)
            return turned ? -1 : 1;
    }
    return 0;
}

/* Is it the only contact of two boxes with an axis in common, across which both normals lie?  So touch parallel edges,
 * whose normal is a cross product that all but vanishes: it has any direction. */
static int areEdges(const spragSnapshot *s, const spragJointState *joint, int only, const double normal[3])
{
    const dContactGeom *geom = &joint->contact->geom;
    if (!only)
        return 0;
    const double *A = s->body[joint->body[0]].rotation, *B = s->body[joint->body[1]].rotation;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const double a[3] = {A[i], A[3 + i], A[6 + i]}, b[3] = {B[j], B[3 + j], B[6 + j]};
            const double now[3] = {geom->normal[0], geom->normal[1], geom->normal[2]};
            if (1 - fabs(spragDot3(a, b)) <= PARALLEL * PARALLEL && fabs(spragDot3(a, normal)) <= PARALLEL &&
                fabs(spragDot3(a, now)) <= PARALLEL)
                return 1;
        }
    return 0;
}

/* Is the record's point as good as the contact's own?  only: the contact is the only one of its bodies. */
static int isAsGood(const spragSnapshot *s, const spragJointState *joint, int only, const spragContactMemory *memory)
{
    const dContactGeom *geom = &joint->contact->geom;
    const double most = STAYS * memory->arm, more = CHANGES * memory->arm;
    double across = 0, turned = 0;
    for (int i = 0; i < 3; ++i) {
        const double d = memory->normal[i] - geom->normal[i];
        turned += d * d;
        across += memory->normal[i] * (memory->position[i] - geom->pos[i]);
    }
    return movedSquared(s, memory, joint->body[0], 0) <= most * most &&
           movedSquared(s, memory, joint->body[1], 1) <= most * most && fabs(memory->depth - geom->depth) <= more &&
           isWithin(geom->g1, &s->body[joint->body[0]], memory->position, more) &&
           isWithin(geom->g2, &s->body[joint->body[1]], memory->position, more) &&
           ((turned <= CHANGES * CHANGES && fabs(across) <= more) || areEdges(s, joint, only, memory->normal));
}

/* 1: it is where its record was, and pushes the same way. */
static int isThere(const dContactGeom *geom, const spragContactMemory *memory)
{
    const double by[3] = {geom->pos[0] - memory->position[0], geom->pos[1] - memory->position[1],
                          geom->pos[2] - memory->position[2]};
    const double turn[3] = {memory->arm * (geom->normal[0] - memory->normal[0]),
                            memory->arm * (geom->normal[1] - memory->normal[1]),
                            memory->arm * (geom->normal[2] - memory->normal[2])};
    const double least = THERE * memory->arm;
    return spragDot3(by, by) + spragDot3(turn, turn) <= least * least;
}

static void stay(spragSnapshot *s, int j, const spragContactMemory *memory)
{
    spragJointState *joint = &s->joint[j];
    dContact *own = &s->stays[j].contact;
    *own = *joint->contact;
    memcpy(s->stays[j].local, memory->local, sizeof memory->local);
    for (int i = 0; i < 3; ++i) {
        own->geom.pos[i] = (dReal)memory->position[i];
        own->geom.normal[i] = (dReal)memory->normal[i];
    }
    own->geom.depth = (dReal)memory->depth;
    joint->contact = own;
}

enum { LOOK_MOST = 64 }; /* records of two boxes, of which a collider names 8: 3000 that a program makes took 30 ms */

/* A record of the contact's bodies and geoms that is as good as its own point and that no contact continues; it is
 * taken from the list.  Or -1. */
static int takeLeft(spragWorldID world, const spragJointState *joint, int only, int *left, int *next_left)
{
    for (int k = *left, before = -1, looked = 0; k >= 0 && looked < LOOK_MOST; before = k, k = next_left[k]) {
        spragContactMemory *memory = &world->memory[k];
        const int order = orderOf(&world->snapshot, joint, memory);
        looked += order != 0;
        if (order < 0)
            spragLedgerTurn(memory);
        if (order != 0 && isAsGood(&world->snapshot, joint, only, memory)) {
            *(before < 0 ? left : &next_left[before]) = next_left[k];
            world->fate[k] = SPRAG_RECORD_CONTINUED;
            return k;
        }
        if (order < 0)
            spragLedgerTurn(memory);
    }
    return -1;
}

static int isOnly(const spragSnapshot *s, int j, int first, const int *next)
{
    const int *own = s->joint[j].body;
    for (int other = first; other >= 0; other = next[other]) {
        const int *body = s->joint[other].body;
        if (other != j && ((body[0] == own[0] && body[1] == own[1]) || (body[0] == own[1] && body[1] == own[0])))
            return 0;
    }
    return 1;
}

/* 1: two boxes about the centres of two bodies.  A contact may name geoms that are gone, or none: they are asked
 * nothing before their bodies have been (spragCurvatureRadius).  The world has no list of its geoms.  (Where geoms with
 * an offset are ODE finds out when it is asked, and writes it down, which threads that share a body must not make it
 * do.) */
static int areBoxes(const spragSnapshot *s, const spragJointState *joint)
{
    const dContactGeom *geom = &joint->contact->geom;
    const dGeomID of[2] = {geom->g1, geom->g2};
    for (int side = 0; side < 2; ++side)
        if (joint->body[side] < 0 || of[side] == NULL ||
            spragCurvatureRadius(s->body[joint->body[side]].id, of[side]) != 0 ||
            dGeomGetClass(of[side]) != dBoxClass || dGeomIsOffset(of[side]))
            return 0;
    return 1;
}

int spragStayBegin(spragWorldID world)
{
    spragSnapshot *s = &world->snapshot;
    if (s->carried == NULL)
        return 1;
    int wanted = 0;
    for (int k = 0; k < s->island_count && !wanted; ++k)
        wanted = s->island[k].joint_count > SPRAG_BLOCKS_MANY;
    if (!wanted)
        return 1;
    s->stays = SPRAG_TAKE_RAW(&world->arena, spragStay, s->joint_count);
    return s->stays != NULL;
}

void spragStayTake(spragWorldID world, int first, const int *next, int *left, int *next_left)
{
    spragSnapshot *s = &world->snapshot;
    for (int j = first; j >= 0; j = next[j]) {
        spragJointState *joint = &s->joint[j];
        if (s->island[joint->island].joint_count <= SPRAG_BLOCKS_MANY)
            continue;
        const spragContactMemory *memory = joint->memory < 0 ? NULL : &world->memory[joint->memory];
        joint->never_stays = memory != NULL && memory->never_stays;
        if (joint->never_stays || (memory != NULL && isThere(&joint->contact->geom, memory)))
            continue;
        joint->never_stays = !areBoxes(s, joint);
        if (joint->never_stays)
            continue;
        const int only = isOnly(s, j, first, next);
        if (memory == NULL) {
            joint->memory = takeLeft(world, joint, only, left, next_left);
            memory = joint->memory < 0 ? NULL : &world->memory[joint->memory];
        }
        if (memory != NULL && isAsGood(s, joint, only, memory))
            stay(s, j, memory);
    }
}
