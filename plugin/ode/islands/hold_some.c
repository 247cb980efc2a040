#include "ode/islands/hold_some.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/matrix/conflict.h"
#include "solve/contact/policy.h"

enum {
    BLOCKS_MOST = 24,
    ROUNDS = 4 /* in which what pulls is let go within a set */
};
#define SAME_NORMAL 1e-6 /* 1 - cos */
#define WORK_SETS 1e6    /* 3x3 products, of all sets of a solution together */

static int mayPart(const spragBlock *block)
{
    return block->parts && block->kind == SPRAG_BLOCK_BOX;
}

/* What is let go or held together, a bit of a set. */
typedef struct Units {
    int count;
    int of[BLOCKS_MOST];    /* of each block, or -1 */
    int first[BLOCKS_MOST]; /* its first block */
    unsigned held;          /* those that held in the last step */
} Units;

static int oneFace(const spragBlock *a, const spragBlock *b)
{
    return a->body[0] == b->body[0] && a->body[1] == b->body[1] && spragDot3(a->n, b->n) > 1 - SAME_NORMAL;
}

/* faces: 1: contacts of one face are one unit.  0: there are too many. */
static int findUnits(const spragIsland *island, int faces, Units *units)
{
    *units = (Units){0};
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        const spragContactHistory *past = &island->problem.history[k];
        units->of[k] = -1;
        if (!mayPart(block))
            continue;
        for (int i = 0; i < units->count && faces; ++i)
            if (oneFace(block, &island->block[units->first[i]]))
                units->of[k] = i;
        if (units->of[k] < 0) {
            if (units->count == SPRAG_HOLD_FEW)
                return 0;
            units->of[k] = units->count;
            units->first[units->count++] = k;
        }
        if (past->fresh || past->mode != SPRAG_MODE_OPEN)
            units->held |= 1u << units->of[k];
    }
    return units->count > 1;
}

static void setHold(spragIsland *island, int k, int holds)
{
    double *bound = island->bound + 6 * k;
    for (int row = 1; row < 3; ++row) {
        const double most = holds && !island->block[k].unused[row] ? INFINITY : 0;
        bound[row] = -most, bound[3 + row] = most;
    }
}

/* Of what holds lets go what pulls.  1: some does; -1: what is open presses. */
static int letGo(spragIsland *island)
{
    int changed = 0;
    for (int k = 0; k < island->block_count; ++k) {
        if (!mayPart(&island->block[k]))
            continue;
        const double *bound = island->bound + 6 * k, *r = island->r + 3 * k;
        const int holds = bound[4] > 0 || bound[5] > 0;
        if (!holds && r[0] > 0)
            return -1;
        if (!holds || r[0] > 0 || !(island->u[3 * k] > SPRAG_SLIP_TOLERANCE))
            continue;
        setHold(island, k, 0);
        changed = 1;
    }
    return changed;
}

/* 1: this set is an answer; -1: no memory. */
static int holds(const spragSolveOptions *options, spragIsland *island, const Units *units, unsigned set,
                 int *iterations)
{
    int again = 1;
    for (int k = 0; k < island->block_count; ++k)
        if (units->of[k] >= 0)
            setHold(island, k, (int)(set >> units->of[k] & 1u));
    memset(island->r, 0, 3 * (size_t)island->block_count * sizeof *island->r);
    for (int round = 0; round < ROUNDS && again > 0; ++round) {
        const spragStatus status = spragChainSolvePart(SPRAG_CHAIN_SOON, &island->problem, options,
                                                       &island->lane->arena, island->r, island->u, &island->solve);
        *iterations += island->solve.iterations;
        island->work.spent += island->solve.work;
        if (status == SPRAG_ERROR_MEMORY)
            return -1;
        if (status != SPRAG_OK || spragConflicts(island))
            return 0;
        again = letGo(island);
    }
    return again == 0;
}

static int bitsOf(unsigned set)
{
    int count = 0;
    for (; set != 0; set &= set - 1)
        ++count;
    return count;
}

/* Those that differ least from what held come first. */
static int tryAll(const spragSolveOptions *options, spragIsland *island, const Units *units, int *iterations)
{
    const double most = island->work.spent + WORK_SETS;
    spragSolveOptions own = *options;
    int found = 0;
    for (int changes = 0; changes <= units->count && found == 0; ++changes)
        for (unsigned change = 0; change < 1u << units->count && found == 0 && island->work.spent < most; ++change) {
            own.work_total = most - island->work.spent;
            if (bitsOf(change) == changes)
                found = holds(&own, island, units, units->held ^ change, iterations);
        }
    return found;
}

int spragHoldSome(const spragSolveOptions *options, spragIsland *island, int *iterations)
{
    const size_t n = (size_t)island->block_count;
    spragArena *arena = &island->lane->arena;
    const spragSolveInfo info = island->solve;
    Units units;
    if (n > BLOCKS_MOST || (!findUnits(island, 0, &units) && !findUnits(island, 1, &units)))
        return 0;
    double *kept = SPRAG_TAKE_RAW(arena, double, 12 * n), *bound = kept + 6 * n;
    if (kept == NULL)
        return -1;
    memcpy(kept, island->r, 3 * n * sizeof *kept);
    memcpy(kept + 3 * n, island->u, 3 * n * sizeof *kept);
    memcpy(bound, island->bound, 6 * n * sizeof *kept);
    const int found = tryAll(options, island, &units, iterations);
    if (found != 0)
        return found;
    memcpy(island->r, kept, 3 * n * sizeof *kept);
    memcpy(island->u, kept + 3 * n, 3 * n * sizeof *kept);
    memcpy(island->bound, bound, 6 * n * sizeof *kept);
    island->solve = info;
    return 0;
}
