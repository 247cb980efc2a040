/* What stands for fmax and fmin has their values, of what is not a number too. */
#include "support/check.h"

#include <math.h>

#include "base/extremes.h"

static int same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void areThoseOfTheLibrary(void **state)
{
    (void)state;
    static const double some[] = {-INFINITY, -2, -1e-310, -0.0, 0.0, 1e-310, 1, 2, INFINITY, NAN};
    enum { COUNT = sizeof some / sizeof *some };
    for (int i = 0; i < COUNT; ++i)
        for (int j = 0; j < COUNT; ++j) {
            volatile double a = some[i], b = some[j]; /* volatile: as they are when nothing is known of them */
            assert_true(same(spragMax(a, b), fmax(a, b)));
            assert_true(same(spragMin(a, b), fmin(a, b)));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(areThoseOfTheLibrary)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
