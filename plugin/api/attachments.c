#include "api/attachments.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/status.h"
#include "ode/joints/guide.h"
#include "ode/world/gone.h"
#include "ode/world/world.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static spragWorldID list;

/* A child of fork has this thread alone: another that had the lock will not give it back there. */
static void unlockChild(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

__attribute__((constructor)) static void watchForks(void)
{
    pthread_atfork(NULL, NULL, unlockChild);
}

/* ---------------------------------------------------------------- the watch */

static _Atomic(dFreeFunction *) passed_on; /* what was there before; NULL: ODE's default, free */
static int watching;                       /* our handler was set, and not taken out */
/* Addresses of attached worlds lie in between: all else is passed on without the lock. */
static _Atomic uintptr_t lowest = UINTPTR_MAX, highest = 0;

static void watchFree(void *block, size_t size)
{
    const uintptr_t at = (uintptr_t)block;
    if (at >= atomic_load_explicit(&lowest, memory_order_relaxed) &&
        at <= atomic_load_explicit(&highest, memory_order_relaxed)) {
        pthread_mutex_lock(&lock);
        for (spragWorldID world = list; world != NULL; world = world->next)
            if (world->world == (dWorldID)block)
                world->world = NULL;
        pthread_mutex_unlock(&lock);
    }
    spragGoneNote(block);
    dFreeFunction *const next = atomic_load_explicit(&passed_on, memory_order_relaxed);
    if (next != NULL)
        next(block, size);
    else
        free(block);
}

/* Under the lock. */
static void beginWatch(dWorldID world)
{
    const uintptr_t at = (uintptr_t)world;
    if (at < lowest)
        lowest = at;
    if (at > highest)
        highest = at;
    /* One set later may pass on to ours, and two that pass on to each other would never end: ours goes only on top of
     * the one it found. */
    if (dGetFreeHandler() == watchFree || (watching && dGetFreeHandler() != passed_on)) {
        watching = 1; /* a host may have set ours again, as one that it had found */
        return;
    }
    passed_on = dGetFreeHandler();
    watching = 1;
    dSetFreeHandler(watchFree);
}

/* Also when the library is unloaded: ODE must not be left with a handler that is no more. */
__attribute__((destructor)) static void endWatch(void)
{
    lowest = UINTPTR_MAX;
    highest = 0;
    if (dGetFreeHandler() != watchFree)
        return;
    dSetFreeHandler(passed_on);
    watching = 0;
}

/* ---------------------------------------------------------------- the list */

void spragAttachmentsAdd(spragWorldID world)
{
    pthread_mutex_lock(&lock);
    world->next = list;
    list = world;
    beginWatch(world->world);
    pthread_mutex_unlock(&lock);
}

int spragAttachmentsRemove(spragWorldID world)
{
    pthread_mutex_lock(&lock);
    spragWorldID *at = &list;
    while (*at != NULL && *at != world)
        at = &(*at)->next;
    const int found = *at != NULL;
    if (found)
        *at = world->next;
    if (found && list == NULL)
        endWatch();
    pthread_mutex_unlock(&lock);
    return found;
}

/* Under the lock: the handle if it is in the list, else NULL. */
static spragWorldID listed(spragWorldID world)
{
    spragWorldID found = list;
    while (found != NULL && found != world)
        found = found->next;
    return found;
}

spragStatus spragAttachmentsCheck(spragWorldID world)
{
    spragDetailClear();
    if (world == NULL)
        return spragFail(SPRAG_ERROR_NULL, "the spragWorldID is NULL");
    pthread_mutex_lock(&lock);
    const spragWorldID found = listed(world);
    const int alive = found != NULL && found->world != NULL;
    pthread_mutex_unlock(&lock);
    if (found == NULL)
        return spragFail(SPRAG_ERROR_STALE, "the spragWorldID was detached, or is none");
    if (!alive)
        return spragFail(SPRAG_ERROR_STALE, "the dWorld of the spragWorldID was destroyed: only detach it");
    return SPRAG_OK;
}

int spragAttachmentsIsStepping(spragWorldID world)
{
    pthread_mutex_lock(&lock);
    const spragWorldID found = listed(world);
    const int stepping = found != NULL && found->stage != SPRAG_BETWEEN_STEPS;
    pthread_mutex_unlock(&lock);
    return stepping;
}

spragWorldID spragWorldFind(dWorldID world)
{
    if (world == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    spragWorldID found = list;
    while (found != NULL && found->world != world)
        found = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

spragWorldID spragAttachmentsOfGuide(spragGuideID guide)
{
    pthread_mutex_lock(&lock);
    spragWorldID found = NULL;
    for (spragWorldID world = list; world != NULL && found == NULL; world = world->next)
        if (spragGuideIsOf(world, guide))
            found = world;
    pthread_mutex_unlock(&lock);
    return found;
}
