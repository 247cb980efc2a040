#include "ode/work/lies_flat.h"

#include <math.h>

#include "linalg/vec3.h"
#include "ode/rows/rows.h"
#include "ode/shape/curvature.h"
#include "ode/work/heap.h"

/* Of SPRAG_LOOKS places where contacts are, so many are looked at, and of a pair of bodies, which are made together as
 * a rule. */
enum { BESIDE = 8 };
/* Of the pairs: so many lie flat.  (What is left of the steps of a heap keeps none moving: 300 boxes took 5 to 13 ms a
 * step, with a share of the work as walls have it 25 to 29, and came to rest no sooner; 300 balls 8 and 13.) */
#define FLAT 0.9
/* Up to this part of them are of balls, and left out.  (Of a wall with balls that roll along its top 0.12 to 0.22.) */
#define BALLS 0.25
/* As FLAT, of an island that was a heap in haste: dominoes that lean on each other reach 0.9 now and then as they fall,
 * and had all of the work and W in these steps.  (80 of them: 60 to 120 ms in the longest, with this 20 to 30.) */
#define FLAT_AGAIN 0.97
#define PARALLEL (1 - 1e-6) /* cosine between normals that are one */
#define APART (1.0 / 3)     /* of a pair that is flat: one of its contacts that are not made together */

static int ofOnePair(const spragJointState *a, const spragJointState *b)
{
    return b->contact != NULL && a->body[0] == b->body[0] && a->body[1] == b->body[1];
}

/* 1: they have one normal, and are two points.  (A program may name a ball's twice.) */
static int areSideBySide(const spragJointState *a, const spragJointState *b)
{
    const dReal *p = a->contact->geom.pos, *q = b->contact->geom.pos, *n = a->contact->geom.normal,
                *m = b->contact->geom.normal;
    int apart = 0;
    for (int k = 0; k < 3; ++k)
        apart |= p[k] < q[k] || p[k] > q[k];
    return apart && n[0] * m[0] + n[1] * m[1] + n[2] * m[2] > PARALLEL;
}

/* 1: the contact is one of a ball. */
static int isOfBall(const spragSnapshot *s, const spragJointState *joint)
{
    const dGeomID of[2] = {spragGeomOf(joint, 0), spragGeomOf(joint, 1)};
    int ball = 0;
    for (int side = 0; side < 2; ++side)
        ball |= of[side] != NULL && joint->body[side] >= 0 &&
                spragCurvatureIsRound(spragCurvatureRadius(s->body[joint->body[side]].id, of[side])) &&
                dGeomGetClass(of[side]) == dSphereClass;
    return ball;
}

/* How many contacts each pair of the island's bodies has.  0: no memory. */
static int countMates(const spragSnapshot *s, const spragIsland *island, spragPointerMap *mates)
{
    if (!spragPointerMapMake(mates, &island->lane->arena, island->joint_count))
        return 0;
    for (int i = 0; i < island->joint_count; ++i) {
        const spragJointState *joint = &s->joint[island->joint[i]];
        const void *key = spragBodyPair(joint->body);
        if (joint->contact != NULL)
            spragPointerMapPut(mates, key, spragPointerMapGet(mates, key) > 0 ? 2 : 1);
    }
    return 1;
}

/* Pairs of bodies that are looked at; those that touch along a face or an edge; of a ball; of one contact, as far as
 * is known, which nothing is known of. */
typedef struct Pairs {
    double all, flat, of_balls, unknown;
    double heaped; /* that were in a heap in haste */
} Pairs;

/* mates: of all pairs, or NULL. */
static Pairs lookAtPairs(const struct spragWorld *world, const spragIsland *island, const spragPointerMap *mates)
{
    const spragSnapshot *s = &world->snapshot;
    const int count = island->joint_count, each = spragLookStep(island);
    Pairs pairs = {0};
    for (int i = 0; i < count; i += i % each + 1 < BESIDE ? 1 : each - i % each) {
        const spragJointState *one = &s->joint[island->joint[i]];
        if (one->contact == NULL || (i > 0 && ofOnePair(one, &s->joint[island->joint[i - 1]])))
            continue;
        int parallel = 0, k = i + 1;
        for (; k < count && k - i < BESIDE && ofOnePair(one, &s->joint[island->joint[k]]); ++k)
            parallel |= areSideBySide(&s->joint[island->joint[k - 1]], &s->joint[island->joint[k]]);
        const int single = k == i + 1, unknown = !one->alone && !one->crowded;
        const int apart =
            single && (one->crowded || /* its pair's others were made elsewhere */
                       (unknown && mates != NULL && spragPointerMapGet(mates, spragBodyPair(one->body)) > 1));
        const double weight = apart ? APART : 1;
        pairs.all += weight;
        pairs.flat += apart || parallel ? weight : 0;
        pairs.of_balls += single && !apart && isOfBall(s, one);
        pairs.heaped += one->memory >= 0 && world->memory[one->memory].heap ? weight : 0;
        pairs.unknown += single && !apart && unknown;
    }
    return pairs;
}

static int areFlat(const Pairs *pairs)
{
    const double part = 2 * pairs->heaped > pairs->all ? FLAT_AGAIN : FLAT;
    return pairs->of_balls <= BALLS * pairs->all && pairs->flat > part * (pairs->all - pairs->of_balls);
}

int spragIslandLiesFlat(const struct spragWorld *world, const spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    if (!spragIslandMayStick(world, island)) /* of so few nobody asks */
        return 0;
    Pairs pairs = lookAtPairs(world, island, NULL);
    const double change = (1 - APART) * pairs.unknown; /* if all of these had others */
    const Pairs at_best = {.all = pairs.all - change,
                           .flat = pairs.flat + APART * pairs.unknown,
                           .of_balls = fmin(pairs.of_balls, BALLS * (pairs.all - change))};
    if (areFlat(&pairs) || !areFlat(&at_best))
        return areFlat(&pairs);
    spragArena *arena = &island->lane->arena;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    spragPointerMap mates;
    if (countMates(s, island, &mates))
        pairs = lookAtPairs(world, island, &mates);
    spragArenaRelease(arena, mark);
    return areFlat(&pairs);
}
