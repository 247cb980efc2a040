/* Status texts and the sentence of each thread. */
#include "support/check.h"

#include <pthread.h>
#include <string.h>

#include "base/status.h"

static void everyStatusHasItsText(void **state)
{
    (void)state;
    for (int a = 0; a < SPRAG_STATUS_COUNT; ++a) {
        assert_true(strlen(spragStatusText((spragStatus)a)) > 1);
        for (int b = 0; b < a; ++b)
            assert_string_not_equal(spragStatusText((spragStatus)a), spragStatusText((spragStatus)b));
    }
    assert_string_equal(spragStatusText(SPRAG_OK), "ok");
    assert_string_equal(spragStatusText(SPRAG_STATUS_COUNT), "unknown status");
    assert_string_equal(spragStatusText((spragStatus)-1), "unknown status");
}

static void longSentencesAreCut(void **state)
{
    (void)state;
    char name[2000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(spragFail(SPRAG_ERROR_FILE, "%d %s", 17, name), SPRAG_ERROR_FILE);
    assert_memory_equal(spragStatusDetail(), "17 xxx", 6);
    assert_in_range(strlen(spragStatusDetail()), 200, 1999);
    spragDetailClear();
    assert_string_equal(spragStatusDetail(), "");
}

static void *failElsewhere(void *unused)
{
    (void)unused;
    const int empty = spragStatusDetail()[0] == '\0';
    spragFail(SPRAG_ERROR_RANGE, "elsewhere");
    return empty ? "empty" : NULL;
}

static void threadsHaveTheirOwnSentence(void **state)
{
    (void)state;
    pthread_t thread;
    void *empty = NULL;
    spragFail(SPRAG_ERROR_RANGE, "here");
    assert_int_equal(pthread_create(&thread, NULL, failElsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, &empty), 0);
    assert_non_null(empty);
    assert_string_equal(spragStatusDetail(), "here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyStatusHasItsText), cmocka_unit_test(longSentencesAreCut),
                                       cmocka_unit_test(threadsHaveTheirOwnSentence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
