/* Convex hulls in the plane: every point lies within, corners are points and turn to the left, and none is lost where
 * points lie above each other up to rounding. */
#include "support/check.h"

#include <string.h>

#include "ode/shape/planar.h"

static double draw(unsigned long long *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static void checkHull(const double (*x)[2], int count, double beside, const int *corner, int corners)
{
    for (int e = 0; e < corners; ++e) {
        const double *a = x[corner[e]], *b = x[corner[(e + 1) % corners]], *c = x[corner[(e + 2) % corners]];
        assert_true(spragPlanarArea(a, b, c) > 0);
        for (int k = 0; k < count; ++k)
            assert_true(spragPlanarArea(a, b, x[k]) >= -(beside + 1e-12) * spragPlanarDistance(a, b));
    }
}

static void everyPointLiesWithin(void **state)
{
    (void)state;
    unsigned long long seed = 1;
    for (int run = 0; run < 2000; ++run) {
        const int count = 3 + run % (SPRAG_PLANAR_MOST - 2);
        const double beside = run % 2 ? 1e-9 : 1e-2;
        double x[SPRAG_PLANAR_MOST][2];
        int corner[SPRAG_PLANAR_MOST];
        for (int k = 0; k < count; ++k)
            for (int i = 0; i < 2; ++i)
                x[k][i] = draw(&seed);
        const int corners = spragPlanarHull((const double(*)[2])x, count, beside, corner);
        assert_in_range(corners, 2, count);
        if (corners > 2)
            checkHull((const double(*)[2])x, count, beside, corner, corners);
    }
}

/* A square of 7 x 7 points, in any order, each moved by rounding. */
static void squaresHaveFourCorners(void **state)
{
    (void)state;
    enum { SIDE = 7, POINTS = SIDE * SIDE };
    unsigned long long seed = 2;
    for (int run = 0; run < 500; ++run) {
        double x[POINTS][2];
        int corner[POINTS];
        for (int k = 0; k < POINTS; ++k) {
            x[k][0] = k / SIDE + 1e-15 * draw(&seed);
            x[k][1] = k % SIDE + 1e-15 * draw(&seed);
        }
        for (int k = POINTS - 1; k > 0; --k) {
            const int other = (int)(draw(&seed) * (k + 1));
            double swap[2];
            memcpy(swap, x[k], sizeof swap);
            memcpy(x[k], x[other], sizeof swap);
            memcpy(x[other], swap, sizeof swap);
        }
        assert_int_equal(spragPlanarHull((const double(*)[2])x, POINTS, 1e-9, corner), 4);
        for (int e = 0; e < 4; ++e)
            CHECK_NEAR(spragPlanarDistance(x[corner[e]], x[corner[(e + 1) % 4]]), SIDE - 1, 1e-12);
    }
}

static void linesAndPointsAreTold(void **state)
{
    (void)state;
    const double line[4][2] = {{1, 1}, {0, 0}, {3, 3}, {2, 2}}, place[3][2] = {{1, 2}, {1, 2}, {1, 2}};
    int corner[4];
    assert_int_equal(spragPlanarHull(line, 4, 1e-9, corner), 2);
    CHECK_NEAR(spragPlanarDistance(line[corner[0]], line[corner[1]]), 3 * sqrt(2), 1e-12);
    assert_int_equal(spragPlanarHull(place, 3, 1e-9, corner), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyPointLiesWithin),
        cmocka_unit_test(squaresHaveFourCorners),
        cmocka_unit_test(linesAndPointsAreTold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
