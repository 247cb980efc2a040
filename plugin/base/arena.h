/* Scratch memory of a step or a solve: bump allocation, reset at the end, so that a steady state allocates nothing.
 * Blocks never move while in use: what does not fit goes to an overflow chunk, which has room for all of the next uses,
 * and is kept.  Memory is touched where it is taken, no sooner: a page that is new costs 1 to 5 us, and a step in which
 * heaps meet took 10 ms longer where chunks were zeroed, and allocated twice.  So of chunks that are released the
 * largest is spare until the reset, which takes it if it suffices (250 MB, 130 ms, of a pyramid of 650 cubes). */
#ifndef SPRAG_BASE_ARENA_H
#define SPRAG_BASE_ARENA_H

#include <stddef.h>

struct spragArenaChunk;

typedef struct spragArena {
    struct spragArenaChunk *chunk; /* newest first; the last one is the main chunk */
    struct spragArenaChunk *spare; /* one that was released, or NULL */
    size_t used;                   /* bytes taken from the newest chunk */
    size_t below;                  /* bytes taken from the older chunks */
    size_t high_water;             /* most bytes ever taken together */
} spragArena;

typedef struct spragArenaMark {
    struct spragArenaChunk *chunk;
    size_t used, below;
} spragArenaMark;

/* A zeroed struct is an empty arena. */
void *spragArenaTake(spragArena *arena, size_t count, size_t size);    /* zeroed, 64-byte aligned; NULL: no memory */
void *spragArenaTakeRaw(spragArena *arena, size_t count, size_t size); /* the same, not zeroed */
spragArenaMark spragArenaMarkGet(const spragArena *arena);
void spragArenaRelease(spragArena *arena, spragArenaMark mark); /* frees all taken since the mark */
void spragArenaReset(spragArena *arena); /* all free; one chunk, of the high-water size at least */
void spragArenaFree(spragArena *arena);

#define SPRAG_TAKE(arena, type, count) ((type *)spragArenaTake((arena), (size_t)(count), sizeof(type)))
#define SPRAG_TAKE_RAW(arena, type, count) ((type *)spragArenaTakeRaw((arena), (size_t)(count), sizeof(type)))

#endif
