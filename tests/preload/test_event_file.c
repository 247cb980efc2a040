/* The file of events: whole lines, one object each, of all processes of a program; what cannot be written is told. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/event_file.h"

static char path[] = "/tmp/sprag_events_XXXXXX";

static void add(int count)
{
    for (int i = 0; i < count; ++i)
        spragEventFileAdd(&(spragEvent){.step = i, .type = SPRAG_EVENT_TOUCH});
}

/* Lines of the file; each is one object. */
static int lines(void)
{
    char line[4096];
    int count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        const size_t length = strlen(line);
        assert_true(line[0] == '{' && length > 2 && line[length - 2] == '}' && line[length - 1] == '\n');
        ++count;
    }
    fclose(file);
    return count;
}

/* In a process of its own, as a file is opened once.  text: in the file before. */
static int linesAfter(const char *text, int count)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    const pid_t child = fork();
    if (child == 0) {
        const int opened = spragEventFileOpen(path);
        add(count);
        spragEventFileClose();
        _exit(!opened || *spragEventFileError() != '\0');
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return lines();
}

static void theFirstProcessEmptiesTheFile(void **state)
{
    (void)state;
    unsetenv("SPRAG_EVENTS_OPEN");
    assert_int_equal(linesAfter("{of yesterday}\n", 3), 3);
    assert_int_equal(linesAfter("{of yesterday}\n", 1000), 1000); /* more than the buffer holds */
}

static void whatItStartsAppends(void **state)
{
    (void)state;
    setenv("SPRAG_EVENTS_OPEN", path, 1);
    assert_int_equal(linesAfter("{of its parent}\n", 3), 4);
    setenv("SPRAG_EVENTS_OPEN", "/tmp/another", 1);
    assert_int_equal(linesAfter("{of another program}\n", 3), 3);
    unsetenv("SPRAG_EVENTS_OPEN");
}

static void whatCannotBeWrittenIsTold(void **state)
{
    (void)state;
    assert_int_equal(spragEventFileOpen("/nonexistent/events"), 0);
    add(1); /* not open: nothing */
    assert_string_equal(spragEventFileError(), "");
    assert_int_equal(spragEventFileOpen("/dev/full"), 1);
    add(1);
    spragEventFileFlush();
    assert_non_null(strstr(spragEventFileError(), "/dev/full"));
}

int main(void)
{
    const int file = mkstemp(path);
    if (file < 0)
        return 1;
    close(file);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theFirstProcessEmptiesTheFile),
        cmocka_unit_test(whatItStartsAppends),
        cmocka_unit_test(whatCannotBeWrittenIsTold),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
