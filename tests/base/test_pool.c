/* The pool: every piece once, jobs in order, jobs within pieces, any number of threads. */
#include "support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/pool.h"

enum { PIECES = 37, JOBS = 2000, WITHIN = 50, THREADS = 4 };

typedef struct Job {
    int count[PIECES]; /* visits of each piece; no two threads have the same one */
    int last[PIECES];  /* job of the last visit */
    int number;
    atomic_int worker_most;
} Job;

static void visit(void *data, int worker, int piece)
{
    Job *job = data;
    ++job->count[piece];
    job->last[piece] = job->number;
    int most = atomic_load(&job->worker_most);
    while (worker > most && !atomic_compare_exchange_weak(&job->worker_most, &most, worker))
        ;
}

static void everyPieceOnce(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS; ++threads) {
        spragPool *pool = spragPoolMake(threads);
        Job job = {0};
        assert_int_equal(spragPoolSize(pool), threads);
        for (job.number = 1; job.number <= JOBS; ++job.number) {
            spragPoolRun(pool, visit, &job, job.number % (PIECES + 1));
            for (int k = 0; k < job.number % (PIECES + 1); ++k)
                assert_int_equal(job.last[k], job.number);
        }
        int expected[PIECES] = {0};
        for (int number = 1; number <= JOBS; ++number)
            for (int k = 0; k < number % (PIECES + 1); ++k)
                ++expected[k];
        assert_memory_equal(job.count, expected, sizeof expected);
        assert_true(job.worker_most < threads);
        spragPoolFree(pool);
    }
}

typedef struct Nest {
    Job inner[PIECES]; /* of each piece */
    atomic_int busy[THREADS], twice;
} Nest;

static void visitAlone(void *data, int worker, int piece)
{
    visit(data, worker, piece);
    spragPoolRun(spragPoolHere(), visit, data, PIECES); /* at the last level: on this thread */
}

/* A worker that waits for its own job takes no other piece of the outer one: its lane is in use. */
static void visitShared(void *data, int worker, int piece)
{
    Nest *nest = data;
    if (atomic_fetch_add(&nest->busy[worker], 1) != 0)
        atomic_store(&nest->twice, 1);
    spragPool *here = spragPoolHere();
    for (int k = 0; k < WITHIN; ++k) {
        ++nest->inner[piece].number;
        spragPoolRun(here, visit, &nest->inner[piece], PIECES);
    }
    spragPoolRun(here, visitAlone, &nest->inner[piece], 1);
    atomic_fetch_sub(&nest->busy[worker], 1);
}

static void jobsWithinPieces(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS; ++threads) {
        static Nest nest;
        spragPool *pool = spragPoolMake(threads);
        for (int pieces = 1; pieces <= PIECES; pieces += 6) {
            memset(&nest, 0, sizeof nest);
            spragPoolRun(pool, visitShared, &nest, pieces);
            assert_null(spragPoolHere());
            assert_int_equal(nest.twice, 0);
            for (int p = 0; p < pieces; ++p)
                for (int k = 0; k < PIECES; ++k)
                    assert_int_equal(nest.inner[p].count[k], WITHIN + 1 + (k == 0));
        }
        spragPoolFree(pool);
    }
}

/* The caller's piece is soon done, another thread's shares out more: the caller takes part while it waits. */
typedef struct Waiting {
    atomic_int inner, by_caller;
} Waiting;

static void countPiece(void *data, int worker, int piece)
{
    (void)piece;
    Waiting *waiting = data;
    atomic_fetch_add(&waiting->inner, 1);
    atomic_fetch_add(&waiting->by_caller, worker == 0);
}

static void visitUneven(void *data, int worker, int piece)
{
    (void)piece;
    Waiting *waiting = data;
    if (worker == 0) { /* until the other thread has a piece too */
        for (int spins = 0; atomic_load(&waiting->inner) == 0; ++spins)
            spragPoolRest(spins);
        return;
    }
    const time_t begin = time(NULL);
    while (atomic_load(&waiting->by_caller) == 0 && time(NULL) < begin + 20)
        spragPoolRun(spragPoolHere(), countPiece, waiting, PIECES);
}

static void waitingCallerTakesPart(void **state)
{
    (void)state;
    Waiting waiting = {0};
    spragPool *pool = spragPoolMake(2);
    spragPoolRun(pool, visitUneven, &waiting, 2);
    assert_null(spragPoolHere());
    assert_true(waiting.by_caller > 0);
    spragPoolFree(pool);
}

/* What the caller does meanwhile is done once, before the loop ends, and by its own
 * thread, on which what it shares out stays. */
typedef struct Beside {
    spragPool *pool;
    pthread_t caller;
    Job loop, within;
    int done;
} Beside;

static void visitRange(void *data, int range, int first, int end)
{
    (void)range;
    for (int k = first; k < end; ++k)
        visit(data, 0, k);
}

static void doOwn(void *data)
{
    Beside *beside = data;
    assert_null(spragPoolHere());
    assert_true(pthread_equal(pthread_self(), beside->caller));
    spragPoolRun(beside->pool, visit, &beside->within, PIECES);
    ++beside->done;
}

static void runBeside(void *data, int worker, int piece)
{
    (void)worker, (void)piece;
    Beside *beside = data;
    beside->caller = pthread_self();
    for (int k = 0; k < WITHIN; ++k)
        spragRangesRunBeside(spragPoolHere(), PIECES, visitRange, &beside->loop, doOwn, beside);
}

static void callerWorksBesideLoop(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS; ++threads) {
        static Beside beside[2];
        memset(beside, 0, sizeof beside);
        spragPool *pool = spragPoolMake(threads);
        beside[0].pool = beside[1].pool = pool;
        beside[0].caller = pthread_self();
        for (int k = 0; k < WITHIN; ++k)
            spragRangesRunBeside(pool, k == 0 ? 0 : PIECES, visitRange, &beside[0].loop, doOwn, &beside[0]);
        assert_null(spragPoolHere());
        spragPoolRun(pool, runBeside, &beside[1], 1);
        for (int b = 0; b < 2; ++b) {
            assert_int_equal(beside[b].done, WITHIN);
            for (int k = 0; k < PIECES; ++k) {
                assert_int_equal(beside[b].loop.count[k], WITHIN - 1 + b);
                assert_int_equal(beside[b].within.count[k], WITHIN);
            }
        }
        spragPoolFree(pool);
    }
}

/* Threads that have gone to sleep wake for the next job. */
static void sleepersWake(void **state)
{
    (void)state;
    spragPool *pool = spragPoolMake(THREADS);
    Job job = {.number = 1};
    for (int k = 0; k < 20; ++k) {
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        spragPoolRun(pool, visit, &job, PIECES);
    }
    for (int k = 0; k < PIECES; ++k)
        assert_int_equal(job.count[k], 20);
    spragPoolFree(pool);
}

/* Its threads are the parent's: jobs are done all the same, and to free it waits for nobody. */
static int poolOfParentServes(spragPool *pool)
{
    Job job = {.number = 1};
    int done = spragPoolIsOrphan(pool) && spragPoolSize(pool) == 1;
    spragPoolExpect(pool);
    spragPoolRun(pool, visit, &job, PIECES);
    spragPoolExpectNone(pool);
    spragPoolFree(pool);
    pool = spragPoolMake(THREADS);
    done &= !spragPoolIsOrphan(pool) && spragPoolSize(pool) == THREADS;
    spragPoolRun(pool, visit, &job, PIECES);
    spragPoolFree(pool);
    for (int k = 0; k < PIECES; ++k)
        done &= job.count[k] == 2;
    return done;
}

static void childOfForkGoesOn(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it bears no threads after a fork */
#endif
    spragPool *pool = spragPoolMake(THREADS);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* till all threads sleep */
    const pid_t child = fork();
    if (child == 0) {
        alarm(20); /* a hang is a failure */
        _exit(poolOfParentServes(pool) ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_false(spragPoolIsOrphan(pool));
    assert_int_equal(spragPoolSize(pool), THREADS);
    spragPoolFree(pool);
}

static void withoutPool(void **state)
{
    (void)state;
    Job job = {.number = 1};
    spragPoolRun(NULL, visit, &job, PIECES);
    for (int k = 0; k < PIECES; ++k)
        assert_int_equal(job.count[k], 1);
    assert_int_equal(spragPoolSize(NULL), 1);
    spragPoolFree(NULL);
    for (int k = 1; k <= 3; ++k) {
        spragAllocFailAt((unsigned long)k);
        assert_null(spragPoolMake(2));
        spragAllocFailAt(0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyPieceOnce),
                                       cmocka_unit_test(jobsWithinPieces),
                                       cmocka_unit_test(waitingCallerTakesPart),
                                       cmocka_unit_test(callerWorksBesideLoop),
                                       cmocka_unit_test(sleepersWake),
                                       cmocka_unit_test(childOfForkGoesOn),
                                       cmocka_unit_test(withoutPool)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
