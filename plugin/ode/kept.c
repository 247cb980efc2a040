#include "ode/kept.h"

#include <limits.h>
#include <string.h>

#include "base/status.h"
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

static void noteMechanisms(spragKept *kept)
{
    const spragIsland *before = kept->before;
    for (int a = 0; a < before->articulation_count; ++a)
        for (int i = 0; i < before->articulation[a].row_count; ++i)
            kept->mechanism[before->articulation[a].row[i]] = a;
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
    noteMechanisms(kept);
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

/* Room for so many rows and blocks now.  0: no memory. */
static int takeLists(spragIsland *island, int rows, int blocks)
{
    spragKept *kept = island->kept;
    const int old = kept->before->row_count;
    int *memory = SPRAG_TAKE_RAW(&island->lane->arena, int, blocks + rows + 2 * old);
    if (memory == NULL)
        return 0;
    kept->block = memory;
    kept->row = kept->block + blocks;
    kept->now = kept->row + rows;
    kept->mechanism = kept->now + old;
    return 1;
}

int spragKeptFind(spragIsland *island)
{
    if (island->kept == NULL)
        return 1;
    if (!takeLists(island, island->row_count, island->block_count))
        return 0;
    findRows(island, island->kept);
    findBlocks(island, island->kept);
    return 1;
}

/* ---------------------------------------------------------------- copies */

/* Islands of up to SPRAG_BLOCKS_FEW blocks have other compliances, and the damping of a surge goes by mechanisms. */
int spragKeptCopies(const spragIsland *before)
{
    return !before->tried && before->block_count > SPRAG_BLOCKS_FEW && !before->surged;
}

/* Copies what the joints before `joint` have, from *row and *block on, which go on behind it. */
static void copyUpTo(spragIsland *island, int joint, int *row, int *block)
{
    spragKept *kept = island->kept;
    const spragIsland *before = kept->before;
    for (; *row < before->row_count && before->row[*row].joint < joint; ++*row) {
        kept->row[island->row_count] = *row;
        kept->now[*row] = island->row_count;
        island->row[island->row_count++] = before->row[*row];
    }
    for (; *block < before->block_count && before->block[*block].joint < joint; ++*block) {
        spragBlock *copy = &island->block[island->block_count];
        *copy = before->block[*block];
        copy->parent += copy->parent >= 0 ? island->block_count - *block : 0; /* it is of the same joint */
        kept->block[island->block_count++] = *block;
    }
}

/* Asks a joint anew. */
static spragStatus remake(struct spragWorld *world, spragIsland *island, int joint, int *row, int *block)
{
    spragKept *kept = island->kept;
    const spragIsland *before = kept->before;
    const int rows = island->row_count, blocks = island->block_count;
    const spragStatus status = spragJointBlocks(world, joint, island);
    for (int e = rows; e < island->row_count; ++e)
        kept->row[e] = -1;
    for (int k = blocks; k < island->block_count; ++k)
        kept->block[k] = -1;
    for (; *row < before->row_count && before->row[*row].joint == joint; ++*row)
        kept->now[*row] = -1;
    while (*block < before->block_count && before->block[*block].joint == joint)
        ++*block;
    return status;
}

spragStatus spragKeptCopy(struct spragWorld *world, spragIsland *island)
{
    const spragIsland *before = island->kept->before;
    int broken = 0, row = 0, block = 0;
    for (int e = 0; e < before->row_count; ++e)
        broken += before->row[e].broken;
    const int rows = before->row_count, blocks = before->block_count + SPRAG_JOINT_BLOCK_MAX * broken;
    island->on_start = island->on = NULL;
    island->row = SPRAG_TAKE_RAW(&island->lane->arena, spragEqualityRow, rows);
    island->block = SPRAG_TAKE_RAW(&island->lane->arena, spragBlock, blocks);
    if (island->row == NULL || island->block == NULL || !takeLists(island, rows, blocks))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the rows of an island of %d blocks", blocks);
    for (int e = 0; e < before->row_count; ++e) {
        const int joint = before->row[e].joint;
        if (!before->row[e].broken || e < row)
            continue;
        copyUpTo(island, joint, &row, &block);
        const spragStatus status = remake(world, island, joint, &row, &block);
        if (status != SPRAG_OK || island->declined != NULL)
            return status;
    }
    copyUpTo(island, INT_MAX, &row, &block);
    noteMechanisms(island->kept);
    return SPRAG_OK;
}

int spragKeptCoupling(const spragIsland *island, int k, int l)
{
    const int *p = island->block[k].articulation, *q = island->block[l].articulation;
    for (int side = 0; side < 2; ++side)
        if (p[side] >= 0 && (p[side] == q[0] || p[side] == q[1]) && !island->articulation[p[side]].kept)
            return 0;
    return 1;
}
