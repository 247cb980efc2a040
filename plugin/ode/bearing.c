#include "ode/bearing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "linalg/vec3.h"
#include "ode/layout.h"
#include "ode/ledger.h"
#include "problem/residual.h"
#include "solve/policy.h"

/* ---------------------------------------------------------------- records */

static int slides(dJointType type)
{
    return type == dJointTypeSlider || type == dJointTypePiston;
}

int spragBearingKnows(dJointType type)
{
    return slides(type) || type == dJointTypeHinge || type == dJointTypeBall || type == dJointTypeUniversal;
}

spragStatus spragBearingSet(struct spragWorld *world, dJointID joint, const spragJointFriction *law)
{
    int k = 0;
    while (k < world->bearing_count && world->bearing[k].joint != joint)
        ++k;
    if (k < world->bearing_count) { /* anew: the joint may be another at the same address */
        memmove(world->bearing + k, world->bearing + k + 1,
                (size_t)(world->bearing_count - k - 1) * sizeof *world->bearing);
        --world->bearing_count;
    }
    if (law->mu == 0 && !(law->mu_static > 0))
        return SPRAG_OK;
    if (!spragGrow((void **)&world->bearing, &world->bearing_capacity, (size_t)world->bearing_count + 1,
                   sizeof *world->bearing))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the friction of a joint");
    const int serial = spragLedgerSerial(world, spragLayoutJointMark(joint));
    spragLayoutMarkJoint(joint, serial);
    world->bearing[world->bearing_count++] = (struct spragBearing){.joint = joint,
                                                                   .serial = serial,
                                                                   .type = dJointGetType(joint),
                                                                   .law = *law,
                                                                   .id = world->next_id + 1,
                                                                   .memory = {-1, -1},
                                                                   .stuck = -1};
    world->next_id += SPRAG_BEARING_ENDS;
    return SPRAG_OK;
}

/* Still the joint it was?  ODE gives the addresses of destroyed joints to new ones. */
static int isSame(const struct spragWorld *world, struct spragBearing *bearing, const spragJointState *joint)
{
    if (world->marked && bearing->serial != joint->serial)
        return 0;
    bearing->serial = joint->serial;
    const dBodyID a = dJointGetBody(joint->id, 0), b = dJointGetBody(joint->id, 1);
    if (bearing->body[0] == NULL && bearing->body[1] == NULL) {
        bearing->body[0] = a;
        bearing->body[1] = b;
    }
    return joint->type == bearing->type && a == bearing->body[0] && b == bearing->body[1];
}

int spragBearingsFind(struct spragWorld *world)
{
    spragSnapshot *s = &world->snapshot;
    spragPointerMap map;
    if (world->bearing_count == 0)
        return 1;
    int *joint = SPRAG_TAKE(&world->arena, int, world->bearing_count);
    if (joint == NULL || !spragPointerMapMake(&map, &world->arena, world->bearing_count))
        return 0;
    for (int k = 0; k < world->bearing_count; ++k) {
        spragPointerMapPut(&map, world->bearing[k].joint, k);
        joint[k] = -1;
    }
    for (int j = 0; j < s->joint_count; ++j) {
        const int k = spragPointerMapGet(&map, s->joint[j].id);
        if (k >= 0 && isSame(world, &world->bearing[k], &s->joint[j]))
            joint[k] = j;
    }
    int kept = 0;
    for (int k = 0; k < world->bearing_count; ++k)
        if (joint[k] >= 0) {
            world->bearing[kept] = world->bearing[k];
            s->joint[joint[k]].bearing = &world->bearing[kept++];
        }
    world->bearing_count = kept;
    return 1;
}

struct spragBearing *spragBearingById(const struct spragWorld *world, unsigned long long id)
{
    int low = 0, high = world->bearing_count; /* ids ascend */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (world->bearing[middle].id + SPRAG_BEARING_ENDS <= id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < world->bearing_count && world->bearing[low].id <= id ? &world->bearing[low] : NULL;
}

int spragBearingBlockCount(const struct spragBearing *bearing)
{
    return slides(bearing->type) ? 2 * SPRAG_BEARING_ENDS : bearing->type == dJointTypeBall ? 2 : 1;
}

/* ---------------------------------------------------------------- turning */

static double turningCoefficient(const struct spragBearing *bearing)
{
    return bearing->stuck > 0 ? fmax(bearing->law.mu, bearing->law.mu_static) : bearing->law.mu;
}

/* N m s */
static double turningBound(const struct spragWorld *world, const struct spragBearing *bearing, double load)
{
    return turningCoefficient(bearing) * bearing->law.radius * load * world->snapshot.step;
}

static void turnRow(spragBlock *block, int row, const double axis[3])
{
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < 3 && block->body[side] >= 0; ++i)
            block->J[side][row][3 + i] = side == 0 ? axis[i] : -axis[i];
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

static void turningBlocks(const struct spragWorld *world, struct spragBearing *bearing, const spragBlock *like,
                          spragBlock *block)
{
    const int count = spragBearingBlockCount(bearing);
    for (int k = 0; k < count; ++k) {
        block[k] = *like;
        block[k].kind = SPRAG_BLOCK_BOX;
        block[k].part = SPRAG_PART_TURNING;
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
    for (int k = 0; k < count; ++k)
        setBound(&block[k], turningBound(world, bearing, bearing->load));
}

/* N s, the force handed on by the joint's rows. */
static void reaction(const spragIsland *island, const struct spragBearing *bearing, double sum[3])
{
    sum[0] = sum[1] = sum[2] = 0;
    for (int e = bearing->first_row; e < bearing->first_row + bearing->row_count; ++e)
        for (int i = 0; i < 3; ++i)
            sum[i] += island->row[e].J[0][i] * island->row[e].impulse;
}

/* Of one row or disc: what a change of its bound to `wanted` is worth; it is set to `bound`.  One that stays within both
 * does not notice. */
static double setProblemBound(spragIsland *island, int k, double wanted, double bound)
{
    spragBlock *block = &island->block[k];
    const double *r = island->r + 3 * k, *W = island->problem.W + 9 * (size_t)spragProblemDiagonal(&island->problem, k);
    const double before = block->kind == SPRAG_BLOCK_FORCE_LIMIT ? block->mu : fmax(block->hi[0], block->hi[1]);
    double size = 0, weight = 0;
    for (int row = 0; row < 3; ++row)
        if (!block->unused[row]) {
            size = block->kind == SPRAG_BLOCK_BOX ? fmax(size, fabs(r[row])) : hypot(size, r[row]);
            weight = fmax(weight, W[4 * row]);
        }
    setBound(block, bound);
    island->mu[k] = block->mu;
    island->mu_minus[k] = block->mu_minus;
    memcpy(island->bound + 6 * k, block->lo, sizeof block->lo);
    memcpy(island->bound + 6 * k + 3, block->hi, sizeof block->hi);
    return size < before * (1 - 1e-9) && size <= wanted ? 0 : fabs(wanted - before) * weight;
}

/* 1: the first block of turning friction of a joint (a ball has two). */
static int beginsTurning(const spragIsland *island, int k)
{
    const spragBlock *block = &island->block[k];
    return block->part == SPRAG_PART_TURNING &&
           (k == 0 || block[-1].part != SPRAG_PART_TURNING || block[-1].joint != block->joint);
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
    rounds->tried = SPRAG_TAKE(arena, double, rounds->count);
    rounds->found = SPRAG_TAKE(arena, double, rounds->count);
    rounds->weight = SPRAG_TAKE(arena, double, rounds->count);
    if (rounds->tried == NULL || rounds->found == NULL || rounds->weight == NULL)
        return 0;
    for (int k = 0, n = 0; k < island->block_count; ++k)
        if (beginsTurning(island, k)) {
            const struct spragBearing *bearing = bearingOf(world, island, k);
            rounds->tried[n] = bearing->load;
            rounds->weight[n++] = turningBound(world, bearing, 1);
        }
    return spragAndersonInit(&rounds->anderson, rounds->count, rounds->weight, NULL, arena);
}

/* The loads to try next. */
static void nextLoads(const struct spragWorld *world, const spragIsland *island, spragBearingRounds *rounds)
{
    enum { ROUNDS_PLAIN = 4 };
    for (int k = 0, n = 0; k < island->block_count; ++k)
        if (beginsTurning(island, k)) {
            double F[3];
            reaction(island, bearingOf(world, island, k), F);
            rounds->found[n++] = spragNorm3(F) / world->snapshot.step;
        }
    if (++rounds->round <= ROUNDS_PLAIN) {
        memcpy(rounds->tried, rounds->found, (size_t)rounds->count * sizeof *rounds->tried);
        return;
    }
    spragAndersonLook(&rounds->anderson, rounds->tried, rounds->found);
    spragAndersonMix(&rounds->anderson, rounds->tried, rounds->found);
    for (int n = 0; n < rounds->count; ++n)
        rounds->tried[n] = fmax(0, rounds->tried[n]);
}

double spragBearingsUpdate(const struct spragWorld *world, spragIsland *island, spragBearingRounds *rounds)
{
    double worst = 0;
    if (rounds->count == 0)
        return 0;
    nextLoads(world, island, rounds);
    for (int k = 0, n = -1; k < island->block_count; ++k) {
        if (island->block[k].part != SPRAG_PART_TURNING)
            continue;
        n += beginsTurning(island, k);
        const struct spragBearing *bearing = bearingOf(world, island, k);
        worst = fmax(worst, setProblemBound(island, k, turningBound(world, bearing, rounds->found[n]),
                                            turningBound(world, bearing, rounds->tried[n])));
    }
    return worst;
}

/* ---------------------------------------------------------------- sliding */

/* Rows that the joint brought: sum of rhs over those about (linear 0) or along (linear 1) an axis. */
static double rhsAlong(const spragEqualityRow *row, int count, int linear, const double axis[3])
{
    double sum = 0;
    for (int e = 0; e < count; ++e)
        if ((spragNorm3(row[e].J[0]) > 0) == linear)
            sum += spragDot3(row[e].J[0] + (linear ? 0 : 3), axis) * row[e].rhs;
    return sum;
}

/* Where the joint's rows act, from the first body's centre:  with d = p x q and moments (c x p), (c x q),
 * c = ((c x q).d) p - ((c x p).d) q + ((c x p).q) d. */
static void centreOf(const spragEqualityRow *p, const spragEqualityRow *q, const double d[3], double c[3])
{
    const double a = spragDot3(q->J[0] + 3, d), b = -spragDot3(p->J[0] + 3, d), e = spragDot3(p->J[0] + 3, q->J[0]);
    for (int i = 0; i < 3; ++i)
        c[i] = a * p->J[0][i] + b * q->J[0][i] + e * d[i];
}

/* n across d, nearest to the end's reaction of the last step. */
static void endNormal(const spragBodyState *bearer, const double known[3], const double d[3], const double p[3],
                      double n[3])
{
    memcpy(n, known, 3 * sizeof *n);
    if (bearer != NULL)
        spragMul33(n, bearer->rotation, known);
    const double along = spragDot3(n, d);
    for (int i = 0; i < 3; ++i)
        n[i] -= along * d[i];
    const double length = spragNorm3(n);
    for (int i = 0; i < 3; ++i)
        n[i] = length > 0.5 ? n[i] / length : p[i];
}

static double endCoefficient(const struct spragWorld *world, const struct spragBearing *bearing, int end,
                             const spragBlock *block)
{
    const int m = bearing->memory[end];
    const int rested = bearing->law.mu_static > bearing->law.mu &&
                       spragBlockRested(&world->snapshot, block, m >= 0 ? &world->memory[m] : NULL);
    return rested ? bearing->law.mu_static : bearing->law.mu;
}

/* One pair: rows along n, d, d x n at the point; friction acts at the face that was loaded. */
static void endBlock(const struct spragWorld *world, const struct spragBearing *bearing, int end, const double point[3],
                     const double n[3], const double d[3], spragBlock *block)
{
    const spragSnapshot *s = &world->snapshot;
    block->kind = SPRAG_BLOCK_TWO_SIDED;
    block->memory = bearing->memory[end];
    memcpy(block->n, n, sizeof block->n);
    memcpy(block->t1, d, sizeof block->t1);
    spragCross3(block->t2, n, d);
    memcpy(block->position, point, sizeof block->position);
    spragBlockRow(s, block, 0, block->n);
    for (int i = 0; i < 3; ++i)
        block->position[i] -= bearing->side[end] * bearing->law.half_width * n[i];
    spragBlockRow(s, block, 1, block->t1);
    spragBlockRow(s, block, 2, block->t2);
    block->unused[2] = block->part == SPRAG_PART_ACROSS || bearing->type == dJointTypeSlider ||
                       bearing->law.half_width == 0; /* what bears next to nothing needs no second direction */
    block->approach = spragBlockVelocity(s, block, 0);
    block->mu = block->mu_minus = endCoefficient(world, bearing, end, block);
}

static void slidingBlocks(const struct spragWorld *world, struct spragBearing *bearing, const spragBlock *like,
                          const spragEqualityRow *row, int count, spragBlock *block)
{
    const spragEqualityRow *across[2] = {NULL, NULL};
    for (int e = 0, found = 0; e < count && found < 2; ++e)
        if (spragNorm3(row[e].J[0]) > 0)
            across[found++] = &row[e];
    const spragBodyState *a = &world->snapshot.body[like->body[0]],
                         *b = like->body[1] < 0 ? NULL : &world->snapshot.body[like->body[1]];
    double d[3], c[3] = {0, 0, 0}, apart[3] = {0, 0, 0};
    spragCross3(d, across[0]->J[0], across[1]->J[0]);
    if (bearing->type == dJointTypePiston)
        centreOf(across[0], across[1], d, c);
    for (int i = 0; i < 3 && b != NULL && bearing->type == dJointTypeSlider; ++i)
        apart[i] = 0.5 * (b->position[i] - a->position[i]); /* ODE's rows act between the bodies, ours at the first */
    for (int end = 0; end < SPRAG_BEARING_ENDS; ++end) {
        const double half = (end == 0 ? -0.5 : 0.5) * bearing->law.length;
        const int m = bearing->memory[end];
        double n[2][3], point[3];
        bearing->side[end] = m >= 0 && world->memory[m].variant < 0 ? -1 : 1;
        endNormal(b, bearing->normal[end], d, across[0]->J[0], n[0]);
        spragCross3(n[1], d, n[0]);
        for (int i = 0; i < 3; ++i)
            point[i] = a->position[i] + c[i] + half * d[i];
        for (int k = 0; k < 2; ++k) {
            spragBlock *to = &block[2 * end + k];
            double turn[3], shift[3];
            *to = *like;
            to->part = k == 0 ? SPRAG_PART_GUIDE : SPRAG_PART_ACROSS;
            to->id = bearing->id + (unsigned)end;
            endBlock(world, bearing, end, point, n[k], d, to);
            spragCross3(turn, d, n[k]);
            spragCross3(shift, apart, n[k]);
            for (int i = 0; i < 3; ++i)
                turn[i] = half * turn[i] - shift[i];
            to->rhs[0] = rhsAlong(row, count, 1, n[k]) + rhsAlong(row, count, 0, turn);
            to->correction = to->rhs[0];
            to->compliance[0] = across[0]->compliance;
        }
    }
}

/* Of a slider's rows only the one about its axis stays. */
static int keepRoll(spragEqualityRow *row, int count)
{
    double d[3];
    const spragEqualityRow *across[2] = {NULL, NULL};
    for (int e = 0, found = 0; e < count && found < 2; ++e)
        if (spragNorm3(row[e].J[0]) > 0)
            across[found++] = &row[e];
    spragCross3(d, across[0]->J[0], across[1]->J[0]);
    spragEqualityRow roll = row[0];
    roll.rhs = rhsAlong(row, count, 0, d);
    memset(roll.J, 0, sizeof roll.J);
    for (int i = 0; i < 3; ++i) {
        roll.J[0][3 + i] = d[i];
        roll.J[1][3 + i] = roll.body[1] >= 0 ? -d[i] : 0;
    }
    row[0] = roll;
    return 1;
}

void spragBearingBlocks(const struct spragWorld *world, int j, int first, spragIsland *island)
{
    const spragJointState *joint = &world->snapshot.joint[j];
    struct spragBearing *bearing = joint->bearing;
    spragEqualityRow *row = island->row + first;
    spragBlock *block = island->block + island->block_count;
    const int count = island->row_count - first;
    const spragBlock like = {.joint = j,
                             .parent = -1,
                             .memory = -1,
                             .scale = 1,
                             .body = {joint->body[0], joint->body[1]},
                             .unused = {1, 1, 1}};
    if (slides(bearing->type)) {
        spragBlock clean = like;
        memset(clean.unused, 0, sizeof clean.unused);
        slidingBlocks(world, bearing, &clean, row, count, block);
        island->row_count = first + (bearing->type == dJointTypeSlider ? keepRoll(row, count) : 0);
    } else {
        turningBlocks(world, bearing, &like, block);
    }
    island->block_count += spragBearingBlockCount(bearing);
    bearing->first_row = first;
    bearing->row_count = island->row_count - first;
}

/* ---------------------------------------------------------------- ends that turn */

/* Unit vector n along the end's reaction across the axis, of the sign that keeps n on its side.  While it slips, the
 * reaction is that of the normals, so that the pair across comes to bear nothing; while it sticks, all of it, which
 * equilibrium gives, however friction and normals share it. */
static void endDirection(const spragIsland *island, int k, double n[3])
{
    const spragBlock *one = &island->block[k];
    const int sticks = spragNorm2(island->u + 3 * k + 1) <= SPRAG_SLIP_TOLERANCE;
    double sum[3] = {0, 0, 0};
    for (int b = 0; b < 2; ++b)
        for (int i = 0; i < 3; ++i)
            sum[i] += island->r[3 * (k + b)] * one[b].n[i] + (sticks ? island->r[3 * (k + b) + 2] * one[b].t2[i] : 0);
    const double size = spragNorm3(sum), sign = spragDot3(sum, one->n) < 0 ? -1 : 1;
    for (int i = 0; i < 3; ++i)
        n[i] = size > 0 ? sign * sum[i] / size : one->n[i];
}

/* Turns a pair to the normal n across the same axis, and to the face `side`: what the rows say of the plane turns with it. */
static void turnEnd(const struct spragWorld *world, struct spragBearing *bearing, int end, const double n[3], int side,
                    spragBlock *pair, double *r)
{
    const spragBlock before[2] = {pair[0], pair[1]};
    const double c = spragDot3(n, before[0].n), s = spragDot3(n, before[1].n);
    const double turn[2][2] = {{c, s}, {-s, c}}, d[3] = {pair[0].t1[0], pair[0].t1[1], pair[0].t1[2]};
    const double N[2] = {r[0], r[3]}, depth = bearing->side[end] * bearing->law.half_width;
    double normal[3], point[3];
    bearing->side[end] = side;
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < 3; ++i) {
            normal[i] = turn[k][0] * before[0].n[i] + turn[k][1] * before[1].n[i];
            point[i] = before[k].position[i] + depth * before[k].n[i];
        }
        endBlock(world, bearing, end, point, normal, d, &pair[k]);
        pair[k].rhs[0] = turn[k][0] * before[0].rhs[0] + turn[k][1] * before[1].rhs[0];
        pair[k].correction = pair[k].rhs[0];
        r[3 * k] = turn[k][0] * N[0] + turn[k][1] * N[1];
        r[3 * k + 2] = 0;
    }
}

int spragBearingsTurn(const struct spragWorld *world, spragIsland *island, int round)
{
    enum { FACES_MAX = 3 }; /* changes of face: they need not end (theory/policy.md 3.5) */
    const double enough = world->config.tolerance;
    int turned = 0;
    for (int k = 0; k + 1 < island->block_count; ++k) {
        if (island->block[k].part != SPRAG_PART_GUIDE || island->block[k + 1].part != SPRAG_PART_ACROSS)
            continue;
        struct spragBearing *bearing = world->snapshot.joint[island->block[k].joint].bearing;
        const int end = (int)(island->block[k].id - bearing->id), side = bearing->side[end];
        const double *W = island->problem.W + 9 * (size_t)spragProblemDiagonal(&island->problem, k);
        const double worth = island->block[k].mu * W[4], r = island->r[3 * k];
        const double N = fabs(r), across = fabs(island->r[3 * k + 3]);
        /* two normals at right angles rub with the sum of their friction instead of its root, and at two faces */
        const int two = bearing->law.half_width > 0 || across > N;
        const int off = worth * (two ? across : N + across - hypot(N, across)) > enough;
        const int other = bearing->law.half_width > 0 && round < FACES_MAX && side * r < 0 && worth * N > enough;
        double n[3];
        if (!off && !other)
            continue;
        endDirection(island, k, n);
        turnEnd(world, bearing, end, n, other ? -side : side, &island->block[k], island->r + 3 * k);
        turned = 1;
    }
    return turned;
}

/* ---------------------------------------------------------------- memory */

static void rememberEnd(const struct spragWorld *world, const spragIsland *island, int k, double known[3])
{
    static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int bearer = island->block[k].body[1];
    const double *R = bearer < 0 ? unit : world->snapshot.body[bearer].rotation;
    double n[3];
    endDirection(island, k, n);
    for (int i = 0; i < 3; ++i)
        known[i] = R[i] * n[0] + R[3 + i] * n[1] + R[6 + i] * n[2];
}

static void rememberTurning(const struct spragWorld *world, const spragIsland *island, int k, int second,
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

void spragBearingsRemember(struct spragWorld *world, const spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        struct spragBearing *bearing = world->snapshot.joint[block->joint].bearing;
        if (bearing == NULL)
            continue;
        if (block->part == SPRAG_PART_TURNING) {
            const int second =
                k > 0 && island->block[k - 1].joint == block->joint && island->block[k - 1].part == SPRAG_PART_TURNING;
            rememberTurning(world, island, k, second, bearing);
        } else if (block->part == SPRAG_PART_GUIDE) {
            rememberEnd(world, island, k, bearing->normal[block->id - bearing->id]);
        }
    }
}
