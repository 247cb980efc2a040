/* What greedy.h's contacts are made of: their own block of W, its Schur complement, and the same as lanes. */
#include <string.h>

#include "linalg/vec3.h"
#include "solve/greedy_row.h"

#define INLINE SPRAG_QUAD_INLINE
#define STIFF_LEAST 1e-13 /* of the trace: what a direction that cannot move is given, */
#define STIFF_SINGLE 1e-6 /* and in single precision */

/* Adds [x]^T I^-1 [x], the response in translation of a point at arm x to impulses on it, by columns. */
INLINE void addTurning(const spragGreedyBody *body, spragQuad x, spragQuad response[3])
{
    const spragQuad h[3] = {SPRAG_ROW(body->inverse_inertia[1]) * x[2] - SPRAG_ROW(body->inverse_inertia[2]) * x[1],
                            SPRAG_ROW(body->inverse_inertia[2]) * x[0] - SPRAG_ROW(body->inverse_inertia[0]) * x[2],
                            SPRAG_ROW(body->inverse_inertia[0]) * x[1] - SPRAG_ROW(body->inverse_inertia[1]) * x[0]};
    for (int j = 0; j < 3; ++j) {
        const spragQuad turned = spragGreedyCross(h[j], x);
        response[j] += SPRAG_ROW_TURNED(turned);
    }
}

/* A direction without a row is given the mean of the others, as W has it (ode/delassus.c). */
INLINE void fillEmpty(spragGreedyContact *c)
{
    double mean = 0;
    int used = 0;
    for (int i = 0; i < 3; ++i)
        mean += c->own[i][i] + c->own[i][3], used += c->own[i][i] + c->own[i][3] > 0;
    for (int i = 0; i < 3 && used < 3; ++i)
        if (!(c->own[i][i] + c->own[i][3] > 0))
            c->own[i][3] = used > 0 ? mean / used : 1;
}

INLINE void fillContact(const spragGreedy *greedy, spragGreedyContact *c)
{
    spragQuad response[3] = {{0}, {0}, {0}};
    double trace = 0;
    c->arm[0][3] = c->arm[1][3] = 0;
    for (int side = 0; side < 2; ++side) {
        const spragGreedyBody *body = &greedy->body[c->body[side]];
        response[0][0] += body->inverse_mass, response[1][1] += body->inverse_mass,
            response[2][2] += body->inverse_mass;
        addTurning(body, SPRAG_ROW(c->arm[side]), response);
        const double sum = response[0][0] + response[1][1] + response[2][2];
        c->arm[side][3] = (sum - trace) / 3;
        trace = sum;
    }
    double compliance[3];
    for (int j = 0; j < 3; ++j) {
        const double *d = c->direction[j];
        const spragQuad moved = response[0] * d[0] + response[1] * d[1] + response[2] * d[2];
        compliance[j] = c->own[j][3];
        SPRAG_ROW_CHANGE(c->own[j]) = spragGreedySums(
            SPRAG_ROW(c->direction[0]) * moved, SPRAG_ROW(c->direction[1]) * moved, SPRAG_ROW(c->direction[2]) * moved);
    }
    for (int j = 0; j < 3; ++j)
        c->own[j][3] = compliance[j];
    fillEmpty(c);
    c->inverse_nn = 1 / (c->own[0][0] + c->own[0][3]);
    c->K[0] = c->own[1][1] + c->own[1][3] - c->own[0][1] * c->own[0][1] * c->inverse_nn;
    c->K[1] = c->own[1][2] - c->own[0][1] * c->own[0][2] * c->inverse_nn;
    c->K[2] = c->own[2][2] + c->own[2][3] - c->own[0][2] * c->own[0][2] * c->inverse_nn;
    const double least = STIFF_LEAST * (c->K[0] + c->K[2] + 1 / c->inverse_nn);
    if (c->K[0] * c->K[2] - c->K[1] * c->K[1] < least * (c->K[0] + c->K[2] + least))
        c->K[0] += least, c->K[2] += least;
    c->inverse_det = 1 / (c->K[0] * c->K[2] - c->K[1] * c->K[1]);
}

INLINE void fillRoll(const spragGreedy *greedy, const spragGreedyContact *c, spragGreedyRoll *roll)
{
    const double L = roll->length;
    double W[9], S[9]; /* S = W_ww^-1 W_wr */
    memset(roll->own, 0, sizeof roll->own);
    memset(roll->cross, 0, sizeof roll->cross);
    for (int side = 0; side < 2; ++side) {
        const double before = roll->own[0] + roll->own[4] + roll->own[8];
        for (int i = 0; i < 3; ++i) {
            const spragQuad turned =
                spragGreedyTurn(&greedy->body[c->body[side]], SPRAG_ROW(c->direction[(i + 1) % 3])) * L;
            const double turn[3] = {turned[0], turned[1], turned[2]};
            for (int j = 0; j < 3; ++j) {
                double lever[3];
                spragCross3(lever, c->arm[side], c->direction[j]);
                roll->cross[3 * i + j] += spragDot3(turn, lever);
                roll->own[3 * i + j] += L * spragDot3(turn, c->direction[(j + 1) % 3]);
            }
        }
        roll->weight[side] = (roll->own[0] + roll->own[4] + roll->own[8] - before) / 3;
    }
    if (!(roll->mu > 0) || !spragInverse33(roll->inverse, roll->own))
        memset(roll->inverse, 0, sizeof roll->inverse);
    for (int i = 0; i < 9; ++i)
        S[i] = spragDot3(roll->inverse + i / 3 * 3,
                         (double[3]){roll->cross[i % 3], roll->cross[3 + i % 3], roll->cross[6 + i % 3]});
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            W[3 * i + j] = c->own[j][i] + (i == j ? c->own[j][3] : 0) - roll->cross[i] * S[j] -
                           roll->cross[3 + i] * S[3 + j] - roll->cross[6 + i] * S[6 + j];
    spragConeBlockInit(&roll->stuck, W, c->mu, c->mu);
    roll->stuck.nu = 0;
}

/* The same in single precision. */
INLINE void fillLane(const spragGreedyContact *c, spragLaneContact *to)
{
    for (int i = 0; i < 3; ++i)
        SPRAG_LANE_ROW(to->direction[i]) = __builtin_convertvector(SPRAG_ROW(c->direction[i]), spragOctRow);
    for (int side = 0; side < 2; ++side)
        SPRAG_LANE_ROW(to->arm[side]) = __builtin_convertvector(SPRAG_ROW(c->arm[side]), spragOctRow);
    const spragQuad first = {c->own[0][0] + c->own[0][3], c->own[0][1], c->own[0][2], c->own[1][1]};
    const spragQuad rest = {c->own[1][2], c->own[2][2], c->own[0][0], c->inverse_nn};
    SPRAG_LANE_ROW(to->own[0]) = __builtin_convertvector(first, spragOctRow);
    SPRAG_LANE_ROW(to->own[1]) = __builtin_convertvector(rest, spragOctRow);
    const double least = STIFF_SINGLE * (c->K[0] + c->K[2] + first[0]);
    const double more = c->K[0] * c->K[2] - c->K[1] * c->K[1] < least * (c->K[0] + c->K[2] + least) ? least : 0;
    to->direction[0][3] = (float)(c->K[0] + more);
    to->direction[1][3] = (float)c->K[1];
    to->direction[2][3] = (float)(c->K[2] + more);
}

static int partOf(const spragGreedy *greedy, const int pair[2])
{
    const double each = greedy->part_each;
    const int first = (int)(each * pair[0]), second = (int)(each * pair[1]), world = greedy->body_count;
    return first == second || pair[1] == world ? first : pair[0] == world ? second : greedy->part_count;
}

typedef struct Range {
    spragGreedy *greedy;
    int first, end;
} Range;

INLINE void fillRange(const Range *range)
{
    spragGreedy *greedy = range->greedy;
    for (int k = range->first; k < range->end; ++k) {
        for (int side = 0; side < 2 && k + SPRAG_GREEDY_AHEAD < range->end; ++side)
            spragPrefetch(&greedy->body[greedy->contact[k + SPRAG_GREEDY_AHEAD].body[side]], sizeof *greedy->body);
        fillContact(greedy, &greedy->contact[k]);
        if (greedy->roll != NULL)
            fillRoll(greedy, &greedy->contact[k], &greedy->roll[k]);
        memcpy(greedy->pair[k], greedy->contact[k].body, sizeof greedy->pair[k]);
        greedy->part[k] = (unsigned char)partOf(greedy, greedy->pair[k]);
        if (greedy->lanes != NULL)
            fillLane(&greedy->contact[k], &greedy->lanes->contact[k]);
    }
}

SPRAG_QUAD_CLONES(fillRows, fillRange, const Range)

void spragGreedyFill(spragGreedy *greedy, int first, int end)
{
    const Range range = {greedy, first, end};
    fillRows(&range);
}

INLINE void fillLanesOf(spragGreedy *greedy)
{
    for (int k = 0; k < greedy->contact_count; ++k)
        fillLane(&greedy->contact[k], &greedy->lanes->contact[k]);
}

SPRAG_QUAD_CLONES(fillLanes, fillLanesOf, spragGreedy)

void spragGreedyFillLanes(spragGreedy *greedy)
{
    fillLanes(greedy);
}
