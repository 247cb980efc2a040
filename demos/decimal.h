/* Numbers as people type them: decimal, finite; not what else strtod takes (0x10, inf, nan). */
#ifndef DEMOS_DECIMAL_H
#define DEMOS_DECIMAL_H

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Where the number ends, or NULL if there is none. */
static inline const char *decimalRead(const char *text, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    for (const char *c = text; c != end; ++c)
        if (*c == 'x' || *c == 'X')
            return NULL;
    return end != text && errno == 0 && isfinite(*out) ? end : NULL;
}

/* 1: the text is a number and nothing else. */
static inline int decimalParse(const char *text, double *out)
{
    const char *end = decimalRead(text, out);
    return end != NULL && *end == '\0';
}

#endif
