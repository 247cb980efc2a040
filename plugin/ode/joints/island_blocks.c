#include "ode/joints/island_blocks.h"

#include "base/pool.h"
#include "base/status.h"
#include "ode/joints/bearing.h"
#include "ode/joints/guide.h"
#include "ode/rows/face.h"
#include "ode/rows/joint_blocks.h"
#include "ode/rows/joint_rows.h"
#include "ode/world/body_mass.h"

/* Room for all that the joints can bring.  0: no memory. */
static int takeBlocks(struct spragWorld *world, spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    int blocks = 0, rows = 0;
    for (int i = 0; i < island->joint_count; ++i) {
        const spragJointState *joint = &s->joint[island->joint[i]];
        const int other = joint->contact == NULL && joint->guide == NULL && joint->type != dJointTypeNull;
        blocks += joint->contact != NULL ? spragContactBlockCount(joint->contact)
                  : joint->guide != NULL ? spragGuideBlockCount(joint->guide)
                                         : other * SPRAG_JOINT_BLOCK_MAX;
        blocks += joint->bearing != NULL ? spragBearingBlockCount(joint->bearing) : 0;
        rows += other * SPRAG_JOINT_ROW_MAX;
    }
    island->on_start = island->on = NULL;
    island->block = SPRAG_TAKE_RAW(&island->lane->arena, spragBlock, blocks);
    island->row = SPRAG_TAKE_RAW(&island->lane->arena, spragEqualityRow, rows);
    return island->block != NULL && island->row != NULL;
}

/* Contacts of an island.  Threads count their blocks, one thread gives each contact its place, threads fill them. */
typedef struct Contacts {
    struct spragWorld *world;
    const spragPointerMap *surfaces;
    spragIsland *island;
    /* (joint_count) NO_CONTACT; else the number of its blocks, or BAD; once it has its place: its first block */
    int *first;
} Contacts;

enum { NO_CONTACT = -1, BAD = -2 };

static void countBlocks(void *data, int range, int begin, int end)
{
    (void)range;
    const Contacts *contacts = data;
    for (int i = begin; i < end; ++i) {
        const dContact *contact = contacts->world->snapshot.joint[contacts->island->joint[i]].contact;
        if (contact == NULL)
            contacts->first[i] = NO_CONTACT;
        else if (spragContactCheck(contact, contacts->world->lenient) == SPRAG_OK)
            contacts->first[i] = spragContactBlockCount(contact);
        else
            contacts->first[i] = BAD;
    }
}

static void fillContacts(void *data, int range, int begin, int end)
{
    (void)range;
    const Contacts *contacts = data;
    const struct spragWorld *world = contacts->world;
    const spragBlock *before = NULL;
    spragFace face = {0};
    for (int i = begin; i < end; ++i) {
        const int j = contacts->island->joint[i], first = contacts->first[i];
        if (first < 0) {
            before = NULL;
            continue;
        }
        const spragJointState *joint = &world->snapshot.joint[j];
        const int k = spragPointerMapGet(contacts->surfaces, joint->id);
        const spragSurface surface = k < 0 ? spragSurfaceDefault() : world->surface[k].surface;
        spragBlock *block = &contacts->island->block[first];
        spragFaceFind(world, contacts->island, i, &face);
        spragContactBlocks(world, j, &surface, &face, first, before, block);
        before = block + spragContactBlockCount(joint->contact) - 1;
    }
}

/* The error's text belongs to the thread that found it, which may be another: the check is made again on this one. */
static spragStatus addContact(const struct spragWorld *world, int j, int *first, spragIsland *island)
{
    const int count = *first;
    *first = island->block_count;
    if (count == BAD)
        return spragContactCheck(world->snapshot.joint[j].contact, world->lenient);
    island->block_count += count;
    return SPRAG_OK;
}

static void addGuide(const struct spragWorld *world, int j, spragIsland *island)
{
    spragGuideBlocks(world, j, &island->block[island->block_count]);
    island->block_count += spragGuideBlockCount(world->snapshot.joint[j].guide);
}

static spragStatus addJoint(struct spragWorld *world, int j, spragIsland *island)
{
    const int first = island->row_count;
    const spragStatus status = spragJointBlocks(world, j, island);
    if (status != SPRAG_OK || island->declined != NULL || island->row_count == first)
        return status;
    if (world->snapshot.joint[j].bearing != NULL)
        spragBearingBlocks(world, j, first, island);
    return status;
}

/* Rows of rotation are scaled by a length of their bodies, which needs the masses; the snapshot has not taken those of
 * bodies that slept. */
static void weigh(spragSnapshot *s, const spragJointState *joint)
{
    const int turns = joint->contact != NULL ? (joint->contact->surface.mode & dContactRolling) != 0
                                             : joint->guide == NULL && joint->type != dJointTypeNull;
    for (int side = 0; side < 2 && turns; ++side) {
        spragBodyState *body = joint->body[side] >= 0 ? &s->body[joint->body[side]] : NULL;
        if (body != NULL && !body->kinematic && body->mass == 0 && spragBodyMass(body, joint->body[side]) != SPRAG_OK)
            body->mass = 0; /* spragAssemble will report it */
    }
}

spragStatus spragIslandBlocksMake(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island)
{
    Contacts contacts = {world, surfaces, island, SPRAG_TAKE_RAW(&island->lane->arena, int, island->joint_count)};
    if (!takeBlocks(world, island) || contacts.first == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the rows of %d joints", island->joint_count);
    spragStatus status = SPRAG_OK;
    spragRangesRun(island->joint_count, countBlocks, &contacts);
    for (int i = 0; i < island->joint_count && island->declined == NULL && status == SPRAG_OK; ++i) {
        const int j = island->joint[i];
        weigh(&world->snapshot, &world->snapshot.joint[j]);
        if (contacts.first[i] != NO_CONTACT)
            status = addContact(world, j, &contacts.first[i], island);
        else if (world->snapshot.joint[j].guide != NULL)
            addGuide(world, j, island);
        else
            status = addJoint(world, j, island);
    }
    if (island->declined == NULL && status == SPRAG_OK)
        spragRangesRun(island->joint_count, fillContacts, &contacts);
    return status;
}
