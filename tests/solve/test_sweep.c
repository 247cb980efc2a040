/* Sweeps in parts: the same bits for any number of threads, one visit of every
 * block, parts coupled to neighbours only. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "problem/residual.h"
#include "solve/solver.h"
#include "solve/sweep/sweep.h"
#include "support/lattice.h"

/* Part of every visit, by its place in the row of parts. */
static void partsAreApart(void **state)
{
    (void)state;
    spragProblemData *data = latticeCreate(9, 5, 0.5, 3);
    const spragProblem *p = &data->problem;
    spragArena arena = {0};
    spragSweeper sweeper;
    assert_int_equal(spragSweeperInit(&sweeper, p, NULL, &arena), 1);
    assert_true(sweeper.part_count >= 4);
    int *part = malloc((size_t)p->contact_count * sizeof *part);
    for (int k = 0; k < p->contact_count; ++k)
        part[k] = -1;
    for (int s = 0; s < sweeper.part_count; ++s)
        for (int visit = sweeper.part_start[s]; visit < sweeper.part_start[s + 1]; ++visit) {
            assert_int_equal(part[sweeper.order[visit]], -1);
            part[sweeper.order[visit]] = s;
        }
    for (int k = 0; k < p->contact_count; ++k)
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
            assert_true(part[k] >= 0);
            assert_true(abs(part[k] - part[p->column[e]]) <= 1);
        }
    free(part);
    spragArenaFree(&arena);
    spragProblemFree(&data->problem);
}

typedef struct Call {
    const spragProblem *problem;
    spragArena arena;
    double *r;
} Call;

/* As a piece of the pool's: what it runs may share out its own. */
static void solvePiece(void *data, int worker, int piece)
{
    (void)worker, (void)piece;
    Call *call = data;
    const spragSolveOptions options = {.tolerance = 0, .iteration_limit = 60};
    spragSolveInfo info = {0};
    spragSolverGaussSeidel.solve(call->problem, &options, &call->arena, call->r, &info);
    assert_int_equal(info.iterations, 60);
}

static void threadsGiveTheSameBits(void **state)
{
    (void)state;
    spragProblemData *data = latticeCreate(9, 6, 0.5, 1);
    const size_t n = 3 * (size_t)data->problem.contact_count;
    assert_true(n > 3000); /* threads pay */
    double *one = calloc(n, sizeof *one), *other = calloc(n, sizeof *other);
    Call call = {.problem = &data->problem, .r = one};
    spragPoolRun(NULL, solvePiece, &call, 1);
    assert_true(spragProblemResidual(&data->problem, one) < 0.1 * spragProblemResidual(&data->problem, other));
    call.r = other;
    for (int threads = 2; threads <= 5; ++threads) {
        spragPool *pool = spragPoolMake(threads);
        memset(other, 0, n * sizeof *other);
        spragPoolRun(pool, solvePiece, &call, 1);
        spragPoolFree(pool);
        assert_memory_equal(one, other, n * sizeof *one);
    }
    free(one), free(other);
    spragArenaFree(&call.arena);
    spragProblemFree(&data->problem);
}

/* A sweep visits in the order it says: one by hand gives the same r. */
static void sweepIsGaussSeidel(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 5, 0.4, 48);
    const spragProblem *p = &random.problem;
    spragArena arena = {0};
    spragSweeper sweeper;
    double r[N] = {0}, s[N] = {0}, largest = 0;
    assert_int_equal(spragSweeperInit(&sweeper, p, NULL, &arena), 1);
    for (int sweep = 0; sweep < 3; ++sweep) {
        const double change = spragSweep(&sweeper, r);
        largest = 0;
        for (int k = 0; k < NC; ++k) {
            const double *W = p->W + 9 * (size_t)spragProblemDiagonal(p, k);
            double q[3] = {p->q[3 * k], p->q[3 * k + 1], p->q[3 * k + 2]}, old[3];
            for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
                for (int i = 0; i < 9 && p->column[e] != k; ++i)
                    q[i / 3] += p->W[9 * (size_t)e + (size_t)i] * s[3 * p->column[e] + i % 3];
            spragConeBlock block;
            memcpy(old, s + 3 * k, sizeof old);
            spragConeBlockInit(&block, W, p->mu[k], p->mu_minus[k]);
            spragConeBlockSolve(&block, q, s + 3 * k);
            for (int i = 0; i < 3; ++i)
                old[i] = s[3 * k + i] - old[i];
            largest =
                fmax(largest, sqrt(old[0] * old[0] + old[1] * old[1] + old[2] * old[2]) * (W[0] + W[4] + W[8]) / 3);
        }
        for (int i = 0; i < N; ++i)
            CHECK_NEAR(r[i], s[i], 1e-12);
        CHECK_NEAR(change, largest, 1e-12);
    }
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partsAreApart),
        cmocka_unit_test(threadsGiveTheSameBits),
        cmocka_unit_test(sweepIsGaussSeidel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
