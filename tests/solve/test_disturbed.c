/* A guess that is wrong in one place is mended there, and no other impulse changes; one that is wrong everywhere is
 * left to other methods. */
#include "support/check.h"
#include "support/uniform.h"

#include <stdlib.h>
#include <string.h>

#include "problem/bodies.h"
#include "solve/chain/chain_links.h"

enum { COUNT = 120, MIDDLE = 60, FAR = 40, ENTRIES = 3 * COUNT - 2 };

/* Contacts in a row, each coupled with the next. */
typedef struct Row {
    spragProblem problem;
    int row_start[COUNT + 1], column[ENTRIES];
    double W[9 * ENTRIES], q[3 * COUNT], mu[COUNT], r[3 * COUNT]; /* r: the solution */
} Row;

static spragSolveOptions optionsOf(double work)
{
    return (spragSolveOptions){.tolerance = 1e-8, .work_limit = work};
}

static void solveChain(const Row *row, double work, double *r)
{
    spragArena arena = {0};
    spragSolveInfo info;
    const spragSolveOptions options = optionsOf(work);
    assert_int_equal(spragChainSolve(&row->problem, &options, &arena, r, NULL, &info), SPRAG_OK);
    spragArenaFree(&arena);
}

static Row *makeRow(void)
{
    Row *row = calloc(1, sizeof *row);
    unsigned long long draw = 7;
    int e = 0;
    assert_non_null(row);
    for (int k = 0; k < COUNT; ++k) {
        row->row_start[k] = e;
        for (int j = k - 1; j <= k + 1; ++j) {
            if (j < 0 || j >= COUNT)
                continue;
            row->column[e] = j;
            for (int i = 0; i < 3; ++i)
                row->W[9 * e + 4 * i] = j == k ? 1 : 0.3;
            ++e;
        }
        row->mu[k] = 0.5;
        row->q[3 * k] = -1 - uniform(&draw);
        row->q[3 * k + 1] = 0.5 * uniform(&draw);
        row->q[3 * k + 2] = 0.5 * uniform(&draw);
    }
    row->row_start[COUNT] = e;
    row->problem = (spragProblem){.contact_count = COUNT,
                                  .block_count = e,
                                  .row_start = row->row_start,
                                  .column = row->column,
                                  .W = row->W,
                                  .q = row->q,
                                  .mu = row->mu};
    solveChain(row, 0, row->r);
    return row;
}

static spragStatus solveSo(const Row *row, double *r, spragSolveInfo *info)
{
    spragArena arena = {0};
    const spragSolveOptions options = optionsOf(3e7);
    const spragStatus status = spragSolverDisturbed.solve(&row->problem, &options, &arena, r, info);
    spragArenaFree(&arena);
    return status;
}

static int isAsItWas(const Row *row, const double *r, int contact)
{
    return memcmp(r + 3 * contact, row->r + 3 * contact, 3 * sizeof *r) == 0;
}

static void aBlowIsAnsweredWhereItFalls(void **state)
{
    (void)state;
    Row *row = makeRow();
    double r[3 * COUNT], swept[3 * COUNT];
    spragSolveInfo info = {0};
    memcpy(r, row->r, sizeof r);
    memcpy(swept, row->r, sizeof swept);
    row->q[3 * MIDDLE] -= 0.5;
    row->q[3 * MIDDLE + 1] += 2;
    assert_int_equal(solveSo(row, r, &info), SPRAG_OK);
    assert_true(spragProblemResidual(&row->problem, r) <= 1e-8);
    assert_in_range(info.iterations, 1, 20); /* in steps of the whole */
    solveChain(row, 3e7, swept);
    for (int k = 0; k < COUNT; ++k)
        if (abs(k - MIDDLE) >= FAR) {
            assert_true(isAsItWas(row, r, k));
            assert_true(isAsItWas(row, swept, k)); /* the chain, in a step */
        }
    free(row);
}

static void whatIsWrongEverywhereIsLeft(void **state)
{
    (void)state;
    Row *row = makeRow();
    double r[3 * COUNT];
    spragSolveInfo info = {0};
    memcpy(r, row->r, sizeof r);
    for (int k = 0; k < COUNT; ++k)
        row->q[3 * k] *= 1.1;
    assert_int_equal(solveSo(row, r, &info), SPRAG_NOT_CONVERGED);
    assert_int_equal(info.iterations, 0);
    for (int k = 0; k < COUNT; ++k)
        assert_true(isAsItWas(row, r, k));
    free(row);
}

static void onlyStepsWithoutATimeLimit(void **state)
{
    (void)state;
    Row *row = makeRow();
    spragSolveOptions options = optionsOf(3e7);
    const spragBodies linked = {.count = 1};
    assert_true(spragDisturbedSuits(&row->problem, &options));
    options.time_limit = 1;
    assert_false(spragDisturbedSuits(&row->problem, &options));
    options = optionsOf(0);
    assert_false(spragDisturbedSuits(&row->problem, &options));
    options = optionsOf(3e7);
    row->problem.linked = &linked;
    assert_false(spragDisturbedSuits(&row->problem, &options));
    free(row);
}

/* After sweeps what the program has said is enough is enough. */
static void enoughIsEnough(void **state)
{
    (void)state;
    Row *row = makeRow();
    spragSolveOptions options = optionsOf(3e7);
    options.enough = 1e-5;
    spragChainLinks chain = {.problem = &row->problem, .options = &options};
    spragChainLinksOf(&chain, SPRAG_CHAIN_WHOLE);
    int asked = 0;
    for (int k = 0; k < chain.count; ++k)
        if (chain.link[k].method == &spragSolverDisturbed) {
            assert_true(k > 0 && chain.link[k].tolerance == options.enough);
            ++asked;
        }
    assert_int_equal(asked, 1);
    free(row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aBlowIsAnsweredWhereItFalls),
        cmocka_unit_test(whatIsWrongEverywhereIsLeft),
        cmocka_unit_test(onlyStepsWithoutATimeLimit),
        cmocka_unit_test(enoughIsEnough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
