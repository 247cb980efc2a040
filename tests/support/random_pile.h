/* Random contact problems of bodies that are known: W = J M^-1 J^T + C with its J and M, the same bits everywhere. */
#ifndef TESTS_SUPPORT_RANDOM_PILE_H
#define TESTS_SUPPORT_RANDOM_PILE_H

#include <math.h>
#include <string.h>

#include <sprag/sprag.h>

#include "linalg/vec3.h"
#include "problem/bodies.h"
#include "support/random_problem.h"

enum { PILE_BODIES = 10, PILE_NC = 64, PILE_N = 3 * PILE_NC }; /* more contacts than the chain calls few */

typedef struct Pile {
    spragProblem problem;
    spragBodies bodies;
    spragMass mass[PILE_BODIES];
    int of[2 * PILE_NC], row_start[PILE_NC + 1], column[PILE_NC * PILE_NC], parent[PILE_NC];
    double J[PILE_NC][2][3][6], W[9 * PILE_NC * PILE_NC], q[PILE_N], mu[PILE_NC], bound[6 * PILE_NC];
    unsigned char kind[PILE_NC];
} Pile;

/* kg; inertia of an ellipsoid turned by a random frame */
static inline void pileBody(spragMass *mass, const double frame[3][3], unsigned long long *seed)
{
    mass->mass = exp(1.5 * uniform(seed)), mass->inverse_mass = 1 / mass->mass;
    for (int axis = 0; axis < 3; ++axis) {
        const double inertia = mass->mass * 0.01 * (1.5 + uniform(seed));
        for (int i = 0; i < 9; ++i) {
            mass->inertia[i] += inertia * frame[axis][i / 3] * frame[axis][i % 3];
            mass->inverse_inertia[i] += frame[axis][i / 3] * frame[axis][i % 3] / inertia;
        }
    }
}

static inline void pileFrame(double frame[3][3], unsigned long long *seed)
{
    double b[3];
    for (int i = 0; i < 3; ++i)
        frame[0][i] = uniform(seed), b[i] = uniform(seed);
    const double size = spragNorm3(frame[0]);
    for (int i = 0; i < 3; ++i)
        frame[0][i] /= size;
    spragCross3(frame[1], frame[0], b);
    const double across = spragNorm3(frame[1]);
    for (int i = 0; i < 3; ++i)
        frame[1][i] /= across;
    spragCross3(frame[2], frame[0], frame[1]);
}

/* Y (2 x 3 x 6) = M^-1 J_k^T */
static inline void pileResponse(const Pile *pile, int k, double Y[2][3][6])
{
    memset(Y, 0, 36 * sizeof(double));
    for (int side = 0; side < 2; ++side)
        for (int row = 0; row < 3 && pile->of[2 * k + side] >= 0; ++row) {
            const spragMass *mass = &pile->mass[pile->of[2 * k + side]];
            for (int i = 0; i < 3; ++i)
                Y[side][row][i] = mass->inverse_mass * pile->J[k][side][row][i];
            spragMul33(Y[side][row] + 3, mass->inverse_inertia, pile->J[k][side][row] + 3);
        }
}

/* W_kl.  1: it is there. */
static inline int pileCouple(const Pile *pile, int k, int l, double W[9])
{
    double Y[2][3][6];
    int coupled = k == l;
    memset(W, 0, 9 * sizeof *W);
    pileResponse(pile, l, Y);
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) {
            if (pile->of[2 * k + a] < 0 || pile->of[2 * k + a] != pile->of[2 * l + b])
                continue;
            coupled = 1;
            for (int i = 0; i < 9; ++i)
                for (int c = 0; c < 6; ++c)
                    W[i] += pile->J[k][a][i / 3][c] * Y[b][i % 3][c];
        }
    return coupled;
}

static inline void pileDelassus(Pile *pile)
{
    int count = 0;
    for (int k = 0; k < PILE_NC; ++k) {
        for (int l = 0; l < PILE_NC; ++l)
            if (pileCouple(pile, k, l, pile->W + 9 * count))
                pile->column[count++] = l;
        pile->row_start[k + 1] = count;
    }
    pile->problem.block_count = count;
}

/* Body i rests on an earlier one, or on the ground, by `each` contacts around a point; q = J v, v random. */
static inline void randomPile(Pile *pile, unsigned long long seed, double mu, int each)
{
    memset(pile, 0, sizeof *pile);
    double centre[PILE_BODIES][3], frame[3][3], point[3] = {0, 0, 0}, v[PILE_BODIES][6];
    for (int i = 0; i < PILE_BODIES; ++i) {
        pileFrame(frame, &seed);
        pileBody(&pile->mass[i], (const double(*)[3])frame, &seed);
        for (int c = 0; c < 6; ++c)
            v[i][c] = 0.1 * uniform(&seed);
        for (int c = 0; c < 3; ++c)
            centre[i][c] = 0.3 * uniform(&seed) + (c == 2 ? 0.3 * i : 0);
    }
    for (int k = 0; k < PILE_NC; ++k) {
        const int pair = k / each, a = pair % PILE_BODIES;
        if (k % each == 0) {
            pileFrame(frame, &seed);
            pile->of[2 * k] = a;
            pile->of[2 * k + 1] = pair < PILE_BODIES && a > 0 ? a - 1 : a > 1 && pair % 3 != 0 ? a - 2 : -1;
            for (int c = 0; c < 3; ++c)
                point[c] = centre[a][c] - 0.1 * frame[0][c];
        } else {
            memcpy(pile->of + 2 * k, pile->of + 2 * (k - 1), 2 * sizeof(int));
        }
        const double x = 0.1 * uniform(&seed), y = 0.1 * uniform(&seed);
        for (int side = 0; side < 2; ++side)
            for (int row = 0; row < 3 && pile->of[2 * k + side] >= 0; ++row) {
                double arm[3], *J = pile->J[k][side][row];
                for (int c = 0; c < 3; ++c) {
                    arm[c] = point[c] + x * frame[1][c] + y * frame[2][c] - centre[pile->of[2 * k + side]][c];
                    J[c] = side == 0 ? frame[row][c] : -frame[row][c];
                }
                spragCross3(J + 3, arm, J);
                for (int c = 0; c < 6; ++c)
                    pile->q[3 * k + row] += J[c] * v[pile->of[2 * k + side]][c];
            }
        pile->mu[k] = mu * (1.1 + uniform(&seed));
        pile->parent[k] = -1;
        for (int i = 0; i < 3; ++i)
            pile->bound[6 * k + i] = -0.02, pile->bound[6 * k + 3 + i] = i == 1 ? INFINITY : 0.03;
    }
    pileDelassus(pile);
    pile->bodies = (spragBodies){
        .count = PILE_BODIES, .mass = pile->mass, .of = pile->of, .J = &pile->J[0][0][0][0], .stride = 36};
    pile->problem = (spragProblem){.contact_count = PILE_NC,
                                   .block_count = pile->problem.block_count,
                                   .row_start = pile->row_start,
                                   .column = pile->column,
                                   .W = pile->W,
                                   .q = pile->q,
                                   .mu = pile->mu,
                                   .bodies = &pile->bodies};
}

/* Every kind of block; of a pair's first five, the fifth rolls on the first. */
static inline void mixPile(Pile *pile, int each)
{
    for (int k = 0; k < PILE_NC; ++k) {
        pile->kind[k] = (unsigned char)(k % each % 5);
        if (pile->kind[k] == SPRAG_BLOCK_ROLLING)
            pile->parent[k] = k - SPRAG_BLOCK_ROLLING;
    }
    pile->problem.kind = pile->kind, pile->problem.parent = pile->parent, pile->problem.bound = pile->bound;
}

/* A share of W_kk more on the diagonal of every other block. */
static inline void softenPile(Pile *pile, double share)
{
    for (int k = 0; k < PILE_NC; k += 2)
        for (int e = pile->row_start[k]; e < pile->row_start[k + 1]; ++e)
            for (int i = 0; i < 3 && pile->column[e] == k; ++i)
                pile->W[9 * e + 4 * i] *= 1 + share;
}

#endif
