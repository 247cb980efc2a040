/* A refusal: the status, and a sentence that names what was wrong. */
#ifndef TESTS_SUPPORT_REFUSAL_H
#define TESTS_SUPPORT_REFUSAL_H

#include "support/check.h"

#include <string.h>

#include <sprag/sprag.h>

#define CHECK_REFUSED(call, status, words) checkRefused((call), (status), (words), #call, __FILE__, __LINE__)

static inline void checkRefused(spragStatus actual, spragStatus expected, const char *words, const char *call,
                                const char *file, int line)
{
    if (actual != expected || strstr(spragStatusDetail(), words) == NULL) {
        print_error("%s: %s: '%s', expected %s: '%s'\n", call, spragStatusText(actual), spragStatusDetail(),
                    spragStatusText(expected), words);
        _fail(file, line);
    }
}

#endif
