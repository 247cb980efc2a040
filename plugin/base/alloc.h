/* Every allocation of Sprag goes through here, so that tests can count them and make the n-th one fail. */
#ifndef SPRAG_BASE_ALLOC_H
#define SPRAG_BASE_ALLOC_H

#include <stddef.h>

/* Zeroed, 64-byte aligned.  NULL if out of memory or count * size overflows. */
void *spragAlloc(size_t count, size_t size);
void *spragAllocRaw(size_t count, size_t size); /* the same, not zeroed */
/* Grows an array to hold at least `count` elements, doubling; old elements kept, new ones zeroed.  0 = out of memory,
 * the array then unchanged. */
int spragGrow(void **array, size_t *capacity, size_t count, size_t size);
void spragFree(void *pointer);

/* For tests, of the whole process.  Allocations so far; and let the n-th one from now fail (0: none). */
unsigned long spragAllocCount(void);
void spragAllocFailAt(unsigned long n);
/* The same for `count` allocations from the n-th on. */
void spragAllocFailFrom(unsigned long n, unsigned long count);

#endif
