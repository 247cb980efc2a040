/* A part of a problem of all kinds is that problem with the impulses of the rest 0. */
#include "support/check.h"
#include "support/random_problem.h"

#include "problem/part.h"
#include "problem/residual.h"

static const int block[] = {0, 1, 4, 5, 7, 11};

enum { COUNT = sizeof block / sizeof *block };

static void motionsAndResidualsAreTheSame(void **state)
{
    (void)state;
    spragArena arena = {0};
    unsigned long long seed = 3;
    Random random;
    spragProblem part;
    double r[N] = {0}, s[3 * COUNT], u[3 * COUNT], all[N];
    randomProblem(&random, 5, 0.6, N);
    mixKinds(&random);
    assert_int_equal(random.parent[4], 0); /* block 4 rolls, loaded by block 0 */
    assert_int_equal(spragPartTake(&random.problem, block, COUNT, &arena, &part), 1);
    assert_int_equal(part.contact_count, COUNT);
    assert_int_equal(part.block_count, COUNT * COUNT);
    assert_int_equal(part.parent[2], 0);
    assert_null(part.history);
    assert_null(part.body);
    for (int i = 0; i < COUNT; ++i)
        for (int j = 0; j < 3; ++j)
            r[3 * block[i] + j] = s[3 * i + j] = uniform(&seed);
    spragProblemVelocity(&part, s, u);
    spragProblemVelocity(&random.problem, r, all);
    for (int i = 0; i < COUNT; ++i) {
        const double *whole = all + 3 * block[i];
        for (int j = 0; j < 3; ++j)
            CHECK_NEAR(u[3 * i + j], whole[j], 1e-14);
        CHECK_NEAR(spragBlockResidual(&part, i, s, u + 3 * i), spragBlockResidual(&random.problem, block[i], r, whole),
                   1e-14);
    }
    spragArenaFree(&arena);
}

/* Blocks that no entry of W couples stay so, and the diagonal is found. */
static void whatIsNotCoupledIsNotStored(void **state)
{
    (void)state;
    spragArena arena = {0};
    spragProblem part;
    const int row_start[] = {0, 2, 3, 5}, column[] = {0, 2, 1, 0, 2}, chosen[] = {1, 2};
    double W[45] = {0};
    const double q[9] = {0}, mu[3] = {0.1, 0.2, 0.3};
    for (int e = 0; e < 5; ++e)
        W[9 * e] = W[9 * e + 4] = W[9 * e + 8] = 1 + e;
    const spragProblem whole = {
        .contact_count = 3, .block_count = 5, .row_start = row_start, .column = column, .W = W, .q = q, .mu = mu};
    assert_int_equal(spragPartTake(&whole, chosen, 2, &arena, &part), 1);
    assert_int_equal(part.block_count, 2);
    CHECK_NEAR(part.W[9 * spragProblemDiagonal(&part, 0)], 3, 0);
    CHECK_NEAR(part.W[9 * spragProblemDiagonal(&part, 1)], 5, 0);
    CHECK_NEAR(part.mu[1], 0.3, 0);
    assert_null(part.kind);
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(motionsAndResidualsAreTheSame),
                                       cmocka_unit_test(whatIsNotCoupledIsNotStored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
