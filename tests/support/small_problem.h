/* A problem of a few blocks, with all of W: contacts with W = 1 and mu = 0 that ask for nothing until they are told. */
#ifndef TESTS_SUPPORT_SMALL_PROBLEM_H
#define TESTS_SUPPORT_SMALL_PROBLEM_H

#include <math.h>
#include <string.h>

#include <sprag/sprag.h>

enum { SMALL_MAX = 5 };

typedef struct Small {
    spragProblem problem;
    int row_start[SMALL_MAX + 1], column[SMALL_MAX * SMALL_MAX], parent[SMALL_MAX];
    double W[9 * SMALL_MAX * SMALL_MAX], q[3 * SMALL_MAX], mu[SMALL_MAX], mu_minus[SMALL_MAX], bound[6 * SMALL_MAX];
    unsigned char kind[SMALL_MAX];
} Small;

static inline double *smallW(Small *s, int k, int l)
{
    return s->W + 9 * (s->problem.contact_count * k + l);
}

static inline void setSmall(Small *s, int blocks)
{
    memset(s, 0, sizeof *s);
    s->problem = (spragProblem){.contact_count = blocks,
                                .block_count = blocks * blocks,
                                .row_start = s->row_start,
                                .column = s->column,
                                .W = s->W,
                                .q = s->q,
                                .mu = s->mu,
                                .mu_minus = s->mu_minus,
                                .kind = s->kind,
                                .bound = s->bound,
                                .parent = s->parent};
    for (int k = 0; k < blocks; ++k) {
        s->parent[k] = -1;
        s->row_start[k + 1] = blocks * (k + 1);
        for (int l = 0; l < blocks; ++l)
            s->column[blocks * k + l] = l;
        for (int i = 0; i < 9; i += 4)
            smallW(s, k, k)[i] = 1;
    }
}

#endif
