#include "ode/singular.h"

#include <math.h>

#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/policy.h"

/* v_n+ of the impact that ends a slip along e, m/s.  A_t, A_tn are W along e: exact where the slip keeps its direction
 * (planar problems), and W_tt e is parallel to e. */
static double reboundOf(const double W[9], double mu, const double slip[2], double p, double restitution)
{
    const double speed = spragNorm2(slip), e[2] = {slip[0] / speed, slip[1] / speed};
    const double At = e[0] * (W[4] * e[0] + W[5] * e[1]) + e[1] * (W[7] * e[0] + W[8] * e[1]);
    const double Atn = W[1] * e[0] + W[2] * e[1];
    const double r = mu * At - Atn, p_st = W[0] - Atn * Atn / At;
    return r > 0 && p_st > 0 ? restitution * speed / r * sqrt(p * p - p * p_st) : 0;
}

void spragSingularAdjust(const struct spragWorld *world, const spragIsland *island, double *q)
{
    const spragProblem *problem = &island->problem;
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        if (block->kind != SPRAG_BLOCK_CONTACT)
            continue;
        const double *W = problem->W + 9 * spragProblemDiagonal(problem, k);
        const spragContactHistory *history = &problem->history[k];
        const spragIndicator indicator = spragIndicatorOf(W, block->mu, history, world->config.indeterminacy);
        const int jams = indicator.quadrant == SPRAG_QUADRANT_INCONSISTENT ||
                         (indicator.quadrant == SPRAG_QUADRANT_INDETERMINATE && !indicator.lifts);
        if (indicator.quadrant == SPRAG_QUADRANT_INDETERMINATE && indicator.lifts)
            q[3 * k] += block->correction;
        else if (jams && world->config.tangential_restitution > 0)
            q[3 * k] -= reboundOf(W, block->mu, history->slip, indicator.p, world->config.tangential_restitution);
    }
}
