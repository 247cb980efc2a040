/* Allocation: zeroed, aligned, counted, refused where the size overflows or a test says so. */
#include "support/check.h"

#include <string.h>

#include "base/alloc.h"

static void memoryIsZeroedAndAligned(void **state)
{
    (void)state;
    for (size_t count = 0; count < 200; count += 7) {
        unsigned char *memory = spragAlloc(count, 3);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 64, 0);
        for (size_t i = 0; i < 3 * count; ++i)
            assert_int_equal(memory[i], 0);
        spragFree(memory);
    }
    spragFree(NULL);
}

/* On huge pages, where there are any. */
static void largeMemoryIsZeroedAndAligned(void **state)
{
    (void)state;
    for (size_t size = 2000000; size < 7000000; size += 1000001) {
        unsigned char *memory = spragAlloc(1, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 64, 0);
        size_t zeros = 0;
        for (size_t i = 0; i < size; ++i)
            zeros += memory[i] == 0;
        assert_int_equal(zeros, size);
        memset(memory, 0xff, size);
        spragFree(memory);
    }
}

static void sizesThatOverflowAreRefused(void **state)
{
    (void)state;
    assert_null(spragAlloc(SIZE_MAX, 2));
    assert_null(spragAlloc(SIZE_MAX / 2 + 1, 2));
    assert_null(spragAlloc(1, SIZE_MAX));
    assert_null(spragAlloc(SIZE_MAX / 64, 64));
}

static void theNthFails(void **state)
{
    (void)state;
    const unsigned long before = spragAllocCount();
    spragAllocFailAt(3);
    for (int n = 1; n <= 5; ++n) {
        void *memory = spragAlloc(1, 1);
        assert_int_equal(memory == NULL, n == 3);
        spragFree(memory);
    }
    spragAllocFailAt(0);
    assert_int_equal(spragAllocCount(), before + 5);
    spragAllocFailFrom(2, 3);
    for (int n = 1; n <= 6; ++n) {
        void *memory = spragAlloc(1, 1);
        assert_int_equal(memory == NULL, n >= 2 && n <= 4);
        spragFree(memory);
    }
    spragAllocFailAt(0);
}

/* Doubles, keeps what there is, zeroes the rest; without memory nothing changes. */
static void growKeepsTheOld(void **state)
{
    (void)state;
    int *array = NULL;
    size_t capacity = 0;
    for (size_t n = 1; n <= 100; ++n) {
        const size_t before = capacity;
        assert_true(spragGrow((void **)&array, &capacity, n, sizeof *array));
        assert_true(capacity >= n && (capacity == before || capacity >= 2 * before));
        for (size_t i = n; i < capacity && capacity != before; ++i)
            assert_int_equal(array[i], 0);
        array[n - 1] = (int)n;
    }
    for (int i = 0; i < 100; ++i)
        assert_int_equal(array[i], i + 1);
    int *const same = array;
    const size_t room = capacity;
    spragAllocFailAt(1);
    assert_false(spragGrow((void **)&array, &capacity, room + 1, sizeof *array));
    spragAllocFailAt(0);
    assert_ptr_equal(array, same);
    assert_int_equal(capacity, room);
    assert_false(spragGrow((void **)&array, &capacity, SIZE_MAX, sizeof *array));
    assert_int_equal(array[99], 100);
    spragFree(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memoryIsZeroedAndAligned),
                                       cmocka_unit_test(largeMemoryIsZeroedAndAligned),
                                       cmocka_unit_test(sizesThatOverflowAreRefused), cmocka_unit_test(theNthFails),
                                       cmocka_unit_test(growKeepsTheOld)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
