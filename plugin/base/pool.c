#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/floats.h"

enum {
    LINE = 64,                                 /* bytes of a cache line */
    SPINS = 2000,                              /* looks before a thread that waits yields */
    RANGE_LEAST = (SPRAG_RANGE_ALONE + 1) / 4, /* turns of a loop in a range: fewer are not worth another thread's time,
                                                  nor are fewer than four ranges */
    LEVELS = 2                                 /* of jobs: islands, and what one of them shares out */
};
#define JOB (1ULL << 32)
/* s without work before a thread sleeps */
#define PATIENCE 1e-4
#define PATIENCE_EXPECTING 1e-3

/* One job on offer at a time.  Its pieces are shared out in runs of neighbours, one run for each worker, and a worker
 * that has done its own run takes pieces of the others: so, job after job, pieces find their data in the same core's
 * cache. */
typedef struct Board {
    _Alignas(LINE) spragPoolFn *run;
    void *data;
    int pieces, level;              /* of the job: how many pieces, and at which level they are */
    _Alignas(LINE) atomic_int done; /* pieces that are done */
} Board;

typedef struct Share {
    _Alignas(LINE) atomic_ullong ticket; /* number of the job << 32 | pieces not yet taken */
} Share;

typedef struct Member {
    spragPool *pool;
    pthread_t thread;
    int worker;
} Member;

struct spragPool {
    int size;           /* threads, the caller's included */
    int shares, boards; /* threads asked for; 1 + that */
    unsigned born;      /* value of `forks` when it was made */
    atomic_int ending, sleeping, expecting;
    atomic_uint calls; /* of spragPoolExpect */
    pthread_mutex_t lock;
    pthread_cond_t work;
    Board *board;    /* (boards) of jobs from outside, and of each worker's pieces */
    Share *share;    /* (boards x shares) */
    Member member[]; /* (size - 1) */
};

/* Whose piece this thread is working on, and at which level. */
typedef struct Place {
    spragPool *pool;
    int worker, level;
} Place;

static _Thread_local Place here;

/* ---------------------------------------------------------------- forks */

static atomic_uint forks; /* how many forks lie between the first process and this one */

static void countFork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void watchForks(void)
{
    pthread_atfork(NULL, NULL, countFork);
}

int spragPoolIsOrphan(const spragPool *pool)
{
    return pool != NULL && pool->born != atomic_load_explicit(&forks, memory_order_relaxed);
}

/* ---------------------------------------------------------------- pieces */

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

static int shareStart(int pieces, int share, int shares)
{
    return (int)((long long)pieces * share / shares);
}

/* Takes one piece of a share.  Returns how many there were, 0: none. */
static int takePiece(atomic_ullong *left)
{
    unsigned long long ticket = atomic_load(left);
    while (ticket % JOB != 0)
        if (atomic_compare_exchange_weak(left, &ticket, ticket - 1))
            return (int)(ticket % JOB);
    return 0;
}

/* Takes and runs pieces of board b while there are any, those of the worker's own share first.  Returns how many. */
static int takePieces(spragPool *pool, int b, int worker)
{
    Board *board = &pool->board[b];
    int taken = 0;
    for (int k = 0; k < pool->shares;) {
        const int share = (worker + k) % pool->shares;
        const int left = takePiece(&pool->share[b * pool->shares + share].ticket);
        if (left == 0) {
            ++k;
            continue;
        }
        here = (Place){pool, worker, board->level};
        board->run(board->data, worker, shareStart(board->pieces, share, pool->shares) + left - 1);
        ++taken;
        k = 0; /* its own share first again: new pieces may have come there */
    }
    if (taken > 0) /* only now, since the board may be used for another job once all pieces are done */
        atomic_fetch_add_explicit(&board->done, taken, memory_order_release);
    return taken;
}

/* The same for the jobs that pieces have shared out, on the boards from 1 on. */
static int takePiecesWithin(spragPool *pool, int worker)
{
    int taken = 0;
    for (int b = 1; b < pool->boards; ++b)
        taken |= takePieces(pool, b, worker);
    return taken;
}

static int hasWork(const spragPool *pool)
{
    int found = atomic_load(&pool->ending);
    for (int k = 0; k < pool->boards * pool->shares && !found; ++k)
        found = atomic_load(&pool->share[k].ticket) % JOB != 0;
    return found;
}

/* No wake is lost: whoever posts a job (or a call) offers it first and then looks whether anybody sleeps, and a sleeper
 * counts itself first and then looks for jobs (and calls). */
static void sleepUntilWork(spragPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    const unsigned call = atomic_load(&pool->calls);
    atomic_fetch_add(&pool->sleeping, 1);
    while (!hasWork(pool) && atomic_load(&pool->calls) == call)
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

void spragPoolExpect(spragPool *pool)
{
    if (spragPoolSize(pool) == 1)
        return;
    atomic_store(&pool->expecting, 1);
    atomic_fetch_add(&pool->calls, 1);
    wake(pool);
}

void spragPoolExpectNone(spragPool *pool)
{
    if (pool != NULL)
        atomic_store(&pool->expecting, 0);
}

static void *serve(void *argument)
{
    const Member *member = argument;
    spragPool *pool = member->pool;
    double idle = 0;   /* s, since when */
    spragFloatsTake(); /* the modes of the thread that made this one are not to be inherited */
    for (int spins = 0; !atomic_load(&pool->ending); ++spins) {
        if (takePieces(pool, 0, member->worker) || takePiecesWithin(pool, member->worker)) {
            spins = 0;
            continue;
        }
        spragPoolRest(spins);
        if (spins == SPINS)
            idle = spragSeconds();
        const double patience = atomic_load(&pool->expecting) ? PATIENCE_EXPECTING : PATIENCE;
        if (spins > SPINS && spragSeconds() - idle > patience) {
            sleepUntilWork(pool);
            spins = 0;
        }
    }
    return NULL;
}

spragPool *spragPoolMake(int size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watchForks);
    size = size > 1 ? size : 1;
    spragPool *pool = spragAlloc(1, sizeof *pool + (size_t)(size - 1) * sizeof pool->member[0]);
    Board *board = pool == NULL ? NULL : spragAlloc((size_t)size + 1, sizeof *board);
    Share *share = board == NULL ? NULL : spragAlloc(((size_t)size + 1) * (size_t)size, sizeof *share);
    if (share == NULL) {
        spragFree(board);
        spragFree(pool);
        return NULL;
    }
    sigset_t all, before;
    pool->born = atomic_load(&forks);
    pool->board = board;
    pool->share = share;
    pool->shares = size;
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

static void endThreads(spragPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->ending, 1);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int k = 0; k + 1 < pool->size; ++k)
        pthread_join(pool->member[k].thread, NULL);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
}

void spragPoolFree(spragPool *pool)
{
    if (pool == NULL)
        return;
    if (!spragPoolIsOrphan(pool)) /* in an orphan the sleepers stayed with the parent: waiting for them would not end */
        endThreads(pool);
    spragFree(pool->share);
    spragFree(pool->board);
    spragFree(pool);
}

int spragPoolSize(const spragPool *pool)
{
    return pool == NULL || spragPoolIsOrphan(pool) ? 1 : pool->size;
}

spragPool *spragPoolHere(void)
{
    return here.level < LEVELS && spragPoolSize(here.pool) > 1 ? here.pool : NULL;
}

/* Runs all pieces on this thread; a piece may share out a job of its own, unless it is at the last level. */
static void runAlone(spragPool *pool, spragPoolFn *run, void *data, int pieces)
{
    const Place before = here;
    if (pool != NULL && pool != here.pool)
        here = (Place){.pool = pool, .level = 1};
    for (int piece = 0; piece < pieces; ++piece)
        run(data, here.worker, piece);
    here = before;
}

static void offer(spragPool *pool, int b, int level, spragPoolFn *run, void *data, int pieces)
{
    Board *board = &pool->board[b];
    board->run = run, board->data = data, board->pieces = pieces, board->level = level + 1;
    atomic_store(&board->done, 0);
    for (int k = 0; k < pool->shares; ++k) {
        atomic_ullong *ticket = &pool->share[b * pool->shares + k].ticket;
        const int count = shareStart(pieces, k + 1, pool->shares) - shareStart(pieces, k, pool->shares);
        const unsigned long long job = atomic_load(ticket) / JOB + 1;
        atomic_store(ticket, job % JOB * JOB + (unsigned long long)count);
    }
}

/* What the poster does before it takes pieces of its own. */
typedef struct Own {
    spragOwnFn *run; /* NULL: nothing */
    void *data;
} Own;

static void runOwn(const Own *own, spragPool *pool, int worker)
{
    const Place before = here;
    if (own->run == NULL)
        return;
    here = (Place){pool, worker, LEVELS}; /* its board is in use: it shares out nothing */
    own->run(own->data);
    here = before;
}

static void post(spragPool *pool, spragPoolFn *run, void *data, int pieces, const Own *own)
{
    const Place before = here;
    const int level = pool == here.pool ? here.level : 0;
    if (spragPoolSize(pool) == 1 || pieces < (own->run == NULL ? 2 : 1) || level == LEVELS) {
        runOwn(own, before.pool, before.worker);
        runAlone(pool, run, data, pieces);
        return;
    }
    const int worker = level == 0 ? 0 : here.worker;
    const int b = level == 0 ? 0 : 1 + worker;
    Board *board = &pool->board[b];
    offer(pool, b, level, run, data, pieces);
    wake(pool);
    runOwn(own, pool, worker);
    takePieces(pool, b, worker);
    for (int spins = 0; atomic_load_explicit(&board->done, memory_order_acquire) < pieces; ++spins)
        if (level == 0 && takePiecesWithin(pool, worker))
            spins = 0;
        else
            spragPoolRest(spins);
    here = before;
}

void spragPoolRun(spragPool *pool, spragPoolFn *run, void *data, int pieces)
{
    post(pool, run, data, pieces, &(Own){0});
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
    if (count <= SPRAG_RANGE_ALONE)
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
    spragRangesRunBeside(pool, count, run, data, NULL, NULL);
}

void spragRangesShare(int count, spragRangeFn *run, void *data)
{
    spragRangesRunBy(spragPoolHere(), count, run, data);
}

void spragRangesRunBeside(spragPool *pool, int count, spragRangeFn *run, void *data, spragOwnFn *own, void *own_data)
{
    Loop loop = {run, data, count, lengthOf(count)};
    if (pool != NULL || count > SPRAG_RANGE_ALONE) {
        post(pool, runRange, &loop, spragRangeCount(count), &(Own){own, own_data});
        return;
    }
    if (own != NULL)
        own(own_data);
    spragRangesRun(count, run, data);
}
