/* Problem files as text, written: to the letter, no more than there is to say, and nothing half-written stays. */
#include "support/check.h"
#include "support/small_problem.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "problem/problem_text.h"

#define FILE_NAME "test_problem_text_write.txt"
#define HEAD "# Sprag contact problem: u = W r + q, velocities in m/s, impulses in N s\n"

static void checkWritten(const spragProblem *problem, const char *expected)
{
    char text[4096];
    assert_int_equal(spragTextWrite(problem, FILE_NAME), SPRAG_OK);
    FILE *file = fopen(FILE_NAME, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove(FILE_NAME);
    assert_string_equal(text, expected);
}

static void plainProblemsStayPlain(void **state)
{
    (void)state;
    Small s;
    setSmall(&s, 1);
    s.mu[0] = s.mu_minus[0] = 0.5;
    s.q[0] = -1, s.q[1] = 1.0 / 3, s.q[2] = 0.1;
    static const char *const text = HEAD "1 1\n0.5 -1 -1\n-1 0.33333333333333331 0.10000000000000001\n"
                                         "0 0 1 0 0 0 1 0 0 0 1\n";
    checkWritten(&s.problem, text);
    spragContactHistory history = {.fresh = 1}; /* what a reader assumes */
    s.problem.history = &history;
    checkWritten(&s.problem, text);
    s.problem.kind = NULL, s.problem.mu_minus = NULL, s.problem.bound = NULL, s.problem.parent = NULL;
    checkWritten(&s.problem, text);
}

static void whatIsMoreIsSaid(void **state)
{
    (void)state;
    Small s;
    const int body[] = {7, -1, -1, 8};
    spragContactHistory history[] = {
        {{0.5, 0.25}, -9, 3, {1, 2}, SPRAG_MODE_SLIP, -1, 0, {0}, 0},
        {.fresh = 1, .held = {1, 2, 3, 4, 5, 6, 7, 8, 9}},
    };
    setSmall(&s, 2);
    smallW(&s, 0, 1)[1] = smallW(&s, 1, 0)[3] = 0.5;
    s.mu[0] = 1, s.mu_minus[0] = 2; /* of the other side */
    s.kind[1] = SPRAG_BLOCK_ROLLING, s.parent[1] = 0, s.bound[6] = -INFINITY;
    s.problem.step = 0.125, s.problem.body = body, s.problem.history = history;
    checkWritten(&s.problem, HEAD "2 4\n1 7 -1\n0 -1 8\n0 0 0\n0 0 0\n"
                                  "0 0 1 0 0 0 1 0 0 0 1\n0 1 0 0.5 0 0 0 0 0 0 0\n"
                                  "1 0 0 0 0 0.5 0 0 0 0 0\n1 1 1 0 0 0 1 0 0 0 1\n"
                                  "step 0.125\n"
                                  "block 0 contact 2 0 0 0 0 0 0 -1\n"
                                  "block 1 rolling 0 -inf 0 0 0 0 0 0\n"
                                  "history 0 0.5 0.25 -9 3 1 2 2 -1 0\n"
                                  "held 1 1 2 3 4 5 6 7 8 9\n");
}

/* Neither where there is no room for it, nor where the file may not be longer; and a device is not removed. */
static void nothingHalfWrittenStays(void **state)
{
    (void)state;
    Small s;
    setSmall(&s, SMALL_MAX);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(spragTextWrite(&s.problem, "/dev/full"), SPRAG_ERROR_FILE);
        assert_int_equal(access("/dev/full", W_OK), 0);
    }
    assert_int_equal(spragTextWrite(&s.problem, "/nonexistent/file.txt"), SPRAG_ERROR_FILE);
    assert_non_null(strstr(spragStatusDetail(), "/nonexistent/file.txt: "));
    struct rlimit before, shorter;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    shorter = before, shorter.rlim_cur = 100;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &shorter);
    const spragStatus status = spragTextWrite(&s.problem, FILE_NAME);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, SPRAG_ERROR_FILE);
    assert_non_null(strstr(spragStatusDetail(), "cannot be written: File too large"));
    assert_int_not_equal(access(FILE_NAME, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plainProblemsStayPlain), cmocka_unit_test(whatIsMoreIsSaid),
                                       cmocka_unit_test(nothingHalfWrittenStays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
