/* Names of solvers. */
#include "support/check.h"

#include <sprag/sprag.h>

static void namesAndKindsAgree(void **state)
{
    (void)state;
    for (int k = 0; k < SPRAG_SOLVER_COUNT; ++k)
        assert_int_equal(spragSolverFind(spragSolverName((spragSolverKind)k)), k);
    assert_int_equal(spragSolverFind("bullet"), SPRAG_SOLVER_COUNT);
    assert_int_equal(spragSolverFind(NULL), SPRAG_SOLVER_COUNT);
    assert_string_equal(spragSolverName(SPRAG_SOLVER_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(namesAndKindsAgree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
