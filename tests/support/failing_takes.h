/* Memory that runs out.  An arena seldom asks for a chunk, so it is not the allocations that fail but what is taken
 * from an arena: the linker puts these functions in the place of base/arena.h's and spragGrow (tests/CMakeLists.txt).
 * To be included once. */
#ifndef TESTS_SUPPORT_FAILING_TAKES_H
#define TESTS_SUPPORT_FAILING_TAKES_H

#include "base/alloc.h"
#include "base/arena.h"

static unsigned long taken, failing; /* the failing-th fails; 0: none */

void *__real_spragArenaTake(spragArena *arena, size_t count, size_t size);
void *__real_spragArenaTakeRaw(spragArena *arena, size_t count, size_t size);
int __real_spragGrow(void **array, size_t *capacity, size_t count, size_t size);
void *__wrap_spragArenaTake(spragArena *arena, size_t count, size_t size);
void *__wrap_spragArenaTakeRaw(spragArena *arena, size_t count, size_t size);
int __wrap_spragGrow(void **array, size_t *capacity, size_t count, size_t size);

void *__wrap_spragArenaTake(spragArena *arena, size_t count, size_t size)
{
    return ++taken == failing ? NULL : __real_spragArenaTake(arena, count, size);
}

void *__wrap_spragArenaTakeRaw(spragArena *arena, size_t count, size_t size)
{
    return ++taken == failing ? NULL : __real_spragArenaTakeRaw(arena, count, size);
}

int __wrap_spragGrow(void **array, size_t *capacity, size_t count, size_t size)
{
    return ++taken == failing ? 0 : __real_spragGrow(array, capacity, count, size);
}

#endif
