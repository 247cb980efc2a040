/* `sprag-bench scaling`: what a contact costs as piles grow from 100 to 10 000 bodies, on one thread and on two.
 *
 * Each pile is settled once by dWorldQuickStep; both runs start from that state and must end in the same bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/json.h"
#include "bench/suite.h"
#include "bench/world_run.h"

#define GAME (1.0 / 240)
static const int size[] = {100, 300, 1000, 3000, 10000};
enum { SIZES = sizeof size / sizeof *size, KINDS = 2 };
static const char *const kind_keys[KINDS] = {"", " boxes=1 tumble=1"}, *const kind_name[KINDS] = {"balls", "boxes"};

typedef struct Options {
    const char *json;
    double tolerance;
    int greatest;
} Options;

static int parse(Options *options, int count, char **argument)
{
    for (int i = 0; i < count; i += 2) {
        char *end = NULL;
        const char *value = i + 1 < count ? argument[i + 1] : NULL;
        if (value == NULL) {
            fprintf(stderr, "sprag-bench scaling: %s needs a value\n", argument[i]);
            return 2;
        }
        if (strcmp(argument[i], "--json") == 0) {
            options->json = value;
        } else if (strcmp(argument[i], "--tol") == 0) {
            options->tolerance = strtod(value, &end);
            if (*end != '\0' || !(options->tolerance > 0) || isinf(options->tolerance)) {
                fprintf(stderr, "sprag-bench scaling: --tol '%s': expected a number > 0, in m/s\n", value);
                return 2;
            }
        } else if (strcmp(argument[i], "--bodies") == 0) {
            options->greatest = (int)strtol(value, &end, 10);
            if (*end != '\0' || options->greatest < size[0] || options->greatest > size[SIZES - 1]) {
                fprintf(stderr, "sprag-bench scaling: --bodies '%s': expected %d to %d\n", value, size[0],
                        size[SIZES - 1]);
                return 2;
            }
        } else {
            fprintf(stderr, "sprag-bench scaling: no option %s; there are --json, --tol, --bodies\n", argument[i]);
            return 2;
        }
    }
    return 0;
}

/* 0, or 1 where two threads end in other bits than one. */
static int runSize(const Options *options, int kind, int bodies, FILE *json, int *rows, double *first)
{
    char keys[64];
    snprintf(keys, sizeof keys, "count=%d%s", bodies, kind_keys[kind]);
    const WorldPlan plan = {"pile", keys, GAME, 400, bodies > 300 ? 5 : 20, bodies > 1000 ? 3 : bodies > 300 ? 7 : 20,
                            0,      1};
    SceneWorld *world = worldSettle(&plan);
    if (world == NULL)
        return 0;
    WorldFigures f[2];
    for (int k = 0; k < 2; ++k) {
        const WorldContender one = {.name = k == 0 ? "Sprag, 1 thread" : "Sprag, 2 threads",
                                    .solver = SPRAG_SOLVER_AUTO,
                                    .stepper = SPRAG_STEPPER_STEP,
                                    .tolerance = options->tolerance,
                                    .threads = k + 1};
        f[k] = worldMeasure(world, &plan, &one);
        if (json != NULL)
            worldPrintJson(json, (*rows)++ == 0, &plan, &one, &f[k]);
    }
    SceneDestroy(world);
    if (!f[0].done || !f[1].done) {
        printf("| %s | %d | %s |\n", kind_name[kind], bodies, f[0].done ? f[1].error : f[0].error);
        return 0;
    }
    const double cost = 1e3 * f[0].milliseconds / fmax(f[0].contacts, 1);
    if (*first == 0)
        *first = cost;
    const int same = f[0].fingerprint == f[1].fingerprint;
    printf("| %s | %d | %d | %.3g | %.1e | %.3g | %.2f | %.3g | %.2f | %s |\n", kind_name[kind], bodies, f[0].contacts,
           f[0].milliseconds, f[0].residual, cost, cost / *first, f[1].milliseconds,
           f[0].milliseconds / f[1].milliseconds, same ? "yes" : "no");
    fflush(stdout);
    return !same;
}

static int run(int count, char **argument)
{
    Options options = {.tolerance = 1e-6, .greatest = size[SIZES - 1]};
    if (parse(&options, count, argument) != 0)
        return 2;
    Output json = {0};
    if (benchOpen(&json, "scaling", options.json) != 0)
        return 2;
    jsonBegin(json.file, "scaling");
    if (json.file != NULL)
        fprintf(json.file, ",\"tolerance\":%g,\"results\":[", options.tolerance);
    printf(
        "Whole steps of piles, warm, to a residual of %g m/s; growth: cost per contact against the smallest pile.\n"
        "A residual above that means that the limit on the work of a step ended it.\n\n"
        "| pile of | bodies | contacts | ms | residual | us a contact | growth | ms, 2 threads | faster by | same bits "
        "|\n|---|---|---|---|---|---|---|---|---|---|\n",
        options.tolerance);
    int rows = 0, status = 0;
    for (int kind = 0; kind < KINDS; ++kind) {
        double first = 0;
        for (int k = 0; k < SIZES && size[k] <= options.greatest; ++k)
            status |= runSize(&options, kind, size[k], json.file, &rows, &first);
    }
    if (json.file != NULL)
        fprintf(json.file, "\n]}\n");
    return benchClose(&json, "scaling", 1) != 0 ? 2 : status;
}

const BenchSuite bench_scaling = {
    "scaling", "[--json FILE] [--tol T] [--bodies N]: cost per contact against size, one thread and two", run};
