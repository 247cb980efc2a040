/* What greedy.h's contacts are made of: their own block of W, its Schur complement, and the same as lanes. */
#include <string.h>

#include "linalg/vec3.h"
#include "solve/greedy/greedy_row.h"

#define INLINE SPRAG_QUAD_INLINE
#define STIFF_SINGLE 1e-6 /* as SPRAG_STIFF_LEAST, in single precision */

/* Adds [x]^T I^-1 [x], the response in translation of a point at arm x to impulses on it, by columns. */
INLINE void addTurning(const spragGreedyBody *body, spragQuad x, spragQuad response[3])
{
    spragQuad I[3];
    spragGreedyInertia(body, I);
    const spragQuad h[3] = {I[1] * x[2] - I[2] * x[1], I[2] * x[0] - I[0] * x[2], I[0] * x[1] - I[1] * x[0]};
    for (int j = 0; j < 3; ++j) {
        const spragQuad turned = spragGreedyCross(h[j], x);
        response[j] += SPRAG_ROW_TURNED(turned);
    }
}

/* A direction without a row is given the mean of the others, as W has it (ode/matrix/delassus.c). */
INLINE void fillEmpty(spragGreedyContact *c, const double diagonal[3])
{
    double mean = 0;
    int used = 0;
    for (int i = 0; i < 3; ++i)
        mean += diagonal[i] + c->direction[i][3], used += diagonal[i] + c->direction[i][3] > 0;
    for (int i = 0; i < 3 && used < 3; ++i)
        if (!(diagonal[i] + c->direction[i][3] > 0))
            c->direction[i][3] = used > 0 ? mean / used : 1;
}

INLINE void fillContact(const spragGreedy *greedy, int k)
{
    spragGreedyContact *c = &greedy->contact[k];
    spragGreedyOwn *own = &greedy->own[k];
    double *const column[3] = {c->normal, own->tangent[0], own->tangent[1]};
    spragQuad response[3] = {{0}, {0}, {0}};
    double trace = 0;
    c->arm[0][3] = c->arm[1][3] = 0;
    for (int side = 0; side < 2; ++side) {
        const spragGreedyBody *body = &greedy->body[greedy->pair[k][side]];
        response[0][0] += body->inverse_mass, response[1][1] += body->inverse_mass,
            response[2][2] += body->inverse_mass;
        addTurning(body, SPRAG_ROW(c->arm[side]), response);
        const double sum = response[0][0] + response[1][1] + response[2][2];
        c->arm[side][3] = (sum - trace) / 3;
        trace = sum;
    }
    for (int j = 0; j < 3; ++j) {
        const double *d = c->direction[j];
        const spragQuad moved = response[0] * d[0] + response[1] * d[1] + response[2] * d[2];
        SPRAG_ROW_CHANGE(column[j]) = spragGreedySums(
            SPRAG_ROW(c->direction[0]) * moved, SPRAG_ROW(c->direction[1]) * moved, SPRAG_ROW(c->direction[2]) * moved);
    }
    fillEmpty(c, (double[3]){column[0][0], column[1][1], column[2][2]});
    double K[3], sum = 0;
    for (int j = 0; j < 3; ++j)
        sum += column[j][j] + c->direction[j][3];
    c->normal[3] = sum / 3;
    own->tangent[0][3] = 1 / (c->normal[0] + c->direction[0][3]);
    spragGreedySchur(c, own, K);
    own->tangent[1][3] = 1 / (K[0] * K[2] - K[1] * K[1]);
}

INLINE void fillRoll(const spragGreedy *greedy, int k)
{
    const spragGreedyContact *c = &greedy->contact[k];
    spragGreedyRoll *roll = &greedy->roll[k];
    const double *const column[3] = {c->normal, greedy->own[k].tangent[0], greedy->own[k].tangent[1]};
    const double L = roll->length;
    double W[9], S[9]; /* S = W_ww^-1 W_wr */
    memset(roll->own, 0, sizeof roll->own);
    memset(roll->cross, 0, sizeof roll->cross);
    for (int side = 0; side < 2; ++side) {
        const double before = roll->own[0] + roll->own[4] + roll->own[8];
        for (int i = 0; i < 3; ++i) {
            const double *axis = c->direction[(i + 1) % 3];
            const spragQuad turned =
                spragGreedyTurn(&greedy->body[greedy->pair[k][side]], axis[0], axis[1], axis[2]) * L;
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
            W[3 * i + j] = column[j][i] + (i == j ? c->direction[j][3] : 0) - roll->cross[i] * S[j] -
                           roll->cross[3 + i] * S[3 + j] - roll->cross[6 + i] * S[6 + j];
    spragConeBlockInit(&roll->stuck, W, c->mu, c->mu);
    roll->stuck.nu = 0;
}

/* The same in single precision. */
INLINE void fillLane(const spragGreedy *greedy, int k)
{
    const spragGreedyContact *c = &greedy->contact[k];
    const spragGreedyOwn *own = &greedy->own[k];
    spragLaneContact *to = &greedy->lanes->contact[k];
    double K[3];
    spragGreedySchur(c, own, K);
    for (int i = 0; i < 3; ++i)
        SPRAG_LANE_ROW(to->direction[i]) = __builtin_convertvector(SPRAG_ROW(c->direction[i]), spragOctRow);
    for (int side = 0; side < 2; ++side)
        SPRAG_LANE_ROW(to->arm[side]) = __builtin_convertvector(SPRAG_ROW(c->arm[side]), spragOctRow);
    const spragQuad first = {c->normal[0] + c->direction[0][3], c->normal[1], c->normal[2], own->tangent[0][1]};
    const spragQuad rest = {own->tangent[0][2], own->tangent[1][2], c->normal[0], own->tangent[0][3]};
    SPRAG_LANE_ROW(to->own[0]) = __builtin_convertvector(first, spragOctRow);
    SPRAG_LANE_ROW(to->own[1]) = __builtin_convertvector(rest, spragOctRow);
    const double least = STIFF_SINGLE * (K[0] + K[2] + first[0]);
    const double more = K[0] * K[2] - K[1] * K[1] < least * (K[0] + K[2] + least) ? least : 0;
    to->direction[0][3] = (float)(K[0] + more);
    to->direction[1][3] = (float)K[1];
    to->direction[2][3] = (float)(K[2] + more);
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
            spragPrefetch(&greedy->body[greedy->pair[k + SPRAG_GREEDY_AHEAD][side]], sizeof *greedy->body);
        fillContact(greedy, k);
        if (greedy->roll != NULL)
            fillRoll(greedy, k);
        greedy->part[k] = (unsigned char)partOf(greedy, greedy->pair[k]);
        if (greedy->lanes != NULL)
            fillLane(greedy, k);
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
        fillLane(greedy, k);
}

SPRAG_QUAD_CLONES(fillLanes, fillLanesOf, spragGreedy)

void spragGreedyFillLanes(spragGreedy *greedy)
{
    fillLanes(greedy);
}
