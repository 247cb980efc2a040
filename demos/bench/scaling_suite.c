/* `sprag-bench scaling`: what a contact costs as piles grow from 100 to 10 000 bodies, on one thread and on two.
 *
 * Each pile is settled once by dWorldQuickStep, and measured while it still moves; then it is brought to rest and
 * measured again.  Both runs start from the same state and must end in the same bits.  dWorldQuickStep steps it from
 * there too: large piles leave the caches of any program, and its growth tells how much of Sprag's that is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/json.h"
#include "bench/suite.h"
#include "bench/world_run.h"
#include "decimal.h"

#define GAME (1.0 / 240)
static const int size[] = {100, 300, 1000, 3000, 10000};
enum { WARM_AT_REST = 30 }; /* steps, till it is known whether threads are worth it (ode/world/manner.h) */
enum { SIZES = sizeof size / sizeof *size, KINDS = 2, MOVING = 0, AT_REST, STATES, LINE_LENGTH = 200 };
enum { ONE, TWO, QUICK, CONTENDERS }; /* Sprag on one thread, on two, dWorldQuickStep */
static const char *const kind_keys[KINDS] = {"", " boxes=1 tumble=1"};
static const char *const kind_option[KINDS] = {"balls", "boxes"};
static const char *const kind_name[KINDS][STATES] = {{"balls", "balls at rest"}, {"boxes", "boxes at rest"}};

typedef struct Options {
    const char *json;
    double tolerance;
    int greatest, rest; /* bodies, of piles that move and at rest */
    int kind;           /* KINDS: all */
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
            if (!decimalParse(value, &options->tolerance) || !(options->tolerance > 0)) {
                fprintf(stderr, "sprag-bench scaling: --tol '%s': expected a number > 0, in m/s\n", value);
                return 2;
            }
        } else if (strcmp(argument[i], "--kind") == 0) {
            for (options->kind = 0; options->kind < KINDS; ++options->kind)
                if (strcmp(value, kind_option[options->kind]) == 0)
                    break;
            if (options->kind == KINDS) {
                fprintf(stderr, "sprag-bench scaling: --kind '%s': expected balls or boxes\n", value);
                return 2;
            }
        } else if (strcmp(argument[i], "--bodies") == 0 || strcmp(argument[i], "--rest") == 0) {
            int *bodies = argument[i][2] == 'b' ? &options->greatest : &options->rest;
            *bodies = (int)strtol(value, &end, 10);
            if (*end != '\0' || *bodies < size[0] || *bodies > size[SIZES - 1]) {
                fprintf(stderr, "sprag-bench scaling: %s '%s': expected %d to %d\n", argument[i], value, size[0],
                        size[SIZES - 1]);
                return 2;
            }
        } else {
            fprintf(stderr, "sprag-bench scaling: no option %s; there are --json, --tol, --kind, --bodies, --rest\n",
                    argument[i]);
            return 2;
        }
    }
    return 0;
}

typedef struct Run {
    const Options *options;
    FILE *json;
    int rows;                              /* of it */
    double first[STATES][CONTENDERS];      /* us a contact of the smallest pile */
    char line[STATES][SIZES][LINE_LENGTH]; /* of the table */
} Run;

static WorldContender contender(const Run *run, int state, int k)
{
    static const char *const name[STATES][CONTENDERS] = {
        {"Sprag, 1 thread", "Sprag, 2 threads", "QuickStep 20"},
        {"Sprag, at rest, 1 thread", "Sprag, at rest, 2 threads", "QuickStep 20, at rest"}};
    if (k == QUICK)
        return (WorldContender){
            .name = name[state][k], .solver = SPRAG_SOLVER_STOCK, .stepper = SPRAG_STEPPER_QUICKSTEP, .iterations = 20};
    return (WorldContender){.name = name[state][k],
                            .solver = SPRAG_SOLVER_AUTO,
                            .stepper = SPRAG_STEPPER_STEP,
                            .tolerance = run->options->tolerance,
                            .threads = k == TWO ? 2 : 1,
                            .patient = 1};
}

/* One line; 1: two threads end in other bits than one. */
static int measure(Run *run, SceneWorld *world, const WorldPlan *plan, const char *name, int state, char *line)
{
    WorldFigures f[CONTENDERS];
    double cost[CONTENDERS], growth[CONTENDERS]; /* us a contact, and as a multiple of the smallest pile's */
    for (int k = 0; k < CONTENDERS; ++k) {
        const WorldContender one = contender(run, state, k);
        f[k] = worldMeasure(world, plan, &one);
        if (run->json != NULL)
            worldPrintJson(run->json, run->rows++ == 0, plan, &one, &f[k]);
        if (!f[k].done && k != QUICK) {
            snprintf(line, LINE_LENGTH, "| %s | %d | %s: %.100s |\n", name, world->body_count, one.name, f[k].error);
            return 0;
        }
        cost[k] = 1e3 * f[k].milliseconds / fmax(f[k].contacts, 1);
        if (f[k].done && run->first[state][k] == 0)
            run->first[state][k] = cost[k];
        growth[k] = cost[k] / run->first[state][k];
    }
    const int same = f[ONE].fingerprint == f[TWO].fingerprint;
    char quick[32] = "failed | -"; /* the peer's failure leaves Sprag's figures as they are */
    if (f[QUICK].done)
        snprintf(quick, sizeof quick, "%.3g | %.2f", f[QUICK].milliseconds, growth[QUICK]);
    snprintf(line, LINE_LENGTH, "| %s | %d | %d | %.3g | %.1e | %.3g | %.2f | %.3g | %.2f | %s | %s |\n", name,
             f[ONE].bodies, f[ONE].contacts, f[ONE].milliseconds, f[ONE].residual, cost[ONE], growth[ONE],
             f[TWO].milliseconds, f[ONE].milliseconds / f[TWO].milliseconds, same ? "yes" : "no", quick);
    return !same;
}

/* The pile while it moves, and at rest.  1: other bits. */
static int runSize(Run *run, int kind, int k)
{
    char keys[64];
    const int bodies = size[k];
    snprintf(keys, sizeof keys, "count=%d%s", bodies, kind_keys[kind]);
    const WorldPlan plan = {"pile", keys, GAME, 400, bodies > 300 ? 5 : 20, bodies > 1000 ? 3 : bodies > 300 ? 7 : 20,
                            0,      1};
    WorldPlan at_rest = plan;
    at_rest.warm = WARM_AT_REST;
    SceneWorld *world = worldSettle(&plan);
    if (world == NULL)
        return 0;
    int status = measure(run, world, &plan, kind_name[kind][MOVING], MOVING, run->line[MOVING][k]);
    if (bodies > run->options->rest)
        run->line[AT_REST][k][0] = '\0';
    else if (worldCalm(world, GAME, run->options->tolerance))
        status |= measure(run, world, &at_rest, kind_name[kind][AT_REST], AT_REST, run->line[AT_REST][k]);
    else
        snprintf(run->line[AT_REST][k], LINE_LENGTH, "| %s | %d | does not come to rest |\n", kind_name[kind][AT_REST],
                 bodies);
    SceneDestroy(world);
    return status;
}

static int run(int count, char **argument)
{
    Options options = {.tolerance = 1e-6, .greatest = size[SIZES - 1], .rest = size[SIZES - 1], .kind = KINDS};
    if (parse(&options, count, argument) != 0)
        return 2;
    Output json = {0};
    if (benchOpen(&json, "scaling", options.json) != 0)
        return 2;
    jsonBegin(json.file, "scaling");
    if (json.file != NULL)
        fprintf(json.file, ",\"tolerance\":%g,\"results\":[", options.tolerance);
    printf(
        "Whole steps of piles, warm, to a residual of %g m/s; growth: cost per contact against the smallest pile of\n"
        "its kind.  A residual above that means that the limit on the work of a step ended it (all of it is spent in\n"
        "every step here: spragConfig.patient).  A pile moves after 400 steps of dWorldQuickStep; it is at rest once\n"
        "steps at 60 Hz, then such of %.3g ms with damping (a twentieth of all speed in each), have brought it to ten\n"
        "steps in a row that are solved, 99.8 %% of its bodies at 1 um/s or less, all at 1 mm/s.  It is measured\n"
        "without damping, in steps of %.3g ms.  Beside it dWorldQuickStep, 20 iterations, from the same state.\n\n"
        "| pile of | bodies | contacts | ms | residual | us a contact | growth | ms, 2 threads | faster by | same bits "
        "| QuickStep 20, ms | its growth |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        options.tolerance, 1e3 * GAME, 1e3 * GAME);
    int rows = 0, status = 0;
    for (int kind = 0; kind < KINDS; ++kind) {
        static Run piles;
        if (options.kind != KINDS && options.kind != kind)
            continue;
        piles = (Run){.options = &options, .json = json.file, .rows = rows};
        for (int k = 0; k < SIZES && size[k] <= options.greatest; ++k)
            status |= runSize(&piles, kind, k);
        rows = piles.rows;
        for (int state = 0; state < STATES; ++state)
            for (int k = 0; k < SIZES; ++k)
                fputs(piles.line[state][k], stdout);
        fflush(stdout);
    }
    if (json.file != NULL)
        fprintf(json.file, "\n]}\n");
    return benchClose(&json, "scaling", 1) != 0 ? 2 : status;
}

const BenchSuite bench_scaling = {"scaling",
                                  "[--json FILE] [--tol T] [--kind balls|boxes] [--bodies N] [--rest N]: cost per "
                                  "contact against size, one thread and two, and QuickStep",
                                  run};
