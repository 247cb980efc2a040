/* What a plot keeps: the greatest of every span of time, evenly, however long the run; ticks at round numbers. */
#include "viewer/plot.h"

#include <math.h>
#include <string.h>

#include "support/check.h"

/* 300 000 steps, of which one is a spike: it stays, at its time, and no span has another length than the others. */
static void spikesStay(void **state)
{
    (void)state;
    enum { STEPS = 300000, SPIKE = 200001 };
    Plot plot;
    assert_true(plotCreate(&plot));
    for (int k = 0; k < STEPS; ++k)
        plotAdd(&plot, k == SPIKE ? 7 : k % 2);
    assert_in_range(plot.count * plot.stride - STEPS, 0, plot.stride - 1);
    assert_in_range(plot.stride, 4, 8);
    assert_true(plot.value[SPIKE / plot.stride] == 7);
    for (int k = 0; k < plot.count - 1; ++k)
        assert_true(plot.value[k] == 1 || k == SPIKE / plot.stride);
    assert_true(plotGreatest(&plot) == 7);
    plotDestroy(&plot);
}

static void scaleCutsASpike(void **state)
{
    (void)state;
    Plot plot;
    assert_true(plotCreate(&plot));
    assert_true(plotScale(&plot) == PLOT_ROUNDING);
    for (int k = 0; k < 99; ++k)
        plotAdd(&plot, 1);
    assert_true(plotScale(&plot) == 1);
    plotAdd(&plot, 101); /* the mean is 2 */
    assert_true(plotScale(&plot) == 8);
    plotDestroy(&plot);
}

static void ticksAreRound(void **state)
{
    (void)state;
    for (double range = 1e-7; range < 1e7; range *= 1.0837)
        for (int most = 2; most < 12; ++most) {
            const double step = plotTickStep(range, most), digit = step / pow(10, floor(log10(step) + 1e-9));
            assert_true(fabs(digit - 1) < 1e-9 || fabs(digit - 2) < 1e-9 || fabs(digit - 5) < 1e-9);
            const int count = (int)floor(range / step * (1 + 1e-9));
            assert_in_range(count, (int)((most + 1) / 2.5), most); /* the next finer step has more than `most` */
        }
    CHECK_NEAR(plotTickStep(0.3, 3), 0.1, 1e-12);
    CHECK_NEAR(plotTickStep(1, 3), 0.5, 1e-12);
}

static void ticksSayTheirUnit(void **state)
{
    (void)state;
    char text[40];
    plotTickText(text, sizeof text, 0.3, 0.1, "s");
    assert_string_equal(text, "0.3 s");
    plotTickText(text, sizeof text, 1, 0.5, "");
    assert_string_equal(text, "1.0");
    plotTickText(text, sizeof text, 2000, 1000, "");
    assert_string_equal(text, "2000");
    plotTickText(text, sizeof text, 5e-7, 5e-7, "");
    assert_string_equal(text, "5e-07");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spikesStay), cmocka_unit_test(scaleCutsASpike),
                                       cmocka_unit_test(ticksAreRound), cmocka_unit_test(ticksSayTheirUnit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
