/* Problem files as text, read: every number is where the format says, what is not said is as the format assumes, and
 * what is malformed is refused by line and by name. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "problem/problem_text.h"

#define FILE_NAME "test_problem_text_read.txt"
#define ONE "1 1\n0.5 0 -1\n-1 2 3\n"
#define TWO "2 2\n0 0 -1\n0 1 -1\n0 0 0\n0 0 0\n"

static void writeFile(const char *text)
{
    FILE *file = fopen(FILE_NAME, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static spragProblem *readText(const char *text)
{
    spragProblem *problem = NULL;
    writeFile(text);
    if (spragTextRead(FILE_NAME, &problem) != SPRAG_OK)
        fail_msg("%s", spragStatusDetail());
    remove(FILE_NAME);
    return problem;
}

/* Two blocks that act on each other and a third that is alone, with all that a line can say. */
static void everyNumberHasItsPlace(void **state)
{
    (void)state;
    spragProblem *p = readText("\xEF\xBB\xBF# from elsewhere\r\n3 5\r\n"
                               "0.5 4 -1 # a box\n\n\t0.25 5 4\n0 -1 6\n"
                               "-1 2 3\n4e-1 5 -6\n7 8 9\n"
                               "0 0 10 1 2 1 11 3 2 3 12\n0 1 .1 .2 .3 .4 .5 .6 .7 .8 .9\n"
                               "1 0 .1 .4 .7 .2 .5 .8 .3 .6 .9\n1 1 20 0 0 0 21 0 0 0 22\n"
                               "2 2 30 0 0 0 31 0 0 0 32\n"
                               "held 1 1 2 3 4 5 6 7 8 9\n"
                               "block 1 two-sided 0.125 0 0 0 0 0 0 -1\n"
                               "block 2 box 0 -inf -1 0 1 inf 2 -1\n"
                               "history 0 0.1 0.2 -9.81 3 0.3 0.4 2 1 0\n"
                               "step 1e-3\nstep 2e-3 # the last word\n#");
    static const int row_start[] = {0, 2, 4, 5}, column[] = {0, 1, 0, 1, 2}, body[] = {4, -1, 5, 4, -1, 6};
    static const double q[] = {-1, 2, 3, 0.4, 5, -6, 7, 8, 9}, mu[] = {0.5, 0.25, 0}, mu_minus[] = {0.5, 0.125, 0};
    static const unsigned char kind[] = {SPRAG_BLOCK_CONTACT, SPRAG_BLOCK_TWO_SIDED, SPRAG_BLOCK_BOX};
    static const double bound[] = {-INFINITY, -1, 0, 1, INFINITY, 2};
    assert_int_equal(p->contact_count, 3);
    assert_int_equal(p->block_count, 5);
    assert_memory_equal(p->row_start, row_start, sizeof row_start);
    assert_memory_equal(p->column, column, sizeof column);
    assert_memory_equal(p->body, body, sizeof body);
    assert_memory_equal(p->q, q, sizeof q);
    assert_memory_equal(p->mu, mu, sizeof mu);
    assert_memory_equal(p->mu_minus, mu_minus, sizeof mu_minus);
    assert_memory_equal(p->kind, kind, sizeof kind);
    assert_memory_equal(p->bound + 12, bound, sizeof bound);
    CHECK_NEAR(p->W[9 + 1], 0.2, 0);  /* block (0, 1), n t1 */
    CHECK_NEAR(p->W[18 + 3], 0.2, 0); /* its mirror image */
    CHECK_NEAR(p->W[36 + 8], 32, 0);
    CHECK_NEAR(p->step, 2e-3, 0);
    const spragContactHistory *h = p->history;
    assert_true(h[0].slip[0] == 0.1 && h[0].slip[1] == 0.2 && h[0].free_acceleration == -9.81);
    assert_true(h[0].previous_normal == 3 && h[0].previous_slip[0] == 0.3 && h[0].previous_slip[1] == 0.4);
    assert_true(h[0].mode == SPRAG_MODE_SLIP && h[0].variant == 1 && !h[0].fresh && h[0].held[0] == 0);
    for (int i = 0; i < 9; ++i)
        CHECK_NEAR(h[1].held[i], i + 1, 0);
    assert_true(h[1].fresh && h[1].mode == SPRAG_MODE_OPEN && h[2].fresh);
    spragProblemFree(p);
}

/* A plain file, as others write it: contacts, the same mu on either side, no history and no step. */
static void whatIsNotSaidIsAssumed(void **state)
{
    (void)state;
    spragProblem *p = readText(ONE "0 0 1 0 0 0 1 0 0 0 0.5");
    assert_null(p->history);
    assert_int_equal(p->kind[0], SPRAG_BLOCK_CONTACT);
    assert_int_equal(p->parent[0], -1);
    CHECK_NEAR(p->mu_minus[0], 0.5, 0);
    CHECK_NEAR(p->step, 0, 0);
    CHECK_NEAR(p->W[8], 0.5, 0);
    spragProblemFree(p);
}

static void malformedFilesAreRefusedWithTheirLine(void **state)
{
    (void)state;
    const struct {
        const char *text, *detail;
        spragStatus status;
    } cases[] = {
        {"", "number of contacts", SPRAG_ERROR_FORMAT},
        {"# only a comment\n", "number of contacts", SPRAG_ERROR_FORMAT},
        {"two 1\n", ":1: 'two'", SPRAG_ERROR_FORMAT},
        {"-3 1\n", "'-3'", SPRAG_ERROR_FORMAT},
        {"100000000 100000000\n0.5 0 -1\n", "do not fit into the file", SPRAG_ERROR_FORMAT},
        {"1 1\n-0.5 0 -1\n-1 2 3\n0 0 1 0 0 0 1 0 0 0 1\n", ":2: '-0.5', expected mu >= 0", SPRAG_ERROR_FORMAT},
        {"1 1\n0.5 0 -1\n-1 nan 3\n0 0 1 0 0 0 1 0 0 0 1\n", ":3: 'nan'", SPRAG_ERROR_FORMAT},
        {"1 1\n0.5 0 -1\n-1 2 inf\n0 0 1 0 0 0 1 0 0 0 1\n", ":3: 'inf'", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0     \n", "ends at line", SPRAG_ERROR_FORMAT},
        {"1 1\n0.5 0 -1 7.5 8\n-1 2 3\n0 0 1 0 0 0 1 0 0 0 1\n",
         ":2: '7.5', expected the end of the line (or, in line 3, a block row", SPRAG_ERROR_FORMAT},
        {"1 1\n0.5 0 -1 # one\n-1 2 3 4\n\n0 0 1 0 0 0 1 0 0 0 1\n", ":3: '4', expected the end of the line",
         SPRAG_ERROR_FORMAT},
        {"1 1 1\n0.5 0 -1\n-1 2 3\n0 0 1 0 0 0 1 0 0 0 1\n", ":1: '1', expected the end of the line",
         SPRAG_ERROR_FORMAT},
        {ONE "0 1 1 0 0 0 1 0 0 0 1\n", "block column", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1x\n", "'1x'", SPRAG_ERROR_FORMAT},
        {ONE "0 0 0x10 0 0 0 1 0 0 0 1\n", "'0x10', expected an entry of W", SPRAG_ERROR_FORMAT},
        {ONE "0 0 0 0 0 0 1 0 0 0 1\n", "W_nn of contact 0 is 0", SPRAG_ERROR_INDEFINITE},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nsurprise\n", "'surprise'", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nstep -1e-3\n", ":5: '-1e-3', expected a step >= 0", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nblock 1 box 0\n", ":5: '1', expected a contact number", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nblock 0 cone 0\n", "'cone', expected contact, two", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nblock 0 box -1\n", "'-1', expected mu_minus >= 0", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nblock 0 box 0 1 1 1 0 2 2 -1\n", "lo = 1, hi = 0", SPRAG_ERROR_RANGE},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nblock 0 box 0 nan 1 1 2 2 2 -1\n", "'nan', expected a bound", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nblock 0 rolling 0 0 0 0 0 0 0 -1\n", "parent", SPRAG_ERROR_SIZE},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nblock 0 rolling 0 0 0 0 0 0 0 0\n", "parent", SPRAG_ERROR_SIZE},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nhistory 0 0 0 0 0 0 0 3 0 0\n", "'3', expected a mode", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nhistory 0 0 inf 0 0 0 0 1 0 0\n", "'inf', expected a slip", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nhistory 0 0 0 0 0\n", "ends at line 6", SPRAG_ERROR_FORMAT},
        {"1 1\n0.5 -2 -1\n-1 2 3\n0 0 1 0 0 0 1 0 0 0 1\n", ":2: '-2', expected a body number", SPRAG_ERROR_FORMAT},
        {"1 1\n0.5 0 1.5\n-1 2 3\n0 0 1 0 0 0 1 0 0 0 1\n", ":2: '1.5', expected a body number", SPRAG_ERROR_FORMAT},
        {TWO "1 1 1 0 0 0 1 0 0 0 1\n0 0 1 0 0 0 1 0 0 0 1\n", ":7: '0', expected a block row", SPRAG_ERROR_FORMAT},
        {TWO "0 0 1 0 0 0 1 0 0 0 1\n0 0 1 0 0 0 1 0 0 0 1\n", ":7: '0', expected a block column", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1e999 0 0 0 1 0 0 0 1\n", "'1e999', expected an entry of W", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nhistory 0 0 0 0 0 0 0 1 -2 0\n", "'-2', expected a variant", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nhistory 0 0 0 0 0 0 0 1 1 2\n", "'2', expected fresh", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nheld 0 0 0 0 0 0 0 0 0 nan\n", "'nan', expected a number of", SPRAG_ERROR_FORMAT},
        {ONE "0 0 1 0 0 0 1 0 0 0 1\nstep\n\n\n", "ends at line 8, expected a step", SPRAG_ERROR_FORMAT},
        {"99999999999999999999 1\n", "'99999999999999999999'", SPRAG_ERROR_FORMAT},
        {"0 0\n", "'0', expected the number of contacts", SPRAG_ERROR_FORMAT},
        {"2 2\n0 0 -1\n0 1 -1\n0 0 0\n0 0 0\n0 0 1 0 0 0 1 0 0 0 1\n0 1 0 0 0 0 0 0 0 0 0\n", "row 1 has no diagonal",
         SPRAG_ERROR_SIZE},
        {ONE "0 0 1 0.5 0 0 1 0 0 0 1\n", "W'", SPRAG_ERROR_NOT_SYMMETRIC},
        {ONE "0 0 -1 0 0 0 1 0 0 0 1\n", "diag(-1", SPRAG_ERROR_INDEFINITE},
        {ONE "0 0 1 2 0 2 1 0 0 0 1\n", ": diagonal block 0 of W has a negative eigenvalue", SPRAG_ERROR_INDEFINITE},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        spragProblem *problem = NULL;
        writeFile(cases[k].text);
        assert_int_equal(spragTextRead(FILE_NAME, &problem), cases[k].status);
        assert_null(problem);
        if (strstr(spragStatusDetail(), cases[k].detail) == NULL)
            fail_msg("case %zu: '%s' does not mention '%s'", k, spragStatusDetail(), cases[k].detail);
    }
    spragProblem *problem = NULL;
    FILE *file = fopen(FILE_NAME, "w");
    fwrite(ONE "\0 0", 1, sizeof ONE + 2, file);
    fclose(file);
    assert_int_equal(spragTextRead(FILE_NAME, &problem), SPRAG_ERROR_FORMAT);
    assert_non_null(strstr(spragStatusDetail(), "byte 20 is zero"));
    assert_int_equal(spragTextRead("/", &problem), SPRAG_ERROR_FILE);
    assert_int_equal(spragTextRead("/nonexistent/file", &problem), SPRAG_ERROR_FILE);
    remove(FILE_NAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyNumberHasItsPlace),
                                       cmocka_unit_test(whatIsNotSaidIsAssumed),
                                       cmocka_unit_test(malformedFilesAreRefusedWithTheirLine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
