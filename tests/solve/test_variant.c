/* Mode search on islands: every kind, hyperstatic W, the bipod's variants,
 * separatrices and jams of several contacts. */
#include "support/check.h"
#include "support/oracle.h"
#include "support/random_problem.h"

#include "linalg/vec3.h"
#include "solve/solver.h"

static const spragSolveOptions strict = {.solver = SPRAG_SOLVER_VARIANT, .tolerance = 1e-10};

static spragStatus search(const spragProblem *problem, double *r, double *u, spragSolveInfo *info)
{
    spragArena arena = {0};
    const spragStatus status = spragChainSolve(problem, &strict, &arena, r, u, info);
    spragArenaFree(&arena);
    return status;
}

static void everyKind(void **state)
{
    (void)state;
    static Random random;
    int solved = 0;
    for (unsigned long long seed = 1; seed <= 60; ++seed) {
        randomProblem(&random, seed, 0.2, seed % 2 ? 2 * N : N / 2);
        if (seed > 30)
            mixKinds(&random);
        spragSolveInfo info, again;
        double r[N] = {0}, s[N] = {0};
        const int ok = search(&random.problem, r, NULL, &info) == SPRAG_OK;
        search(&random.problem, s, NULL, &again);
        assert_memory_equal(r, s, sizeof r); /* the same bits */
        if (ok)
            assert_true(spragProblemResidual(&random.problem, r) <= strict.tolerance);
        solved += ok;
    }
    assert_int_equal(solved, 60);
}

/* ---------------------------------------------------------------- two planar contacts on one body */

typedef struct Pair {
    spragProblem problem;
    double W[36], q[6], mu[2];
    int row_start[3], column[4];
    unsigned char kind[2];
    spragContactHistory history[2];
} Pair;

/* Both coupled; W, q, mu are the caller's to fill, and kind where a contact is two-sided. */
static void pairClear(Pair *pair)
{
    memset(pair, 0, sizeof *pair);
    pair->row_start[1] = 2, pair->row_start[2] = 4;
    pair->column[1] = pair->column[3] = 1;
    pair->problem = (spragProblem){.contact_count = 2,
                                   .block_count = 4,
                                   .row_start = pair->row_start,
                                   .column = pair->column,
                                   .W = pair->W,
                                   .q = pair->q,
                                   .mu = pair->mu,
                                   .kind = pair->kind};
}

/* J (6 x bodies' freedoms) with inverse masses: W = J M^-1 J'. */
static void pairInit(Pair *pair, int freedoms, const double *J, const double *inverse_mass)
{
    pairClear(pair);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
            for (int c = 0; c < freedoms; ++c)
                pair->W[9 * (2 * (i / 3) + j / 3) + 3 * (i % 3) + j % 3] +=
                    J[freedoms * i + c] * inverse_mass[c] * J[freedoms * j + c];
}

/* The bipod (Ivanov 2009, 5.8 to 5.13): contacts at (-a, -H) and (a, -H) from G, planar;
 * t2 has a freedom of its own. */
static void bipodCase(const Json *c, int *slides, int *jams)
{
    const Json *in = jsonGet(c, "inputs"), *expected = jsonGet(c, "expected");
    const double P = jsonNumber(in, "P"), F = jsonNumber(in, "F"), H = jsonNumber(in, "H"), a = jsonNumber(in, "a");
    const double v = jsonNumber(in, "v"), h = 1e-5, inertia = 0.7;
    if (v == 0)
        return;
    const double J[6 * 4] = {0, 1, -a, 0, 1, 0, H, 0, 0, 0, 0, 1, 0, 1, a, 0, 1, 0, H, 0, 0, 0, 0, 1};
    const double inverse_mass[4] = {1, 1, 1 / inertia, 1};
    Pair pair;
    pairInit(&pair, 4, J, inverse_mass);
    pair.kind[0] = pair.kind[1] = SPRAG_BLOCK_TWO_SIDED;
    pair.mu[0] = jsonNumber(in, "mu1"), pair.mu[1] = jsonNumber(in, "mu2");
    const double free_velocity[4] = {v + h * F, -h * P, 0, 0};
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 4; ++j)
            pair.q[i] += J[4 * i + j] * free_velocity[j];
    for (int k = 0; k < 2; ++k)
        pair.history[k] = (spragContactHistory){.slip = {v, 0}, .mode = SPRAG_MODE_SLIP};
    pair.problem.history = pair.history;
    spragSolveInfo info;
    double r[6] = {0}, u[6];
    assert_int_equal(search(&pair.problem, r, u, &info), SPRAG_OK);
    const Json *list = jsonGet(expected, "solutions");
    if (list->count == 0) { /* no motion: the slip ends */
        ++*jams;
        CHECK_NEAR(fabs(u[1]) + fabs(u[4]), 0, 1e-12);
        return;
    }
    ++*slides;
    int found = 0;
    for (int k = 0; k < list->count; ++k) {
        const double N1 = jsonNumber(&list->first[k], "N1"), N2 = jsonNumber(&list->first[k], "N2");
        if (fabs(r[0] / h - N1) > 1e-7 * (1 + fabs(N1)) || fabs(r[3] / h - N2) > 1e-7 * (1 + fabs(N2)))
            continue;
        found = 1;
        assert_true(jsonNumber(&list->first[k], "det") > 0); /* never the separatrix */
    }
    assert_true(found);
}

static void bipods(void **state)
{
    (void)state;
    int slides = 0, jams = 0;
    for (const Json *one = NULL; (one = oracleNext("bipod", NULL, one)) != NULL;)
        bipodCase(one, &slides, &jams);
    assert_true(slides >= 6 && jams >= 2);
}

/* Two rods of test_policy.c on one body-less island, joined by a weak spring-like coupling of their normals. */
static void rods(Pair *pair, double b, double slip, double h)
{
    static const double rod[9] = {2.5, 2, 0, 2, 4, 0, 0, 0, 1};
    pairClear(pair);
    memcpy(pair->W, rod, sizeof rod);
    memcpy(pair->W + 27, rod, sizeof rod);
    pair->W[9] = pair->W[18] = 0.01;
    pair->mu[0] = pair->mu[1] = 2;
    for (int k = 0; k < 2; ++k) {
        pair->q[3 * k] = h * b, pair->q[3 * k + 1] = slip;
        pair->history[k] = (spragContactHistory){.slip = {slip, 0}, .free_acceleration = b, .mode = SPRAG_MODE_SLIP};
    }
    pair->problem.history = pair->history;
    pair->problem.step = h;
}

static void inconsistentRodsJam(void **state)
{
    (void)state;
    for (double h = 1e-2; h > 5e-6; h /= 10) {
        Pair pair;
        rods(&pair, -5, 1, h);
        spragSolveInfo info;
        double r[6] = {0}, u[6];
        assert_int_equal(search(&pair.problem, r, u, &info), SPRAG_OK);
        assert_int_equal(info.none, 1);
        for (int k = 0; k < 2; ++k) {
            assert_true(r[3 * k] > 0.1);
            CHECK_NEAR(spragNorm3(u + 3 * k), 0, 1e-14);
        }
    }
}

static void indeterminateRodsFollowHistory(void **state)
{
    (void)state;
    for (double h = 1e-2; h > 5e-6; h /= 10) {
        Pair pair;
        rods(&pair, 5, 1, h);
        const double separatrix = 5 / 1.5;
        spragSolveInfo info;
        for (int jam = 0; jam < 2; ++jam) {
            double r[6], u[6];
            for (int k = 0; k < 2; ++k) {
                pair.history[k].previous_normal = (jam ? 1.5 : 0.5) * separatrix;
                r[3 * k] = h * pair.history[k].previous_normal;
                r[3 * k + 1] = -2 * r[3 * k], r[3 * k + 2] = 0;
            }
            assert_int_equal(search(&pair.problem, r, u, &info), SPRAG_OK);
            for (int k = 0; k < 2; ++k)
                if (jam)
                    CHECK_NEAR(spragNorm3(u + 3 * k), 0, 1e-14);
                else
                    CHECK_NEAR(spragNorm3(r + 3 * k), 0, 0);
        }
    }
}

/* Started on the branch of negative slope itself: it is a solution, and not returned. */
static void separatrixIsLeft(void **state)
{
    (void)state;
    const double h = 1e-3;
    Pair pair;
    rods(&pair, 5, 1, h);
    pair.problem.history = NULL;
    const double p = 2.5 - 2 * 2 + 0.01, n = -h * 5 / p;
    const double start[6] = {n, -2 * n, 0, n, -2 * n, 0};
    assert_true(spragProblemResidual(&pair.problem, start) < 1e-12);
    spragSolveInfo info;
    double r[6], u[6];
    memcpy(r, start, sizeof r);
    assert_int_equal(search(&pair.problem, r, u, &info), SPRAG_OK);
    assert_int_equal(info.several, 1);
    for (int k = 0; k < 2; ++k)
        assert_true(r[3 * k] == 0 || spragNorm2(u + 3 * k + 1) < 1e-12);
}

/* Two contacts that know nothing of each other, W = 1, each pressed by 1 N s: which guesses are left as they are. */
static int rests(double load, double slip, double before, double r_n, double r_t)
{
    const spragSolveOptions options = {.tolerance = 1e-8};
    double J[36] = {0}, one[6], u[6], r[6] = {1, 0, 0, r_n, r_t, 0};
    Pair pair;
    for (int i = 0; i < 6; ++i)
        J[7 * i] = one[i] = 1;
    pairInit(&pair, 6, J, one);
    pair.problem.history = pair.history;
    pair.history[1].slip[0] = before;
    pair.mu[0] = pair.mu[1] = 0.5;
    pair.q[0] = -1, pair.q[3] = -load, pair.q[4] = slip;
    spragSolveInfo info = {.residual = NAN};
    const int answer = spragVariantRests(&pair.problem, &options, r, u, &info);
    CHECK_NEAR(u[3], r_n - load, 0);
    CHECK_NEAR(u[4], r_t + slip, 0);
    CHECK_NEAR(info.residual, spragProblemResidual(&pair.problem, r), 1e-24);
    return answer;
}

static void whatRestsIsLeft(void **state)
{
    (void)state;
    assert_true(rests(1, 0, 0, 1, 0));
    assert_true(rests(1, 0.25, 0, 1, -0.25));
    assert_true(rests(1, 0, 0, 1 + 5e-11, 0));  /* near enough, nothing creeps */
    assert_false(rests(1, 0, 0, 1 + 5e-10, 0)); /* a force that is to change */
    assert_false(rests(1, 1e-11, 0, 1, 0));     /* it creeps */
    assert_true(rests(1, 1e-13, 0, 1, 0));      /* rounding */
    assert_false(rests(1, 0, 1e-3, 1, 0));      /* it slid */
    assert_false(rests(1, 1, 0, 1, -0.5));      /* it slides */
    assert_true(rests(-1, 1, 0, 0, 0));         /* it is open: nothing rubs */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyKind),           cmocka_unit_test(bipods),
        cmocka_unit_test(inconsistentRodsJam), cmocka_unit_test(indeterminateRodsFollowHistory),
        cmocka_unit_test(separatrixIsLeft),    cmocka_unit_test(whatRestsIsLeft)};
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
