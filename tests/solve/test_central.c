/* The equations of the interior methods against W, q and the cones themselves. */
#include "support/check.h"
#include "support/random_problem.h"

#include "problem/residual.h"
#include "solve/central.h"

/* v - s(v) e_0, s = |v_t|^2 / v_0 */
static void lift(const spragFine v[3], spragFine out[3])
{
    out[0] = v[0] - (v[1] * v[1] + v[2] * v[2]) / v[0];
    out[1] = v[1], out[2] = v[2];
}

static void interior(unsigned long long *seed, spragFine x[3])
{
    x[1] = uniform(seed), x[2] = uniform(seed);
    x[0] = spragFineNorm2(x + 1) + 0.1 + fabs(uniform(seed));
}

/* E e = (1, 0, 0) for the rows of E^-1 that differ from the identity; E by differences. */
static void slackRowInvertsTheDerivative(void **state)
{
    (void)state;
    unsigned long long seed = 2;
    for (int round = 0; round < 200; ++round) {
        spragFine v[3], row[3], product[3] = {0};
        interior(&seed, v);
        spragCentralSlackRow(v, row);
        for (int j = 0; j < 3; ++j) {
            spragFine up[3] = {v[0], v[1], v[2]}, down[3] = {v[0], v[1], v[2]}, a[3], b[3];
            up[j] += 1e-6, down[j] -= 1e-6;
            lift(up, a), lift(down, b);
            for (int i = 0; i < 3; ++i)
                product[j] += row[i] * (a[i] - b[i]) / 2e-6;
        }
        for (int j = 0; j < 3; ++j)
            CHECK_FINE(product[j], j == 0, 1e-8);
    }
}

/* rho = v - s e_0 - P (W P x + q), and the matrix D + E^-1 P W P, entry by entry; its solutions. */
static void equationsAreThoseOfTheProblem(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 7, 0.4, 2 * N);
    random.mu[3] = 0; /* a thin cone in its place */
    unsigned long long seed = 6;
    spragArena arena = {0};
    spragCones cones;
    spragCentral central;
    spragTangent tangent;
    assert_true(spragConesInit(&cones, &random.problem, &arena));
    assert_true(spragCentralInit(&central, &cones, &arena));
    for (int k = 0; k < NC; ++k) {
        interior(&seed, central.x + 3 * k), interior(&seed, central.v + 3 * k);
        CHECK_FINE(central.scale[k] * (k == 3 ? 1e-6 : random.mu[k]), 1, 1e-15);
    }
    spragCentralResiduals(&central);
    assert_int_equal(spragTangentInit(&tangent, &random.problem, cones.load, SPRAG_TANGENT_CONTACTS, INFINITY, &arena),
                     1);
    assert_int_equal(spragCentralFactor(&central, &tangent), 1);
    for (int k = 0; k < NC; ++k) {
        spragFine lifted[3], e[3], Dx[3];
        lift(central.v + 3 * k, lifted);
        spragCentralSlackRow(central.v + 3 * k, e);
        spragFineMul33(Dx, central.D + 9 * k, central.x + 3 * k);
        for (int i = 0; i < 3; ++i) {
            const double P_i = i == 0 ? central.scale[k] : 1;
            spragFine rho = lifted[i] - P_i * random.q[3 * k + i], size = 0;
            for (int j = 0; j < N; ++j) {
                const double PWP =
                    P_i * random.W[9 * (NC * k + j / 3) + 3 * i + j % 3] * (j % 3 ? 1 : central.scale[j / 3]);
                rho -= PWP * central.x[j];
                size += fabsl(PWP * central.x[j]);
            }
            CHECK_FINE(central.rho[3 * k + i], rho, 1e-13 * (1 + size));
            CHECK_FINE(Dx[i], central.v[3 * k + i], 1e-12 * central.v[3 * k]);
        }
        for (int l = 0; l < NC; ++l)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    spragFine expected = k == l ? central.D[9 * k + 3 * i + j] : 0;
                    for (int a = 0; a < 3; ++a) {
                        const spragFine E = i == 0 ? e[a] : a == i;
                        const double V = random.W[9 * (NC * k + l) + 3 * a + j] * (a ? 1 : central.scale[k]) *
                                         (j ? 1 : central.scale[l]);
                        expected += E * V;
                    }
                    const double column = j ? 1 : central.scale[l]; /* the tangent's unknown is P x */
                    CHECK_FINE(column * tangent.matrix[9 * (NC * k + l) + 3 * i + j], expected,
                               1e-13 * (1 + fabsl(expected)));
                }
    }
    spragFine x[N], g[N];
    for (int i = 0; i < N; ++i)
        x[i] = g[i] = uniform(&seed);
    spragCentralSolve(&central, &tangent, x);
    for (int i = 0; i < N; ++i) {
        spragFine sum = 0;
        for (int j = 0; j < N; ++j)
            sum += tangent.matrix[9 * (NC * (i / 3) + j / 3) + 3 * (i % 3) + j % 3] *
                   (j % 3 ? 1 : central.scale[j / 3]) * x[j];
        CHECK_FINE(sum, g[i], 1e-9);
    }
    spragArenaFree(&arena);
}

/* A sliding contact, W = 1: r = (1, -mu d), u = (0, s d).  From inside, x o v = tau e_0, rho and the judge's residual
 * fall with tau: the central path ends at the solution. */
static void slidingIsTheLimit(void **state)
{
    (void)state;
    const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu = 0.5, q[3] = {-1, 1.2, 1.6}, d[2] = {0.6, 0.8};
    const int row_start[2] = {0, 1}, column = 0;
    const spragProblem problem = {
        .contact_count = 1, .block_count = 1, .row_start = row_start, .column = &column, .W = W, .q = q, .mu = &mu};
    spragArena arena = {0};
    spragCones cones;
    spragCentral c;
    assert_true(spragConesInit(&cones, &problem, &arena));
    assert_true(spragCentralInit(&c, &cones, &arena));
    for (double tau = 1e-2; tau > 1e-13; tau *= 0.1) {
        /* x = (a, -b d), v = (s, t d) with a t = b s (so that x o v has no tangential part) */
        const double s = 1.5, t = s * (1 - tau), a = 0.5, b = a * (1 - tau);
        for (int i = 0; i < 2; ++i)
            c.x[1 + i] = -b * d[i], c.v[1 + i] = t * d[i];
        c.x[0] = a, c.v[0] = s;
        spragCentralResiduals(&c);
        CHECK_FINE(spragFineNorm3(c.rho), 0, 10 * tau);
        CHECK_FINE(spragVelocityResidual(&problem, c.r, c.u), 0, 10 * tau);
        CHECK_FINE(c.r[0], 1, 1e-15);
    }
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slackRowInvertsTheDerivative),
                                       cmocka_unit_test(equationsAreThoseOfTheProblem),
                                       cmocka_unit_test(slidingIsTheLimit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
