#include "solve/greedy/greedy_hold.h"

#include "linalg/vec3.h"
#include "solve/greedy/greedy_lanes.h"

static int isSteep(double mu)
{
    return mu > SPRAG_GREEDY_STEEP && isfinite(mu);
}

int spragGreedySticks(const spragGreedy *greedy, int steep)
{
    for (int k = 0; k < greedy->contact_count; ++k) {
        const double mu = greedy->contact[k].mu;
        if (mu == SPRAG_GREEDY_STICKS || mu == SPRAG_GREEDY_PARTED || (steep && isSteep(mu)))
            return 1;
    }
    return 0;
}

static void changed(spragGreedy *greedy)
{
    greedy->best_residual = INFINITY; /* of other laws */
    if (greedy->lanes != NULL)
        greedy->lanes->done = greedy->lanes->judged = 0;
}

void spragGreedyHoldSteep(spragGreedy *greedy, double *mu)
{
    for (int k = 0; k < greedy->contact_count; ++k) {
        mu[k] = greedy->contact[k].mu;
        if (isSteep(mu[k]))
            greedy->contact[k].mu = SPRAG_GREEDY_STICKS;
    }
}

int spragGreedyHoldLess(spragGreedy *greedy, const double *mu, int all)
{
    int any = 0;
    for (int k = 0; k < greedy->contact_count; ++k) {
        spragGreedyContact *c = &greedy->contact[k];
        const int less = all || c->mu == SPRAG_GREEDY_PARTED || spragNorm2(c->r + 1) > mu[k] * c->r[0];
        if (!isSteep(mu[k]) || !less)
            continue;
        c->mu = mu[k];
        any = 1;
    }
    if (any)
        changed(greedy);
    return any;
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
