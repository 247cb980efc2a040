#include "ode/rows/coupled.h"

#include <math.h>
#include <string.h>

#include "linalg/lu.h"
#include "linalg/vec3.h"
#include "ode/rows/singular.h"
#include "problem/residual.h"
#include "solve/contact/grow.h"
#include "solve/contact/policy.h"

enum { MOST = SPRAG_COUPLED_MAX };

#define HYSTERESIS 1e-9  /* of the largest: an N below it counts as zero, and so does a difference of two motions */
#define ZERO_PIVOT 1e-12 /* of the terms: a determinant, or a normal acceleration, below it counts as zero */
#define BARELY 1e-6      /* of what the accelerations give in a step: a residual above it may mean that no law holds */

#define SHARE_SHORTEST 1e-6 /* of friction that grows: a side that begins to bear is beyond HYSTERESIS by then */

typedef struct System {
    int m;
    int two_sided[MOST];
    double normal[MOST][MOST];                  /* (row, column) M without friction, i_j = +1 */
    double plus[MOST][MOST], minus[MOST][MOST]; /* M with i_j = +1, -1 */
    double b[MOST];                             /* m/s^2 */
} System;

static const double *blockOf(const spragProblem *p, int k, int l)
{
    const int e = spragProblemBlock(p, k, l);
    return e < 0 ? NULL : p->W + 9 * (size_t)e;
}

/* Normal acceleration without contact forces, m/s^2: of q without its correction of position, less the velocity at the
 * start of the step. */
static double freeAcceleration(const struct spragWorld *world, const spragIsland *island, int k)
{
    const spragBlock *block = &island->block[k];
    const double q = island->problem.q[3 * k] - spragSingularShift(world, island, k);
    return (q + block->rhs[0] - block->approach) / world->snapshot.step;
}

/* A contact, or a guide without play. */
static int isOrdinary(const spragBlock *block)
{
    return (block->kind == SPRAG_BLOCK_CONTACT || block->kind == SPRAG_BLOCK_TWO_SIDED) &&
           block->part != SPRAG_PART_OPPOSITE && block->part != SPRAG_PART_ROLLING;
}

static int fill(const struct spragWorld *world, const spragIsland *island, System *s)
{
    const spragProblem *p = &island->problem;
    s->m = island->block_count;
    if (s->m < 2 || s->m > MOST || world->config.analysis == SPRAG_ANALYSIS_OFF)
        return 0;
    for (int k = 0; k < s->m; ++k) {
        const spragBlock *block = &island->block[k];
        if (!isOrdinary(block) || spragNorm2(p->history[k].slip) <= SPRAG_SLIP_TOLERANCE)
            return 0;
        s->two_sided[k] = block->kind == SPRAG_BLOCK_TWO_SIDED;
        s->b[k] = freeAcceleration(world, island, k);
        const double usual = world->snapshot.step * fabs(s->b[k]) + 1e-9; /* m/s; faster is an impact */
        if (block->approach > usual || block->approach < -usual)
            return 0;
    }
    for (int j = 0; j < s->m; ++j) {
        const double *slip = p->history[j].slip, speed = spragNorm2(slip);
        const double mu[2] = {p->mu[j], spragMuMinusOf(p, j)};
        for (int i = 0; i < s->m; ++i) {
            const double *W = blockOf(p, i, j), rub = W != NULL ? (W[1] * slip[0] + W[2] * slip[1]) / speed : 0;
            s->normal[i][j] = W != NULL ? W[0] : 0;
            s->plus[i][j] = s->normal[i][j] - mu[0] * rub;
            s->minus[i][j] = -s->normal[i][j] - mu[1] * rub;
        }
    }
    return 1;
}

/* The minor of these rows and columns, over the product of its columns' largest entries; side NULL: without friction.
 * m <= 3, in closed form. */
static double minorOf(const System *s, const int *side, unsigned mask)
{
    double A[MOST][MOST], size = 1;
    int index[MOST], m = 0;
    for (int k = 0; k < s->m; ++k)
        if (mask >> k & 1)
            index[m++] = k;
    for (int j = 0; j < m; ++j) {
        const int k = index[j];
        double largest = 0;
        for (int i = 0; i < m; ++i) {
            A[j][i] = side == NULL  ? s->normal[index[i]][k]
                      : side[k] > 0 ? s->plus[index[i]][k]
                                    : -s->minus[index[i]][k];
            largest = fmax(largest, fabs(A[j][i]));
        }
        size *= largest;
    }
    if (!(size > 0))
        return 0;
    if (m == 1)
        return A[0][0] / size;
    if (m == 2)
        return (A[0][0] * A[1][1] - A[0][1] * A[1][0]) / size;
    double c[3];
    spragCross3(c, A[1], A[2]);
    return spragDot3(A[0], c) / size;
}

/* Is the minor positive, as for small friction?  Contacts at the same place have a minor of 0, with friction and
 * without: that counts as small. */
static int minorIsSmall(const System *s, const int *side, unsigned mask)
{
    const double minor = minorOf(s, side, mask);
    return minor > ZERO_PIVOT || (minor >= -ZERO_PIVOT && !(minorOf(s, NULL, mask) > ZERO_PIVOT));
}

static unsigned loadedBy(const System *s, const int *side)
{
    unsigned loaded = 0;
    for (int k = 0; k < s->m; ++k)
        loaded |= (unsigned)(side[k] != 0) << k;
    return loaded;
}

static int isSmall(const System *s, const int *side)
{
    const unsigned loaded = loadedBy(s, side);
    for (unsigned mask = 1; mask < 1u << s->m; ++mask)
        if ((mask & ~loaded) == 0 && !minorIsSmall(s, side, mask))
            return 0;
    return 1;
}

/* 1: there is a solution with these sides, N (m); 0: none; -1: singular, their contacts can share the load in any
 * way. */
static int solves(const System *s, const int *side, double *N)
{
    double A[MOST * MOST], x[MOST], largest = 0;
    int index[MOST], pivot[MOST], m = 0;
    for (int k = 0; k < s->m; ++k) {
        N[k] = 0;
        if (side[k] != 0)
            index[m++] = k;
    }
    for (int i = 0; i < m; ++i) {
        x[i] = -s->b[index[i]];
        for (int j = 0; j < m; ++j)
            A[m * i + j] = side[index[j]] > 0 ? s->plus[index[i]][index[j]] : s->minus[index[i]][index[j]];
    }
    if (m > 0 && spragLuFactor(m, A, pivot, ZERO_PIVOT) < m)
        return -1;
    if (m > 0)
        spragLuSolve(m, A, pivot, x);
    for (int i = 0; i < m; ++i)
        largest = fmax(largest, fabs(x[i]));
    for (int i = 0; i < m; ++i) {
        /* N = 0 is possible on both sides: it counts for the + side */
        if (side[index[i]] > 0 ? x[i] < -HYSTERESIS * largest : x[i] <= HYSTERESIS * largest)
            return 0;
        N[index[i]] = x[i];
    }
    for (int k = 0; k < s->m; ++k) {
        double w = s->b[k], size = fabs(w);
        for (int j = 0; j < s->m; ++j) {
            const double by = side[j] > 0 ? s->plus[k][j] * N[j] : side[j] < 0 ? s->minus[k][j] * N[j] : 0;
            w += by;
            size += fabs(by);
        }
        if (side[k] == 0 && !(w >= -ZERO_PIVOT * size)) /* w = 0: another contact at the same place bears its load */
            return 0;
    }
    return 1;
}

/* The next choice of sides (-1, 0, 1); 0: that was the last. */
static int advance(const System *s, int *side)
{
    for (int k = 0; k < s->m; ++k) {
        const int last = s->two_sided[k] ? -1 : 0;
        if (side[k] != last) {
            side[k] = last;
            return 1;
        }
        side[k] = 1;
    }
    return 0;
}

/* ---------------------------------------------------------------- friction that grows */

static System withFriction(const System *s, double share)
{
    System part = *s;
    for (int i = 0; i < s->m; ++i)
        for (int j = 0; j < s->m; ++j) {
            part.plus[i][j] = s->normal[i][j] + share * (s->plus[i][j] - s->normal[i][j]);
            part.minus[i][j] = -s->normal[i][j] + share * (s->minus[i][j] + s->normal[i][j]);
        }
    return part;
}

/* A solution whose determinant has the sign it has without friction: one that goes on as friction grows. */
static int goesOn(const System *s, const int *side)
{
    double N[MOST];
    const unsigned loaded = loadedBy(s, side);
    return solves(s, side, N) > 0 && (loaded == 0 || minorIsSmall(s, side, loaded));
}

/* Lets the first contact change its side, leave, or touch with which the solution goes on; 0: no single one. */
static int changeOne(const System *s, int *side)
{
    for (int k = 0; k < s->m; ++k) {
        const int was = side[k];
        side[k] = s->two_sided[k] ? -was : 1 - was;
        if (goesOn(s, side))
            return 1;
        side[k] = was;
    }
    return 0;
}

typedef struct Growth {
    const System *whole;
    int *side;
} Growth;

static int grow(void *data, double share, int last)
{
    const Growth *growth = data;
    const System part = withFriction(growth->whole, share);
    return goesOn(&part, growth->side) || (last && changeOne(&part, growth->side));
}

/* The sides at which the frictionless solution arrives as friction grows to what it is; 0: on its way it turns back or
 * runs to infinity. */
static int followFriction(const System *s, int *side)
{
    const System frictionless = withFriction(s, 0);
    for (int k = 0; k < s->m; ++k)
        side[k] = 1;
    while (!goesOn(&frictionless, side))
        if (!advance(s, side))
            return 0;
    return spragFrictionGrow(SHARE_SHORTEST, grow, &(Growth){s, side});
}

/* ---------------------------------------------------------------- choice */

/* How well these sides continue the last step: 4 for each old contact that stays on its side or stays open, 1 for each
 * fresh one that is open. */
static int continuity(const spragIsland *island, const int *side)
{
    int score = 0;
    for (int k = 0; k < island->block_count; ++k) {
        const spragContactHistory *past = &island->problem.history[k];
        if (past->fresh)
            score += side[k] == 0;
        else
            score += 4 * (past->mode == SPRAG_MODE_OPEN ? side[k] == 0 : side[k] == past->variant);
    }
    return score;
}

/* Solutions in which bodies move alike are one motion: contacts at the same place, or three on a line, can share a load
 * in many ways. */
typedef struct Motions {
    int count, realisable[1 << MOST];
    double r[1 << MOST][3 * MOST]; /* N s */
} Motions;

/* The impulses of sliding with these reactions over the step. */
static void slideWith(const spragProblem *p, const int *side, const double *N, double *r)
{
    for (int k = 0; k < p->contact_count; ++k) {
        const double *slip = p->history[k].slip, speed = spragNorm2(slip), impulse = N[k] * p->step;
        const double mu = side[k] < 0 ? spragMuMinusOf(p, k) : p->mu[k];
        r[3 * k] = side[k] * impulse;
        for (int a = 0; a < 2; ++a)
            r[3 * k + 1 + a] = -mu * impulse * slip[a] / speed;
    }
}

/* Is W (a - b) = 0?  Then no body feels a - b. */
static int areAlike(const spragProblem *p, const double *a, const double *b)
{
    for (int i = 0; i < 3 * p->contact_count; ++i) {
        double u = 0, size = 0;
        for (int j = 0; j < 3 * p->contact_count; ++j) {
            const double *W = blockOf(p, i / 3, j / 3), w = W != NULL ? W[3 * (i % 3) + j % 3] : 0;
            u += w * (a[j] - b[j]);
            size += fabs(w) * (fabs(a[j]) + fabs(b[j]));
        }
        if (fabs(u) > HYSTERESIS * size)
            return 0;
    }
    return 1;
}

/* The number of the motion with these reactions; a new one is added. */
static int noteMotion(Motions *motions, const spragProblem *p, const int *side, const double *N, int realisable)
{
    double *r = motions->r[motions->count];
    int k = 0;
    slideWith(p, side, N, r);
    while (k < motions->count && !areAlike(p, motions->r[k], r))
        ++k;
    motions->realisable[k] = realisable || (k < motions->count && motions->realisable[k]);
    motions->count += k == motions->count;
    return k;
}

/* Is there one solution whatever the load (docs/theory.md 3)?  So it is if mu is small for every choice of sides. */
static int areAllSmall(const System *s)
{
    int side[MOST] = {1, 1, 1}, all = 1;
    do
        all &= isSmall(s, side);
    while (advance(s, side));
    return all;
}

/* What the search over all choices of sides has found. */
typedef struct Choice {
    Motions motions;
    int best, motion; /* continuity of the realisable solution that is taken, and its motion; -1: there is none */
    int tied;         /* 1: another motion is as near to history */
    int undecided;    /* 1: a choice has a matrix that is singular to rounding */
} Choice;

/* Puts the realisable solution nearest to history into island->r; counts the motions of all solutions. */
static Choice choose(const System *s, spragIsland *island)
{
    Choice choice = {.best = -1, .motion = -1};
    int side[MOST] = {1, 1, 1};
    double N[MOST];
    do {
        const int solved = solves(s, side, N);
        choice.undecided |= solved < 0;
        if (solved <= 0)
            continue;
        const int small = isSmall(s, side), score = continuity(island, side);
        const int motion = noteMotion(&choice.motions, &island->problem, side, N, small);
        for (int k = 0; k < s->m && !small; ++k)
            island->coupled.separatrix[k] = side[k] < 0 ? -N[k] : N[k];
        if (!small || score < choice.best || (score == choice.best && motion == choice.motion))
            continue;
        choice.tied = score == choice.best;
        if (!choice.tied) {
            slideWith(&island->problem, side, N, island->r);
            choice.motion = motion;
        }
        choice.best = score;
    } while (advance(s, side));
    return choice;
}

static int classOf(const Motions *motions)
{
    int realisable = 0;
    for (int k = 0; k < motions->count; ++k)
        realisable += motions->realisable[k];
    if (motions->count == 0 || realisable == 0)
        return motions->count == 0 ? 1 : 2;
    return realisable > 1 ? 4 : motions->count > 1 ? 3 : 0;
}

void spragCoupledExamine(const struct spragWorld *world, spragIsland *island, spragContactHistory *history)
{
    System s;
    int side[MOST];
    double N[MOST];
    island->coupled = (spragCoupled){.examined = fill(world, island, &s)};
    if (!island->coupled.examined || areAllSmall(&s))
        return;
    const Choice choice = choose(&s, island);
    if (choice.motions.count == 0 &&
        choice.undecided) { /* contacts nearly at the same place: they are judged one by one */
        island->coupled.examined = 0;
        return;
    }
    if (choice.tied && followFriction(&s, side) && solves(&s, side, N) > 0 && isSmall(&s, side) &&
        continuity(island, side) == choice.best)
        slideWith(&island->problem, side, N, island->r);
    for (int k = 0; k < s.m; ++k)
        history[k].judged = choice.best >= 0;
    island->coupled.paradox_class = classOf(&choice.motions);
}

/* ---------------------------------------------------------------- afterwards */

/* Would the contact, alone and sliding, have no motion or several? */
static int isParadoxical(const struct spragWorld *world, const spragIsland *island, int k)
{
    const spragProblem *p = &island->problem;
    const spragContactHistory *past = &p->history[k];
    const spragIndicator alone = island->block[k].kind == SPRAG_BLOCK_TWO_SIDED
                                     ? spragIndicatorTwoSided(blockOf(p, k, k), p->mu[k], p->mu[k], past)
                                     : spragIndicatorOf(blockOf(p, k, k), p->mu[k], past, world->config.indeterminacy);
    return alone.quadrant >= SPRAG_QUADRANT_INDETERMINATE;
}

/* Two or three contacts and guides without joints or impacts, some of which slid: would one alone be in a paradox, or
 * do they brace themselves with impulses out of all proportion to what moves them, or do the laws barely hold? */
static int isDoubtful(const struct spragWorld *world, const spragIsland *island)
{
    const spragProblem *p = &island->problem;
    int slid = 0, paradoxical = 0;
    double greatest = 0; /* m/s^2 */
    if (world->config.analysis == SPRAG_ANALYSIS_OFF || island->block_count < 2 || island->block_count > MOST ||
        island->block_count != island->block_total || island->row_count > 0 || island->wedge.speed > 0)
        return 0;
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        if (!isOrdinary(block) || p->mu[k] != spragMuMinusOf(p, k) ||
            fabs(block->approach) > p->step * fabs(p->history[k].free_acceleration) + 1e-9)
            return 0;
        greatest = fmax(greatest, fabs(p->history[k].free_acceleration));
        slid |= spragNorm2(p->history[k].slip) > SPRAG_SLIP_TOLERANCE;
        paradoxical |= isParadoxical(world, island, k);
    }
    return slid && (paradoxical || island->solve.residual > BARELY * greatest * p->step || spragIsBraced(p, island->r));
}

void spragCoupledLookBack(const struct spragWorld *world, spragIsland *island)
{
    const spragProblem *p = &island->problem;
    const int nc = island->block_count, n = 3 * nc;
    double A[9 * MOST * MOST] = {0}, b[3 * MOST], slip[2 * MOST];
    unsigned char two_sided[MOST];
    if (island->coupled.examined || !isDoubtful(world, island))
        return;
    for (int k = 0; k < nc; ++k) {
        const spragBlock *block = &island->block[k];
        for (int row = 0; row < 3; ++row) {
            const double shift = row == 0 ? spragSingularShift(world, island, k) : 0;
            b[3 * k + row] = (p->q[3 * k + row] - shift + block->rhs[row] - block->velocity[row]) / p->step;
        }
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            for (int row = 0; row < 3; ++row)
                memcpy(A + n * (3 * k + row) + 3 * p->column[e], p->W + 9 * (size_t)e + 3 * row, 3 * sizeof *A);
        memcpy(slip + 2 * k, p->history[k].slip, sizeof p->history[k].slip);
        two_sided[k] = block->kind == SPRAG_BLOCK_TWO_SIDED;
    }
    spragSolutionSet set;
    const spragContactState state = {nc, A, b, slip, p->mu, p->mu, two_sided};
    if (spragParadoxEnumerate(&state, &set) != SPRAG_OK)
        return;
    if (!set.incomplete)
        island->coupled = (spragCoupled){.examined = 1, .paradox_class = set.paradox_class};
    for (int i = 0; i < set.count; ++i)
        for (int k = 0; k < nc && !set.solution[i].normal_stable; ++k)
            island->coupled.separatrix[k] = set.solution[i].r[3 * k];
    spragSolutionSetFree(&set);
}
