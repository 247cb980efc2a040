#include "ode/world/thread_choice.h"

#include <math.h>

enum {
    COUNTED = SPRAG_THREAD_CHOICE_COUNTED,
    PERIOD = 128, /* steps: if the other choice takes half as long again, trying it costs 2 % */

    /* Steps of a period: */
    OWN = 8,                /* the first whose time counts: by then caches hold what this choice needs */
    OTHER = OWN + COUNTED,  /* the first in the other choice */
    TRIED = OTHER + 2,      /* the first of the other choice whose time counts */
    BACK = TRIED + COUNTED, /* the first after these, in its own choice */
    AGAIN = BACK + 2,       /* the first of its own whose time counts again */
    END = AGAIN + COUNTED
};
#define CLEARLY 0.9 /* of the time of its own choice: the other one is kept if it takes less */
#define SHORT 5e-3  /* s: longer steps always have all threads */

int spragThreadChoiceIsAlone(const spragThreadChoice *choice)
{
    return choice->alone != (choice->step >= OTHER && choice->step < BACK);
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

void spragThreadChoiceNote(spragThreadChoice *choice, double seconds, int joints)
{
    if (!(seconds <= SHORT)) { /* what was no gain, or not known yet, is tried in the next period; what was, now */
        *choice = (spragThreadChoice){.step = choice->alone ? 0 : END};
        return;
    }
    const int step = choice->step++;
    if (step >= OWN && step < OTHER)
        choice->cost[0][step - OWN] = seconds / joints;
    if (step >= TRIED && step < BACK)
        choice->cost[1][step - TRIED] = seconds / joints;
    if (step >= AGAIN && step < END)
        choice->cost[2][step - AGAIN] = seconds / joints;
    if (step == END - 1 && median(choice->cost[1]) < CLEARLY * fmin(median(choice->cost[0]), median(choice->cost[2])))
        choice->alone = !choice->alone;
    if (step == PERIOD - 1)
        choice->step = 0;
}
