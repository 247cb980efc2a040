/* The pattern of W against its definition: blocks k and l are coupled iff they share a group, a body that moves or all
 * bodies of a mechanism. */
#include "support/check.h"
#include "support/uniform.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ode/matrix/delassus_pattern.h"

enum { BODIES = 30, BLOCKS = 200 };

/* An island as far as its pattern asks for it. */
typedef struct Made {
    struct spragWorld world;
    spragBodyState body[BODIES];
    int number[BODIES], on[2 * BLOCKS];
    spragLane lane;
    spragIsland island;
    spragAdjacency adjacency;
} Made;

static int below(unsigned long long *seed, int n)
{
    return (int)(fabs(uniform(seed)) * n) % n;
}

/* Body 0 is kinematic and in no island.  Mechanisms are runs of so many bodies each; 0: there are none.  Blocks are on
 * two bodies, or on one and what does not move; half of them are on the same two as the block before. */
static Made *make(unsigned long long seed, int blocks, int mechanisms)
{
    Made *m = aligned_alloc(_Alignof(Made), (sizeof(Made) + _Alignof(Made) - 1) / _Alignof(Made) * _Alignof(Made));
    assert_non_null(m);
    memset(m, 0, sizeof *m);
    m->body[0].kinematic = 1;
    m->body[0].place = 5; /* nobody's */
    for (int i = 1; i < BODIES; ++i) {
        m->number[i - 1] = i;
        m->body[i].place = mechanisms > 0 && i > 1 && i % mechanisms > 0 ? m->body[i - 1].place : i - 1;
    }
    for (int k = 0; k < blocks; ++k) {
        int *on = m->on + 2 * k;
        if (k > 0 && uniform(&seed) > 0) {
            memcpy(on, on - 2, 2 * sizeof *on);
            continue;
        }
        on[0] = 1 + below(&seed, BODIES - 1);
        on[1] = below(&seed, BODIES + 1) - 1; /* the world, body 0 or any other */
        if (uniform(&seed) > 0.8) {
            const int swap = on[0];
            on[0] = on[1], on[1] = swap;
        }
    }
    m->world.snapshot = (spragSnapshot){.body = m->body, .body_count = BODIES};
    m->island = (spragIsland){
        .body = m->number, .body_count = BODIES - 1, .block_count = blocks, .lane = &m->lane, .problem.body = m->on};
    return m;
}

static void destroy(Made *m)
{
    spragArenaFree(&m->lane.arena);
    spragArenaFree(&m->lane.scratch);
    free(m);
}

/* The group of either side of block k, or -1. */
static int groupOf(const Made *m, int k, int side)
{
    const int body = m->on[2 * k + side];
    return body > 0 ? m->body[body].place : -1;
}

static int areCoupled(const Made *m, int k, int l)
{
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b)
            if (groupOf(m, k, a) >= 0 && groupOf(m, k, a) == groupOf(m, l, b))
                return 1;
    return 0;
}

static void groupsListTheirBlocks(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        Made *m = make(seed, BLOCKS, (int)(seed % 4));
        assert_true(spragAdjacencyMake(&m->world, &m->island, &m->adjacency));
        assert_ptr_equal(m->island.on_start, m->adjacency.start);
        assert_ptr_equal(m->island.on, m->adjacency.list);
        for (int group = 0; group < BODIES - 1; ++group) {
            int at = m->adjacency.start[group];
            for (int k = 0; k < BLOCKS; ++k) {
                const int first = groupOf(m, k, 0), second = groupOf(m, k, 1);
                assert_int_equal(m->adjacency.group[k][0], first);
                assert_int_equal(m->adjacency.group[k][1], second == first ? -1 : second);
                if (first == group || second == group)
                    assert_int_equal(m->adjacency.list[at++], k);
            }
            assert_int_equal(at, m->adjacency.start[group + 1]);
        }
        destroy(m);
    }
}

static void blocksThatShareAGroupAreCoupled(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        Made *m = make(seed, BLOCKS, (int)(seed % 4));
        assert_true(spragAdjacencyMake(&m->world, &m->island, &m->adjacency));
        const size_t bound = spragPatternBound(&m->island, &m->adjacency);
        assert_true(spragPatternMake(&m->island, &m->adjacency, bound));
        assert_null(m->island.declined);
        const spragProblem *p = &m->island.problem;
        int e = 0;
        assert_int_equal(p->contact_count, BLOCKS);
        assert_int_equal(p->row_start[0], 0);
        for (int k = 0; k < BLOCKS; ++k) {
            for (int l = 0; l < BLOCKS; ++l)
                if (areCoupled(m, k, l))
                    assert_int_equal(p->column[e++], l);
            assert_int_equal(p->row_start[k + 1], e);
        }
        assert_int_equal(p->block_count, e);
        assert_true(bound >= (size_t)e);
        destroy(m);
    }
}

static void theDiagonalAlone(void **state)
{
    (void)state;
    Made *m = make(3, BLOCKS, 2);
    assert_true(spragPatternMakeDiagonal(&m->island));
    const spragProblem *p = &m->island.problem;
    assert_int_equal(p->contact_count, BLOCKS);
    assert_int_equal(p->block_count, BLOCKS);
    for (int k = 0; k < BLOCKS; ++k) {
        assert_int_equal(p->row_start[k], k);
        assert_int_equal(p->column[k], k);
    }
    assert_int_equal(p->row_start[BLOCKS], BLOCKS);
    destroy(m);
}

/* Nothing is allocated for a W that would be too large; the island fails, and with it no more than that. */
static void tooLargeAHeapFails(void **state)
{
    (void)state;
    Made *m = make(5, BLOCKS, 0);
    assert_true(spragAdjacencyMake(&m->world, &m->island, &m->adjacency));
    const spragArenaMark before = spragArenaMarkGet(&m->lane.arena);
    assert_true(spragPatternMake(&m->island, &m->adjacency, (size_t)SPRAG_PATTERN_MOST + 1));
    const spragArenaMark after = spragArenaMarkGet(&m->lane.arena);
    assert_true(before.chunk == after.chunk && before.used == after.used);
    assert_non_null(m->island.declined);
    assert_int_equal(m->island.failed, 1);
    assert_null(m->island.problem.row_start);
    destroy(m);
}

static void everyFailingAllocationIsReported(void **state)
{
    (void)state;
    int made = 0;
    for (unsigned long n = 1; !made; ++n) {
        Made *m = make(7, BLOCKS, 3);
        spragAllocFailAt(n);
        made = spragAdjacencyMake(&m->world, &m->island, &m->adjacency) &&
               spragPatternMake(&m->island, &m->adjacency, spragPatternBound(&m->island, &m->adjacency));
        spragAllocFailAt(0);
        assert_true(made || n < 8);
        assert_true(made || m->island.problem.column == NULL);
        assert_null(m->island.declined);
        destroy(m);
        if (made)
            assert_true(n > 2); /* some did fail */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groupsListTheirBlocks),
                                       cmocka_unit_test(blocksThatShareAGroupAreCoupled),
                                       cmocka_unit_test(theDiagonalAlone), cmocka_unit_test(tooLargeAHeapFails),
                                       cmocka_unit_test(everyFailingAllocationIsReported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
