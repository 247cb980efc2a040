/* Scalar entries of W into blocks: any order, the same place twice, what is not there. */
#include "support/check.h"

#include "base/alloc.h"
#include "problem/problem_entries.h"
#include "problem/residual.h"

typedef struct Entry {
    int row, column;
    double value;
} Entry;

/* Blocks (0, 0), (0, 2) and (1, 1) have entries; (2, 0) is the mirror image of a block, (2, 2) a diagonal. */
static const Entry some[] = {{0, 0, 2}, {1, 1, 3}, {2, 0, 0.5}, {0, 8, -1},
                             {2, 7, 4}, {4, 5, 8}, {3, 3, 16},  {2, 7, 32}};
static const double zero[90]; /* q, mu */
enum { COUNT = sizeof some / sizeof *some };

static void fill(spragEntries *entries, const int *order)
{
    for (int e = 0; e < COUNT; ++e)
        assert_true(spragEntriesAdd(entries, some[order[e]].row, some[order[e]].column, some[order[e]].value));
}

static double entryOf(const spragProblemData *data, int row, int column)
{
    const int e = spragProblemBlock(&data->problem, row / 3, column / 3);
    return e < 0 ? 0 : data->W[9 * e + 3 * (row % 3) + column % 3];
}

static void blocksAreThoseOfTheEntries(void **state)
{
    (void)state;
    static const int order[3][COUNT] = {{0, 1, 2, 3, 4, 5, 6, 7}, {7, 6, 5, 4, 3, 2, 1, 0}, {3, 7, 1, 5, 0, 6, 2, 4}};
    static const int row_start[] = {0, 2, 3, 5}, column[] = {0, 2, 1, 0, 2};
    for (int turn = 0; turn < 3; ++turn) {
        spragEntries entries = {0};
        fill(&entries, order[turn]);
        spragProblemData *data = spragEntriesProblem(&entries, 3, 3, zero, zero);
        assert_non_null(data);
        assert_int_equal(data->problem.contact_count, 3);
        assert_int_equal(data->problem.block_count, 5);
        assert_memory_equal(data->row_start, row_start, sizeof row_start);
        assert_memory_equal(data->column, column, sizeof column);
        for (int i = 0; i < 9; ++i)
            for (int j = 0; j < 9; ++j) {
                double sum = 0;
                for (int e = 0; e < COUNT; ++e)
                    sum += some[e].row == i && some[e].column == j ? some[e].value : 0;
                CHECK_NEAR(entryOf(data, i, j), sum, 0);
            }
        for (int k = 0; k < 3; ++k)
            assert_int_equal(spragKindOf(&data->problem, k), SPRAG_BLOCK_CONTACT);
        spragProblemFree(&data->problem);
        spragEntriesFree(&entries);
    }
}

/* Two contacts of two rows each: n and t are where they were, and t2 is coupled with itself alone. */
static void thePlaneIsPartOfSpace(void **state)
{
    (void)state;
    static const double W[16] = {2, 0.5, 1, 0.25, 0.5, 3, -1, 0.125, 1, -1, 4, 0, 0.25, 0.125, 0, 0},
                        q[4] = {1, 2, 3, 4}, mu[2] = {0.5, 0.7}, q_space[6] = {1, 2, 0, 3, 4, 0};
    spragEntries entries = {0};
    for (int e = 0; e < 16; ++e)
        assert_true(W[e] == 0 || spragEntriesAdd(&entries, e / 4, e % 4, W[e]));
    spragProblemData *data = spragEntriesProblem(&entries, 2, 2, q, mu);
    assert_non_null(data);
    assert_int_equal(data->problem.contact_count, 2);
    assert_int_equal(data->problem.block_count, 4);
    assert_memory_equal(data->q, q_space, sizeof q_space);
    assert_memory_equal(data->mu, mu, sizeof mu);
    assert_memory_equal(data->mu_minus, mu, sizeof mu);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            const double along = i != j ? 0 : i == 2 ? 3 : 1; /* W_tt, where there is any */
            const double expected =
                i % 3 == 2 || j % 3 == 2 ? along : W[4 * (2 * (i / 3) + i % 3) + 2 * (j / 3) + j % 3];
            CHECK_NEAR(entryOf(data, i, j), expected, 0);
        }
    spragProblemFree(&data->problem);
    spragEntriesFree(&entries);
}

static void withoutEntriesTheDiagonalStays(void **state)
{
    (void)state;
    const spragEntries none = {0};
    spragProblemData *data = spragEntriesProblem(&none, 2, 3, zero, zero);
    assert_non_null(data);
    assert_int_equal(data->problem.block_count, 2);
    for (int k = 0; k < 2; ++k)
        assert_int_equal(spragProblemDiagonal(&data->problem, k), k);
    spragProblemFree(&data->problem);
}

/* More entries than the first array holds, and every allocation that can fail. */
static void manyEntriesAndNoMemory(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    int failures = 0;
    for (unsigned long n = 1, done = 0; !done; ++n) {
        spragEntries entries = {0};
        spragProblemData *data = NULL;
        int added = 0;
        spragAllocFailAt(n);
        while (added < MANY && spragEntriesAdd(&entries, added % 90, added * 7 % 90, 1))
            ++added;
        assert_int_equal(entries.count, added); /* a failed one is not half there */
        if (added == MANY)
            data = spragEntriesProblem(&entries, 30, 3, zero, zero);
        spragAllocFailAt(0);
        done = data != NULL;
        failures += !done;
        for (int i = 0; done && i < 90; ++i) {
            double sum = 0;
            for (int j = 0; j < 90; ++j)
                sum += entryOf(data, i, j);
            CHECK_NEAR(sum, MANY / 90 + (i < MANY % 90), 0);
        }
        if (done)
            spragProblemFree(&data->problem);
        spragEntriesFree(&entries);
    }
    assert_true(failures > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocksAreThoseOfTheEntries), cmocka_unit_test(thePlaneIsPartOfSpace),
        cmocka_unit_test(withoutEntriesTheDiagonalStays), cmocka_unit_test(manyEntriesAndNoMemory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
