/* Siconos' text files: read, and everything that is none is refused with its line. */
#include "support/refusal.h"

#include <unistd.h>

#include "base/alloc.h"
#include "problem/problem_siconos.h"

/* Two contacts in Siconos' sparse block storage, blocks by columns. */
static const char siconos_text[] = "3\n2\n1\n6\n6\n4\n2\n2\n3 6\n3 6\n3\n4\n0 2 4\n0 1 0 1\n"
                                   "0\n1 2e-3 0 4e-3 1 0 0 0 1\n1\n0.1 0.2 0 0 0.1 0 0 0 0\n"
                                   "2\n0.1 0 0 0.2 0.1 0 0 0 0\n3\n1 0 0 0 1 0 0 0 1\n"
                                   "-1 0.5 0.25 0 -0.5 0.1\n0.7 0.3\n";

static spragStatus readSiconos(const char *right, const char *wrong, spragProblem **out)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/sprag-test-siconos-%d.dat", (int)getpid());
    const char *at = strstr(siconos_text, right);
    assert_non_null(at);
    FILE *file = fopen(path, "w");
    fprintf(file, "%.*s%s%s", (int)(at - siconos_text), siconos_text, wrong, at + strlen(right));
    fclose(file);
    const spragStatus status = spragSiconosTextRead(path, out);
    unlink(path);
    return status;
}

static void siconosTextIsRead(void **state)
{
    (void)state;
    spragProblem *problem = NULL;
    assert_int_equal(readSiconos("", "", &problem), SPRAG_OK);
    assert_int_equal(problem->contact_count, 2);
    assert_int_equal(problem->block_count, 4);
    CHECK_NEAR(problem->W[1], 4e-3, 0); /* row 0, column 1: the second column begins with it */
    CHECK_NEAR(problem->W[3], 2e-3, 0);
    CHECK_NEAR(problem->W[9 + 3], 0.2, 0); /* block (0, 1) */
    CHECK_NEAR(problem->W[18 + 1], 0.2, 0);
    CHECK_NEAR(problem->q[5], 0.1, 0);
    CHECK_NEAR(problem->mu[1], 0.3, 0);
    CHECK_NEAR(problem->asymmetry, 2e-3, 1e-15);
    spragProblemFree(problem);
    problem = NULL;
    static const struct {
        const char *right, *wrong, *detail;
        spragStatus status;
    } cases[] = {
        {"3\n2", "2\n2", ":1: expected an HDF5 file, or Siconos", SPRAG_ERROR_FORMAT},
        {"2\n1\n", "2147483647\n1\n", ":2: expected number of contacts", SPRAG_ERROR_FORMAT},
        {"2\n1\n", "-2\n1\n", ":2: expected number of contacts", SPRAG_ERROR_FORMAT},
        {"1\n6", "0\n6", ":3: expected storage 1", SPRAG_ERROR_FORMAT},
        {"6\n4", "7\n4", ":5: expected columns", SPRAG_ERROR_FORMAT},
        {"4\n2\n2", "2000000000\n2\n2", ":6: expected number of blocks", SPRAG_ERROR_FORMAT},
        {"0 2 4", "0 5 4", ":14: expected index1", SPRAG_ERROR_FORMAT},
        {"0 1 0 1", "0 2 0 1", ": expected index2", SPRAG_ERROR_FORMAT},
        {"2e-3", "nan", ":16: expected W", SPRAG_ERROR_FORMAT},
        {"-1 0.5", "x 0.5", ":23: expected q", SPRAG_ERROR_FORMAT},
        {" 0.3\n", "", ":24: expected mu", SPRAG_ERROR_FORMAT},
        {" 0.3\n", " -1", "mu of contact 1 is -1, expected >= 0", SPRAG_ERROR_RANGE},
        {"4e-3", "0.3", "|W - W'|", SPRAG_ERROR_NOT_SYMMETRIC},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        CHECK_REFUSED(readSiconos(cases[k].right, cases[k].wrong, &problem), cases[k].status, cases[k].detail);
        assert_null(problem);
    }
}

static void directoriesAreNoFiles(void **state)
{
    (void)state;
    spragProblem *problem = NULL;
    CHECK_REFUSED(spragSiconosTextRead("/nonexistent/x.dat", &problem), SPRAG_ERROR_FILE, "/nonexistent/x.dat");
    CHECK_REFUSED(spragSiconosTextRead("/tmp", &problem), SPRAG_ERROR_FILE, "/tmp: cannot be read");
    assert_null(problem);
}

static void everyFailingAllocationIsReported(void **state)
{
    (void)state;
    spragStatus status = SPRAG_ERROR_MEMORY;
    for (unsigned long n = 1; status != SPRAG_OK; ++n) {
        spragProblem *back = NULL;
        assert_in_range(n, 1, 1000);
        spragAllocFailAt(n);
        status = readSiconos("", "", &back);
        spragAllocFailAt(0);
        assert_true(status == SPRAG_OK ? n > 15 : status == SPRAG_ERROR_MEMORY && back == NULL);
        spragProblemFree(back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(siconosTextIsRead), cmocka_unit_test(directoriesAreNoFiles),
                                       cmocka_unit_test(everyFailingAllocationIsReported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
