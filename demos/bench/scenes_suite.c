/* `sprag-bench scenes`: whole steps of scenes under Sprag and under stock ODE, time and residual side by side.
 *
 * Every world runs under Sprag's API from the same start; SPRAG_SOLVER_STOCK leaves the step to ODE, and
 * SPRAG_ANALYSIS_JUDGE takes the residual of ODE's answer.  Time is that of the step: all stages for Sprag, ODE's alone
 * for stock.  Contacts are made outside it.  The least of the measured steps is no fair figure where the scene moves, so
 * the median is printed. */
#include "bench/suite.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/scene.h"

typedef struct Contender {
    const char *name;
    spragSolverKind solver;
    spragStepper stepper;
    int iterations; /* of QuickStep */
} Contender;

static const Contender contender[] = {{"Sprag", SPRAG_SOLVER_AUTO, SPRAG_STEPPER_STEP, 0},
                                      {"dWorldStep", SPRAG_SOLVER_STOCK, SPRAG_STEPPER_STEP, 0},
                                      {"QuickStep 20", SPRAG_SOLVER_STOCK, SPRAG_STEPPER_QUICKSTEP, 20},
                                      {"QuickStep 50", SPRAG_SOLVER_STOCK, SPRAG_STEPPER_QUICKSTEP, 50},
                                      {"QuickStep 200", SPRAG_SOLVER_STOCK, SPRAG_STEPPER_QUICKSTEP, 200}};
enum { CONTENDERS = sizeof contender / sizeof *contender };

/* Which scenes, from when to when. */
typedef struct Row {
    const char *scene, *set; /* keys, "name=value name=value" */
    double step_size;        /* s */
    int settle, measure;     /* steps */
    int dense_limit;         /* 0: too large for dWorldStep */
} Row;

static const Row row[] = {
    {"rod", "", 1e-3, 20, 50, 1},
    {"top", "", 1e-3, 20, 200, 1},
    {"stack", "", 1e-3, 100, 200, 1},
    {"card-house", "", 1.0 / 240, 50, 100, 1},
    {"arch", "", 1.0 / 240, 50, 100, 1},
    {"chain", "", 1.0 / 240, 50, 100, 1},
    {"quadruped", "", 1.0 / 240, 100, 100, 1},
    {"islands", "", 1.0 / 240, 20, 20, 1},
    {"islands", "boxes=0", 1.0 / 240, 20, 20, 1},
    {"pile", "count=50", 1.0 / 240, 300, 50, 1},
    {"pile", "count=300", 1.0 / 240, 400, 20, 0},
    {"pile", "count=1000", 1.0 / 240, 400, 10, 0},
    {"pile", "count=300 boxes=1", 1.0 / 240, 400, 10, 0},
};

typedef struct Figures {
    double milliseconds; /* median step */
    double residual;     /* median, m/s */
    double solve;        /* microseconds of solving an island, Sprag only */
    int contacts;
    const char *error;
} Figures;

static int compareDoubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int count)
{
    qsort(x, (size_t)count, sizeof *x, compareDoubles);
    return x[count / 2];
}

static void setKeys(const Scene *scene, const char *set, double *value)
{
    for (int k = 0; scene->keys[k].name != NULL; ++k) {
        const char *at = strstr(set, scene->keys[k].name);
        const size_t length = strlen(scene->keys[k].name);
        value[k] = at != NULL && at[length] == '=' ? atof(at + length + 1) : scene->keys[k].value;
    }
}

static double stepNanoseconds(const spragStepInfo *info, int stock)
{
    double sum = 0;
    for (int k = 0; k <= SPRAG_STAGE_REPORT; ++k)
        if (!stock || k == SPRAG_STAGE_ODE)
            sum += (double)info->nanoseconds[k];
    return sum;
}

static Figures measure(const Row *r, const Contender *c)
{
    static double time[1000], residual[1000], solve[1000];
    char error[256] = "";
    double value[SCENE_KEY_MAX];
    const Scene *scene = SceneFind(r->scene);
    if (scene == NULL)
        return (Figures){.error = "no such scene"};
    setKeys(scene, r->set, value);
    spragConfig config = spragConfigDefault();
    config.solver = c->solver;
    config.stepper = c->stepper;
    config.analysis = c->solver == SPRAG_SOLVER_STOCK ? SPRAG_ANALYSIS_JUDGE : SPRAG_ANALYSIS_CONTACTS;
    dRandSetSeed(1);
    SceneWorld *world = SceneCreate(scene, value, SCENE_SPRAG, &config, error);
    if (world == NULL)
        return (Figures){.error = "cannot be created"};
    if (c->iterations > 0)
        dWorldSetQuickStepNumIterations(world->world, c->iterations);
    Figures f = {0};
    for (int k = 0; k < r->settle + r->measure && f.error == NULL; ++k) {
        if (SceneStep(world, r->step_size) != SPRAG_OK) {
            f.error = "the step failed";
            break;
        }
        const spragStepInfo info = spragWorldGetStepInfo(world->sprag);
        if (k >= r->settle) {
            time[k - r->settle] = 1e-6 * stepNanoseconds(&info, c->solver == SPRAG_SOLVER_STOCK);
            residual[k - r->settle] = info.residual;
            solve[k - r->settle] =
                1e-3 * (double)info.nanoseconds[SPRAG_STAGE_SOLVE] / (info.islands > 0 ? info.islands : 1);
            f.contacts = info.contacts;
        }
    }
    if (f.error == NULL) {
        f.milliseconds = median(time, r->measure);
        f.residual = median(residual, r->measure);
        f.solve = median(solve, r->measure);
    }
    SceneDestroy(world);
    return f;
}

static int ode_complaints;

static void onOdeMessage(int number, const char *text, va_list arguments)
{
    (void)number;
    (void)text;
    (void)arguments;
    ++ode_complaints;
}

static void printRow(const Row *r)
{
    Figures f[CONTENDERS];
    printf("| %s %s |", r->scene, r->set);
    for (int c = 0; c < CONTENDERS; ++c) {
        const int skip =
            !r->dense_limit && contender[c].solver == SPRAG_SOLVER_STOCK && contender[c].stepper == SPRAG_STEPPER_STEP;
        f[c] = skip ? (Figures){.error = "too slow"} : measure(r, &contender[c]);
        if (c == 0)
            printf(" %d |", f[0].contacts);
        if (f[c].error != NULL)
            printf(" %s |", f[c].error);
        else if (c == 0)
            printf(" %.4g ms, %.1e; solve %.3g us an island |", f[c].milliseconds, f[c].residual, f[c].solve);
        else
            printf(" %.4g ms (%.2g), %.1e |", f[c].milliseconds, f[c].milliseconds / f[0].milliseconds, f[c].residual);
        fflush(stdout);
    }
    printf("\n");
}

static int run(int count, char **argument)
{
    for (int i = 0; i < count; ++i)
        if (SceneFind(argument[i]) == NULL) {
            fprintf(stderr, "sprag-bench scenes: no scene '%s'; sprag-view --list shows all\n", argument[i]);
            return 2;
        }
    dInitODE2(0);
    dSetMessageHandler(onOdeMessage);
    printf(
        "Median time of a step, in brackets the ratio to Sprag's, and median residual in m/s.\n\n| scene | contacts |");
    for (int c = 0; c < CONTENDERS; ++c)
        printf(" %s |", contender[c].name);
    printf("\n|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof row / sizeof *row; ++k) {
        int wanted = count == 0;
        for (int i = 0; i < count; ++i)
            wanted |= strcmp(argument[i], row[k].scene) == 0;
        if (wanted && SceneFind(row[k].scene) != NULL)
            printRow(&row[k]);
    }
    printf("\nStock ODE reported %d internal errors of its LCP solver on the way.\n", ode_complaints);
    dCloseODE();
    return 0;
}

const BenchSuite bench_scenes = {"scenes", "whole steps beside dWorldStep and dWorldQuickStep; [SCENE...]", run};
