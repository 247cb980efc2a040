/* The arena: zeroed, aligned, disjoint blocks; a steady state that allocates nothing; NULL where there is no memory. */
#include "support/check.h"

#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/arena.h"

static void blocksAreZeroedAlignedAndDisjoint(void **state)
{
    (void)state;
    spragArena arena = {0};
    double *a = SPRAG_TAKE(&arena, double, 100);
    memset(a, 0xff, 100 * sizeof *a);
    double *b = SPRAG_TAKE(&arena, double, 100000); /* does not fit: overflow chunk */
    assert_non_null(b);
    assert_int_equal((uintptr_t)a % 64, 0);
    assert_int_equal((uintptr_t)b % 64, 0);
    for (int i = 0; i < 100000; ++i)
        assert_true(b[i] == 0);
    spragArenaFree(&arena);
}

static void steadyStateAllocatesNothing(void **state)
{
    (void)state;
    spragArena arena = {0};
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 50; ++i)
            assert_non_null(spragArenaTake(&arena, 1000, 8));
        spragArenaReset(&arena);
    }
    const unsigned long before = spragAllocCount();
    for (int i = 0; i < 50; ++i)
        assert_non_null(spragArenaTake(&arena, 1000, 8));
    spragArenaReset(&arena);
    assert_int_equal(spragAllocCount(), before);
    spragArenaFree(&arena);
}

/* A pile whose contacts grow by a hundredth a step. */
static void slowGrowthAllocatesSeldom(void **state)
{
    (void)state;
    spragArena arena = {0};
    const unsigned long before = spragAllocCount();
    for (size_t count = 10000; count < 40000; count += count / 100) {
        for (int i = 0; i < 10; ++i)
            assert_non_null(spragArenaTake(&arena, count, 8));
        spragArenaReset(&arena);
    }
    assert_in_range(spragAllocCount() - before, 1, 40);
    spragArenaFree(&arena);
}

/* Pages of this process that were new when they were touched, so far. */
static long faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

/* An arena of 600 kB that needs another 8 bytes: pages are had as they are taken, not all of those of a new chunk; and
 * the new chunk is kept. */
static void growthTouchesWhatIsTaken(void **state)
{
    (void)state;
    spragArena arena = {0};
    assert_non_null(spragArenaTake(&arena, 600, 1024));
    const long before = faults();
    assert_non_null(spragArenaTake(&arena, 1, 8));
    assert_true(faults() - before <= 50); /* of 4 kB: 150 if all were touched */
    const void *chunk = arena.chunk;
    spragArenaReset(&arena);
    assert_ptr_equal(arena.chunk, chunk);
    const unsigned long allocated = spragAllocCount();
    assert_non_null(spragArenaTake(&arena, 600, 1024));
    assert_non_null(spragArenaTake(&arena, 1, 8));
    assert_int_equal(spragAllocCount(), allocated);
    spragArenaFree(&arena);
}

static void releaseReturnsToTheMark(void **state)
{
    (void)state;
    spragArena arena = {0};
    spragArenaTake(&arena, 10, 8);
    const spragArenaMark mark = spragArenaMarkGet(&arena);
    void *first = spragArenaTake(&arena, 10, 8);
    spragArenaTake(&arena, 1 << 20, 8);
    spragArenaRelease(&arena, mark);
    assert_ptr_equal(spragArenaTake(&arena, 10, 8), first);
    spragArenaFree(&arena);
}

/* A method that needs a chunk, is done, and comes again. */
static void releasedChunksAreTakenAgain(void **state)
{
    (void)state;
    spragArena arena = {0};
    spragArenaTake(&arena, 10, 8);
    const spragArenaMark mark = spragArenaMarkGet(&arena);
    assert_non_null(spragArenaTake(&arena, 1 << 18, 8));
    spragArenaRelease(&arena, mark);
    const unsigned long allocated = spragAllocCount();
    assert_non_null(spragArenaTake(&arena, 1 << 18, 8));
    assert_int_equal(spragAllocCount(), allocated);
    spragArenaRelease(&arena, mark);
    spragArenaReset(&arena);
    assert_int_equal(spragAllocCount(), allocated);
    assert_null(arena.spare);
    assert_non_null(spragArenaTake(&arena, 1 << 18, 8));
    assert_int_equal(spragAllocCount(), allocated);
    spragArenaFree(&arena);
}

static void outOfMemoryIsNull(void **state)
{
    (void)state;
    spragArena arena = {0};
    assert_null(spragArenaTake(&arena, SIZE_MAX / 4, 8));
    spragAllocFailAt(1);
    assert_null(spragArenaTake(&arena, 1, 8));
    spragAllocFailAt(0);
    assert_non_null(spragArenaTake(&arena, 1, 8));
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocksAreZeroedAlignedAndDisjoint),
        cmocka_unit_test(steadyStateAllocatesNothing),
        cmocka_unit_test(slowGrowthAllocatesSeldom),
        cmocka_unit_test(growthTouchesWhatIsTaken),
        cmocka_unit_test(releaseReturnsToTheMark),
        cmocka_unit_test(releasedChunksAreTakenAgain),
        cmocka_unit_test(outOfMemoryIsNull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
