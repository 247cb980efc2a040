#include "ode/ledger/stay.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/pool.h"
#include "base/prefetch.h"
#include "linalg/vec3.h"
#include "ode/ledger/ledger.h"
#include "ode/rows/rows.h"
#include "ode/shape/curvature.h"

#define STAYS 1e-8               /* of the arm */
#define CHANGES 1e-5             /* of the arm, the same: what the program changes itself, as a geom's size */
#define THERE 1e-12              /* of the arm: it is where its record was */
#define PARALLEL 1e-4            /* rad: of edges, up to which the normal across them is anything */
enum { LOOKS = 64, GEOM = 128 }; /* records that are asked; bytes that are read of a geom */

/* A body's first geom, if that is a box about the body's centre.  Asked of bodies in their order, as their geoms lie
 * anywhere. */
typedef struct spragStayBox {
    dGeomID geom; /* or NULL */
    double length[3];
} spragStayBox;

/* m, of the sides of a box of the body. */
static void lengthsOf(const spragSnapshot *s, int body, dGeomID box, double length[3])
{
    const spragStayBox *known = s->boxes == NULL ? NULL : &s->boxes[body];
    dVector3 sides;
    if (known == NULL || known->geom != box)
        dGeomBoxGetLengths(box, sides);
    for (int i = 0; i < 3; ++i)
        length[i] = known != NULL && known->geom == box ? known->length[i] : sides[i];
}

/* 1: x lies within the box about its body's centre, or up to `most` m outside each of its faces.  (Outside,
 * dGeomBoxPointDepth is as far off as the box is large.) */
static int isWithin(const spragSnapshot *s, dGeomID box, int index, const double x[3], double most)
{
    const spragBodyState *body = &s->body[index];
    double d[3], local[3], length[3];
    for (int i = 0; i < 3; ++i)
        d[i] = x[i] - body->position[i];
    spragMulTransposed33(local, body->rotation, d);
    lengthsOf(s, index, box, length);
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

/* Is the record's point as good as the contact's own?  (That may be of the other one's face, which lies as far across
 * as the two overlap.)  only: the contact is the only one of its bodies. */
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
           isWithin(s, geom->g1, joint->body[0], memory->position, more) &&
           isWithin(s, geom->g2, joint->body[1], memory->position, more) &&
           ((turned <= CHANGES * CHANGES && fabs(across) <= more + fabs(memory->depth)) ||
            areEdges(s, joint, only, memory->normal));
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

/* The copy that this contact is, of one that stays already; or NULL.  Each has one: there is no room for more. */
static dContact *copyOf(const spragSnapshot *s, const dContact *contact)
{
    const uintptr_t first = (uintptr_t)s->stays, at = (uintptr_t)contact;
    const size_t offset = at - first;
    return at >= first && offset < (size_t)s->joint_count * sizeof *contact ? s->stays + offset / sizeof *contact
                                                                            : NULL;
}

static void stay(spragSnapshot *s, int j, const spragContactMemory *memory)
{
    spragJointState *joint = &s->joint[j];
    dContact *own = copyOf(s, joint->contact);
    if (own == NULL)
        own = &s->stays[atomic_fetch_add_explicit(&s->stayed, 1, memory_order_relaxed)]; /* side by side */
    own->surface = joint->contact->surface;
    own->geom = joint->contact->geom;
    if (own->surface.mode & dContactFDir1) /* else nobody reads it */
        memcpy(own->fdir1, joint->contact->fdir1, sizeof own->fdir1);
    memcpy(s->local[j], memory->local, sizeof memory->local);
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

/* 1: a box about its body's centre. */
static int isOwnBox(dGeomID own)
{
    return dGeomGetClass(own) == dBoxClass && !dGeomIsOffset(own);
}

/* The same of what a contact names.  It may name geoms that are gone, or none: they are asked nothing before their
 * bodies have been (spragCurvatureRadius).  The world has no list of its geoms.  (Where geoms with an offset are ODE
 * finds out when it is asked, and writes it down, which threads that share a body must not make it do.) */
static int isBox(dBodyID body, dGeomID geom)
{
    return geom != NULL && spragCurvatureRadius(body, geom) == 0 && isOwnBox(geom);
}

static int areBoxes(const spragSnapshot *s, const spragJointState *joint)
{
    const dContactGeom *geom = &joint->contact->geom;
    const dGeomID of[2] = {geom->g1, geom->g2};
    for (int side = 0; side < 2; ++side) {
        const int body = joint->body[side], known = body >= 0 && s->boxes != NULL && of[side] != NULL;
        if (body < 0 || ((!known || s->boxes[body].geom != of[side]) && !isBox(s->name[body].id, of[side])))
            return 0;
    }
    return 1;
}

enum { AHEAD = 8 }; /* bodies: memory is asked for those that come so much later */

static void readBoxes(void *data, int range, int first, int end)
{
    (void)range;
    const spragSnapshot *s = data;
    for (int i = first; i < end; ++i) {
        if (i + AHEAD < end)
            spragPrefetch(s->geom[i + AHEAD], GEOM);
        const dGeomID geom = s->geom[i];
        spragStayBox *box = &s->boxes[i];
        *box = (spragStayBox){0};
        if (s->body[i].island < 0 || geom == NULL || !isOwnBox(geom))
            continue;
        dVector3 sides;
        dGeomBoxGetLengths(geom, sides);
        box->geom = geom;
        for (int k = 0; k < 3; ++k)
            box->length[k] = sides[k];
    }
}

/* Do contacts of the last step say that there may be boxes? */
static int mayHaveBoxes(const struct spragWorld *world)
{
    const int each = world->memory_count / LOOKS + 1;
    for (int k = 0; k < world->memory_count; k += each)
        if (!world->memory[k].never_stays)
            return 1;
    return 0;
}

void spragStayAsk(const spragSnapshot *s, const spragJointState *joint)
{
    for (int side = 0; side < 2 && joint->body[side] >= 0 && s->boxes != NULL; ++side)
        __builtin_prefetch(&s->boxes[joint->body[side]]);
}

int spragStayBegin(spragWorldID world)
{
    spragSnapshot *s = &world->snapshot;
    if (s->carried == NULL || s->local == NULL)
        return 1;
    s->stays = SPRAG_TAKE_RAW(&world->arena, dContact, s->joint_count);
    if (s->stays == NULL || !mayHaveBoxes(world))
        return s->stays != NULL;
    s->boxes = SPRAG_TAKE_RAW(&world->arena, spragStayBox, s->body_count);
    if (s->boxes == NULL)
        return 0;
    spragRangesRunBy(world->loop_pool, s->body_count, readBoxes, s);
    return 1;
}

/* The contact whose record bears least, of those of the pair that another record is as good for; or -1. */
static int leastLoaded(const struct spragWorld *world, int first, const int *next, const spragContactMemory *memory)
{
    const spragSnapshot *s = &world->snapshot;
    double load = INFINITY;
    int least = -1;
    for (int j = first; j >= 0; j = next[j]) {
        const spragJointState *joint = &s->joint[j];
        if (joint->memory < 0 || joint->never_stays || !areBoxes(s, joint) || orderOf(s, joint, memory) < 1)
            continue;
        const double own = world->memory[joint->memory].normal_force;
        if (own < load && isAsGood(s, joint, 0, memory))
            least = j, load = own;
    }
    return least;
}

/* Records that bear, and that no contact continues, take the places of those that bear less: where edges coincide a
 * collider names both points of a corner, or one of them, or another one along the edge. */
static void keepBearing(spragWorldID world, int first, const int *next, int *left, int *next_left)
{
    spragSnapshot *s = &world->snapshot;
    for (int k = *left, before = -1, looked = 0; k >= 0 && looked < LOOK_MOST; before = k, k = next_left[k], ++looked) {
        spragContactMemory *memory = &world->memory[k];
        const int order = orderOf(s, &s->joint[first], memory);
        if (order == 0 || !(memory->normal_force > 0))
            continue;
        if (order < 0)
            spragLedgerTurn(memory);
        const int j = leastLoaded(world, first, next, memory), other = j < 0 ? -1 : s->joint[j].memory;
        if (other >= 0 && world->memory[other].normal_force < memory->normal_force) {
            s->joint[j].memory = k;
            stay(s, j, memory);
            world->fate[k] = SPRAG_RECORD_CONTINUED;
            world->fate[other] = SPRAG_RECORD_LEFT;
            *(before < 0 ? left : &next_left[before]) = other;
            next_left[other] = next_left[k];
            k = other;
        } else if (order < 0) {
            spragLedgerTurn(memory);
        }
    }
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
    if (first >= 0 && *left >= 0 && s->island[s->joint[first].island].joint_count > SPRAG_BLOCKS_MANY &&
        !s->joint[first].never_stays && areBoxes(s, &s->joint[first]))
        keepBearing(world, first, next, left, next_left);
}
