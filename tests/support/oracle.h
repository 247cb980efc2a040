/* Reference values in tests. */
#ifndef TESTS_SUPPORT_ORACLE_H
#define TESTS_SUPPORT_ORACLE_H

#include "support/check.h"

#include "scenes/oracle.h"

#endif
