#include "ode/joints/bearing.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ode/joints/bearing_parts.h"
#include "ode/world/layout.h"

/* ---------------------------------------------------------------- records */

static int slides(dJointType type)
{
    return type == dJointTypeSlider || type == dJointTypePiston;
}

int spragBearingKnows(dJointType type)
{
    return slides(type) || type == dJointTypeHinge || type == dJointTypeBall || type == dJointTypeUniversal;
}

spragStatus spragBearingSet(struct spragWorld *world, dJointID joint, const spragJointFriction *law)
{
    int k = 0;
    while (k < world->bearing_count && world->bearing[k].joint != joint)
        ++k;
    if (k < world->bearing_count) { /* anew: the joint may be another at the same address */
        memmove(world->bearing + k, world->bearing + k + 1,
                (size_t)(world->bearing_count - k - 1) * sizeof *world->bearing);
        --world->bearing_count;
    }
    if (law->mu == 0 && !(law->mu_static > 0))
        return SPRAG_OK;
    if (!spragGrow((void **)&world->bearing, &world->bearing_capacity, (size_t)world->bearing_count + 1,
                   sizeof *world->bearing))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the friction of a joint");
    const int serial = spragSerialOf(world, spragLayoutJointMark(joint));
    spragLayoutMarkJoint(joint, serial);
    spragGoneKnow(joint);
    world->bearing[world->bearing_count++] = (struct spragBearing){.joint = joint,
                                                                   .serial = serial,
                                                                   .since = spragGoneSoFar(),
                                                                   .type = dJointGetType(joint),
                                                                   .law = *law,
                                                                   .id = world->next_id + 1,
                                                                   .memory = {-1, -1},
                                                                   .stuck = -1};
    world->next_id += SPRAG_BEARING_ENDS;
    return SPRAG_OK;
}

/* Still the joint it was?  ODE gives the addresses of destroyed joints to new ones. */
static int isSame(const struct spragWorld *world, struct spragBearing *bearing, const spragJointState *joint)
{
    if (world->marked && bearing->serial != joint->serial)
        return 0;
    bearing->serial = joint->serial;
    const dBodyID a = dJointGetBody(joint->id, 0), b = dJointGetBody(joint->id, 1);
    if (bearing->body[0] == NULL && bearing->body[1] == NULL) {
        bearing->body[0] = a;
        bearing->body[1] = b;
    }
    return joint->type == bearing->type && a == bearing->body[0] && b == bearing->body[1];
}

void spragBearingsForget(struct spragWorld *world, const spragGone *gone)
{
    int kept = 0;
    for (int k = 0; k < world->bearing_count; ++k)
        if (!spragIsGoneSince(gone, world->bearing[k].joint, world->bearing[k].since))
            world->bearing[kept++] = world->bearing[k];
    world->bearing_count = kept;
}

int spragBearingsFind(struct spragWorld *world)
{
    spragSnapshot *s = &world->snapshot;
    spragPointerMap map;
    if (world->bearing_count == 0)
        return 1;
    int *joint = SPRAG_TAKE(&world->arena, int, world->bearing_count);
    if (joint == NULL || !spragPointerMapMake(&map, &world->arena, world->bearing_count))
        return 0;
    for (int k = 0; k < world->bearing_count; ++k) {
        spragPointerMapPut(&map, world->bearing[k].joint, k);
        joint[k] = -1;
    }
    for (int j = 0; j < s->joint_count; ++j) {
        const int k = spragPointerMapGet(&map, s->joint[j].id);
        if (k >= 0 && isSame(world, &world->bearing[k], &s->joint[j]))
            joint[k] = j;
    }
    int kept = 0;
    for (int k = 0; k < world->bearing_count; ++k)
        if (joint[k] >= 0) {
            world->bearing[kept] = world->bearing[k];
            s->joint[joint[k]].bearing = &world->bearing[kept++];
        }
    world->bearing_count = kept;
    return 1;
}

struct spragBearing *spragBearingById(const struct spragWorld *world, unsigned long long id)
{
    int low = 0, high = world->bearing_count; /* ids ascend */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (world->bearing[middle].id + SPRAG_BEARING_ENDS <= id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < world->bearing_count && world->bearing[low].id <= id ? &world->bearing[low] : NULL;
}

int spragBearingBlockCount(const struct spragBearing *bearing)
{
    return slides(bearing->type) ? 2 * SPRAG_BEARING_ENDS : bearing->type == dJointTypeBall ? 2 : 1;
}

/* ---------------------------------------------------------------- rows and memory */

void spragBearingBlocks(const struct spragWorld *world, int j, int first, spragIsland *island)
{
    const spragJointState *joint = &world->snapshot.joint[j];
    struct spragBearing *bearing = joint->bearing;
    spragEqualityRow *row = island->row + first;
    spragBlock *block = island->block + island->block_count;
    const int count = island->row_count - first;
    const spragBlock like = {.joint = j,
                             .parent = -1,
                             .memory = -1,
                             .scale = 1,
                             .body = {joint->body[0], joint->body[1]},
                             .unused = {1, 1, 1}};
    if (slides(bearing->type)) {
        spragBlock clean = like;
        memset(clean.unused, 0, sizeof clean.unused);
        spragSlidingBlocks(world, bearing, &clean, row, count, block);
        island->row_count = first + (bearing->type == dJointTypeSlider ? spragSlidingKeepRoll(row, count) : 0);
    } else {
        spragTurningBlocks(world, bearing, &like, block);
    }
    island->block_count += spragBearingBlockCount(bearing);
    bearing->first_row = first;
    bearing->row_count = island->row_count - first;
}

void spragBearingsRemember(struct spragWorld *world, const spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        struct spragBearing *bearing = world->snapshot.joint[block->joint].bearing;
        if (bearing == NULL)
            continue;
        if (block->part == SPRAG_PART_TURNING) {
            const int second =
                k > 0 && island->block[k - 1].joint == block->joint && island->block[k - 1].part == SPRAG_PART_TURNING;
            spragTurningRemember(world, island, k, second, bearing);
        } else if (block->part == SPRAG_PART_GUIDE) {
            spragSlidingRemember(world, island, k, bearing->normal[block->id - bearing->id]);
        }
    }
}
