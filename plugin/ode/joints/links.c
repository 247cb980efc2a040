#include "ode/joints/links.h"

#include <string.h>

#include "ode/joints/articulation.h"

typedef struct Making {
    const spragSnapshot *snapshot;
    const spragIsland *island;
    int *of;
    double *E, *diagonal;
} Making;

/* Adds joint i of a mechanism as joint j of the island.  (The rows of a joint lie side by side.)  Redundant rows carry
 * no impulse, and are left out. */
static void addJoint(const Making *making, const struct spragArticulation *art, int i, int j)
{
    const spragEqualityRow *row = &making->island->row[art->row[art->first[i]]];
    const double *inverse_pivot = art->factor.inverse_pivot + SPRAG_JOINED_ROWS * i;
    double *E = making->E + 72 * (size_t)j, *diagonal = making->diagonal + 6 * (size_t)j;
    int *of = making->of + 2 * (size_t)j;
    for (int side = 0; side < 2; ++side)
        of[side] = art->group[i][side] < 0 ? -1 : making->snapshot->body[row->body[side]].number;
    for (int c = 0; c < SPRAG_JOINED_ROWS; ++c, E += 6) {
        const int held = c < art->factor.size[i] && inverse_pivot[c] != 0;
        diagonal[c] = held ? -row[c].compliance : 1;
        for (int side = 0; side < 2; ++side)
            if (held && of[side] >= 0)
                memcpy(E + 36 * side, row[c].J[side], sizeof row[c].J[side]);
            else
                memset(E + 36 * side, 0, sizeof row->J[side]);
    }
}

int spragLinksMake(const spragSnapshot *snapshot, spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    int count = 0;
    for (int a = 0; a < island->articulation_count; ++a)
        count += island->articulation[a].joint_count;
    const Making making = {.snapshot = snapshot,
                           .island = island,
                           .of = SPRAG_TAKE_RAW(arena, int, 2 * (size_t)count),
                           .E = SPRAG_TAKE_RAW(arena, double, 72 * (size_t)count),
                           .diagonal = SPRAG_TAKE_RAW(arena, double, 6 * (size_t)count)};
    if (making.of == NULL || making.E == NULL || making.diagonal == NULL)
        return 0;
    for (int a = 0, j = 0; a < island->articulation_count; ++a) {
        const struct spragArticulation *art = &island->articulation[a];
        for (int i = 0; i < art->joint_count; ++i, ++j)
            addJoint(&making, art, i, j);
    }
    island->links = (spragLinks){.count = count, .of = making.of, .E = making.E, .diagonal = making.diagonal};
    return 1;
}

double spragReachesPrice(const spragIsland *island)
{
    enum { PER_BLOCK = 12, PER_JOINT = 3 }; /* products of 3x3 blocks, there and back */
    double price = PER_BLOCK * (double)island->block_count;
    for (int a = 0; a < island->articulation_count; ++a)
        for (int slot = 0; slot < island->articulation[a].block_count; ++slot)
            price += PER_JOINT * (double)island->articulation[a].reach[slot].count;
    return price;
}

int spragReachesMake(spragIsland *island, const unsigned char *locked, const double *free)
{
    spragArena *arena = &island->lane->arena;
    const size_t n = (size_t)island->block_count, bodies = (size_t)island->body_count;
    size_t joints = 0;
    for (int a = 0; a < island->articulation_count; ++a)
        joints += (size_t)island->articulation[a].joint_count;
    int *size = SPRAG_TAKE_RAW(arena, int, joints);
    spragReachOf *of = SPRAG_TAKE(arena, spragReachOf, 2 * n);
    double *inverse = SPRAG_TAKE(arena, double, SPRAG_REACH_ROWS *joints);
    double *room = SPRAG_TAKE_RAW(arena, double, SPRAG_REACH_ROWS *joints + 6 * bodies + 3 * n);
    if (locked == NULL) /* no joint holds anything */
        locked = SPRAG_TAKE(arena, unsigned char, n), free = SPRAG_TAKE(arena, double, n);
    if (size == NULL || of == NULL || inverse == NULL || room == NULL || locked == NULL || free == NULL)
        return 0;
    for (int a = 0, first = 0; a < island->articulation_count; ++a) {
        const struct spragArticulation *art = &island->articulation[a];
        const spragBlockLdlt *factor = &art->factor;
        for (int i = 0; i < art->joint_count; ++i) {
            size[first + i] = factor->size[i];
            memcpy(inverse + SPRAG_REACH_ROWS * (size_t)(first + i), factor->inverse_pivot + SPRAG_JOINED_ROWS * i,
                   (size_t)factor->size[i] * sizeof *inverse);
        }
        for (int slot = 0; slot < art->block_count; ++slot) {
            const int k = art->block[slot], second = island->block[k].articulation[0] != a;
            const spragReach *reach = &art->reach[slot];
            of[2 * k + second] = (spragReachOf){reach->count, first, reach->joint, (const double *)reach->Z};
        }
        first += art->joint_count;
    }
    island->reaches = (spragReaches){.joints = (int)joints,
                                     .size = size,
                                     .inverse = inverse,
                                     .of = of,
                                     .locked = locked,
                                     .free = free,
                                     .price = spragReachesPrice(island),
                                     .v = room + SPRAG_REACH_ROWS * joints,
                                     .s = room,
                                     .u = room + SPRAG_REACH_ROWS * joints + 6 * bodies};
    return 1;
}
