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

static inline int oracleHas(const Json *one, const char *key, const char *word)
{
    return word == NULL || strcmp(jsonGet(one, key)->text, word) == 0;
}

/* The case after `before` (NULL: the first) of a system and a kind (NULL: any); NULL after the last. */
static inline const Json *oracleNext(const char *system, const char *kind, const Json *before)
{
    const Json *cases = jsonGet(&oracle, "cases");
    for (const Json *one = before == NULL ? cases->first : before + 1; one < cases->first + cases->count; ++one)
        if (oracleHas(one, "system", system) && oracleHas(one, "kind", kind))
            return one;
    return NULL;
}

#endif
