/* Every allocation of Sprag goes through here, so that tests can count them and make the n-th one fail. */
#ifndef SPRAG_BASE_ALLOC_H
#define SPRAG_BASE_ALLOC_H

#include <stddef.h>

/* Zeroed, 64-byte aligned.  NULL if out of memory or count * size overflows. */
void *spragAlloc(size_t count, size_t size);
/* Grows an array to hold at least `count` elements, doubling; old elements kept, new ones zeroed.  0 = out of memory,
 * the array then unchanged. */
int spragGrow(void **array, size_t *capacity, size_t count, size_t size);
void spragFree(void *pointer);

/* Tests only, whole process.  Allocations so far; and make allocation number n from now fail (0 = never). */
unsigned long spragAllocCount(void);
void spragAllocFailAt(unsigned long n);
/* The same of `count` allocations, the first of them number n. */
void spragAllocFailFrom(unsigned long n, unsigned long count);

#endif
