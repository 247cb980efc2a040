#include "ode/joints/mechanism.h"

#include <string.h>

#include "base/pool.h"
#include "base/sets.h"
#include "linalg/dissection.h"
#include "ode/joints/articulation.h"

/* ---------------------------------------------------------------- sets of bodies */

/* A dynamic body of the row: all of them are in one mechanism. */
static spragBodyState *dynamicBody(spragSnapshot *s, const spragEqualityRow *row)
{
    return spragIsDynamic(s, row->body[0]) ? &s->body[row->body[0]] : &s->body[row->body[1]];
}

/* Is it the first row of its joint? */
static int beginsJoint(const spragIsland *island, int e)
{
    return e == 0 || island->row[e - 1].joint != island->row[e].joint;
}

/* Sets of bodies joined by rows; each with a row becomes a mechanism, and every set a group of W's pattern. */
static int findSets(spragSnapshot *s, spragIsland *island)
{
    int *parent = SPRAG_TAKE_RAW(&island->lane->arena, int, island->body_count);
    if (parent == NULL)
        return 0;
    for (int i = 0; i < island->body_count; ++i)
        parent[i] = i;
    for (int e = 0; e < island->row_count; ++e) {
        const int *body = island->row[e].body;
        if (beginsJoint(island, e) && spragIsDynamic(s, body[0]) && spragIsDynamic(s, body[1]))
            spragSetJoin(parent, s->body[body[0]].place, s->body[body[1]].place);
    }
    for (int i = 0; i < island->body_count; ++i)
        s->body[island->body[i]].place = spragSetFind(parent, i);
    for (int e = 0; e < island->row_count; ++e) {
        spragBodyState *root = &s->body[island->body[dynamicBody(s, &island->row[e])->place]];
        if (root->articulation < 0)
            root->articulation = island->articulation_count++;
    }
    for (int i = 0; i < island->body_count; ++i) {
        spragBodyState *body = &s->body[island->body[i]];
        body->articulation = s->body[island->body[body->place]].articulation;
    }
    return 1;
}

/* Which mechanisms a block touches: one per side, once if both sides are of the same. */
static void touchMechanisms(const spragSnapshot *s, spragBlock *block)
{
    for (int side = 0; side < 2; ++side)
        block->articulation[side] = spragIsDynamic(s, block->body[side]) ? s->body[block->body[side]].articulation : -1;
    if (block->articulation[0] == block->articulation[1])
        block->articulation[1] = -1;
}

typedef struct Touching {
    const spragSnapshot *snapshot;
    spragIsland *island;
} Touching;

static void touchRange(void *data, int range, int first, int end)
{
    (void)range;
    const Touching *touching = data;
    for (int k = first; k < end; ++k)
        touchMechanisms(touching->snapshot, &touching->island->block[k]);
}

/* ---------------------------------------------------------------- what is in a mechanism */

static struct spragArticulation *mechanismOf(spragSnapshot *s, const spragIsland *island, int e)
{
    return &island->articulation[dynamicBody(s, &island->row[e])->articulation];
}

static int takeLists(spragSnapshot *s, spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    for (int e = 0; e < island->row_count; ++e) {
        struct spragArticulation *art = mechanismOf(s, island, e);
        ++art->row_count;
        art->joint_count += beginsJoint(island, e);
    }
    for (int k = 0; k < island->block_count; ++k)
        for (int side = 0; side < 2; ++side)
            if (island->block[k].articulation[side] >= 0)
                ++island->articulation[island->block[k].articulation[side]].block_count;
    for (int a = 0; a < island->articulation_count; ++a) {
        struct spragArticulation *art = &island->articulation[a];
        const int n = art->joint_count;
        art->row = SPRAG_TAKE_RAW(arena, int, art->row_count + 3 * n + 1 + art->block_count);
        art->panel = SPRAG_TAKE_RAW(arena, spragJointPanel, n);
        art->y = SPRAG_TAKE(arena, spragQuad, SPRAG_JOINED_ROWS * n);
        art->reach = SPRAG_TAKE_RAW(arena, spragReach, art->block_count);
        if (art->row == NULL || art->panel == NULL || art->y == NULL || art->reach == NULL)
            return 0;
        art->first = art->row + art->row_count;
        art->group = (int(*)[2])(art->first + n + 1);
        art->block = art->first + n + 1 + 2 * n;
        art->row_count = art->joint_count = art->block_count = 0;
    }
    return 1;
}

static int groupOf(const spragSnapshot *s, int body)
{
    return spragIsDynamic(s, body) ? s->body[body].group : -1;
}

static void fillLists(spragSnapshot *s, spragIsland *island)
{
    for (int i = 0; i < island->body_count; ++i) {
        spragBodyState *body = &s->body[island->body[i]];
        if (body->articulation >= 0)
            body->group = island->articulation[body->articulation].body_count++;
    }
    for (int e = 0; e < island->row_count; ++e) {
        struct spragArticulation *art = mechanismOf(s, island, e);
        if (beginsJoint(island, e)) {
            for (int side = 0; side < 2; ++side)
                art->group[art->joint_count][side] = groupOf(s, island->row[e].body[side]);
            art->first[art->joint_count++] = art->row_count;
        }
        art->row[art->row_count++] = e;
        art->first[art->joint_count] = art->row_count;
    }
    for (int k = 0; k < island->block_count; ++k)
        for (int side = 0; side < 2; ++side)
            if (island->block[k].articulation[side] >= 0) {
                struct spragArticulation *art = &island->articulation[island->block[k].articulation[side]];
                island->block[k].slot[side] = art->block_count;
                art->block[art->block_count++] = k;
            }
}

int spragMechanismsFind(spragSnapshot *s, spragIsland *island)
{
    if (island->row_count > 0 && !findSets(s, island))
        return 0;
    spragRangesRun(island->block_count, touchRange, &(Touching){s, island});
    if (island->row_count == 0)
        return 1;
    island->articulation = SPRAG_TAKE(&island->lane->arena, struct spragArticulation, island->articulation_count);
    if (island->articulation == NULL || !takeLists(s, island))
        return 0;
    fillLists(s, island);
    return 1;
}

/* ---------------------------------------------------------------- the order of joints */

/* Joints in the order given; copy: room for row_count + 3 joint_count + 1 numbers. */
static void permuteJoints(struct spragArticulation *art, const int *order, int *copy)
{
    const int n = art->joint_count, *first = copy + art->row_count;
    const int(*group)[2] = (const int(*)[2])(first + n + 1);
    memcpy(copy, art->row, (size_t)(art->row_count + 3 * n + 1) * sizeof *copy);
    int rows = 0;
    for (int i = 0; i < n; ++i) {
        const int j = order[i];
        art->first[i] = rows;
        for (int e = first[j]; e < first[j + 1]; ++e)
            art->row[rows++] = copy[e];
        memcpy(art->group[i], group[j], sizeof group[j]);
    }
}

enum { PER_BLOCK = 10 }; /* of L: its cost, in the unit of costOf */

/* What a factorisation and its products with the blocks cost, in products of a joint's rows with two blocks: those that
 * reach joint i couple there, each with each.  count (joint_count): room. */
static double costOf(const spragSnapshot *s, const spragIsland *island, const struct spragArticulation *art,
                     const spragBlockLdlt *f, int *count)
{
    double cost = PER_BLOCK * (double)f->start[f->n];
    memset(count, 0, (size_t)f->n * sizeof *count);
    for (int slot = 0; slot < art->block_count; ++slot)
        for (int side = 0; side < 2; ++side) {
            const int body = island->block[art->block[slot]].body[side], group = groupOf(s, body);
            if (group >= 0 && &island->articulation[s->body[body].articulation] == art && f->first[group] < f->n)
                ++count[f->first[group]];
        }
    for (int i = 0; i < f->n; ++i) {
        cost += 0.5 * count[i] * (double)count[i];
        if (f->parent[i] < f->n)
            count[f->parent[i]] += count[i];
    }
    return cost;
}

int spragMechanismOrder(const spragSnapshot *s, spragIsland *island, struct spragArticulation *art)
{
    spragArena *arena = &island->lane->arena;
    const int n = art->joint_count;
    int *order = SPRAG_TAKE_RAW(arena, int, 4 * n), *back = order + n, *found = order + 2 * n, *count = order + 3 * n;
    int *copy = SPRAG_TAKE_RAW(arena, int, art->row_count + 3 * n + 1);
    const int(*group)[2] = (const int(*)[2])art->group;
    spragBlockLdlt *f = &art->factor, other;
    if (order == NULL || copy == NULL || !spragBlockLdltAnalyse(f, arena, n, group, art->body_count))
        return 0;
    for (int i = 0; i < n; ++i)
        back[i] = n - 1 - i;
    double least = costOf(s, island, art, f, count);
    const double root = PER_BLOCK * (n - 1) + 0.5 * art->block_count * (double)art->block_count; /* no order has less */
    const int ways = 0.5 * least > root ? 2 : 1;
    if (ways == 2 && !spragDissect(n, group, art->body_count, found, arena))
        return 0;
    for (int way = 0; way < ways; ++way) {
        const int *const to = way == 0 ? back : found;
        permuteJoints(art, to, copy);
        if (!spragBlockLdltAnalyse(&other, arena, n, group, art->body_count))
            return 0;
        const double cost = costOf(s, island, art, &other, count);
        if (way == 0 ? other.start[n] < f->start[n] : cost < 0.5 * least) {
            *f = other;
            least = cost;
            for (int i = 0; i < n && way + 1 < ways; ++i)
                found[i] = n - 1 - found[i]; /* it counts joints as they now are */
            continue;
        }
        for (int i = 0; i < n; ++i)
            order[to[i]] = i;
        permuteJoints(art, order, copy);
    }
    if (!spragBlockLdltTake(f, arena))
        return 0;
    for (int i = 0; i < n; ++i)
        f->size[i] = art->first[i + 1] - art->first[i];
    return 1;
}
