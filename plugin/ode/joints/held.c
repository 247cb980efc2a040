#include "ode/joints/held.h"

#include <string.h>

#include "linalg/vec3.h"
#include "ode/joints/articulation.h"
#include "ode/joints/bearing.h"

static int holds(const struct spragWorld *world, const spragIsland *island, int k, int row)
{
    const spragBlock *block = &island->block[k];
    const double r = island->r[3 * k + row];
    if (block->unused[row])
        return 0;
    if (block->part == SPRAG_PART_TURNING)
        return world->snapshot.joint[block->joint].bearing->stuck > 0;
    return block->part == SPRAG_PART_JOINT && island->bound[6 * k + row] < r && r < island->bound[6 * k + 3 + row];
}

/* Adds the rows of block k that hold to those of its joint, which begin at `first`.  A motor and friction about the
 * same axis may both hold: rows beyond what one joint can have are given to a joint that does not exist (a number <
 * 0). */
static void addHeld(const struct spragWorld *world, const spragIsland *island, int k, const spragEqualityRow *first,
                    spragIsland *other)
{
    const spragBlock *block = &island->block[k];
    for (int row = 0; row < 3; ++row) {
        spragEqualityRow *end = other->row + other->row_count;
        if (!holds(world, island, k, row))
            continue;
        *end = (spragEqualityRow){.joint = end - first < SPRAG_JOINED_ROWS ? block->joint : -1 - block->joint,
                                  .body = {block->body[0], block->body[1]},
                                  .number = -1,
                                  .compliance = block->compliance[row]};
        for (int side = 0; side < 2; ++side)
            memcpy(end->J[side], block->J[side][row], sizeof end->J[side]);
        ++other->row_count;
    }
}

/* The joints' rows, each joint's followed by those of its blocks that hold.  (Rows and blocks are in the order of the
 * joints.) */
static void mergeRows(const struct spragWorld *world, const spragIsland *island, spragIsland *other)
{
    int e = 0;
    for (int k = 0, end; k < island->block_count; k = end) {
        const int joint = island->block[k].joint;
        for (end = k + 1; end < island->block_count && island->block[end].joint == joint; ++end)
            ;
        while (e < island->row_count && island->row[e].joint < joint)
            other->row[other->row_count++] = island->row[e++];
        const spragEqualityRow *first = other->row + other->row_count;
        while (e < island->row_count && island->row[e].joint == joint)
            other->row[other->row_count++] = island->row[e++];
        for (int own = k; own < end; ++own)
            addHeld(world, island, own, first, other);
    }
    while (e < island->row_count)
        other->row[other->row_count++] = island->row[e++];
}

static int countHeld(const struct spragWorld *world, const spragIsland *island)
{
    int count = 0;
    for (int k = 0; k < island->block_count; ++k)
        for (int row = 0; row < 3; ++row)
            count += holds(world, island, k, row);
    return count;
}

/* other: a copy of the island whose blocks are its contacts, and whose rows those that it has and those that hold.
 * 0: no memory. */
static int makeOther(struct spragWorld *world, const spragIsland *island, int held, spragIsland *other)
{
    spragArena *arena = &island->lane->arena;
    *other = *island;
    other->row = SPRAG_TAKE_RAW(arena, spragEqualityRow, island->row_count + held);
    other->block = SPRAG_TAKE_RAW(arena, spragBlock, island->block_count);
    other->Y = spragArenaTakeRaw(arena, (size_t)island->block_count, sizeof *other->Y);
    if (other->row == NULL || other->block == NULL || other->Y == NULL)
        return 0;
    other->row_count = other->block_count = 0;
    mergeRows(world, island, other);
    for (int k = 0; k < island->block_count; ++k)
        if (island->block[k].part == SPRAG_PART_CONTACT) {
            memcpy(other->Y[other->block_count], island->Y[k], sizeof *other->Y);
            other->block[other->block_count++] = island->block[k];
        }
    return spragArticulationsMakeOther(world, other);
}

int spragHeldReduce(struct spragWorld *world, const spragIsland *island, spragContactHistory *history)
{
    const spragArenaMark mark = spragArenaMarkGet(&island->lane->arena);
    const int held = countHeld(world, island);
    spragIsland other;
    if (held == 0)
        return 1;
    if (!makeOther(world, island, held, &other))
        return 0;
    for (int k = 0, i = 0; k < island->block_count; ++k) {
        if (island->block[k].part != SPRAG_PART_CONTACT)
            continue;
        double with[9] = {0}, without[9] = {0};
        spragArticulationCouple(island, k, k, without);
        spragArticulationCouple(&other, i, i, with);
        for (int row = 0; row < 9; ++row)
            history[k].held[row] = without[row] - with[row];
        history[k].free_acceleration += spragDot3(history[k].held, island->r + 3 * k) / island->problem.step;
        ++i;
    }
    spragArenaRelease(&island->lane->arena, mark);
    return 1;
}
