/* The clock that limits go by is a test's own: it goes on by so much whenever it is read, on any machine.  To be
 * included once, in place of the C library's. */
#ifndef TESTS_SUPPORT_TICKING_CLOCK_H
#define TESTS_SUPPORT_TICKING_CLOCK_H

#include <time.h>

static double now = 1; /* s */
static const double TICK = 2e-7;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    now += TICK;
    time->tv_sec = (time_t)now;
    time->tv_nsec = (long)(1e9 * (now - (double)time->tv_sec));
    return 0;
}

#endif
