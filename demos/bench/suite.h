/* The suites of sprag-bench. */
#ifndef DEMOS_BENCH_SUITE_H
#define DEMOS_BENCH_SUITE_H

#include <time.h>

typedef struct BenchSuite {
    const char *name;
    const char *line; /* one line for the usage */
    /* Arguments after the suite's name.  Exit status: 0, 1 (a figure is missed), 2 (bad argument; it said so). */
    int (*run)(int count, char **argument);
} BenchSuite;

extern const BenchSuite bench_problems, bench_accuracy, bench_scenes, bench_scaling, bench_variants, bench_rest,
    bench_mjcf;

/* The least time of so many repeats counts; a run of more than a tenth of a second is not repeated. */
enum { BENCH_REPEATS = 5 };

/* Since some moment, s. */
static inline double benchSeconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
