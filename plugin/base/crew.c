#include "base/crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/alloc.h"

typedef struct Member {
    spragCrew *crew;
    pthread_t thread;
    int worker;
} Member;

struct spragCrew {
    pthread_mutex_t lock;
    pthread_cond_t begin, done;
    unsigned long round; /* of work; a member that has seen it waits for the next */
    int working;         /* members that have not finished it */
    int stop;
    spragCrewWork *work;
    void *context;
    int count;
    atomic_int next; /* piece */
    int size;        /* with the caller */
    Member member[];
};

static void workAlong(spragCrew *crew, int worker)
{
    for (int piece; (piece = atomic_fetch_add(&crew->next, 1)) < crew->count;)
        crew->work(crew->context, worker, piece);
}

static void *serve(void *argument)
{
    const Member *member = argument;
    spragCrew *crew = member->crew;
    unsigned long seen = 0;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->round == seen && !crew->stop)
            pthread_cond_wait(&crew->begin, &crew->lock);
        if (crew->stop)
            break;
        seen = crew->round;
        pthread_mutex_unlock(&crew->lock);
        workAlong(crew, member->worker);
        pthread_mutex_lock(&crew->lock);
        if (--crew->working == 0)
            pthread_cond_signal(&crew->done);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

spragCrew *spragCrewMake(int size)
{
    spragCrew *crew = spragAlloc(1, sizeof *crew + (size_t)(size > 1 ? size - 1 : 0) * sizeof crew->member[0]);
    if (crew == NULL)
        return NULL;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->begin, NULL);
    pthread_cond_init(&crew->done, NULL);
    for (crew->size = 1; crew->size < size; ++crew->size) {
        Member *member = &crew->member[crew->size - 1];
        member->crew = crew;
        member->worker = crew->size;
        if (pthread_create(&member->thread, NULL, serve, member) != 0)
            break;
    }
    return crew;
}

void spragCrewFree(spragCrew *crew)
{
    if (crew == NULL)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->stop = 1;
    pthread_cond_broadcast(&crew->begin);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 0; i + 1 < crew->size; ++i)
        pthread_join(crew->member[i].thread, NULL);
    pthread_cond_destroy(&crew->done);
    pthread_cond_destroy(&crew->begin);
    pthread_mutex_destroy(&crew->lock);
    spragFree(crew);
}

int spragCrewSize(const spragCrew *crew)
{
    return crew == NULL ? 1 : crew->size;
}

void spragCrewRun(spragCrew *crew, int count, spragCrewWork *work, void *context)
{
    if (spragCrewSize(crew) == 1 || count < 2) {
        for (int piece = 0; piece < count; ++piece)
            work(context, 0, piece);
        return;
    }
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->context = context;
    crew->count = count;
    atomic_store(&crew->next, 0);
    crew->working = crew->size - 1;
    ++crew->round;
    pthread_cond_broadcast(&crew->begin);
    pthread_mutex_unlock(&crew->lock);
    workAlong(crew, 0);
    pthread_mutex_lock(&crew->lock);
    while (crew->working > 0)
        pthread_cond_wait(&crew->done, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}
