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
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <sprag/drop_in.h>

#include "api/drop_in.h"
#include "base/clock.h"
#include "base/floats.h"
#include "preload/event_file.h"
#include "preload/late.h"
#include "preload/summary.h"
#include "preload/tree.h"

#define DECLARE_REAL(type, name, parameters, arguments) static type(*real_##name) parameters;
PRELOAD_LIST(DECLARE_REAL)
#undef DECLARE_REAL

static spragSettings settings;
static int started;       /* 1: the program has called ODE */
static atomic_int active; /* 1: calls go to Sprag */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local int inside; /* > 0: the call comes from Sprag or ODE */

static void onEvent(const spragEvent *event, void *user)
{
    (void)user;
    spragSummaryAddEvent(event);
}

static void onAttach(spragWorldID sprag)
{
    spragWorldSetEventCallback(sprag, onEvent, NULL);
    spragSummaryAddWorld();
}

static spragConfig configFor(dWorldID world)
{
    SPRAG_FLOATS; /* gravity may be NaN */
    dVector3 gravity;
    dWorldGetGravity(world, gravity);
    return spragSettingsFor(&settings, gravity);
}

/* Gravity may have changed. */
static void fitConfig(dWorldID world, spragWorldID sprag)
{
    const spragConfig wanted = configFor(world);
    spragConfig config;
    if (spragWorldGetConfig(sprag, &config) != SPRAG_OK ||
        (config.tolerance == wanted.tolerance && config.enough == wanted.enough))
        return;
    config.tolerance = wanted.tolerance, config.enough = wanted.enough;
    spragWorldSetConfig(sprag, &config);
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
    if (why == NULL && settings.events_path != NULL && !spragEventFileOpen(settings.events_path)) {
        snprintf(error, sizeof error, "SPRAG_EVENTS: cannot write %s", settings.events_path);
        why = error;
    }
    active = why == NULL;
    if (active)
        spragSummaryBegin(&settings);
    if (why != NULL && settings.report)
        fprintf(stderr, "sprag: not active: %s\n", why);
    spragDropInSetup(configFor, onAttach);
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

static int stepCounted(dWorldID world, dReal stepsize, int (*step)(dWorldID, dReal))
{
    const spragWorldID sprag = spragWorldFind(world);
    const long steps_before = sprag != NULL ? spragWorldGetStepInfo(sprag).step : 0;
    if (sprag != NULL)
        fitConfig(world, sprag);
    const double begin = spragSeconds();
    const int result = step(world, stepsize);
    spragSummaryAddStep(world, steps_before, spragSeconds() - begin);
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

/* ---------------------------------------------------------------- begin and end of the process */

__attribute__((constructor)) static void join(void)
{
    if (spragSettingsWantReport())
        spragTreeJoin();
}

__attribute__((destructor)) static void finish(void)
{
    spragEventFileClose();
    if (!started && spragSettingsWantReport() && spragTreeIsWithoutOde())
        fprintf(stderr, "sprag: not active: this program made no call to " SPRAG_ODE_SONAME
                        ": it has no ODE, or one linked in\n");
    if (settings.report && spragSummaryIsWanted(active))
        spragSummaryPrint();
}
