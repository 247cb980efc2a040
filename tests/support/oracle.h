/* Reference values in tests. */
#ifndef TESTS_SUPPORT_ORACLE_H
#define TESTS_SUPPORT_ORACLE_H

#include "support/check.h"

#include "scenes/oracle.h"

/* Reference values for a whole program: cmocka_run_group_tests(tests, oracleSetup, oracleTeardown). */
static Json oracle;

static inline int oracleSetup(void **state)
{
    (void)state;
    oracleOpen(&oracle);
    return 0;
}

static inline int oracleTeardown(void **state)
{
    (void)state;
    jsonFree(&oracle);
    return 0;
}

#endif
