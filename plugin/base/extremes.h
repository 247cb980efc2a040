/* fmax and fmin where contacts are walked by the thousand: the same bits, of what is not a number too, without a call
 * of the library. */
#ifndef SPRAG_BASE_EXTREMES_H
#define SPRAG_BASE_EXTREMES_H

/* Of two equals b (of which one may be -0). */
static inline double spragMax(double a, double b)
{
    return a > b || b != b ? a : b;
}

static inline double spragMin(double a, double b)
{
    return a < b || b != b ? a : b;
}

#endif
