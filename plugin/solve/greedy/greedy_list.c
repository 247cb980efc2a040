#include "solve/greedy/greedy_list.h"

#include <string.h>

#include "base/pool.h"
#include "solve/greedy/greedy_row.h"

#define INLINE SPRAG_QUAD_INLINE
enum {
    FEW = 32,         /* one contact in so many was visited: */
    ROUNDS_FEW = 100, /* after so many of such rounds it is worth while to know which eights have a body's contacts */
    AHEAD = 6,        /* eights, of what is fetched */
    CHANGED = 3       /* one eight in so many is looked at anew: to look at all, one after the other, takes no longer */
};

/* ---------------------------------------------------------------- eights */

/* moved of one body of each of four contacts */
INLINE spragQuad movedOf(const double *moved, int (*const pair)[2], int side)
{
    return (spragQuad){moved[pair[0][side]], moved[pair[1][side]], moved[pair[2][side]], moved[pair[3][side]]};
}

/* What the contacts of an eight may gain; their greatest. */
INLINE spragQuad gainsOf(const spragGreedy *greedy, int eight, spragQuad gain[2])
{
    const double *const moved = greedy->moved;
    spragQuad greatest = {0};
    for (int part = 0; part < 2; ++part) {
        const int first = eight * SPRAG_GREEDY_PAIR + part * SPRAG_QUAD;
        int(*const pair)[2] = greedy->pair + first;
        gain[part] = SPRAG_ROW(greedy->gain + first) *
                     (movedOf(moved, pair, 0) + movedOf(moved, pair, 1) - SPRAG_ROW(greedy->seen + first));
        greatest = spragQuadMax(gain[part], greatest);
    }
    return greatest;
}

INLINE double greatestOf(spragQuad x)
{
    const spragQuad y = spragQuadMax(x, SPRAG_QUAD_SHUFFLE(x, x, 2, 3, 0, 1));
    return y[0] > y[1] ? y[0] : y[1];
}

/* Appends those above the threshold; returns how many there are with them. */
INLINE int append(int eight, const spragQuad gain[2], spragQuad threshold, int *list, int count)
{
    const spragQuadMask above[2] = {gain[0] > threshold, gain[1] > threshold};
    if (!spragQuadAny(above[0] | above[1]))
        return count;
    for (int i = 0; i < SPRAG_GREEDY_PAIR; ++i) {
        list[count] = eight * SPRAG_GREEDY_PAIR + i;
        count -= (int)above[i / SPRAG_QUAD][i % SPRAG_QUAD];
    }
    return count;
}

/* ---------------------------------------------------------------- all of them */

/* What is listed of a range of eights begins where their own places in the list do. */
typedef struct Range {
    spragGreedy *greedy;
    double threshold, greatest;
    int first, end, count;
} Range;

INLINE void listRange(Range *range)
{
    spragGreedy *greedy = range->greedy;
    const spragQuad threshold = spragQuadOf(range->threshold);
    spragQuad greatest = {0};
    int count = 0, *const list = greedy->list + range->first * SPRAG_GREEDY_PAIR;
    for (int e = range->first; e < range->end; ++e) {
        spragQuad gain[2];
        const spragQuad most = gainsOf(greedy, e, gain);
        greatest = spragQuadMax(most, greatest);
        greedy->greatest[e] = greatestOf(most);
        count = append(e, gain, threshold, list, count);
    }
    range->count = count;
    range->greatest = greatestOf(greatest);
}

SPRAG_QUAD_CLONES(listRows, listRange, Range)

typedef struct Listing {
    spragGreedy *greedy;
    double threshold;
    Range range[SPRAG_RANGES_MOST];
} Listing;

static void runRange(void *data, int number, int first, int end)
{
    Listing *listing = data;
    listing->range[number] =
        (Range){.greedy = listing->greedy, .threshold = listing->threshold, .first = first, .end = end};
    listRows(&listing->range[number]);
}

/* One list of those of all ranges, which have the order of the contacts. */
static double listAll(spragGreedy *greedy, double threshold)
{
    const int eights = spragGreedyPadded(greedy->contact_count) / SPRAG_GREEDY_PAIR;
    int *const list = greedy->list;
    double greatest = 0;
    Listing listing;
    listing.greedy = greedy;
    listing.threshold = threshold;
    spragRangesRun(eights, runRange, &listing);
    greedy->listed = 0;
    for (int k = 0; k < spragRangeCount(eights); ++k) {
        const Range *range = &listing.range[k];
        if (k > 0)
            memmove(list + greedy->listed, list + range->first * SPRAG_GREEDY_PAIR,
                    (size_t)range->count * sizeof *list);
        greedy->listed += range->count;
        greatest = fmax(greatest, range->greatest);
    }
    return greatest;
}

/* ---------------------------------------------------------------- those that may have changed */

/* For each body the eights with its contacts: how many (in first of the next body), or which, from each first on, which
 * becomes that of the next body.  pass: the last eight that was met. */
static void meet(const spragGreedy *greedy, spragGreedyNear *near, int which)
{
    for (int b = 0; b < greedy->body_count; ++b)
        near->body[b].pass = -1;
    for (int k = 0; k < greedy->contact_count; ++k)
        for (int side = 0; side < 2; ++side) {
            const int b = greedy->pair[k][side], eight = k / SPRAG_GREEDY_PAIR;
            if (b == greedy->body_count || near->body[b].pass == eight)
                continue;
            near->body[b].pass = eight;
            if (which)
                near->eight[near->body[b].first++] = eight;
            else
                ++near->body[b + 1].first;
        }
}

/* NULL: no memory. */
static spragGreedyNear *makeNear(const spragGreedy *greedy)
{
    const int bodies = greedy->body_count, eights = spragGreedyPadded(greedy->contact_count) / SPRAG_GREEDY_PAIR;
    spragGreedyNear *near = SPRAG_TAKE(greedy->arena, spragGreedyNear, 1);
    spragGreedyNearBody *body = SPRAG_TAKE(greedy->arena, spragGreedyNearBody, bodies + 1);
    int *changed = SPRAG_TAKE_RAW(greedy->arena, int, eights + 1), *pass = SPRAG_TAKE(greedy->arena, int, eights);
    if (near == NULL || body == NULL || changed == NULL || pass == NULL)
        return NULL;
    *near = (spragGreedyNear){.body = body, .changed = changed, .pass = pass};
    meet(greedy, near, 0);
    for (int b = 0; b < bodies; ++b)
        body[b + 1].first += body[b].first;
    near->eight = SPRAG_TAKE_RAW(greedy->arena, int, body[bodies].first + 1);
    if (near->eight == NULL)
        return NULL;
    meet(greedy, near, 1);
    for (int b = bodies; b > 0; --b)
        body[b].first = body[b - 1].first;
    body[0].first = 0;
    for (int b = 0; b < bodies; ++b)
        body[b].pass = 0;
    return near;
}

/* Appends an eight that was not met in this pass. */
static inline int meetEight(spragGreedyNear *near, int eight, int count)
{
    near->changed[count] = eight;
    count += near->pass[eight] != near->passes;
    near->pass[eight] = near->passes;
    return count;
}

/* The eights that the visits of the list may have changed; how many, or -1: more than a share of all. */
static int findChanged(const spragGreedy *greedy)
{
    spragGreedyNear *near = greedy->near;
    const int most = greedy->contact_count / (SPRAG_GREEDY_PAIR * CHANGED), pass = ++near->passes;
    int count = 0;
    for (int i = 0; i < greedy->listed && count <= most; ++i) {
        const int k = greedy->list[i];
        count = meetEight(near, k / SPRAG_GREEDY_PAIR, count);
        for (int side = 0; side < 2; ++side) {
            const int b = greedy->pair[k][side];
            if (b == greedy->body_count || near->body[b].pass == pass)
                continue;
            near->body[b].pass = pass;
            for (int j = near->body[b].first; j < near->body[b + 1].first; ++j)
                count = meetEight(near, near->eight[j], count);
        }
    }
    return count <= most ? count : -1;
}

INLINE void askEight(const spragGreedy *greedy, int eight)
{
    const int k = eight * SPRAG_GREEDY_PAIR;
    spragPrefetch(greedy->pair + k, SPRAG_GREEDY_PAIR * sizeof *greedy->pair);
    spragPrefetch(greedy->gain + k, SPRAG_GREEDY_PAIR * sizeof *greedy->gain);
    spragPrefetch(greedy->seen + k, SPRAG_GREEDY_PAIR * sizeof *greedy->seen);
}

/* The greatest of eights anew. */
INLINE void lookAgain(const spragGreedy *greedy, const int *eight, int count)
{
    for (int i = 0; i < count; ++i) {
        spragQuad gain[2];
        if (i + AHEAD < count)
            askEight(greedy, eight[i + AHEAD]);
        greedy->greatest[eight[i]] = greatestOf(gainsOf(greedy, eight[i], gain));
    }
}

typedef struct Few {
    spragGreedy *greedy;
    double threshold, greatest;
    int changed; /* eights */
} Few;

INLINE void listFew(Few *few)
{
    spragGreedy *greedy = few->greedy;
    const int eights = spragGreedyPadded(greedy->contact_count) / SPRAG_GREEDY_PAIR;
    const spragQuad threshold = spragQuadOf(few->threshold);
    spragQuad greatest = {0};
    int count = 0;
    if (few->changed > 0)
        lookAgain(greedy, greedy->near->changed, few->changed);
    for (int e = 0; e < eights; e += SPRAG_GREEDY_SCAN) {
        spragQuad most = SPRAG_ROW(greedy->greatest + e);
        for (int i = SPRAG_QUAD; i < SPRAG_GREEDY_SCAN; i += SPRAG_QUAD)
            most = spragQuadMax(SPRAG_ROW(greedy->greatest + e + i), most);
        greatest = spragQuadMax(most, greatest);
        if (!spragQuadAny(most > threshold))
            continue;
        for (int i = e; i < e + SPRAG_GREEDY_SCAN; ++i) {
            spragQuad gain[2];
            if (!(greedy->greatest[i] > few->threshold))
                continue;
            gainsOf(greedy, i, gain);
            count = append(i, gain, threshold, greedy->list, count);
        }
    }
    greedy->listed = count;
    few->greatest = greatestOf(greatest);
}

SPRAG_QUAD_CLONES(listFewRows, listFew, Few)

/* Were visits few, and is it known what they changed? */
static int areFew(spragGreedy *greedy)
{
    if (greedy->listed <= 0)
        return greedy->listed == 0;
    if (greedy->listed > greedy->contact_count / FEW)
        return 0;
    if (greedy->near == NULL && ++greedy->rounds_few == ROUNDS_FEW)
        greedy->near = makeNear(greedy);
    return greedy->near != NULL;
}

double spragGreedyList(spragGreedy *greedy, double threshold)
{
    Few few = {.greedy = greedy, .threshold = threshold, .changed = -1};
    if (areFew(greedy))
        few.changed = greedy->listed > 0 ? findChanged(greedy) : 0;
    if (few.changed < 0)
        return listAll(greedy, threshold);
    listFewRows(&few);
    /* (What is not finite may have changed what no body tells.) */
    return greedy->listed == 0 && few.greatest > threshold ? listAll(greedy, threshold) : few.greatest;
}
