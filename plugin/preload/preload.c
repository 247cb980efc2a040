/* libsprag_preload.so: dWorldStep and dWorldQuickStep of any program become Sprag steps.
 *
 *     LD_PRELOAD=libsprag_preload.so program
 *
 * The functions below stand before ODE's.  The program's call goes to Sprag; Sprag's own calls to the same names,
 * marked by a per-thread guard, go to ODE.  The library is linked to libode, so that RTLD_NEXT finds ODE also in
 * programs that load it late and locally (Python's ode module).
 *
 *     SPRAG_REPORT=1              a summary on stderr at exit
 *     SPRAG_EVENTS=FILE.jsonl     every event, one JSON object a line
 *     SPRAG_DUMP=FILE             the problems of the step with the worst residual, if one missed the tolerance
 *     SPRAG_CONFIG=key=value,...  solver, tolerance, enough, time-limit, ...: settings.c
 *     SPRAG_SOLVER=stock          leave everything to ODE
 */
#define _GNU_SOURCE
#define SPRAG_DROP_IN_NO_NAMES
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sprag/drop_in.h>

#include "api/drop_in.h"
#include "base/clock.h"
#include "preload/late.h"
#include "preload/settings.h"
#include "preload/tree.h"

#define DECLARE_REAL(type, name, parameters, arguments) static type(*real_##name) parameters;
PRELOAD_LIST(DECLARE_REAL)
#undef DECLARE_REAL

static spragSettings settings;
static int started;       /* 1: the program has called ODE */
static int forked;        /* 1: the child of a process that had called ODE */
static atomic_int active; /* 1: calls go to Sprag */
static FILE *event_file;
static size_t unwritten; /* bytes in its buffer */
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local int inside; /* > 0: the call comes from Sprag or ODE */

enum { REASON_MAX = 8, EVENTS_BUFFER = 1 << 16 };

typedef struct Reason {
    const char *text;
    long count;
} Reason;

/* Sums over all worlds and steps, under report_lock. */
static struct {
    long worlds, steps, refused, above; /* above: steps that missed the tolerance, or what is enough */
    long islands, contacts, declined, fallbacks, rescued, quick, wedged, events_lost;
    long solved[SPRAG_SOLVER_COUNT], events[SPRAG_EVENT_TYPE_COUNT];
    double residual, rigid, seconds, seconds_ode;
    long worst_step, worst_contacts; /* where the worst residual was */
    char refusal[200], no_dump[200], no_events[200];
    Reason decline[REASON_MAX], fallback[REASON_MAX]; /* why islands were one; of a decline said when first met */
} total;

static void addReason(Reason reason[REASON_MAX], const char *text)
{
    for (int k = 0; k < REASON_MAX; ++k) {
        if (reason[k].text == NULL && settings.report && reason == total.decline)
            fprintf(stderr, "sprag: an island is left to ODE: %s (said once)\n", text);
        if (reason[k].text == NULL)
            reason[k].text = text;
        if (strcmp(reason[k].text, text) == 0) {
            ++reason[k].count;
            return;
        }
    }
}

/* Whole lines only, however the process ends, and though another one writes to the same file. */
static void writeEvents(void)
{
    if (event_file != NULL && unwritten > 0 && fflush(event_file) != 0)
        snprintf(total.no_events, sizeof total.no_events, "cannot write %s: %s", settings.events_path, strerror(errno));
    unwritten = 0;
}

/* Anew by the first process that steps a world, at its end by what that starts. */
static FILE *openEvents(const char *path)
{
    static const char variable[] = "SPRAG_EVENTS_OPEN";
    static char buffer[EVENTS_BUFFER];
    const char *open = getenv(variable);
    if (open == NULL || strcmp(open, path) != 0) {
        FILE *empty = fopen(path, "w");
        if (empty == NULL)
            return NULL;
        fclose(empty);
        setenv(variable, path, 1);
    }
    FILE *file = fopen(path, "ae");
    if (file != NULL)
        setvbuf(file, buffer, _IOFBF, sizeof buffer);
    return file;
}

static void onEvent(const spragEvent *event, void *user)
{
    (void)user;
    pthread_mutex_lock(&report_lock);
    if ((unsigned)event->type < SPRAG_EVENT_TYPE_COUNT)
        ++total.events[event->type];
    if (event->type == SPRAG_EVENT_DECLINED)
        addReason(total.decline, event->reason);
    if (event->type == SPRAG_EVENT_FALLBACK && event->reason != NULL)
        addReason(total.fallback, event->reason);
    if (event_file != NULL) {
        char line[1024];
        spragEventJson(event, NULL, line, sizeof line);
        const int length = fprintf(event_file, "%s\n", line);
        unwritten += length > 0 ? (size_t)length : 0;
        if (unwritten > EVENTS_BUFFER / 2)
            writeEvents();
    }
    pthread_mutex_unlock(&report_lock);
}

static void onAttach(spragWorldID sprag)
{
    spragWorldSetEventCallback(sprag, onEvent, NULL);
    pthread_mutex_lock(&report_lock);
    ++total.worlds;
    pthread_mutex_unlock(&report_lock);
}

static spragConfig configForWorlds(void)
{
    return settings.config;
}

/* What is counted belongs to the process that did it: nothing is written twice, and a child that never steps says
 * nothing.  The worlds are the child's too. */
static void beforeFork(void)
{
    pthread_mutex_lock(&report_lock);
    writeEvents();
}

static void afterForkInParent(void)
{
    pthread_mutex_unlock(&report_lock);
}

static void afterForkInChild(void)
{
    const long worlds = total.worlds;
    memset(&total, 0, sizeof total);
    total.worlds = worlds;
    forked = 1;
    pthread_mutex_unlock(&report_lock);
}

/* Why Sprag must stay out of this process, or NULL. */
static const char *mismatch(void)
{
#define FIND_REAL(type, name, parameters, arguments)                                                                   \
    *(void **)&real_##name = spragLateFind(RTLD_NEXT, #name);                                                          \
    if (real_##name == NULL)                                                                                           \
        return "no ODE function " #name " in this process";
    PRELOAD_LIST(FIND_REAL)
#undef FIND_REAL
    if (!dCheckConfiguration(sizeof(dReal) == sizeof(double) ? "ODE_double_precision" : "ODE_single_precision"))
        return "this process uses an ODE of the other precision";
    void *expected = dlopen(SPRAG_ODE_SONAME, RTLD_NOLOAD | RTLD_NOW);
    if (expected != NULL) {
        void *theirs, *ours = spragLateFind(expected, "dWorldStep");
        memcpy(&theirs, &real_dWorldStep, sizeof theirs);
        dlclose(expected);
        if (theirs == ours)
            return NULL;
    }
    return "this process uses another ODE than " SPRAG_ODE_SONAME ", or another library stands before it";
}

static void start(void)
{
    char error[200] = "";
    const char *why = mismatch();
    started = 1;
    spragTreeUsesOde();
    settings = spragSettingsFromEnvironment(error, sizeof error);
    if (why == NULL && error[0] != '\0')
        why = error;
    if (why == NULL && settings.config.solver == SPRAG_SOLVER_STOCK)
        why = "the solver asked for is stock, so ODE does everything";
    if (why == NULL && settings.events_path != NULL && (event_file = openEvents(settings.events_path)) == NULL) {
        snprintf(error, sizeof error, "SPRAG_EVENTS: cannot write %s", settings.events_path);
        why = error;
    }
    active = why == NULL;
    if (active)
        pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
    if (why != NULL && settings.report)
        fprintf(stderr, "sprag: not active: %s\n", why);
    spragDropInSetup(configForWorlds, onAttach);
}

void spragPreloadStandAside(void)
{
    if (inside > 0)
        return;
    pthread_once(&once, start);
    if (atomic_exchange(&active, 0) && settings.report)
        fprintf(stderr, "sprag: not active: this program calls Sprag itself\n");
}

/* 1: the caller is the program, and Sprag takes the call. */
static int enter(void)
{
    pthread_once(&once, start);
    if (!active || inside > 0)
        return 0;
    ++inside;
    return 1;
}

static void leave(void)
{
    --inside;
}

static void addStep(dWorldID world, long steps_before, double seconds)
{
    char why[sizeof total.refusal]; /* the next call into Sprag forgets it */
    snprintf(why, sizeof why, "%s", spragStatusDetail());
    const spragWorldID sprag = spragWorldFind(world);
    spragStepInfo info = {0};
    if (sprag != NULL)
        info = spragWorldGetStepInfo(sprag);
    pthread_mutex_lock(&report_lock);
    writeEvents();
    ++total.steps;
    total.seconds += seconds;
    if (sprag == NULL || info.step == steps_before) {
        ++total.refused;
        memcpy(total.refusal, why, sizeof why);
    } else {
        total.islands += info.islands;
        total.contacts += info.contacts;
        total.declined += info.declined;
        total.fallbacks += info.fallbacks;
        total.rescued += info.rescued;
        total.quick += info.quick;
        total.wedged += info.wedged;
        total.rigid = fmax(total.rigid, info.residual_rigid);
        total.events_lost += info.events_lost;
        for (int k = 0; k < SPRAG_SOLVER_COUNT; ++k)
            total.solved[k] += info.solved[k];
        total.above += info.residual > fmax(settings.config.tolerance, settings.config.enough);
        if (info.residual > total.residual) {
            total.residual = info.residual;
            total.worst_step = info.step, total.worst_contacts = info.contacts;
            if (settings.dump_path != NULL && info.residual > settings.config.tolerance &&
                spragWorldDumpProblem(sprag, settings.dump_path) != SPRAG_OK)
                snprintf(total.no_dump, sizeof total.no_dump, "%s", spragStatusDetail());
        }
        total.seconds_ode += 1e-9 * (double)info.nanoseconds[SPRAG_STAGE_ODE];
    }
    pthread_mutex_unlock(&report_lock);
}

static int stepCounted(dWorldID world, dReal stepsize, int (*step)(dWorldID, dReal))
{
    const spragWorldID sprag = spragWorldFind(world);
    const long steps_before = sprag != NULL ? spragWorldGetStepInfo(sprag).step : 0;
    const double begin = spragSeconds();
    const int result = step(world, stepsize);
    addStep(world, steps_before, spragSeconds() - begin);
    return result;
}

/* ---------------------------------------------------------------- the overrides */

SPRAG_API dJointID dJointCreateContact(dWorldID world, dJointGroupID group, const dContact *contact)
{
    if (!enter())
        return real_dJointCreateContact != NULL ? real_dJointCreateContact(world, group, contact) : NULL;
    const dJointID joint = spragDropInJointCreateContact(world, group, contact);
    leave();
    return joint;
}

SPRAG_API int dWorldStep(dWorldID world, dReal stepsize)
{
    if (!enter())
        return real_dWorldStep != NULL ? real_dWorldStep(world, stepsize) : 0;
    const int result = stepCounted(world, stepsize, spragDropInWorldStep);
    leave();
    return result;
}

SPRAG_API int dWorldQuickStep(dWorldID world, dReal stepsize)
{
    if (!enter())
        return real_dWorldQuickStep != NULL ? real_dWorldQuickStep(world, stepsize) : 0;
    const int result = stepCounted(world, stepsize, spragDropInWorldQuickStep);
    leave();
    return result;
}

SPRAG_API void dWorldDestroy(dWorldID world)
{
    if (!enter()) {
        if (real_dWorldDestroy != NULL)
            real_dWorldDestroy(world);
        return;
    }
    spragDropInWorldDestroy(world);
    leave();
}

/* ---------------------------------------------------------------- the summary */

__attribute__((constructor)) static void join(void)
{
    if (spragSettingsWantReport())
        spragTreeJoin();
}

static void printCounts(const char *title, int count, const long *number, const char *(*name)(int))
{
    fprintf(stderr, "sprag: %s:", title);
    int any = 0;
    for (int k = 0; k < count; ++k)
        if (number[k] > 0)
            any = fprintf(stderr, " %s %ld", name(k), number[k]) > 0;
    fprintf(stderr, "%s\n", any ? "" : " none");
}

static const char *solverName(int k)
{
    return spragSolverName((spragSolverKind)k);
}

static const char *eventName(int k)
{
    return spragEventName((spragEventType)k);
}

static void reportResidual(void)
{
    fprintf(stderr, "sprag: worst residual %.3g m/s", total.residual);
    if (total.above > 0)
        fprintf(stderr, ", above %.3g in %ld steps", fmax(settings.config.tolerance, settings.config.enough),
                total.above);
    fprintf(stderr, "\n");
    if (total.above > 0)
        fprintf(
            stderr,
            "sprag: the worst was in step %ld of its world, with %ld contacts: contacts that slip or sink by so much "
            "more than they should; the work a step is given was used up, or no answer is known%s\n",
            total.worst_step, total.worst_contacts,
            settings.dump_path == NULL ? " (SPRAG_DUMP=FILE writes it down)" : "");
}

/* Islands that the usual method did not solve. */
static void reportFallbacks(void)
{
    if (total.fallbacks > 0)
        fprintf(stderr,
                "sprag: fallbacks %ld: islands that the usual method did not solve, but a slower one, a softer "
                "contact, or sweeps without a matrix (%ld) (docs/preload.md)\n",
                total.fallbacks, total.rescued);
    for (int k = 0; k < REASON_MAX && total.fallback[k].text != NULL; ++k)
        fprintf(stderr, "sprag: fallback %ld times: %s\n", total.fallback[k].count, total.fallback[k].text);
    if (total.wedged > 0)
        fprintf(
            stderr,
            "sprag: wedged islands %ld: friction locks a wedge that closes, no rigid solution; their contacts yield, "
            "which is what is judged above (as rigid ones: %.3g m/s)\n",
            total.wedged, total.rigid);
}

static void report(void)
{
    const double steps = total.steps > 0 ? (double)total.steps : 1;
    fprintf(stderr, "sprag: %ld worlds, %ld steps, %ld islands, %ld contacts\n", total.worlds, total.steps,
            total.islands, total.contacts);
    printCounts("islands solved by", SPRAG_SOLVER_COUNT, total.solved, solverName);
    fprintf(stderr, "sprag: declined islands %ld, fallbacks %ld, steps left to ODE %ld%s%s\n", total.declined,
            total.fallbacks, total.refused, total.refusal[0] != '\0' ? ": " : "", total.refusal);
    for (int k = 0; k < REASON_MAX && total.decline[k].text != NULL; ++k)
        fprintf(stderr, "sprag: declined %ld times: %s\n", total.decline[k].count, total.decline[k].text);
    if (total.quick > 0)
        fprintf(stderr,
                "sprag: %ld of these steps were dWorldQuickStep's: a declined island was too large for dWorldStep\n",
                total.quick);
    printCounts("events", SPRAG_EVENT_TYPE_COUNT, total.events, eventName);
    reportResidual();
    reportFallbacks();
    if (total.no_events[0] != '\0')
        fprintf(stderr, "sprag: SPRAG_EVENTS: %s\n", total.no_events);
    if (total.no_dump[0] != '\0')
        fprintf(stderr, "sprag: SPRAG_DUMP: %s\n", total.no_dump);
    fprintf(stderr, "sprag: %.3g ms a step, of which ODE %.0f %%\n", 1e3 * total.seconds / steps,
            total.seconds > 0 ? 100 * total.seconds_ode / total.seconds : 0);
}

__attribute__((destructor)) static void finish(void)
{
    writeEvents();
    if (event_file != NULL)
        fclose(event_file);
    if (!started && spragSettingsWantReport() && spragTreeIsWithoutOde())
        fprintf(stderr, "sprag: not active: this program made no call to " SPRAG_ODE_SONAME
                        ": it has no ODE, or one linked in\n");
    if (settings.report && ((active && !forked) || total.steps > 0))
        report();
}
