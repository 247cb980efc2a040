#include "ode/work/heap.h"

#include <math.h>

#include "linalg/vec3.h"
#include "ode/rows/rows.h"
#include "solve/greedy/greedy.h"

enum {
    DRIVEN = dContactMotion1 | dContactMotion2,
    LEAST = 100,   /* contacts of an island that may be hurried (a car on sixty of mu = 340 is worth all the work) */
    MANY_STEEP = 4 /* one in so many contacts with a high coefficient, and it is as if they stick */
};
/* m/s that gravity gives in a step of a heap that spares W: of less SPRAG_MISSED is no small part, and it would sink.
 */
#define FALLS 1e-2
/* Of the bodies' own compliance, 1/kg: contacts with mu = infinity that slip (dContactSlip1, dContactSlip2), or give
 * way along the normal (soft_cfm), by more. */
#define YIELDS 1e-4

/* 1: it gives way, along its normal or along both tangents: whatever motion such contacts ask for, some impulses, not
 * large ones, answer it, and none are in conflict.  (Nor are tangential rows that hold, if nothing drives them: they
 * ask for 0, which some motion gives to all.) */
static int yields(const spragSnapshot *s, const spragJointState *joint)
{
    const dSurfaceParameters *p = &joint->contact->surface;
    const double slip = p->mode & dContactSlip1 && p->mode & dContactSlip2 ? fmin(p->slip1, p->slip2) : 0,
                 soft = p->mode & dContactSoftCFM && !(p->mode & DRIVEN) ? p->soft_cfm : 0;
    double own = 0; /* 1/kg */
    for (int side = 0; side < 2; ++side)
        own += joint->body[side] >= 0 ? s->body[joint->body[side]].inverse_mass : 0;
    return fmax(slip, soft) > YIELDS * own * s->step;
}

/* Of a joint: 0, 1 or 2 as of an island. */
static int sticks(const spragSnapshot *s, const spragJointState *joint)
{
    const dContact *contact = joint->contact;
    if (contact == NULL || !spragFrictionIsInfinite(&contact->surface) || yields(s, joint))
        return 0;
    return contact->surface.mode & dContactApprox1 ? 2 : 1;
}

/* 1: it has a high coefficient, and may be visited. */
static int isSteep(const spragJointState *joint)
{
    const dContact *contact = joint->contact;
    return contact != NULL && contact->surface.mu > SPRAG_GREEDY_STEEP && !spragFrictionIsInfinite(&contact->surface) &&
           (spragContactIsPlain(contact, 0) || spragContactIsRoller(contact, 0));
}

int spragIslandMayStick(const struct spragWorld *world, const spragIsland *island)
{
    int may = island->contact_count > SPRAG_LARGE_STICKY;
    for (int i = 0; i < island->joint_count && island->contact_count > SPRAG_LARGE_STICKY / 2 && !may; ++i) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[i]];
        const int rolls = joint->contact != NULL && (joint->contact->surface.mode & dContactRolling) != 0;
        may = rolls && sticks(&world->snapshot, joint) > 0;
    }
    return may;
}

int spragIslandSticks(const struct spragWorld *world, const spragIsland *island)
{
    const int step = spragLookStep(island), few = island->contact_count <= SPRAG_LARGE_STICKY;
    int most = 0;
    if (island->pile.flat || island->contact_count <= SPRAG_LARGE_STICKY / 2)
        return 0;
    for (int i = 0; i < island->joint_count && most < 2; i += step) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[i]];
        const int own = sticks(&world->snapshot, joint);
        if (own > most && (!few || (joint->contact->surface.mode & dContactRolling)))
            most = own;
    }
    return most;
}

int spragIslandIsSteep(const struct spragWorld *world, const spragIsland *island)
{
    const int step = spragLookStep(island);
    int steep = 0, looks = 0;
    if (island->pile.flat || island->pile.sticks || island->contact_count != island->joint_count ||
        island->contact_count <= SPRAG_LARGE_STICKY || island->contact_count >= SPRAG_PRESSED * island->body_count)
        return 0;
    for (int i = 0; i < island->joint_count; i += step, ++looks)
        steep += isSteep(&world->snapshot.joint[island->joint[i]]);
    return MANY_STEEP * steep > looks;
}

/* 1: visits take its friction to hold what presses. */
static int isHeld(const spragIsland *island)
{
    return island->pile.sticks || (island->pile.steep && island->before.haste > 0);
}

int spragIslandIsOurs(const struct spragWorld *world, const spragIsland *island)
{
    const spragConfig *config = &world->config;
    return !config->patient && config->solver == SPRAG_SOLVER_AUTO && !(config->time_limit > 0) &&
           config->iteration_limit == 0 && (island->pile.sticks || island->pile.steep || island->contact_count > LEAST);
}

int spragIslandIsHeap(const struct spragWorld *world, const spragIsland *island)
{
    return !island->pile.flat && (island->contact_count > SPRAG_LARGE ||
                                  (spragIslandIsOurs(world, island) && island->contact_count == island->joint_count));
}

int spragIslandIsLarge(const struct spragWorld *world, const spragIsland *island)
{
    const int few = spragPlays(&world->config) || spragIslandIsHeap(world, island);
    return island->pile.falls || isHeld(island) || island->contact_count > (few ? LEAST : SPRAG_LARGE);
}

int spragIslandSparesW(const struct spragWorld *world, const spragIsland *island)
{
    const double falls = spragNorm3(world->snapshot.gravity) * world->snapshot.step;
    const int heap =
        spragIslandIsHeap(world, island) && (island->before.haste > 0 || island->contact_count > SPRAG_LARGE);
    return spragIslandIsOurs(world, island) && (isHeld(island) || heap) && falls > FALLS;
}
