#include "ode/world/manner.h"

#include <math.h>

enum {
    COUNTED = SPRAG_MANNER_COUNTED,
    PERIOD = 128, /* steps: if the other manner takes half as long again, trying it costs 2 % */

    /* Steps of a period: */
    OWN = 8,                /* the first whose time counts: by then caches hold what this manner needs */
    OTHER = OWN + COUNTED,  /* the first in the other manner */
    TRIED = OTHER + 2,      /* the first of the other manner whose time counts */
    BACK = TRIED + COUNTED, /* the first after these, in its own manner */
    AGAIN = BACK + 2,       /* the first of its own whose time counts again */
    END = AGAIN + COUNTED
};
#define CLEARLY 0.9 /* of the time of its own manner: the other one is kept if it takes less */
#define SHORT 5e-3  /* s: longer steps always have all threads */

int spragMannerIsAlone(const spragManner *manner)
{
    return manner->alone != (manner->step >= OTHER && manner->step < BACK);
}

static double median(double cost[COUNTED])
{
    for (int i = 1; i < COUNTED; ++i)
        for (int j = i; j > 0 && cost[j] < cost[j - 1]; --j) {
            const double less = cost[j];
            cost[j] = cost[j - 1], cost[j - 1] = less;
        }
    return cost[COUNTED / 2];
}

void spragMannerNote(spragManner *manner, double seconds, int joints)
{
    if (!(seconds <= SHORT)) { /* what was no gain, or not known yet, is tried in the next period; what was, now */
        *manner = (spragManner){.step = manner->alone ? 0 : END};
        return;
    }
    const int step = manner->step++;
    if (step >= OWN && step < OTHER)
        manner->cost[0][step - OWN] = seconds / joints;
    if (step >= TRIED && step < BACK)
        manner->cost[1][step - TRIED] = seconds / joints;
    if (step >= AGAIN && step < END)
        manner->cost[2][step - AGAIN] = seconds / joints;
    if (step == END - 1 && median(manner->cost[1]) < CLEARLY * fmin(median(manner->cost[0]), median(manner->cost[2])))
        manner->alone = !manner->alone;
    if (step == PERIOD - 1)
        manner->step = 0;
}
