/* Pieces of work shared out: each once, by few or many threads, again and again. */
#include "support/check.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/crew.h"

enum { PIECES = 1000 };

typedef struct Count {
    atomic_int done[PIECES];
    atomic_int worker_most;
} Count;

static void work(void *context, int worker, int piece)
{
    Count *count = context;
    atomic_fetch_add(&count->done[piece], 1);
    int most = atomic_load(&count->worker_most);
    while (worker > most && !atomic_compare_exchange_weak(&count->worker_most, &most, worker))
        ;
}

static void everyPieceOnce(void **state)
{
    (void)state;
    static Count count;
    static const int size[] = {1, 2, 3, 8};
    for (size_t k = 0; k < sizeof size / sizeof *size; ++k) {
        spragCrew *crew = spragCrewMake(size[k]);
        assert_non_null(crew);
        assert_int_equal(spragCrewSize(crew), size[k]);
        for (int pieces = 0; pieces <= PIECES; pieces = pieces * 3 + 1) {
            for (int i = 0; i < PIECES; ++i)
                atomic_store(&count.done[i], 0);
            spragCrewRun(crew, pieces, work, &count);
            for (int i = 0; i < PIECES; ++i)
                assert_int_equal(atomic_load(&count.done[i]), i < pieces);
        }
        assert_true(atomic_load(&count.worker_most) < size[k]);
        spragCrewFree(crew);
    }
}

static void nobodyWorksAlone(void **state)
{
    (void)state;
    static Count count;
    spragCrewRun(NULL, 5, work, &count);
    for (int i = 0; i < PIECES; ++i)
        assert_int_equal(atomic_load(&count.done[i]), i < 5);
    assert_int_equal(spragCrewSize(NULL), 1);
    spragCrewFree(NULL);
    spragAllocFailAt(1);
    assert_null(spragCrewMake(2));
    spragAllocFailAt(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyPieceOnce), cmocka_unit_test(nobodyWorksAlone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
