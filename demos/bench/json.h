/* What JSON has no word for is null. */
#ifndef DEMOS_BENCH_JSON_H
#define DEMOS_BENCH_JSON_H

#include <math.h>
#include <stdio.h>

static inline void jsonNumber(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, "%.9g", x);
    else
        fprintf(out, "null");
}

#endif
