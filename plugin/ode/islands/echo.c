#include "ode/islands/echo.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/rows/rows.h"
#include "problem/residual.h"

#define SLOW 1e-6 /* m/s: what moves faster is not at rest */

/* g - r of each contact, N s in world axes, and p of each body. */
static void differences(const spragBare *bare, const spragIsland *island, double (*echo)[3], double (*p)[6])
{
    memset(echo, 0, (size_t)island->block_count * sizeof *echo);
    for (int k = 0; k < island->block_count; ++k) {
        if (island->block[k].part == SPRAG_PART_ROLLING)
            continue; /* a moment is carried over as it is */
        const int contact = spragBareContactOf(island, k), *pair = bare->greedy.pair[contact];
        const spragGreedyContact *c = &bare->greedy.contact[contact];
        const double *r = island->r + 3 * (size_t)k, d[3] = {c->r[0] - r[0], c->r[1] - r[1], c->r[2] - r[2]};
        for (int i = 0; i < 3; ++i)
            echo[k][i] = d[0] * c->direction[0][i] + d[1] * c->direction[1][i] + d[2] * c->direction[2][i];
        for (int side = 0; side < 2; ++side) {
            double turn[3];
            spragCross3(turn, c->arm[side], echo[k]);
            for (int i = 0; i < 3 && pair[side] < island->body_count; ++i) {
                p[pair[side]][i] += side == 0 ? echo[k][i] : -echo[k][i];
                p[pair[side]][3 + i] += side == 0 ? turn[i] : -turn[i];
            }
        }
    }
}

/* t */
static double shareOf(const spragSnapshot *s, const spragIsland *island, const double (*p)[6])
{
    double along = 0, square = 0;
    for (int i = 0; i < island->body_count; ++i) {
        const spragBodyState *body = &s->body[island->body[i]];
        double turned[3], turning[3];
        spragMul33(turned, body->inverse_inertia, body->impulse + 3);
        spragMul33(turning, body->inverse_inertia, p[i] + 3);
        for (int a = 0; a < 3; ++a) {
            const double pushed = body->inverse_mass * body->impulse[a];
            along += p[i][a] * (body->free_velocity[a] - body->velocity[a] + pushed) +
                     p[i][3 + a] * (body->free_velocity[3 + a] - body->velocity[3 + a] + turned[a]);
            square += body->inverse_mass * p[i][a] * p[i][a] + turning[a] * p[i][3 + a];
        }
    }
    return square > 0 ? fmin(fmax(-along / square, 0), 1) : 0;
}

void spragEchoFind(const struct spragWorld *world, const spragBare *bare, spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    double(*echo)[3] = spragArenaTakeRaw(arena, (size_t)island->block_count, sizeof *echo);
    double(*p)[6] = spragArenaTake(arena, (size_t)island->body_count, sizeof *p);
    if (echo == NULL || p == NULL || island->declined != NULL)
        return;
    differences(bare, island, echo, p);
    const double share = shareOf(&world->snapshot, island, (const double(*)[6])p);
    for (int k = 0; k < island->block_count; ++k)
        for (int i = 0; i < 3; ++i)
            echo[k][i] *= share / world->snapshot.step;
    island->echo = share > 0 ? echo : NULL;
}

/* ---------------------------------------------------------------- small islands */

/* 1: a block that carries slides, or moves against what it lies on. */
static int moves(const spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k)
        for (int row = 0; row < 3; ++row)
            if (island->r[3 * k] != 0 && fabs(island->block[k].velocity[row] - island->block[k].rhs[row]) > SLOW)
                return 1;
    return 0;
}

double *spragEchoKeep(const struct spragWorld *world, const spragIsland *island)
{
    const int n = island->block_count;
    if (world->snapshot.carried == NULL || island->declined != NULL || island->body_count == 1 ||
        n <= SPRAG_BLOCKS_FEW || n > SPRAG_BLOCKS_MANY || moves(island))
        return NULL;
    double *guess = SPRAG_TAKE_RAW(&island->lane->arena, double, 6 * (size_t)n);
    if (guess != NULL)
        memcpy(guess, island->r, 3 * (size_t)n * sizeof *guess);
    return guess;
}

/* t, by rows of blocks: E(r) there is u less what it would be if no body changed its velocity. */
static double shareOfBlocks(double step, const spragIsland *island, const double *guess, const double *u)
{
    double along = 0, square = 0;
    for (int i = 0; i < 3 * island->block_count; ++i) {
        const spragBlock *block = &island->block[i / 3];
        const int row = i % 3;
        const double unchanged = block->velocity[row] + step * block->product[row] - block->rhs[row];
        const double more = guess[i] - island->r[i];
        along += (island->u[i] - unchanged) * more;
        square += (u[i] - island->u[i]) * more;
    }
    return square > 0 ? fmin(fmax(-along / square, 0), 1) : 0;
}

void spragEchoFindFew(const struct spragWorld *world, double *guess, spragIsland *island)
{
    const spragProblem *problem = &island->problem;
    const int n = island->block_count;
    double *const u = guess + 3 * (size_t)n;
    if (island->declined != NULL || island->solve.iterations == 0)
        return;
    spragProblemVelocity(problem, guess, u);
    if (!(spragVelocityResidual(problem, guess, u) <= world->config.tolerance))
        return;
    const double share = shareOfBlocks(world->snapshot.step, island, guess, u) / world->snapshot.step;
    double(*echo)[3] = share > 0 ? spragArenaTakeRaw(&island->lane->arena, (size_t)n, sizeof *echo) : NULL;
    for (int k = 0; k < n && echo != NULL; ++k) {
        const spragBlock *block = &island->block[k];
        const double *g = guess + 3 * k, *r = island->r + 3 * k;
        for (int i = 0; i < 3; ++i)
            echo[k][i] = share * ((g[0] - r[0]) * block->n[i] + (g[1] - r[1]) * block->t1[i] +
                                  (g[2] - r[2]) * block->scale * block->t2[i]);
    }
    island->echo = echo;
}
