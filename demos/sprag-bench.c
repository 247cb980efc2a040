/* sprag-bench SUITE [options]: the benchmark, each figure beside a peer in the same run. */
#include <stdio.h>
#include <string.h>

#include <sprag/sprag.h>

#include "bench/suite.h"
#include "said.h"

static const BenchSuite *const suite_table[] = {&bench_problems, &bench_accuracy, &bench_scenes, &bench_scaling,
                                                &bench_variants, &bench_rest,     &bench_mjcf};
enum { SUITES = sizeof suite_table / sizeof *suite_table };

static void usage(FILE *out)
{
    fprintf(out, "usage: sprag-bench SUITE [options]\n");
    for (int i = 0; i < SUITES; ++i)
        fprintf(out, "  %-10s %s\n", suite_table[i]->name, suite_table[i]->line);
    fprintf(out, "  --version, --help\n");
}

int main(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return usage(stdout), saidAll("sprag-bench", 0);
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("sprag-bench %s\n", spragVersion()), saidAll("sprag-bench", 0);
    for (int i = 0; argc > 1 && i < SUITES; ++i)
        if (strcmp(argv[1], suite_table[i]->name) == 0)
            return saidAll("sprag-bench", suite_table[i]->run(argc - 2, argv + 2));
    if (argc < 2)
        fprintf(stderr, "sprag-bench: a suite is needed; --help lists them\n");
    else
        fprintf(stderr, "sprag-bench: no suite '%s'; --help lists them\n", argv[1]);
    return 2;
}
