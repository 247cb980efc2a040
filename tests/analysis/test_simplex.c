/* Systems with a solution y >= 0 by construction, and such that have none by Farkas' lemma. */
#include "support/check.h"
#include "support/uniform.h"

#include "analysis/simplex.h"

static unsigned long long seed = 9;

enum { COLUMNS = 20 };

/* C (columns x rows) */
static void fill(int rows, double *C)
{
    for (int i = 0; i < rows * COLUMNS; ++i)
        C[i] = uniform(&seed);
}

static void solutionsAreFound(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; ++round) {
        const int rows = 1 + round % SIMPLEX_ROWS;
        double C[SIMPLEX_ROWS * COLUMNS], c[SIMPLEX_ROWS] = {0}, y[COLUMNS];
        fill(rows, C);
        for (int j = 0; j < COLUMNS; ++j) { /* few of them, so that many are at their bound */
            const double share = round % 3 == 0 || j % 4 == 0 ? fabs(uniform(&seed)) : 0;
            for (int i = 0; i < rows; ++i)
                c[i] += share * C[rows * j + i];
        }
        assert_int_equal(spragSimplexFeasible(rows, COLUMNS, C, c, y), 1);
        for (int i = 0; i < rows; ++i) {
            double sum = -c[i];
            for (int j = 0; j < COLUMNS; ++j)
                sum += C[rows * j + i] * y[j];
            CHECK_NEAR(sum, 0, 1e-9);
        }
        for (int j = 0; j < COLUMNS; ++j)
            assert_true(y[j] >= 0);
    }
}

/* z' C >= 0 > z' c */
static void noneIsShown(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; ++round) {
        const int rows = 1 + round % SIMPLEX_ROWS;
        double C[SIMPLEX_ROWS * COLUMNS], c[SIMPLEX_ROWS], z[SIMPLEX_ROWS], side = 0;
        fill(rows, C);
        for (int i = 0; i < rows; ++i)
            z[i] = uniform(&seed), c[i] = uniform(&seed), side += z[i] * c[i];
        for (int j = 0; j < COLUMNS; ++j) {
            double sum = 0;
            for (int i = 0; i < rows; ++i)
                sum += z[i] * C[rows * j + i];
            for (int i = 0; i < rows && sum < 0; ++i)
                C[rows * j + i] = -C[rows * j + i];
        }
        for (int i = 0; i < rows && side > 0; ++i)
            c[i] = -c[i];
        if (fabs(side) > 1e-3)
            assert_int_equal(spragSimplexFeasible(rows, COLUMNS, C, c, NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(solutionsAreFound), cmocka_unit_test(noneIsShown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
