/* Threads that share the pieces of one job after another.
 *
 * Made for pieces of some microseconds: who waits spins, then yields.  A job waits for its pieces, not for the threads: one
 * that the system holds up delays nobody unless it has taken a piece.  Which thread runs a piece is left to chance, so
 * pieces must be independent of each other and of the number of threads: then any number gives the same bits. */
#ifndef SPRAG_BASE_POOL_H
#define SPRAG_BASE_POOL_H

#include <pthread.h>
#include <stdatomic.h>

enum { SPRAG_POOL_MOST = 64 };

typedef void spragPoolFn(void *data, int piece);

typedef struct spragPool {
    int count;                         /* threads, the caller's included */
    pthread_t thread[SPRAG_POOL_MOST]; /* of 1 .. count - 1 */
    spragPoolFn *run;
    void *data;
    atomic_ullong ticket; /* number of the job << 32 | pieces not yet taken */
    atomic_int done;      /* pieces */
    atomic_int ending;
} spragPool;

/* Starts threads; fewer than asked if the system refuses. */
void spragPoolStart(spragPool *pool, int count);
void spragPoolEnd(spragPool *pool);
/* What a thread does that waits for another, the `spins`-th time it finds it has to. */
void spragPoolRest(int spins);
/* run(data, piece) for all pieces 0 .. pieces - 1; returns when all are done.  pool NULL: on this thread. */
void spragPoolRun(spragPool *pool, spragPoolFn *run, void *data, int pieces);

#endif
