#include "ode/look/island.h"

#include <stddef.h>
#include <string.h>

#include "base/sets.h"
#include "base/status.h"
#include "ode/look/stray.h"

/* A joint that is enabled. */
typedef struct Link {
    int joint, body[2];
    int island; /* or -1 */
} Link;

enum {
    CONTACT = 1, /* it counts as a contact */
    FOUNDS = 2   /* what it couples is an island of Sprag's: a contact, a guide, friction of a joint */
};

/* What is asked of bodies and joints again and again, side by side: their states are far apart. */
typedef struct Sets {
    spragSnapshot *snapshot;
    int *parent, *island;             /* (body_count) */
    unsigned char *kinematic, *awake; /* (body_count) */
    Link *link;                       /* (link_count) */
    unsigned char *kind;              /* (link_count) bits: CONTACT, FOUNDS */
    int link_count;
} Sets;

static void listLinks(Sets *sets)
{
    const spragSnapshot *s = sets->snapshot;
    for (int j = 0; j < s->joint_count; ++j) {
        const spragJointState *joint = &s->joint[j];
        if (!joint->enabled || joint->stray)
            continue;
        const int contact = spragIsContact(joint);
        sets->kind[sets->link_count] = contact ? CONTACT | FOUNDS : joint->bearing != NULL ? FOUNDS : 0;
        sets->link[sets->link_count++] = (Link){.joint = j, .body = {joint->body[0], joint->body[1]}, .island = -1};
    }
}

/* ODE's islands; 1: some body is kinematic, which couples what it touches in them, and not in Sprag's. */
static int wakeComponents(Sets *sets)
{
    spragSnapshot *s = sets->snapshot;
    int *parent = sets->parent, kinematic = 0;
    for (int i = 0; i < s->body_count; ++i)
        parent[i] = i;
    for (int l = 0; l < sets->link_count; ++l)
        if (sets->link[l].body[1] >= 0)
            spragSetJoin(parent, sets->link[l].body[0], sets->link[l].body[1]);
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
static int dynamicBody(const Sets *sets, const Link *link)
{
    return sets->kinematic[link->body[0]] ? link->body[1] : link->body[0];
}

static int isActive(const Sets *sets, const Link *link)
{
    return sets->awake[link->body[0]];
}

/* Sets of dynamic bodies, as joints of the awake couple them. */
static void joinDynamic(Sets *sets)
{
    for (int i = 0; i < sets->snapshot->body_count; ++i)
        sets->parent[i] = i;
    for (int l = 0; l < sets->link_count; ++l) {
        const Link *link = &sets->link[l];
        if (isActive(sets, link) && link->body[1] >= 0 && !sets->kinematic[link->body[0]] &&
            !sets->kinematic[link->body[1]])
            spragSetJoin(sets->parent, link->body[0], link->body[1]);
    }
}

/* Roots of the sets that have a contact, a guide or joint friction become islands, in order of their first body. */
static void numberIslands(Sets *sets)
{
    spragSnapshot *s = sets->snapshot;
    int *island = sets->island;
    for (int i = 0; i < s->body_count; ++i)
        island[i] = -1;
    for (int l = 0; l < sets->link_count; ++l)
        if ((sets->kind[l] & FOUNDS) && isActive(sets, &sets->link[l]))
            island[spragSetFind(sets->parent, dynamicBody(sets, &sets->link[l]))] = 0;
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
        memset(&s->island[k], 0, offsetof(spragIsland, pile));
    for (int i = 0; i < s->body_count; ++i)
        if (sets->island[i] >= 0)
            ++s->island[sets->island[i]].body_count;
    for (int l = 0; l < sets->link_count; ++l) {
        Link *link = &sets->link[l];
        if (isActive(sets, link)) {
            ++s->active_count;
            link->island = sets->island[dynamicBody(sets, link)];
        }
        if (link->island >= 0) {
            ++s->island[link->island].joint_count;
            s->island[link->island].contact_count += sets->kind[l] & CONTACT;
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
            body->number = body->place = island->body_count;
            island->body[island->body_count++] = i;
        }
    }
    for (int l = 0; l < sets->link_count; ++l) {
        const Link *link = &sets->link[l];
        if (link->island < 0)
            continue;
        spragIsland *island = &s->island[link->island];
        s->joint[link->joint].island = link->island;
        island->joint[island->joint_count++] = link->joint;
    }
}

spragStatus spragIslandsFind(spragArena *arena, spragSnapshot *s)
{
    Sets sets = {.snapshot = s,
                 .parent = SPRAG_TAKE_RAW(arena, int, s->body_count),
                 .island = SPRAG_TAKE_RAW(arena, int, s->body_count),
                 .kinematic = SPRAG_TAKE_RAW(arena, unsigned char, s->body_count),
                 .awake = SPRAG_TAKE(arena, unsigned char, s->body_count),
                 .link = SPRAG_TAKE_RAW(arena, Link, s->joint_count),
                 .kind = SPRAG_TAKE_RAW(arena, unsigned char, s->joint_count)};
    if (sets.parent == NULL || sets.island == NULL || sets.kinematic == NULL || sets.awake == NULL ||
        sets.link == NULL || sets.kind == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the islands of %d bodies", s->body_count);
    listLinks(&sets);
    if (wakeComponents(&sets))
        joinDynamic(&sets);
    numberIslands(&sets);
    s->island = SPRAG_TAKE_RAW(arena, spragIsland, s->island_count);
    int *list = SPRAG_TAKE_RAW(arena, int, s->body_count + s->joint_count);
    if (s->island == NULL || list == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for %d islands", s->island_count);
    countMembers(&sets);
    listMembers(&sets, list);
    spragStraysPlace(s);
    return SPRAG_OK;
}
