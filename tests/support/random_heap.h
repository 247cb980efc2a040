/* A heap of random contacts for solve/greedy/greedy.h, in double precision or widened to single. */
#ifndef TESTS_SUPPORT_RANDOM_HEAP_H
#define TESTS_SUPPORT_RANDOM_HEAP_H

#include <math.h>
#include <stdlib.h>

#include "solve/greedy/greedy.h"
#include "support/check.h"
#include "support/random_contacts.h"

enum { CONTACTS = 301, BODIES = 120 };

typedef struct Heap {
    spragArena arena;
    spragGreedy greedy;
} Heap;

/* mu: of all contacts; NAN: each has its own, some none.  plate: body 0 has a part in every contact. */
static inline Heap *openHeap(unsigned long long seed, double mu, int plate, int wide)
{
    Heap *heap = calloc(1, sizeof *heap);
    assert_non_null(heap);
    spragGreedy *greedy = &heap->greedy;
    assert_int_equal(spragGreedyInit(greedy, CONTACTS, BODIES, &heap->arena), 1);
    if (wide)
        assert_int_equal(spragGreedyWiden(greedy), 1);
    assert_int_equal(greedy->lanes != NULL, wide);
    randomBodies(greedy, &seed);
    for (int k = 0; k < CONTACTS; ++k) {
        randomContact(greedy, k, &seed);
        spragGreedyContact *c = &greedy->contact[k];
        if (plate && greedy->pair[k][0] != 0)
            greedy->pair[k][1] = 0;
        c->mu = !isnan(mu) ? mu : k % 7 == 0 ? 0 : 0.3 + 0.1 * uniform(&seed);
        c->q[0] = uniform(&seed) - 0.5, c->q[1] = uniform(&seed), c->q[2] = uniform(&seed);
    }
    spragGreedyFill(greedy, 0, CONTACTS);
    spragGreedyBegin(greedy, NULL, NULL);
    assert_int_equal(greedy->visits, 0);
    return heap;
}

static inline void freeHeap(Heap *heap)
{
    spragArenaFree(&heap->arena);
    free(heap);
}

#endif
