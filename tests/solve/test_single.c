/* One block alone, by the judge: every kind; the mirror image of a two-sided contact; the rod that has no motion. */
#include "support/check.h"
#include "support/random_problem.h"

#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/contact/single.h"

enum { ROUNDS = 4000 };

static const spragSolveOptions options = {.tolerance = 1e-8};

static void oneOf(One *one, unsigned long long *seed, spragBlockKind kind)
{
    randomBlock(seed, 0.2, one->W);
    for (int i = 0; i < 3; ++i)
        one->q[i] = uniform(seed), one->bound[i] = -0.2, one->bound[3 + i] = i == 0 ? INFINITY : 0.1;
    one->mu = 0.1 + fabs(uniform(seed)), one->mu_minus = 0.5 * one->mu;
    oneInit(one, kind);
}

static void everyKind(void **state)
{
    (void)state;
    unsigned long long seed = 9;
    for (int round = 0; round < ROUNDS; ++round) {
        One one;
        oneOf(&one, &seed, (spragBlockKind)(round % SPRAG_BLOCK_ROLLING));
        double r[3] = {0};
        spragSolveInfo info = {0};
        assert_true(spragSingleIs(&one.problem));
        spragSingleSolve(&one.problem, &options, r, &info);
        CHECK_NEAR(spragProblemResidual(&one.problem, r), 0, 1e-12);
    }
}

/* The normal turned round, and with it q_n, the coupling of the normal row and the sides. */
static void theOtherSideIsTheMirrorImage(void **state)
{
    (void)state;
    unsigned long long seed = 4;
    int below = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        One one, mirror;
        double r[3] = {0}, s[3] = {0};
        spragSolveInfo info = {0};
        oneOf(&one, &seed, SPRAG_BLOCK_TWO_SIDED);
        mirror = one;
        mirror.q[0] = -one.q[0];
        mirror.mu = one.mu_minus, mirror.mu_minus = one.mu;
        for (int i = 1; i < 3; ++i)
            mirror.W[i] = -one.W[i], mirror.W[3 * i] = -one.W[3 * i];
        oneInit(&mirror, SPRAG_BLOCK_TWO_SIDED);
        spragSingleSolve(&one.problem, &options, r, &info);
        spragSingleSolve(&mirror.problem, &options, s, &info);
        CHECK_NEAR(s[0], -r[0], 1e-12);
        CHECK_NEAR(s[1], r[1], 1e-12);
        CHECK_NEAR(s[2], r[2], 1e-12);
        below += r[0] < 0;
    }
    assert_true(below > ROUNDS / 4 && below < 3 * ROUNDS / 4);
}

/* Without history q tells of the motion: the rod of policy.md that slides where no sliding motion exists jams. */
static void theInconsistentRodIsReported(void **state)
{
    (void)state;
    static const double W[9] = {1.6, 0, -1.2, 0, 4, 0, -1.2, 0, 3.4};
    One one = {.q = {-0.00981, 0, -5}, .mu = 2};
    memcpy(one.W, W, sizeof W);
    oneInit(&one, SPRAG_BLOCK_CONTACT);
    spragSolveInfo info = {0};
    double r[3] = {0}, u[3];
    spragSingleSolve(&one.problem, &options, r, &info);
    spragProblemVelocity(&one.problem, r, u);
    assert_int_equal(info.none, 1);
    CHECK_NEAR(spragNorm3(u), 0, 1e-14);
    one.q[2] = 5; /* the other way: p > 0, it slides on */
    info.none = 0;
    spragSingleSolve(&one.problem, &options, r, &info);
    spragProblemVelocity(&one.problem, r, u);
    assert_int_equal(info.none, 0);
    assert_true(u[2] > 4.9);
}

/* The rod of policy.md that may jam or leave (p < 0 < b): every method by name takes what history says. */
static void methodsByNameObeyHistory(void **state)
{
    (void)state;
    static const double W[9] = {1.6, 0, -1.2, 0, 4, 0, -1.2, 0, 3.4};
    static const spragSolverKind kind[] = {SPRAG_SOLVER_AUTO, SPRAG_SOLVER_LEMKE, SPRAG_SOLVER_GAUSS_SEIDEL,
                                           SPRAG_SOLVER_NEWTON};
    const double h = 1e-3, b = 5, p = 1.6 - 2 * 1.2;
    One one = {.q = {h * b, 0, -0.05}, .mu = 2};
    memcpy(one.W, W, sizeof W);
    oneInit(&one, SPRAG_BLOCK_CONTACT);
    one.problem.step = h;
    int left = 0, jammed = 0, methods = (int)(sizeof kind / sizeof *kind);
    for (int before = 0; before < 2; ++before)
        for (int m = 0; m < methods; ++m)
            for (int start = 0; start < 3; ++start) {
                const double separatrix = -b / p, force = (before ? 2 : 0.5) * separatrix;
                const spragContactHistory history = {.slip = {0, -0.05},
                                                     .free_acceleration = b,
                                                     .previous_normal = force,
                                                     .previous_slip = {0, -0.05},
                                                     .mode = SPRAG_MODE_SLIP};
                one.problem.history = &history;
                const spragSolveOptions by_name = {.solver = kind[m], .tolerance = 1e-8};
                double r[3] = {h * separatrix * start / 2, 0, h * separatrix * start}, u[3];
                spragSolveInfo info;
                const spragStatus status = spragProblemSolve(&one.problem, &by_name, r, u, &info);
                if (status != SPRAG_OK) /* a method may fail, but not answer otherwise */
                    continue;
                assert_int_equal(info.several, 1);
                CHECK_NEAR(spragProblemResidual(&one.problem, r), info.residual, 1e-15);
                if (before == 0)
                    CHECK_NEAR(spragNorm3(r), 0, 1e-9);
                else
                    assert_true(r[0] > 1e-5);
                left += before == 0, jammed += before == 1;
            }
    assert_true(left >= 3 * (methods - 1) && jammed >= 3 * (methods - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyKind), cmocka_unit_test(theOtherSideIsTheMirrorImage),
                                       cmocka_unit_test(theInconsistentRodIsReported),
                                       cmocka_unit_test(methodsByNameObeyHistory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
