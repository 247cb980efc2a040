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

/* s: what stands for "no time left" where 0 would mean "no limit".  Some sweeps are made all the same. */
#define SPRAG_TIME_LEAST 1e-9

/* s, what is left of a limit that began at `begin`; 0: there is no limit. */
static inline double spragTimeLeft(double limit, double begin)
{
    const double left = limit > 0 ? limit - (spragSeconds() - begin) : 0;
    return limit > 0 && !(left > SPRAG_TIME_LEAST) ? SPRAG_TIME_LEAST : left;
}

/* s, the time of spragSeconds at which a limit that begins now ends; 0: there is no limit. */
static inline double spragDeadline(double limit)
{
    return limit > 0 ? spragSeconds() + limit : 0;
}

/* deadline: of spragDeadline. */
static inline int spragIsLate(double deadline)
{
    return deadline > 0 && spragSeconds() > deadline;
}

#endif
