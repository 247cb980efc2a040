/* From an address to a number, for one step: open addressing, linear probing, memory from the step's arena. */
#ifndef SPRAG_ODE_POINTER_MAP_H
#define SPRAG_ODE_POINTER_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct spragPointerSlot {
    const void *key; /* NULL: it is free */
    int value;
} spragPointerSlot;

typedef struct spragPointerMap {
    spragPointerSlot *slot;
    size_t mask;
} spragPointerMap;

/* Room for count keys; 0: no memory. */
static inline int spragPointerMapMake(spragPointerMap *map, spragArena *arena, int count)
{
    size_t size = 8;
    while (size < 2 * (size_t)count)
        size *= 2;
    map->mask = size - 1;
    map->slot = SPRAG_TAKE(arena, spragPointerSlot, size);
    return map->slot != NULL;
}

static inline size_t spragPointerMapHome(const spragPointerMap *map, const void *key)
{
    return (size_t)(((uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & map->mask;
}

/* Asks for the memory that will be read for this key. */
static inline void spragPointerMapAsk(const spragPointerMap *map, const void *key)
{
    __builtin_prefetch(&map->slot[spragPointerMapHome(map, key)]);
}

/* The slot of the key, or the free one where it belongs. */
static inline spragPointerSlot *spragPointerMapSlot(const spragPointerMap *map, const void *key)
{
    size_t at = spragPointerMapHome(map, key);
    while (map->slot[at].key != NULL && map->slot[at].key != key)
        at = (at + 1) & map->mask;
    return &map->slot[at];
}

static inline void spragPointerMapPut(spragPointerMap *map, const void *key, int value)
{
    *spragPointerMapSlot(map, key) = (spragPointerSlot){key, value};
}

/* -1 for NULL and for a key that was not put. */
static inline int spragPointerMapGet(const spragPointerMap *map, const void *key)
{
    if (key == NULL)
        return -1;
    const spragPointerSlot *slot = spragPointerMapSlot(map, key);
    return slot->key == NULL ? -1 : slot->value;
}

#endif
