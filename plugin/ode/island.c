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

/* ODE's islands; 1: some body is kinematic, which couples what it touches in them, and not in Sprag's. */
static int wakeComponents(spragSnapshot *s, int *parent)
{
    int kinematic = 0;
    for (int i = 0; i < s->body_count; ++i)
        parent[i] = i;
    for (int j = 0; j < s->joint_count; ++j)
        if (s->joint[j].enabled && s->joint[j].body[1] >= 0)
            spragSetJoin(parent, s->joint[j].body[0], s->joint[j].body[1]);
    for (int i = 0; i < s->body_count; ++i) {
        s->body[i].component = spragSetFind(parent, i);
        kinematic |= s->body[i].kinematic;
        if (s->body[i].enabled)
            s->body[s->body[i].component].awake = 1;
    }
    for (int i = 0; i < s->body_count; ++i)
        s->body[i].awake = s->body[s->body[i].component].awake;
    return kinematic;
}

/* A dynamic body of the joint: where its island is to be found. */
static int dynamicBody(const spragSnapshot *s, const spragJointState *joint)
{
    return s->body[joint->body[0]].kinematic ? joint->body[1] : joint->body[0];
}

static int isActive(const spragSnapshot *s, const spragJointState *joint)
{
    return joint->enabled && s->body[joint->body[0]].awake;
}

/* Sets of dynamic bodies, as joints of the awake couple them. */
static void joinDynamic(const spragSnapshot *s, int *parent)
{
    for (int i = 0; i < s->body_count; ++i)
        parent[i] = i;
    for (int j = 0; j < s->joint_count; ++j) {
        const spragJointState *joint = &s->joint[j];
        if (isActive(s, joint) && joint->body[1] >= 0 && !s->body[joint->body[0]].kinematic &&
            !s->body[joint->body[1]].kinematic)
            spragSetJoin(parent, joint->body[0], joint->body[1]);
    }
}

/* Roots of the sets that have a contact, a guide or joint friction become islands, in order of their first body. */
static void numberIslands(spragSnapshot *s, int *parent)
{
    for (int j = 0; j < s->joint_count; ++j)
        if ((spragIsContact(&s->joint[j]) || s->joint[j].bearing != NULL) && isActive(s, &s->joint[j]))
            s->body[spragSetFind(parent, dynamicBody(s, &s->joint[j]))].island = 0;
    for (int i = 0; i < s->body_count; ++i) {
        const int root = spragSetFind(parent, i);
        if (root == i && s->body[i].island == 0)
            s->body[i].island = s->island_count++;
        else
            s->body[i].island = s->body[root].island;
    }
}

static void countMembers(spragSnapshot *s)
{
    for (int k = 0; k < s->island_count; ++k)
        memset(&s->island[k], 0, offsetof(spragIsland, locked));
    for (int i = 0; i < s->body_count; ++i)
        if (s->body[i].island >= 0)
            ++s->island[s->body[i].island].body_count;
    for (int j = 0; j < s->joint_count; ++j) {
        spragJointState *joint = &s->joint[j];
        if (!isActive(s, joint))
            continue;
        joint->island = s->body[dynamicBody(s, joint)].island;
        if (joint->island >= 0) {
            ++s->island[joint->island].joint_count;
            s->island[joint->island].contact_count += spragIsContact(joint);
        }
    }
}

static void listMembers(spragSnapshot *s, int *list)
{
    for (int k = 0; k < s->island_count; ++k) {
        spragIsland *island = &s->island[k];
        island->body = list;
        island->joint = list + island->body_count;
        list = island->joint + island->joint_count;
        island->body_count = island->joint_count = 0;
    }
    for (int i = 0; i < s->body_count; ++i)
        if (s->body[i].island >= 0) {
            spragIsland *island = &s->island[s->body[i].island];
            s->body[i].place = island->body_count;
            island->body[island->body_count++] = i;
        }
    for (int j = 0; j < s->joint_count; ++j)
        if (s->joint[j].island >= 0) {
            spragIsland *island = &s->island[s->joint[j].island];
            island->joint[island->joint_count++] = j;
        }
}

spragStatus spragIslandsFind(spragArena *arena, spragSnapshot *s)
{
    int *parent = SPRAG_TAKE(arena, int, s->body_count);
    if (parent == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the islands of %d bodies", s->body_count);
    if (wakeComponents(s, parent))
        joinDynamic(s, parent);
    numberIslands(s, parent);
    s->island = SPRAG_TAKE_RAW(arena, spragIsland, s->island_count);
    int *list = SPRAG_TAKE_RAW(arena, int, s->body_count + s->joint_count);
    if (s->island == NULL || list == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for %d islands", s->island_count);
    countMembers(s);
    listMembers(s, list);
    return SPRAG_OK;
}
