/* A random heap for solve/greedy, and the same as a problem with W. */
#ifndef SPRAG_TESTS_GREEDY_HEAP_H
#define SPRAG_TESTS_GREEDY_HEAP_H

#include <stdlib.h>
#include <string.h>

#include "linalg/vec3.h"
#include "solve/greedy/greedy.h"
#include "support/check.h"
#include "support/random_contacts.h"
#include "support/random_problem.h"

enum { BODIES = 5 };

/* NC contacts on BODIES bodies of all masses, some on the world; W dense. */
typedef struct Heap {
    spragArena arena;
    spragGreedy greedy;
    Random random;
} Heap;

/* J_k M^-1 J_l^T of the bodies both touch, and the same as velocity of k per impulse of l. */
static void couple(const spragGreedy *greedy, int k, int l, double W[9])
{
    const spragGreedyContact *p = &greedy->contact[k], *q = &greedy->contact[l];
    static const int at[3][3] = {{0, 1, 2}, {1, 4, 5}, {2, 5, 6}}; /* of spragGreedyBody's inverse inertia */
    memset(W, 0, 9 * sizeof *W);
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b)
            for (int i = 0; greedy->pair[k][a] == greedy->pair[l][b] && i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    const spragGreedyBody *body = &greedy->body[greedy->pair[k][a]];
                    W[3 * i + j] +=
                        (a == b ? 1 : -1) * body->inverse_mass * spragDot3(p->direction[i], q->direction[j]);
                    double turn[2][3];
                    spragCross3(turn[0], p->arm[a], p->direction[i]);
                    spragCross3(turn[1], q->arm[b], q->direction[j]);
                    for (int c = 0; c < 9; ++c)
                        W[3 * i + j] += (a == b ? 1 : -1) * turn[0][c / 3] * body->inverse_inertia[at[c / 3][c % 3]] *
                                        turn[1][c % 3];
                }
}

static Heap *makeHeap(unsigned long long seed)
{
    Heap *heap = calloc(1, sizeof *heap);
    assert_non_null(heap);
    spragGreedy *greedy = &heap->greedy;
    assert_int_equal(spragGreedyInit(greedy, NC, BODIES, &heap->arena), 1);
    randomProblem(&heap->random, seed, 0.3, N);
    randomBodies(greedy, &seed);
    for (int k = 0; k < NC; ++k)
        randomContact(greedy, k, &seed);
    heap->random.problem.kind = NULL;
    heap->random.problem.mu_minus = NULL;
    for (int k = 0; k < NC; ++k) {
        greedy->contact[k].mu = heap->random.mu[k];
        spragGreedyFill(greedy, k, k + 1);
        for (int l = 0; l < NC; ++l)
            couple(greedy, k, l, heap->random.W + 9 * (NC * k + l));
        const double *const column[3] = {greedy->contact[k].normal, greedy->own[k].tangent[0],
                                         greedy->own[k].tangent[1]};
        for (int i = 0; i < 9; ++i)
            CHECK_NEAR(column[i % 3][i / 3], heap->random.W[9 * (NC + 1) * k + i], 1e-13);
        heap->random.q[3 * k] -= 0.5;
        memcpy(greedy->contact[k].q, heap->random.q + 3 * k, 3 * sizeof(double));
    }
    return heap;
}

static void freeHeap(Heap *heap)
{
    spragArenaFree(&heap->arena);
    free(heap);
}

static void impulses(const Heap *heap, double r[N])
{
    for (int k = 0; k < NC; ++k)
        memcpy(r + 3 * k, heap->greedy.contact[k].r, 3 * sizeof *r);
}

#endif
