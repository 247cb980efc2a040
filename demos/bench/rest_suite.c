/* `sprag-bench rest`: scenes whose end is known, under whole engines.
 *
 * All begin with the same bodies at the same places, and each engine finds its own contacts: what is compared is where
 * bodies go, which needs no word of any solver, and the time of a step with its collisions.  What has come to rest is
 * kept awake everywhere. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/engine_peer.h"
#include "bench/json.h"
#include "bench/settle.h"
#include "bench/suite.h"

#define STEP (1.0 / 240) /* s */
#define GRAVITY 9.81
#define SPEED 3.0 /* m/s, of the box that slides */
#define MU 0.5

typedef struct RestPlan {
    const char *what, *right, *scene, *set;
    int from, to; /* s, of what is measured */
    int many;     /* 1: contacts, for engines whose time grows as their cube */
    int slides;   /* 1: measured is friction, else by how much a body moves */
} RestPlan;

static const RestPlan plan[] = {
    {"box that slides along 45 degrees: friction / (mu N)", "1", "slider", "heading=45", 0, 2, 0, 1},
    {"box on a slope of 0.89 mu along 45 degrees: slides by, mm", "0", "slider", "speed=0 slope=24 heading=45", 1, 11,
     0, 0},
    {"tower of ten boxes: moves by, mm", "0", "stack", "", 1, 11, 0, 0},
    {"the same, each of twice the mass of that below", "0", "stack", "ratio=2", 1, 11, 0, 0},
    {"house of cards", "0", "card-house", "", 1, 11, 0, 0},
    {"21 logs between two posts", "0", "logs", "", 1, 11, 0, 0},
    {"pyramid of 55 cubes", "0", "pyramid", "", 1, 11, 1, 0},
    {"wall of 85 bricks", "0", "wall", "", 1, 11, 1, 0},
    {"100 boxes in a bin, seconds 9 to 11", "0", "pile", "count=100 boxes=1 tumble=1", 9, 11, 1, 0},
};
enum { PLANS = sizeof plan / sizeof *plan };

typedef struct Engine {
    const char *name;
    EnginePeerMake *make; /* NULL: ODE */
    int cubic;
    spragSolverKind solver;
    spragStepper stepper;
} Engine;

static const Engine engine[] = {
    {.name = "dWorldStep", .cubic = 1, .solver = SPRAG_SOLVER_STOCK},
    {.name = "dWorldQuickStep", .solver = SPRAG_SOLVER_STOCK, .stepper = SPRAG_STEPPER_QUICKSTEP},
#ifdef SPRAG_BENCH_BULLET
    {.name = "Bullet", .make = bulletEngineMake},
#endif
#ifdef SPRAG_BENCH_DART
    {.name = "DART", .make = dartEngineMake, .cubic = 1},
#endif
    {.name = "Sprag"},
};
enum { ENGINES = sizeof engine / sizeof *engine };

typedef struct RestFigures {
    int done;
    double value;        /* mm, or friction / (mu N) */
    double milliseconds; /* mean, of a step */
} RestFigures;

/* Stock ODE reports the failures of its LCP solver; where bodies go says as much. */
static void onOdeMessage(int number, const char *text, va_list arguments)
{
    (void)number;
    (void)text;
    (void)arguments;
}

/* ---------------------------------------------------------------- one run */

typedef struct Run {
    SceneWorld *world;
    EnginePeer *peer; /* or NULL */
} Run;

static void positionOf(const Run *run, int body, double x[3])
{
    if (run->peer != NULL) {
        run->peer->position(run->peer, body, x);
        return;
    }
    const dReal *at = dBodyGetPosition(run->world->body[body]);
    for (int i = 0; i < 3; ++i)
        x[i] = at[i];
}

static void positionsOf(const Run *run, double *x)
{
    for (int i = 0; i < run->world->body_count; ++i)
        positionOf(run, i, x + 3 * i);
}

/* 0: it failed. */
static int makeStep(const Run *run)
{
    if (run->peer == NULL)
        return SceneStep(run->world, STEP) == SPRAG_OK;
    run->peer->step(run->peer);
    return 1;
}

/* m, the farthest that a body is from where it was. */
static double movedBy(const Run *run, const double *before, const double *after)
{
    double most = 0;
    for (int i = 0; i < 3 * run->world->body_count; i += 3) {
        const double apart[3] = {after[i] - before[i], after[i + 1] - before[i + 1], after[i + 2] - before[i + 2]};
        const double distance = sqrt(apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]);
        if (!(distance <= most)) /* keeps a NaN */
            most = distance;
    }
    return most;
}

/* Of a box that came to rest after the path d.  (Each step goes by the velocity of its end, so that the path is v h / 2
 * shorter.) */
static double frictionOver(double path)
{
    return SPEED * SPEED / (2 * MU * GRAVITY * (path + SPEED * STEP / 2));
}

static RestFigures follow(const Run *run, const RestPlan *p)
{
    const int first = (int)lround(p->from / STEP), last = (int)lround(p->to / STEP);
    const size_t size = 3 * (size_t)run->world->body_count;
    RestFigures figures = {0};
    double *before = calloc(2 * size, sizeof *before), *after = before + size, begin = 0;
    int stepped = before != NULL;
    for (int k = 0; k < last && stepped; ++k) {
        if (k == first) {
            positionsOf(run, before);
            begin = benchSeconds();
        }
        stepped = makeStep(run);
    }
    if (stepped) {
        figures.milliseconds = 1e3 * (benchSeconds() - begin) / (last - first);
        positionsOf(run, after);
        const double path = movedBy(run, before, after);
        figures.value = p->slides ? frictionOver(path) : 1e3 * path;
        figures.done = 1;
    }
    free(before);
    return figures;
}

static RestFigures measure(const RestPlan *p, const Engine *e)
{
    RestFigures figures = {0};
    Run run = {.world = worldSettle(&(WorldPlan){.scene = p->scene, .set = p->set})};
    if (run.world == NULL)
        return figures;
    if (e->make == NULL) {
        spragConfig config = spragConfigDefault();
        config.solver = e->solver;
        config.stepper = e->stepper;
        config.analysis = SPRAG_ANALYSIS_CONTACTS;
        config.thread_count = 1;
        if (spragWorldSetConfig(run.world->sprag, &config) == SPRAG_OK)
            figures = follow(&run, p);
    } else {
        Solids solids;
        const char *why = solidsTake(&solids, run.world);
        if (why == NULL)
            run.peer = e->make(&solids, STEP);
        if (run.peer != NULL)
            figures = follow(&run, p);
        solidsFree(&solids);
    }
    SceneDestroy(run.world);
    return figures;
}

/* In a process of its own: engines keep what they have, crash, and print. */
static RestFigures measureApart(const RestPlan *p, const Engine *e)
{
    RestFigures *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
                figures = {0};
    if (shared == MAP_FAILED)
        return figures;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL)
            *shared = measure(p, e);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    figures = *shared;
    munmap(shared, sizeof *shared);
    return figures;
}

/* ---------------------------------------------------------------- the table */

static void printCell(const RestFigures *f)
{
    if (!f->done)
        printf(" failed |");
    else if (f->value < 1e-4)
        printf(" < 1e-4, %.3g ms |", f->milliseconds);
    else
        printf(" %.4g, %.3g ms |", f->value, f->milliseconds);
}

static void printJson(FILE *out, int first, const RestPlan *p, const Engine *e, const RestFigures *f)
{
    fprintf(out,
            "%s\n{\"what\":\"%s\",\"right\":\"%s\",\"scene\":\"%s\",\"set\":\"%s\",\"from\":%d,\"to\":%d,\"slides\":%d,"
            "\"engine\":\"%s\",\"value\":",
            first ? "" : ",", p->what, p->right, p->scene, p->set, p->from, p->to, p->slides, e->name);
    jsonWriteNumber(out, f->done ? f->value : NAN);
    fprintf(out, ",\"milliseconds\":");
    jsonWriteNumber(out, f->done ? f->milliseconds : NAN);
    fprintf(out, "}");
}

static void runAll(FILE *json)
{
    printf("| scene | right |");
    for (int e = 0; e < ENGINES; ++e)
        printf(" %s |", engine[e].name);
    printf("\n|---|---|");
    for (int e = 0; e < ENGINES; ++e)
        printf("---|");
    printf("\n");
    for (int k = 0; k < PLANS; ++k) {
        printf("| %s | %s |", plan[k].what, plan[k].right);
        for (int e = 0; e < ENGINES; ++e) {
            const int slow = plan[k].many && engine[e].cubic;
            const RestFigures f = slow ? (RestFigures){0} : measureApart(&plan[k], &engine[e]);
            if (slow)
                printf(" too slow |");
            else
                printCell(&f);
            fflush(stdout);
            if (json != NULL)
                printJson(json, k == 0 && e == 0, &plan[k], &engine[e], &f);
        }
        printf("\n");
    }
}

static int run(int count, char **argument)
{
    if (count > 0 && (count != 2 || strcmp(argument[0], "--json") != 0)) {
        fprintf(stderr, "sprag-bench rest: unexpected argument '%s'; --json FILE or nothing\n", argument[0]);
        return 2;
    }
    Output json = {0};
    const int status = benchOpen(&json, "rest", count == 2 ? argument[1] : NULL);
    if (status != 0)
        return status;
    dInitODE2(0);
    dSetMessageHandler(onOdeMessage);
    if (json.file != NULL) {
        jsonBegin(json.file, "rest");
        fprintf(json.file, ",\"results\":[");
    }
    runAll(json.file);
    if (json.file != NULL)
        fprintf(json.file, "\n]}\n");
    dCloseODE();
    return benchClose(&json, "rest", 1);
}

const BenchSuite bench_rest = {"rest", "[--json FILE]: what should stand or lie still, under whole engines", run};
