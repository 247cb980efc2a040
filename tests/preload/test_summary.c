/* The summary: what is counted is told, in the process that did it; of dumps those of the worst step are left, whatever
 * could not be written in between. */
#include "support/twin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ode/world/world.h"
#include "preload/summary.h"

enum { BOXES = 3, TEXT = 8192 };

static char folder[] = "/tmp/sprag_summary_XXXXXX", path[64];
static spragSettings settings;

static char *named(const char *name)
{
    static char full[128];
    snprintf(full, sizeof full, "%s/%s", folder, name);
    return full;
}

static int exists(const char *name)
{
    return access(named(name), F_OK) == 0;
}

/* In a child, where cmocka's own would go on with the next test. */
#define NEED(condition) need((condition), #condition, __LINE__)

static void need(int condition, const char *text, int line)
{
    if (condition)
        return;
    print_error("%s:%d: not so: %s\n", __FILE__, line, text);
    _exit(1);
}

static void expect(const char *text, const char *words, int there)
{
    if ((strstr(text, words) != NULL) == there)
        return;
    print_error("%s '%s':\n%s\n", there ? "does not say" : "says", words, text);
    _exit(1);
}

/* What is told, to the end of the next call. */
static const char *told(void)
{
    static char text[TEXT];
    FILE *file = tmpfile();
    NEED(file != NULL);
    fflush(stderr);
    const int own = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    spragSummaryPrint();
    fflush(stderr);
    dup2(own, STDERR_FILENO);
    close(own);
    rewind(file);
    text[fread(text, 1, TEXT - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* A step in which the first `count` boxes are islands, said to have left this residual. */
static void stepWith(Twin *t, int count, double residual)
{
    for (int k = 0; k < count; ++k)
        addCorners(t, t->body[k], 0.5);
    const long before = spragWorldGetStepInfo(t->sprag).step;
    step(t, 1e-3);
    ((struct spragWorld *)t->sprag)->info.residual = residual;
    spragSummaryAddStep(t->world, before, 1e-3);
}

static void makeYard(Twin *t)
{
    makeTwin(t, 1);
    dWorldSetGravity(t->world, 0, 0, 0);
    for (int k = 0; k < BOXES; ++k)
        addBox(t, 3 * k, 0, 0.2);
}

/* Counting is for a whole process, so each test has one. */
static void apart(void (*run)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        settings = (spragSettings){.config = spragConfigDefault(), .dump_path = path};
        spragSummaryBegin(&settings);
        run();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---------------------------------------------------------------- dumps */

static void dumps(void)
{
    Twin t;
    makeYard(&t);
    stepWith(&t, 3, 1e-3);
    NEED(exists("dump.txt") && exists("dump-2.txt") && exists("dump-3.txt"));
    expect(told(), "SPRAG_DUMP wrote 3 files, and number ", 1);
    unlink(named("dump-2.txt"));
    mkdir(named("dump-2.txt"), 0700); /* in the way of the second file */
    stepWith(&t, 3, 2e-3);
    expect(told(), "SPRAG_DUMP: ", 1);
    expect(told(), "SPRAG_DUMP wrote", 0);
    rmdir(named("dump-2.txt"));
    stepWith(&t, 1, 3e-3);
    NEED(exists("dump.txt"));
    NEED(!(exists("dump-2.txt") || exists("dump-3.txt")));
    expect(told(), "SPRAG_DUMP: ", 0);
    stepWith(&t, 2, 2e-3); /* not the worst */
    NEED(!(exists("dump-2.txt")));
    unlink(named("dump.txt"));
    stepWith(&t, 0, 4e-3);
    expect(told(), "SPRAG_DUMP: the last step solved no island", 1);
    freeTwin(&t);
}

static void dumpsOfTheWorstStepAreLeft(void **state)
{
    (void)state;
    apart(dumps);
}

/* ---------------------------------------------------------------- counts */

static void counts(void)
{
    Twin t;
    settings.dump_path = NULL;
    makeYard(&t);
    NEED(!spragSummaryIsWanted(0));
    NEED(spragSummaryIsWanted(1));
    expect(told(), "events: none", 1);
    spragSummaryAddWorld();
    stepWith(&t, 2, 1e-12);
    stepWith(&t, 2, 1e-6);
    spragSummaryAddStep(t.world, spragWorldGetStepInfo(t.sprag).step, 1e-3); /* none was made */
    static const char *const reason[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "a"};
    for (size_t k = 0; k < sizeof reason / sizeof *reason; ++k) {
        spragSummaryAddEvent(&(spragEvent){.type = SPRAG_EVENT_DECLINED, .reason = reason[k]});
        spragSummaryAddEvent(&(spragEvent){.type = SPRAG_EVENT_FALLBACK, .reason = reason[k]});
    }
    spragSummaryAddEvent(&(spragEvent){.type = SPRAG_EVENT_FALLBACK}); /* without a reason */
    spragSummaryAddEvent(&(spragEvent){.type = SPRAG_EVENT_TYPE_COUNT});
    const char *text = told();
    expect(text, "1 worlds, 3 steps, 4 islands, 16 contacts", 1);
    expect(text, "steps left to ODE 1", 1);
    expect(text, "declined 2 times: a\n", 1);
    expect(text, "fallback 2 times: a\n", 1);
    expect(text, "declined 1 times: h\n", 1);
    expect(text, "times: i\n", 0); /* the ninth */
    expect(text, "worst residual 1e-06 m/s, above 1e-08 in 1 steps", 1);
    expect(text, "the worst was in step 2 of its world, with 8 contacts", 1);
    freeTwin(&t);
    spragSummaryAddStep(t.world, 0, 0); /* of a world that is gone */
    expect(told(), "4 steps", 1);
}

/* What is enough differs between worlds: what is said is true of each step that is counted. */
static void countsOfTwoWorlds(void)
{
    Twin metres, inches;
    settings.dump_path = NULL;
    makeYard(&metres);
    makeYard(&inches);
    spragConfig config;
    spragWorldGetConfig(inches.sprag, &config);
    config.enough = 1e-3;
    spragWorldSetConfig(inches.sprag, &config);
    stepWith(&inches, 1, 1e-4); /* is enough */
    stepWith(&metres, 1, 1e-6);
    expect(told(), "worst residual 0.0001 m/s, above 1e-08 in 1 steps", 1);
    stepWith(&inches, 1, 1e-2);
    expect(told(), "worst residual 0.01 m/s, above 1e-08 in 2 steps", 1);
    freeTwin(&metres);
    freeTwin(&inches);
}

static void whatIsEnoughIsOfEachWorld(void **state)
{
    (void)state;
    apart(countsOfTwoWorlds);
}

static void whatIsCountedIsTold(void **state)
{
    (void)state;
    apart(counts);
}

/* ---------------------------------------------------------------- forks */

static void forks(void)
{
    Twin t;
    settings.dump_path = NULL;
    makeYard(&t);
    spragSummaryAddWorld();
    stepWith(&t, 1, 1e-12);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (spragSummaryIsWanted(1)) /* it has done nothing yet */
            _exit(1);
        stepWith(&t, 2, 1e-12);
        expect(told(), "1 worlds, 1 steps, 2 islands, 8 contacts", 1);
        _exit(!spragSummaryIsWanted(0));
    }
    int status;
    NEED(waitpid(child, &status, 0) == child);
    NEED(status == 0);
    expect(told(), "1 worlds, 1 steps, 1 islands, 4 contacts", 1);
    freeTwin(&t);
}

static void aChildTellsItsOwn(void **state)
{
    (void)state;
    apart(forks);
}

int main(void)
{
    dInitODE2(0);
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/dump.txt", folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dumpsOfTheWorstStepAreLeft),
        cmocka_unit_test(whatIsCountedIsTold),
        cmocka_unit_test(whatIsEnoughIsOfEachWorld),
        cmocka_unit_test(aChildTellsItsOwn),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
