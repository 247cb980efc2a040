/* Random numbers, the same bits everywhere. */
#ifndef TESTS_SUPPORT_UNIFORM_H
#define TESTS_SUPPORT_UNIFORM_H

/* In (-1, 1): xorshift64* of Vigna 2016.  *state != 0. */
static inline double uniform(unsigned long long *state)
{
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return (double)(*state * 2685821657736338717ULL >> 11) / 4503599627370496.0 - 1;
}

#endif
