/* What depends on chance in one world is counted over several, which differ by the last digits of gravity. */
#ifndef TESTS_SUPPORT_LAST_DIGITS_H
#define TESTS_SUPPORT_LAST_DIGITS_H

#include <ode/ode.h>

/* The k-th of the sample; of 0 nothing is changed. */
static inline void changeLastDigits(dWorldID world, int k)
{
    const dReal share = (dReal)(1 + 1e-13 * k);
    dVector3 g;
    dWorldGetGravity(world, g);
    dWorldSetGravity(world, share * g[0], share * g[1], share * g[2]);
}

#endif
