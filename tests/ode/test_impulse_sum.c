/* The impulses of an island on its bodies, by hand. */
#include "support/check.h"
#include "support/uniform.h"

#include <string.h>

#include "ode/islands/impulse_sum.h"
#include "ode/rows/joint_blocks.h"
#include "ode/rows/rows.h"

enum { BODIES = 3, BLOCKS = 4, LAST = BODIES - 1 };

/* Blocks between body 0 and the world, 0 and 1, 1 and 2, 2 and 0; body 2 is kinematic. */
typedef struct Heap {
    spragBodyState body[BODIES];
    spragBlock block[BLOCKS];
    spragSnapshot snapshot;
    spragIsland island;
    double r[3 * BLOCKS], sum[BODIES][6]; /* N s, N m s */
} Heap;

static const int bodies_of[BLOCKS][2] = {{0, -1}, {0, 1}, {1, 2}, {2, 0}};
static int number[BODIES] = {0, 1, 2};

static void makeHeap(Heap *heap)
{
    unsigned long long seed = 5;
    memset(heap, 0, sizeof *heap);
    heap->body[LAST].kinematic = 1;
    heap->snapshot.body = heap->body;
    heap->snapshot.body_count = BODIES;
    for (int k = 0; k < BLOCKS; ++k) {
        spragBlock *block = &heap->block[k];
        memcpy(block->body, bodies_of[k], sizeof block->body);
        for (int row = 0; row < 3; ++row) {
            heap->r[3 * k + row] = uniform(&seed);
            for (int side = 0; side < 2; ++side)
                for (int i = 0; i < 6 && block->body[side] >= 0; ++i) {
                    block->J[side][row][i] = uniform(&seed);
                    if (block->body[side] != LAST)
                        heap->sum[block->body[side]][i] += block->J[side][row][i] * heap->r[3 * k + row];
                }
        }
    }
    heap->island =
        (spragIsland){.body = number, .body_count = BODIES, .block = heap->block, .block_count = BLOCKS, .r = heap->r};
}

static void check(const Heap *heap)
{
    for (int b = 0; b < BODIES; ++b)
        for (int i = 0; i < 6; ++i)
            CHECK_NEAR(heap->body[b].impulse[i], heap->sum[b][i], 1e-15);
}

static void blocksPushTheirBodies(void **state)
{
    (void)state;
    static Heap heap;
    makeHeap(&heap);
    spragImpulseSum(&heap.snapshot, &heap.island);
    check(&heap);
}

/* The lists of blocks by bodies, for threads, give the same bits. */
static void soDoTheBlocksOfEachBody(void **state)
{
    (void)state;
    static Heap heap, other;
    int on_start[] = {0, 3, 5, 5}, on[] = {0, 1, 3, 1, 2}; /* dynamic ones alone */
    makeHeap(&heap), makeHeap(&other);
    heap.island.on_start = on_start, heap.island.on = on;
    spragImpulseSum(&heap.snapshot, &heap.island);
    spragImpulseSum(&other.snapshot, &other.island);
    check(&heap);
    for (int b = 0; b < BODIES; ++b)
        assert_memory_equal(heap.body[b].impulse, other.body[b].impulse, sizeof heap.body[b].impulse);
}

/* Rows of joints too; what a body had is added to. */
static void jointsPushThemToo(void **state)
{
    (void)state;
    static Heap heap;
    makeHeap(&heap);
    spragEqualityRow row = {.body = {1, LAST}, .impulse = 2};
    row.J[0][4] = row.J[1][4] = 3;
    heap.island.row = &row, heap.island.row_count = 1;
    heap.body[0].impulse[2] = 7;
    heap.sum[0][2] += 7, heap.sum[1][4] += 6;
    spragImpulseSum(&heap.snapshot, &heap.island);
    check(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocksPushTheirBodies),
        cmocka_unit_test(soDoTheBlocksOfEachBody),
        cmocka_unit_test(jointsPushThemToo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
