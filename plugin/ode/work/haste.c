#include "ode/work/haste.h"

#include <math.h>

#include "linalg/vec3.h"
#include "ode/work/fall.h"
#include "ode/work/heap.h"
#include "ode/work/slop.h"
#include "ode/work/visits_end.h"

enum {
    MOST_FEW = 1, /* as SPRAG_HASTE_MOST, of what is not large: half, some 50 ms (docs/research.md, Dear steps) */

    /* Contacts of an island all of whose work is the least that one which may come to rest has in haste, and where the
     * program plays or contacts are springs. */
    SHARE = 40,
    SHARE_LESS = 10,

    /* Contacts times Newton's steps, some 40 ms: more of them in a step are too many; and in a large heap, whose bodies
     * do not lie flat: 200 to 400 balls came to rest as soon, in half of the time.  (Towers took two to three times as
     * long with 20000.) */
    LONG = 40000,
    LONG_HEAP = 10000
};
/* The same, in each second that a step stands for, where the program plays: some half of that time. */
#define LONG_PLAY 5e5
/* Joints awake in the world (of what may come to rest: contacts of the island) up to which an island that is new or
 * moves has all the work; of a heap, and where the program plays.  Beyond, half of it for every factor of sqrt 2. */
#define FIRST 800.0
#define FIRST_HEAP 200.0
#define FIRST_STICKY 20.0 /* of a heap that sticks */
#define STILL_HEAP 0.02   /* as SPRAG_STILL, of a heap: 20 of 1000 balls that roll were solved at 50 to 200 ms a step */
/* The same of an island with mu = infinity that holds, though in conflict: visits carry shear too slowly along a row of
 * boxes that two walls press together, and let it fall. */
#define HOLDS 0.2

/* 1: the world's CFM gives way (rows.h).  Such bodies sink through the contact surface layer for some 1000 steps,
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
    const int share = spragPlays(&world->config) || hasSprings(&world->snapshot, island) ? SHARE_LESS : SHARE;
    int most = spragIslandIsLarge(world, island) ? SPRAG_HASTE_MOST : MOST_FEW;
    if (island->contact_count >> (most - 1) < share && spragIslandMayRest(&world->snapshot, island))
        while (most > 0 && island->contact_count >> most < share)
            --most;
    return most;
}

/* The least haste of an island that is new or moves.  Without it all the work is spent in the first of its hard steps,
 * and the halving comes too late: 1 s for 1000 balls that meet Sprag as they fall, 1.7 s for 3000, 2.6 s for 3000
 * boxes, 2.7 s for a pyramid of 650 cubes that touch; with it 0.18, 0.10, 0.20 and 0.10.  Forty steps later residuals
 * are the same; on the way less is solved: 1000 balls that fall into a bin take 76 ms a step in the steps 51 to 100 and
 * miss none, with it 39 and miss ten.  (Not for islands all but at rest: 1000 balls that settle take 26 ms a step so,
 * and 6.)
 *
 * It goes by the joints of the whole world, as all islands are hard in the same step; but what may come to rest goes by
 * its own contacts.  Four walls of 75 bricks that touch, 3000 contacts, missed 17 of their first 50 steps by the
 * world's haste, at 140 ms a step, and cost 6 to 10 ms at rest; with all of the work they miss none, at 54, and rest
 * at 2. */
static int hasteLeast(const struct spragWorld *world, const spragIsland *island)
{
    if (island->pile.sticks == 1)
        return 0;
    if (island->pile.falls)
        return SPRAG_HASTE_MOST;
    const int own = spragIslandMayRest(&world->snapshot, island),
              joints = own ? island->contact_count : world->snapshot.active_count,
              soon = spragPlays(&world->config) || !island->pile.flat;
    const double haste = 2 * log2(joints / (island->pile.sticks ? FIRST_STICKY : soon ? FIRST_HEAP : FIRST));
    return haste > 0 ? (int)fmin(haste, hasteMost(world, island)) : 0;
}

int spragHasteOf(const struct spragWorld *world, const spragIsland *island)
{
    int sum = 0, known = 0, looks = 0;
    if (!spragIslandIsOurs(world, island))
        return 0;
    for (int i = 0, step = spragLookStep(island); i < island->joint_count; i += step) {
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
    if (!spragIslandIsLarge(world, island) && !island->pile.steep) /* it may be a part of what was large */
        return haste < MOST_FEW ? haste : MOST_FEW;
    const double still = island->pile.sticks ? SPRAG_SLOW : island->pile.flat ? SPRAG_STILL : STILL_HEAP;
    const int is_new = 2 * known < looks && !island->pile.sticks;
    const int least = is_new || !spragIslandIsSlow(&world->snapshot, island, still) ? hasteLeast(world, island) : 0;
    return haste > least ? haste : least;
}

int spragHasteSkips(const struct spragWorld *world, const spragIsland *island)
{
    return island->before.haste > 0 && spragIslandIsLarge(world, island);
}

/* 1: nothing but contacts that hold by forces without bound, and they are not in conflict: conjugate gradients (which
 * count as steps of Newton's method) solve any number of them, and no visits do. */
static int isGlue(const spragIsland *island)
{
    int glue = island->block_count > 0 && island->bare == NULL && island->declined == NULL &&
               !(island->wedge.speed > 0) && island->solve.residual <= SPRAG_MISSED;
    for (int k = 0; k < island->block_count && glue; ++k)
        glue = island->block[k].kind == SPRAG_BLOCK_BOX && island->block[k].part == SPRAG_PART_CONTACT &&
               !island->block[k].parts;
    return glue;
}

/* 1: its answer took too many of Newton's steps. */
static int tookLong(const struct spragWorld *world, const spragIsland *island)
{
    const double most = spragIslandIsLarge(world, island) && !island->pile.flat ? LONG_HEAP : LONG,
                 limit = spragPlays(&world->config) ? fmin(most, LONG_PLAY * world->snapshot.step) : most;
    return (double)island->contact_count * island->solve.method_iterations[SPRAG_SOLVER_NEWTON] > limit;
}

/* 1: it has no answer. */
static int hasMissed(const struct spragWorld *world, const spragIsland *island)
{
    const double enough = fmax(fmax(world->config.tolerance, world->config.enough), SPRAG_MISSED);
    const int in_conflict =
        island->pile.sticks && island->wedge.speed > 0 && !spragIslandIsSlow(&world->snapshot, island, HOLDS);
    return !(island->solve.residual <= enough) || in_conflict || spragIslandIsCaught(world, island);
}

int spragHasteNext(const struct spragWorld *world, const spragIsland *island)
{
    if (island->pile.tumbles)
        return island->before.haste;
    if (!spragIslandIsOurs(world, island) || isGlue(island))
        return 0;
    const int waits = island->pile.stirred && !(island->solve.residual <= world->config.tolerance),
              misses = (island->before.haste > 0 || island->pile.steep || spragIslandIsLarge(world, island)) &&
                       hasMissed(world, island),
              took_long = (island->before.haste > 0 || !island->pile.steep) && tookLong(world, island),
              next = waits                 ? island->before.haste
                     : misses || took_long ? island->before.haste + 1
                                           : island->before.haste - 1;
    if (next > SPRAG_HASTE_MOST && spragIslandSettles(world, island))
        return SPRAG_HASTE_ASKS;
    return next > 0 ? (int)fmin(next, hasteMost(world, island)) : 0;
}
