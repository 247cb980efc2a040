#include "ode/world/gone.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PLACE_BITS = 16 };

static atomic_uchar known[1 << PLACE_BITS]; /* 1: some remembered address lies at this place; never 0 again */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const void *noted[SPRAG_GONE_MOST]; /* under the lock: the k-th at k modulo their number, the last ones */
static atomic_ullong count;                /* of all; written under the lock */

/* A child of fork has this thread alone: another that had the lock will not give it back there. */
static void unlockChild(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

__attribute__((constructor)) static void watchForks(void)
{
    pthread_atfork(NULL, NULL, unlockChild);
}

static atomic_uchar *placeOf(const void *address)
{
    return &known[((uint64_t)(uintptr_t)address * SPRAG_GOLDEN) >> (64 - PLACE_BITS)];
}

void spragGoneKnow(const void *object)
{
    atomic_uchar *place = placeOf(object);
    if (object != NULL && !atomic_load_explicit(place, memory_order_relaxed))
        atomic_store_explicit(place, 1, memory_order_relaxed);
}

void spragGoneNote(const void *block)
{
    if (!atomic_load_explicit(placeOf(block), memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    const unsigned long long k = atomic_load_explicit(&count, memory_order_relaxed);
    noted[k % SPRAG_GONE_MOST] = block;
    atomic_store_explicit(&count, k + 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

unsigned long long spragGoneSoFar(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}

int spragGoneRead(unsigned long long *read, spragArena *arena, spragGone *gone)
{
    *gone = (spragGone){0};
    if (spragGoneSoFar() == *read) /* this thread's own are counted, and no others matter to its world */
        return 1;
    pthread_mutex_lock(&lock);
    const unsigned long long end = atomic_load_explicit(&count, memory_order_relaxed),
                             first = end - *read > SPRAG_GONE_MOST ? end - SPRAG_GONE_MOST : *read;
    gone->first = first;
    gone->count = (int)(end - first);
    const int room = spragPointerMapMake(&gone->map, arena, gone->count);
    for (unsigned long long k = first; k < end && room; ++k)
        spragPointerMapPut(&gone->map, noted[k % SPRAG_GONE_MOST], (int)(k - first));
    pthread_mutex_unlock(&lock);
    if (room)
        *read = end;
    return room;
}
