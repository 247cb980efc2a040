/* The acceptance rule for a first-order stepper against reference trajectories.
 *
 * Runs with h and h/2.  At every sample away from events, e(h) = |y(h) - ref| over the components of the state:
 *     (i)   e(h/2) / e(h) in [0.4, 0.65]                       (where e(h) is above the floor of rounding)
 *     (ii)  |2 y(h/2) - y(h) - ref| <= 0.2 e(h) + 1e-6
 *     (iii) event times, extrapolated as in (ii), within 2 h of the reference
 *     (iv)  the same sequence of events
 * The rule needs no constants of the method, so it cannot be tuned.  Where a slip turns, the acceleration jumps within
 * a step, and a law on end-of-step velocities is late by a part of the step that depends on where in the grid it falls:
 * an O(h) error that no extrapolation removes, so (ii) ends at the first reversal; (i) and (iii) go on. */
#ifndef TESTS_SCENES_ACCURACY_H
#define TESTS_SCENES_ACCURACY_H

#include "scenes/scene.h"
#include "support/oracle.h"

enum { ACCURACY_STATE_MAX = 12, ACCURACY_SAMPLE_MAX = 64, ACCURACY_EVENT_MAX = 64 };

typedef struct AccuracyEvent {
    spragEventType type;
    double time; /* s */
} AccuracyEvent;

typedef struct AccuracyCase {
    const char *id;
    const Scene *scene;
    const spragConfig *config;   /* NULL: the default */
    double value[SCENE_KEY_MAX]; /* of the scene's keys */
    int state_count;
    void (*state)(const SceneWorld *world, double *state);
    int sample_count;
    double sample_time[ACCURACY_SAMPLE_MAX], sample[ACCURACY_SAMPLE_MAX][ACCURACY_STATE_MAX];
    int event_count;
    AccuracyEvent event[ACCURACY_EVENT_MAX]; /* as the oracle logged them */
} AccuracyCase;

typedef struct AccuracyRun {
    double state[ACCURACY_SAMPLE_MAX][ACCURACY_STATE_MAX];
    int event_count;
    AccuracyEvent event[ACCURACY_EVENT_MAX];
} AccuracyRun;

/* Samples are rows (t, state ...). */
static inline void accuracyReadSamples(AccuracyCase *c, const Json *samples)
{
    assert_in_range(samples->count, 1, ACCURACY_SAMPLE_MAX);
    c->sample_count = samples->count;
    for (int i = 0; i < samples->count; ++i) {
        c->sample_time[i] = samples->first[i].first[0].number;
        assert_int_equal(jsonNumbers(&samples->first[i], 1, c->state_count, c->sample[i]), c->state_count);
    }
}

static inline void accuracyAddEvent(AccuracyCase *c, spragEventType type, double time)
{
    assert_true(c->event_count < ACCURACY_EVENT_MAX);
    c->event[c->event_count++] = (AccuracyEvent){type, time};
}

/* The oracle's log as Sprag's events: [t, "v=0", ...] then [t, "mode", new mode], and so on. */
static inline void accuracyReadLog(AccuracyCase *c, const Json *log)
{
    for (int i = 0; i < log->count; ++i) {
        const Json *entry = log->first[i].first;
        const double t = entry[0].number;
        const char *what = entry[1].text, *next = "";
        if (i + 1 < log->count && strcmp(log->first[i + 1].first[1].text, "mode") == 0)
            next = log->first[i + 1].first[2].text;
        if (strcmp(what, "jam") == 0)
            accuracyAddEvent(c, SPRAG_EVENT_JAM, t);
        else if (strcmp(what, "v=0") == 0)
            accuracyAddEvent(c, strcmp(next, "stick") == 0 ? SPRAG_EVENT_STICK : SPRAG_EVENT_REVERSE, t);
        else if (strcmp(what, "cone") == 0)
            accuracyAddEvent(c, SPRAG_EVENT_SLIP, t);
        else if (strcmp(what, "N=0") == 0)
            accuracyAddEvent(c, SPRAG_EVENT_DETACH, t);
        else if (strcmp(what, "other-end") == 0)
            accuracyAddEvent(c, SPRAG_EVENT_TOUCH, t);
        else if (strcmp(what, "start") == 0 && i > 0 && strcmp(entry[2].text, "flight") == 0)
            accuracyAddEvent(c, SPRAG_EVENT_DETACH, t); /* it jams and leaves */
        else
            assert_true(strcmp(what, "start") == 0 || strcmp(what, "mode") == 0);
    }
}

/* Of a step's events those the oracle logs too.  Making the contact at the start is none. */
static inline void accuracyCollect(AccuracyRun *run, SceneWorld *world)
{
    const spragEvent *events = NULL;
    const int count = spragWorldGetEvents(world->sprag, &events);
    for (int i = 0; i < count; ++i) {
        const spragEventType type = events[i].type;
        const int start = events[i].step == 0;
        const int logged =
            type == SPRAG_EVENT_JAM ||
            (!start && (type == SPRAG_EVENT_STICK || type == SPRAG_EVENT_SLIP || type == SPRAG_EVENT_REVERSE ||
                        type == SPRAG_EVENT_DETACH || type == SPRAG_EVENT_TOUCH));
        if (!logged)
            continue;
        if (run->event_count < ACCURACY_EVENT_MAX)
            run->event[run->event_count++] = (AccuracyEvent){type, events[i].time};
    }
}

static inline void accuracyRun(const AccuracyCase *c, double h, AccuracyRun *run)
{
    char error[160];
    SceneWorld *world = SceneCreate(c->scene, c->value, SCENE_SPRAG, c->config, error);
    if (world == NULL)
        fail_msg("%s", error);
    memset(run, 0, sizeof *run);
    for (int i = 0; i < c->sample_count; ++i) {
        const long step = lround(c->sample_time[i] / h);
        assert_true(fabs((double)step * h - c->sample_time[i]) < 1e-9); /* the grid meets the samples */
        while (world->step < step) {
            if (SceneStep(world, h) != SPRAG_OK)
                fail_msg("%s at step %ld: %s", c->id, world->step, spragStatusDetail());
            accuracyCollect(run, world);
        }
        c->state(world, run->state[i]);
    }
    SceneDestroy(world);
}

static inline double accuracyDistance(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Rules (i) and, where smooth, (ii) on one state.  Returns the number of violations; prints them. */
static inline int accuracyJudge(const char *id, double time, double h, int smooth, int n, const double *reference,
                                const double *coarse, const double *fine)
{
    static const double floor = 1e-9; /* below it rounding and the oracle's own error speak */
    double extrapolated[ACCURACY_STATE_MAX];
    for (int i = 0; i < n; ++i)
        extrapolated[i] = 2 * fine[i] - coarse[i];
    const double e1 = accuracyDistance(n, coarse, reference), e2 = accuracyDistance(n, fine, reference);
    const double e3 = accuracyDistance(n, extrapolated, reference);
    int wrong = 0;
    if (!(e1 <= floor) && !(e2 >= 0.4 * e1 && e2 <= 0.65 * e1)) {
        print_error("%s t=%g h=%g: (i) error %.3g, halved step %.3g, ratio %.3f\n", id, time, h, e1, e2, e2 / e1);
        ++wrong;
    }
    if (smooth && !(e3 <= 0.2 * e1 + 1e-6)) {
        print_error("%s t=%g h=%g: (ii) extrapolated error %.3g, error %.3g\n", id, time, h, e3, e1);
        ++wrong;
    }
    return wrong;
}

static inline int accuracySameEvents(const AccuracyCase *c, double h, const AccuracyRun *run)
{
    int same = run->event_count == c->event_count;
    for (int i = 0; same && i < c->event_count; ++i)
        same = run->event[i].type == c->event[i].type;
    if (same)
        return 1;
    print_error("%s h=%g: (iv) events", c->id, h);
    for (int i = 0; i < run->event_count; ++i)
        print_error(" %s@%.6f", spragEventName(run->event[i].type), run->event[i].time);
    print_error(", expected");
    for (int i = 0; i < c->event_count; ++i)
        print_error(" %s@%.6f", spragEventName(c->event[i].type), c->event[i].time);
    print_error("\n");
    return 0;
}

/* Rules (iii) and (iv).  Returns the number of violations. */
static inline int accuracyJudgeEvents(const AccuracyCase *c, double h, const AccuracyRun *coarse,
                                      const AccuracyRun *fine)
{
    const int different = !accuracySameEvents(c, h, coarse) + !accuracySameEvents(c, 0.5 * h, fine);
    if (different)
        return different;
    int wrong = 0;
    for (int i = 0; i < c->event_count; ++i) {
        const double t = 2 * fine->event[i].time - coarse->event[i].time;
        if (!(fabs(t - c->event[i].time) <= 2 * h + 1e-9)) {
            print_error("%s h=%g: (iii) %s at %.6f and %.6f, expected %.6f\n", c->id, h,
                        spragEventName(c->event[i].type), coarse->event[i].time, fine->event[i].time, c->event[i].time);
            ++wrong;
        }
    }
    return wrong;
}

/* The whole rule for one case at one step size.  Prints what to print in tables: error at the last sample. */
static inline int accuracyCheck(const AccuracyCase *c, double h)
{
    AccuracyRun *coarse = malloc(sizeof *coarse), *fine = malloc(sizeof *fine);
    assert_non_null(coarse);
    assert_non_null(fine);
    accuracyRun(c, h, coarse);
    accuracyRun(c, 0.5 * h, fine);
    int wrong = accuracyJudgeEvents(c, h, coarse, fine);
    double worst = 0;
    for (int i = 0; i < c->sample_count; ++i) {
        int near = 0, smooth = 1;
        for (int k = 0; k < c->event_count; ++k) {
            smooth &= c->event[k].type != SPRAG_EVENT_REVERSE || c->event[k].time > c->sample_time[i];
            near |= c->event[k].time > 0 && fabs(c->sample_time[i] - c->event[k].time) < 3 * h;
        }
        if (near)
            continue;
        wrong += accuracyJudge(c->id, c->sample_time[i], h, smooth, c->state_count, c->sample[i], coarse->state[i],
                               fine->state[i]);
        worst = fmax(worst, accuracyDistance(c->state_count, coarse->state[i], c->sample[i]));
    }
    print_message("%-28s h=%-7g worst error %.3g, %d violations\n", c->id, h, worst, wrong);
    free(coarse);
    free(fine);
    return wrong;
}

#endif
