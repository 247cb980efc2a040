/* Addresses to numbers: all that was put is found, whatever the addresses have in common, and nothing else. */
#include "support/check.h"

#include <stdlib.h>

#include "ode/world/pointer_map.h"

enum { KEYS = 3000 };

/* `count` keys of that stride, every second one put: twice, the last number counts. */
static void putAndFind(spragArena *arena, int count, size_t stride)
{
    const char *base = (const char *)(uintptr_t)0x5000000;
    spragPointerMap map;
    assert_true(spragPointerMapMake(&map, arena, count));
    for (int i = 0; i < count; ++i) {
        spragPointerMapAsk(&map, base + 2 * (size_t)i * stride);
        spragPointerMapPut(&map, base + 2 * (size_t)i * stride, -2);
        spragPointerMapPut(&map, base + 2 * (size_t)i * stride, i);
    }
    for (int i = 0; i < count; ++i) {
        assert_int_equal(spragPointerMapGet(&map, base + 2 * (size_t)i * stride), i);
        assert_int_equal(spragPointerMapGet(&map, base + (2 * (size_t)i + 1) * stride), -1);
    }
    assert_int_equal(spragPointerMapGet(&map, NULL), -1);
    spragArenaReset(arena);
}

static void whatWasPutIsFound(void **state)
{
    (void)state;
    spragArena arena = {0};
    const size_t stride[] = {1, 8, 48, 4096, (size_t)1 << 20};
    for (size_t s = 0; s < sizeof stride / sizeof *stride; ++s)
        for (int count = 0; count <= KEYS; count = 3 * count + 1)
            putAndFind(&arena, count, stride[s]);
    spragArenaFree(&arena);
}

/* As many keys as the map has room for, all of one home: the probing goes round the end. */
static void keysOfOneHomeGoRoundTheEnd(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    spragArena arena = {0};
    spragPointerMap map;
    assert_true(spragPointerMapMake(&map, &arena, COUNT));
    const void *key[COUNT + 1];
    int found = 0;
    for (uintptr_t address = 16; found <= COUNT; address += 16)
        if (spragPointerMapHome(&map, (const void *)address) == map.mask)
            key[found++] = (const void *)address;
    for (int i = 0; i < COUNT; ++i)
        spragPointerMapPut(&map, key[i], 10 + i);
    for (int i = 0; i < COUNT; ++i)
        assert_int_equal(spragPointerMapGet(&map, key[i]), 10 + i);
    assert_int_equal(spragPointerMapGet(&map, key[COUNT]), -1);
    assert_true(map.slot[0].key != NULL);
    spragArenaFree(&arena);
}

/* Of addresses as malloc gives them few slots are asked beyond the first. */
static void probesAreFew(void **state)
{
    (void)state;
    spragArena arena = {0};
    const size_t stride[] = {16, 48, 240, 416, 1024, 4096};
    for (size_t s = 0; s < sizeof stride / sizeof *stride; ++s) {
        spragPointerMap map;
        assert_true(spragPointerMapMake(&map, &arena, KEYS));
        size_t probes = 0;
        for (size_t i = 0; i < KEYS; ++i) {
            const void *key = (const void *)(uintptr_t)(0x555555560000 + i * stride[s]);
            spragPointerMapPut(&map, key, (int)i);
            probes += ((size_t)(spragPointerMapSlot(&map, key) - map.slot) - spragPointerMapHome(&map, key)) & map.mask;
        }
        assert_true(probes < KEYS);
        spragArenaReset(&arena);
    }
    spragArenaFree(&arena);
}

static int byAddress(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t) * (const void *const *)a, y = (uintptr_t) * (const void *const *)b;
    return x < y ? -1 : x > y;
}

/* Pairs of what lies at even distances, as a program's bodies do, each with each and with none.  (Under the sum of
 * their addresses 1 and 4 were the pair 2 and 3.) */
static void eachPairHasItsKey(void **state)
{
    (void)state;
    enum { THINGS = 200, PAIRS = THINGS * (THINGS + 1) / 2 };
    const size_t stride[] = {16, 48, 400, 4096, (size_t)1 << 20};
    static const void *key[PAIRS];
    const char *base = (const char *)(uintptr_t)0x7f0012345670;
    for (size_t s = 0; s < sizeof stride / sizeof *stride; ++s) {
        int count = 0;
        for (size_t i = 0; i < THINGS; ++i)
            for (size_t j = i; j < THINGS; ++j) {
                const char *a = base + i * stride[s], *b = i == j ? NULL : base + j * stride[s];
                key[count] = spragPointerPair(a, b);
                assert_ptr_equal(key[count], spragPointerPair(b, a));
                assert_non_null(key[count++]);
            }
        qsort(key, PAIRS, sizeof *key, byAddress);
        for (int i = 1; i < PAIRS; ++i)
            assert_true(key[i - 1] != key[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatWasPutIsFound),
        cmocka_unit_test(eachPairHasItsKey),
        cmocka_unit_test(keysOfOneHomeGoRoundTheEnd),
        cmocka_unit_test(probesAreFew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
