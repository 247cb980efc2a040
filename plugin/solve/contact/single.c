#include "solve/contact/single.h"

#include <math.h>
#include <string.h>

#include "problem/residual.h"
#include "solve/contact/cone_block.h"
#include "solve/contact/local.h"
#include "solve/contact/policy.h"

/* A two-sided contact loaded on its other side is the mirror image. */
static int solveRegular(spragBlockKind kind, const double W[9], const double q[3], double mu, double mu_minus,
                        double r[3])
{
    if (kind == SPRAG_BLOCK_CONTACT || (kind == SPRAG_BLOCK_TWO_SIDED && q[0] < 0))
        return spragLocalRegular(W, q, mu, r);
    if (kind != SPRAG_BLOCK_TWO_SIDED || q[0] == 0)
        return 0;
    const double mirror[9] = {W[0], -W[1], -W[2], -W[3], W[4], W[5], -W[6], W[7], W[8]}, p[3] = {-q[0], q[1], q[2]};
    double s[3];
    if (!spragLocalRegular(mirror, p, mu_minus, s))
        return 0;
    r[0] = -s[0], r[1] = s[1], r[2] = s[2];
    return 1;
}

/* A problem without history tells of the motion before only by q: the contact slides as it would end without force. */
static spragContactHistory historyOf(const spragProblem *problem)
{
    if (problem->history != NULL)
        return problem->history[0];
    return (spragContactHistory){
        .slip = {problem->q[1], problem->q[2]}, .free_acceleration = problem->q[0], .fresh = 1};
}

int spragSingleIs(const spragProblem *problem)
{
    return problem->contact_count == 1 && spragKindOf(problem, 0) != SPRAG_BLOCK_ROLLING;
}

void spragSingleSolve(const spragProblem *problem, const spragSolveOptions *options, double *r, spragSolveInfo *info)
{
    const spragBlockKind kind = spragKindOf(problem, 0);
    const double mu = problem->mu[0], mu_minus = spragMuMinusOf(problem, 0);
    const double *W = problem->W, *q = problem->q;
    ++info->iterations;
    if (kind == SPRAG_BLOCK_BOX) {
        spragBoxBlockSolve(W, q, problem->bound, problem->bound + 3, r);
        return;
    }
    if (kind == SPRAG_BLOCK_FORCE_LIMIT) {
        spragDiscBlockSolve(W, q, 0, 0, INFINITY, mu, r);
        return;
    }
    if (solveRegular(kind, W, q, mu, mu_minus, r))
        return;
    spragLocalSolution solution[SPRAG_LOCAL_MAX];
    const int count = spragLocalEnumerate(kind, W, q, mu, mu_minus, solution);
    if (count == 0)
        return;
    const spragContactHistory history = historyOf(problem);
    const spragIndeterminacy policy = options->indeterminacy;
    const int two_sided = kind == SPRAG_BLOCK_TWO_SIDED;
    const spragIndicator indicator =
        two_sided ? spragIndicatorTwoSided(W, mu, mu_minus, &history) : spragIndicatorOf(W, mu, &history, policy);
    const int pick = spragLocalPick(count, solution, &indicator, &history, problem->step, policy, info);
    if (pick < 0)
        return;
    info->several |= two_sided && indicator.quadrant == SPRAG_QUADRANT_INDETERMINATE;
    memcpy(r, solution[pick].r, 3 * sizeof *r);
}
