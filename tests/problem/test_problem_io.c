/* Problem files: what is written is read back to the bit, whatever the locale; what is damaged is read or refused. */
#include "support/check.h"
#include "support/shared.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "problem/problem.h"

#define FILE_NAME "test_problem_io.txt"

static void writeFile(const char *text)
{
    FILE *file = fopen(FILE_NAME, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Two blocks with everything a dumped island can have. */
static spragProblemData *example(void)
{
    spragProblemData *d = spragProblemCreate(2, 4);
    assert_non_null(d);
    for (int e = 0; e < 4; ++e) {
        d->column[e] = e % 2;
        for (int a = 0; a < 9; ++a)
            d->W[9 * e + a] = (e == 0 || e == 3) ? (a % 4 == 0 ? 1.0 / 3 : 0.1 / 7) : 1e-3;
    }
    d->row_start[1] = 2;
    d->row_start[2] = 4;
    for (int i = 0; i < 6; ++i)
        d->q[i] = sin(i + 1.0);
    d->mu[0] = 0.7, d->mu_minus[0] = 0.3, d->kind[0] = SPRAG_BLOCK_TWO_SIDED;
    d->mu[1] = 0, d->kind[1] = SPRAG_BLOCK_BOX;
    for (int a = 0; a < 3; ++a)
        d->bound[6 + a] = -a, d->bound[9 + a] = a == 2 ? INFINITY : 1;
    d->problem.step = 1e-3;
    d->history[0] = (spragContactHistory){
        {0.1, 1.0 / 3}, -9.81, 3.3, {1, 0}, SPRAG_MODE_SLIP, -1, 0, {0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.3}, 0};
    return d;
}

static void aRoundTripKeepsEveryBit(void **state)
{
    (void)state;
    spragProblemData *d = example();
    spragProblem *read = NULL;
    assert_int_equal(spragProblemWrite(&d->problem, FILE_NAME), SPRAG_OK);
    assert_int_equal(spragProblemRead(FILE_NAME, &read), SPRAG_OK);
    assert_memory_equal(read->W, d->W, 4 * 9 * sizeof(double));
    assert_memory_equal(read->q, d->q, 6 * sizeof(double));
    assert_memory_equal(read->mu, d->mu, 2 * sizeof(double));
    assert_memory_equal(read->mu_minus, d->mu_minus, 2 * sizeof(double));
    assert_memory_equal(read->kind, d->kind, 2);
    assert_memory_equal(read->bound, d->bound, 12 * sizeof(double));
    assert_memory_equal(read->row_start, d->row_start, 3 * sizeof(int));
    assert_memory_equal(read->column, d->column, 4 * sizeof(int));
    assert_true(read->step == 1e-3);
    assert_true(read->history[0].slip[1] == 1.0 / 3 && read->history[0].variant == -1 && !read->history[0].fresh);
    assert_true(read->history[0].held[4] == 0.2);
    assert_true(read->history[1].fresh);
    spragProblemFree(read);
    spragProblemFree(&d->problem);
    remove(FILE_NAME);
}

static void everyFailingAllocationIsReported(void **state)
{
    (void)state;
    spragProblemData *d = example();
    assert_int_equal(spragProblemWrite(&d->problem, FILE_NAME), SPRAG_OK);
    spragProblemFree(&d->problem);
    for (unsigned long n = 1;; ++n) {
        spragProblem *read = NULL;
        spragAllocFailAt(n);
        const spragStatus status = spragProblemRead(FILE_NAME, &read);
        spragAllocFailAt(0);
        if (status == SPRAG_OK) {
            assert_true(n > 10);
            spragProblemFree(read);
            break;
        }
        assert_int_equal(status, SPRAG_ERROR_MEMORY);
        assert_null(read);
    }
    remove(FILE_NAME);
}

/* Damaged at random (cut, a token or a byte replaced): read again as it is written, or
 * refused by name.  Sanitizers see the rest. */
static void damagedFilesAreReadOrRefused(void **state)
{
    (void)state;
    static const char *const token[] = {"nan", "-1", "0",       "1e999", "2147483648",
                                        "#",   "\n", "rolling", "step",  "1e-320"};
    spragProblemData *d = example();
    assert_int_equal(spragProblemWrite(&d->problem, FILE_NAME), SPRAG_OK);
    spragProblemFree(&d->problem);
    char good[4096] = "", text[4200];
    FILE *file = fopen(FILE_NAME, "r");
    const size_t length = fread(good, 1, sizeof good - 1, file);
    fclose(file);
    int accepted = 0;
    unsigned long long random = 1;
    for (int i = 0; i < 400; ++i) {
        memcpy(text, good, length + 1);
        for (int damage = 0; damage <= i % 3; ++damage) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const size_t at = (size_t)(random >> 33) % (strlen(text) + 1), end = at + strcspn(text + at, " \n");
            const char *word = token[(random >> 20) % (sizeof token / sizeof *token)];
            char tail[4200];
            strcpy(tail, text + end);
            if (random >> 62 == 0)
                text[at] = '\0';
            else if (random >> 62 == 1)
                text[at] = (char)(random >> 15 & 127);
            else
                snprintf(text + at, sizeof text - at, "%s%s", word, tail);
        }
        writeFile(text);
        spragProblem *problem = NULL, *again = NULL;
        const spragStatus status = spragProblemRead(FILE_NAME, &problem);
        if (status != SPRAG_OK) {
            assert_null(problem);
            assert_ptr_equal(strstr(spragStatusDetail(), FILE_NAME), spragStatusDetail());
            continue;
        }
        ++accepted;
        assert_int_equal(spragProblemWrite(problem, FILE_NAME), SPRAG_OK);
        assert_int_equal(spragProblemRead(FILE_NAME, &again), SPRAG_OK);
        assert_memory_equal(again->W, problem->W, (size_t)(9 * problem->block_count) * sizeof(double));
        spragProblemFree(problem);
        spragProblemFree(again);
    }
    assert_in_range(accepted, 4, 380);
    remove(FILE_NAME);
}

/* A host that set a locale with decimal commas gets the same files.  Skipped where no such locale can be made. */
static void theHostsLocaleDoesNotMatter(void **state)
{
    (void)state;
    if (system("mkdir -p test_locale && localedef -i de_DE -f UTF-8 test_locale/de_DE.UTF-8 >test_locale/log 2>&1") ==
        -1)
        skip();
    setenv("LOCPATH", "test_locale", 1);
    const int comma = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    unsetenv("LOCPATH");
    if (comma) {
        char half[8];
        snprintf(half, sizeof half, "%.1f", 0.5);
        assert_string_equal(half, "0,5");
        aRoundTripKeepsEveryBit(state);
        snprintf(half, sizeof half, "%.1f", 0.5);
        assert_string_equal(half, "0,5"); /* the host's locale is still its own */
        setlocale(LC_ALL, "C");
    }
    assert_int_equal(system("rm -r test_locale"), 0);
    if (!comma)
        skip();
}

static void sharedProblemsAreRead(void **state)
{
    (void)state;
    spragProblem *problem = sharedProblem("p31_painleve_rod.txt");
    if (problem == NULL)
        skip();
    assert_int_equal(problem->contact_count, 1);
    CHECK_NEAR(problem->q[2], -5, 0);
    CHECK_NEAR(problem->W[2], -1.2000000000000002, 0);
    CHECK_NEAR(problem->asymmetry, 0, 0);
    spragProblemFree(problem);
}

/* Without a name, or a problem, or contacts; and *out stays as it was. */
static void whatIsMissingIsSaid(void **state)
{
    (void)state;
    spragProblem none = {0}, *out = &none;
    spragProblemData *d = example();
    assert_int_equal(spragProblemRead(NULL, &out), SPRAG_ERROR_NULL);
    assert_int_equal(spragProblemRead(FILE_NAME, NULL), SPRAG_ERROR_NULL);
    assert_int_equal(spragProblemRead("/nonexistent/file", &out), SPRAG_ERROR_FILE);
    assert_ptr_equal(out, &none);
    assert_int_equal(spragProblemWrite(NULL, FILE_NAME), SPRAG_ERROR_NULL);
    assert_int_equal(spragProblemWrite(&d->problem, NULL), SPRAG_ERROR_NULL);
    assert_int_equal(spragProblemWrite(&none, FILE_NAME), SPRAG_ERROR_SIZE);
    assert_int_not_equal(access(FILE_NAME, F_OK), 0);
    spragProblemFree(&d->problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aRoundTripKeepsEveryBit),      cmocka_unit_test(everyFailingAllocationIsReported),
        cmocka_unit_test(damagedFilesAreReadOrRefused), cmocka_unit_test(theHostsLocaleDoesNotMatter),
        cmocka_unit_test(sharedProblemsAreRead),        cmocka_unit_test(whatIsMissingIsSaid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
