#include "ode/island.h"

#include <stddef.h>
#include <string.h>

#include "base/status.h"

int spragSetFind(int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

void spragSetJoin(int *parent, int i, int j)
{
    i = spragSetFind(parent, i);
    j = spragSetFind(parent, j);
    if (i < j)
        parent[j] = i;
    else
        parent[i] = j;
}

/* What is asked of bodies again and again, side by side: their states are far apart. */
typedef struct Sets {
    spragSnapshot *snapshot;
    int *parent, *island;             /* (body_count) */
    unsigned char *kinematic, *awake; /* (body_count) */
} Sets;

/* ODE's islands; 1: some body is kinematic, which couples what it touches in them, and not in Sprag's. */
static int wakeComponents(Sets *sets)
{
    spragSnapshot *s = sets->snapshot;
    int *parent = sets->parent, kinematic = 0;
    for (int i = 0; i < s->body_count; ++i)
        parent[i] = i;
    for (int j = 0; j < s->joint_count; ++j)
        if (s->joint[j].enabled && s->joint[j].body[1] >= 0)
            spragSetJoin(parent, s->joint[j].body[0], s->joint[j].body[1]);
    for (int i = 0; i < s->body_count; ++i) {
        spragBodyState *body = &s->body[i];
        body->component = spragSetFind(parent, i);
        kinematic |= body->kinematic;
        sets->kinematic[i] = (unsigned char)body->kinematic;
        if (body->enabled)
            sets->awake[body->component] = 1;
    }
    for (int i = 0; i < s->body_count; ++i) /* a component begins with its root */
        sets->awake[i] = sets->awake[spragSetFind(parent, i)];
    return kinematic;
}

/* A dynamic body of the joint: where its island is to be found. */
static int dynamicBody(const Sets *sets, const spragJointState *joint)
{
    return sets->kinematic[joint->body[0]] ? joint->body[1] : joint->body[0];
}

static int isActive(const Sets *sets, const spragJointState *joint)
{
    return joint->enabled && sets->awake[joint->body[0]];
}

/* Sets of dynamic bodies, as joints of the awake couple them. */
static void joinDynamic(Sets *sets)
{
    const spragSnapshot *s = sets->snapshot;
    for (int i = 0; i < s->body_count; ++i)
        sets->parent[i] = i;
    for (int j = 0; j < s->joint_count; ++j) {
        const spragJointState *joint = &s->joint[j];
        if (isActive(sets, joint) && joint->body[1] >= 0 && !sets->kinematic[joint->body[0]] &&
            !sets->kinematic[joint->body[1]])
            spragSetJoin(sets->parent, joint->body[0], joint->body[1]);
    }
}

/* Roots of the sets that have a contact, a guide or joint friction become islands, in order of their first body. */
static void numberIslands(Sets *sets)
{
    spragSnapshot *s = sets->snapshot;
    int *island = sets->island;
    for (int i = 0; i < s->body_count; ++i)
        island[i] = -1;
    for (int j = 0; j < s->joint_count; ++j)
        if ((spragIsContact(&s->joint[j]) || s->joint[j].bearing != NULL) && isActive(sets, &s->joint[j]))
            island[spragSetFind(sets->parent, dynamicBody(sets, &s->joint[j]))] = 0;
    for (int i = 0; i < s->body_count; ++i) {
        const int root = spragSetFind(sets->parent, i);
        if (root == i && island[i] == 0)
            island[i] = s->island_count++;
        else
            island[i] = island[root];
    }
}

static void countMembers(const Sets *sets)
{
    spragSnapshot *s = sets->snapshot;
    for (int k = 0; k < s->island_count; ++k)
        memset(&s->island[k], 0, offsetof(spragIsland, locked));
    for (int i = 0; i < s->body_count; ++i)
        if (sets->island[i] >= 0)
            ++s->island[sets->island[i]].body_count;
    for (int j = 0; j < s->joint_count; ++j) {
        spragJointState *joint = &s->joint[j];
        if (!isActive(sets, joint))
            continue;
        joint->island = sets->island[dynamicBody(sets, joint)];
        if (joint->island >= 0) {
            ++s->island[joint->island].joint_count;
            s->island[joint->island].contact_count += spragIsContact(joint);
        }
    }
}

static void listMembers(const Sets *sets, int *list)
{
    spragSnapshot *s = sets->snapshot;
    for (int k = 0; k < s->island_count; ++k) {
        spragIsland *island = &s->island[k];
        island->body = list;
        island->joint = list + island->body_count;
        list = island->joint + island->joint_count;
        island->body_count = island->joint_count = 0;
    }
    for (int i = 0; i < s->body_count; ++i) {
        spragBodyState *body = &s->body[i];
        body->awake = sets->awake[i];
        body->island = sets->island[i];
        if (body->island >= 0) {
            spragIsland *island = &s->island[body->island];
            body->place = island->body_count;
            island->body[island->body_count++] = i;
        }
    }
    for (int j = 0; j < s->joint_count; ++j)
        if (s->joint[j].island >= 0) {
            spragIsland *island = &s->island[s->joint[j].island];
            island->joint[island->joint_count++] = j;
        }
}

spragStatus spragIslandsFind(spragArena *arena, spragSnapshot *s)
{
    Sets sets = {.snapshot = s,
                 .parent = SPRAG_TAKE_RAW(arena, int, s->body_count),
                 .island = SPRAG_TAKE_RAW(arena, int, s->body_count),
                 .kinematic = SPRAG_TAKE_RAW(arena, unsigned char, s->body_count),
                 .awake = SPRAG_TAKE(arena, unsigned char, s->body_count)};
    if (sets.parent == NULL || sets.island == NULL || sets.kinematic == NULL || sets.awake == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the islands of %d bodies", s->body_count);
    if (wakeComponents(&sets))
        joinDynamic(&sets);
    numberIslands(&sets);
    s->island = SPRAG_TAKE_RAW(arena, spragIsland, s->island_count);
    int *list = SPRAG_TAKE_RAW(arena, int, s->body_count + s->joint_count);
    if (s->island == NULL || list == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for %d islands", s->island_count);
    countMembers(&sets);
    listMembers(&sets, list);
    return SPRAG_OK;
}
