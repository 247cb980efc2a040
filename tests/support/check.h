/* Checks in double precision (cmocka's float checks compare in single) and the cmocka includes. */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define CHECK_NEAR(actual, expected, tolerance)                                                                        \
    checkNear((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)

/* The same of what is finer than double. */
#define CHECK_FINE(actual, expected, tolerance) CHECK_NEAR((double)(actual), (double)(expected), (double)(tolerance))

static inline void checkNear(double actual, double expected, double tolerance, const char *what, const char *file,
                             int line)
{
    if (!(fabs(actual - expected) <= tolerance)) {
        print_error("%s = %.17g, expected %.17g within %g (off by %g)\n", what, actual, expected, tolerance,
                    actual - expected);
        _fail(file, line);
    }
}

#endif
