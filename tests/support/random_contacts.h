/* Random bodies and contacts between them for solve/greedy/greedy.h, the same bits everywhere. */
#ifndef TESTS_SUPPORT_RANDOM_CONTACTS_H
#define TESTS_SUPPORT_RANDOM_CONTACTS_H

#include <string.h>

#include "linalg/vec3.h"
#include "solve/greedy/greedy.h"
#include "support/uniform.h"

/* The last one is the world. */
static inline void randomBodies(spragGreedy *greedy, unsigned long long *seed)
{
    memset(greedy->body, 0, ((size_t)greedy->body_count + 1) * sizeof *greedy->body);
    for (int i = 0; i < greedy->body_count; ++i) {
        double G[3][3], I[9];
        const double inverse_mass = 1.5 + uniform(seed);
        for (int a = 0; a < 9; ++a)
            G[a / 3][a % 3] = uniform(seed);
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                I[3 * a + b] = spragDot3(G[a], G[b]) + (a == b);
        greedy->body[i] = spragGreedyBodyOf(inverse_mass, I);
    }
}

/* Contact k between body k and one after it, or the world. */
static inline void randomContact(spragGreedy *greedy, int k, unsigned long long *seed)
{
    spragGreedyContact *c = &greedy->contact[k];
    const int bodies = greedy->body_count;
    memset(c, 0, sizeof *c);
    int *pair = greedy->pair[k];
    pair[0] = k % bodies;
    pair[1] = k % 3 == 0 ? bodies : (k + 1 + k / bodies) % bodies;
    double x[3] = {uniform(seed), uniform(seed), uniform(seed)}, n[3] = {1, 0.3 * x[0], 0.3 * x[1]};
    const double size = spragNorm3(n);
    for (int i = 0; i < 3; ++i)
        c->direction[0][i] = n[i] / size;
    spragCross3(c->direction[1], c->direction[0], (double[3]){0, 0, 1});
    const double length = spragNorm3(c->direction[1]);
    for (int i = 0; i < 3; ++i)
        c->direction[1][i] /= length;
    spragCross3(c->direction[2], c->direction[0], c->direction[1]);
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < 3 && pair[side] < bodies; ++i)
            c->arm[side][i] = uniform(seed);
}

#endif
