#include "ode/matrix/working_set.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/matrix/assemble.h"

enum {
    MANY = 40,             /* contacts of one pair of bodies, at least; fewer are all in the set */
    DIRECTIONS = 8,        /* in the tangent plane: the farthest contact along each joins the set */
    PICKS = DIRECTIONS + 1 /* and so does the most urgent one */
};
#define LOADED 1e-3   /* of the greatest force on the pair in the last step: a contact with more is in the set */
#define VIOLATED 0.25 /* of the tolerance: a contact outside that is faster joins the set */

/* The contacts of one pair of bodies that has many. */
typedef struct Pair {
    const spragBlock *frame; /* its first: the directions lie in its tangent plane */
    double load;             /* N, the greatest of the last step */
    double best[PICKS];      /* of the picks: m along each direction; how urgent, m or m/s, the last one is */
    int pick[PICKS];         /* block, or -1 */
} Pair;

typedef struct Pairs {
    int *of; /* (block_total) pair of a block; -1: its pair has few contacts, or it is always in the set */
    Pair *pair;
    int count;
} Pairs;

/* ---------------------------------------------------------------- pairs with many contacts */

static int canIdle(const spragIsland *island, int k)
{
    const spragBlock *block = &island->block[k];
    const spragBlockPart next = k + 1 < island->block_total ? island->block[k + 1].part : SPRAG_PART_CONTACT;
    return block->part == SPRAG_PART_CONTACT && block->kind == SPRAG_BLOCK_CONTACT && next != SPRAG_PART_SECOND &&
           next != SPRAG_PART_ROLLING;
}

/* 0: no memory. */
static int findPairs(const spragIsland *island, Pairs *pairs)
{
    spragArena *arena = &island->lane->scratch;
    const int n = island->block_total;
    spragPointerMap number;
    int *many = SPRAG_TAKE(arena, int, n);
    pairs->of = SPRAG_TAKE_RAW(arena, int, n);
    pairs->count = 0;
    if (many == NULL || pairs->of == NULL || !spragPointerMapMake(&number, arena, n))
        return 0;
    int found = 0;
    for (int k = 0; k < n; ++k) {
        pairs->of[k] = -1;
        if (!canIdle(island, k))
            continue;
        const void *key = spragBodyPair(island->block[k].body);
        if ((pairs->of[k] = spragPointerMapGet(&number, key)) < 0)
            spragPointerMapPut(&number, key, pairs->of[k] = found++);
        ++many[pairs->of[k]];
    }
    for (int p = 0; p < found; ++p)
        many[p] = many[p] > MANY ? pairs->count++ : -1;
    pairs->pair = SPRAG_TAKE(arena, Pair, pairs->count);
    for (int k = 0; k < n; ++k)
        pairs->of[k] = pairs->of[k] < 0 ? -1 : many[pairs->of[k]];
    return pairs->pair != NULL;
}

/* ---------------------------------------------------------------- picks */

static void beginPicks(const spragIsland *island, Pairs *pairs)
{
    for (int p = 0; p < pairs->count; ++p)
        for (int i = 0; i < PICKS; ++i) {
            pairs->pair[p].best[i] = -INFINITY;
            pairs->pair[p].pick[i] = -1;
        }
    for (int k = island->block_total - 1; k >= 0; --k)
        if (pairs->of[k] >= 0)
            pairs->pair[pairs->of[k]].frame = &island->block[k];
}

/* Picks block k if it is the farthest out so far along some direction, or the most urgent. */
static void offer(Pair *pair, int k, const spragBlock *block, double urgency)
{
    static const double cosine[DIRECTIONS] = {1, M_SQRT1_2, 0, -M_SQRT1_2, -1, -M_SQRT1_2, 0, M_SQRT1_2};
    const double x = spragDot3(block->position, pair->frame->t1), y = spragDot3(block->position, pair->frame->t2);
    for (int i = 0; i < PICKS; ++i) {
        const double value = i == DIRECTIONS ? urgency : cosine[i] * x + cosine[(i + 6) % DIRECTIONS] * y;
        if (value > pair->best[i]) {
            pair->best[i] = value;
            pair->pick[i] = k;
        }
    }
}

static int markPicks(const Pairs *pairs, unsigned char *member)
{
    int joined = 0;
    for (int p = 0; p < pairs->count; ++p)
        for (int i = 0; i < PICKS; ++i)
            if (pairs->pair[p].pick[i] >= 0 && !member[pairs->pair[p].pick[i]]) {
                member[pairs->pair[p].pick[i]] = 1;
                ++joined;
            }
    return joined;
}

/* Puts members first; members and others keep their order.  0: no memory. */
static int reorder(spragIsland *island, const unsigned char *member)
{
    const int n = island->block_total;
    spragBlock *block = SPRAG_TAKE_RAW(&island->lane->scratch, spragBlock, n);
    int *place = SPRAG_TAKE_RAW(&island->lane->scratch, int, n);
    if (block == NULL || place == NULL)
        return 0;
    int count = 0;
    for (int wanted = 1; wanted >= 0; --wanted) {
        for (int k = 0; k < n; ++k)
            if (member[k] == wanted)
                place[k] = count++;
        island->block_count = wanted ? count : island->block_count;
    }
    for (int k = 0; k < n; ++k) {
        block[place[k]] = island->block[k];
        if (island->block[k].parent >= 0)
            block[place[k]].parent = place[island->block[k].parent];
    }
    memcpy(island->block, block, (size_t)n * sizeof *block);
    return 1;
}

/* ---------------------------------------------------------------- the set */

static double lastLoad(const struct spragWorld *world, const spragBlock *block)
{
    return block->memory >= 0 ? world->memory[block->memory].normal_force : 0;
}

int spragWorkingSetChoose(const struct spragWorld *world, spragIsland *island)
{
    Pairs pairs;
    const int n = island->block_count;
    if (n <= MANY || island->row_count > 0 || world->config.solver == SPRAG_SOLVER_STOCK)
        return 1;
    unsigned char *member = SPRAG_TAKE(&island->lane->scratch, unsigned char, n);
    if (member == NULL || !findPairs(island, &pairs))
        return 0;
    if (pairs.count == 0)
        return 1;
    beginPicks(island, &pairs);
    for (int k = 0; k < n; ++k)
        if (pairs.of[k] >= 0) {
            Pair *pair = &pairs.pair[pairs.of[k]];
            offer(pair, k, &island->block[k], -island->block[k].gap);
            pair->load = fmax(pair->load, lastLoad(world, &island->block[k]));
        }
    for (int k = 0; k < n; ++k)
        member[k] = pairs.of[k] < 0 || lastLoad(world, &island->block[k]) > LOADED * pairs.pair[pairs.of[k]].load;
    markPicks(&pairs, member);
    return reorder(island, member);
}

/* M^-1 J^T r of every body of the island, m/s; (body_count x 6), by place. */
static void sumResponse(const spragSnapshot *s, const spragIsland *island, double (*dv)[6])
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        for (int side = 0; side < 2; ++side) {
            const spragBodyState *body = block->body[side] < 0 ? NULL : &s->body[block->body[side]];
            for (int row = 0; row < 3 && body != NULL && !body->kinematic; ++row) {
                const double r = island->r[3 * k + row], *J = block->J[side][row];
                double spin[3];
                spragMul33(spin, body->inverse_inertia, J + 3);
                for (int i = 0; i < 3; ++i) {
                    dv[body->place][i] += body->inverse_mass * J[i] * r;
                    dv[body->place][3 + i] += spin[i] * r;
                }
            }
        }
    }
}

/* u of one block without a force of its own. */
static void idleVelocity(const spragSnapshot *s, const spragBlock *block, double (*dv)[6], double u[3])
{
    for (int row = 0; row < 3; ++row)
        u[row] = block->free_velocity[row] + s->step * block->product[row] - block->rhs[row];
    for (int side = 0; side < 2; ++side) {
        const spragBodyState *body = block->body[side] < 0 ? NULL : &s->body[block->body[side]];
        for (int row = 0; row < 3 && body != NULL && !body->kinematic; ++row)
            u[row] += spragDot3(block->J[side][row], dv[body->place]) +
                      spragDot3(block->J[side][row] + 3, dv[body->place] + 3);
    }
}

int spragWorkingSetGrow(struct spragWorld *world, spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    const int n = island->block_total, solved = island->block_count;
    if (solved == n)
        return 0;
    spragArena *scratch = &island->lane->scratch;
    spragArenaReset(scratch);
    Pairs pairs;
    double(*dv)[6] = spragArenaTake(scratch, (size_t)island->body_count, sizeof *dv);
    unsigned char *member = SPRAG_TAKE(scratch, unsigned char, n);
    if (dv == NULL || member == NULL || !findPairs(island, &pairs))
        return -1;
    memset(member, 1, (size_t)solved);
    sumResponse(s, island, dv);
    beginPicks(island, &pairs);
    for (int k = solved; k < n; ++k) {
        double *u = island->u + 3 * k;
        idleVelocity(s, &island->block[k], dv, u);
        if (u[0] < -VIOLATED * world->config.tolerance)
            offer(&pairs.pair[pairs.of[k]], k, &island->block[k], -u[0]);
    }
    if (markPicks(&pairs, member) == 0)
        return 0;
    return reorder(island, member) && spragAssembleAgain(world, island, solved) ? 1 : -1;
}

void spragWorkingSetEnd(spragIsland *island)
{
    island->block_count = island->block_total;
}
