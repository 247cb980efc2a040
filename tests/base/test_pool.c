/* The pool: every piece once, jobs in order, any number of threads. */
#include "support/check.h"

#include <string.h>

#include "base/pool.h"

enum { PIECES = 37, JOBS = 2000 };

typedef struct Job {
    int count[PIECES]; /* visits of each piece; no two threads have the same one */
    int last[PIECES];  /* job of the last visit */
    int number;
} Job;

static void visit(void *data, int piece)
{
    Job *job = data;
    ++job->count[piece];
    job->last[piece] = job->number;
}

static void everyPieceOnce(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; ++threads) {
        spragPool pool;
        Job job = {0};
        spragPoolStart(&pool, threads);
        assert_true(pool.count >= 1 && pool.count <= threads);
        for (job.number = 1; job.number <= JOBS; ++job.number) {
            spragPoolRun(&pool, visit, &job, job.number % (PIECES + 1));
            for (int k = 0; k < job.number % (PIECES + 1); ++k)
                assert_int_equal(job.last[k], job.number);
        }
        int expected[PIECES] = {0};
        for (int number = 1; number <= JOBS; ++number)
            for (int k = 0; k < number % (PIECES + 1); ++k)
                ++expected[k];
        assert_memory_equal(job.count, expected, sizeof expected);
        spragPoolEnd(&pool);
    }
}

static void withoutPool(void **state)
{
    (void)state;
    Job job = {.number = 1};
    spragPoolRun(NULL, visit, &job, PIECES);
    for (int k = 0; k < PIECES; ++k)
        assert_int_equal(job.count[k], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyPieceOnce), cmocka_unit_test(withoutPool)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
