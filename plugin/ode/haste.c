#include "ode/haste.h"

#include <math.h>

#include "linalg/vec3.h"
#include "ode/bare.h"
#include "ode/bearing.h"
#include "ode/curvature.h"
#include "ode/guide.h"
#include "ode/matrix_free.h"
#include "ode/release.h"
#include "ode/slop.h"

enum {
    HASTE_MOST = 6,     /* halvings of the work: a 64th */
    HASTE_MOST_FEW = 1, /* the same of fewer contacts than LARGE: half, some 50 ms (docs/research.md, Dear steps) */

    /* Contacts of an island that may be hurried (a car on sixty of mu = 340 is worth all the work). */
    LEAST = 100,
    /* Of one that is large: in haste it begins without W, and has haste for what it misses; where it is a heap, or the
     * program plays, from LEAST on. */
    LARGE = 400,
    /* The same, and of one that may be hurried, where some have mu = infinity: heaps of them ask for what no motion
     * gives.  Twenty boxes took 8 ms a step and up to 270. */
    LARGE_STICKY = 60,

    /* Contacts of an island all of whose work is the least that one which may come to rest has in haste, and where the
     * program plays or contacts are springs. */
    SHARE = 40,
    SHARE_LESS = 10,

    MECHANISMS = 4, /* of a heap of them */

    W_IS_DEAR = 3000, /* contacts of an island whose W takes longer than all that haste leaves */

    LOOKS = 64, /* contacts whose records are looked at, or places where contacts are: */
    BESIDE = 8, /* so many there, and of a pair of bodies, which are made together as a rule */
    LATE = 500, /* iterations: more than the chain's first links have in a step */
    SMALL = 60, /* blocks of an island that may be hard (solve/chain_links.h) */
    /* Contacts times Newton's steps, some 40 ms: more of them in a step are too many; and in a large heap, whose bodies
     * do not lie flat: 200 to 400 balls came to rest as soon, in half of the time.  (Towers took two to three times as
     * long with 20000.) */
    DEAR = 40000,
    DEAR_HEAP = 10000
};
/* The same, in each second that a step stands for, where the program plays: some half of that time. */
#define DEAR_PLAY 5e5
#define HARD 1e7 /* products of 3x3 blocks, some 30 ms: of dense factorisations and passes over W */
/* m/s, from where W may bring what was found without it to the tolerance.  From 1e-4 it took a third of such a step's
 * time (1000 boxes) and left as much. */
#define NEAR 1e-5
/* m/s: what visits leave so of a small pile may be a wedge, which only what comes after W is asked for: 24 boxes that a
 * wall had pushed into a corner were left at 3 m/s in each step. */
#define FAR_OFF 1e-2
/* Contacts a body of a heap that is pressed together as a whole; in others a wedge is one of two bodies that have sunk
 * into each other.  Visits leave it as it is, and solve the rest; with W all contacts yielded, the whole heap was
 * shaken in each step, and 120 boxes and meshes took 4 to 37 ms. */
#define PRESSED 10
#define THROWS 5.0 /* m/s: what leaves more is asked for a wedge all the same (a wall that presses a heap: 16 m/s) */
#define GAINS 0.25 /* of the guess's residual is left: visits gain */
/* Joints awake in the world (of what may come to rest: contacts of the island) up to which an island that is new or
 * moves has all the work; of a heap, and where the program plays.  Beyond, half of it for every factor of sqrt 2. */
#define FIRST 800.0
#define FIRST_HEAP 200.0
#define FIRST_STICKY 20.0 /* of a heap that sticks */
/* Times the velocity that gravity gives in a step: so fast are more than half of the bodies of a pile that falls.  (Of
 * dominoes 0.3 to 0.5 are.) */
#define FALLING 0.25
#define LITTLE 1e-9 /* of moments of inertia: less is none */
/* The same, root mean square about the mean: an island moves that is faster, */
#define STILL 0.5
#define STILL_HEAP 0.02 /* of a heap: 20 of 1000 balls that roll were solved at 50 to 200 ms a step */
#define SLOW 2          /* and one that is no faster may come to rest */
/* An island with mu = infinity that holds, though in conflict: visits carry shear too slowly along a row of boxes that
 * two walls press together, and let it fall. */
#define HOLDS 0.2
/* Of the pairs of bodies that touch, such a part touches along a face or an edge, with two and more points of one
 * normal: all pairs of walls, pyramids, towers, arches and houses of cards do, and 0.97 of dry walls of random stones;
 * of heaps of boxes 0.4 to 0.82, of boxes and convex meshes 0.3 to 0.78, of capsules or cylinders 0.1 to 0.2.  What is
 * left of the steps of a heap keeps none moving: 300 boxes took 5 to 13 ms a step, with a share of the work as walls
 * have it 25 to 29, and came to rest no sooner; 300 balls 8 and 13.  (It was asked how many contacts a body has, 5.5
 * and more: an arch has 4.1, a heap of meshes 6 to 7, as colliders name up to 8 points of a pair.) */
#define FLAT 0.9
/* A ball touches in a point whatever it lies on: up to this part of the pairs are left out.  (Of a wall with balls that
 * roll along its top 0.12 to 0.22 are.) */
#define BALLS 0.25
/* The same part of an island that was a heap in haste: dominoes that lean on each other reach 0.9 now and then as they
 * fall, and had all of the work and W in these steps.  (80 of them: 60 to 120 ms in the dearest; now 20 to 30.) */
#define FLAT_AGAIN 0.97
#define PARALLEL (1 - 1e-6) /* cosine between normals that are one */
#define APART (1.0 / 3)     /* of a pair that is flat: one of its contacts that are not made together */
/* m/s that gravity gives in a step of such a heap: of less SPRAG_MISSED is no small part, and it would sink. */
#define FALLS 1e-2
#define SPARSE 2          /* contacts a body of such a heap (ragdolls: 0.3 to 1); what stands on four points has more */
#define SHARE_JOINTED 0.9 /* of the bodies of a heap of mechanisms */

/* 1: the program plays: it has said what residual is enough. */
static int plays(const spragConfig *config)
{
    return config->enough > config->tolerance;
}

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
    const dContactGeom *geom = &joint->contact->geom;
    const dGeomID of[2] = {joint->reversed ? geom->g2 : geom->g1, joint->reversed ? geom->g1 : geom->g2};
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
    const int count = island->joint_count, each = count / LOOKS + 1;
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

int spragHasteIsFlat(const struct spragWorld *world, const spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    if (island->contact_count <= LARGE_STICKY)
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

int spragHasteSticks(const struct spragWorld *world, const spragIsland *island)
{
    const int each = island->joint_count / LOOKS + 1, asked = island->contact_count > LARGE_STICKY && !island->flat;
    int sticks = 0;
    for (int i = 0; i < island->joint_count && asked && sticks < 2; i += each) {
        const dContact *contact = world->snapshot.joint[island->joint[i]].contact;
        if (contact != NULL && contact->surface.mu > SPRAG_FRICTION_GREATEST)
            sticks = contact->surface.mode & dContactApprox1 ? 2 : 1;
    }
    return sticks;
}

/* 1: the user has set no limit of his own, and the island is large: its work is for us to choose. */
static int isOurs(const struct spragWorld *world, const spragIsland *island)
{
    const spragConfig *config = &world->config;
    return !config->patient && config->solver == SPRAG_SOLVER_AUTO && !(config->time_limit > 0) &&
           config->iteration_limit == 0 && island->contact_count > (island->sticks ? LARGE_STICKY : LEAST);
}

int spragHasteLoose(const struct spragWorld *world, const spragIsland *island)
{
    return !island->flat &&
           (island->contact_count > LARGE || (isOurs(world, island) && island->contact_count == island->joint_count));
}

static int isLarge(const struct spragWorld *world, const spragIsland *island)
{
    const int few = plays(&world->config) || spragHasteLoose(world, island);
    return island->falls || island->contact_count > (island->sticks ? LARGE_STICKY : few ? LEAST : LARGE);
}

/* The record of the last step that a joint has as a contact, as a guide, or as the first end of a bearing; -1: none. */
static int recordOf(const spragJointState *joint)
{
    return joint->contact != NULL   ? joint->memory
           : joint->guide != NULL   ? joint->guide->memory
           : joint->bearing != NULL ? joint->bearing->memory[0]
                                    : -1;
}

void spragHasteLookBack(const struct spragWorld *world, spragIsland *island)
{
    island->wedged_before = island->hard_before = island->doubt = 0;
    const int any = world->wedges > 0 || world->hard > 0;
    for (int i = 0; i < island->joint_count && any; ++i) {
        const int record = recordOf(&world->snapshot.joint[island->joint[i]]);
        if (record < 0)
            continue;
        const spragContactMemory *memory = &world->memory[record];
        island->wedged_before = memory->wedged > island->wedged_before ? memory->wedged : island->wedged_before;
        island->doubt = memory->doubt > island->doubt ? memory->doubt : island->doubt;
        island->hard_before |= memory->hard;
    }
}

/* m^2/s^2, of the bodies' velocities about their mean: heaps may travel together. */
static double meanSquare(const spragSnapshot *s, const spragIsland *island)
{
    const double n = island->body_count;
    double sum[3] = {0, 0, 0}, squares = 0;
    for (int i = 0; i < island->body_count; ++i) {
        const double *v = s->body[island->body[i]].velocity;
        for (int k = 0; k < 3; ++k)
            sum[k] += v[k];
        squares += spragDot3(v, v);
    }
    return (squares - spragDot3(sum, sum) / n) / n;
}

/* The rigid motion nearest to that of the bodies' centres: mean velocity v at their mean x, and turning w with
 * A w = sum d x (v_i - v), A = sum (|d|^2 - d d^T), d = x_i - x. */
typedef struct Rigid {
    double x[3], v[3], w[3];
} Rigid;

static Rigid rigidOf(const spragSnapshot *s, const spragIsland *island)
{
    Rigid rigid = {{0}, {0}, {0}};
    double A[9] = {0}, inverse[9], sum[3] = {0};
    for (int i = 0; i < island->body_count; ++i)
        for (int k = 0; k < 3; ++k) {
            rigid.x[k] += s->body[island->body[i]].position[k] / island->body_count;
            rigid.v[k] += s->body[island->body[i]].velocity[k] / island->body_count;
        }
    for (int i = 0; i < island->body_count; ++i) {
        const spragBodyState *body = &s->body[island->body[i]];
        double d[3], v[3], moment[3];
        for (int k = 0; k < 3; ++k) {
            d[k] = body->position[k] - rigid.x[k];
            v[k] = body->velocity[k] - rigid.v[k];
        }
        spragCross3(moment, d, v);
        for (int k = 0; k < 9; ++k)
            A[k] += (k % 4 == 0 ? spragDot3(d, d) : 0) - d[k / 3] * d[k % 3];
        for (int k = 0; k < 3; ++k)
            sum[k] += moment[k];
    }
    const double little = LITTLE * (A[0] + A[4] + A[8]); /* a column may turn about itself */
    for (int k = 0; k < 9; k += 4)
        A[k] += little;
    if (spragInverse33(inverse, A))
        spragMul33(rigid.w, inverse, sum);
    return rigid;
}

/* 1: more than half of the bodies move, in the world and against the rigid motion nearest to theirs: what stands on a
 * turntable or on a ship that rolls, or flies as a whole, does not fall apart. */
static int mostMove(const spragSnapshot *s, const spragIsland *island)
{
    const double slow = FALLING * spragNorm3(s->gravity) * s->step;
    const Rigid rigid = rigidOf(s, island);
    int moving = 0;
    for (int i = 0; i < island->body_count; ++i) {
        const spragBodyState *body = &s->body[island->body[i]];
        double d[3], turned[3];
        for (int k = 0; k < 3; ++k)
            d[k] = body->position[k] - rigid.x[k];
        spragCross3(turned, rigid.w, d);
        for (int k = 0; k < 3; ++k)
            d[k] = body->velocity[k] - rigid.v[k] - turned[k];
        moving += fmin(spragDot3(body->velocity, body->velocity), spragDot3(d, d)) > slow * slow;
    }
    return 2 * moving > island->body_count;
}

/* 1: they are no faster than so many times the velocity that gravity gives in a step. */
static int isSlow(const spragSnapshot *s, const spragIsland *island, double times)
{
    const double most = times * spragNorm3(s->gravity) * s->step;
    return meanSquare(s, island) <= most * most;
}

/* 1: and all but rest. */
static int mayRest(const spragSnapshot *s, const spragIsland *island)
{
    return island->flat && isSlow(s, island, SLOW);
}

int spragHasteSkips(const struct spragWorld *world, const spragIsland *island)
{
    return island->haste > 0 && isLarge(world, island);
}

int spragHasteIsHeap(const struct spragWorld *world, const spragIsland *island)
{
    const double falls = spragNorm3(world->snapshot.gravity) * world->snapshot.step;
    const int loose = spragHasteLoose(world, island) && (island->haste > 0 || island->contact_count > LARGE);
    return isOurs(world, island) && (island->sticks || loose) && falls > FALLS;
}

int spragHasteFalls(const struct spragWorld *world, const spragIsland *island)
{
    return isOurs(world, island) && !island->sticks && island->contact_count == island->joint_count && !island->flat &&
           world->snapshot.active_count > LARGE && mostMove(&world->snapshot, island);
}

/* 1: all but a tenth of its bodies belong to mechanisms, of which there are several. */
static int isOfMechanisms(const spragSnapshot *s, const spragIsland *island)
{
    int count = 0;
    for (int i = 0; i < island->body_count; ++i)
        count += s->body[island->body[i]].articulation >= 0;
    return island->articulation_count >= MECHANISMS && count >= SHARE_JOINTED * island->body_count;
}

int spragHasteTumbles(const struct spragWorld *world, const spragIsland *island)
{
    return isOurs(world, island) && !island->sticks && island->contact_count <= LARGE &&
           island->contact_count < SPARSE * island->body_count && isOfMechanisms(&world->snapshot, island) &&
           !isSlow(&world->snapshot, island, STILL);
}

/* 1: a wedge in it concerns it all. */
static int isPressed(const struct spragWorld *world, const spragIsland *island, double residual)
{
    return residual > THROWS || island->contact_count >= PRESSED * island->body_count ||
           !spragHasteLoose(world, island);
}

int spragHasteMayBeWedged(const struct spragWorld *world, const spragIsland *island)
{
    const double residual = island->solve.residual;
    return residual > FAR_OFF && island->contact_count <= SPRAG_WEDGED_MOST && isPressed(world, island, residual);
}

/* W of thousands of contacts takes more than haste leaves: 13 700 of a pyramid 0.2 s of work, and 250 MB that are new,
 * 0.1 to 0.7 s more.  Where such a pile may rest visits go on from step to step, as its contacts stay the same, and
 * are enough while they gain. */
int spragHasteEnds(const struct spragWorld *world, const spragIsland *island)
{
    const spragGreedy *greedy = island->bare != NULL ? &island->bare->greedy : island->greedy;
    const double residual = island->solve.residual;
    if (island->sticks && (island->haste > 0 || world->config.time_limit > 0)) /* what comes after W leads astray */
        return 1;
    /* (To a rough tolerance a step of a heap that still moves is soon solved, and halves the haste; the next one, with
     * a blow, would have W and its sweeps: 190 ms of 500 boxes and balls, for as much residual.) */
    const int roughly = world->config.tolerance >= SPRAG_ROUGH && !island->flat;
    const int most = roughly ? island->haste > 0 : island->haste == HASTE_MOST;
    if (most && residual > NEAR && !spragHasteMayBeWedged(world, island))
        return 1;
    return island->haste > 0 && island->contact_count > W_IS_DEAR && residual < GAINS * greedy->begun &&
           mayRest(&world->snapshot, island);
}

/* 1: the world's CFM gives way (ode/rows.h).  Such bodies sink through the contact surface layer for some 1000 steps,
 * and the whole share would be spent in each: 40 to 70 ms in place of 4 for 80 to 120 bricks. */
static int hasSprings(const spragSnapshot *s, const spragIsland *island)
{
    double own = 0; /* 1/kg */
    for (int i = 0; i < island->body_count; ++i)
        own += s->body[island->body[i]].inverse_mass;
    return s->cfm * island->body_count > SPRAG_RIGID_WORLD * own * s->pace;
}

/* A wall that begins to stand is kept moving by what its own steps leave: 80 bricks that touch, 600 contacts, with a
 * 64th of the work left 1e-3 m/s, 10 ms a step, until they fell; with a 16th they rest after 30 steps of 34 ms.  A 32nd
 * is no better than a 64th: W takes what is left of the work. */
static int hasteMost(const struct spragWorld *world, const spragIsland *island)
{
    const int share = plays(&world->config) || hasSprings(&world->snapshot, island) ? SHARE_LESS : SHARE;
    int most = isLarge(world, island) ? HASTE_MOST : HASTE_MOST_FEW;
    if (island->contact_count >> (most - 1) < share && mayRest(&world->snapshot, island))
        while (most > 0 && island->contact_count >> most < share)
            --most;
    return most;
}

/* The least haste of an island that is new or moves.  All the work was spent in the first of its hard steps, and the
 * halving came too late: 1 s for 1000 balls that met Sprag as they fell, 1.7 s for 3000, 2.6 s for 3000 boxes, 2.7 s
 * for a pyramid of 650 cubes that touch; now 0.18, 0.10, 0.20 and 0.10.  Forty steps later residuals are as before; on
 * the way less is solved: 1000 balls that fall into a bin took 76 ms a step in the steps 51 to 100 and missed none, and
 * take 39 and miss ten.  (Not for islands all but at rest: 1000 balls that settle took 26 ms a step in place of 6.)
 *
 * It goes by the joints of the whole world, as all islands are hard in the same step; but what may come to rest goes by
 * its own contacts.  Four walls of 75 bricks that touch, 3000 contacts, missed 17 of their first 50 steps by the
 * world's haste, at 140 ms a step, and cost 6 to 10 ms at rest; with all of the work they miss none, at 54, and rest
 * at 2. */
static int hasteLeast(const struct spragWorld *world, const spragIsland *island)
{
    if (!isLarge(world, island) || (island->sticks && (island->sticks == 1 || island->contact_count <= SMALL)))
        return 0;
    if (island->falls)
        return HASTE_MOST;
    const int joints = mayRest(&world->snapshot, island) ? island->contact_count : world->snapshot.active_count;
    const double first = island->sticks ? FIRST_STICKY : plays(&world->config) || !island->flat ? FIRST_HEAP : FIRST;
    const double haste = 2 * log2(joints / first);
    return haste > 0 ? (int)fmin(haste, hasteMost(world, island)) : 0;
}

int spragHasteOf(const struct spragWorld *world, const spragIsland *island)
{
    int sum = 0, known = 0, looks = 0;
    const int each = island->joint_count / LOOKS + 1;
    if (!isOurs(world, island))
        return 0;
    for (int i = 0; i < island->joint_count; i += each) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[i]];
        if (joint->contact == NULL)
            continue;
        ++looks;
        if (joint->memory < 0)
            continue;
        sum += world->memory[joint->memory].haste;
        ++known;
    }
    const int haste = known > 0 ? (sum + known / 2) / known : 0;
    const double still = island->sticks ? SLOW : island->flat ? STILL : STILL_HEAP;
    const int moves = !isSlow(&world->snapshot, island, still), is_new = 2 * known < looks && !island->sticks;
    const int least = is_new || moves ? hasteLeast(world, island) : 0;
    if (!isLarge(world, island)) /* it may be a part of what was large */
        return haste < HASTE_MOST_FEW ? haste : HASTE_MOST_FEW;
    return haste > least ? haste : least;
}

/* 1: nothing but contacts that hold by forces without bound, and they are not in conflict: conjugate gradients (which
 * count as steps of Newton's method) solve any number of them, and no visits do. */
static int isGlue(const spragIsland *island)
{
    int glue = island->block_count > 0 && island->bare == NULL && island->declined == NULL && !(island->wedge > 0) &&
               island->solve.residual <= SPRAG_MISSED;
    for (int k = 0; k < island->block_count && glue; ++k)
        glue = island->block[k].kind == SPRAG_BLOCK_BOX && island->block[k].part == SPRAG_PART_CONTACT &&
               !island->block[k].parts;
    return glue;
}

int spragHasteNext(const struct spragWorld *world, const spragIsland *island)
{
    const double enough = fmax(fmax(world->config.tolerance, world->config.enough), SPRAG_MISSED);
    const double most_dear = isLarge(world, island) && !island->flat ? DEAR_HEAP : DEAR,
                 dear = plays(&world->config) ? fmin(most_dear, DEAR_PLAY * world->snapshot.step) : most_dear;
    const int is_dear = (double)island->contact_count * island->solve.method_iterations[SPRAG_SOLVER_NEWTON] > dear,
              in_conflict = island->sticks && island->wedge > 0 && !isSlow(&world->snapshot, island, HOLDS),
              caught = island->wedge > 0 && !isPressed(world, island, island->rigid),
              missed = (!(island->solve.residual <= enough) || in_conflict || caught) &&
                       (island->haste > 0 || isLarge(world, island));
    if (island->tumbles)
        return island->haste;
    const int next = island->stirred && !(island->solve.residual <= world->config.tolerance)
                         ? island->haste
                         : island->haste + (is_dear || missed ? 1 : -1);
    if (!isOurs(world, island) || next <= 0 || isGlue(island))
        return 0;
    const int most = hasteMost(world, island);
    return next > most ? most : next;
}

int spragHasteHardens(const spragIsland *island)
{
    if (island->declined != NULL || island->bare != NULL || island->greedy != NULL || island->block_count > SMALL)
        return 0;
    if (island->hard || !island->solve.fallback || island->vain)
        return island->hard;
    const double n = island->block_count, iterations = island->solve.iterations;
    return iterations > LATE && iterations * (n * n * n / 3 + 10 * n * n) > HARD;
}
