#include "ode/assemble.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "linalg/vec3.h"
#include "ode/articulation.h"
#include "ode/free_motion.h"
#include "ode/held.h"
#include "ode/guide.h"
#include "ode/joint_rows.h"
#include "ode/opposed.h"
#include "ode/singular.h"

/* ---------------------------------------------------------------- blocks */

/* Room for what the joints can bring. */
static int takeBlocks(struct spragWorld *world, spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    int blocks = 0, rows = 0;
    for (int i = 0; i < island->joint_count; ++i) {
        const spragJointState *joint = &s->joint[island->joint[i]];
        const int other = joint->contact == NULL && joint->guide == NULL && joint->type != dJointTypeNull;
        blocks += joint->contact != NULL ? spragContactBlockCount(joint->contact)
                  : joint->guide != NULL ? spragGuideBlockCount(joint->guide)
                                         : other * SPRAG_JOINT_BLOCK_MAX;
        rows += other * SPRAG_JOINT_ROW_MAX;
    }
    island->block = SPRAG_TAKE_RAW(&world->arena, spragBlock, blocks);
    island->row = SPRAG_TAKE_RAW(&world->arena, spragEqualityRow, rows);
    return island->block != NULL && island->row != NULL;
}

static spragStatus addContact(struct spragWorld *world, const spragPointerMap *surfaces, int j, spragIsland *island)
{
    const spragJointState *joint = &world->snapshot.joint[j];
    const spragStatus status = spragContactCheck(joint->contact);
    if (status != SPRAG_OK)
        return status;
    const int k = spragPointerMapGet(surfaces, joint->id);
    const spragSurface surface = k < 0 ? spragSurfaceDefault() : world->surface[k].surface;
    island->declined = spragContactBlocks(world, j, &surface, island->block_count, &island->block[island->block_count]);
    island->block_count += spragContactBlockCount(joint->contact);
    return SPRAG_OK;
}

static void addGuide(const struct spragWorld *world, int j, spragIsland *island)
{
    spragGuideBlocks(world, j, &island->block[island->block_count]);
    island->block_count += spragGuideBlockCount(world->snapshot.joint[j].guide);
}

static spragStatus makeBlocks(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island)
{
    if (!takeBlocks(world, island))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the rows of %d joints", island->joint_count);
    spragStatus status = SPRAG_OK;
    for (int i = 0; i < island->joint_count && island->declined == NULL && status == SPRAG_OK; ++i) {
        const int j = island->joint[i];
        if (world->snapshot.joint[j].contact != NULL)
            status = addContact(world, surfaces, j, island);
        else if (world->snapshot.joint[j].guide != NULL)
            addGuide(world, j, island);
        else
            island->declined = spragJointBlocks(world, j, island);
    }
    return status;
}

/* Rows that do not exist are empty; W gets a diagonal for them, so that their r is 0. */
static void clearUnused(spragBlock *block)
{
    for (int row = 0; row < 3; ++row)
        if (block->unused[row]) {
            memset(block->J[0][row], 0, sizeof block->J[0][row]);
            memset(block->J[1][row], 0, sizeof block->J[1][row]);
            block->rhs[row] = block->product[row] = block->compliance[row] = 0;
        }
}

static int isDynamic(const spragSnapshot *s, int body)
{
    return body >= 0 && !s->body[body].kinematic;
}

static void respond(const spragSnapshot *s, spragBlock *block)
{
    for (int side = 0; side < 2; ++side) {
        if (!isDynamic(s, block->body[side]))
            continue;
        const spragBodyState *body = &s->body[block->body[side]];
        for (int row = 0; row < 3; ++row) {
            for (int i = 0; i < 3; ++i)
                block->Y[side][row][i] = body->inverse_mass * block->J[side][row][i];
            spragMul33(block->Y[side][row] + 3, body->inverse_inertia, block->J[side][row] + 3);
        }
    }
}

/* ---------------------------------------------------------------- pattern */

/* Blocks on each group of bodies (a mechanism, or one body): list[start[p] .. start[p + 1] - 1], ascending; p the place
 * of the group's first body. */
typedef struct Adjacency {
    int *start, *list;
} Adjacency;

/* Group of a block's body on one side, or -1: nothing that moves, or the same group as on the other side. */
static int groupOf(const spragSnapshot *s, const spragBlock *block, int side)
{
    if (!isDynamic(s, block->body[side]))
        return -1;
    const int place = s->body[block->body[side]].place;
    return side == 1 && isDynamic(s, block->body[0]) && s->body[block->body[0]].place == place ? -1 : place;
}

static int makeAdjacency(struct spragWorld *world, const spragIsland *island, Adjacency *adjacency)
{
    const spragSnapshot *s = &world->snapshot;
    int *start = SPRAG_TAKE(&world->arena, int, island->body_count + 2);
    adjacency->start = start;
    adjacency->list = SPRAG_TAKE(&world->arena, int, 2 * island->block_count);
    if (start == NULL || adjacency->list == NULL)
        return 0;
    for (int k = 0; k < island->block_count; ++k)
        for (int side = 0; side < 2; ++side)
            if (groupOf(s, &island->block[k], side) >= 0)
                ++start[groupOf(s, &island->block[k], side) + 2];
    for (int i = 2; i <= island->body_count + 1; ++i)
        start[i] += start[i - 1];
    for (int k = 0; k < island->block_count; ++k)
        for (int side = 0; side < 2; ++side)
            if (groupOf(s, &island->block[k], side) >= 0)
                adjacency->list[start[groupOf(s, &island->block[k], side) + 1]++] = k;
    return 1;
}

/* Columns of block row k: the merge of the lists of its bodies.  Returns how many; column may be NULL. */
static int mergeColumns(const spragSnapshot *s, const Adjacency *adjacency, const spragBlock *block, int *column)
{
    int at[2] = {0, 0}, end[2] = {0, 0}, count = 0;
    for (int side = 0; side < 2; ++side) {
        const int group = groupOf(s, block, side);
        if (group >= 0) {
            at[side] = adjacency->start[group];
            end[side] = adjacency->start[group + 1];
        }
    }
    while (at[0] < end[0] || at[1] < end[1]) {
        const int a = at[0] < end[0] ? adjacency->list[at[0]] : INT32_MAX;
        const int b = at[1] < end[1] ? adjacency->list[at[1]] : INT32_MAX;
        at[0] += a <= b;
        at[1] += b <= a;
        if (column != NULL)
            column[count] = a < b ? a : b;
        ++count;
    }
    return count;
}

/* ---------------------------------------------------------------- W and q */

/* out (3x3) = sum over shared dynamic bodies of J_k M^-1 J_l^T */
static void coupling(const spragSnapshot *s, const spragBlock *k, const spragBlock *l, double out[9])
{
    memset(out, 0, 9 * sizeof *out);
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) {
            if (k->body[a] != l->body[b] || !isDynamic(s, k->body[a]))
                continue;
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    out[3 * i + j] += spragDot3(k->J[a][i], l->Y[b][j]) + spragDot3(k->J[a][i] + 3, l->Y[b][j] + 3);
        }
}

/* The diagonal block: symmetric to the bit, compliance added, empty rows given the mean of the others. */
static void finishDiagonal(const spragBlock *block, double W[9])
{
    double mean = 0;
    int used = 0;
    for (int i = 0; i < 3; ++i) {
        W[4 * i] += block->compliance[i];
        for (int j = 0; j < i; ++j)
            W[3 * i + j] = W[3 * j + i];
        if (!block->unused[i]) {
            mean += W[4 * i];
            ++used;
        }
    }
    for (int i = 0; i < 3; ++i)
        if (block->unused[i])
            W[4 * i] = used > 0 ? mean / used : 1;
}

static void fillW(const spragSnapshot *s, const spragIsland *island, const int *row_start, const int *column,
                  int *cursor, double *W)
{
    const int count = island->block_count;
    memcpy(cursor, row_start, (size_t)count * sizeof *cursor);
    for (int k = 0; k < count; ++k) {
        for (int e = row_start[k]; e < row_start[k + 1]; ++e) {
            const int l = column[e];
            if (l < k)
                continue; /* mirrored when row l was filled */
            double *block = W + 9 * e;
            coupling(s, &island->block[k], &island->block[l], block);
            spragArticulationCouple(island, k, l, block);
            if (l == k)
                finishDiagonal(&island->block[k], block);
            double *mirror = W + 9 * cursor[l]++;
            for (int i = 0; i < 3 && l != k; ++i)
                for (int j = 0; j < 3; ++j)
                    mirror[3 * j + i] = block[3 * i + j];
        }
    }
}

static double rowDot(const spragSnapshot *s, const spragBlock *block, int row, int free_velocity)
{
    double u = 0;
    for (int side = 0; side < 2; ++side)
        if (block->body[side] >= 0) {
            const spragBodyState *body = &s->body[block->body[side]];
            const double *v = free_velocity ? body->free_velocity : body->velocity, *J = block->J[side][row];
            u += spragDot3(J, v) + spragDot3(J + 3, v + 3);
        }
    return u;
}

static void fillQ(const spragSnapshot *s, const spragIsland *island, double *q)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        for (int row = 0; row < 3; ++row)
            q[3 * k + row] = rowDot(s, block, row, 1) + s->step * block->product[row] - block->rhs[row];
    }
}

/* ---------------------------------------------------------------- history and guess */

/* What the contact was in the last step, or NULL.  Of a guide with clearance one side was loaded. */
static const spragContactMemory *recordOf(const struct spragWorld *world, const spragBlock *block)
{
    const int told = block->part == SPRAG_PART_CONTACT || block->part >= SPRAG_PART_GUIDE;
    const spragContactMemory *old = told && block->memory >= 0 ? &world->memory[block->memory] : NULL;
    const int side = block->part == SPRAG_PART_OPPOSITE ? -1 : 1;
    return old != NULL && old->is_guide && block->kind == SPRAG_BLOCK_CONTACT && old->variant != side ? NULL : old;
}

/* Its force turned into this frame. */
static void guessFrom(const spragContactMemory *old, const spragBlock *block, double h, double r[3])
{
    r[0] = (block->part == SPRAG_PART_OPPOSITE ? -1 : 1) * old->normal_force * h;
    r[1] = spragDot3(old->friction, block->t1) * h;
    r[2] = spragDot3(old->friction, block->t2) * h / block->scale;
}

/* The frame of a sticking contact turns within the step, which leaves a slip of second order in h.  It is no slip: a
 * contact that stuck is at rest unless it is found faster than a small part of what the step's own acceleration gives. */
static int restsAt(const spragSnapshot *s, const spragBlock *block, const spragContactMemory *old, const double slip[2])
{
    double change[3]; /* m/s, of the contact in this step without contact forces */
    for (int row = 0; row < 3; ++row)
        change[row] = rowDot(s, block, row, 1) - rowDot(s, block, row, 0) + s->step * block->product[row];
    return old->mode == SPRAG_MODE_STICK && spragNorm2(slip) <= 0.05 * spragNorm3(change);
}

/* Limits and motors start from what they carried; `ordinal` counts the blocks of one joint. */
static void guessLoad(const struct spragWorld *world, const spragBlock *block, int ordinal, double r[3])
{
    const spragJointState *joint = &world->snapshot.joint[block->joint];
    const int m = joint->memory < 0 ? -1 : joint->memory + ordinal;
    if (m >= 0 && m < world->load_count && world->load[m].joint == joint->id)
        for (int i = 0; i < 3; ++i)
            r[i] = world->load[m].force[i] * world->snapshot.step;
}

static void fillHistory(const struct spragWorld *world, spragIsland *island, spragContactHistory *history)
{
    const spragSnapshot *s = &world->snapshot;
    int ordinal = 0;
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        spragContactHistory *past = &history[k];
        ordinal = k > 0 && block->joint == island->block[k - 1].joint ? ordinal + 1 : 0;
        if (block->part == SPRAG_PART_JOINT)
            guessLoad(world, block, ordinal, island->r + 3 * k);
        const spragContactMemory *old = recordOf(world, block);
        past->fresh = old == NULL;
        past->free_acceleration = (rowDot(s, block, 0, 1) - rowDot(s, block, 0, 0)) / s->step + block->product[0];
        for (int i = 0; i < 2; ++i)
            past->slip[i] = rowDot(s, block, 1 + i, 0) - block->rhs[1 + i];
        if (old == NULL)
            continue;
        if (restsAt(s, block, old, past->slip))
            past->slip[0] = past->slip[1] = 0;
        past->previous_normal = fabs(old->normal_force);
        past->previous_slip[0] = spragDot3(old->slip, block->t1);
        past->previous_slip[1] = spragDot3(old->slip, block->t2) * block->scale;
        past->mode = (unsigned char)old->mode;
        past->variant = (signed char)old->variant;
        guessFrom(old, block, s->step, island->r + 3 * k);
    }
}

/* b of a contact is the acceleration with its own force removed: the others' are taken as they were. */
static void addOthers(const spragIsland *island, double h, spragContactHistory *history)
{
    const spragProblem *p = &island->problem;
    for (int k = 0; k < p->contact_count; ++k)
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            if (p->column[e] != k)
                history[k].free_acceleration += spragDot3(p->W + 9 * e, island->r + 3 * p->column[e]) / h;
}

/* ---------------------------------------------------------------- the problem */

static void fillLaws(const spragIsland *island, double *mu, double *mu_minus, unsigned char *kind, double *bound,
                     int *parent, int *body)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        mu[k] = block->mu;
        mu_minus[k] = block->mu_minus;
        kind[k] = (unsigned char)block->kind;
        parent[k] = block->parent;
        memcpy(bound + 6 * k, block->lo, sizeof block->lo);
        memcpy(bound + 6 * k + 3, block->hi, sizeof block->hi);
        memcpy(body + 2 * k, block->body, sizeof block->body);
    }
}

static int makeProblem(struct spragWorld *world, const Adjacency *adjacency, spragIsland *island)
{
    spragArena *arena = &world->arena;
    const spragSnapshot *s = &world->snapshot;
    const int n = island->block_count;
    int *row_start = SPRAG_TAKE(arena, int, n + 1), *cursor = SPRAG_TAKE(arena, int, n);
    double *q = SPRAG_TAKE(arena, double, 3 * n), *mu = SPRAG_TAKE(arena, double, n),
           *mu_minus = SPRAG_TAKE(arena, double, n), *bound = SPRAG_TAKE(arena, double, 6 * n);
    unsigned char *kind = SPRAG_TAKE(arena, unsigned char, n);
    int *parent = SPRAG_TAKE(arena, int, n), *body = SPRAG_TAKE(arena, int, 2 * n);
    spragContactHistory *history = SPRAG_TAKE(arena, spragContactHistory, n);
    island->r = SPRAG_TAKE(arena, double, 3 * n);
    island->u = SPRAG_TAKE(arena, double, 3 * n);
    if (!row_start || !cursor || !q || !mu || !mu_minus || !bound || !kind || !parent || !body || !history ||
        !island->r || !island->u)
        return 0;
    for (int k = 0; k < n; ++k)
        row_start[k + 1] = row_start[k] + mergeColumns(s, adjacency, &island->block[k], NULL);
    int *column = SPRAG_TAKE(arena, int, row_start[n]);
    double *W = SPRAG_TAKE(arena, double, 9 * row_start[n]);
    if (!column || !W)
        return 0;
    for (int k = 0; k < n; ++k)
        mergeColumns(s, adjacency, &island->block[k], column + row_start[k]);
    fillW(s, island, row_start, column, cursor, W);
    fillQ(s, island, q);
    fillLaws(island, mu, mu_minus, kind, bound, parent, body);
    island->problem = (spragProblem){.contact_count = n,
                                     .block_count = row_start[n],
                                     .row_start = row_start,
                                     .column = column,
                                     .W = W,
                                     .q = q,
                                     .mu = mu,
                                     .mu_minus = mu_minus,
                                     .kind = kind,
                                     .bound = bound,
                                     .parent = parent,
                                     .body = body,
                                     .history = history,
                                     .step = s->step};
    fillHistory(world, island, history);
    addOthers(island, s->step, history);
    for (int k = 0; k < n; ++k)
        spragArticulationShift(island, k, q + 3 * k, &history[k].free_acceleration);
    if (!spragHeldReduce(world, island, history))
        return 0;
    spragSingularAdjust(world, island, q);
    return 1;
}

spragStatus spragAssemble(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    const spragStatus status = makeBlocks(world, surfaces, island);
    if (status != SPRAG_OK || island->declined != NULL)
        return status;
    for (int i = 0; i < island->body_count; ++i)
        spragFreeMotion(world, &world->snapshot.body[island->body[i]]);
    for (int k = 0; k < island->block_count; ++k) {
        clearUnused(&island->block[k]);
        respond(s, &island->block[k]);
    }
    Adjacency adjacency;
    if (!spragOpposedRelax(world, island) || !spragArticulationsMake(world, island) ||
        !makeAdjacency(world, island, &adjacency) || !makeProblem(world, &adjacency, island))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for an island of %d blocks", island->block_count);
    return SPRAG_OK;
}
