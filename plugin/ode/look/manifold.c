#include "ode/look/manifold.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/vec3.h"
#include "ode/look/touch.h"
#include "ode/shape/caps.h"
#include "ode/shape/velocity_product.h"

enum {
    NAMED_MOST = 3, /* points of two geoms: a collider that names more names enough */
    POINTS_MOST = 4 /* of two geoms, with those that are kept */
};
#define SLIDES 0.1  /* of the arm: how far a point may have moved along a surface, */
#define CREEPS 0.03 /* and how far it may in a step, if it does not glide, */
#define RISES 0.25  /* the bodies against each other there, */
#define LIFTS 0.05  /* the same apart: a hull's point waits until it touches again */
#define TURNS 0.15  /* rad, and the normals of two flat sides */
#define STILL 1e-3  /* of the arm: where they have moved by less, */
#define PARTS 1e-5  /* of the arm: they may have parted by that, which is what is left of steps */
#define NEAR 0.2    /* of the arm, from a point that is named: it says the same */
#define WITHIN 0.02 /* of a geom's least half thickness: by which a point may lie outside it */
#define PLANE 1e-3  /* of the arm: heights of points in one plane; and their normals */
#define EVEN 1e-10  /* what that may lack of 1 where points glide: 1e-5 m in a metre */

typedef struct Run {
    spragSolidPair pair;
    spragManifoldPoint named[NAMED_MOST];
    double point[POINTS_MOST][3]; /* m: named, then kept */
    double normal[NAMED_MOST][3]; /* into body[0] */
    int points;
} Run;

typedef struct Points {
    int *next;          /* of the last step's: the next one of the same key, or -1 */
    unsigned char *met; /* 1: the geoms of a last one have contacts in this step; 2: and it is kept, once */
    spragPointerMap first;
    spragJointState *kept; /* (capacity) the snapshot's own, for which there is room, then those that are added */
    int count, capacity;
} Points;

/* ---------------------------------------------------------------- points */

/* What is to be known of the k-th contact of the run in later steps. */
static void note(Run *run, int k)
{
    const spragSnapshot *s = &run->pair.world->snapshot;
    const spragJointState *joint = spragSolidJoint(&run->pair, k);
    const dContactGeom *geom = &joint->contact->geom;
    const double sign = joint->reversed ? -1 : 1;
    spragManifoldPoint *point = &run->named[k];
    double *x = run->point[k], *n = run->normal[k];
    *point = (spragManifoldPoint){.depth = geom->depth, .arm = INFINITY};
    for (int i = 0; i < 3; ++i) {
        x[i] = geom->pos[i];
        n[i] = sign * geom->normal[i];
    }
    for (int side = 0; side < 2; ++side) {
        const int body = joint->body[side];
        double centre[3];
        point->side[side] = (int)spragSolidSideAt(&run->pair.solid[side], x, n, centre);
        for (int i = 0; i < 3; ++i)
            point->from[side] += (side == 0 ? 1 : -1) * n[i] * (centre[i] - x[i]);
        spragSolidToFrame(&run->pair.solid[side], 1, centre, point->carrier[side]);
        spragSolidToFrame(&run->pair.solid[side], 0, n, point->normal[side]);
        point->geom[side] = spragGeomOf(joint, side);
        spragGoneKnow(point->geom[side]);
        point->even[side] = run->pair.solid[side].class >= 0 && spragSolidFaces(&run->pair.solid[side], n) >= 1 - EVEN;
        point->form[side] = run->pair.solid[side].form;
        if (body >= 0) {
            point->body[side] = s->body[body].id;
            point->serial[side] = s->body[body].serial;
        }
        if (run->pair.solid[side].class >= 0)
            point->arm = fmin(point->arm, sqrt(spragDistanceSquared3(x, run->pair.solid[side].centre)));
    }
}

/* 1: of the run's bodies and geoms, -1: in the other order, 0: of others. */
static int orderOf(const Run *run, const spragManifoldPoint *point)
{
    const spragManifoldPoint *own = &run->named[0];
    for (int turned = 0; turned < 2; ++turned) {
        int same = 1;
        for (int side = 0; side < 2; ++side)
            same &= own->body[side] == point->body[side ^ turned] &&
                    own->serial[side] == point->serial[side ^ turned] &&
                    own->geom[side] == point->geom[side ^ turned] && own->form[side] == point->form[side ^ turned];
        if (same)
            return turned ? -1 : 1;
    }
    return 0;
}

static spragManifoldPoint turned(const spragManifoldPoint *old)
{
    spragManifoldPoint point = *old;
    for (int side = 0; side < 2; ++side) {
        point.body[side] = old->body[!side];
        point.serial[side] = old->serial[!side];
        point.geom[side] = old->geom[!side];
        point.form[side] = old->form[!side];
        point.side[side] = old->side[!side];
        point.even[side] = old->even[!side];
        point.from[side] = old->from[!side];
        memcpy(point.carrier[side], old->carrier[!side], sizeof point.carrier[0]);
        for (int i = 0; i < 3; ++i)
            point.normal[side][i] = -old->normal[!side][i];
    }
    return point;
}

/* The normal now, that of the one flat side, or along what is between a round one and another; 0: it may be any.
 * Of two flat sides one of which is the world's it is that, as colliders name it.  (Between it and the end of a coin
 * that rocks it left the plane: of two points of its rim each was given up for the other, for ever.) */
static int findNormal(const Run *run, const spragManifoldPoint *point, double own[2][3], double apart[3], double n[3])
{
    const int world = run->pair.solid[1].class < 0 && point->side[1] == SPRAG_MANIFOLD_FLAT,
              flat[2] = {point->side[0] == SPRAG_MANIFOLD_FLAT && !world, point->side[1] == SPRAG_MANIFOLD_FLAT},
              round = point->side[0] == SPRAG_MANIFOLD_ROUND || point->side[1] == SPRAG_MANIFOLD_ROUND;
    double sum[3], turn[3];
    for (int i = 0; i < 3; ++i) {
        sum[i] = flat[0] != flat[1] ? own[flat[1]][i] : round ? apart[i] : own[0][i] + own[1][i];
        turn[i] = own[0][i] - own[1][i];
    }
    const double length = spragNorm3(sum);
    for (int i = 0; i < 3; ++i)
        n[i] = sum[i] / length;
    return length > 0 && (flat[0] != flat[1] || round || spragNorm3(turn) <= TURNS);
}

/* Of the point, how much it goes with the second body: with what is round, or an edge on what is flat. */
static double partOf(const spragManifoldPoint *point)
{
    const int first = point->side[0], second = point->side[1], flat = SPRAG_MANIFOLD_FLAT;
    if (first == SPRAG_MANIFOLD_ROUND || (second == flat && first != flat))
        return 0;
    return second == SPRAG_MANIFOLD_ROUND || (first == flat && second != flat) ? 1 : 0.5;
}

/* 1: it may go on for ever: what slides or rolls on a face, or along what is round. */
static int glides(const spragManifoldPoint *point)
{
    const int first = point->side[0], second = point->side[1], flat = SPRAG_MANIFOLD_FLAT;
    if (first != flat && second != flat)
        return first == SPRAG_MANIFOLD_ROUND && second == SPRAG_MANIFOLD_ROUND;
    return (first != flat && point->even[1]) || (second != flat && point->even[0]);
}

/* Two round sides touch where their axes are nearest, and one touches an edge where its axis is nearest to that: else
 * the normal leans once they slide along each other, and drives them. */
static void findCentres(const Run *run, const spragManifoldPoint *point, double at[2][3])
{
    if (point->side[0] == SPRAG_MANIFOLD_FLAT || point->side[1] == SPRAG_MANIFOLD_FLAT)
        return;
    for (int k = 0; k < 4; ++k)
        if (point->side[k % 2] == SPRAG_MANIFOLD_ROUND)
            spragSolidNearest(&run->pair.solid[k % 2], at[(k + 1) % 2], at[k % 2]);
}

/* m, along the surface in this step. */
static double creepOf(const Run *run, double at[2][3], const double n[3])
{
    const spragSnapshot *s = &run->pair.world->snapshot;
    double v[3] = {0, 0, 0};
    for (int side = 0; side < 2; ++side) {
        const int body = spragSolidJoint(&run->pair, 0)->body[side];
        double moves[3];
        spragPointVelocity(moves, body < 0 ? NULL : &s->body[body], at[side]);
        for (int i = 0; i < 3; ++i)
            v[i] += (side == 0 ? 1 : -1) * moves[i];
    }
    const double along = spragDot3(v, n);
    return s->step * sqrt(fmax(spragDot3(v, v) - along * along, 0));
}

static int isOfHull(const Run *run)
{
    return run->pair.solid[0].class == dConvexClass || run->pair.solid[1].class == dConvexClass;
}

/* 1: the point is still one, or may be one again.  One that glides begins anew from here: its flat side has moved
 * along, or its centres. */
static int follow(const Run *run, spragManifoldPoint *point, spragPlace *place)
{
    double was[2][3], at[2][3], own[2][3], apart[3];
    for (int side = 0; side < 2; ++side) {
        spragSolidToWorld(&run->pair.solid[side], 1, point->carrier[side], at[side]);
        spragSolidToWorld(&run->pair.solid[side], 0, point->normal[side], own[side]);
    }
    memcpy(was, at, sizeof was);
    findCentres(run, point, at);
    for (int i = 0; i < 3; ++i)
        apart[i] = at[0][i] - at[1][i];
    if (!findNormal(run, point, own, apart, place->n))
        return 0;
    const double arm = point->arm, height = spragDot3(apart, place->n),
                 rises = height - (point->from[0] + point->from[1]),
                 moved = spragDistanceSquared3(was[0], at[0]) + spragDistanceSquared3(was[1], at[1]),
                 slides = sqrt(fmax(spragDot3(apart, apart) - height * height, 0) + moved),
                 parts = slides + fabs(rises) <= STILL * arm ? PARTS * arm : 0;
    const int glide = glides(point);
    place->depth = point->depth - rises;
    if (!(fabs(rises) <= RISES * arm && slides <= SLIDES * arm) ||
        !(glide || creepOf(run, at, place->n) <= CREEPS * arm))
        return 0;
    place->touches = place->depth >= -parts;
    if (!place->touches && !(isOfHull(run) && place->depth >= -LIFTS * arm))
        return 0;
    const double part = partOf(point);
    for (int i = 0; i < 3; ++i)
        place->x[i] =
            (1 - part) * (at[0][i] - point->from[0] * place->n[i]) + part * (at[1][i] + point->from[1] * place->n[i]);
    for (int side = 0; side < 2; ++side) {
        const spragSolid *solid = &run->pair.solid[side];
        if (solid->class >= 0 && !(spragSolidOutside(solid, place->x) <= WITHIN * solid->least + fmax(rises, 0)))
            return 0;
    }
    for (int side = 0; side < 2 && glide; ++side) {
        for (int i = 0; i < 3 && point->side[side] == SPRAG_MANIFOLD_FLAT; ++i)
            at[side][i] += (side == 0 ? -1 : 1) * (apart[i] - height * place->n[i]);
        spragSolidToFrame(&run->pair.solid[side], 1, at[side], point->carrier[side]);
    }
    return 1;
}

/* 1: it lies in the plane of one that is named.  A collider's point may be of either surface, which are apart by the
 * depth, or between them: of a hull anywhere between, and its normal leans with the hull. */
static int isInPlane(const Run *run, const spragManifoldPoint *point, const spragPlace *place)
{
    const int hull = isOfHull(run);
    for (int k = 0; k < run->pair.count; ++k) {
        const double *n = run->normal[k], turn = sqrt(spragDistanceSquared3(n, place->n)),
                     most = (PLANE + (hull ? turn : 0)) * point->arm,
                     low = spragDot3(n, point->carrier[1]) - spragDot3(n, run->point[k]),
                     high = low + point->depth - run->named[k].depth, middle = 0.5 * (low + high);
        const int between = hull && low * high < 0, near = fmin(fabs(middle), fmin(fabs(low), fabs(high))) <= most;
        if (turn <= (hull ? TURNS : PLANE) && (between || near))
            return 1;
    }
    return 0;
}

/* The nearest of the run's points, named or kept, and how far it is, m^2. */
static int nearest(const Run *run, int points, const double x[3], double *distance)
{
    int found = 0;
    *distance = INFINITY;
    for (int k = 0; k < points; ++k) {
        const double d = spragDistanceSquared3(run->point[k], x);
        if (d < *distance) {
            *distance = d;
            found = k;
        }
    }
    return found;
}

static int makeRoom(spragArena *arena, Points *points)
{
    spragJointState *const kept = points->kept;
    if (points->count < points->capacity)
        return 1;
    points->capacity *= 2;
    points->kept = SPRAG_TAKE_RAW(arena, spragJointState, points->capacity);
    if (points->kept != NULL)
        memcpy(points->kept, kept, (size_t)points->count * sizeof *kept);
    return points->kept != NULL;
}

/* As the run's k-th, at that place.  0: no memory. */
static int addJoint(const Run *run, int k, Points *points, const spragPlace *place)
{
    if (!makeRoom(&run->pair.world->arena, points))
        return 0;
    spragJointState *joint = &points->kept[points->count];
    *joint = *spragSolidJoint(&run->pair, k);
    if (!spragTouchMove(&run->pair, joint, place))
        return 0;
    ++points->count;
    return 1;
}

/* ---------------------------------------------------------------- runs */

static int goesOn(const spragJointState *a, const spragJointState *b)
{
    return b->contact != NULL && b->enabled && a->body[0] == b->body[0] && a->body[1] == b->body[1] &&
           a->reversed == b->reversed && a->contact->geom.g1 == b->contact->geom.g1 &&
           a->contact->geom.g2 == b->contact->geom.g2;
}

/* 1: colliders name few of the points at which these two touch. */
static int isPartial(const spragSolidPair *pair)
{
    int boxes = 0, balls = 0;
    for (int side = 0; side < 2; ++side) {
        boxes += pair->solid[side].class == dBoxClass;
        balls += pair->solid[side].class == dSphereClass;
    }
    return boxes < (pair->solid[1].class < 0 ? 1 : 2) && balls == 0;
}

/* Has the points where they touch, as many as are returned, if these are computed.  -1: no memory. */
static int settle(const Run *run, Points *points)
{
    spragPlace touch[SPRAG_TOUCH_MOST];
    const int count = spragTouchSettle(&run->pair, touch);
    for (int k = 1; k < count; ++k)
        if (!addJoint(run, 0, points, &touch[k]))
            return -1;
    return count;
}

/* Notes the points of the run and keeps those of the last step, or has those of pipes side by side.  0: no memory. */
static int keepOf(Run *run, Points *points)
{
    spragWorldID world = run->pair.world;
    const int beside = settle(run, points);
    if (beside < 0)
        return 0;
    const int unknown = run->pair.solid[1].class < 0;
    if (!spragGrow((void **)&world->next_named, &world->next_named_capacity,
                   (size_t)world->next_named_count + POINTS_MOST, sizeof *world->next_named))
        return 0;
    for (int k = 0; k < run->pair.count; ++k) {
        note(run, k);
        world->next_named[world->next_named_count++] = run->named[k];
    }
    run->points = run->pair.count;
    int k = world->named_count > 0
                ? spragPointerMapGet(&points->first, spragPointerPair(run->named[0].geom[0], run->named[0].geom[1]))
                : -1;
    for (; k >= 0; k = points->next[k]) {
        const int order = orderOf(run, &world->named[k]);
        if (order == 0 || points->met[k] > 1)
            continue;
        points->met[k] = 1;
        if (beside > 0 || run->points == POINTS_MOST)
            continue;
        spragManifoldPoint point = order < 0 ? turned(&world->named[k]) : world->named[k];
        spragPlace place;
        double distance;
        if (!follow(run, &point, &place) || (unknown && !isInPlane(run, &point, &place)))
            continue;
        nearest(run, run->points, place.x, &distance);
        if (distance <= NEAR * NEAR * point.arm * point.arm)
            continue;
        if (place.touches && !addJoint(run, nearest(run, run->pair.count, place.x, &distance), points, &place))
            return 0;
        points->met[k] = 2;
        memcpy(run->point[run->points++], place.x, sizeof place.x);
        world->next_named[world->next_named_count++] = point;
    }
    return 1;
}

/* Of a hull and what is round points that are not computed, as of a rim on an edge, are kept if one of the two is the
 * world's: as if nothing were known of it.  0: no memory. */
static int settleOrKeep(Run *run, Points *points)
{
    if (spragTouchIsRoundOnHull(&run->pair)) {
        const int count = settle(run, points);
        if (count != 0 || spragSolidJoint(&run->pair, 0)->body[1] >= 0)
            return count >= 0;
        run->pair.solid[1] = (spragSolid){.class = -1};
    }
    return !isPartial(&run->pair) || keepOf(run, points);
}

/* (What is idle has not fallen asleep if its island is awake.  Kinematic bodies wake none.)  -1: the world */
static int sleeps(const spragSnapshot *s, int body)
{
    return body < 0 || s->body[body].kinematic || !(s->body[body].enabled || s->body[body].idle);
}

/* Points of bodies that sleep stay as they are.  0: no memory. */
static int keepSleepers(spragWorldID world, const Points *points)
{
    const spragSnapshot *s = &world->snapshot;
    if (!spragGrow((void **)&world->next_named, &world->next_named_capacity,
                   (size_t)(world->next_named_count + world->named_count), sizeof *world->next_named))
        return 0;
    for (int k = 0; k < world->named_count; ++k) {
        const spragManifoldPoint *point = &world->named[k];
        int sleep = !points->met[k];
        for (int side = 0; side < 2 && sleep; ++side) {
            const int body = spragPointerMapGet(&s->body_index, point->body[side]);
            sleep = point->body[side] == NULL ||
                    (body >= 0 && s->body[body].serial == point->serial[side] && sleeps(s, body));
        }
        if (sleep)
            world->next_named[world->next_named_count++] = *point;
    }
    return 1;
}

static int isAsleep(const Run *run)
{
    const spragJointState *joint = spragSolidJoint(&run->pair, 0);
    return sleeps(&run->pair.world->snapshot, joint->body[0]) && sleeps(&run->pair.world->snapshot, joint->body[1]);
}

static int listLast(spragWorldID world, Points *points)
{
    const int count = world->named_count;
    points->next = SPRAG_TAKE_RAW(&world->arena, int, count);
    points->met = SPRAG_TAKE(&world->arena, unsigned char, count);
    points->capacity = 2 * world->snapshot.joint_count + count;
    points->kept = SPRAG_TAKE_RAW(&world->arena, spragJointState, points->capacity);
    if (points->next == NULL || points->met == NULL || points->kept == NULL ||
        !spragPointerMapMake(&points->first, &world->arena, count))
        return 0;
    for (int k = count - 1; k >= 0; --k) {
        const void *key = spragPointerPair(world->named[k].geom[0], world->named[k].geom[1]);
        points->next[k] = spragPointerMapGet(&points->first, key);
        spragPointerMapPut(&points->first, key, k);
    }
    return 1;
}

static void swapPoints(spragWorldID world)
{
    spragManifoldPoint *named = world->named;
    const size_t capacity = world->named_capacity;
    world->named = world->next_named;
    world->named_capacity = world->next_named_capacity;
    world->named_count = world->next_named_count;
    world->next_named = named;
    world->next_named_capacity = capacity;
}

/* 1: some body is a capsule, a cylinder or a convex hull, or has one.  (To ask the geoms of 12 000 contacts takes 0.4
 * ms.) */
static int anyNamedInPart(const spragSnapshot *s)
{
    enum { AHEAD = 16 }; /* geoms */
    for (int i = 0; i < s->body_count; ++i) {
        if (i + AHEAD < s->body_count)
            __builtin_prefetch(s->geom[i + AHEAD]);
        for (dGeomID geom = s->geom[i]; geom != NULL; geom = dBodyGetNextGeom(geom)) {
            const int class = dGeomGetClass(geom);
            if (class == dCapsuleClass || class == dCylinderClass || class == dConvexClass)
                return 1;
        }
    }
    return 0;
}

/* 1: it is a body's and lies on one of the statics, or is a ball on a hull. */
static int liesOnStatic(const spragSolidPair *pair)
{
    const spragJointState *joint = spragSolidJoint(pair, 0);
    const dGeomID own = spragGeomOf(joint, 0);
    if (!spragGeomIsOf(pair->world->snapshot.body[joint->body[0]].id, own))
        return 0;
    const int class = dGeomGetClass(own), ball = class == dSphereClass;
    return (ball || class == dBoxClass || class == dCapsuleClass || class == dCylinderClass || class == dConvexClass) &&
           spragSolidLiesOnStatic(pair) && (!ball || dGeomGetClass(spragGeomOf(joint, 1)) == dConvexClass);
}

/* 1: something lies on one of the statics.  (Of more points than NAMED_MOST only what lies on another geom
 * than the one before: most lie on the same floor.) */
static int anyOnStatic(spragWorldID world)
{
    const spragSnapshot *s = &world->snapshot;
    dGeomID floor = NULL;
    for (int k = 0; k < s->joint_count; ++k) {
        const spragJointState *joint = &s->joint[k];
        if (joint->contact == NULL || !joint->enabled || joint->body[1] >= 0)
            continue;
        if (k + NAMED_MOST < s->joint_count && goesOn(joint, joint + NAMED_MOST)) {
            k += NAMED_MOST;
            if (spragGeomOf(joint, 1) == floor)
                continue;
            floor = spragGeomOf(joint, 1);
        }
        const spragSolidPair pair = {.world = world, .first = k};
        if (liesOnStatic(&pair))
            return 1;
    }
    return 0;
}

void spragManifoldForget(spragWorldID world, const spragGone *gone)
{
    int kept = 0;
    for (int k = 0; k < world->named_count; ++k)
        if (!spragIsGone(gone, world->named[k].geom[0]) && !spragIsGone(gone, world->named[k].geom[1]))
            world->named[kept++] = world->named[k];
    world->named_count = kept;
}

int spragManifoldKeep(spragWorldID world)
{
    spragSnapshot *s = &world->snapshot;
    Points points = {.count = s->joint_count};
    world->next_named_count = 0;
    if (world->named_count == 0 && !anyNamedInPart(s) && !anyOnStatic(world))
        return 1;
    spragCapsLevel(world);
    if (!listLast(world, &points))
        return 0;
    for (int first = 0, end; first < s->joint_count; first = end) {
        const spragJointState *joint = &s->joint[first];
        end = first + 1;
        if (joint->contact == NULL || !joint->enabled)
            continue;
        while (end < s->joint_count && goesOn(joint, &s->joint[end]))
            ++end;
        Run run;
        run.pair.world = world, run.pair.first = first, run.pair.count = end - first;
        if (run.pair.count <= NAMED_MOST && !isAsleep(&run) && spragSolidReadBoth(&run.pair) &&
            !settleOrKeep(&run, &points))
            return 0;
    }
    if (!keepSleepers(world, &points))
        return 0;
    swapPoints(world);
    if (points.count == s->joint_count)
        return 1;
    memcpy(points.kept, s->joint, (size_t)s->joint_count * sizeof *s->joint);
    s->joint = points.kept;
    s->joint_count = points.count;
    return 1;
}
