/* The viewer's text: columns that hold whatever is in them, units that are none of another quantity, and a plot whose
 * greatest value is the greatest. */
#include "viewer/words.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "support/check.h"

static void numbersFit(void **state)
{
    (void)state;
    char text[32];
    for (int width = 8; width <= 11; ++width)
        for (double x = 1e-300; x < 1e300; x *= 7.3) {
            wordsNumber(text, sizeof text, width, 3, x);
            assert_in_range(strlen(text), 1, width);
            if (x >= 0.0005)
                assert_true(fabs(strtod(text, NULL) / x - 1) <= fmax(0.5e-3 / x, 0.05));
            wordsNumber(text, sizeof text, width, 3, -x);
            assert_in_range(strlen(text), 1, width);
        }
    wordsNumber(text, sizeof text, 8, 4, -4e-5);
    assert_string_equal(text, "0.0000");
    wordsNumber(text, sizeof text, 9, 3, -165.375);
    assert_string_equal(text, "-165.375");
    wordsNumber(text, sizeof text, 9, 3, -DBL_MAX);
    assert_string_equal(text, "-1.8e+308");
}

/* Of stock ODE's house of cards: friction without a normal force was 4e16 of its bound, and pushed all else aside. */
static void columnsHold(void **state)
{
    (void)state;
    char head[200], row[200];
    wordsTableHead(head, sizeof head, WORDS_COLUMNS);
    assert_int_equal(strlen(head), wordsTableWidth(WORDS_COLUMNS));
    assert_null(strstr(head, "T / N")); /* in newton it is no quotient */
    spragContact c = {.normal_force = -3.4e-18, .friction = {0.085, 0, 0}, .slip = {0.0861, 0, 0}};
    wordsContact(row, sizeof row, WORDS_COLUMNS, &c, 0.6, 0);
    assert_string_equal(row, "           0.000     0.085         -      0.0861         -         -");
    c.mode = SPRAG_MODE_SLIP;
    c.normal_force = 3.4e-18;
    wordsContact(row, sizeof row, WORDS_COLUMNS, &c, 0.6, 0);
    assert_string_equal(row, "           0.000     0.085         -      0.0861         -         -");
    c = (spragContact){.mode = SPRAG_MODE_SLIP,
                       .normal_force = -2e6,
                       .friction = {0, 3e6, 0},
                       .slip = {1e3, 0, 0},
                       .painleve_p = 1e7,
                       .free_acceleration = -12345.678};
    wordsContact(row, sizeof row, WORDS_COLUMNS, &c, 0.5, 1);
    assert_string_equal(row, "      -2000000.0 3000000.0    3.0000   1000.0000  10000000 -12345.68");
    wordsContact(row, sizeof row, WORDS_COLUMNS, &c, 0, 1); /* no bound */
    assert_string_equal(row, "      -2000000.0 3000000.0         -   1000.0000  10000000 -12345.68");
    assert_int_equal(strlen(row), strlen(head));
    wordsTableHead(head, sizeof head, WORDS_COLUMNS_NARROW);
    assert_string_equal(head, "mode       N [N]     T [N]  T/(mu N)  slip [m/s]");
    assert_int_equal(strlen(head), wordsTableWidth(WORDS_COLUMNS_NARROW));
    wordsContact(row, sizeof row, WORDS_COLUMNS_NARROW, &c, 0.5, 1);
    assert_string_equal(row, "      -2000000.0 3000000.0    3.0000   1000.0000");
}

static void verdictTellsMissedFromKept(void **state)
{
    (void)state;
    char text[100];
    assert_int_equal(wordsVerdict(text, sizeof text, 0.0213), 1);
    assert_string_equal(text, "missed Coulomb's law by up to 0.02 m/s");
    assert_int_equal(wordsVerdict(text, sizeof text, 2.4e-12), 0);
    assert_string_equal(text, "kept Coulomb's law to 2e-12 m/s");
    assert_int_equal(wordsVerdict(text, sizeof text, 0), 0);
    assert_int_equal(wordsVerdict(text, sizeof text, NAN), 1); /* what is no number was not kept */
}

static void plotsSayTheGreatest(void **state)
{
    (void)state;
    char text[80];
    wordsPlot(text, sizeof text, "slip", "m/s", 1);
    assert_string_equal(text, "slip up to 1 m/s");
    wordsPlot(text, sizeof text, "total N", "N", 0);
    assert_string_equal(text, "total N below 1e-06 N");
}

/* "variant 1000" is no variant. */
static void solversCountIslands(void **state)
{
    (void)state;
    char text[200];
    spragStepInfo info = {0};
    wordsSolvers(text, sizeof text, &info);
    assert_string_equal(text, "");
    info.solved[SPRAG_SOLVER_VARIANT] = 1;
    wordsSolvers(text, sizeof text, &info);
    assert_string_equal(text, "1 island by variant");
    info.solved[SPRAG_SOLVER_VARIANT] = 1000;
    info.solved[SPRAG_SOLVER_NEWTON] = 1;
    wordsSolvers(text, sizeof text, &info);
    assert_string_equal(text, "1000 islands by variant, 1 by newton");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbersFit), cmocka_unit_test(columnsHold),
                                       cmocka_unit_test(verdictTellsMissedFromKept),
                                       cmocka_unit_test(plotsSayTheGreatest), cmocka_unit_test(solversCountIslands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
