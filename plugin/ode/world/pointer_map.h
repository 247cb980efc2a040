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

#define SPRAG_GOLDEN UINT64_C(0x9E3779B97F4A7C15) /* 2^64 over the golden ratio */

static inline size_t spragPointerMapHome(const spragPointerMap *map, const void *key)
{
    return (size_t)(((uint64_t)(uintptr_t)key * SPRAG_GOLDEN) >> 20) & map->mask;
}

/* A key for two things that lie at even addresses, the same in either order; NULL: there is none, at most one of them.
 *
 * Two pairs have one key only if d G = e (mod 2^64), d and e the differences of their higher and of their lower
 * addresses.  No number is farther from fractions than the golden ratio: d G lies 2^64 / (3 d) - d or more from 0
 * (Hurwitz; G is rounded), which is more than e as long as all lie within 1 GB.  (The sum of two addresses was the key.
 * What a program allocates in a row lies at even distances, so many pairs had one key, others in each process.) */
static inline const void *spragPointerPair(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)(a != NULL ? a : b), y = (uintptr_t)(b != NULL ? b : a), low = x < y ? x : y;
    return (const void *)((low + (uintptr_t)((uint64_t)(x ^ y ^ low) * SPRAG_GOLDEN)) | 1);
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
