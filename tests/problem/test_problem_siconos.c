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

/* The same in the plane: what is dropped is the second tangent's. */
static const char plane_text[] = "2\n2\n1\n4\n4\n4\n2\n2\n2 4\n2 4\n3\n4\n0 2 4\n0 1 0 1\n"
                                 "0\n1 2e-3 4e-3 1\n1\n0.1 0.2 0 0.1\n2\n0.1 0 0.2 0.1\n3\n1 0 0 1\n"
                                 "-1 0.5 0 -0.5\n0.7 0.3\n";

/* And dense, column by column. */
static const char dense_text[] = "2\r\n2\r\n0\r\n4\r\n4\r\n4\t4\r\n"
                                 "1 2e-3 0.1 0\n 4e-3 1 0.2 0.1\n 0.1 0.2 1 0\n 0 0.1 0 1\n"
                                 "-1 0.5 0 -0.5\n0.7 0.3\n1\n";

/* Reads `text` with `wrong` in the place of `right`; by its content: as whoever asks for a file of any format does. */
static spragStatus readText(const char *text, const char *right, const char *wrong, int by_content, spragProblem **out)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/sprag-test-siconos-%d.dat", (int)getpid());
    const char *at = strstr(text, right);
    assert_non_null(at);
    FILE *file = fopen(path, "w");
    fprintf(file, "%.*s%s%s", (int)(at - text), text, wrong, at + strlen(right));
    fclose(file);
    const spragStatus status = by_content ? spragProblemRead(path, out) : spragSiconosTextRead(path, out);
    unlink(path);
    return status;
}

/* And as CSparse prints it: by columns, as triplets, and by rows. */
static const char columns_text[] = "2\n2\n2\n4\n4\n2\nCSparse Version 3.1.9, May 4, 2016.  Copyright (c) T. D.\n"
                                   "4-by-4, nzmax: 12 nnz: 12, 1-norm: 1.3\n    col 0 : locations 0 to 2\n"
                                   "      0 : 1\n      1 : 2e-3\n      2 : 0.1\n    col 1 : locations 3 to 6\n"
                                   "      3 : 0.1\n      0 : 4e-3\n      1 : 1\n      2 : 0.2\n"
                                   "    col 2 : locations 6 to 8\n      0 : 0.1\n      1 : 0.2\n      2 : 1\n"
                                   "    col 3 : locations 9 to 10\n      1 : 0.1\n      3 : 1\n"
                                   "-1 0.5 0 -0.5\n0.7 0.3\n";
static const char triplets_text[] = "2\n2\n2\n4\n4\n1\nCSparse Version 3.1.9\ntriplet: 4-by-4, nzmax: 13 nnz: 13\n"
                                    "    0 0 : 1\n    1 0 : 2e-3\n    2 0 : 0.1\n    0 1 : 4e-3\n    1 1 : 0.5\n"
                                    "    1 1 : 0.5\n    2 1 : 0.2\n    3 1 : 0.1\n    0 2 : 0.1\n    1 2 : 0.2\n"
                                    "    2 2 : 1\n    1 3 : 0.1\n    3 3 : 1\n"
                                    "-1 0.5 0 -0.5\n0.7 0.3\n";

static const char rows_text[] = "2\n2\n2\n4\n4\n3\nCSparse Version 3.1.9\n"
                                "csr: 4-by-4, nzmax: 12 nnz: 12, 1-norm: 1.3\n    row 0 : locations 0 to 2\n"
                                "      0 : 1\n      1 : 4e-3\n      2 : 0.1\n    row 1 : locations 3 to 6\n"
                                "      0 : 2e-3\n      1 : 1\n      2 : 0.2\n      3 : 0.1\n"
                                "    row 2 : locations 7 to 9\n      0 : 0.1\n      1 : 0.2\n      2 : 1\n"
                                "    row 3 : locations 10 to 11\n      1 : 0.1\n      3 : 1\n"
                                "-1 0.5 0 -0.5\n0.7 0.3\n";

/* A global problem of one contact: M = [2 1 0; 1 2 0; 0 0 4] of which one triangle is given, H = 1 in blocks of one
 * and two. */
static const char global_text[] = "3\n1\n2\n3\n3\n1\nCSparse Version 3.1.9\ntriplet: 3-by-3, nzmax: 4 nnz: 4\n"
                                  "    0 0 : 2\n    0 1 : 1\n    1 1 : 2\n    2 2 : 4\n"
                                  "1\n3\n3\n2\n2\n2\n1 3\n1 3\n3\n2\n0 1 2\n0 1\n0\n1\n1\n1 0 0 1\n"
                                  "-1 0.25 -2\n1 0 0\n0.5\n";

typedef struct Case {
    const char *right, *wrong, *detail;
    spragStatus status;
} Case;

static void checkRefusals(const char *text, const Case *cases, size_t count, int by_content)
{
    spragProblem *problem = NULL;
    for (size_t k = 0; k < count; ++k) {
        CHECK_REFUSED(readText(text, cases[k].right, cases[k].wrong, by_content, &problem), cases[k].status,
                      cases[k].detail);
        assert_null(problem);
    }
}

static void globalTextIsRead(void **state)
{
    (void)state;
    spragProblem *problem = NULL;
    assert_int_equal(readText(global_text, "", "", 1, &problem), SPRAG_OK);
    assert_int_equal(problem->contact_count, 1);
    static const double inverse[9] = {2 / 3.0, -1 / 3.0, 0, -1 / 3.0, 2 / 3.0, 0, 0, 0, 0.25};
    for (int i = 0; i < 9; ++i)
        CHECK_NEAR(problem->W[i], inverse[i], 1e-15);
    CHECK_NEAR(problem->q[0], 0.25, 1e-15);
    CHECK_NEAR(problem->q[2], -0.5, 1e-15);
    CHECK_NEAR(problem->mu[0], 0.5, 0);
    spragProblemFree(problem);
    problem = NULL;
    static const Case cases[] = {
        {"nnz: 4", "nnz: 5", ":15: expected : between", SPRAG_ERROR_FORMAT},
        {"nnz: 4", "nzz: 4", "expected nnz:", SPRAG_ERROR_FORMAT},
        {"0 1 : 1", "0 3 : 1", "expected rows and columns from 0", SPRAG_ERROR_FORMAT},
        {"0 1 : 1", "0 1 - 1", "expected : between", SPRAG_ERROR_FORMAT},
        {"2 2 : 4", "2 2 : 0", "matrix M: singular at unknown 2", SPRAG_ERROR_INDEFINITE},
        {"1\n3\n3\n2", "1\n4\n3\n2", "expected cumulated sizes of the block rows", SPRAG_ERROR_FORMAT},
        {"1 3\n1 3", "1 3\n3 3", "expected cumulated sizes of the block columns", SPRAG_ERROR_FORMAT},
        {"0 1 2\n", "0 2 1\n", "expected index1", SPRAG_ERROR_FORMAT},
        {"0 1 2\n", "1 1 2\n", "expected index1", SPRAG_ERROR_FORMAT},
        {"-2\n1 0 0\n0.5", "-2\n1 0 0\n", "expected mu", SPRAG_ERROR_FORMAT},
    };
    checkRefusals(global_text, cases, sizeof cases / sizeof *cases, 1);
}

/* The plane in any storage is the same problem; r along the second tangent is 0. */
static void thePlaneIsRead(void **state)
{
    (void)state;
    static const char *const text[5] = {plane_text, dense_text, columns_text, triplets_text, rows_text};
    spragProblem *problem[5] = {NULL};
    for (int t = 0; t < 5; ++t) {
        assert_int_equal(readText(text[t], "", "", 1, &problem[t]), SPRAG_OK);
        assert_int_equal(problem[t]->contact_count, 2);
        assert_int_equal(problem[t]->block_count, 4);
        assert_memory_equal(problem[t]->W, problem[0]->W, 36 * sizeof(double));
        assert_memory_equal(problem[t]->q, problem[0]->q, 6 * sizeof(double));
        CHECK_NEAR(problem[t]->W[1], 4e-3, 0);
        CHECK_NEAR(problem[t]->W[8], 1, 0);
        CHECK_NEAR(problem[t]->W[9 + 1], 0, 0); /* block (0, 1): row n, column t */
        CHECK_NEAR(problem[t]->W[9 + 3], 0.2, 0);
        CHECK_NEAR(problem[t]->q[4], -0.5, 0);
        CHECK_NEAR(problem[t]->mu[1], 0.3, 0);
        double r[6] = {0};
        const spragSolveOptions options = spragSolveOptionsDefault();
        assert_int_equal(spragProblemSolve(problem[t], &options, r, NULL, NULL), SPRAG_OK);
        assert_true(r[0] > 0.5);
        CHECK_NEAR(r[2], 0, 1e-12);
        CHECK_NEAR(r[5], 0, 1e-12);
    }
    for (int t = 0; t < 5; ++t)
        spragProblemFree(problem[t]);
}

/* The kinds of text are told apart by their first lines. */
static void formatsAreToldApart(void **state)
{
    (void)state;
    spragProblem *problem = NULL;
    assert_int_equal(readText(siconos_text, "", "", 1, &problem), SPRAG_OK);
    assert_int_equal(problem->contact_count, 2);
    spragProblemFree(problem);
    problem = NULL;
    assert_int_equal(readText("1 1\n0.5 -1 -1\n-1 0 0\n0 0 1 0 0 0 1 0 0 0 1\n", "", "", 1, &problem), SPRAG_OK);
    assert_int_equal(problem->contact_count, 1);
    spragProblemFree(problem);
    problem = NULL;
    assert_int_equal(
        readText("2\n2\n1\n0\n-1\n1\n-1\n1\n-1 0 0\n-1 0 0\n0 0 1 0 0 0 1 0 0 0 1\n1 1 1 0 0 0 1 0 0 0 1\n", "", "", 1,
                 &problem),
        SPRAG_OK); /* ours with a number in each of its first lines */
    assert_int_equal(problem->contact_count, 2);
    CHECK_NEAR(problem->mu[1], 1, 0);
    spragProblemFree(problem);
    problem = NULL;
    CHECK_REFUSED(readText(siconos_text, "3\n2\n1", "4\n2\n1", 1, &problem), SPRAG_ERROR_FORMAT, "Siconos");
    CHECK_REFUSED(readText(siconos_text, "3\n2\n1", "3\n2\nx", 1, &problem), SPRAG_ERROR_FORMAT, "expected mu");
    CHECK_REFUSED(readText("3\n", "", "", 1, &problem), SPRAG_ERROR_FORMAT, "the file ends");
    CHECK_REFUSED(readText(dense_text, "4\t4", "4\t5", 1, &problem), SPRAG_ERROR_FORMAT, ":6: expected columns once");
    CHECK_REFUSED(readText(dense_text, "4e-3", "inf", 1, &problem), SPRAG_ERROR_FORMAT,
                  ":8: expected a number of the matrix");
    CHECK_REFUSED(readText(plane_text, "2 4", "2 6", 1, &problem), SPRAG_ERROR_FORMAT,
                  ":9: expected cumulated sizes of the block rows");
    assert_null(problem);
}

static void siconosTextIsRead(void **state)
{
    (void)state;
    spragProblem *problem = NULL;
    assert_int_equal(readText(siconos_text, "", "", 0, &problem), SPRAG_OK);
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
    static const Case cases[] = {
        {"3\n2", "4\n2", ":1: expected an HDF5 file, or Siconos", SPRAG_ERROR_FORMAT},
        {"2\n1\n", "2147483647\n1\n", ":2: expected number of contacts", SPRAG_ERROR_FORMAT},
        {"2\n1\n", "-2\n1\n", ":2: expected number of contacts", SPRAG_ERROR_FORMAT},
        {"1\n6", "3\n6", ":3: expected storage 0 (dense), 1", SPRAG_ERROR_FORMAT},
        {"6\n4", "7\n4", ":10: expected cumulated sizes of the block columns", SPRAG_ERROR_FORMAT},
        {"4\n2\n2", "2000000000\n2\n2", ":6: expected number of blocks", SPRAG_ERROR_FORMAT},
        {"0 2 4", "0 5 4", ":13: expected index1", SPRAG_ERROR_FORMAT},
        {"0 1 0 1", "0 2 0 1", ": expected index2", SPRAG_ERROR_FORMAT},
        {"2e-3", "nan", ":16: expected a number of the matrix", SPRAG_ERROR_FORMAT},
        {"-1 0.5", "x 0.5", ":23: expected q", SPRAG_ERROR_FORMAT},
        {" 0.3\n", "", ":24: expected mu", SPRAG_ERROR_FORMAT},
        {" 0.3\n", " -1", "mu of contact 1 is -1, expected >= 0", SPRAG_ERROR_RANGE},
        {"4e-3", "0.3", "|W - W'|", SPRAG_ERROR_NOT_SYMMETRIC},
    };
    checkRefusals(siconos_text, cases, sizeof cases / sizeof *cases, 0);
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
    static const char *const text[4] = {siconos_text, dense_text, triplets_text, global_text};
    for (int t = 0; t < 4; ++t) {
        spragStatus status = SPRAG_ERROR_MEMORY;
        for (unsigned long n = 1; status != SPRAG_OK; ++n) {
            spragProblem *back = NULL;
            assert_in_range(n, 1, 1000);
            spragAllocFailAt(n);
            status = readText(text[t], "", "", 0, &back);
            spragAllocFailAt(0);
            assert_true(status == SPRAG_OK ? n > 15 : status == SPRAG_ERROR_MEMORY && back == NULL);
            spragProblemFree(back);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siconosTextIsRead),     cmocka_unit_test(thePlaneIsRead),
        cmocka_unit_test(globalTextIsRead),      cmocka_unit_test(formatsAreToldApart),
        cmocka_unit_test(directoriesAreNoFiles), cmocka_unit_test(everyFailingAllocationIsReported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
