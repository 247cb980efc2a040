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

/* side x side x height balls.  Free with spragProblemFree(&data->problem). */
static inline spragProblemData *latticeCreate(int side, int height, double mu, unsigned long long seed)
{
    const int balls = side * side * height, stride[3] = {1, side, side * side};
    const int extent[3] = {side, side, height};
    int(*ball)[2] = malloc(3 * (size_t)balls * sizeof *ball), *axis = malloc(3 * (size_t)balls * sizeof *axis), nc = 0;
    double *inverse = malloc((size_t)balls * sizeof *inverse), (*v)[3] = malloc((size_t)balls * sizeof *v);
    for (int i = 0; i < balls; ++i) {
        const int place[3] = {i % side, i / side % side, i / side / side};
        inverse[i] = 1 + 0.5 * uniform(&seed);
        for (int a = 0; a < 3; ++a)
            v[i][a] = 0.02 * uniform(&seed) - (a == 2 ? 0.04 : 0);
        for (int a = 0; a < 3; ++a) {
            if (a == 2 && place[2] == 0)
                ball[nc][0] = -1, ball[nc][1] = i, axis[nc++] = 2;
            if (place[a] + 1 < extent[a])
                ball[nc][0] = i, ball[nc][1] = i + stride[a], axis[nc++] = a;
        }
    }
    int blocks = 0;
    spragProblemData *data = NULL;
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 1)
            data = spragProblemCreate(nc, blocks);
        int at = 0;
        for (int k = 0; k < nc; ++k) {
            for (int l = 0; l < nc; ++l) {
                double W[9] = {0};
                int shared = 0;
                for (int s = 0; s < 4; ++s)
                    if (ball[k][s / 2] >= 0 && ball[k][s / 2] == ball[l][s % 2]) {
                        latticeCouple(W, inverse[ball[k][s / 2]], axis[k], s / 2 ? 1 : -1, axis[l], s % 2 ? 1 : -1);
                        shared = 1;
                    }
                if (!shared)
                    continue;
                if (pass == 1) {
                    data->column[at] = l;
                    memcpy(data->W + 9 * (size_t)at, W, sizeof W);
                }
                ++at;
            }
            if (pass == 0)
                continue;
            data->row_start[k + 1] = at;
            data->mu[k] = data->mu_minus[k] = mu;
            for (int i = 0; i < 3; ++i)
                for (int s = 0; s < 2; ++s)
                    if (ball[k][s] >= 0)
                        data->q[3 * k + i] += (s ? 1 : -1) * v[ball[k][s]][(axis[k] + i) % 3];
        }
        blocks = at;
    }
    free(ball), free(axis), free(inverse), free(v);
    return data;
}

#endif
