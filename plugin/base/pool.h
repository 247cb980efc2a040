/* Threads that share the pieces of jobs: islands, and within a large island what its solver shares out.
 *
 * A job waits for its pieces, not for the threads: one that the system holds up delays nobody unless it has
 * taken a piece.  A piece may itself share out a job; threads that have nothing else to do take part.  Which
 * thread runs a piece is left to chance, so pieces must be independent of each other and of the number of
 * threads: then any number gives the same bits.  Made for pieces of some microseconds: who waits spins, then
 * yields; who has found no work for a while sleeps. */
#ifndef SPRAG_BASE_POOL_H
#define SPRAG_BASE_POOL_H

typedef struct spragPool spragPool;

enum { SPRAG_THREADS_MOST = 1024 }; /* of a pool: its tables grow with the square */

/* One piece; worker 0 .. size - 1 is the thread's own number, the caller's is 0. */
typedef void spragPoolFn(void *data, int worker, int piece);

/* Of `size` threads with the caller, fewer where the system gives no more; NULL: no memory. */
spragPool *spragPoolMake(int size);
void spragPoolFree(spragPool *pool);      /* NULL will do */
int spragPoolSize(const spragPool *pool); /* NULL: 1, the caller alone */
/* 1: the process has forked since, and the threads stayed with the parent.
 * Such a pool has size 1, and can be freed. */
int spragPoolIsOrphan(const spragPool *pool);

/* run(data, worker, piece) for all pieces 0 .. pieces - 1; returns when all are done.  pool NULL: on this thread, in
 * order; else each thread begins with the last of its own.  From outside the pool by one thread at a time. */
void spragPoolRun(spragPool *pool, spragPoolFn *run, void *data, int pieces);

/* Between these two calls the threads expect jobs: they are woken by the first call, and stay awake for longer while
 * the caller works alone.  For work of milliseconds: waking a thread takes up to 0.1 ms.  pool NULL: nothing. */
void spragPoolExpect(spragPool *pool);
void spragPoolExpectNone(spragPool *pool);

/* A part of a loop over 0 .. count - 1. */
typedef void spragRangeFn(void *data, int range, int first, int end);

/* The loop in ranges of equal length, at most SPRAG_RANGES_MOST and not too short to be shared out
 * by the pool of the piece this thread is working on.  The ranges do not depend on the threads:
 * partial results by range give the same bits. */
enum { SPRAG_RANGES_MOST = 64, SPRAG_RANGE_ALONE = 511 /* turns at most of a loop that is one range */ };
int spragRangeCount(int count);
void spragRangesShare(int count, spragRangeFn *run, void *data);
static inline void spragRangesRun(int count, spragRangeFn *run, void *data)
{
    if (count > SPRAG_RANGE_ALONE)
        spragRangesShare(count, run, data);
    else if (count > 0)
        run(data, 0, 0, count); /* small scenes have fifty such loops in a step */
}

/* By this pool (or NULL): for a caller that is not at work on one of its pieces. */
void spragRangesRunBy(spragPool *pool, int count, spragRangeFn *run, void *data);

/* The same, but this thread first calls own(own_data), which must not share out jobs, and then takes part.  own NULL:
 * spragRangesRunBy. */
typedef void spragOwnFn(void *data);
void spragRangesRunBeside(spragPool *pool, int count, spragRangeFn *run, void *data, spragOwnFn *own, void *own_data);

/* The pool whose piece this thread is working on, if that piece may share out a job; else NULL. */
spragPool *spragPoolHere(void);

/* One pause of a thread that waits for another; spins: how many pauses there were before. */
void spragPoolRest(int spins);

#endif
