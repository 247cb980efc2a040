/* The suites of sprag-bench. */
#ifndef DEMOS_BENCH_SUITE_H
#define DEMOS_BENCH_SUITE_H

typedef struct BenchSuite {
    const char *name;
    const char *line; /* one line for the usage */
    /* Arguments after the suite's name.  Exit status: 0, 1 (a figure is missed), 2 (bad argument; it said so). */
    int (*run)(int count, char **argument);
} BenchSuite;

extern const BenchSuite bench_problems, bench_accuracy, bench_scenes, bench_scaling, bench_variants;

/* min of this many repeats, unless one takes longer than a tenth of a second */
enum { BENCH_REPEATS = 5 };

#endif
