#include "ode/step/judge.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "linalg/ldlt.h"
#include "linalg/vec3.h"
#include "ode/rows/joint_blocks.h"
#include "ode/rows/joint_rows.h"
#include "problem/residual.h"

spragStatus spragJudgePrepare(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    world->heard = SPRAG_TAKE(&world->arena, spragHeardJoint, s->joint_count);
    if (world->heard == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to listen to %d joints", s->joint_count);
    for (int j = 0; j < s->joint_count; ++j) {
        world->heard[j].before = dJointGetFeedback(s->joint[j].id);
        if (world->heard[j].before != NULL) /* of a joint that sleeps ODE tells nothing: it keeps what it had */
            world->heard[j].feedback = *world->heard[j].before;
        dJointSetFeedback(s->joint[j].id, &world->heard[j].feedback);
    }
    return SPRAG_OK;
}

/* The rows of one joint, and where their impulses are written: NULL for rows without bounds. */
typedef struct Rows {
    int count;
    double J[SPRAG_JOINT_ROW_MAX][12]; /* (count x 12) of both bodies */
    double *impulse[SPRAG_JOINT_ROW_MAX];
} Rows;

static void addRow(Rows *rows, const double J[6], const double other[6], double *impulse)
{
    memcpy(rows->J[rows->count], J, 6 * sizeof *J);
    memcpy(rows->J[rows->count] + 6, other, 6 * sizeof *J);
    rows->impulse[rows->count++] = impulse;
}

/* Collects the rows of a joint whose limits and motors begin with block k.  Returns the block after these. */
static int collectRows(const spragIsland *island, int k, Rows *rows)
{
    const int joint = island->block[k].joint;
    rows->count = 0;
    for (int e = 0; e < island->row_count; ++e)
        if (island->row[e].joint == joint)
            addRow(rows, island->row[e].J[0], island->row[e].J[1], NULL);
    for (; k < island->block_count && island->block[k].joint == joint; ++k)
        for (int i = 0; i < 3; ++i) {
            island->r[3 * k + i] = 0;
            if (!island->block[k].unused[i])
                addRow(rows, island->block[k].J[0][i], island->block[k].J[1][i], &island->r[3 * k + i]);
        }
    return k;
}

/* ODE tells F (12), what all rows of a joint do to its bodies together: J^T lambda = h F, so J J^T lambda = h J F. */
static void readJoint(const dJointFeedback *heard, double h, const Rows *rows)
{
    enum { MOST = SPRAG_JOINT_ROW_MAX };
    static const int first[MOST] = {0};
    const dReal *const part[4] = {heard->f1, heard->t1, heard->f2, heard->t2};
    const int m = rows->count;
    double A[MOST * MOST], inverse_pivot[MOST], lambda[MOST];
    for (int i = 0; i < m; ++i) {
        lambda[i] = 0;
        for (int k = 0; k < 12; ++k)
            lambda[i] += h * rows->J[i][k] * part[k / 3][k % 3];
        for (int j = 0; j < m; ++j) {
            A[i * m + j] = 0;
            for (int k = 0; k < 12; ++k)
                A[i * m + j] += rows->J[i][k] * rows->J[j][k];
        }
    }
    spragLdltFactor(m, first, A, inverse_pivot);
    spragLdltForward(m, first, A, 1, 0, lambda);
    for (int i = 0; i < m; ++i)
        lambda[i] *= inverse_pivot[i];
    spragLdltBackward(m, first, A, lambda);
    for (int i = 0; i < m; ++i)
        if (rows->impulse[i] != NULL)
            *rows->impulse[i] = lambda[i];
}

static void readContact(const dJointFeedback *heard, double h, const spragBlock *block, double r[3])
{
    const double force[3] = {heard->f1[0], heard->f1[1], heard->f1[2]};
    r[0] = h * spragDot3(force, block->n);
    r[1] = block->unused[1] ? 0 : h * spragDot3(force, block->t1);
    r[2] = block->unused[2] ? 0 : h * spragDot3(force, block->t2) / block->scale;
}

/* The velocity-product term is Sprag's, not ODE's: an answer of ODE is judged by the problem without it. */
static void judgeIsland(const struct spragWorld *world, spragIsland *island)
{
    const double h = world->snapshot.step;
    Rows rows;
    for (int k = 0; k < island->block_count;) {
        const spragBlock *block = &island->block[k];
        const dJointFeedback *heard = &world->heard[block->joint].feedback;
        if (block->part == SPRAG_PART_JOINT) {
            k = collectRows(island, k, &rows);
            readJoint(heard, h, &rows);
        } else {
            readContact(heard, h, block, island->r + 3 * k++);
        }
    }
    spragProblemVelocity(&island->problem, island->r, island->u);
    for (int k = 0; k < island->block_count; ++k)
        for (int i = 0; i < 3; ++i)
            island->u[3 * k + i] -= h * island->block[k].product[i] - island->block[k].lead[i];
    island->solve.residual = spragVelocityResidual(&island->problem, island->r, island->u);
}

void spragJudgeStock(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    for (int k = 0; k < s->island_count; ++k) {
        spragIsland *island = &s->island[k];
        int judged = island->declined == NULL;
        for (int b = 0; b < island->block_count && judged; ++b)
            judged = island->block[b].part == SPRAG_PART_JOINT ||
                     (island->block[b].part == SPRAG_PART_CONTACT && island->block[b].kind != SPRAG_BLOCK_BOX);
        if (!judged)
            continue; /* rolling friction has no feedback of its own, guides have none */
        judgeIsland(world, island);
        world->info.residual = fmax(world->info.residual, island->solve.residual);
        world->info.contacts += island->contact_count;
        ++world->info.solved[SPRAG_SOLVER_STOCK];
    }
    world->info.islands = s->island_count;
    for (int j = 0; j < s->joint_count; ++j) {
        if (world->heard[j].before != NULL)
            *world->heard[j].before = world->heard[j].feedback;
        dJointSetFeedback(s->joint[j].id, world->heard[j].before);
    }
}
