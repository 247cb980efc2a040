/* Balls of radius 1 on a cubic lattice, touching their neighbours and the floor: a contact problem of any size.  Free
 * velocities are those of one step of gravity and a random part; masses vary by a factor of three. */
#ifndef TESTS_SUPPORT_LATTICE_H
#define TESTS_SUPPORT_LATTICE_H

#include <stdlib.h>

#include "problem/problem.h"
#include "support/random_problem.h"

/* Coupling of the rows d of contact k (normal along axis a, side sk of the ball) and e of contact l through one ball:
 * of inverse mass m, with d, e axes in the order normal, next, next but one.  J = (s d, -n x d), inertia 2/5 m. */
static inline void latticeCouple(double *W, double m, int a, double sk, int b, double sl)
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const int d = (a + i) % 3, e = (b + j) % 3;
            double value = d == e ? m * sk * sl : 0;
            if (i > 0 && j > 0) { /* n x t1 = t2, n x t2 = -t1 */
                const int rd = (a + 3 - i) % 3, re = (b + 3 - j) % 3;
                value += rd == re ? 2.5 * m * (i == 1 ? 1 : -1) * (j == 1 ? 1 : -1) : 0;
            }
            W[3 * i + j] += value;
        }
}

/* Which balls touch, and how they would move. */
typedef struct Lattice {
    int nc;
    int (*ball)[2], *axis; /* (nc) balls of a contact, -1: the floor; its normal points from the first along the axis */
    double *inverse;       /* (balls) 1/kg */
    double (*v)[3];        /* (balls) m/s */
} Lattice;

static inline void latticeFill(Lattice *lattice, int side, int height, unsigned long long *seed)
{
    const int balls = side * side * height, stride[3] = {1, side, side * side}, extent[3] = {side, side, height};
    int(*ball)[2] = lattice->ball = malloc(3 * (size_t)balls * sizeof *ball), nc = 0;
    lattice->axis = malloc(3 * (size_t)balls * sizeof *lattice->axis);
    lattice->inverse = malloc((size_t)balls * sizeof *lattice->inverse);
    lattice->v = malloc((size_t)balls * sizeof *lattice->v);
    for (int i = 0; i < balls; ++i) {
        const int place[3] = {i % side, i / side % side, i / side / side};
        lattice->inverse[i] = 1 + 0.5 * uniform(seed);
        for (int a = 0; a < 3; ++a)
            lattice->v[i][a] = 0.02 * uniform(seed) - (a == 2 ? 0.04 : 0);
        for (int a = 0; a < 3; ++a) {
            if (a == 2 && place[2] == 0)
                ball[nc][0] = -1, ball[nc][1] = i, lattice->axis[nc++] = 2;
            if (place[a] + 1 < extent[a])
                ball[nc][0] = i, ball[nc][1] = i + stride[a], lattice->axis[nc++] = a;
        }
    }
    lattice->nc = nc;
}

/* W_kl.  1: it is there. */
static inline int latticeBlock(const Lattice *lattice, int k, int l, double W[9])
{
    int shared = 0;
    memset(W, 0, 9 * sizeof *W);
    for (int s = 0; s < 4; ++s) {
        const int ball = lattice->ball[k][s / 2];
        if (ball < 0 || ball != lattice->ball[l][s % 2])
            continue;
        latticeCouple(W, lattice->inverse[ball], lattice->axis[k], s / 2 ? 1 : -1, lattice->axis[l], s % 2 ? 1 : -1);
        shared = 1;
    }
    return shared;
}

/* side x side x height balls.  Free with spragProblemFree(&data->problem). */
static inline spragProblemData *latticeCreate(int side, int height, double mu, unsigned long long seed)
{
    Lattice lattice;
    double W[9];
    int blocks = 0;
    latticeFill(&lattice, side, height, &seed);
    for (int i = 0; i < lattice.nc * lattice.nc; ++i)
        blocks += latticeBlock(&lattice, i / lattice.nc, i % lattice.nc, W);
    spragProblemData *data = spragProblemCreate(lattice.nc, blocks);
    for (int k = 0, at = 0; k < lattice.nc; ++k) {
        for (int l = 0; l < lattice.nc; ++l)
            if (latticeBlock(&lattice, k, l, W)) {
                data->column[at] = l;
                memcpy(data->W + 9 * (size_t)at++, W, sizeof W);
            }
        data->row_start[k + 1] = at;
        data->mu[k] = data->mu_minus[k] = mu;
        for (int i = 0; i < 6; ++i) {
            const int ball = lattice.ball[k][i % 2];
            if (ball >= 0)
                data->q[3 * k + i / 2] += (i % 2 ? 1 : -1) * lattice.v[ball][(lattice.axis[k] + i / 2) % 3];
        }
    }
    free(lattice.ball), free(lattice.axis), free(lattice.inverse), free(lattice.v);
    return data;
}

#endif
