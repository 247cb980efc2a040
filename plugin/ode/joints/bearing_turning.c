/* Turning friction: rows about the axes, bounded by mu R F, and the rounds in which F is found (bearing.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/joints/bearing_parts.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"

static double turningCoefficient(const struct spragBearing *bearing)
{
    return bearing->hold == SPRAG_HOLD_STATIC ? fmax(bearing->law.mu, bearing->law.mu_static) : bearing->law.mu;
}

/* N s, of moments by the length of the bodies (rows.h). */
static double turningBound(const struct spragWorld *world, const struct spragBearing *bearing, const spragBlock *block,
                           double load)
{
    return turningCoefficient(bearing) * bearing->law.radius * load * world->snapshot.step / block->length[0];
}

static void turnRow(spragBlock *block, int row, const double axis[3])
{
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < 3 && block->body[side] >= 0; ++i)
            block->J[side][row][3 + i] = (side == 0 ? 1 : -1) * block->length[row] * axis[i];
    block->unused[row] = 0;
}

static void setBound(spragBlock *block, double bound)
{
    if (block->kind == SPRAG_BLOCK_FORCE_LIMIT)
        block->mu = block->mu_minus = bound;
    for (int row = 0; row < 3 && block->kind == SPRAG_BLOCK_BOX; ++row) {
        block->lo[row] = block->unused[row] ? 0 : -bound;
        block->hi[row] = block->unused[row] ? 0 : bound;
    }
}

static void copyAxis(const dVector3 in, double out[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = in[i];
}

/* Ball: rows 1, 2 of the first block across the load, row 0 of the second along it. */
static void ballRows(const struct spragBearing *bearing, spragBlock *block)
{
    dVector3 f = {(dReal)bearing->direction[0], (dReal)bearing->direction[1], (dReal)bearing->direction[2]}, t1, t2;
    if (f[0] == 0 && f[1] == 0 && f[2] == 0)
        f[2] = 1;
    dPlaneSpace(f, t1, t2);
    double axis[3];
    block->kind = SPRAG_BLOCK_FORCE_LIMIT;
    copyAxis(t1, axis);
    turnRow(block, 1, axis);
    copyAxis(t2, axis);
    turnRow(block, 2, axis);
    copyAxis(f, axis);
    turnRow(block + 1, 0, axis);
}

static int notTurning(const spragSnapshot *s, const spragBlock *block)
{
    for (int row = 0; row < 3; ++row)
        if (!block->unused[row] && fabs(spragBlockVelocity(s, block, row)) > SPRAG_SLIP_TOLERANCE)
            return 0;
    return 1;
}

void spragTurningBlocks(const struct spragWorld *world, struct spragBearing *bearing, const spragBlock *like,
                        spragBlock *block)
{
    const int count = spragBearingBlockCount(bearing);
    const double L = spragLengthOf(&world->snapshot, like->body);
    for (int k = 0; k < count; ++k) {
        block[k] = *like;
        block[k].kind = SPRAG_BLOCK_BOX;
        block[k].part = SPRAG_PART_TURNING;
        block[k].length[0] = block[k].length[1] = block[k].length[2] = L;
    }
    double axis[3];
    dVector3 a;
    if (bearing->type == dJointTypeHinge) {
        dJointGetHingeAxis(bearing->joint, a);
        copyAxis(a, axis);
        turnRow(block, 0, axis);
    } else if (bearing->type == dJointTypeUniversal) {
        dJointGetUniversalAxis1(bearing->joint, a);
        copyAxis(a, axis);
        turnRow(block, 0, axis);
        dJointGetUniversalAxis2(bearing->joint, a);
        copyAxis(a, axis);
        turnRow(block, 1, axis);
    } else {
        ballRows(bearing, block);
    }
    for (int k = 0; k < count && bearing->stuck < 0; ++k)
        bearing->stuck = notTurning(&world->snapshot, &block[k]) ? -1 : 0;
    bearing->stuck = abs(bearing->stuck);
    bearing->hold = bearing->stuck > 0 ? SPRAG_HOLD_STATIC : SPRAG_HOLD_NOT;
    for (int k = 0; k < count; ++k)
        setBound(&block[k], turningBound(world, bearing, &block[k], bearing->load));
}

/* N s, the force handed on by the joint's rows. */
static void reaction(const spragIsland *island, const struct spragBearing *bearing, double sum[3])
{
    sum[0] = sum[1] = sum[2] = 0;
    for (int e = bearing->first_row; e < bearing->first_row + bearing->row_count; ++e)
        for (int i = 0; i < 3; ++i)
            sum[i] += island->row[e].J[0][i] * island->row[e].impulse;
}

static double boundOf(const spragBlock *block)
{
    return block->kind == SPRAG_BLOCK_FORCE_LIMIT ? block->mu : fmax(block->hi[0], block->hi[1]);
}

static void setProblemBound(spragIsland *island, int k, double bound)
{
    spragBlock *block = &island->block[k];
    setBound(block, bound);
    island->mu[k] = block->mu;
    island->mu_minus[k] = block->mu_minus;
    memcpy(island->bound + 6 * k, block->lo, sizeof block->lo);
    memcpy(island->bound + 6 * k + 3, block->hi, sizeof block->hi);
}

/* Of one row or disc: what a change of its bound to `wanted` is worth.  One that stays within both does not notice. */
static double worthOf(const spragIsland *island, int k, double wanted)
{
    const spragBlock *block = &island->block[k];
    const double *r = island->r + 3 * k, *W = island->problem.W + 9 * (size_t)spragProblemDiagonal(&island->problem, k);
    const double before = boundOf(block);
    double size = 0, weight = 0;
    for (int row = 0; row < 3; ++row)
        if (!block->unused[row] && !(block->locked >> row & 1)) {
            size = block->kind == SPRAG_BLOCK_BOX ? fmax(size, fabs(r[row])) : hypot(size, r[row]);
            weight = fmax(weight, W[4 * row]);
        }
    return size < before * (1 - 1e-9) && size <= wanted ? 0 : fabs(wanted - before) * weight;
}

/* 1: the first block of turning friction of a joint (a ball has two). */
static int beginsTurning(const spragIsland *island, int k)
{
    const spragBlock *block = &island->block[k];
    return block->part == SPRAG_PART_TURNING &&
           (k == 0 || block[-1].part != SPRAG_PART_TURNING || block[-1].joint != block->joint);
}

int spragBallTurn(const struct spragWorld *world, spragIsland *island, int k, int round)
{
    enum { ROUNDS_WHOLE = 3 };
    struct spragBearing *bearing = world->snapshot.joint[island->block[k].joint].bearing;
    double F[3], turn[3], M[3] = {0, 0, 0}, *r = island->r + 3 * k;
    if (bearing->type != dJointTypeBall || !beginsTurning(island, k) || bearing->load > 0)
        return 0;
    reaction(island, bearing, F);
    const double size = spragNorm3(F);
    for (int i = 0; i < 3; ++i)
        turn[i] = size > 0 ? F[i] / size - bearing->direction[i] : 0;
    const double *W = island->problem.W + 9 * (size_t)spragProblemDiagonal(&island->problem, k);
    if (!(spragNorm3(turn) * island->block[k].mu * fmax(W[4], W[8]) > world->config.tolerance))
        return 0;
    for (int b = 0; b < 2; ++b)
        for (int row = 0; row < 3; ++row)
            for (int i = 0; i < 3; ++i)
                M[i] += island->block[k + b].J[0][row][3 + i] * r[3 * b + row];
    /* then half the way: friction turns the load in its turn, at worst to and fro; its axes have no sign */
    const double old = round < ROUNDS_WHOLE ? 0 : copysign(1, spragDot3(F, bearing->direction));
    for (int i = 0; i < 3; ++i)
        bearing->direction[i] = F[i] / size + old * bearing->direction[i];
    const double length = spragNorm3(bearing->direction);
    for (int i = 0; i < 3; ++i)
        bearing->direction[i] /= length;
    ballRows(bearing, &island->block[k]);
    for (int b = 0; b < 2; ++b)
        for (int row = 0; row < 3; ++row)
            r[3 * b + row] = spragMomentAlong(&island->block[k + b], row, M);
    return 1;
}

static struct spragBearing *bearingOf(const struct spragWorld *world, const spragIsland *island, int k)
{
    return world->snapshot.joint[island->block[k].joint].bearing;
}

int spragBearingsBegin(const struct spragWorld *world, const spragIsland *island, spragBearingRounds *rounds)
{
    spragArena *arena = &island->lane->arena;
    *rounds = (spragBearingRounds){0};
    for (int k = 0; k < island->block_count; ++k)
        rounds->count += beginsTurning(island, k);
    if (rounds->count == 0)
        return 1;
    const size_t n = (size_t)rounds->count;
    double *loads = SPRAG_TAKE(arena, double, 5 * n);
    rounds->r = SPRAG_TAKE_RAW(arena, double, 8 * (size_t)island->block_count);
    if (loads == NULL || rounds->r == NULL)
        return 0;
    rounds->best = rounds->r + 3 * (size_t)island->block_count;
    rounds->bound = rounds->best + 3 * (size_t)island->block_count;
    rounds->best_bound = rounds->bound + island->block_count;
    rounds->set = loads, rounds->tried = loads + n, rounds->found = loads + 2 * n;
    rounds->next = loads + 3 * n, rounds->weight = loads + 4 * n;
    for (int k = 0, i = 0; k < island->block_count; ++k)
        if (beginsTurning(island, k)) {
            const struct spragBearing *bearing = bearingOf(world, island, k);
            rounds->set[i] = bearing->load;
            rounds->weight[i++] = turningBound(world, bearing, &island->block[k], 1);
        }
    rounds->part[1] = rounds->count;
    return spragAndersonInit(&rounds->anderson, 1, rounds->part, rounds->weight, NULL, arena);
}

/* Bounds of these loads.  What the change to those of `found` is worth. */
static double setBounds(const struct spragWorld *world, spragIsland *island, const double *load,
                        spragBearingRounds *rounds)
{
    double worst = 0;
    for (int k = 0, n = -1; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        if (block->part != SPRAG_PART_TURNING)
            continue;
        n += beginsTurning(island, k);
        const struct spragBearing *bearing = bearingOf(world, island, k);
        worst = fmax(worst, worthOf(island, k, turningBound(world, bearing, block, rounds->found[n])));
        setProblemBound(island, k, turningBound(world, bearing, block, load[n]));
    }
    memcpy(rounds->set, load, (size_t)rounds->count * sizeof *load);
    return worst;
}

/* As of contacts (parting.c): what turns back stood still in between; what turns though mu_static holds it, by a bound
 * that fits, is braked by mu.  Returns how fast one turns of which that is new, m/s; else 0. */
static double holdOrTurn(const spragIsland *island, int k, int fits, struct spragBearing *bearing)
{
    const spragHold before = bearing->hold;
    const double still = spragStill(island->solve.residual);
    double most = 0, onwards = 0;
    for (const spragBlock *block = &island->block[k]; block < &island->block[k] + spragBearingBlockCount(bearing);
         ++block)
        for (int row = 0; row < 3; ++row) {
            const double u = island->u[3 * (block - island->block) + row];
            most = fmax(most, block->unused[row] ? 0 : fabs(u));
            onwards += block->unused[row] ? 0 : u * block->velocity[row];
        }
    if (most > still && before == SPRAG_HOLD_STATIC && fits)
        bearing->hold = SPRAG_HOLD_LOST;
    else if (most > still && before == SPRAG_HOLD_NOT && onwards < 0)
        bearing->hold = SPRAG_HOLD_STATIC;
    return bearing->hold != before ? most : 0;
}

double spragBearingsUpdate(const struct spragWorld *world, spragIsland *island, spragBearingRounds *rounds)
{
    if (rounds->count == 0)
        return 0;
    memcpy(rounds->tried, rounds->set, (size_t)rounds->count * sizeof *rounds->tried);
    for (int k = 0; k < island->block_count; ++k)
        rounds->bound[k] = boundOf(&island->block[k]);
    for (int k = 0, n = 0; k < island->block_count; ++k)
        if (beginsTurning(island, k)) {
            double F[3];
            reaction(island, bearingOf(world, island, k), F);
            rounds->found[n++] = spragNorm3(F) / world->snapshot.step;
        }
    const double off = setBounds(world, island, rounds->found, rounds);
    double changed = 0;
    for (int k = 0; k < island->block_count; ++k) {
        struct spragBearing *bearing = beginsTurning(island, k) ? bearingOf(world, island, k) : NULL;
        if (bearing != NULL && bearing->law.mu_static > bearing->law.mu)
            changed = fmax(changed, holdOrTurn(island, k, off <= world->config.tolerance, bearing));
    }
    return changed > 0 ? fmax(changed, setBounds(world, island, rounds->found, rounds)) : off;
}

void spragBearingsSet(const struct spragWorld *world, spragIsland *island, const double *load,
                      spragBearingRounds *rounds)
{
    setBounds(world, island, load, rounds);
}

void spragBearingsMix(const struct spragWorld *world, spragIsland *island, spragBearingRounds *rounds)
{
    enum { ROUNDS_PLAIN = 4 };
    const size_t bytes = (size_t)rounds->count * sizeof *rounds->next;
    spragAnderson *anderson = &rounds->anderson;
    if (rounds->count == 0)
        return;
    memcpy(rounds->r, island->r, 3 * (size_t)island->block_count * sizeof *island->r);
    memcpy(rounds->next, rounds->found, bytes);
    if (++rounds->round <= ROUNDS_PLAIN)
        return;
    memcpy(anderson->x, rounds->tried, bytes);
    memcpy(anderson->G, rounds->found, bytes);
    spragAndersonGather(anderson, 0);
    spragAndersonLook(anderson);
    spragAndersonMix(anderson);
    for (int n = 0; n < rounds->count; ++n)
        rounds->next[n] = fmax(0, anderson->x[n]);
    setBounds(world, island, rounds->next, rounds);
}

void spragBearingsReturn(const struct spragWorld *world, spragIsland *island, spragBearingRounds *rounds)
{
    if (rounds->count == 0)
        return;
    memcpy(island->r, rounds->r, 3 * (size_t)island->block_count * sizeof *island->r);
    setBounds(world, island, rounds->next, rounds);
}

void spragBearingsKeep(const spragIsland *island, spragBearingRounds *rounds)
{
    if (rounds->count == 0)
        return;
    memcpy(rounds->best, island->r, 3 * (size_t)island->block_count * sizeof *island->r);
    memcpy(rounds->best_bound, rounds->bound, (size_t)island->block_count * sizeof *rounds->bound);
}

static void takeBounds(spragIsland *island, const double *bound)
{
    for (int k = 0; k < island->block_count; ++k)
        if (island->block[k].part == SPRAG_PART_TURNING)
            setProblemBound(island, k, bound[k]);
}

int spragBearingsBest(spragIsland *island, const spragBearingRounds *rounds)
{
    memcpy(island->r, rounds->best, 3 * (size_t)island->block_count * sizeof *island->r);
    takeBounds(island, rounds->best_bound);
    spragProblemVelocity(&island->problem, island->r, island->u);
    return spragArticulationsSolve(island);
}

void spragBearingsStay(spragIsland *island, const spragBearingRounds *rounds)
{
    if (rounds->count > 0)
        takeBounds(island, rounds->bound);
}

void spragTurningRemember(const struct spragWorld *world, const spragIsland *island, int k, int second,
                          struct spragBearing *bearing)
{
    const double h = world->snapshot.step;
    double F[3];
    reaction(island, bearing, F);
    bearing->load = spragNorm3(F) / h;
    for (int i = 0; i < 3; ++i) {
        bearing->direction[i] = bearing->load > 0 ? F[i] / (bearing->load * h) : 0;
        bearing->torque[i] = second ? bearing->torque[i] : 0;
        for (int row = 0; row < 3; ++row)
            bearing->torque[i] += island->block[k].J[0][row][3 + i] * island->r[3 * k + row] / h;
    }
    if (!second)
        bearing->stuck = 1;
    for (int row = 0; row < 3; ++row)
        if (!island->block[k].unused[row] && fabs(island->u[3 * k + row]) > SPRAG_SLIP_TOLERANCE)
            bearing->stuck = 0;
}
