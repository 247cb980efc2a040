/* Projections on the Coulomb cone and the disc: known points, and what makes a point the projection (Moreau). */
#include "support/check.h"

#include <string.h>

#include "linalg/vec3.h"
#include "problem/cone.h"

/* Uniform in [-1, 1], the same sequence on every machine. */
static double noise(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 4503599627370496.0 - 1;
}

static void knownPoints(void **state)
{
    (void)state;
    const struct {
        double mu, x[3], y[3];
    } cases[] = {
        {0.5, {2, 0.3, 0.4}, {2, 0.3, 0.4}},     /* inside */
        {0.5, {1, 0.3, 0.4}, {1, 0.3, 0.4}},     /* on the surface */
        {0.5, {-1, 0.3, 0.4}, {0, 0, 0}},        /* inside the polar cone */
        {0.5, {-0.25, 0.3, 0.4}, {0, 0, 0}},     /* on the surface of the polar cone */
        {1, {0, 2, 0}, {1, 1, 0}},               /* between: half way */
        {1, {0, 0, -2}, {1, 0, -1}},             /* */
        {0.75, {1, 3, 4}, {3.04, 1.368, 1.824}}, /* n = (1 + 0.75 * 5) / 1.5625 */
        {0, {3, 4, 5}, {3, 0, 0}},               /* no friction: the half line */
        {0, {-3, 4, 5}, {0, 0, 0}},              /* */
        {0.5, {0, 0, 0}, {0, 0, 0}},             /* tip */
        {1e6, {-1, 1, 0}, {1e-6, 1, 0}},         /* a half space nearly: n = (-1 + 1e6) / (1 + 1e12) */
        {0, {-3, 0, 0}, {0, 0, 0}},              /* no friction, no slip, opening */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        double y[3];
        spragConeProject(cases[k].mu, cases[k].x, y);
        for (int a = 0; a < 3; ++a)
            CHECK_NEAR(y[a], cases[k].y[a], k == 10 ? 2e-6 : 1e-15 * (1 + fabs(cases[k].y[a])));
    }
}

/* x = y + z with y in K, z in the polar cone, y . z = 0. */
static void moreauDecomposition(void **state)
{
    (void)state;
    static const double friction[] = {0, 0.1, 0.5, 1, 3};
    for (int i = 0; i < 5000; ++i) {
        const double mu = friction[i % 5], x[3] = {noise(), noise(), noise()};
        double y[3], again[3];
        spragConeProject(mu, x, y);
        assert_true(y[0] >= 0 && spragNorm2(y + 1) <= mu * y[0] + 1e-15);
        const double z[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
        assert_true(mu * spragNorm2(z + 1) <= -z[0] + 1e-14);
        CHECK_NEAR(spragDot3(y, z), 0, 1e-15);
        spragConeProject(mu, y, again);
        for (int a = 0; a < 3; ++a)
            CHECK_NEAR(again[a], y[a], 1e-15);
    }
}

/* P(s x) = s P(x); turning t1, t2 by a right angle turns the projection, to the bit. */
static void scaleAndTurn(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; ++i) {
        const double x[3] = {noise(), noise(), noise()}, scaled[3] = {4 * x[0], 4 * x[1], 4 * x[2]};
        const double turned[3] = {x[0], -x[2], x[1]};
        double y[3], ys[3], yt[3];
        spragConeProject(0.7, x, y);
        spragConeProject(0.7, scaled, ys);
        spragConeProject(0.7, turned, yt);
        for (int a = 0; a < 3; ++a)
            assert_true(ys[a] == 4 * y[a]);
        assert_true(yt[0] == y[0] && yt[1] == -y[2] && yt[2] == y[1]);
    }
}

static void disc(void **state)
{
    (void)state;
    const double x[2] = {3, -4};
    double y[2];
    spragDiscProject(6, x, y);
    assert_memory_equal(y, x, sizeof y);
    spragDiscProject(2.5, x, y);
    CHECK_NEAR(y[0], 1.5, 1e-15);
    CHECK_NEAR(y[1], -2, 1e-15);
    spragDiscProject(0, x, y);
    assert_true(y[0] == 0 && y[1] == 0);
    const double origin[2] = {0, 0};
    spragDiscProject(0, origin, y);
    assert_true(y[0] == 0 && y[1] == 0);
}

static void outMayBeTheInput(void **state)
{
    (void)state;
    for (int i = 0; i < 100; ++i) {
        double x[3] = {noise(), noise(), noise()}, y[3], d[2];
        spragConeProject(0.4, x, y);
        spragDiscProject(0.2, x + 1, d);
        double in_place[3] = {x[0], x[1], x[2]};
        spragConeProject(0.4, in_place, in_place);
        assert_memory_equal(in_place, y, sizeof y);
        spragDiscProject(0.2, x + 1, x + 1);
        assert_memory_equal(x + 1, d, sizeof d);
    }
}

static void aNanStaysOne(void **state)
{
    (void)state;
    for (int a = 0; a < 3; ++a) {
        double x[3] = {0.1, 0.5, 0.5}, y[3];
        x[a] = NAN;
        spragConeProject(0.5, x, y);
        assert_true(isnan(y[0]) || isnan(y[1]) || isnan(y[2]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knownPoints), cmocka_unit_test(moreauDecomposition), cmocka_unit_test(scaleAndTurn),
        cmocka_unit_test(disc),        cmocka_unit_test(outMayBeTheInput),    cmocka_unit_test(aNanStaysOne),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
