/* What ODE frees is noted if some world remembers it, each world reads it once, and the last are kept. */
#include "support/check.h"

#include "ode/world/gone.h"

/* Addresses that nothing has: they are compared, never followed. */
static const void *object(size_t k)
{
    return (const void *)(uintptr_t)(0x7a0000000000 + 48 * k);
}

static void remembered(void **state)
{
    (void)state;
    spragArena arena = {0};
    spragGone gone;
    unsigned long long one = spragGoneSoFar(), other = one;
    spragGoneKnow(object(1));
    spragGoneKnow(NULL);
    assert_int_equal(spragGoneRead(&one, &arena, &gone), 1);
    assert_int_equal(gone.count, 0);
    assert_false(spragIsGone(&gone, object(1)) || spragIsGone(&gone, NULL));
    spragGoneNote(object(1));
    for (int world = 0; world < 2; ++world) {
        unsigned long long *read = world ? &other : &one;
        assert_int_equal(spragGoneRead(read, &arena, &gone), 1);
        assert_int_equal(gone.count, 1);
        assert_true(spragIsGone(&gone, object(1)) && !spragIsGone(&gone, object(2)));
        assert_int_equal(spragGoneRead(read, &arena, &gone), 1);
        assert_int_equal(gone.count, 0);
    }
    spragArenaFree(&arena);
}

/* An address may go, be another's, and go again: the last time counts. */
static void sinceWhen(void **state)
{
    (void)state;
    spragArena arena = {0};
    spragGone gone;
    unsigned long long read = spragGoneSoFar();
    spragGoneKnow(object(3));
    spragGoneNote(object(3));
    const unsigned long long again = spragGoneSoFar();
    spragGoneNote(object(3));
    const unsigned long long last = spragGoneSoFar();
    assert_int_equal(spragGoneRead(&read, &arena, &gone), 1);
    assert_int_equal(gone.count, 2);
    assert_true(spragIsGoneSince(&gone, object(3), again));
    assert_false(spragIsGoneSince(&gone, object(3), last));
    spragArenaFree(&arena);
}

static void theLastAreKept(void **state)
{
    (void)state;
    enum { MORE = 10 };
    spragArena arena = {0};
    spragGone gone;
    unsigned long long read = spragGoneSoFar();
    for (size_t k = 0; k < SPRAG_GONE_MOST + MORE; ++k) {
        spragGoneKnow(object(100 + k));
        spragGoneNote(object(100 + k));
    }
    assert_int_equal(spragGoneRead(&read, &arena, &gone), 1);
    assert_int_equal(gone.count, SPRAG_GONE_MOST);
    assert_true(read == spragGoneSoFar());
    for (size_t k = 0; k < SPRAG_GONE_MOST + MORE; ++k)
        assert_int_equal(spragIsGone(&gone, object(100 + k)), k >= MORE);
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(remembered), cmocka_unit_test(sinceWhen),
                                       cmocka_unit_test(theLastAreKept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
