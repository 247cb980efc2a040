#include "ode/heap.h"

#include "linalg/vec3.h"
#include "ode/rows.h"

enum { LEAST = 100 }; /* contacts of an island that may be hurried (a car on sixty of mu = 340 is worth all the work) */
/* m/s that gravity gives in a step of a heap that spares W: of less SPRAG_MISSED is no small part, and it would sink.
 */
#define FALLS 1e-2

int spragIslandSticks(const struct spragWorld *world, const spragIsland *island)
{
    const int asked = island->contact_count > SPRAG_LARGE_STICKY && !island->flat, step = spragLookStep(island);
    int sticks = 0;
    for (int i = 0; i < island->joint_count && asked && sticks < 2; i += step) {
        const dContact *contact = world->snapshot.joint[island->joint[i]].contact;
        if (contact != NULL && contact->surface.mu > SPRAG_FRICTION_GREATEST)
            sticks = contact->surface.mode & dContactApprox1 ? 2 : 1;
    }
    return sticks;
}

int spragIslandIsOurs(const struct spragWorld *world, const spragIsland *island)
{
    const spragConfig *config = &world->config;
    return !config->patient && config->solver == SPRAG_SOLVER_AUTO && !(config->time_limit > 0) &&
           config->iteration_limit == 0 && island->contact_count > (island->sticks ? SPRAG_LARGE_STICKY : LEAST);
}

int spragIslandIsHeap(const struct spragWorld *world, const spragIsland *island)
{
    return !island->flat && (island->contact_count > SPRAG_LARGE ||
                             (spragIslandIsOurs(world, island) && island->contact_count == island->joint_count));
}

int spragIslandIsLarge(const struct spragWorld *world, const spragIsland *island)
{
    const int few = spragPlays(&world->config) || spragIslandIsHeap(world, island);
    return island->falls || island->contact_count > (island->sticks ? SPRAG_LARGE_STICKY : few ? LEAST : SPRAG_LARGE);
}

int spragIslandSparesW(const struct spragWorld *world, const spragIsland *island)
{
    const double falls = spragNorm3(world->snapshot.gravity) * world->snapshot.step;
    const int heap = spragIslandIsHeap(world, island) && (island->haste > 0 || island->contact_count > SPRAG_LARGE);
    return spragIslandIsOurs(world, island) && (island->sticks || heap) && falls > FALLS;
}
