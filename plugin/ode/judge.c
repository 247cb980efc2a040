#include "ode/judge.h"

#include <math.h>

#include "base/status.h"
#include "linalg/vec3.h"
#include "ode/rows.h"
#include "problem/residual.h"

spragStatus spragJudgePrepare(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    world->heard = SPRAG_TAKE(&world->arena, spragHeardJoint, s->joint_count);
    if (world->heard == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to listen to %d joints", s->joint_count);
    for (int j = 0; j < s->joint_count; ++j)
        if (s->joint[j].contact != NULL) {
            world->heard[j].before = dJointGetFeedback(s->joint[j].id);
            dJointSetFeedback(s->joint[j].id, &world->heard[j].feedback);
        }
    return SPRAG_OK;
}

/* The velocity-product term is Sprag's, not ODE's: an answer of ODE is judged by the problem without it. */
static void judgeIsland(const struct spragWorld *world, spragIsland *island)
{
    const double h = world->snapshot.step;
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        const dReal *f = world->heard[block->joint].feedback.f1;
        const double force[3] = {f[0], f[1], f[2]};
        island->r[3 * k] = h * spragDot3(force, block->n);
        island->r[3 * k + 1] = block->unused[1] ? 0 : h * spragDot3(force, block->t1);
        island->r[3 * k + 2] = block->unused[2] ? 0 : h * spragDot3(force, block->t2) / block->scale;
    }
    spragProblemVelocity(&island->problem, island->r, island->u);
    for (int k = 0; k < island->block_count; ++k)
        for (int i = 0; i < 3; ++i)
            island->u[3 * k + i] -= h * island->block[k].product[i];
    island->solve.residual = spragVelocityResidual(&island->problem, island->r, island->u);
}

void spragJudgeStock(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    for (int k = 0; k < s->island_count; ++k) {
        spragIsland *island = &s->island[k];
        int judged = island->declined == NULL;
        for (int b = 0; b < island->block_count && judged; ++b)
            judged = island->block[b].part == SPRAG_PART_CONTACT && island->block[b].kind != SPRAG_BLOCK_BOX;
        if (!judged)
            continue; /* limits, motors and rolling friction have no feedback of their own */
        judgeIsland(world, island);
        world->info.residual = fmax(world->info.residual, island->solve.residual);
        world->info.contacts += island->contact_count;
        ++world->info.solved[SPRAG_SOLVER_STOCK];
    }
    world->info.islands = s->island_count;
    for (int j = 0; j < s->joint_count; ++j)
        if (s->joint[j].contact != NULL) {
            if (world->heard[j].before != NULL)
                *world->heard[j].before = world->heard[j].feedback;
            dJointSetFeedback(s->joint[j].id, world->heard[j].before);
        }
}
