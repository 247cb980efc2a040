#include "ode/rows/singular.h"

#include "base/pool.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"

/* v_n+ of the impact that ends the slip, m/s. */
static double reboundOf(const double W[9], double mu, const spragContactHistory *history, double restitution)
{
    const double v[3] = {0, history->slip[0], history->slip[1]};
    double P[3], after[3], held[9];
    for (int i = 0; i < 9; ++i)
        held[i] = W[i] - history->held[i];
    return spragJamImpulse(held, mu, restitution, v, P, after) == SPRAG_OK ? after[0] : 0;
}

double spragSingularShift(const struct spragWorld *world, const spragIsland *island, int k)
{
    const spragProblem *problem = &island->problem;
    const spragBlock *block = &island->block[k];
    if (block->kind != SPRAG_BLOCK_CONTACT)
        return 0;
    const double *W = problem->W + 9 * spragProblemDiagonal(problem, k);
    const spragContactHistory *history = &problem->history[k];
    if (history->slip[0] == 0 && history->slip[1] == 0)
        return 0;
    const spragIndicator indicator = spragIndicatorOf(W, block->mu, history, world->config.indeterminacy);
    if (indicator.quadrant == SPRAG_QUADRANT_INDETERMINATE && indicator.lifts)
        return block->correction;
    const int jams = indicator.quadrant == SPRAG_QUADRANT_INCONSISTENT ||
                     (indicator.quadrant == SPRAG_QUADRANT_INDETERMINATE && !indicator.lifts);
    const double restitution = world->config.tangential_restitution;
    return jams && restitution > 0 ? -reboundOf(W, block->mu, history, restitution) : 0;
}

typedef struct Adjusting {
    const struct spragWorld *world;
    const spragIsland *island;
    double *q;
} Adjusting;

static void adjustRange(void *data, int range, int first, int end)
{
    (void)range;
    const Adjusting *adjusting = data;
    for (int k = first; k < end; ++k)
        adjusting->q[3 * k] += spragSingularShift(adjusting->world, adjusting->island, k);
}

void spragSingularAdjust(const struct spragWorld *world, const spragIsland *island, double *q)
{
    spragRangesRun(island->block_count, adjustRange, &(Adjusting){world, island, q});
}
