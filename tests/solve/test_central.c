/* The equations of the interior methods against W, q and the cones themselves. */
#include "support/check.h"
#include "support/random_problem.h"

#include "problem/residual.h"
#include "solve/newton/central.h"

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

/* ---------------------------------------------------------------- the equations of a random problem */

typedef struct Setup {
    Random random;
    spragArena arena;
    spragCones cones;
    spragCentral central;
    spragTangent tangent;
} Setup;

/* Inside the cones, residuals and factors made. */
static void setUp(Setup *s, unsigned long long *seed)
{
    memset(s, 0, sizeof *s);
    randomProblem(&s->random, 7, 0.4, 2 * N);
    s->random.mu[3] = 0; /* a thin cone in its place */
    assert_true(spragConesInit(&s->cones, &s->random.problem, &s->arena));
    assert_true(spragCentralInit(&s->central, &s->cones, &s->arena));
    for (int k = 0; k < NC; ++k)
        interior(seed, s->central.x + 3 * k), interior(seed, s->central.v + 3 * k);
    spragCentralResiduals(&s->central);
    assert_int_equal(
        spragTangentInit(&s->tangent, &s->random.problem, s->cones.load, SPRAG_TANGENT_CONTACTS, INFINITY, &s->arena),
        1);
    assert_int_equal(spragCentralFactor(&s->central, &s->tangent), 1);
}

/* P_ii, which makes all cones round. */
static double scaleOf(const Setup *s, int i)
{
    return i % 3 == 0 ? s->central.scale[i / 3] : 1;
}

/* (P W P)_ij */
static double coupling(const Setup *s, int i, int j)
{
    return scaleOf(s, i) * s->random.W[9 * (NC * (i / 3) + j / 3) + 3 * (i % 3) + j % 3] * scaleOf(s, j);
}

/* rho = v - s e_0 - P (W P x + q), and D x = v. */
static void residualsAreThoseOfTheProblem(void **state)
{
    (void)state;
    static Setup s;
    unsigned long long seed = 6;
    setUp(&s, &seed);
    for (int k = 0; k < NC; ++k) {
        spragFine lifted[3], Dx[3];
        CHECK_FINE(s.central.scale[k] * (k == 3 ? 1e-6 : s.random.mu[k]), 1, 1e-15);
        lift(s.central.v + 3 * k, lifted);
        spragFineMul33(Dx, s.central.D + 9 * k, s.central.x + 3 * k);
        for (int i = 3 * k; i < 3 * k + 3; ++i) {
            spragFine rho = lifted[i % 3] - scaleOf(&s, i) * s.random.q[i], size = 0;
            for (int j = 0; j < N; ++j) {
                rho -= coupling(&s, i, j) * s.central.x[j];
                size += fabsl(coupling(&s, i, j) * s.central.x[j]);
            }
            CHECK_FINE(s.central.rho[i], rho, 1e-13 * (1 + size));
            CHECK_FINE(Dx[i % 3], s.central.v[i], 1e-12 * s.central.v[3 * k]);
        }
    }
    spragArenaFree(&s.arena);
}

/* D + E^-1 P W P, entry by entry, in the tangent's unknown P x; and a solution. */
static void matrixIsThatOfTheProblem(void **state)
{
    (void)state;
    static Setup s;
    unsigned long long seed = 6;
    spragFine x[N], g[N];
    setUp(&s, &seed);
    for (int i = 0; i < N; ++i)
        x[i] = g[i] = uniform(&seed);
    spragCentralSolve(&s.central, &s.tangent, x);
    for (int i = 0; i < N; ++i) {
        const int k = i / 3;
        spragFine e[3], sum = 0;
        spragCentralSlackRow(s.central.v + 3 * k, e);
        for (int j = 0; j < N; ++j) {
            const double entry = scaleOf(&s, j) * s.tangent.matrix[9 * (NC * k + j / 3) + 3 * (i % 3) + j % 3];
            spragFine expected = k == j / 3 ? s.central.D[9 * k + 3 * (i % 3) + j % 3] : 0;
            for (int a = 0; a < 3; ++a)
                expected += (i % 3 == 0 ? e[a] : a == i % 3) * coupling(&s, 3 * k + a, j);
            CHECK_FINE(entry, expected, 1e-13 * (1 + fabsl(expected)));
            sum += entry * x[j];
        }
        CHECK_FINE(sum, g[i], 1e-9);
    }
    spragArenaFree(&s.arena);
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
                                       cmocka_unit_test(residualsAreThoseOfTheProblem),
                                       cmocka_unit_test(matrixIsThatOfTheProblem), cmocka_unit_test(slidingIsTheLimit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
