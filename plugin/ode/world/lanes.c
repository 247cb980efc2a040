#include "ode/world/lanes.h"

#include "base/alloc.h"
#include "base/pool.h"
#include "base/status.h"

void spragLanesFree(struct spragWorld *world)
{
    spragPoolFree(world->pool);
    for (int i = 0; i < world->lane_count; ++i) {
        spragArenaFree(&world->lane[i].arena);
        spragArenaFree(&world->lane[i].scratch);
    }
    spragFree(world->lane);
    world->pool = world->island_pool = world->loop_pool = NULL;
    world->thread_choice = (spragThreadChoice){0};
    world->lane = NULL;
    world->lane_count = 0;
}

spragStatus spragLanesMake(struct spragWorld *world)
{
    const int wanted = world->config.thread_count > 1 ? world->config.thread_count : 1;
    if (wanted == world->lane_count && !spragPoolIsOrphan(world->pool))
        return SPRAG_OK;
    spragLanesFree(world);
    world->lane = spragAlloc((size_t)wanted, sizeof *world->lane);
    world->pool = wanted > 1 ? spragPoolMake(wanted) : NULL;
    if (world->lane == NULL || (wanted > 1 && world->pool == NULL)) {
        spragLanesFree(world);
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for %d threads", wanted);
    }
    world->lane_count = wanted;
    return SPRAG_OK;
}
