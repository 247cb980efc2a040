#include "solve/greedy_hold.h"

#include "solve/greedy_lanes.h"

int spragGreedySticks(const spragGreedy *greedy)
{
    for (int k = 0; k < greedy->contact_count; ++k)
        if (greedy->contact[k].mu == SPRAG_GREEDY_STICKS || greedy->contact[k].mu == SPRAG_GREEDY_PARTED)
            return 1;
    return 0;
}

static void changed(spragGreedy *greedy)
{
    greedy->best_residual = INFINITY; /* of other laws */
    if (greedy->lanes != NULL)
        greedy->lanes->done = greedy->lanes->judged = 0;
}

void spragGreedyHoldFirst(spragGreedy *greedy)
{
    for (int k = 0; k < greedy->contact_count; ++k) {
        spragGreedyContact *c = &greedy->contact[k];
        double u[3];
        if (c->mu != SPRAG_GREEDY_STICKS || c->r[0] > 0)
            continue;
        spragGreedyMotion(greedy, k, u);
        if (!(c->q[0] + u[0] < 0))
            c->mu = SPRAG_GREEDY_PARTED;
    }
    changed(greedy);
}

int spragGreedyHoldAgain(spragGreedy *greedy, int release, int with_return)
{
    int any = 0;
    for (int k = 0; k < greedy->contact_count; ++k) {
        spragGreedyContact *c = &greedy->contact[k];
        if (release && c->mu == SPRAG_GREEDY_STICKS && !(c->r[0] > 0)) {
            c->mu = SPRAG_GREEDY_PARTED;
            c->r[1] = c->r[2] = 0;
        } else if (with_return && c->mu == SPRAG_GREEDY_PARTED && c->r[0] > 0) {
            c->mu = SPRAG_GREEDY_STICKS;
        } else {
            continue;
        }
        any = 1;
    }
    if (!any)
        return 0;
    spragGreedySum(greedy);
    changed(greedy);
    return 1;
}
