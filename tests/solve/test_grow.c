/* A path that goes on, one with a corner to be found to the shortest step, one that ends. */
#include "support/check.h"

#include "solve/contact/grow.h"

typedef struct Path {
    double corner, end; /* share at which it changes, and beyond which there is none */
    double at;          /* where it was last */
    int changes;
} Path;

static int goOn(void *data, double share, int last)
{
    Path *path = data;
    if (share > path->end)
        return 0;
    if (path->at < path->corner && share >= path->corner) {
        if (!last)
            return 0;
        CHECK_NEAR(share, path->corner, 1e-6);
        ++path->changes;
    }
    assert_true(share > path->at);
    path->at = share;
    return 1;
}

static void followsToTheEnd(void **state)
{
    (void)state;
    Path straight = {.corner = 2, .end = 2}, bent = {.corner = 0.37, .end = 2}, broken = {.corner = 0.37, .end = 0.6};
    assert_int_equal(spragFrictionGrow(1e-6, goOn, &straight), 1);
    assert_int_equal(straight.changes, 0);
    assert_true(straight.at == 1);
    assert_int_equal(spragFrictionGrow(1e-6, goOn, &bent), 1);
    assert_int_equal(bent.changes, 1);
    assert_true(bent.at == 1);
    assert_int_equal(spragFrictionGrow(1e-6, goOn, &broken), 0);
    CHECK_NEAR(broken.at, 0.6, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(followsToTheEnd)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
