#include "base/pool.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>

enum { SPINS = 2000 };
#define JOB (1ULL << 32)

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
static int takePiece(spragPool *pool)
{
    unsigned long long ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
    do {
        if (ticket % JOB == 0)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&pool->ticket, &ticket, ticket - 1, memory_order_acq_rel,
                                                    memory_order_acquire));
    pool->run(pool->data, (int)(ticket % JOB) - 1); /* the job cannot end, nor the next begin, before this piece */
    atomic_fetch_add_explicit(&pool->done, 1, memory_order_release);
    return 1;
}

static void *work(void *argument)
{
    spragPool *pool = argument;
    for (int spins = 0; !atomic_load_explicit(&pool->ending, memory_order_acquire); ++spins) {
        if (takePiece(pool))
            spins = 0;
        else
            spragPoolRest(spins);
    }
    return NULL;
}

void spragPoolStart(spragPool *pool, int count)
{
    sigset_t all, before;
    pool->count = 1;
    pool->run = NULL, pool->data = NULL;
    atomic_init(&pool->ticket, 0);
    atomic_init(&pool->done, 0);
    atomic_init(&pool->ending, 0);
    sigfillset(&all); /* signals belong to the host's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; pool->count < count && pool->count < SPRAG_POOL_MOST; ++pool->count)
        if (pthread_create(&pool->thread[pool->count], NULL, work, pool) != 0)
            break;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void spragPoolRun(spragPool *pool, spragPoolFn *run, void *data, int pieces)
{
    if (pool == NULL || pool->count == 1) {
        for (int piece = 0; piece < pieces; ++piece)
            run(data, piece);
        return;
    }
    pool->run = run, pool->data = data;
    atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
    const unsigned long long job = atomic_load_explicit(&pool->ticket, memory_order_relaxed) / JOB + 1;
    atomic_store_explicit(&pool->ticket, job % JOB * JOB + (unsigned long long)pieces, memory_order_release);
    while (takePiece(pool))
        continue;
    for (int spins = 0; atomic_load_explicit(&pool->done, memory_order_acquire) < pieces; ++spins)
        spragPoolRest(spins);
}

void spragPoolEnd(spragPool *pool)
{
    atomic_store_explicit(&pool->ending, 1, memory_order_release);
    for (int k = 1; k < pool->count; ++k)
        pthread_join(pool->thread[k], NULL);
    pool->count = 1;
}
