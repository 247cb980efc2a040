/* From an address to a number, for one step: open addressing, linear probing, memory from the step's arena. */
#ifndef SPRAG_ODE_POINTER_MAP_H
#define SPRAG_ODE_POINTER_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct spragPointerMap {
    const void **key;
    int *value;
    size_t mask;
} spragPointerMap;

/* Room for count keys; 0: no memory. */
static inline int spragPointerMapMake(spragPointerMap *map, spragArena *arena, int count)
{
    size_t size = 8;
    while (size < 2 * (size_t)count)
        size *= 2;
    map->mask = size - 1;
    map->key = SPRAG_TAKE(arena, const void *, size);
    map->value = SPRAG_TAKE(arena, int, size);
    return map->key != NULL && map->value != NULL;
}

/* The slot of the key, or the free one where it belongs. */
static inline size_t spragPointerMapSlot(const spragPointerMap *map, const void *key)
{
    size_t slot = (size_t)(((uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & map->mask;
    while (map->key[slot] != NULL && map->key[slot] != key)
        slot = (slot + 1) & map->mask;
    return slot;
}

static inline void spragPointerMapPut(spragPointerMap *map, const void *key, int value)
{
    const size_t slot = spragPointerMapSlot(map, key);
    map->key[slot] = key;
    map->value[slot] = value;
}

/* -1 for NULL and for a key that was not put. */
static inline int spragPointerMapGet(const spragPointerMap *map, const void *key)
{
    if (key == NULL)
        return -1;
    const size_t slot = spragPointerMapSlot(map, key);
    return map->key[slot] == NULL ? -1 : map->value[slot];
}

#endif
