/* `sprag-bench scenes`: whole steps of scenes under Sprag, stock ODE, Bullet and DART, time and residual side by side.
 *
 * A scene is settled once, then every contender runs on from that state under Sprag's API: SPRAG_SOLVER_STOCK leaves
 * the step to ODE, and SPRAG_ANALYSIS_JUDGE takes the residual of ODE's answer.  Time is that of the step: all
 * stages for Sprag, ODE's alone for stock, the solver's alone for Bullet and DART, which are given the contacts of a
 * world that Sprag steps.  Contacts are made outside it.  The least of the measured steps is no fair figure where the
 * scene moves, so medians are printed.  In the budget's table the contenders take turns of a few steps each: a
 * machine that slows down does so for all. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/json.h"
#include "bench/suite.h"
#include "bench/world_run.h"

#define STOCK(title, which, count)                                                                                     \
    {                                                                                                                  \
        .name = title, .solver = SPRAG_SOLVER_STOCK, .stepper = which, .iterations = count,                            \
        .cubic = which == SPRAG_STEPPER_STEP                                                                           \
    }
enum { SPRAG, DENSE, QUICK20, QUICK50, QUICK200 };
static const WorldContender contender[] = {
    {.name = "Sprag"},
    STOCK("dWorldStep", SPRAG_STEPPER_STEP, 0),
    STOCK("QuickStep 20", SPRAG_STEPPER_QUICKSTEP, 20),
    STOCK("QuickStep 50", SPRAG_STEPPER_QUICKSTEP, 50),
    STOCK("QuickStep 200", SPRAG_STEPPER_QUICKSTEP, 200),
#ifdef SPRAG_BENCH_BULLET
    {.name = "Bullet 10", .iterations = 10, .peer = bulletPeerMake},
    {.name = "Bullet 200", .iterations = 200, .peer = bulletPeerMake},
#endif
#ifdef SPRAG_BENCH_DART
    {.name = "DART", .iterations = 30, .peer = dartPeerMake, .cubic = 1},
#endif
};
enum { CONTENDERS = sizeof contender / sizeof *contender };

#define MS 1e-3
#define GAME (1.0 / 240)
static const WorldPlan plan[] = {
    {"rod", "", MS, 20, 0, 50, 1, 0},
    {"top", "", MS, 20, 0, 200, 1, 0},
    {"stack", "", MS, 100, 0, 200, 1, 0},
    {"stack", "ratio=2", MS, 100, 0, 100, 1, 0},
    {"stack", "count=20 balls=1", MS, 100, 0, 100, 1, 0},
    {"card-house", "", GAME, 50, 0, 100, 1, 0},
    {"arch", "", GAME, 50, 0, 100, 1, 0},
    {"wall", "", GAME, 50, 0, 20, 0, 0},
    {"pyramid", "", GAME, 50, 0, 20, 0, 0},
    {"logs", "", GAME, 400, 0, 50, 1, 0},
    {"chain", "", GAME, 50, 0, 100, 1, 0},
    {"quadruped", "", GAME, 100, 0, 100, 1, 0},
    {"gripper", "", GAME, 500, 0, 100, 1, 0},
    {"ragdolls", "count=6", GAME, 300, 20, 50, 0, 1},
    {"ragdolls", "count=20", GAME, 400, 10, 20, 0, 1},
    {"islands", "count=10", GAME, 20, 0, 50, 1, 0},
    {"islands", "", GAME, 20, 0, 20, 1, 0},
    {"islands", "count=10000", GAME, 20, 0, 10, 1, 0},
    {"islands", "boxes=0", GAME, 20, 0, 20, 1, 0},
    {"pile", "count=10", GAME, 300, 20, 50, 1, 1},
    {"pile", "count=50", GAME, 300, 20, 50, 1, 1},
    {"pile", "count=300", GAME, 400, 20, 20, 0, 1},
    {"pile", "count=1000", GAME, 400, 5, 7, 0, 1},
    {"pile", "count=3000", GAME, 400, 3, 3, 0, 1},
    {"pile", "count=10 boxes=1 tumble=1", GAME, 300, 20, 50, 1, 1},
    {"pile", "count=50 boxes=1 tumble=1", GAME, 300, 20, 50, 1, 1},
    {"pile", "count=300 boxes=1 tumble=1", GAME, 400, 20, 20, 0, 1},
    {"pile", "count=1000 boxes=1 tumble=1", GAME, 400, 5, 7, 0, 1},
    {"pile", "count=3000 boxes=1 tumble=1", GAME, 400, 3, 3, 0, 1},
};
enum { PLANS = sizeof plan / sizeof *plan };
enum { WARM = 100 }; /* steps, of the budget's table: half a second, in which what the settling left is gone */
enum { TURNS = 7, TURN_LEAST = 3, TURN_MOST = 15 }; /* steps in a turn */
#define TURN_TIME 20.0                              /* ms, of QuickStep */
enum { SMALL_BODIES = 100 };                        /* --quick leaves larger piles and islands out */

typedef struct Budget {
    int plan;
    WorldFigures quick20, quick200, in_time, to_residual;
} Budget;

/* Stock ODE reports the failures of its LCP solver; its residual says as much. */
static void onOdeMessage(int number, const char *text, va_list arguments)
{
    (void)number;
    (void)text;
    (void)arguments;
}

/* ---------------------------------------------------------------- arguments */

typedef struct Options {
    const char *json;
    int quick, budget, scenes;
    char **scene;
} Options;

static int parse(Options *options, int count, char **argument)
{
    for (int i = 0; i < count; ++i) {
        if (strcmp(argument[i], "--quick") == 0) {
            options->quick = 1;
        } else if (strcmp(argument[i], "--budget") == 0) {
            options->budget = 1;
        } else if (strcmp(argument[i], "--json") == 0) {
            if (++i == count) {
                fprintf(stderr, "sprag-bench scenes: --json needs a file\n");
                return 2;
            }
            options->json = argument[i];
        } else if (SceneFind(argument[i]) == NULL) {
            fprintf(stderr, "sprag-bench scenes: no scene or option '%s'; sprag-view --list shows all scenes\n",
                    argument[i]);
            return 2;
        } else {
            options->scene[options->scenes++] = argument[i];
        }
    }
    return 0;
}

static int isWanted(const Options *options, const WorldPlan *p)
{
    const char *count = strstr(p->set, "count=");
    if (options->quick && ((count != NULL && atoi(count + 6) > SMALL_BODIES) || !p->dense_limit))
        return 0;
    if (options->budget && !p->settle_quick)
        return 0;
    int wanted = options->scenes == 0;
    for (int i = 0; i < options->scenes; ++i)
        wanted |= strcmp(options->scene[i], p->scene) == 0;
    return wanted;
}

/* ---------------------------------------------------------------- runs */

enum { IN_TIME, TO_RESIDUAL, PEERS }; /* with QUICK20 and QUICK200 beside them */

/* What Sprag is to keep to: the time of its peer in the same turn, the residual of its peer in all. */
static WorldContender limited(int quick, const WorldFigures *turn, const WorldRunner *peer)
{
    WorldContender c = contender[SPRAG];
    if (quick == QUICK20)
        c.time_limit = 1e-3 * turn->milliseconds;
    else
        c.tolerance = fmax(worldRunnerFigures(peer).residual, 1e-12);
    return c;
}

/* As long as QuickStep takes for 20 iterations; to the residual it has after 200.  All four step the pile by turns,
 * each for a while before it is measured. */
static void measureBudget(SceneWorld *world, const WorldPlan *p, Budget *budget)
{
    static const int quick[PEERS] = {QUICK20, QUICK200};
    WorldRunner *peer[PEERS], *sprag[PEERS];
    WorldFigures *const theirs[PEERS] = {&budget->quick20, &budget->quick200}, *const ours[PEERS] = {
                                                                                   &budget->in_time,
                                                                                   &budget->to_residual};
    int ready = 1;
    for (int k = 0; k < PEERS; ++k) {
        peer[k] = worldRunnerStart(world, p, &contender[quick[k]]);
        sprag[k] = worldRunnerStart(world, p, &contender[SPRAG]);
        ready &= peer[k] != NULL && sprag[k] != NULL;
    }
    int steps = TURN_LEAST;
    for (int turn = -1; turn < TURNS && ready; ++turn)
        for (int k = 0; k < PEERS; ++k) {
            if (turn < 0)
                worldRunnerTurn(peer[k], &contender[quick[k]], WARM, 0);
            const WorldFigures f = worldRunnerTurn(peer[k], &contender[quick[k]], steps, 1);
            const WorldContender c = limited(quick[k], &f, peer[k]);
            worldRunnerTurn(sprag[k], &c, turn < 0 ? WARM : steps, turn >= 0);
            if (turn < 0 && k == 0) /* short ones would be over before the cache has changed hands */
                steps = (int)fmin(fmax(TURN_TIME / f.milliseconds, TURN_LEAST), TURN_MOST);
        }
    for (int k = 0; k < PEERS; ++k) {
        *theirs[k] = worldRunnerFigures(peer[k]);
        *ours[k] = worldRunnerFigures(sprag[k]);
        worldRunnerEnd(peer[k]);
        worldRunnerEnd(sprag[k]);
    }
}

static void runContenders(SceneWorld *world, const WorldPlan *p, FILE *json, int *rows)
{
    const int joints = strcmp(p->scene, "chain") == 0 || strcmp(p->scene, "quadruped") == 0 ||
                       strcmp(p->scene, "ragdolls") == 0 || strcmp(p->scene, "gripper") == 0;
    printf("| %s %s |", p->scene, p->set);
    for (int c = 0; c < CONTENDERS; ++c) {
        const WorldFigures f = contender[c].cubic && !p->dense_limit ? (WorldFigures){.error = "too slow"}
                               : contender[c].peer != NULL && joints ? (WorldFigures){.error = "joints"}
                                                                     : worldMeasure(world, p, &contender[c]);
        if (c == 0)
            printf(" %d |", f.contacts);
        worldPrintCell(stdout, &f);
        fflush(stdout);
        if (json != NULL)
            worldPrintJson(json, (*rows)++ == 0, p, &contender[c], &f);
    }
    printf("\n");
}

static void runPlan(const Options *options, const WorldPlan *p, FILE *json, int *rows, Budget *budget)
{
    SceneWorld *world = worldSettle(p);
    budget->plan = -1;
    if (world == NULL)
        return;
    if (!options->budget)
        runContenders(world, p, json, rows);
    if (p->settle_quick) {
        measureBudget(world, p, budget);
        WorldContender named = contender[SPRAG];
        for (int k = 0; k < 2 && json != NULL; ++k) {
            named.name = k == 0 ? "Sprag in the time of QuickStep 20" : "Sprag to the residual of QuickStep 200";
            worldPrintJson(json, (*rows)++ == 0, p, &named, k == 0 ? &budget->in_time : &budget->to_residual);
        }
        if (budget->quick20.done && budget->quick200.done && budget->in_time.done && budget->to_residual.done)
            budget->plan = (int)(p - plan);
    }
    SceneDestroy(world);
}

static void printBudgets(const Budget *budget, int count)
{
    printf("\n| pile or heap | QuickStep 20 | Sprag in that time | residual smaller by "
           "| QuickStep 200 | Sprag to that residual | faster by |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < count; ++i) {
        const Budget *b = &budget[i];
        printf("| %s %s |", plan[b->plan].scene, plan[b->plan].set);
        worldPrintCell(stdout, &b->quick20);
        worldPrintCell(stdout, &b->in_time);
        if (b->in_time.residual > 0)
            printf(" %.3g |", b->quick20.residual / b->in_time.residual);
        else
            printf(" exact |");
        worldPrintCell(stdout, &b->quick200);
        worldPrintCell(stdout, &b->to_residual);
        printf(" %.3g |\n", b->quick200.milliseconds / b->to_residual.milliseconds);
    }
}

static void runAll(const Options *options, FILE *json)
{
    static Budget budget[PLANS];
    int rows = 0, budgets = 0;
    if (json != NULL)
        fprintf(json, ",\"results\":[");
    printf("Median time of a step and median residual in m/s.\n");
    if (!options->budget) {
        printf("\n| scene | contacts |");
        for (int c = 0; c < CONTENDERS; ++c)
            printf(" %s |", contender[c].name);
        printf("\n|---|---|");
        for (int c = 0; c < CONTENDERS; ++c)
            printf("---|");
        printf("\n");
    }
    for (int k = 0; k < PLANS; ++k)
        if (isWanted(options, &plan[k])) {
            runPlan(options, &plan[k], json, &rows, &budget[budgets]);
            budgets += budget[budgets].plan >= 0;
        }
    if (budgets > 0)
        printBudgets(budget, budgets);
    if (json != NULL)
        fprintf(json, "\n]}\n");
}

static int run(int count, char **argument)
{
    Options options = {.scene = calloc((size_t)count + 1, sizeof *options.scene)};
    int status = options.scene == NULL ? 2 : parse(&options, count, argument);
    Output json = {0};
    if (status == 0)
        status = benchOpen(&json, "scenes", options.json);
    if (status == 0) {
        dInitODE2(0);
        dSetMessageHandler(onOdeMessage);
        jsonBegin(json.file, "scenes");
        runAll(&options, json.file);
        dCloseODE();
        status = benchClose(&json, "scenes", 1);
    }
    free(options.scene);
    return status;
}

const BenchSuite bench_scenes = {
    "scenes",
    "[--quick] [--budget] [--json FILE] [SCENE...]: whole steps beside dWorldStep, dWorldQuickStep, Bullet, "
    "DART",
    run};
