#include "ode/kept.h"

#include <string.h>

#include "ode/articulation.h"

static int isSameRow(const spragEqualityRow *a, const spragEqualityRow *b)
{
    return a->joint == b->joint && a->number == b->number && a->rhs == b->rhs && a->compliance == b->compliance &&
           memcmp(a->body, b->body, sizeof a->body) == 0 && memcmp(a->J, b->J, sizeof a->J) == 0;
}

static int isSameBlock(const spragBlock *a, const spragBlock *b)
{
    return a->joint == b->joint && a->part == b->part && memcmp(a->body, b->body, sizeof a->body) == 0 &&
           memcmp(a->unused, b->unused, sizeof a->unused) == 0 && memcmp(a->J, b->J, sizeof a->J) == 0;
}

/* Finds each row in the island as it was.  Both lists are sorted by joints. */
static void findRows(const spragIsland *island, spragKept *kept)
{
    const spragIsland *before = kept->before;
    memset(kept->now, -1, (size_t)before->row_count * sizeof *kept->now);
    for (int e = 0, o = 0; e < island->row_count; ++e) {
        const spragEqualityRow *row = &island->row[e];
        while (o < before->row_count && before->row[o].joint < row->joint)
            ++o;
        const int same = o < before->row_count && isSameRow(row, &before->row[o]);
        kept->row[e] = same ? o : -1;
        if (same)
            kept->now[o++] = e;
    }
    for (int a = 0; a < before->articulation_count; ++a)
        for (int i = 0; i < before->articulation[a].row_count; ++i)
            kept->mechanism[before->articulation[a].row[i]] = a;
}

static void findBlocks(const spragIsland *island, spragKept *kept)
{
    const spragIsland *before = kept->before;
    for (int k = 0, o = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        while (o < before->block_count && before->block[o].joint < block->joint)
            ++o;
        const int same = o < before->block_count && isSameBlock(block, &before->block[o]);
        kept->block[k] = same ? o++ : -1;
    }
}

int spragKeptFind(spragIsland *island)
{
    spragKept *kept = island->kept;
    if (kept == NULL)
        return 1;
    const int blocks = island->block_count, rows = island->row_count, old = kept->before->row_count;
    kept->block = SPRAG_TAKE_RAW(&island->lane->arena, int, blocks + rows + 2 * old);
    if (kept->block == NULL)
        return 0;
    kept->row = kept->block + blocks;
    kept->now = kept->row + rows;
    kept->mechanism = kept->now + old;
    findRows(island, kept);
    findBlocks(island, kept);
    return 1;
}

int spragKeptCoupling(const spragIsland *island, int k, int l)
{
    const int *p = island->block[k].articulation, *q = island->block[l].articulation;
    for (int side = 0; side < 2; ++side)
        if (p[side] >= 0 && (p[side] == q[0] || p[side] == q[1]) && !island->articulation[p[side]].kept)
            return 0;
    return 1;
}
