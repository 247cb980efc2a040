#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

enum {
    ALIGNMENT = 64,        /* bytes: a cache line, and every vector */
    CHUNK_MIN = 16 * 1024, /* bytes */
    HEADROOM = 2           /* half as much more: a pile that grows does not allocate in every step */
};

typedef struct spragArenaChunk {
    struct spragArenaChunk *older;
    size_t size; /* bytes of data */
    _Alignas(ALIGNMENT) unsigned char data[];
} Chunk;

static size_t withHeadroom(const spragArena *arena)
{
    return arena->high_water + arena->high_water / HEADROOM;
}

/* A new chunk of this size, or the spare one, if that has `least`. */
static int pushChunk(spragArena *arena, size_t least, size_t size)
{
    if (size < CHUNK_MIN)
        size = CHUNK_MIN;
    const int spare = arena->spare != NULL && arena->spare->size >= least;
    Chunk *chunk = spare ? arena->spare : spragAllocRaw(1, sizeof(Chunk) + size);
    if (chunk == NULL)
        return 0;
    if (spare)
        arena->spare = NULL;
    else
        chunk->size = size;
    chunk->older = arena->chunk;
    arena->below += arena->used;
    arena->used = 0;
    arena->chunk = chunk;
    return 1;
}

static void popChunk(spragArena *arena)
{
    Chunk *chunk = arena->chunk, *const spare = arena->spare;
    const int larger = spare == NULL || chunk->size > spare->size;
    arena->chunk = chunk->older;
    arena->spare = larger ? chunk : spare;
    spragFree(larger ? spare : chunk);
}

void *spragArenaTakeRaw(spragArena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 2 * ALIGNMENT)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (arena->chunk == NULL || arena->chunk->size - arena->used < bytes)
        if (!pushChunk(arena, bytes, bytes + withHeadroom(arena)))
            return NULL;
    void *pointer = arena->chunk->data + arena->used;
    arena->used += bytes;
    if (arena->below + arena->used > arena->high_water)
        arena->high_water = arena->below + arena->used;
    return pointer;
}

void *spragArenaTake(spragArena *arena, size_t count, size_t size)
{
    void *pointer = spragArenaTakeRaw(arena, count, size);
    return pointer == NULL ? NULL : memset(pointer, 0, count * size);
}

spragArenaMark spragArenaMarkGet(const spragArena *arena)
{
    return (spragArenaMark){arena->chunk, arena->used, arena->below};
}

void spragArenaRelease(spragArena *arena, spragArenaMark mark)
{
    /* An arena that was empty at the mark keeps its first chunk: it is the one to reuse. */
    while (arena->chunk != mark.chunk && arena->chunk != NULL && arena->chunk->older != NULL)
        popChunk(arena);
    arena->used = mark.used;
    arena->below = mark.below;
}

static void freeAll(Chunk *chunk)
{
    while (chunk != NULL) {
        Chunk *const older = chunk->older;
        spragFree(chunk);
        chunk = older;
    }
}

void spragArenaReset(spragArena *arena)
{
    Chunk *chunk = arena->chunk, *spare = arena->spare;
    arena->used = arena->below = 0;
    arena->spare = NULL;
    if (chunk == NULL)
        return;
    freeAll(chunk->older);
    if (spare != NULL && spare->size > chunk->size) {
        Chunk *const less = chunk;
        chunk = spare;
        spare = less;
    }
    spragFree(spare);
    chunk->older = NULL;
    arena->chunk = chunk;
    if (chunk->size >= arena->high_water)
        return;
    spragFree(chunk);
    arena->chunk = NULL;
    pushChunk(arena, arena->high_water, withHeadroom(arena)); /* failure only means that the next take tries again */
}

void spragArenaFree(spragArena *arena)
{
    freeAll(arena->chunk);
    spragFree(arena->spare);
    *arena = (spragArena){0};
}
