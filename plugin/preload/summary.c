#include "preload/summary.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/floats.h"
#include "ode/step/dump.h"
#include "preload/event_file.h"

enum { REASON_MAX = 8, SENTENCE = 200 /* bytes */ };

typedef struct Reason {
    const char *text;
    long count;
} Reason;

static const spragSettings *settings;
static int of_child; /* 1: of the child of a process that had begun to count */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Sums over all worlds and steps, under the lock. */
static struct {
    long worlds, steps, refused, above; /* above: steps that missed the tolerance, or what is enough */
    long islands, contacts, declined, fallbacks, rescued, quick, wedged;
    long solved[SPRAG_SOLVER_COUNT], events[SPRAG_EVENT_TYPE_COUNT];
    double residual, rigid, seconds, seconds_ode;
    double enough;                                    /* m/s: the least that was asked of the steps above */
    long worst_step, worst_contacts;                  /* where the worst residual was */
    spragDumped dumped;                               /* files of its problem */
    char refusal[SENTENCE], no_dump[SENTENCE];        /* why a step was refused, or its problem not written */
    Reason decline[REASON_MAX], fallback[REASON_MAX]; /* why islands were one */
} total;

/* ---------------------------------------------------------------- forks */

static void beforeFork(void)
{
    pthread_mutex_lock(&lock);
    spragEventFileFlush();
}

static void afterForkInParent(void)
{
    pthread_mutex_unlock(&lock);
}

static void afterForkInChild(void)
{
    const long worlds = total.worlds;
    memset(&total, 0, sizeof total);
    total.worlds = worlds;
    of_child = 1;
    pthread_mutex_unlock(&lock);
}

void spragSummaryBegin(const spragSettings *given)
{
    settings = given;
    pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
}

/* ---------------------------------------------------------------- counting */

/* 1: the reason is a new one.  Reasons after the first REASON_MAX are not counted. */
static int addReason(Reason reason[REASON_MAX], const char *text)
{
    int k = 0;
    while (k < REASON_MAX && reason[k].text != NULL && strcmp(reason[k].text, text) != 0)
        ++k;
    if (k == REASON_MAX)
        return 0;
    reason[k].text = text;
    return ++reason[k].count == 1;
}

void spragSummaryAddWorld(void)
{
    pthread_mutex_lock(&lock);
    ++total.worlds;
    pthread_mutex_unlock(&lock);
}

void spragSummaryAddEvent(const spragEvent *event)
{
    pthread_mutex_lock(&lock);
    if ((unsigned)event->type < SPRAG_EVENT_TYPE_COUNT)
        ++total.events[event->type];
    if (event->type == SPRAG_EVENT_DECLINED && addReason(total.decline, event->reason) && settings->report)
        fprintf(stderr, "sprag: an island is left to ODE: %s (said once)\n", event->reason);
    if (event->type == SPRAG_EVENT_FALLBACK && event->reason != NULL)
        addReason(total.fallback, event->reason);
    spragEventFileAdd(event);
    pthread_mutex_unlock(&lock);
}

/* Of a dump before this one, with more islands, no file is left, once one is written whole. */
static void dump(spragWorldID sprag)
{
    SPRAG_FLOATS;
    spragDumped dumped = {0, 0};
    total.no_dump[0] = '\0';
    if (spragDumpIslands(sprag, settings->dump_path, &dumped) == SPRAG_OK) {
        spragDumpRemove(settings->dump_path, dumped.count, total.dumped.count);
        total.dumped = dumped;
        return;
    }
    snprintf(total.no_dump, sizeof total.no_dump, "%s", spragStatusDetail());
    total.dumped = (spragDumped){dumped.count > total.dumped.count ? dumped.count : total.dumped.count, 0};
}

/* The worst step so far, if this is it, and its problem for SPRAG_DUMP. */
static void addResidual(spragWorldID sprag, const spragStepInfo *info)
{
    spragConfig config = settings->config;
    spragWorldGetConfig(sprag, &config);
    const double enough = fmax(config.tolerance, config.enough);
    if (info->residual > enough)
        total.enough = total.above++ > 0 ? fmin(total.enough, enough) : enough;
    if (!(info->residual > total.residual))
        return;
    total.residual = info->residual;
    total.worst_step = info->step, total.worst_contacts = info->contacts;
    if (settings->dump_path != NULL && info->residual > config.tolerance)
        dump(sprag);
}

static void addInfo(const spragStepInfo *info)
{
    total.islands += info->islands;
    total.contacts += info->contacts;
    total.declined += info->declined;
    total.fallbacks += info->fallbacks;
    total.rescued += info->rescued;
    total.quick += info->quick;
    total.wedged += info->wedged;
    total.rigid = fmax(total.rigid, info->residual_rigid);
    for (int k = 0; k < SPRAG_SOLVER_COUNT; ++k)
        total.solved[k] += info->solved[k];
    total.seconds_ode += 1e-9 * (double)info->nanoseconds[SPRAG_STAGE_ODE];
}

void spragSummaryAddStep(dWorldID world, long steps_before, double seconds)
{
    char why[SENTENCE]; /* the next call into Sprag forgets it */
    snprintf(why, sizeof why, "%s", spragStatusDetail());
    const spragWorldID sprag = spragWorldFind(world);
    spragStepInfo info = {0};
    if (sprag != NULL)
        info = spragWorldGetStepInfo(sprag);
    pthread_mutex_lock(&lock);
    spragEventFileFlush();
    ++total.steps;
    total.seconds += seconds;
    if (sprag == NULL || info.step == steps_before) {
        ++total.refused;
        memcpy(total.refusal, why, sizeof why);
    } else {
        addInfo(&info);
        addResidual(sprag, &info);
    }
    pthread_mutex_unlock(&lock);
}

/* ---------------------------------------------------------------- telling */

int spragSummaryIsWanted(int active)
{
    return total.steps > 0 || (active && !of_child);
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
        fprintf(stderr, ", above %.3g in %ld steps", total.enough, total.above);
    fprintf(stderr, "\n");
    if (total.above > 0)
        fprintf(
            stderr,
            "sprag: the worst was in step %ld of its world, with %ld contacts: contacts that slip or sink by so much "
            "more than they should; the work a step is given was used up, or no answer is known%s\n",
            total.worst_step, total.worst_contacts,
            settings->dump_path == NULL ? " (SPRAG_DUMP=FILE writes it down)" : "");
    if (total.dumped.count > 1 && total.dumped.worst > 0)
        fprintf(stderr, "sprag: SPRAG_DUMP wrote %d files, and number %d of them is of the worst island\n",
                total.dumped.count, total.dumped.worst);
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

void spragSummaryPrint(void)
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
    if (spragEventFileError()[0] != '\0')
        fprintf(stderr, "sprag: SPRAG_EVENTS: %s\n", spragEventFileError());
    if (total.no_dump[0] != '\0')
        fprintf(stderr, "sprag: SPRAG_DUMP: %s\n", total.no_dump);
    fprintf(stderr, "sprag: %.3g ms a step, of which ODE %.0f %%\n", 1e3 * total.seconds / steps,
            total.seconds > 0 ? 100 * total.seconds_ode / total.seconds : 0);
}
