/* The cone { x_0 >= |x_t| }: its determinant, the Nesterov-Todd scaling, the way to the boundary. */
#include "support/check.h"
#include "support/uniform.h"

#include "solve/newton/lorentz.h"

/* Inside the cone, by more than `margin` of its size. */
static void interior(unsigned long long *seed, spragFine margin, spragFine x[3])
{
    x[1] = uniform(seed), x[2] = uniform(seed);
    x[0] = spragFineNorm2(x + 1) * (1 + margin) + margin * (1 + uniform(seed));
}

static void determinantIsTheProductOfTheEigenvalues(void **state)
{
    (void)state;
    const spragFine inside[3] = {5, 3, 0}, edge[3] = {5, 3, 4}, outside[3] = {1, 0, 2}, near[3] = {1 + 1e-12, 0.6, 0.8};
    CHECK_FINE(spragConeDet(inside), 16, 0);
    CHECK_FINE(spragConeDet(edge), 0, 0);
    CHECK_FINE(spragConeDet(outside), -3, 0);
    CHECK_FINE(spragConeDet(near) / 2e-12, 1, 1e-3); /* 1 + 1e-12 - 1 has three digits left, not none */
}

/* D x = v, D symmetric and positive definite, homogeneous, D(v, x) its inverse. */
static void scalingTakesXToV(void **state)
{
    (void)state;
    unsigned long long seed = 3;
    for (int round = 0; round < 1000; ++round) {
        const double margin = pow(10, -(round % 6));
        spragFine x[3], v[3], D[9], back[9], scaled[9], Dx[3], ax[3], bv[3];
        interior(&seed, margin, x), interior(&seed, margin, v);
        spragConeScaling(x, v, D);
        spragConeScaling(v, x, back);
        spragFineMul33(Dx, D, x);
        for (int i = 0; i < 3; ++i) {
            CHECK_FINE(Dx[i], v[i], 1e-14 / margin * v[0]);
            ax[i] = 1e-3 * x[i], bv[i] = 50 * v[i];
        }
        spragConeScaling(ax, bv, scaled);
        for (int i = 0; i < 9; ++i) {
            CHECK_FINE(D[i], D[3 * (i % 3) + i / 3], 1e-15 * D[0]);
            CHECK_FINE(scaled[i] / 5e4, D[i], 1e-12 * D[0] / margin);
        }
        assert_true(D[0] > 0 && D[0] * D[4] > D[1] * D[1]);
        for (int i = 0; i < 9; ++i) {
            spragFine sum = 0;
            for (int k = 0; k < 3; ++k)
                sum += D[3 * (i / 3) + k] * back[3 * k + i % 3];
            CHECK_FINE(sum, i % 4 == 0, 1e-13 * D[0] * back[0] / margin);
        }
    }
}

/* x + alpha dx: on the boundary where alpha < 1, inside for all that is shorter. */
static void stepEndsAtTheBoundary(void **state)
{
    (void)state;
    unsigned long long seed = 5;
    int cut = 0, whole = 0;
    for (int round = 0; round < 4000; ++round) {
        spragFine x[3], dx[3], at[3];
        interior(&seed, 0.1, x);
        for (int i = 0; i < 3; ++i)
            dx[i] = 3 * uniform(&seed);
        const spragFine alpha = spragConeStep(x, dx);
        assert_true(alpha > 0 && alpha <= 1);
        for (int part = 1; part <= 10; ++part) {
            for (int i = 0; i < 3; ++i)
                at[i] = x[i] + (part < 10 ? 0.0999999 * part : 1) * alpha * dx[i];
            assert_true(part == 10 || at[0] > spragFineNorm2(at + 1));
        }
        if (alpha < 1)
            CHECK_FINE(at[0], spragFineNorm2(at + 1), 1e-13);
        else
            assert_true(at[0] >= spragFineNorm2(at + 1) - 1e-13);
        cut += alpha < 1, whole += alpha == 1;
    }
    assert_true(cut > 500 && whole > 500);
    const spragFine x[3] = {1, 0, 0}, along[3] = {-2, 0, 0}, edge[3] = {-1, 1, 0}, out[3] = {0, 4, 3};
    CHECK_FINE(spragConeStep(x, along), 0.5, 1e-15);
    CHECK_FINE(spragConeStep(x, edge), 0.5, 1e-15);
    CHECK_FINE(spragConeStep(x, out), 0.2, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(determinantIsTheProductOfTheEigenvalues),
                                       cmocka_unit_test(scalingTakesXToV), cmocka_unit_test(stepEndsAtTheBoundary)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
