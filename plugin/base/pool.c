#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/clock.h"

enum {
    SPINS = 2000,
    RANGE_LEAST = 128,
    RANGES_LEAST = 4,
    LEVELS = 2 /* of jobs: islands, and what one of them shares out */
};
#define JOB (1ULL << 32)
#define PATIENCE 1e-4 /* s without work before a thread sleeps; to wake it takes some 1e-5 */

/* Where one job at a time is on offer. */
typedef struct Board {
    spragPoolFn *run;
    void *data;
    int level;            /* of its pieces */
    atomic_ullong ticket; /* number of the job << 32 | pieces not yet taken */
    atomic_int done;      /* pieces */
} Board;

typedef struct Member {
    spragPool *pool;
    pthread_t thread;
    int worker;
} Member;

struct spragPool {
    int size;   /* threads, the caller's included */
    int boards; /* 1 + threads asked for */
    atomic_int ending, sleeping;
    pthread_mutex_t lock;
    pthread_cond_t work;
    Board *board;    /* (boards) of jobs from outside, and of each worker's pieces */
    Member member[]; /* (size - 1) */
};

/* Whose piece a thread is working on. */
typedef struct Place {
    spragPool *pool;
    int worker, level;
} Place;

static _Thread_local Place here;

void spragPoolRest(int spins)
{
    if (spins > SPINS) {
        sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Takes and runs one piece; 0: none is left. */
static int takePiece(spragPool *pool, Board *board, int worker)
{
    unsigned long long ticket = atomic_load(&board->ticket);
    do {
        if (ticket % JOB == 0)
            return 0;
    } while (!atomic_compare_exchange_weak(&board->ticket, &ticket, ticket - 1));
    here = (Place){pool, worker, board->level}; /* the job cannot end, nor the next begin, before this piece */
    board->run(board->data, worker, (int)(ticket % JOB) - 1);
    atomic_fetch_add_explicit(&board->done, 1, memory_order_release);
    return 1;
}

static int hasWork(const spragPool *pool)
{
    int found = atomic_load(&pool->ending);
    for (int k = 0; k < pool->boards && !found; ++k)
        found = atomic_load(&pool->board[k].ticket) % JOB != 0;
    return found;
}

/* A job is offered before the poster looks who sleeps, and a sleeper counts itself before it looks for jobs. */
static void sleepUntilWork(spragPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleeping, 1);
    while (!hasWork(pool))
        pthread_cond_wait(&pool->work, &pool->lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void wake(spragPool *pool)
{
    if (atomic_load(&pool->sleeping) == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

static void *serve(void *argument)
{
    const Member *member = argument;
    spragPool *pool = member->pool;
    double idle = 0; /* s, since when */
    for (int spins = 0; !atomic_load(&pool->ending); ++spins) {
        int taken = 0;
        for (int k = 0; k < pool->boards; ++k)
            taken |= takePiece(pool, &pool->board[k], member->worker);
        if (taken) {
            spins = 0;
            continue;
        }
        spragPoolRest(spins);
        if (spins == SPINS)
            idle = spragSeconds();
        if (spins > SPINS && spragSeconds() - idle > PATIENCE) {
            sleepUntilWork(pool);
            spins = 0;
        }
    }
    return NULL;
}

spragPool *spragPoolMake(int size)
{
    size = size > 1 ? size : 1;
    spragPool *pool = spragAlloc(1, sizeof *pool + (size_t)(size - 1) * sizeof pool->member[0]);
    Board *board = pool == NULL ? NULL : spragAlloc((size_t)size + 1, sizeof *board);
    if (board == NULL) {
        spragFree(pool);
        return NULL;
    }
    sigset_t all, before;
    pool->board = board;
    pool->boards = size + 1;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    sigfillset(&all); /* signals belong to the host's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (pool->size = 1; pool->size < size; ++pool->size) {
        Member *member = &pool->member[pool->size - 1];
        *member = (Member){.pool = pool, .worker = pool->size};
        if (pthread_create(&member->thread, NULL, serve, member) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool;
}

void spragPoolFree(spragPool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->ending, 1);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int k = 0; k + 1 < pool->size; ++k)
        pthread_join(pool->member[k].thread, NULL);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    spragFree(pool->board);
    spragFree(pool);
}

int spragPoolSize(const spragPool *pool)
{
    return pool == NULL ? 1 : pool->size;
}

spragPool *spragPoolHere(void)
{
    return here.level < LEVELS && spragPoolSize(here.pool) > 1 ? here.pool : NULL;
}

/* On this thread alone; a piece may share out more, unless it is of the last level. */
static void runAlone(spragPool *pool, spragPoolFn *run, void *data, int pieces)
{
    const Place before = here;
    if (pool != NULL && pool != here.pool)
        here = (Place){.pool = pool, .level = 1};
    for (int piece = 0; piece < pieces; ++piece)
        run(data, here.worker, piece);
    here = before;
}

void spragPoolRun(spragPool *pool, spragPoolFn *run, void *data, int pieces)
{
    const Place before = here;
    const int level = pool == here.pool ? here.level : 0;
    if (spragPoolSize(pool) == 1 || pieces < 2 || level == LEVELS) {
        runAlone(pool, run, data, pieces);
        return;
    }
    const int worker = level == 0 ? 0 : here.worker;
    Board *board = &pool->board[level == 0 ? 0 : 1 + worker];
    board->run = run, board->data = data, board->level = level + 1;
    atomic_store(&board->done, 0);
    const unsigned long long job = atomic_load(&board->ticket) / JOB + 1;
    atomic_store(&board->ticket, job % JOB * JOB + (unsigned long long)pieces);
    wake(pool);
    while (takePiece(pool, board, worker))
        continue;
    here = before;
    for (int spins = 0; atomic_load_explicit(&board->done, memory_order_acquire) < pieces; ++spins)
        spragPoolRest(spins);
}

/* ---------------------------------------------------------------- loops */

typedef struct Loop {
    spragRangeFn *run;
    void *data;
    int count, length;
} Loop;

static int lengthOf(int count)
{
    const int length = (count + SPRAG_RANGES_MOST - 1) / SPRAG_RANGES_MOST;
    if (count < RANGES_LEAST * RANGE_LEAST)
        return count > 0 ? count : 1;
    return length > RANGE_LEAST ? length : RANGE_LEAST;
}

int spragRangeCount(int count)
{
    return (count + lengthOf(count) - 1) / lengthOf(count);
}

static void runRange(void *data, int worker, int range)
{
    (void)worker;
    const Loop *loop = data;
    const int first = range * loop->length, end = first + loop->length;
    loop->run(loop->data, range, first, end < loop->count ? end : loop->count);
}

void spragRangesRunBy(spragPool *pool, int count, spragRangeFn *run, void *data)
{
    Loop loop = {run, data, count, lengthOf(count)};
    spragPoolRun(pool, runRange, &loop, spragRangeCount(count));
}

void spragRangesRun(int count, spragRangeFn *run, void *data)
{
    spragRangesRunBy(spragPoolHere(), count, run, data);
}
