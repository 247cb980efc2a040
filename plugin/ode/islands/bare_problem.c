/* The problem of an island that was solved without one, for those who want to see it. */
#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/islands/bare.h"
#include "ode/ledger/record.h"
#include "ode/matrix/assemble.h"
#include "ode/rows/rows.h"
#include "problem/residual.h"

static void historyOf(const struct spragWorld *world, const spragIsland *island, int k, spragContactHistory *past)
{
    const spragBareContact *cold = &island->bare->contact[k];
    const spragGreedyContact *c = &island->bare->greedy.contact[k];
    const int memory = world->snapshot.joint[island->joint[k]].memory;
    *past =
        (spragContactHistory){.fresh = memory < 0,
                              .slip = {cold->slip[0], cold->slip[1]},
                              .free_acceleration = cold->acceleration + island->bare->others[k] / world->snapshot.step};
    if (memory >= 0) /* the records have changed places since */
        spragRecordRecall(&world->next_memory[memory], c->direction[1], c->direction[2], past);
}

static void blockOf(const struct spragWorld *world, const spragIsland *island, int k, spragBlock *block)
{
    const spragGreedyContact *c = &island->bare->greedy.contact[k];
    const spragJointState *joint = &world->snapshot.joint[island->joint[k]];
    *block = (spragBlock){.joint = island->joint[k],
                          .parent = -1,
                          .memory = joint->memory,
                          .body = {joint->body[0], joint->body[1]},
                          .articulation = {-1, -1},
                          .compliance = {c->direction[0][3], c->direction[1][3], c->direction[2][3]},
                          .mu = c->mu,
                          .mu_minus = c->mu,
                          .scale = 1};
    for (int side = 0; side < 2; ++side)
        for (int row = 0; row < 3 && joint->body[side] >= 0; ++row) {
            double *J = block->J[side][row];
            spragCross3(J + 3, c->arm[side], c->direction[row]);
            memcpy(J, c->direction[row], 3 * sizeof *J);
            for (int i = 0; i < 6 && side == 1; ++i)
                J[i] = -J[i];
        }
    if (isfinite(c->mu) && c->mu >= 0)
        return;
    const int parts = c->mu != SPRAG_GREEDY_GLUED && spragStickParts(c->r, island->bare->u + 3 * k, c->normal[3]);
    const double most = parts ? 0 : INFINITY;
    block->kind = SPRAG_BLOCK_BOX;
    block->mu = block->mu_minus = 0;
    block->hi[0] = INFINITY;
    for (int row = 1; row < 3; ++row)
        block->lo[row] = -most, block->hi[row] = most;
}

/* Its rolling friction, where `contact` is block `parent`. */
static void rollOf(const spragIsland *island, int k, const spragBlock *contact, int parent, spragBlock *block)
{
    const spragGreedyContact *c = &island->bare->greedy.contact[k];
    const spragGreedyRoll *roll = &island->bare->greedy.roll[k];
    *block = (spragBlock){.joint = contact->joint,
                          .part = SPRAG_PART_ROLLING,
                          .kind = SPRAG_BLOCK_ROLLING,
                          .parent = parent,
                          .memory = -1,
                          .body = {contact->body[0], contact->body[1]},
                          .articulation = {-1, -1},
                          .mu = roll->mu,
                          .mu_minus = roll->mu,
                          .scale = 1};
    for (int side = 0; side < 2; ++side)
        for (int row = 0; row < 3 && block->body[side] >= 0; ++row)
            for (int i = 0; i < 3; ++i)
                block->J[side][row][3 + i] =
                    (side == 0 ? roll->length : -roll->length) * c->direction[(row + 1) % 3][i];
}

int spragBareProblem(struct spragWorld *world, spragIsland *island)
{
    const spragGreedy *greedy = &island->bare->greedy;
    spragArena *arena = &island->lane->arena;
    const int contacts = island->joint_count, rolls = greedy->roll != NULL;
    int n = contacts;
    for (int k = 0; k < contacts && rolls; ++k)
        n += greedy->roll[k].mu > 0;
    spragBlock *block = SPRAG_TAKE_RAW(arena, spragBlock, n);
    double *numbers = SPRAG_TAKE(arena, double, 17 * n), *q = numbers + 3 * n, *u = q + 3 * n, *mu = u + 3 * n,
           *bound = mu + 2 * n;
    int *body = SPRAG_TAKE_RAW(arena, int, 3 * n);
    unsigned char *kind = SPRAG_TAKE_RAW(arena, unsigned char, n);
    spragContactHistory *history = SPRAG_TAKE(arena, spragContactHistory, n);
    if (block == NULL || numbers == NULL || body == NULL || kind == NULL || history == NULL)
        return 0;
    int b = 0, boxes = 0;
    for (int k = 0; k < contacts; ++k) {
        const int contact = b++;
        blockOf(world, island, k, &block[contact]);
        historyOf(world, island, k, &history[contact]);
        memcpy(numbers + 3 * contact, greedy->contact[k].r, 3 * sizeof *numbers);
        memcpy(q + 3 * contact, greedy->contact[k].q, 3 * sizeof *q);
        memcpy(u + 3 * contact, island->bare->u + 3 * k, 3 * sizeof *u);
        if (!rolls || !(greedy->roll[k].mu > 0))
            continue;
        rollOf(island, k, &block[contact], contact, &block[b]);
        memcpy(numbers + 3 * b, greedy->roll[k].r, 3 * sizeof *numbers);
        memcpy(q + 3 * b++, greedy->roll[k].q, 3 * sizeof *q);
    }
    for (b = 0; b < n; ++b) {
        memcpy(body + 2 * b, block[b].body, sizeof block[b].body);
        body[2 * n + b] = block[b].parent;
        memcpy(bound + 6 * b, block[b].lo, sizeof block[b].lo);
        memcpy(bound + 6 * b + 3, block[b].hi, sizeof block[b].hi);
        kind[b] = (unsigned char)block[b].kind;
        boxes |= block[b].kind == SPRAG_BLOCK_BOX;
        mu[b] = mu[n + b] = block[b].mu;
    }
    island->block = block;
    island->block_count = island->block_total = n;
    island->r = numbers, island->u = u, island->mu = mu, island->mu_minus = rolls ? mu + n : NULL;
    island->problem = (spragProblem){.contact_count = n,
                                     .q = q,
                                     .mu = mu,
                                     .mu_minus = island->mu_minus,
                                     .kind = rolls || boxes ? kind : NULL,
                                     .bound = boxes ? bound : NULL,
                                     .parent = rolls ? body + 2 * n : NULL,
                                     .body = body,
                                     .history = history,
                                     .step = world->snapshot.step};
    const int made = spragAssembleCouple(world, island);
    island->bare = NULL;
    return made;
}
