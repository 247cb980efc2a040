/* Monotonic time, s. */
#ifndef SPRAG_BASE_CLOCK_H
#define SPRAG_BASE_CLOCK_H

#include <time.h>

static inline double spragSeconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
