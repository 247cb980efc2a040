/* Random contact problems of every block kind, the same bits everywhere. */
#ifndef TESTS_SUPPORT_RANDOM_PROBLEM_H
#define TESTS_SUPPORT_RANDOM_PROBLEM_H

#include <math.h>
#include <string.h>

#include <sprag/sprag.h>

#include "support/uniform.h"

enum { NC = 12, N = 3 * NC };

typedef struct Random {
    spragProblem problem;
    int row_start[NC + 1], column[NC * NC], parent[NC];
    double W[9 * NC * NC], q[N], mu[NC], mu_minus[NC], bound[6 * NC];
    unsigned char kind[NC];
} Random;

/* W = G G' with G (N x columns) dense and random, q = G v: hyperstatic where columns < N. */
static inline void randomProblem(Random *random, unsigned long long seed, double mu, int columns)
{
    static double G[N][2 * N];
    double v[2 * N];
    memset(random, 0, sizeof *random);
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < columns; ++j)
            G[i][j] = uniform(&seed);
    for (int j = 0; j < columns; ++j)
        v[j] = 0.2 * uniform(&seed);
    for (int k = 0; k < NC; ++k) {
        random->row_start[k + 1] = NC * (k + 1);
        random->mu[k] = mu * (1.1 + uniform(&seed)), random->mu_minus[k] = 0.5 * mu;
        random->parent[k] = -1;
        for (int i = 0; i < 3; ++i) {
            for (int c = 0; c < columns; ++c)
                random->q[3 * k + i] += G[3 * k + i][c] * v[c];
            random->bound[6 * k + i] = -0.02, random->bound[6 * k + 3 + i] = i == 1 ? INFINITY : 0.03;
        }
        for (int j = 0; j < NC; ++j) {
            random->column[NC * k + j] = j;
            for (int i = 0; i < 9; ++i)
                for (int c = 0; c < columns; ++c)
                    random->W[9 * (NC * k + j) + i] += G[3 * k + i / 3][c] * G[3 * j + i % 3][c];
        }
    }
    random->problem = (spragProblem){.contact_count = NC,
                                     .block_count = NC * NC,
                                     .row_start = random->row_start,
                                     .column = random->column,
                                     .W = random->W,
                                     .q = random->q,
                                     .mu = random->mu,
                                     .mu_minus = random->mu_minus,
                                     .kind = random->kind,
                                     .bound = random->bound,
                                     .parent = random->parent};
}

/* W = G G' + ridge, G (3 x 3) random. */
static inline void randomBlock(unsigned long long *seed, double ridge, double W[9])
{
    double G[9];
    for (int i = 0; i < 9; ++i)
        G[i] = uniform(seed);
    for (int i = 0; i < 9; ++i) {
        W[i] = i % 4 == 0 ? ridge : 0;
        for (int k = 0; k < 3; ++k)
            W[i] += G[3 * (i / 3) + k] * G[3 * (i % 3) + k];
    }
}

/* A problem of one block. */
typedef struct One {
    spragProblem problem;
    double W[9], q[3], mu, mu_minus, bound[6];
    int row_start[2], column, parent;
    unsigned char kind;
} One;

/* The problem of the numbers that are there. */
static inline void oneInit(One *one, spragBlockKind kind)
{
    one->kind = (unsigned char)kind;
    one->row_start[0] = one->column = 0, one->row_start[1] = 1, one->parent = -1;
    one->problem = (spragProblem){.contact_count = 1,
                                  .block_count = 1,
                                  .row_start = one->row_start,
                                  .column = &one->column,
                                  .W = one->W,
                                  .q = one->q,
                                  .mu = &one->mu,
                                  .mu_minus = &one->mu_minus,
                                  .kind = &one->kind,
                                  .bound = one->bound,
                                  .parent = &one->parent};
}

/* Kinds in turn: CONTACT, TWO_SIDED, FORCE_LIMIT, BOX, ROLLING. */
static inline void mixKinds(Random *random)
{
    for (int k = 0; k < NC; ++k) {
        random->kind[k] = (unsigned char)(k % 5);
        if (random->kind[k] == SPRAG_BLOCK_ROLLING)
            random->parent[k] = k - SPRAG_BLOCK_ROLLING; /* a CONTACT */
    }
}

/* Sign of row i of block k in a mirror that turns t2 round; a turning about t1 or n then goes the other way.  Rows with
 * bounds of their own are left alone. */
static inline double mirrorSign(const Random *random, int k, int i)
{
    switch (random->kind[k]) {
    case SPRAG_BLOCK_BOX:
        return 1;
    case SPRAG_BLOCK_ROLLING:
        return i == 1 ? 1 : -1;
    default:
        return i == 2 ? -1 : 1;
    }
}

/* The problem in other units, masses times `mass` and velocities times `speed`, powers of two, and in a mirror: all its
 * numbers are the old ones exactly, but for scale and sign. */
static inline void changeUnits(Random *random, double mass, double speed)
{
    for (int e = 0; e < NC * NC; ++e)
        for (int i = 0; i < 9; ++i)
            random->W[9 * e + i] *= mirrorSign(random, e / NC, i / 3) * mirrorSign(random, e % NC, i % 3) / mass;
    for (int i = 0; i < N; ++i)
        random->q[i] *= mirrorSign(random, i / 3, i % 3) * speed;
    for (int i = 0; i < 6 * NC; ++i)
        random->bound[i] *= mass * speed;
    for (int k = 0; k < NC; ++k)
        if (random->kind[k] == SPRAG_BLOCK_FORCE_LIMIT)
            random->mu[k] *= mass * speed;
}

/* Impulses of the changed problem are those of the other: to the last bit, or (within > 0) nearly. */
static inline int sameInOtherUnits(const Random *random, const double *changed, const double *r, double scale,
                                   double within)
{
    int same = 1;
    for (int i = 0; i < N; ++i)
        same &= fabs(changed[i] * mirrorSign(random, i / 3, i % 3) / scale - r[i]) <= within;
    return same;
}

#endif
