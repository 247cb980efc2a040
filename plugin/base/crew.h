/* A few threads that share out numbered pieces of work.  The caller is worker 0 and works along. */
#ifndef SPRAG_BASE_CREW_H
#define SPRAG_BASE_CREW_H

typedef struct spragCrew spragCrew;

/* What is to be done with one piece by worker 0 .. spragCrewSize - 1. */
typedef void spragCrewWork(void *context, int worker, int piece);

/* A crew of `size` workers, fewer where the system gives no more threads; NULL: no memory. */
spragCrew *spragCrewMake(int size);
void spragCrewFree(spragCrew *crew);      /* NULL will do */
int spragCrewSize(const spragCrew *crew); /* NULL: 1, the caller alone */

/* Does pieces 0 .. count - 1, each once, in any order, and returns when all are done.  crew may be NULL. */
void spragCrewRun(spragCrew *crew, int count, spragCrewWork *work, void *context);

#endif
