#include "bench/world_run.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/json.h"

enum { MEASURE_MAX = 1000 };

static int compareDoubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int count)
{
    qsort(x, (size_t)count, sizeof *x, compareDoubles);
    return count > 0 ? x[count / 2] : NAN;
}

/* FNV-1a over positions, rotations and velocities. */
static unsigned long long fingerprintOf(const SceneWorld *world)
{
    unsigned long long hash = 14695981039346656037ULL;
    for (int i = 0; i < world->body_count; ++i) {
        const dReal *part[4] = {dBodyGetPosition(world->body[i]), dBodyGetQuaternion(world->body[i]),
                                dBodyGetLinearVel(world->body[i]), dBodyGetAngularVel(world->body[i])};
        for (int k = 0; k < 4; ++k) {
            const unsigned char *byte = (const unsigned char *)part[k];
            for (size_t j = 0; j < (k == 1 ? 4 : 3) * sizeof(dReal); ++j)
                hash = (hash ^ byte[j]) * 1099511628211ULL;
        }
    }
    return hash;
}

/* All stages for Sprag, ODE's own for stock: looking at its answer is not its work. */
static double stepMilliseconds(const spragStepInfo *info, int stock)
{
    double sum = 0;
    for (int k = 0; k <= SPRAG_STAGE_REPORT; ++k)
        if (!stock || k == SPRAG_STAGE_ODE)
            sum += 1e-6 * (double)info->nanoseconds[k];
    return sum;
}

static spragStatus configure(SceneWorld *world, const WorldContender *contender)
{
    spragConfig config = spragConfigDefault();
    config.solver = contender->solver;
    config.stepper = contender->stepper;
    config.analysis = contender->solver == SPRAG_SOLVER_STOCK ? SPRAG_ANALYSIS_JUDGE : SPRAG_ANALYSIS_CONTACTS;
    config.tolerance = contender->tolerance > 0 ? contender->tolerance : config.tolerance;
    config.time_limit = contender->time_limit;
    config.thread_count = contender->threads > 0 ? contender->threads : 1;
    config.patient = contender->patient;
    if (contender->stepper == SPRAG_STEPPER_QUICKSTEP && contender->iterations > 0)
        dWorldSetQuickStepNumIterations(world->world, contender->iterations);
    return spragWorldSetConfig(world->sprag, &config);
}

/* One step of the world under Sprag; the peer solves it beside.  0: out of memory. */
static int stepPeer(SceneWorld *world, double h, ContactPeer *peer, ContactSet *set, double *milliseconds,
                    double *residual)
{
    if (!contactSetBodies(set, world) || SceneStep(world, h) != SPRAG_OK || !contactSetContacts(set, world, h))
        return 0;
    double *r = calloc(3 * (size_t)set->contact_count + 1, sizeof *r);
    if (r == NULL)
        return 0;
    *milliseconds = 1e3 * peer->solve(peer, set, r);
    *residual = contactSetResidual(set, r);
    free(r);
    return 1;
}

/* Shared by both processes. */
typedef struct Shared {
    WorldContender contender;
    int steps; /* of this turn */
    int done;  /* steps with figures */
    double time[MEASURE_MAX], residual[MEASURE_MAX], solve[MEASURE_MAX];
    WorldFigures figures;
} Shared;

struct WorldRunner {
    Shared *shared;
    pid_t child;
    int alive;       /* 0: it crashed */
    int ask, answer; /* pipes */
};

typedef struct Runner {
    SceneWorld *world;
    double step_size;
    ContactPeer *peer; /* or NULL */
    ContactSet set;    /* for it */
} Runner;

static spragStatus stepOne(Runner *runner, Shared *shared)
{
    SceneWorld *world = runner->world;
    const WorldContender *contender = &shared->contender;
    spragStatus status = SPRAG_OK;
    double milliseconds = 0, worst = 0;
    if (runner->peer == NULL)
        status = SceneStep(world, runner->step_size);
    else if (!stepPeer(world, runner->step_size, runner->peer, &runner->set, &milliseconds, &worst))
        status = SPRAG_ERROR_MEMORY;
    const spragStepInfo info = spragWorldGetStepInfo(world->sprag);
    if (runner->peer == NULL)
        milliseconds = stepMilliseconds(&info, contender->solver == SPRAG_SOLVER_STOCK), worst = info.residual;
    if (shared->done < MEASURE_MAX) {
        shared->time[shared->done] = milliseconds;
        shared->residual[shared->done] = worst;
        shared->solve[shared->done++] = 1e-6 * (double)info.nanoseconds[SPRAG_STAGE_SOLVE];
    }
    shared->figures.contacts = info.contacts, shared->figures.islands = info.islands;
    return status;
}

/* In the child. */
static void runTurn(Runner *runner, Shared *shared)
{
    WorldFigures *f = &shared->figures;
    spragStatus status = configure(runner->world, &shared->contender);
    for (int k = 0; k < shared->steps && status == SPRAG_OK; ++k)
        status = stepOne(runner, shared);
    f->done = status == SPRAG_OK;
    f->bodies = runner->world->body_count;
    f->fingerprint = fingerprintOf(runner->world);
    if (status != SPRAG_OK)
        snprintf(f->error, sizeof f->error, "%s", SceneDetail(runner->world));
}

static void serve(SceneWorld *world, const WorldPlan *plan, Shared *shared, int ask, int answer)
{
    char turn;
    Runner runner = {.world = world, .step_size = plan->step_size};
    if (shared->contender.peer != NULL)
        runner.peer = shared->contender.peer(shared->contender.iterations);
    dRandSetSeed(1);
    while (read(ask, &turn, 1) == 1) {
        runTurn(&runner, shared);
        if (write(answer, &turn, 1) != 1)
            break;
    }
}

WorldRunner *worldRunnerStart(SceneWorld *settled, const WorldPlan *plan, const WorldContender *contender)
{
    int ask[2] = {-1, -1}, answer[2] = {-1, -1};
    WorldRunner *runner = calloc(1, sizeof *runner);
    if (runner == NULL)
        return NULL;
    runner->shared = mmap(NULL, sizeof *runner->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (runner->shared == MAP_FAILED || pipe(ask) != 0 || pipe(answer) != 0) {
        free(runner);
        return NULL;
    }
    runner->shared->contender = *contender;
    fflush(NULL);
    runner->child = fork();
    if (runner->child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(settled, plan, runner->shared, ask[0], answer[1]);
        _exit(0);
    }
    runner->alive = runner->child > 0;
    close(ask[0]);
    close(answer[1]);
    runner->ask = ask[1], runner->answer = answer[0];
    return runner;
}

/* Medians of the steps from `first` on. */
static WorldFigures figuresFrom(const Shared *shared, int first)
{
    static double sorted[MEASURE_MAX];
    WorldFigures f = shared->figures;
    const double *const of[3] = {shared->time, shared->residual, shared->solve};
    double *const to[3] = {&f.milliseconds, &f.residual, &f.solve_milliseconds};
    for (int k = 0; k < 3; ++k) {
        memcpy(sorted, of[k] + first, (size_t)(shared->done - first) * sizeof *sorted);
        *to[k] = median(sorted, shared->done - first);
    }
    return f;
}

WorldFigures worldRunnerTurn(WorldRunner *runner, const WorldContender *contender, int steps, int counted)
{
    Shared *shared = runner->shared;
    const int before = shared->done;
    char turn = 0;
    shared->contender = *contender;
    shared->steps = steps;
    shared->figures.done = 0;
    snprintf(shared->figures.error, sizeof shared->figures.error, "it crashed");
    if (runner->alive)
        runner->alive = write(runner->ask, &turn, 1) == 1 && read(runner->answer, &turn, 1) == 1;
    const WorldFigures figures = figuresFrom(shared, before);
    shared->done = counted ? shared->done : before;
    return figures;
}

WorldFigures worldRunnerFigures(const WorldRunner *runner)
{
    return runner == NULL ? (WorldFigures){.error = "no process"} : figuresFrom(runner->shared, 0);
}

void worldRunnerEnd(WorldRunner *runner)
{
    if (runner == NULL)
        return;
    close(runner->ask);
    close(runner->answer);
    if (runner->child > 0) { /* those that came after it hold its pipe too, so it would not see the end */
        kill(runner->child, SIGKILL);
        waitpid(runner->child, NULL, 0);
    }
    munmap(runner->shared, sizeof *runner->shared);
    free(runner);
}

WorldFigures worldMeasure(SceneWorld *settled, const WorldPlan *plan, const WorldContender *contender)
{
    WorldRunner *runner = worldRunnerStart(settled, plan, contender);
    if (runner != NULL) {
        worldRunnerTurn(runner, contender, plan->warm + (plan->settle_quick ? 0 : plan->settle), 0);
        worldRunnerTurn(runner, contender, plan->measure, 1);
    }
    const WorldFigures figures = worldRunnerFigures(runner);
    worldRunnerEnd(runner);
    return figures;
}

/* ---------------------------------------------------------------- printing */

void worldPrintCell(FILE *out, const WorldFigures *figures)
{
    if (figures->done)
        fprintf(out, " %.3g ms, %.1e |", figures->milliseconds, figures->residual);
    else
        fprintf(out, " %s |", figures->error);
}

void worldPrintJson(FILE *out, int first, const WorldPlan *plan, const WorldContender *contender,
                    const WorldFigures *figures)
{
    fprintf(out,
            "%s\n{\"scene\":\"%s\",\"set\":\"%s\",\"method\":\"%s\",\"step_size\":%.9g,\"steps\":%d,\"bodies\":%d,"
            "\"contacts\":%d,\"islands\":%d,\"milliseconds\":",
            first ? "" : ",", plan->scene, plan->set, contender->name, plan->step_size, plan->measure, figures->bodies,
            figures->contacts, figures->islands);
    jsonWriteNumber(out, figures->done ? figures->milliseconds : NAN);
    fprintf(out, ",\"solve_milliseconds\":");
    jsonWriteNumber(out, figures->done ? figures->solve_milliseconds : NAN);
    fprintf(out, ",\"residual\":");
    jsonWriteNumber(out, figures->done ? figures->residual : NAN);
    fprintf(out, "}");
}
