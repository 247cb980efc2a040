/* A tree of processes: who plants it, who marks it, and what a program that closes the mark has for it. */
#include "support/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/tree.h"

#define VARIABLE "SPRAG_TREE"

/* Runs in a process of its own, which has no tree yet; its exit code. */
static int apart(int (*run)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        unsetenv(VARIABLE);
        _exit(run());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int descriptor(void)
{
    long process;
    int mark = -1;
    const char *value = getenv(VARIABLE);
    return value != NULL && sscanf(value, "%ld:%d:", &process, &mark) == 2 && process == (long)getpid() ? mark : -1;
}

/* A program that this one starts: it finds the tree in its environment. */
static int start(int uses_ode)
{
    const pid_t child = fork();
    if (child == 0) {
        spragTreeJoin();
        if (uses_ode)
            spragTreeUsesOde();
        _exit(spragTreeIsWithoutOde()); /* never for others to say */
    }
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int alone(void)
{
    spragTreeJoin();
    if (descriptor() < 200 || !spragTreeIsWithoutOde())
        return 1;
    spragTreeUsesOde();
    return spragTreeIsWithoutOde();
}

static int withChildren(void)
{
    spragTreeJoin();
    if (start(0) != 0 || !spragTreeIsWithoutOde())
        return 1;
    return start(1) != 0 || spragTreeIsWithoutOde();
}

static void theOutermostTellsForAll(void **state)
{
    (void)state;
    assert_int_equal(apart(alone), 0);
    assert_int_equal(apart(withChildren), 0);
}

/* Of what nobody has planted nothing is believed: each has a tree of its own. */
static int fromNonsense(void)
{
    static const char *const nonsense[] = {"", "tree", "-1:200:1", "0:200:1", "12:200"};
    for (size_t k = 0; k < sizeof nonsense / sizeof *nonsense; ++k) {
        setenv(VARIABLE, nonsense[k], 1);
        spragTreeJoin();
        if (descriptor() < 0 || !spragTreeIsWithoutOde())
            return 1 + (int)k;
    }
    return 0;
}

/* A mark that is not open, or another file's. */
static int fromElsewhere(void)
{
    setenv(VARIABLE, "1:250:1", 1);
    spragTreeJoin();
    spragTreeUsesOde();
    setenv(VARIABLE, "1:-1:0", 1);
    spragTreeJoin();
    spragTreeUsesOde();
    return spragTreeIsWithoutOde();
}

static void nonsenseIsNotBelieved(void **state)
{
    (void)state;
    assert_int_equal(apart(fromNonsense), 0);
    assert_int_equal(apart(fromElsewhere), 0);
}

/* A program that closes all it does not know, and has the number for a file of its own: nothing is written there, and
 * what is in it says nothing about the tree. */
static int closesAll(void)
{
    char path[] = "/tmp/sprag_tree_XXXXXX", text[8] = "";
    spragTreeJoin();
    const int mark = descriptor(), file = mkstemp(path);
    if (file < 0 || write(file, "own", 3) != 3 || close(mark) != 0 || dup2(file, mark) != mark)
        return 1;
    const int without = spragTreeIsWithoutOde();
    spragTreeUsesOde();
    const ssize_t length = pread(file, text, sizeof text, 0);
    unlink(path);
    return !without || length != 3 || strcmp(text, "own") != 0;
}

static void aFileOfTheProgramsIsLeftAlone(void **state)
{
    (void)state;
    assert_int_equal(apart(closesAll), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theOutermostTellsForAll),
        cmocka_unit_test(nonsenseIsNotBelieved),
        cmocka_unit_test(aFileOfTheProgramsIsLeftAlone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
