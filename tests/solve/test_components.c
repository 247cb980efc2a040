/* A problem that falls apart is solved part by part, and each part as it would be alone. */
#include "support/check.h"
#include "support/random_problem.h"
#include "support/small_problem.h"

#include <stdlib.h>

#include "solve/chain/components.h"

enum { PARTS = 3, ALL = PARTS * NC };

/* Blocks of several problems in one, in turn: block PARTS i + c is block i of part c. */
typedef struct Mixed {
    Random part[PARTS];
    spragProblem problem;
    int row_start[ALL + 1], column[ALL * NC], parent[ALL];
    double W[9 * ALL * NC], q[3 * ALL], mu[ALL], mu_minus[ALL], bound[6 * ALL];
    unsigned char kind[ALL];
} Mixed;

static Mixed mixed;

static void mix(void)
{
    for (int k = 0; k < ALL; ++k) {
        const Random *from = &mixed.part[k % PARTS];
        const int i = k / PARTS;
        mixed.row_start[k + 1] = NC * (k + 1);
        mixed.mu[k] = from->mu[i], mixed.mu_minus[k] = from->mu_minus[i], mixed.kind[k] = from->kind[i];
        mixed.parent[k] = from->parent[i] < 0 ? -1 : PARTS * from->parent[i] + k % PARTS;
        memcpy(mixed.q + 3 * k, from->q + 3 * i, 3 * sizeof *mixed.q);
        memcpy(mixed.bound + 6 * k, from->bound + 6 * i, 6 * sizeof *mixed.bound);
        memcpy(mixed.W + 9 * NC * k, from->W + 9 * NC * i, 9 * NC * sizeof *mixed.W);
        for (int j = 0; j < NC; ++j)
            mixed.column[NC * k + j] = PARTS * j + k % PARTS;
    }
    mixed.problem = (spragProblem){.contact_count = ALL,
                                   .block_count = ALL * NC,
                                   .row_start = mixed.row_start,
                                   .column = mixed.column,
                                   .W = mixed.W,
                                   .q = mixed.q,
                                   .mu = mixed.mu,
                                   .mu_minus = mixed.mu_minus,
                                   .kind = mixed.kind,
                                   .bound = mixed.bound,
                                   .parent = mixed.parent};
}

static void eachPartIsAsAlone(void **state)
{
    (void)state;
    spragArena arena = {0};
    const spragSolveOptions options = spragSolveOptionsDefault();
    for (unsigned long long seed = 1; seed <= 5; ++seed) {
        double r[3 * ALL] = {0}, u[3 * ALL];
        spragSolveInfo info;
        for (int c = 0; c < PARTS; ++c) {
            randomProblem(&mixed.part[c], PARTS * seed + (unsigned)c, 0.4, 30);
            if (c == 1) /* with blocks that load others */
                mixKinds(&mixed.part[c]);
        }
        mix();
        const spragStatus status = spragComponentsSolve(&mixed.problem, &options, &arena, r, u, &info);
        CHECK_NEAR(info.residual, spragProblemResidual(&mixed.problem, r), 0);
        int iterations = 0, solved = 1;
        for (int c = 0; c < PARTS; ++c) {
            double alone[N] = {0}, its_u[N];
            spragSolveInfo own;
            solved &= spragChainSolve(&mixed.part[c].problem, &options, &arena, alone, its_u, &own) == SPRAG_OK;
            iterations += own.iterations;
            for (int i = 0; i < N; ++i) {
                CHECK_NEAR(r[3 * (PARTS * (i / 3) + c) + i % 3], alone[i], 0);
                CHECK_NEAR(u[3 * (PARTS * (i / 3) + c) + i % 3], its_u[i], 1e-14);
            }
        }
        assert_int_equal(info.iterations, iterations);
        assert_int_equal(status == SPRAG_OK, solved);
    }
    spragArenaFree(&arena);
}

/* Two opposed contacts ask to be parted both at once, by 1 m/s: no impulses do that.  The rest is solved. */
static void whatHasNoSolutionStopsNothingElse(void **state)
{
    (void)state;
    spragArena arena = {0};
    spragSolveOptions options = spragSolveOptionsDefault();
    options.time_limit = 5;
    double r[3 * ALL] = {0};
    spragSolveInfo info;
    for (int c = 0; c < PARTS; ++c)
        randomProblem(&mixed.part[c], 7 + (unsigned)c, 0.4, 30);
    Random *jam = &mixed.part[0];
    memset(jam->W, 0, sizeof jam->W);
    for (int k = 0; k < NC; ++k) {
        const double sign[2] = {1, -1};
        for (int i = 0; i < 3; ++i) {
            jam->q[3 * k + i] = i == 0 ? -1 : 0;
            for (int j = 0; j < NC; ++j)
                jam->W[9 * (NC * k + j) + 4 * i] = i == 0 ? sign[k % 2] * sign[j % 2] : k == j;
        }
    }
    mix();
    assert_int_equal(spragComponentsSolve(&mixed.problem, &options, &arena, r, NULL, &info), SPRAG_NOT_CONVERGED);
    assert_true(info.residual > 0.5);
    for (int c = 1; c < PARTS; ++c) {
        double own[N];
        for (int i = 0; i < N; ++i)
            own[i] = r[3 * (PARTS * (i / 3) + c) + i % 3];
        assert_true(spragProblemResidual(&mixed.part[c].problem, own) <= options.tolerance);
    }
    spragArenaFree(&arena);
}

/* A part whose loading block W does not couple is no part of its own: the problem is solved whole. */
static void whatLoadsGoesAlong(void **state)
{
    (void)state;
    spragArena arena = {0};
    Small s;
    double r[6] = {0};
    spragSolveInfo info;
    const spragSolveOptions options = spragSolveOptionsDefault();
    setSmall(&s, 2);
    s.q[0] = -2, s.mu[0] = 0.5;
    s.q[3] = 1, s.mu[1] = 0.1, s.kind[1] = SPRAG_BLOCK_ROLLING, s.parent[1] = 0;
    assert_int_equal(spragComponentsSolve(&s.problem, &options, &arena, r, NULL, &info), SPRAG_OK);
    CHECK_NEAR(r[0], 2, 1e-9);
    CHECK_NEAR(r[3], -0.2, 1e-9); /* mu times the load of the first */
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eachPartIsAsAlone),
                                       cmocka_unit_test(whatHasNoSolutionStopsNothingElse),
                                       cmocka_unit_test(whatLoadsGoesAlong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
