#include "ode/islands/passing.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/ledger/record.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"
#include "solve/solver.h"

enum { BLOCKS_MAX = 16 };

/* m/s: by how much forces change the velocity of row `row` in the step. */
static double driveOf(const spragIsland *island, int k, int row)
{
    const spragBlock *block = &island->block[k];
    return island->problem.q[3 * k + row] + block->rhs[row] - block->velocity[row];
}

/* Are forces enough to bring a slip back? */
static int isDriven(const spragIsland *island, int k)
{
    const spragProblem *p = &island->problem;
    const double *W = p->W + 9 * (size_t)spragProblemDiagonal(p, k), w = (W[0] + W[4] + W[8]) / 3;
    return hypot(driveOf(island, k, 1), driveOf(island, k, 2)) >
           SPRAG_PASSING_SHARE * p->mu[k] * fabs(island->r[3 * k]) * w;
}

/* Did the contact slide into the step, and does it stand at its end? */
static int stops(const spragIsland *island, int k, double still)
{
    const spragContactHistory *past = &island->problem.history[k];
    const spragBlockPart part = island->block[k].part;
    return (spragBlockIsReported(&island->block[k]) || part == SPRAG_PART_OPPOSITE) && past->mode == SPRAG_MODE_SLIP &&
           !past->fresh && spragNorm2(past->slip) > SPRAG_SLIP_TOLERANCE && spragNorm2(island->u + 3 * k + 1) <= still;
}

/* What follows the step: q, history and coefficients of where it ends. */
typedef struct Next {
    double q[3 * BLOCKS_MAX], mu[BLOCKS_MAX], mu_minus[BLOCKS_MAX], r[3 * BLOCKS_MAX], u[3 * BLOCKS_MAX];
    spragContactHistory history[BLOCKS_MAX];
} Next;

static void goOn(const spragIsland *island, int k, double step, double still, Next *next)
{
    const spragBlock *block = &island->block[k];
    const spragProblem *p = &island->problem;
    const double *u = island->u + 3 * k, *r = island->r + 3 * k;
    const int rests = spragNorm2(u + 1) <= still;
    spragContactHistory *past = &next->history[k];
    for (int row = 0; row < 3; ++row)
        next->q[3 * k + row] = u[row] + driveOf(island, k, row);
    next->mu[k] = rests && block->differ ? block->resting[0] : p->mu[k];
    next->mu_minus[k] = rests && block->differ ? block->resting[1] : spragMuMinusOf(p, k);
    memcpy(next->r + 3 * k, r, 3 * sizeof *r);
    *past = p->history[k];
    for (int i = 0; i < 2; ++i) {
        past->previous_slip[i] = past->slip[i];
        past->slip[i] = rests ? 0 : u[1 + i];
    }
    past->previous_normal = fabs(r[0]) / step;
    past->mode = r[0] == 0 ? SPRAG_MODE_OPEN : rests ? SPRAG_MODE_STICK : SPRAG_MODE_SLIP;
    past->judged = 0;
}

void spragPassingFind(const struct spragWorld *world, const spragSolveOptions *options, spragIsland *island)
{
    const int n = island->block_count;
    const double still = spragStill(island->solve.residual);
    int stopped = 0;
    for (int k = 0; k < n && n <= BLOCKS_MAX && !(island->wedge.speed > 0); ++k)
        stopped += stops(island, k, still) && isDriven(island, k);
    if (stopped == 0)
        return;
    spragArena *arena = &island->lane->arena;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    Next *next = SPRAG_TAKE_RAW(arena, Next, 1);
    if (next == NULL)
        return;
    for (int k = 0; k < n; ++k)
        goOn(island, k, world->snapshot.step, still, next);
    spragProblem problem = island->problem;
    problem.q = next->q, problem.mu = next->mu, problem.history = next->history;
    problem.mu_minus = problem.mu_minus != NULL ? next->mu_minus : NULL;
    spragSolveInfo info;
    spragSolveOptions own = *options;
    own.solver = SPRAG_SOLVER_VARIANT;
    const spragStatus status = spragChainSolve(&problem, &own, arena, next->r, next->u, &info);
    island->asked = info.iterations;
    if (status == SPRAG_OK)
        for (int k = 0; k < n; ++k) {
            const double *back = next->u + 3 * k + 1, *slip = island->problem.history[k].slip;
            island->block[k].passes =
                stops(island, k, still) && spragNorm2(back) > still && back[0] * slip[0] + back[1] * slip[1] < 0;
        }
    spragArenaRelease(arena, mark);
}
