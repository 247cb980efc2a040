/* Asks for memory before it is read: worth it where a list of objects that lie anywhere is walked. */
#ifndef SPRAG_BASE_PREFETCH_H
#define SPRAG_BASE_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

/* size > 0 bytes from the address, which need not be valid: all lines that they are in. */
static inline void spragPrefetch(const void *address, size_t size)
{
    const uintptr_t first = (uintptr_t)address;
    for (size_t at = 0; at + 1 < size; at += 64)
        __builtin_prefetch((const void *)(first + at));
    __builtin_prefetch((const void *)(first + size - 1));
}

#endif
