/* The judge's word on greedy.h's impulses, in double precision; and the guess that rounds begin with. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/pool.h"
#include "linalg/vec3.h"
#include "problem/creep.h"
#include "problem/residual.h"
#include "solve/greedy/greedy_row.h"

#define INLINE SPRAG_QUAD_INLINE
#define LONG_ENOUGH 0.9 /* of itself: a guess that is right but for its last digits is left alone */
/* Times as bad as none: a guess that is dropped.  (Twice as bad is no reason: from r = 0 a blow on a pile at rest,
 * whose other impulses are right, takes longer.) */
#define WORSE 10

typedef struct JudgedSums {
    double worst, creep; /* m/s */
    double work, square; /* J, r.q and r.W r */
} JudgedSums;

/* Of all contacts: what each may gain by a visit is its residual from now on. */
typedef struct Judgement {
    spragGreedy *greedy;
    double *u, *others; /* as in greedy.h, or NULL */
    JudgedSums sums, range[SPRAG_RANGES_MOST];
} Judgement;

/* sum: m/s, q + J v.  (A finite mu that single precision does not hold must not become infinite: that is another law,
 * of contacts that pull.) */
INLINE void toLane(spragGreedy *greedy, int k, spragQuad sum, double residual)
{
    const spragGreedyContact *c = &greedy->contact[k];
    spragLaneContact *to = &greedy->lanes->contact[k];
    sum[3] = c->mu > DBL_MAX ? c->mu : fmin(c->mu, SPRAG_LANES_MU_MOST);
    SPRAG_LANE_ROW(to->q) = __builtin_convertvector(sum, spragOctRow);
    SPRAG_LANE_ROW(to->r) = __builtin_convertvector(SPRAG_ROW(c->r), spragOctRow);
    greedy->lanes->gain[k] = (float)greedy->gain[k];
    greedy->lanes->seen[k] = (float)(-residual / greedy->gain[k]);
}

/* What a range of contacts adds to it. */
typedef struct JudgedRange {
    const Judgement *all;
    int first, end;
    JudgedSums own;
} JudgedRange;

/* The residual of a contact's rolling friction, m/s. */
INLINE double judgeRoll(const spragGreedyContact *c, const spragGreedyRoll *roll, const spragGreedyBody *a,
                        const spragGreedyBody *b, JudgedSums *own)
{
    const spragQuad moved = spragGreedyTurning(c, roll, a, b), sum = moved + SPRAG_ROW(roll->q);
    const double u[3] = {sum[0], sum[1], sum[2]};
    const double residual =
        spragRollingResidual(roll->mu, roll->mu, c->r[0], roll->r, u, roll->weight[0] + roll->weight[1]);
    own->creep = spragMax(own->creep, spragMin(residual, spragRollingCreep(roll->mu, roll->mu, c->r[0], roll->r, u)));
    own->work += spragDot3(roll->r, roll->q);
    own->square += roll->r[0] * moved[0] + roll->r[1] * moved[1] + roll->r[2] * moved[2];
    return residual;
}

INLINE void judgeAll(JudgedRange *range)
{
    const Judgement *all = range->all;
    JudgedSums *own = &range->own;
    spragGreedy *greedy = all->greedy;
    for (int k = range->first; k < range->end; ++k) {
        const spragGreedyContact *c = &greedy->contact[k];
        spragGreedyAskBodies(greedy, k + SPRAG_GREEDY_AHEAD, sizeof c->q);
        const int *pair = greedy->pair[k];
        const spragQuad moved = spragGreedyVelocity(c, &greedy->body[pair[0]], &greedy->body[pair[1]]),
                        sum = moved + SPRAG_ROW(c->q);
        double u[3];
        for (int i = 0; i < 3; ++i)
            u[i] = sum[i] + c->direction[i][3] * c->r[i];
        const int sticks = c->mu < 0 || c->mu > DBL_MAX;
        double residual = sticks ? spragStickResidual(c->mu == SPRAG_GREEDY_GLUED, c->r, u, c->normal[3])
                                 : spragContactResidual(c->mu, c->r, u, c->normal[3]);
        own->creep = spragMax(own->creep, !sticks       ? spragContactCreep(c->mu, c->r, u, residual)
                                          : c->r[0] > 0 ? spragMin(spragNorm2(u + 1), residual)
                                                        : 0);
        if (all->u != NULL)
            memcpy(all->u + 3 * k, u, sizeof u);
        if (all->others != NULL)
            all->others[k] = moved[0] - spragDot3(c->normal, c->r);
        if (greedy->roll != NULL)
            residual =
                spragMax(residual, judgeRoll(c, &greedy->roll[k], &greedy->body[pair[0]], &greedy->body[pair[1]], own));
        own->work += spragDot3(c->r, c->q);
        own->square += c->r[0] * moved[0] + c->r[1] * moved[1] + c->r[2] * moved[2];
        greedy->seen[k] = greedy->moved[pair[0]] + greedy->moved[pair[1]] - residual / greedy->gain[k];
        if (greedy->lanes != NULL)
            toLane(greedy, k, sum, residual);
        if (!(residual <= own->worst) && !isnan(own->worst)) /* keeps a NaN */
            own->worst = residual;
    }
}

SPRAG_QUAD_CLONES(judgeRows, judgeAll, JudgedRange)

static void judgeRange(void *data, int number, int first, int end)
{
    Judgement *judgement = data;
    JudgedRange range = {.all = judgement, .first = first, .end = end};
    judgeRows(&range);
    judgement->range[number] = range.own;
}

static void keepRange(void *data, int range, int first, int end)
{
    (void)range;
    const spragGreedy *greedy = data;
    for (int k = first; k < end; ++k) {
        memcpy(greedy->best + 3 * k, greedy->contact[k].r, 3 * sizeof *greedy->best);
        if (greedy->roll != NULL)
            memcpy(greedy->best + 3 * (greedy->contact_count + k), greedy->roll[k].r, 3 * sizeof *greedy->best);
    }
}

static double judge(spragGreedy *greedy, Judgement *judgement)
{
    const int count = greedy->contact_count;
    spragRangesRun(count, judgeRange, judgement);
    for (int k = 0; k < spragRangeCount(count); ++k) {
        const JudgedSums *range = &judgement->range[k];
        JudgedSums *sums = &judgement->sums;
        sums->creep = fmax(sums->creep, range->creep);
        sums->work += range->work;
        sums->square += range->square;
        if (!(range->worst <= sums->worst) && !isnan(sums->worst))
            sums->worst = range->worst;
    }
    greedy->creep = judgement->sums.creep;
    greedy->energy = judgement->sums.work + judgement->sums.square / 2;
    if (greedy->lanes != NULL)
        greedy->lanes->judged = 1;
    if (judgement->sums.worst < greedy->best_residual) {
        greedy->best_residual = judgement->sums.worst;
        if (greedy->best != NULL)
            spragRangesRun(count, keepRange, greedy);
    }
    return judgement->sums.worst;
}

double spragGreedyResidual(spragGreedy *greedy, double *u)
{
    return judge(greedy, &(Judgement){.greedy = greedy, .u = u});
}

static void scaleGuess(spragGreedy *greedy, double *others, double scale)
{
    for (int k = 0; k < greedy->contact_count; ++k) {
        for (int i = 0; i < 3; ++i)
            greedy->contact[k].r[i] *= scale;
        for (int i = 0; i < 3 && greedy->roll != NULL; ++i)
            greedy->roll[k].r[i] *= scale;
        if (others != NULL)
            others[k] *= scale;
    }
    for (int b = 0; b < greedy->body_count; ++b)
        for (int i = 0; i < 4; ++i) {
            greedy->body[b].velocity[0][i] *= scale;
            greedy->body[b].velocity[1][i] *= scale;
        }
}

/* A guess from another load is made shorter: s r, 0 <= s <= 1, of the least energy
 * s^2 (r.W r) / 2 + s (r.q).  1: it was. */
static int shortenGuess(spragGreedy *greedy, const Judgement *guess)
{
    const double work = guess->sums.work, square = guess->sums.square;
    if (!(square > 0) || -work >= LONG_ENOUGH * square)
        return 0;
    scaleGuess(greedy, guess->others, fmax(-work / square, 0));
    return 1;
}

double spragGreedyNone(const spragGreedy *greedy)
{
    double square = 0;
    for (int k = 0; k < greedy->contact_count; ++k)
        square = fmax(square, spragDot3(greedy->contact[k].q, greedy->contact[k].q));
    return sqrt(square);
}

double spragGreedyDrop(spragGreedy *greedy, double share, double residual, double *others, double *u)
{
    if (!(residual > share * spragGreedyNone(greedy)))
        return residual;
    scaleGuess(greedy, others, 0);
    return spragGreedyResidual(greedy, u);
}

void spragGreedyBegin(spragGreedy *greedy, double *others, double *u)
{
    spragGreedySum(greedy);
    memset(greedy->moved, 0, ((size_t)greedy->body_count + 1) * sizeof *greedy->moved);
    for (int k = 0; k < spragGreedyPadded(greedy->contact_count); ++k)
        greedy->gain[k] = SPRAG_GREEDY_GAIN;
    for (int k = greedy->contact_count; k < spragGreedyPadded(greedy->contact_count); ++k) {
        memcpy(greedy->pair[k], greedy->pair[greedy->contact_count - 1], sizeof greedy->pair[k]);
        greedy->seen[k] = INFINITY;
    }
    greedy->visits = 0;
    greedy->best_residual = INFINITY;
    if (greedy->lanes != NULL)
        spragGreedyLanesFill(greedy);
    Judgement guess = {.greedy = greedy, .others = others, .u = u};
    judge(greedy, &guess);
    if (shortenGuess(greedy, &guess))
        spragGreedyResidual(greedy, u);
    greedy->begun = spragGreedyDrop(greedy, WORSE, greedy->best_residual, others, u);
}

double spragGreedyBest(spragGreedy *greedy, double *u)
{
    for (int k = 0; k < greedy->contact_count; ++k) {
        memcpy(greedy->contact[k].r, greedy->best + 3 * k, 3 * sizeof *greedy->best);
        if (greedy->roll != NULL)
            memcpy(greedy->roll[k].r, greedy->best + 3 * (greedy->contact_count + k), 3 * sizeof *greedy->best);
    }
    spragGreedySum(greedy);
    return spragGreedyResidual(greedy, u);
}
