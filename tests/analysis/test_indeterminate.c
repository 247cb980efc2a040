/* Supports whose shares of the weight are open: what they do together is known,
 * and one point of the continuum is found. */
#include "support/combination.h"

#include "analysis/starts.h"

/* A body of mass m and inertia J (about every axis) on points `below` its centre, normals up, mu each; load: force and
 * moment at the centre, N and N m. */
static void supports(State *s, int count, const double (*at)[2], double below, double m, double J, double mu,
                     const double *load)
{
    double G[ROWS][6];
    begin(s, count);
    for (int k = 0; k < count; ++k) {
        const double x = at[k][0], y = at[k][1], z = -below;
        const double rows[3][6] = {{0, 0, 1, y, -x, 0}, {1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}};
        memcpy(G[3 * k], rows, sizeof rows);
        s->mu[k] = mu;
    }
    for (int i = 0; i < 3 * count; ++i)
        for (int c = 0; c < 6; ++c) {
            const double inverse = c < 3 ? 1 / m : 1 / J;
            s->b[i] += G[i][c] * load[c] * inverse;
            for (int j = 0; j < 3 * count; ++j)
                s->A[3 * count * i + j] += G[i][c] * G[j][c] * inverse;
        }
}

static const double row[3][2] = {{1, 0}, {0.2, 0}, {-1, 0}};

/* Pulled along or across their row: a = F / m - mu g; the weight is borne, its moment balanced, friction along -a. */
static void rowsOfSupportsSlideTogether(void **state)
{
    (void)state;
    const double m = 3, g = 9.81, mu = 0.3, below = 0.1, F = 1.6 * mu * m * g;
    for (int turn = 0; turn < 2; ++turn) {
        const double along[2] = {turn == 0, turn == 1};
        State s;
        Combination c;
        /* across the row the supports cannot balance the moment of friction about it: it is given with the load */
        supports(&s, 3, row, below, m, 0.5, mu,
                 (double[6]){F * along[0], F * along[1], -m * g, along[1] * below * mu * m * g, 0, 0});
        combinationOf(&c, &s, START);
        spragIndeterminateSolve(&c.en);
        assert_int_equal(c.set.count, 1);
        const spragParadoxSolution *one = c.set.solution;
        assert_true(one->family);
        double weight = 0, moment = 0;
        for (int k = 0; k < 3; ++k) {
            const double *r = one->r + 3 * k;
            assert_true(r[0] >= 0);
            weight += r[0], moment += r[0] * row[k][0];
            for (int t = 0; t < 2; ++t) {
                CHECK_NEAR(one->w[3 * k + 1 + t], along[t] * (F / m - mu * g), 1e-8);
                CHECK_NEAR(r[1 + t], -mu * r[0] * along[t], 1e-8 * m * g);
            }
        }
        CHECK_NEAR(weight, m * g, 1e-8 * m * g);
        CHECK_NEAR(moment, turn == 0 ? below * mu * m * g : 0, 1e-8 * m * g); /* friction acts below the centre */
        spragSolutionSetFree(&c.set);
    }
}

/* Pulled by less than friction bears nothing starts, and the search says that it is complete. */
static void whatHoldsDoesNotStart(void **state)
{
    (void)state;
    for (double part = 0.2; part < 1; part += 0.3) {
        State s;
        Combination c;
        supports(&s, 3, row, 0.1, 3, 0.5, 0.3, (double[6]){part * 0.3 * 3 * 9.81, 0, -3 * 9.81, 0, 0, 0});
        combinationOf(&c, &s, START);
        spragIndeterminateSolve(&c.en);
        assert_int_equal(c.set.count, 0);
        assert_false(c.set.incomplete);
        spragSolutionSetFree(&c.set);
    }
}

/* Other units of mass and length: the same accelerations. */
static void unitsDoNotMatter(void **state)
{
    (void)state;
    const double F = 2, weight = 5, mu = 0.3;
    double first = 0;
    for (int unit = 0; unit < 3; ++unit) {
        const double mass = pow(1e4, unit), length = pow(1e-3, unit);
        State s;
        Combination c;
        double at[3][2];
        for (int i = 0; i < 6; ++i)
            at[i / 2][i % 2] = row[i / 2][i % 2] * length;
        supports(&s, 3, (const double(*)[2])at, 0.1 * length, mass, 0.5 * mass * length * length, mu,
                 (double[6]){F * mass, 0, -weight * mass, 0, 0, 0});
        combinationOf(&c, &s, START);
        spragIndeterminateSolve(&c.en);
        assert_int_equal(c.set.count, 1);
        first = unit == 0 ? c.set.solution[0].w[1] : first;
        CHECK_NEAR(c.set.solution[0].w[1], first, 1e-8);
        CHECK_NEAR(first, F - mu * weight, 1e-8);
        spragSolutionSetFree(&c.set);
    }
}

/* A body without a load has nothing to start it. */
static void withoutLoadNothingStarts(void **state)
{
    (void)state;
    State s;
    Combination c;
    supports(&s, 3, row, 0.1, 1, 1, 0.3, (double[6]){0});
    combinationOf(&c, &s, START);
    spragIndeterminateSolve(&c.en);
    assert_int_equal(c.set.count, 0);
    spragSolutionSetFree(&c.set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rowsOfSupportsSlideTogether),
                                       cmocka_unit_test(whatHoldsDoesNotStart), cmocka_unit_test(unitsDoNotMatter),
                                       cmocka_unit_test(withoutLoadNothingStarts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
