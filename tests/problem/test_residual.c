/* The judge, by hand-computed values of every kind of block, and by what must not change it. */
#include "support/check.h"
#include "support/random_problem.h"
#include "support/small_problem.h"

#include <stdlib.h>
#include <string.h>

#include "problem/problem.h"
#include "problem/residual.h"

/* One block, W = diag(2, 2, 2): w_k = 2.  u is given, q follows from it. */
typedef struct Case {
    spragBlockKind kind;
    double mu, mu_minus;
    double r[3], u[3], residual;
} Case;

static double judge(const Case *c, const double bound[6])
{
    const int row_start[] = {0, 1}, column[] = {0};
    const double W[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
    const double q[3] = {c->u[0] - 2 * c->r[0], c->u[1] - 2 * c->r[1], c->u[2] - 2 * c->r[2]};
    const unsigned char kind = (unsigned char)c->kind;
    const spragProblem problem = {.contact_count = 1,
                                  .block_count = 1,
                                  .row_start = row_start,
                                  .column = column,
                                  .W = W,
                                  .q = q,
                                  .mu = &c->mu,
                                  .mu_minus = &c->mu_minus,
                                  .kind = &kind,
                                  .bound = bound};
    assert_int_equal(spragProblemCheck(&problem), SPRAG_OK);
    return spragProblemResidual(&problem, c->r);
}

static void knownValues(void **state)
{
    (void)state;
    static const double bound[6] = {-1, 0, -INFINITY, 1, 0.5, INFINITY};
    static const Case cases[] = {
        /* solved: open, stick, slip, grazing */
        {SPRAG_BLOCK_CONTACT, 0.5, 0.5, {0, 0, 0}, {3, 1, 2}, 0},
        {SPRAG_BLOCK_CONTACT, 0.5, 0.5, {2, 0.6, -0.8}, {0, 0, 0}, 0},
        {SPRAG_BLOCK_CONTACT, 0.5, 0.5, {2, -0.6, -0.8}, {0, 3, 4}, 0},
        {SPRAG_BLOCK_CONTACT, 0.5, 0.5, {0, 0, 0}, {0, 0, 0}, 0},
        /* no impulse, approaching at 1: x = (1/2, 0, 0) is its own projection, |r - x| w = 1 */
        {SPRAG_BLOCK_CONTACT, 0.5, 0.5, {0, 0, 0}, {-1, 0, 0}, 1},
        /* held, though it slides off at 1 with r_t = 0: v = (0.5, 1, 0), x = (2 - 0.25, -0.5, 0) is inside */
        {SPRAG_BLOCK_CONTACT, 0.5, 0.5, {2, 0, 0}, {0, 1, 0}, 1.1180339887498949},
        /* friction along the slip: x = (2 - 0.5 * 5 / 2, 0.6 - 1.5, 0.8 - 2) = (0.75, -0.9, -1.2), |x_t| = 1.5;
         * P: n = (0.75 + 0.75) / 1.25 = 1.2, t = -0.6 (0.6, 0.8); r - P = (0.8, 0.96, 1.28) */
        {SPRAG_BLOCK_CONTACT, 0.5, 0.5, {2, 0.6, 0.8}, {0, 3, 4}, 3.5777087639996634},
        /* pulling: r = (-1, 0, 0), u = 0: P = 0 */
        {SPRAG_BLOCK_CONTACT, 0.5, 0.5, {-1, 0, 0}, {0, 0, 0}, 2},
        /* outside the cone at rest: (1, 1, 0), mu = 0.5: P = (1.2, 0.6, 0), |(0.2, 0.4)| w */
        {SPRAG_BLOCK_CONTACT, 0.5, 0.5, {1, 1, 0}, {0, 0, 0}, 0.89442719099991586},
        /* mu = 0: only the normal counts, and tangential impulse is an error */
        {SPRAG_BLOCK_CONTACT, 0, 0, {2, 0, 0}, {0, 5, 5}, 0},
        {SPRAG_BLOCK_CONTACT, 0, 0, {2, 0, 0.25}, {0, 0, 0}, 0.5},

        /* two-sided: pulls as well as it pushes, each side with its own friction */
        {SPRAG_BLOCK_TWO_SIDED, 0.5, 0.25, {2, -1, 0}, {0, 7, 0}, 0},
        {SPRAG_BLOCK_TWO_SIDED, 0.5, 0.25, {-2, -0.5, 0}, {0, 7, 0}, 0},
        {SPRAG_BLOCK_TWO_SIDED, 0.5, 0.25, {-2, 0.3, 0.4}, {0, 0, 0}, 0},
        {SPRAG_BLOCK_TWO_SIDED, 0.5, 0.25, {-2, 1, 0}, {0, 0, 0}, 1}, /* 1 beyond 0.25 * 2 */
        {SPRAG_BLOCK_TWO_SIDED, 0.5, 0.25, {2, 0, 0}, {3, 0, 0}, 3},  /* u_n must be 0 */
        {SPRAG_BLOCK_TWO_SIDED, 0.5, 0.25, {0, 0, 0}, {-4, 3, 0}, 4}, /* no load: no friction wanted */
        {SPRAG_BLOCK_TWO_SIDED, 0.5, 0.25, {2, 1, 0}, {4, 1.5, 0}, 4.2720018726587652}, /* |(4, 0.75 * 2)| */

        /* force limit: mu is an impulse, whatever the normal one is */
        {SPRAG_BLOCK_FORCE_LIMIT, 0.5, 0.5, {0, 0, -0.5}, {1, 0, 3}, 0},
        {SPRAG_BLOCK_FORCE_LIMIT, 0.5, 0.5, {9, 0.3, 0.4}, {0, 0, 0}, 0},
        {SPRAG_BLOCK_FORCE_LIMIT, 0.5, 0.5, {9, 1, 0}, {0, 0, 0}, 1},
        {SPRAG_BLOCK_FORCE_LIMIT, 0.5, 0.5, {-3, 0, 0}, {0, 0, 0}, 6},
        {SPRAG_BLOCK_FORCE_LIMIT, 0.5, 0.5, {0, 0, 0}, {-3, 0, 8}, 3.1622776601683795}, /* |(3, 0.5 * 2)| */

        /* box: row 0 in [-1, 1], row 1 in [0, 0.5], row 2 free */
        {SPRAG_BLOCK_BOX, 0, 0, {1, 0, 4}, {-2, 5, 0}, 0},
        {SPRAG_BLOCK_BOX, 0, 0, {-1, 0.5, -4}, {2, -5, 0}, 0},
        {SPRAG_BLOCK_BOX, 0, 0, {0, 0, 0}, {1, 0, 0}, 1},
        {SPRAG_BLOCK_BOX, 0, 0, {2, 0, 0}, {0, 0, 0}, 2},
        {SPRAG_BLOCK_BOX, 0, 0, {0, 0, 0}, {0, -9, 0}, 1},
        {SPRAG_BLOCK_BOX, 0, 0, {2, -1, 7}, {0, 0, 1}, 3}, /* |(2, 2, 1)| */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const double residual = judge(&cases[k], bound);
        if (!(fabs(residual - cases[k].residual) <= 1e-14 * (1 + cases[k].residual)))
            fail_msg("case %zu: %.17g, expected %.17g", k, residual, cases[k].residual);
    }
}

/* A contact with load 2 N s and its rolling block: disc of radius mu * 2 in (0, 1), interval mu_minus * 2 in row 2. */
static void rollingIsBoundedByItsParent(void **state)
{
    (void)state;
    spragProblemData *d = spragProblemCreate(2, 2);
    assert_non_null(d);
    d->row_start[1] = 1, d->row_start[2] = 2;
    d->column[1] = 1;
    for (int e = 0; e < 2; ++e)
        for (int a = 0; a < 3; ++a)
            d->W[9 * e + 4 * a] = 2;
    d->kind[1] = SPRAG_BLOCK_ROLLING, d->parent[1] = 0;
    d->mu[0] = d->mu_minus[0] = 0.5, d->mu[1] = 0.1, d->mu_minus[1] = 0.05;
    const struct {
        double r[6], roll[3], residual; /* roll: angular velocity u of the rolling block */
    } cases[] = {
        {{2, 0, 0, -0.12, -0.16, -0.1}, {3, 4, 1}, 0},
        {{2, 0, 0, 0.1, 0, 0.05}, {0, 0, 0}, 0},
        {{2, 0, 0, 0, 0, 0.6}, {0, 0, 0}, 1},
        {{2, 0, 0, 0, 1.2, 0}, {0, 0, 0}, 2},
        {{0, 0, 0, 0, 0, 0}, {3, 4, 5}, 0},
        {{2, 0, 0, 0, 0, 0}, {0, 9, -9}, 0.44721359549995793}, /* |(0.2, 0.1)| 2 */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const double *r = cases[k].r;
        for (int a = 0; a < 3; ++a) {
            d->q[a] = -2 * r[a];
            d->q[3 + a] = cases[k].roll[a] - 2 * r[3 + a];
        }
        assert_int_equal(spragProblemCheck(&d->problem), SPRAG_OK);
        CHECK_NEAR(spragProblemResidual(&d->problem, r), cases[k].residual, 1e-14);
    }
    spragProblemFree(&d->problem);
}

static void velocityIsTheDenseProduct(void **state)
{
    (void)state;
    spragProblemData *d = spragProblemCreate(3, 7);
    static const int start[] = {0, 2, 5, 7}, column[] = {0, 1, 0, 1, 2, 1, 2};
    assert_non_null(d);
    memcpy(d->row_start, start, sizeof start);
    memcpy(d->column, column, sizeof column);
    double dense[9][9] = {{0}}, r[9], u[9];
    for (int i = 0; i < 9; ++i) {
        d->q[i] = i - 4;
        r[i] = 1 + 0.5 * i;
    }
    for (int k = 0; k < 3; ++k)
        for (int e = start[k]; e < start[k + 1]; ++e)
            for (int a = 0; a < 9; ++a)
                dense[3 * k + a / 3][3 * column[e] + a % 3] = d->W[9 * e + a] = (7 * e + 3 * a) % 11 - 5;
    spragProblemVelocity(&d->problem, r, u);
    for (int i = 0; i < 9; ++i) {
        double sum = d->q[i];
        for (int j = 0; j < 9; ++j)
            sum += dense[i][j] * r[j];
        CHECK_NEAR(u[i], sum, 0); /* small integers and halves: exact in any order */
    }
    for (int k = 0; k < 3; ++k) {
        assert_int_equal(d->column[spragProblemDiagonal(&d->problem, k)], k);
        for (int j = 0; j < 3; ++j) {
            const int e = spragProblemBlock(&d->problem, k, j);
            assert_true(abs(k - j) < 2 ? e >= start[k] && e < start[k + 1] && column[e] == j : e == -1);
        }
    }
    spragProblemFree(&d->problem);
}

/* The three ways to the residual agree to the bit, on every kind of block. */
static void theJudgesAgree(void **state)
{
    (void)state;
    static Random random;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        unsigned long long state_of_r = seed;
        randomProblem(&random, seed, 0.5, N);
        mixKinds(&random);
        assert_int_equal(spragProblemCheck(&random.problem), SPRAG_OK);
        double r[N], u[N], seen[N], worst = 0;
        for (int i = 0; i < N; ++i)
            r[i] = uniform(&state_of_r) + 0.2;
        spragProblemVelocity(&random.problem, r, u);
        for (int k = 0; k < NC; ++k)
            worst = fmax(worst, spragBlockResidual(&random.problem, k, r, u + 3 * k));
        assert_true(worst > 0);
        assert_true(spragVelocityResidual(&random.problem, r, u) == worst);
        assert_true(spragProblemResidual(&random.problem, r) == worst);
        assert_true(spragProblemJudge(&random.problem, r, seen) == worst);
        assert_true(spragProblemJudgeMotion(&random.problem, r, u) == worst);
        assert_memory_equal(seen, u, sizeof u);
        random.q[1] = NAN; /* of one: the others' velocities are known all the same */
        assert_true(isnan(spragProblemJudge(&random.problem, r, seen)));
        assert_memory_equal(seen + 3, u + 3, sizeof u - 3 * sizeof *u);
    }
}

/* r and u four times as large: so is the residual, to the bit.  t1, t2 turned by a right angle: nothing changes. */
static void scaleAndFrame(void **state)
{
    (void)state;
    Case c = {SPRAG_BLOCK_CONTACT, 0.5, 0.5, {0.7, 0.3, -0.2}, {-0.1, 0.4, 0.25}, 0};
    const double residual = judge(&c, NULL);
    Case larger = c, turned = c;
    for (int a = 0; a < 3; ++a)
        larger.r[a] *= 4, larger.u[a] *= 4;
    assert_true(judge(&larger, NULL) == 4 * residual);
    turned.r[1] = -c.r[2], turned.r[2] = c.r[1];
    turned.u[1] = -c.u[2], turned.u[2] = c.u[1];
    CHECK_NEAR(judge(&turned, NULL), residual, 1e-15);
    for (int k = SPRAG_BLOCK_CONTACT; k <= SPRAG_BLOCK_FORCE_LIMIT; ++k) {
        c.kind = turned.kind = (spragBlockKind)k;
        CHECK_NEAR(judge(&turned, NULL), judge(&c, NULL), 1e-15);
    }
}

/* A block that nothing can move (W_kk = 0) is judged with w = 1: u as it is, or r's distance from the cone. */
static void aBlockWithoutMobilityIsJudged(void **state)
{
    (void)state;
    const int row_start[] = {0, 1}, column[] = {0};
    const double W[9] = {0}, mu = 0.5, q[3] = {-2, 0, 0}, open[3] = {1, 0, 0}, zero[3] = {0}, pull[3] = {-3, 0, 0};
    spragProblem problem = {
        .contact_count = 1, .block_count = 1, .row_start = row_start, .column = column, .W = W, .q = q, .mu = &mu};
    CHECK_NEAR(spragProblemResidual(&problem, zero), 2, 0);
    problem.q = open;
    CHECK_NEAR(spragProblemResidual(&problem, zero), 0, 0);
    problem.q = zero;
    CHECK_NEAR(spragProblemResidual(&problem, pull), 3, 0);
}

/* A body between two walls, both of which close at 1 mm/s.  Equal impulses are a self-stress, W r = 0, so that u = q;
 * but 1e14 - 1e14 + q is 0 in double, and so is the map. */
static void hugeImpulsesHideNothing(void **state)
{
    (void)state;
    Small s;
    setSmall(&s, 2);
    for (int i = 0; i < 3; ++i)
        smallW(&s, 0, 1)[4 * i] = smallW(&s, 1, 0)[4 * i] = i == 0 ? -1 : 1;
    for (int k = 0; k < 2; ++k)
        s.q[3 * k] = -1e-3, s.mu[k] = s.mu_minus[k] = 0.5, s.bound[6 * k + 3] = INFINITY;
    static const spragBlockKind kinds[] = {SPRAG_BLOCK_CONTACT, SPRAG_BLOCK_TWO_SIDED, SPRAG_BLOCK_FORCE_LIMIT,
                                           SPRAG_BLOCK_BOX};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        s.kind[0] = s.kind[1] = (unsigned char)kinds[i];
        for (double huge = 1; huge < 1e16; huge *= 10) {
            const double r[6] = {huge, 0, 0, huge, 0, 0};
            const double residual = spragProblemResidual(&s.problem, r);
            double u[6];
            assert_true(residual > 0.999e-3);
            spragProblemVelocity(&s.problem, r, u);
            assert_true(spragProblemJudgeMotion(&s.problem, r, u) == residual);
            if (huge <= 1e10)
                CHECK_NEAR(residual, 1e-3, 1e-5);
        }
    }
}

/* What is told without reading W, where a residual is far above rounding, is what W says. */
static void roundingIsKnown(void **state)
{
    (void)state;
    static Random random;
    double r[N];
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        unsigned long long state_of_r = seed;
        randomProblem(&random, seed, 0.5, N);
        for (double size = 1e-6; size < 1e16; size *= 1e3) {
            for (int i = 0; i < N; ++i)
                r[i] = size * uniform(&state_of_r);
            const double rounding = spragProblemRounding(&random.problem, r);
            for (double part = 1e-3; part < 1e9; part *= 10)
                assert_int_equal(spragProblemIsAtRounding(&random.problem, r, part * rounding), part <= 1);
        }
    }
}

static void badArgumentsAreNan(void **state)
{
    (void)state;
    static Random random;
    double r[N] = {0}, u[N];
    randomProblem(&random, 3, 0.5, N);
    mixKinds(&random);
    assert_true(isnan(spragProblemResidual(NULL, r)));
    assert_true(isnan(spragProblemResidual(&random.problem, NULL)));
    random.column[0] = 1; /* block (0, 0) is missing */
    assert_true(isnan(spragProblemResidual(&random.problem, r)));
    random.column[0] = 0;
    spragProblem part = random.problem;
    part.bound = NULL;
    assert_true(isnan(spragProblemResidual(&part, r)));
    part = random.problem, part.parent = NULL;
    assert_true(isnan(spragProblemResidual(&part, r)));
    part = random.problem, part.W = NULL;
    assert_true(isnan(spragProblemResidual(&part, r)));
    for (int i = 0; i < N; ++i) {
        r[i] = NAN;
        spragProblemVelocity(&random.problem, r, u);
        assert_true(isnan(spragProblemResidual(&random.problem, r)));
        assert_true(isnan(spragVelocityResidual(&random.problem, r, u)));
        r[i] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knownValues),        cmocka_unit_test(rollingIsBoundedByItsParent),
        cmocka_unit_test(theJudgesAgree),     cmocka_unit_test(velocityIsTheDenseProduct),
        cmocka_unit_test(scaleAndFrame),      cmocka_unit_test(hugeImpulsesHideNothing),
        cmocka_unit_test(badArgumentsAreNan), cmocka_unit_test(aBlockWithoutMobilityIsJudged),
        cmocka_unit_test(roundingIsKnown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
