#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

enum {
    ALIGNMENT = 64,        /* bytes: a cache line, and every vector */
    CHUNK_MIN = 16 * 1024, /* bytes */
    HEADROOM = 4           /* a quarter more: a pile that grows does not allocate in every step */
};

typedef struct spragArenaChunk {
    struct spragArenaChunk *older;
    size_t size; /* bytes of data */
    _Alignas(ALIGNMENT) unsigned char data[];
} Chunk;

static int pushChunk(spragArena *arena, size_t size)
{
    if (size < CHUNK_MIN)
        size = CHUNK_MIN;
    Chunk *chunk = spragAlloc(1, sizeof(Chunk) + size);
    if (chunk == NULL)
        return 0;
    chunk->older = arena->chunk;
    chunk->size = size;
    arena->below += arena->used;
    arena->used = 0;
    arena->chunk = chunk;
    return 1;
}

static void popChunk(spragArena *arena)
{
    Chunk *chunk = arena->chunk;
    arena->chunk = chunk->older;
    spragFree(chunk);
}

void *spragArenaTakeRaw(spragArena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 2 * ALIGNMENT)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (arena->chunk == NULL || arena->chunk->size - arena->used < bytes)
        if (!pushChunk(arena, bytes > arena->high_water ? bytes : arena->high_water))
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

void spragArenaReset(spragArena *arena)
{
    if (arena->chunk != NULL && (arena->chunk->older != NULL || arena->chunk->size < arena->high_water)) {
        const size_t high_water = arena->high_water;
        spragArenaFree(arena);
        arena->high_water = high_water;
        pushChunk(arena, high_water + high_water / HEADROOM); /* failure only means that the next take tries again */
    }
    arena->used = 0;
    arena->below = 0;
}

void spragArenaFree(spragArena *arena)
{
    while (arena->chunk != NULL)
        popChunk(arena);
    *arena = (spragArena){0};
}
