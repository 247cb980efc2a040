#include "ode/rows/opposed.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "linalg/ldlt.h"
#include "linalg/vec3.h"

enum {
    AXES_MAX = 16
}; /* directions told apart on one pair of bodies; contacts along further ones are left as they are */
#define SAME_DIRECTION 1e-6 /* 1 - |cos| */
#define OVERLAP_MOST 0.01   /* of the thickness: a deeper overlap is no clearance but a penetration to be undone */
#define BESIDE 0.01         /* of the thickness: how far beside each other the points of the two sides may be */
#define SLACK 10            /* of the solver's tolerance */
#define LOADED 1e-3         /* of the greatest force in the slot: a contact with more bears load */

/* Contacts that push along +n or along -n. */
typedef struct Side {
    int first;              /* block, the others by next[]; -1 none */
    double load;            /* N, the greatest force of the last step */
    double deepest;         /* m */
    double low[3], high[3]; /* m, extent along n, t1, t2 of the axis */
} Side;

typedef struct Axis {
    const spragBlock *frame; /* the first contact seen with it */
    Side side[2];
} Axis;

/* +1 / -1: a contact's normal points into its first body, which may be the pair's second. */
static int orderOf(const spragBlock *block)
{
    return block->body[1] < 0 || block->body[0] < block->body[1] ? 1 : -1;
}

/* Cosine of the angle between what two contacts of one pair push its first body by. */
static double pushCosine(const spragBlock *a, const spragBlock *b)
{
    return orderOf(a) * orderOf(b) * spragDot3(a->n, b->n);
}

/* Is it a rigid contact that overlaps, and asks for nothing but to be pushed out? */
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
    side->deepest = fmax(side->deepest, -block->gap);
    side->load = fmax(side->load, lastLoad(world, block));
}

/* Do the two sides press on the same part of the body, with no deeper overlap than clearance explains? */
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

/* Row of a contact in  M + (+-) f = c,  f = t + s1 x1 + s2 x2 about the middle of the first side: its unknowns are
 * (M, t, s1, s2). */
static void rowOf(const Axis *axis, int s, const spragBlock *block, double row[4])
{
    const double sign = s == 0 ? 1 : -1, *low = axis->side[0].low, *high = axis->side[0].high;
    row[0] = 1;
    row[1] = sign;
    row[2] = sign * (spragDot3(block->position, axis->frame->t1) - 0.5 * (low[1] + high[1]));
    row[3] = sign * (spragDot3(block->position, axis->frame->t2) - 0.5 * (low[2] + high[2]));
}

/* x = (M, t, s1, s2) with the least squares of what the rows miss.  Slopes that points on a line, or a single point, do
 * not determine are 0. */
static void fitMotion(const spragIsland *island, const int *next, const Axis *axis, double x[4])
{
    static const int first[4] = {0, 0, 0, 0};
    double A[16] = {0}, inverse_pivot[4];
    memset(x, 0, 4 * sizeof *x);
    for (int s = 0; s < 2; ++s)
        for (int k = axis->side[s].first; k >= 0; k = next[k]) {
            double row[4];
            rowOf(axis, s, &island->block[k], row);
            for (int i = 0; i < 4; ++i) {
                x[i] += row[i] * island->block[k].rhs[0];
                for (int j = 0; j < 4; ++j)
                    A[4 * i + j] += row[i] * row[j];
            }
        }
    spragLdltFactor(4, first, A, inverse_pivot);
    spragLdltForward(4, first, A, 1, 0, x);
    for (int i = 0; i < 4; ++i)
        x[i] *= inverse_pivot[i];
    spragLdltBackward(4, first, A, x);
}

/* Takes what is common off the corrections, and SLACK more where a contact bore no load.  (With slack on loaded
 * contacts too, a body that jams would creep.) */
static void relax(const struct spragWorld *world, spragIsland *island, const int *next, const Axis *axis)
{
    const double slack = SLACK * world->config.tolerance,
                 loaded = LOADED * fmax(axis->side[0].load, axis->side[1].load);
    double x[4], row[4], common = 0;
    fitMotion(island, next, axis, x);
    for (int s = 0; s < 2; ++s)
        for (int k = axis->side[s].first; k >= 0; k = next[k]) {
            rowOf(axis, s, &island->block[k], row);
            common = fmax(common, island->block[k].rhs[0] - row[1] * x[1] - row[2] * x[2] - row[3] * x[3]);
        }
    for (int s = 0; s < 2; ++s)
        for (int k = axis->side[s].first; k >= 0; k = next[k]) {
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
            if (fabs(along = pushCosine(block, axis[a].frame)) > 1 - SAME_DIRECTION)
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
            relax(world, island, next, &axis[a]);
}

enum {
    TO_SEARCH = 256,
    ON_BODY_MOST = 64
}; /* blocks of an island, contacts of a body: fewer, or more, are not searched */

/* Contacts that may be opposed, by one of their bodies. */
typedef struct Search {
    const spragSnapshot *snapshot;
    const spragIsland *island;
    double compliance;
    int *place, *start, *list; /* (block_count) of a body, or -1; list[start[i] .. start[i + 1] - 1] are on body i */
    unsigned char found[SPRAG_RANGES_MOST];
} Search;

static void lookRange(void *data, int range, int first, int end)
{
    (void)range;
    const Search *search = data;
    for (int k = first; k < end; ++k) {
        const spragBlock *block = &search->island->block[k];
        search->place[k] = -1;
        for (int side = 0; side < 2 && isPlain(block, search->compliance); ++side) {
            const spragBodyState *body = block->body[side] < 0 ? NULL : &search->snapshot->body[block->body[side]];
            if (body != NULL && !body->kinematic && body->place > search->place[k])
                search->place[k] = body->place;
        }
    }
}

/* Are there two contacts of one pair of bodies that push against each other, on bodies first .. end - 1? */
static void searchRange(void *data, int range, int first, int end)
{
    Search *search = data;
    const spragBlock *block = search->island->block;
    int found = 0;
    for (int i = first; i < end && !found; ++i) {
        found = search->start[i + 1] - search->start[i] > ON_BODY_MOST;
        for (int a = search->start[i]; a < search->start[i + 1] && !found; ++a)
            for (int b = search->start[i]; b < a; ++b) {
                const spragBlock *p = &block[search->list[a]], *q = &block[search->list[b]];
                found |= spragBodyPair(p->body) == spragBodyPair(q->body) && !(pushCosine(p, q) > 0);
            }
    }
    search->found[range] = (unsigned char)found;
}

/* 0: no two contacts are opposed, 1: some may be, -1: no memory. */
static int mayOppose(const spragSnapshot *s, const spragIsland *island, double compliance)
{
    spragArena *arena = &island->lane->arena;
    const int n = island->block_count, bodies = island->body_count;
    if (n < TO_SEARCH)
        return 1;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    Search search = {.snapshot = s,
                     .island = island,
                     .compliance = compliance,
                     .place = SPRAG_TAKE_RAW(arena, int, n),
                     .start = SPRAG_TAKE(arena, int, bodies + 2),
                     .list = SPRAG_TAKE_RAW(arena, int, n)};
    int found = -1;
    if (search.place != NULL && search.start != NULL && search.list != NULL) {
        spragRangesRun(n, lookRange, &search);
        for (int k = 0; k < n; ++k)
            if (search.place[k] >= 0)
                ++search.start[search.place[k] + 2];
        for (int i = 2; i <= bodies + 1; ++i)
            search.start[i] += search.start[i - 1];
        for (int k = 0; k < n; ++k)
            if (search.place[k] >= 0)
                search.list[search.start[search.place[k] + 1]++] = k;
        spragRangesRun(bodies, searchRange, &search);
        found = 0;
        for (int range = 0; range < spragRangeCount(bodies); ++range)
            found |= search.found[range];
    }
    spragArenaRelease(arena, mark);
    return found;
}

/* All push into one half-space: nothing is opposed. */
static int pushOneWay(const spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k)
        if (island->block[k].part == SPRAG_PART_CONTACT && !(pushCosine(&island->block[k], &island->block[0]) > 0))
            return 0;
    return 1;
}

int spragOpposedRelax(struct spragWorld *world, spragIsland *island)
{
    if (pushOneWay(island))
        return 1;
    const double compliance = world->snapshot.cfm / world->snapshot.step * (1 + 1e-12);
    const int n = island->block_count, may = mayOppose(&world->snapshot, island, compliance);
    if (may <= 0)
        return may == 0;
    int *link = SPRAG_TAKE(&island->lane->arena, int, n), *next = SPRAG_TAKE(&island->lane->arena, int, n),
        *pair = SPRAG_TAKE(&island->lane->arena, int, n), pairs = 0;
    spragPointerMap first;
    if (link == NULL || next == NULL || pair == NULL || !spragPointerMapMake(&first, &island->lane->arena, n))
        return 0;
    for (int k = n - 1; k >= 0; --k) {
        if (!isPlain(&island->block[k], compliance))
            continue;
        const void *key = spragBodyPair(island->block[k].body);
        link[k] = spragPointerMapGet(&first, key);
        if (link[k] < 0)
            pair[pairs++] = k; /* the last of the pair */
        spragPointerMapPut(&first, key, k);
    }
    for (int p = 0; p < pairs; ++p) {
        const int k = spragPointerMapGet(&first, spragBodyPair(island->block[pair[p]].body));
        if (link[k] >= 0)
            relaxPair(world, island, k, link, next);
    }
    return 1;
}
