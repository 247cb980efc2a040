#include "solve/contact/grow.h"

#include <math.h>

int spragFrictionGrow(double shortest, spragGrowFn *goes_on, void *data)
{
    const double longest = 1.0 / 64;
    for (double share = 0, step = longest; share < 1;) {
        const double next = fmin(share + step, 1);
        const int last = step <= shortest;
        if (goes_on(data, next, last)) {
            share = next;
            step = fmin(2 * step, longest);
        } else if (last)
            return 0;
        else
            step /= 2;
    }
    return 1;
}
