#include "ode/matrix/matrix_free.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "linalg/vec3.h"
#include "ode/matrix/delassus.h"
#include "ode/work/haste.h"
#include "ode/work/heap.h"
#include "solve/greedy/greedy_solve.h"

#define SECONDS_EASY 4e-6 /* a contact of the world: in less, what seems to rest is visited like any other */

typedef struct Bodies {
    spragSnapshot *snapshot;
    const spragIsland *island;
    spragGreedy *greedy;
} Bodies;

void spragMatrixFreeBody(const spragBodyState *state, spragGreedyBody *body)
{
    *body = spragGreedyBodyOf(state->inverse_mass, state->inverse_inertia);
}

#define SLOW 0.01  /* of what gravity gives in a step */
#define STILL 1e-4 /* the same: what is slower stirs nothing */
enum { ONE_IN = 100, ONE_IN_HEAP = 25, AHEAD = 4 };

spragRest spragMatrixFreeRests(const struct spragWorld *world, const spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    if (world->config.solver != SPRAG_SOLVER_AUTO || world->config.iteration_limit > 0 || island->matrix.visited)
        return SPRAG_REST_NONE;
    const double falls = spragNorm3(s->gravity) * s->step, slow = SLOW * falls, still = STILL * falls;
    const int one_in = spragIslandSparesW(world, island) ? ONE_IN_HEAP : ONE_IN;
    int moving = 0, stirring = 0;
    const double *before = s->body[island->body[0]].velocity;
    for (int i = 1; i < island->body_count && moving * one_in <= 2 * island->body_count; ++i) {
        if (i + AHEAD < island->body_count)
            __builtin_prefetch(s->body[island->body[i + AHEAD]].velocity);
        const double *v = s->body[island->body[i]].velocity;
        const double by = spragDistanceSquared3(v, before);
        moving += !(by <= slow * slow);
        stirring |= !(by <= still * still);
        before = v;
    }
    if (moving == 0)
        return stirring ? SPRAG_REST_SLOW : SPRAG_REST_FULL;
    /* each that moves is counted twice */
    return moving * one_in <= 2 * island->body_count ? SPRAG_REST_MOST : SPRAG_REST_NONE;
}

int spragMatrixFreeIsEasy(const struct spragWorld *world)
{
    return world->config.tolerance < SPRAG_ROUGH &&
           world->config.time_limit > SECONDS_EASY * world->snapshot.active_count;
}

int spragMatrixFreeWanted(const struct spragWorld *world, const spragIsland *island, int contacts)
{
    if (world->config.solver != SPRAG_SOLVER_AUTO || contacts < SPRAG_MATRIX_FREE_LEAST || island->matrix.visited)
        return 0;
    if (world->config.tolerance >= SPRAG_ROUGH || spragHasteSkips(world, island))
        return 1;
    return world->config.time_limit > 0 &&
           !(contacts <= SPRAG_BLOCKS_MANY && spragMatrixFreeIsEasy(world) && spragMatrixFreeRests(world, island));
}

int spragMatrixFreeInit(const struct spragWorld *world, const spragIsland *island, int contacts, int rolls,
                        spragGreedy *greedy)
{
    const int many = world->config.time_limit > 0 || spragHasteSkips(world, island);
    if (!spragGreedyInit(greedy, contacts, island->body_count, &island->lane->arena) ||
        (rolls && !spragGreedyRolls(greedy)))
        return 0;
    greedy->body[island->body_count] = (spragGreedyBody){0}; /* the world */
    return !many || spragGreedyWiden(greedy);
}

/* 1: under a time limit that leaves room for W of all islands like this one, and it seems to rest: no visit is to
 * disturb it. */
static int isLeftAlone(const struct spragWorld *world, const spragIsland *island, const spragGreedy *greedy)
{
    const double like = (double)world->snapshot.active_count / greedy->contact_count;
    return spragMatrixFreeIsEasy(world) && spragMatrixFreeRests(world, island) &&
           spragGreedyMayEnd(greedy, world->config.time_limit / like);
}

int spragMatrixFreeChoose(struct spragWorld *world, spragIsland *island)
{
    spragSnapshot *s = &world->snapshot;
    const int n = island->block_count;
    int plain = spragMatrixFreeWanted(world, island, n) && island->block_total == n && island->row_count == 0;
    for (int k = 0; k < n && plain; ++k)
        plain = island->block[k].kind == SPRAG_BLOCK_CONTACT && island->block[k].part == SPRAG_PART_CONTACT &&
                !island->block[k].rolls;
    island->greedy = NULL;
    if (!plain)
        return 1;
    spragGreedy *greedy = SPRAG_TAKE(&island->lane->arena, spragGreedy, 1);
    if (greedy == NULL || !spragMatrixFreeInit(world, island, n, 0, greedy))
        return 0;
    for (int i = 0; i < island->body_count; ++i)
        spragMatrixFreeBody(&s->body[island->body[i]], &greedy->body[i]);
    for (int k = 0; k < n; ++k)
        for (int side = 0; side < 2; ++side) {
            const int body = island->block[k].body[side];
            greedy->pair[k][side] = spragIsDynamic(s, body) ? s->body[body].place : island->body_count;
        }
    island->greedy = isLeftAlone(world, island, greedy) ? NULL : greedy;
    return 1;
}

static void fillContact(const spragSnapshot *s, const spragIsland *island, int k)
{
    const spragBlock *block = &island->block[k];
    spragGreedyContact *c = &island->greedy->contact[k];
    for (int row = 0; row < 3; ++row) {
        memcpy(c->direction[row], block->J[0][row], 3 * sizeof(double));
        c->direction[row][3] = block->compliance[row];
    }
    double point[3];
    spragBlockPoint(block, point);
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < 3; ++i)
            c->arm[side][i] = block->body[side] < 0 ? 0 : point[i] - s->body[block->body[side]].position[i];
    c->mu = block->mu;
    c->nu = 0;
}

int spragMatrixFreeDiagonal(const spragSnapshot *s, spragIsland *island)
{
    const int n = island->block_count;
    int *row_start = SPRAG_TAKE_RAW(&island->lane->arena, int, 2 * n + 1), *column = row_start + n + 1;
    double *W = SPRAG_TAKE_RAW(&island->lane->arena, double, 9 * (size_t)n);
    if (row_start == NULL || W == NULL)
        return 0;
    for (int k = 0; k < n; ++k) {
        row_start[k] = column[k] = k;
        if (island->greedy != NULL) {
            fillContact(s, island, k);
            continue;
        }
        spragBlockOwn(s, &island->block[k], W + 9 * (size_t)k);
        spragDelassusDiagonal(&island->block[k], W + 9 * (size_t)k);
    }
    if (island->greedy != NULL)
        spragGreedyFill(island->greedy, 0, n);
    for (int k = 0; k < n && island->greedy != NULL; ++k)
        for (int i = 0; i < 9; ++i) {
            const spragGreedyContact *c = &island->greedy->contact[k];
            const double *column = i % 3 == 0 ? c->normal : island->greedy->own[k].tangent[i % 3 - 1];
            W[9 * (size_t)k + (size_t)i] = column[i / 3] + (i % 4 == 0 ? c->direction[i / 3][3] : 0);
        }
    row_start[n] = n;
    spragProblem *problem = &island->problem;
    problem->contact_count = problem->block_count = n;
    problem->row_start = row_start;
    problem->column = column;
    problem->W = island->W = W;
    problem->bodies = problem->linked = NULL;
    return 1;
}

void spragMatrixFreeOthers(const spragIsland *island, double step, spragContactHistory *history)
{
    spragGreedy *greedy = island->greedy;
    for (int k = 0; k < greedy->contact_count; ++k)
        memcpy(greedy->contact[k].r, island->r + 3 * k, 3 * sizeof(double));
    spragGreedySum(greedy);
    for (int k = 0; k < greedy->contact_count; ++k) {
        const spragGreedyContact *c = &greedy->contact[k];
        double u[3];
        spragGreedyMotion(greedy, k, u);
        history[k].free_acceleration += (u[0] - spragDot3(c->normal, c->r)) / step;
    }
}

static void impulseRange(void *data, int range, int first, int end)
{
    (void)range;
    const Bodies *bodies = data;
    for (int i = first; i < end; ++i) {
        spragBodyState *body = &bodies->snapshot->body[bodies->island->body[i]];
        const spragGreedyBody *moved = &bodies->greedy->body[i];
        double spin[3];
        spragMul33(spin, body->inertia, moved->velocity[1]);
        for (int j = 0; j < 3 && !body->kinematic; ++j) {
            body->impulse[j] += body->mass * moved->velocity[0][j];
            body->impulse[3 + j] += spin[j];
        }
    }
}

void spragMatrixFreeImpulses(spragSnapshot *s, const spragIsland *island, spragGreedy *greedy)
{
    spragRangesRun(island->body_count, impulseRange, &(Bodies){s, island, greedy});
}

spragStatus spragMatrixFreeSolveBlocks(const spragSolveOptions *options, spragIsland *island)
{
    spragGreedy *greedy = island->greedy;
    for (int k = 0; k < greedy->contact_count; ++k)
        memcpy(greedy->contact[k].q, island->problem.q + 3 * k, 3 * sizeof(double));
    const spragStatus status = spragGreedySolve(options, greedy, NULL, island->u, &island->solve);
    for (int k = 0; k < greedy->contact_count; ++k)
        memcpy(island->r + 3 * k, greedy->contact[k].r, 3 * sizeof(double));
    return status;
}
