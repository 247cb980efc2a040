#include "ode/rows/blow.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"

#define UNUSUAL 10 /* times what forces of ordinary size give: a greater impulse is a blow (docs/theory.md 6, jam) */
#define NOTEWORTHY 0.01 /* of ordinary accelerations: a smaller change of Jdot v does not count */

/* m/s^2: the acceleration that ordinary forces give this contact. */
static double usual(const spragSnapshot *s, const spragIsland *island, int k)
{
    return fmax(fabs(island->problem.history[k].free_acceleration), spragNorm3(s->gravity));
}

/* Is it an island of a few contacts and guides, without joints? */
static int isSimple(const spragIsland *island)
{
    int simple = island->block_count <= SPRAG_BLOW_MOST && island->block_count == island->block_total &&
                 island->row_count == 0 && !(island->wedge.speed > 0);
    for (int k = 0; k < island->block_count && simple; ++k) {
        const spragBlockPart part = island->block[k].part;
        simple = part == SPRAG_PART_CONTACT || part == SPRAG_PART_GUIDE || part == SPRAG_PART_OPPOSITE;
    }
    return simple;
}

/* Did it slide where that has no solution or several, and has now more force than ordinary ones explain? */
static int isStruck(const struct spragWorld *world, const spragIsland *island, int k)
{
    const spragProblem *p = &island->problem;
    const spragContactHistory *past = &p->history[k];
    const double *W = p->W + 9 * (size_t)spragProblemDiagonal(p, k);
    if (!(fabs(island->r[3 * k]) * W[0] > UNUSUAL * p->step * usual(&world->snapshot, island, k)) ||
        spragNorm2(past->slip) <= SPRAG_SLIP_TOLERANCE)
        return 0;
    const spragIndicator alone = spragKindOf(p, k) == SPRAG_BLOCK_TWO_SIDED
                                     ? spragIndicatorTwoSided(W, p->mu[k], spragMuMinusOf(p, k), past)
                                     : spragIndicatorOf(W, p->mu[k], past, world->config.indeterminacy);
    return alone.quadrant >= SPRAG_QUADRANT_INDETERMINATE ||
           (island->coupled.examined && island->coupled.paradox_class != 0);
}

/* The body with the velocity that it has after the step, where it was before it. */
static const spragBodyState *bodyAfter(const spragSnapshot *s, int index, spragBodyState *after)
{
    if (index < 0)
        return NULL;
    const spragBodyState *body = &s->body[index];
    *after = *body;
    if (body->kinematic)
        return after;
    double turn[3];
    spragMul33(turn, body->inverse_inertia, body->impulse + 3);
    for (int i = 0; i < 3; ++i) {
        after->velocity[i] = body->free_velocity[i] + body->inverse_mass * body->impulse[i];
        after->velocity[3 + i] = body->free_velocity[3 + i] + turn[i];
    }
    return after;
}

static int anyStruck(const struct spragWorld *world, const spragIsland *island)
{
    int struck = 0;
    for (int k = 0; k < island->block_count; ++k)
        struck |= isStruck(world, island, k);
    return struck;
}

/* blow->change; 1: it counts, and no contact leaves at once. */
static int changesProducts(struct spragWorld *world, const spragIsland *island, spragBlow *blow)
{
    const spragSnapshot *s = &world->snapshot;
    int changed = 0;
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        double *change = blow->change + 3 * k;
        spragBodyState after[2];
        const spragBodyState *const body[2] = {bodyAfter(s, block->body[0], &after[0]),
                                               bodyAfter(s, block->body[1], &after[1])};
        double product[3], carried[3];
        spragBlockProduct(s, block, body, product, carried);
        for (int i = 0; i < 3; ++i)
            change[i] = product[i] - block->product[i];
        changed |= spragNorm3(change) > NOTEWORTHY * usual(s, island, k);
        if (block->kind == SPRAG_BLOCK_CONTACT && island->problem.history[k].free_acceleration + change[0] > 0)
            return 0;
    }
    return changed;
}

int spragBlowLooksBack(struct spragWorld *world, spragIsland *island, spragBlow *blow)
{
    if (!isSimple(island) || !anyStruck(world, island) || !changesProducts(world, island, blow))
        return 0;
    spragSnapshot *s = &world->snapshot;
    const int n = 3 * island->block_count;
    double *q = SPRAG_TAKE_RAW(&island->lane->arena, double, n);
    if (q == NULL)
        return 0;
    blow->q = island->q;
    blow->accord = island->accord;
    blow->solve = island->solve;
    memcpy(blow->r, island->r, (size_t)n * sizeof *blow->r);
    memcpy(blow->u, island->u, (size_t)n * sizeof *blow->u);
    for (int i = 0; i < n; ++i) {
        q[i] = blow->q[i] + s->step * blow->change[i];
        island->block[i / 3].product[i % 3] += blow->change[i];
    }
    island->problem.q = island->q = q;
    for (int i = 0; i < island->body_count; ++i)
        memset(s->body[island->body[i]].impulse, 0, sizeof s->body->impulse);
    return 1;
}

int spragBlowIsGone(const struct spragWorld *world, spragIsland *island, const spragBlow *blow)
{
    const int n = 3 * island->block_count, accords = island->accord.wanted && !blow->accord.wanted; /* since then */
    if (anyStruck(world, island))
        return 0;
    island->problem.q = island->q = blow->q;
    island->accord = blow->accord;
    island->solve = blow->solve;
    memcpy(island->r, blow->r, (size_t)n * sizeof *blow->r);
    memcpy(island->u, blow->u, (size_t)n * sizeof *blow->u);
    for (int i = 0; i < n; ++i) {
        spragBlock *block = &island->block[i / 3];
        block->product[i % 3] -= blow->change[i];
        block->rhs[i % 3] -= accords ? block->accord[i % 3] : 0;
    }
    return 1;
}
