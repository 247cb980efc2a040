#include "ode/opposed.h"

#include <math.h>
#include <stdint.h>

#include "linalg/vec3.h"

enum { AXES_MAX = 16 };     /* directions told apart on one pair of bodies; contacts of more are left as they are */
#define SAME_DIRECTION 1e-6 /* 1 - |cos| */
#define OVERLAP_MOST 0.01   /* of the thickness: more is no clearance but a penetration to be undone */
#define BESIDE 0.01         /* of the thickness: how far across the other side's points may be */
#define SLACK 10            /* in tolerances of the solver */
#define LOADED 1e-3         /* of the greatest force in the slot: what bears more, bears load */

/* Contacts that push along +n or along -n. */
typedef struct Side {
    int first;              /* block, the others by next[]; -1 none */
    double most;            /* m/s, the greatest correction asked */
    double load;            /* N, the greatest force of the last step */
    double deepest;         /* m */
    double low[3], high[3]; /* m, extent along n, t1, t2 of the axis */
} Side;

typedef struct Axis {
    const spragBlock *frame; /* the first contact seen with it */
    Side side[2];
} Axis;

/* A rigid contact that overlaps and asks for nothing but to be pushed out. */
static int isPlain(const spragBlock *block, double compliance)
{
    return block->part == SPRAG_PART_CONTACT && block->gap <= 0 && block->rhs[0] == block->correction &&
           block->compliance[0] <= compliance;
}

static double lastLoad(const struct spragWorld *world, const spragBlock *block)
{
    return block->memory < 0 ? 0 : world->memory[block->memory].normal_force;
}

static void addTo(const struct spragWorld *world, Side *side, const spragBlock *block, const spragBlock *frame)
{
    const double x[3] = {spragDot3(block->position, frame->n), spragDot3(block->position, frame->t1),
                         spragDot3(block->position, frame->t2)};
    const int empty = side->first < 0;
    for (int i = 0; i < 3; ++i) {
        side->low[i] = empty ? x[i] : fmin(side->low[i], x[i]);
        side->high[i] = empty ? x[i] : fmax(side->high[i], x[i]);
    }
    side->most = fmax(side->most, block->rhs[0]);
    side->deepest = fmax(side->deepest, -block->gap);
    side->load = fmax(side->load, lastLoad(world, block));
}

/* Do the two press on the same part of the body, and by no more than clearance explains? */
static int areOpposed(const Side side[2])
{
    const Side *a = &side[0], *b = &side[1];
    if (a->first < 0 || b->first < 0)
        return 0;
    const double thickness = fmax(a->high[0] - b->low[0], b->high[0] - a->low[0]);
    for (int i = 1; i < 3; ++i)
        if (a->low[i] > b->high[i] + BESIDE * thickness || b->low[i] > a->high[i] + BESIDE * thickness)
            return 0;
    return a->deepest + b->deepest <= OVERLAP_MOST * thickness;
}

/* What bore load keeps its place: with slack on it too, a body that jams would creep. */
static void relax(const struct spragWorld *world, spragIsland *island, const int *next, const Side side[2])
{
    const double common = 0.5 * (side[0].most + side[1].most), slack = SLACK * world->config.tolerance,
                 loaded = LOADED * fmax(side[0].load, side[1].load);
    for (int s = 0; s < 2; ++s)
        for (int k = side[s].first; k >= 0; k = next[k]) {
            spragBlock *block = &island->block[k];
            block->rhs[0] -= common + (lastLoad(world, block) > loaded ? 0 : slack);
            block->correction = fmax(block->rhs[0], 0);
        }
}

/* The contacts of one pair of bodies, linked from `first` by `link`; next: scratch. */
static void relaxPair(const struct spragWorld *world, spragIsland *island, int first, const int *link, int *next)
{
    Axis axis[AXES_MAX];
    int count = 0;
    for (int k = first; k >= 0; k = link[k]) {
        const spragBlock *block = &island->block[k];
        int a = 0;
        double along = 1;
        for (; a < count; ++a)
            if (fabs(along = spragDot3(block->n, axis[a].frame->n)) > 1 - SAME_DIRECTION)
                break;
        if (a == AXES_MAX)
            continue;
        if (a == count) {
            axis[count++] = (Axis){.frame = block, .side = {{.first = -1}, {.first = -1}}};
            along = 1;
        }
        Side *side = &axis[a].side[along < 0];
        addTo(world, side, block, axis[a].frame);
        next[k] = side->first;
        side->first = k;
    }
    for (int a = 0; a < count; ++a)
        if (areOpposed(axis[a].side))
            relax(world, island, next, axis[a].side);
}

/* A key for the bodies of a block, never NULL. */
static const void *pairKey(const spragBlock *block)
{
    return (const void *)(((uintptr_t)(block->body[0] + 1) << 24) + (uintptr_t)(block->body[1] + 2));
}

int spragOpposedRelax(struct spragWorld *world, spragIsland *island)
{
    const double compliance = dWorldGetCFM(world->world) / world->snapshot.step * (1 + 1e-12);
    const int n = island->block_count;
    int *link = SPRAG_TAKE(&world->arena, int, n), *next = SPRAG_TAKE(&world->arena, int, n),
        *pair = SPRAG_TAKE(&world->arena, int, n), pairs = 0;
    spragPointerMap first;
    if (link == NULL || next == NULL || pair == NULL || !spragPointerMapMake(&first, &world->arena, n))
        return 0;
    for (int k = n - 1; k >= 0; --k) {
        if (!isPlain(&island->block[k], compliance))
            continue;
        const void *key = pairKey(&island->block[k]);
        link[k] = spragPointerMapGet(&first, key);
        if (link[k] < 0)
            pair[pairs++] = k; /* the last of the pair */
        spragPointerMapPut(&first, key, k);
    }
    for (int p = 0; p < pairs; ++p) {
        const int k = spragPointerMapGet(&first, pairKey(&island->block[pair[p]]));
        if (link[k] >= 0)
            relaxPair(world, island, k, link, next);
    }
    return 1;
}
