/* One block, exactly: every answer is asked of the judge, on random blocks of every kind. */
#include "support/check.h"
#include "support/random_problem.h"
#include "support/small_problem.h"

#include "solve/contact/cone_block.h"

enum { ROUNDS = 3000 };

/* The normal and the tangential rows are coupled, p > 0 is not asked for. */
static void randomOne(One *one, spragBlockKind kind, double mu, unsigned long long *seed)
{
    randomBlock(seed, 0.1, one->W);
    for (int i = 0; i < 3; ++i) {
        one->q[i] = uniform(seed);
        one->bound[i] = -0.3 * fabs(uniform(seed)), one->bound[3 + i] = 0.3 * fabs(uniform(seed));
    }
    one->mu = mu * fabs(uniform(seed)), one->mu_minus = mu * fabs(uniform(seed));
    oneInit(one, kind);
}

/* Is p > 0 in every direction?  Beyond it a cone has several solutions or none, which are not this file's. */
static int isRegular(const One *one)
{
    return one->W[0] > fmax(one->mu, one->mu_minus) * hypot(one->W[1], one->W[2]);
}

static void conesAreExact(void **state)
{
    (void)state;
    unsigned long long seed = 3;
    int stick = 0, slip = 0, open = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        One one;
        spragConeBlock block;
        double r[3];
        randomOne(&one, SPRAG_BLOCK_CONTACT, 1.5, &seed);
        if (!isRegular(&one))
            continue;
        spragConeBlockInit(&block, one.W, one.mu, one.mu);
        for (int again = 0; again < 2; ++again) { /* the second time from the nu of the first */
            spragConeBlockSolve(&block, one.q, r);
            CHECK_NEAR(spragProblemResidual(&one.problem, r), 0, 1e-13);
        }
        const double limit = one.mu * r[0], friction = hypot(r[1], r[2]);
        ++*(r[0] == 0 ? &open : friction < limit * (1 - 1e-9) ? &stick : &slip);
    }
    assert_true(open > 300 && stick > 100 && slip > 300);
}

/* With slack the root is near, and the answer on the cone all the same. */
static void slackIsKept(void **state)
{
    (void)state;
    const double slack = 1e-4;
    unsigned long long seed = 3;
    int rough = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        One one;
        spragConeBlock block;
        double r[3];
        randomOne(&one, SPRAG_BLOCK_CONTACT, 1.5, &seed);
        if (!isRegular(&one) || one.mu < 0.1)
            continue;
        spragConeBlockInit(&block, one.W, one.mu, one.mu);
        block.slack = slack;
        spragConeBlockSolve(&block, one.q, r);
        const double residual = spragProblemResidual(&one.problem, r), w = (one.W[0] + one.W[4] + one.W[8]) / 3;
        assert_true(residual <= 100 * slack * w);
        assert_true(hypot(r[1], r[2]) <= one.mu * r[0] * (1 + 1e-12));
        rough += residual > 1e-9;
    }
    assert_true(rough > 30);
}

static void twoSidedConesAreExact(void **state)
{
    (void)state;
    unsigned long long seed = 5;
    int below = 0, tested = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        One one;
        spragConeBlock block;
        double r[3];
        randomOne(&one, SPRAG_BLOCK_TWO_SIDED, 1.5, &seed);
        if (!isRegular(&one))
            continue;
        spragConeBlockInit(&block, one.W, one.mu, one.mu_minus);
        spragConeBlockSolveTwoSided(&block, one.q, r);
        CHECK_NEAR(spragProblemResidual(&one.problem, r), 0, 1e-13);
        below += r[0] < 0;
        ++tested;
    }
    assert_true(below > tested / 3 && below < 2 * tested / 3);
}

static void frictionlessAndUnloaded(void **state)
{
    (void)state;
    unsigned long long seed = 7;
    One one;
    spragConeBlock block;
    double r[3] = {1, 2, 3};
    randomOne(&one, SPRAG_BLOCK_CONTACT, 0, &seed);
    one.q[0] = -0.4;
    spragConeBlockInit(&block, one.W, 0, 0);
    spragConeBlockSolve(&block, one.q, r);
    CHECK_NEAR(r[0], 0.4 / one.W[0], 1e-15);
    CHECK_NEAR(hypot(r[1], r[2]), 0, 0);
    one.q[0] = 0;
    spragConeBlockSolve(&block, one.q, r);
    CHECK_NEAR(r[0], 0, 0);
}

/* A force limit and a bounded interval beside a disc: convex, so any W will do. */
static void discsAreExact(void **state)
{
    (void)state;
    unsigned long long seed = 9;
    for (int round = 0; round < ROUNDS; ++round) {
        One one;
        double r[3];
        randomOne(&one, SPRAG_BLOCK_FORCE_LIMIT, 0.5, &seed);
        spragDiscBlockSolve(one.W, one.q, 0, 0, INFINITY, one.mu, r);
        CHECK_NEAR(spragProblemResidual(&one.problem, r), 0, 1e-13);
    }
}

/* A contact that bears 1 N s as parent of the rolling block: the disc and the spin are bounded by it. */
static void rollingIsExact(void **state)
{
    (void)state;
    unsigned long long seed = 13;
    for (int round = 0; round < ROUNDS; ++round) {
        One one;
        randomOne(&one, SPRAG_BLOCK_ROLLING, 0.5, &seed);
        Small s;
        setSmall(&s, 2);
        s.q[0] = -1, s.mu[0] = 1;
        s.kind[1] = SPRAG_BLOCK_ROLLING, s.parent[1] = 0;
        s.mu[1] = one.mu, s.mu_minus[1] = one.mu_minus;
        memcpy(smallW(&s, 1, 1), one.W, sizeof one.W);
        memcpy(s.q + 3, one.q, sizeof one.q);
        double r[6] = {1, 0, 0};
        spragDiscBlockSolve(one.W, one.q, 2, -one.mu_minus, one.mu_minus, one.mu, r + 3);
        CHECK_NEAR(spragProblemResidual(&s.problem, r), 0, 1e-13);
    }
}

static void boxesAreExact(void **state)
{
    (void)state;
    unsigned long long seed = 17;
    for (int round = 0; round < ROUNDS; ++round) {
        One one;
        double r[3];
        randomOne(&one, SPRAG_BLOCK_BOX, 0, &seed);
        if (round % 3 == 0)
            one.bound[3 + round % 2] = INFINITY, one.bound[2] = -INFINITY;
        if (round % 7 == 0)
            one.bound[1] = one.bound[4] = 0.1;
        spragBoxBlockSolve(one.W, one.q, one.bound, one.bound + 3, r);
        CHECK_NEAR(spragProblemResidual(&one.problem, r), 0, 1e-13);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conesAreExact),         cmocka_unit_test(slackIsKept),
        cmocka_unit_test(twoSidedConesAreExact), cmocka_unit_test(frictionlessAndUnloaded),
        cmocka_unit_test(discsAreExact),         cmocka_unit_test(rollingIsExact),
        cmocka_unit_test(boxesAreExact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
