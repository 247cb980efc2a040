#include "ode/matrix/assemble.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/status.h"
#include "linalg/vec3.h"
#include "ode/joints/articulation.h"
#include "ode/joints/bearing.h"
#include "ode/joints/held.h"
#include "ode/joints/island_blocks.h"
#include "ode/joints/surge.h"
#include "ode/ledger/record.h"
#include "ode/matrix/delassus.h"
#include "ode/matrix/matrix_free.h"
#include "ode/matrix/working_set.h"
#include "ode/rows/coupled.h"
#include "ode/rows/free_motion.h"
#include "ode/rows/lead.h"
#include "ode/rows/opposed.h"
#include "ode/rows/singular.h"
#include "ode/work/slop.h"
#include "ode/world/body_mass.h"
#include "problem/residual.h"

/* ---------------------------------------------------------------- response */

/* Rows that a block does not have are empty; W gets a diagonal for them, so that their r is 0. */
static void clearUnused(spragBlock *block)
{
    for (int row = 0; row < 3; ++row)
        if (block->unused[row]) {
            memset(block->J[0][row], 0, sizeof block->J[0][row]);
            memset(block->J[1][row], 0, sizeof block->J[1][row]);
            block->rhs[row] = block->product[row] = block->carried[row] = block->compliance[row] = 0;
        }
}

/* Velocities of the finished rows before the step and after it without constraints. */
static void respond(const spragSnapshot *s, spragBlock *block)
{
    clearUnused(block);
    for (int row = 0; row < 3; ++row) {
        block->velocity[row] = -s->step * block->carried[row];
        block->free_velocity[row] = 0;
    }
    for (int side = 0; side < 2; ++side) {
        if (block->body[side] < 0)
            continue;
        const spragBodyState *body = &s->body[block->body[side]];
        const double *v = body->velocity, *free = body->free_velocity;
        for (int row = 0; row < 3; ++row) {
            const double *J = block->J[side][row];
            block->velocity[row] += spragDot3(J, v) + spragDot3(J + 3, v + 3);
            block->free_velocity[row] += spragDot3(J, free) + spragDot3(J + 3, free + 3);
        }
    }
}

/* ---------------------------------------------------------------- history and guess */

/* The contact's record of the last step, or NULL.  Of the two sides of a guide with clearance the record is of the one
 * that bore load. */
static const spragContactMemory *recordOf(const struct spragWorld *world, const spragBlock *block)
{
    const int told =
        block->part == SPRAG_PART_CONTACT || (block->part >= SPRAG_PART_GUIDE && block->part <= SPRAG_PART_ACROSS);
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
    for (int row = 1; row < 3; ++row)
        if (block->unused[row])
            r[row] = 0;
}

/* The contact's share of the forces of points that are no more (carry.h); force in N. */
static void addCarried(const double force[3], const spragBlock *block, double h, double r[3])
{
    r[0] = fmax(0, r[0] + spragDot3(force, block->n) * h);
    r[1] += block->unused[1] ? 0 : spragDot3(force, block->t1) * h;
    r[2] += block->unused[2] ? 0 : spragDot3(force, block->t2) * h / block->scale;
}

/* Limits and motors start from what they carried. */
static void guessLoad(const struct spragWorld *world, const spragBlock *block, double r[3])
{
    for (int row = 0; row < 3; ++row) {
        const spragLoadMemory *load = block->unused[row] ? NULL : spragLoadOf(world, block->joint, block->number[row]);
        if (load != NULL)
            r[row] = load->force * world->snapshot.step / block->length[row];
    }
}

static void guessTurning(const struct spragWorld *world, const spragBlock *block, double r[3])
{
    const struct spragBearing *bearing = world->snapshot.joint[block->joint].bearing;
    for (int row = 0; row < 3; ++row)
        r[row] = spragMomentAlong(block, row, bearing->torque) * world->snapshot.step;
}

/* The share of the moment that this block's contact had. */
static void guessRolling(const struct spragWorld *world, const spragBlock *block, double r[3])
{
    const int memory = world->snapshot.joint[block->joint].memory;
    for (int row = 0; row < 3 && memory >= 0; ++row) {
        const double *turns = block->J[0][row] + 3;
        if (!block->unused[row])
            r[row] = spragDot3(turns, world->memory[memory].moment) * world->snapshot.step / spragDot3(turns, turns);
    }
}

typedef struct Filling {
    const struct spragWorld *world;
    spragIsland *island;
    double *q;
    spragContactHistory *history;
} Filling;

/* q, history and guess of blocks first .. end - 1. */
static void fillRange(void *data, int range, int first, int end)
{
    (void)range;
    const Filling *filling = data;
    const struct spragWorld *world = filling->world;
    const spragIsland *island = filling->island;
    const spragSnapshot *s = &world->snapshot;
    spragContactHistory *history = filling->history;
    memset(history + first, 0, (size_t)(end - first) * sizeof *history);
    memset(island->r + 3 * first, 0, 3 * (size_t)(end - first) * sizeof *island->r);
    memset(island->u + 3 * first, 0, 3 * (size_t)(end - first) * sizeof *island->u);
    for (int k = first; k < end; ++k) {
        spragBlock *block = &island->block[k];
        spragContactHistory *past = &history[k];
        const spragContactMemory *old = recordOf(world, block);
        spragLead(block, old, s->step);
        for (int row = 0; row < 3 && k < island->block_count; ++row)
            filling->q[3 * k + row] = block->free_velocity[row] + s->step * block->product[row] - block->rhs[row];
        if (block->part == SPRAG_PART_JOINT)
            guessLoad(world, block, island->r + 3 * k);
        if (block->part == SPRAG_PART_TURNING)
            guessTurning(world, block, island->r + 3 * k);
        if (block->part == SPRAG_PART_ROLLING)
            guessRolling(world, block, island->r + 3 * k);
        past->fresh = old == NULL;
        past->free_acceleration = (block->free_velocity[0] - block->velocity[0]) / s->step + block->product[0];
        for (int i = 0; i < 2; ++i)
            past->slip[i] = block->velocity[1 + i] - block->rhs[1 + i];
        if (old == NULL)
            continue;
        double change[3];
        for (int row = 0; row < 3; ++row)
            change[row] = block->free_velocity[row] - block->velocity[row] + s->step * block->product[row];
        if (spragRestsAt(old, past->slip, change))
            past->slip[0] = past->slip[1] = 0;
        spragRecordRecall(old, block->t1, block->t2, past);
        past->previous_slip[1] *= block->scale;
        if (block->part != SPRAG_PART_ACROSS)
            guessFrom(old, block, s->step, island->r + 3 * k);
    }
    for (int k = first; k < end && s->carried != NULL; ++k)
        if (island->block[k].part == SPRAG_PART_CONTACT)
            addCarried(s->carried[island->block[k].joint], &island->block[k], s->step, island->r + 3 * k);
}

/* b of a contact is the normal acceleration without its own force: adds what the other contacts' forces give, which
 * are those of the guess. */
static void addOthers(void *data, int range, int first, int end)
{
    (void)range;
    const Filling *filling = data;
    const spragProblem *p = &filling->island->problem;
    for (int k = first; k < end; ++k) {
        const double *r = filling->island->r;
        double sum = 0;
        if (spragReachesOf(p) != NULL) {
            sum = spragReachesOf(p)->u[3 * k] - spragDot3(p->W + 9 * (size_t)spragProblemDiagonal(p, k), r + 3 * k);
        } else {
            for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
                if (p->column[e] != k)
                    sum += spragDot3(p->W + 9 * (size_t)e, r + 3 * p->column[e]);
        }
        filling->history[k].free_acceleration += sum / filling->world->snapshot.step;
    }
}

/* ---------------------------------------------------------------- the problem */

typedef struct Laws {
    const spragBlock *block;
    const spragContactMemory *memory;
    double *mu, *mu_minus, *bound;
    int *body, *parent;
    unsigned char *kind;
} Laws;

/* 1: mu = infinity that yields along both tangents, of a contact that bore nothing in the last step: it begins parted,
 * and parting.c holds it if it presses.  A pyramid of 36 boxes that slip, at rest, took six rounds of Newton's method
 * in each step, 35 ms, and takes 10.  (What does not yield begins held.) */
static int beginsParted(const spragContactMemory *memory, const spragBlock *block)
{
    return block->parts && block->memory >= 0 && memory[block->memory].mode == SPRAG_MODE_OPEN &&
           block->compliance[1] > 0 && block->compliance[2] > 0;
}

/* mu and bodies of blocks first .. end - 1, and of the other arrays those that are not NULL. */
static void lawRange(void *data, int range, int first, int end)
{
    (void)range;
    const Laws *laws = data;
    for (int k = first; k < end; ++k) {
        const spragBlock *block = &laws->block[k];
        laws->mu[k] = block->mu;
        memcpy(laws->body + 2 * k, block->body, sizeof block->body);
        if (laws->kind != NULL) {
            laws->mu_minus[k] = block->mu_minus;
            laws->kind[k] = (unsigned char)block->kind;
        }
        if (laws->bound != NULL) {
            memcpy(laws->bound + 6 * k, block->lo, sizeof block->lo);
            memcpy(laws->bound + 6 * k + 3, block->hi, sizeof block->hi);
            for (int row = 1; row < 3 && beginsParted(laws->memory, block); ++row)
                laws->bound[6 * k + row] = laws->bound[6 * k + 3 + row] = 0;
        }
        if (laws->parent != NULL)
            laws->parent[k] = block->parent;
    }
}

typedef struct Kinds {
    const spragBlock *block;
    unsigned char other[SPRAG_RANGES_MOST], boxes[SPRAG_RANGES_MOST], rolling[SPRAG_RANGES_MOST]; /* in each range */
} Kinds;

static void kindRange(void *data, int range, int first, int end)
{
    Kinds *kinds = data;
    unsigned char other = 0, boxes = 0, rolling = 0;
    for (int k = first; k < end; ++k) {
        other |= kinds->block[k].kind != SPRAG_BLOCK_CONTACT;
        boxes |= kinds->block[k].kind == SPRAG_BLOCK_BOX;
        rolling |= kinds->block[k].kind == SPRAG_BLOCK_ROLLING;
    }
    kinds->other[range] = other, kinds->boxes[range] = boxes, kinds->rolling[range] = rolling;
}

/* Laws of the blocks; arrays that would say nothing (mu_minus and kind of contacts alone, bounds without boxes, parents
 * without rolling) stay NULL.  0: no memory. */
static int fillLaws(const struct spragWorld *world, spragIsland *island)
{
    const int n = island->block_count;
    spragProblem *problem = &island->problem;
    int contacts = 1, boxes = 0, rolling = 0;
    Kinds kinds = {.block = island->block};
    spragRangesRun(n, kindRange, &kinds);
    for (int range = 0; range < spragRangeCount(n); ++range) {
        contacts &= !kinds.other[range];
        boxes |= kinds.boxes[range];
        rolling |= kinds.rolling[range];
    }
    spragArena *arena = &island->lane->arena;
    Laws laws = {.block = island->block,
                 .memory = world->memory,
                 .mu = SPRAG_TAKE_RAW(arena, double, n *(contacts ? 1 : 2) + (boxes ? 6 * n : 0)),
                 .body = SPRAG_TAKE_RAW(arena, int, 2 * n + (rolling ? n : 0)),
                 .kind = contacts ? NULL : SPRAG_TAKE_RAW(arena, unsigned char, n)};
    if (laws.mu == NULL || laws.body == NULL || (laws.kind == NULL && !contacts))
        return 0;
    laws.mu_minus = contacts ? NULL : laws.mu + n;
    laws.bound = boxes ? laws.mu_minus + n : NULL;
    laws.parent = rolling ? laws.body + 2 * n : NULL;
    spragRangesRun(n, lawRange, &laws);
    problem->mu = island->mu = laws.mu, problem->mu_minus = island->mu_minus = laws.mu_minus;
    problem->bound = island->bound = laws.bound;
    problem->body = laws.body, problem->parent = laws.parent;
    problem->kind = island->kind = laws.kind;
    return 1;
}

static void leaveOutRange(void *data, int range, int first, int end)
{
    (void)range;
    const Filling *filling = data;
    for (int k = first; k < end; ++k) {
        spragBlock *block = &filling->island->block[k];
        if (block->part != SPRAG_PART_CONTACT)
            continue;
        spragNormalRow row = {block->rhs[0], block->correction, block->compliance[0]};
        spragSlopLeave(filling->world, filling->island, block->body, block->memory, filling->island->block_total,
                       -block->gap, &row);
        block->rhs[0] = row.rhs, block->correction = row.correction, block->compliance[0] = row.compliance;
    }
}

static void leaveOut(const struct spragWorld *world, spragIsland *island)
{
    if (island->block_total <= SPRAG_BLOCKS_FEW)
        spragTraceLeave(world, island);
    else
        spragRangesRun(island->block_total, leaveOutRange, &(Filling){.world = world, .island = island});
}

typedef struct Motions {
    struct spragWorld *world;
    const spragIsland *island;
    double (*foreseen)[3];         /* (body_count) as of spragFreeMotion; or NULL */
    int failed[SPRAG_RANGES_MOST]; /* the first body of a range without a sound mass, or -1 */
} Motions;

/* Masses that the snapshot has not taken, and free motion, of the island's bodies first .. end - 1. */
static void moveRange(void *data, int range, int first, int end)
{
    Motions *motions = data;
    motions->failed[range] = -1;
    for (int i = first; i < end && motions->failed[range] < 0; ++i) {
        const int index = motions->island->body[i];
        spragBodyState *body = &motions->world->snapshot.body[index];
        if (body->mass == 0 && spragBodyMass(body, index) != SPRAG_OK)
            motions->failed[range] = index;
        else
            spragFreeMotion(motions->world, body, motions->foreseen != NULL ? motions->foreseen[i] : NULL);
    }
}

/* The error's text belongs to the thread that found it, which may be another: the mass is taken again on this one. */
static spragStatus moveBodies(struct spragWorld *world, const spragPointerMap *surfaces, const spragIsland *island)
{
    Motions motions = {.world = world, .island = island};
    spragStatus status = SPRAG_OK;
    spragArena *scratch = &island->lane->scratch;
    const spragArenaMark mark = spragArenaMarkGet(scratch);
    double(*moment)[3] = spragArenaTake(scratch, (size_t)island->body_count, sizeof *moment);
    if (moment == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the moments of %d bodies", island->body_count);
    motions.foreseen = spragMomentsForesee(world, surfaces, island, moment) ? moment : NULL;
    spragRangesRun(island->body_count, moveRange, &motions);
    spragArenaRelease(scratch, mark);
    for (int range = 0; range < spragRangeCount(island->body_count) && status == SPRAG_OK; ++range)
        if (motions.failed[range] >= 0)
            status = spragBodyMass(&world->snapshot.body[motions.failed[range]], motions.failed[range]);
    return status;
}

/* Rows that are set aside since joints hold the contact (delassus.c) bear no force, and their q becomes 0; the fastest
 * normal velocity that they would have had to stop, m/s, is kept for the residual.  Ends of a sliding bearing are rows
 * of a joint: where they contradict those of another joint nothing is counted, as without friction nothing would be. */
static void setLockedAside(const spragSnapshot *s, spragIsland *island, double *q)
{
    island->locked = 0;
    for (int k = 0; k < island->block_count && island->articulation_count > 0; ++k) {
        const spragBlock *block = &island->block[k];
        if (!block->locked)
            continue;
        const double missed = s->joint[block->joint].bearing != NULL ? 0
                              : block->kind == SPRAG_BLOCK_TWO_SIDED ? fabs(q[3 * k])
                                                                     : -q[3 * k];
        island->locked = fmax(island->locked, missed);
        for (int row = 0; row < 3; ++row)
            if (block->locked >> row & 1)
                q[3 * k + row] = island->r[3 * k + row] = 0;
    }
}

/* What mechanisms add to q and b. */
static void shiftAll(const spragIsland *island, double *q, spragContactHistory *history)
{
    for (int k = 0; k < island->block_count; ++k) {
        double shift[3] = {0}, free_acceleration = 0;
        spragArticulationShift(island, k, shift, &free_acceleration);
        for (int row = 0; row < 3; ++row)
            q[3 * k + row] += shift[row];
        history[k].free_acceleration += free_acceleration;
    }
}

#define SOFT (1 + 1e-9) /* times the world's CFM: a row of a joint that has more is a spring */

/* Do joints act on the island's bodies: by motors, limits and friction, which are blocks, or by springs?  (A motor or
 * limit that holds is as rigid as a hinge.) */
static int isDriven(const spragSnapshot *s, const spragIsland *island)
{
    int driven = 0;
    for (int k = 0; k < island->block_count && !driven; ++k) {
        const spragBlockPart part = island->block[k].part;
        driven = part == SPRAG_PART_JOINT || part == SPRAG_PART_ACROSS || part == SPRAG_PART_TURNING;
    }
    for (int e = 0; e < island->row_count && !driven; ++e)
        driven = island->row[e].compliance > SOFT * s->cfm / s->step;
    return driven;
}

static int makeProblem(struct spragWorld *world, spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    const int n = island->block_count, total = island->block_total;
    spragProblem *problem = &island->problem;
    spragContactHistory *history = SPRAG_TAKE_RAW(&island->lane->arena, spragContactHistory, total);
    double *q = SPRAG_TAKE_RAW(&island->lane->arena, double, 3 * n);
    island->r = SPRAG_TAKE_RAW(&island->lane->arena, double, 6 * (size_t)total);
    if (!history || !q || !island->r || !fillLaws(world, island))
        return 0;
    island->u = island->r + 3 * total;
    const int whole = island->greedy == NULL && !island->matrix.loose;
    if (whole ? !spragDelassusMake(world, island) : !spragMatrixFreeDiagonal(s, island))
        return 0;
    if (island->matrix.glued && !spragDelassusTell(world, island))
        return 0;
    if (island->declined != NULL)
        return 1;
    problem->q = island->q = q, problem->history = history, problem->step = s->step,
    problem->driven = isDriven(s, island);
    Filling filling = {world, island, q, history};
    spragRangesRun(total, fillRange, &filling);
    memset(island->r + 3 * n, 0, 3 * (size_t)(total - n) * sizeof *island->r);
    if (island->greedy != NULL)
        spragMatrixFreeOthers(island, s->step, history);
    else {
        if (spragReachesOf(problem) != NULL)
            spragReachesProduct(problem, island->r, spragReachesOf(problem)->u);
        spragRangesRun(n, addOthers, &filling);
    }
    if (island->articulation_count > 0)
        shiftAll(island, q, history);
    setLockedAside(s, island, q);
    if (!island->matrix.loose && !spragHeldReduce(world, island, history))
        return 0;
    spragSingularAdjust(world, island, q);
    spragCoupledExamine(world, island, history);
    return 1;
}

typedef struct Response {
    const spragSnapshot *snapshot;
    spragIsland *island;
    int first, end;
} Response;

/* Y = M^-1 J^T */
SPRAG_QUAD_INLINE void yieldBlocks(const Response *response)
{
    const spragSnapshot *s = response->snapshot;
    for (int k = response->first; k < response->end; ++k)
        for (int side = 0; side < 2; ++side) {
            const spragBlock *block = &response->island->block[k];
            if (!spragIsDynamic(s, block->body[side]))
                continue;
            const spragBodyState *body = &s->body[block->body[side]];
            const double(*J)[6] = (const double(*)[6])block->J[side];
            spragQuad lanes[6] = {{0}}, *Y = response->island->Y[k][side];
            for (int i = 0; i < 6; ++i)
                lanes[i] = (spragQuad){J[0][i], J[1][i], J[2][i], 0};
            for (int i = 0; i < 3; ++i) {
                const double *inverse = body->inverse_inertia + 3 * i;
                Y[i] = body->inverse_mass * lanes[i];
                Y[3 + i] = inverse[0] * lanes[3] + inverse[1] * lanes[4] + inverse[2] * lanes[5];
            }
        }
}

SPRAG_QUAD_CLONES(yieldRange, yieldBlocks, const Response)

static void respondRange(void *data, int range, int first, int end)
{
    (void)range;
    Response response = *(const Response *)data;
    spragIsland *island = response.island;
    for (int k = first; k < end; ++k)
        respond(response.snapshot, &island->block[k]);
    response.first = first, response.end = end < island->block_count ? end : island->block_count;
    if (island->Y != NULL)
        yieldRange(&response);
}

/* Velocities of all blocks, Y of the island's own. */
static int respondAll(const spragSnapshot *s, spragIsland *island)
{
    island->Y = NULL;
    if (island->greedy == NULL && !island->matrix.loose) {
        island->Y = spragArenaTakeRaw(&island->lane->scratch, (size_t)island->block_count, sizeof *island->Y);
        if (island->Y == NULL)
            return 0;
    }
    spragRangesRun(island->block_total, respondRange, &(Response){.snapshot = s, .island = island});
    return 1;
}

int spragAssembleAgain(struct spragWorld *world, spragIsland *island, int solved)
{
    const double *r = island->r;
    island->matrix.whole |= island->matrix.waits == SPRAG_WAITS_FOR_GUESS; /* what turns is to be solved */
    if (!respondAll(&world->snapshot, island))
        return 0;
    spragArticulationsRespond(&world->snapshot, island);
    if (!makeProblem(world, island))
        return 0;
    memcpy(island->r, r, 3 * (size_t)solved * sizeof *r);
    return 1;
}

int spragAssembleCouple(struct spragWorld *world, spragIsland *island)
{
    island->greedy = NULL;
    island->matrix.whole = 1;
    spragArenaReset(&island->lane->scratch);
    return respondAll(&world->snapshot, island) && spragDelassusMake(world, island);
}

enum { GLUE_LEAST = 5000 }; /* blocks: with fewer, W is factored in time, and Newton's method goes to 1e-8 m/s */

/* Is the island a large heap of contacts with unlimited friction forces, and nothing else? */
static int isGlued(const struct spragWorld *world, const spragIsland *island)
{
    int glued =
        world->config.solver == SPRAG_SOLVER_AUTO && island->block_count >= GLUE_LEAST && island->row_count == 0;
    for (int k = 0; k < island->block_count && glued; ++k) {
        const spragBlock *block = &island->block[k];
        glued = block->kind == SPRAG_BLOCK_BOX && block->part == SPRAG_PART_CONTACT && !block->parts &&
                block->lo[0] == 0 && isinf(block->hi[0]) && !block->unused[1] && !block->unused[2] && block->scale == 1;
        for (int i = 1; i < 3; ++i)
            glued = glued && isinf(block->lo[i]) && isinf(block->hi[i]);
    }
    return glued;
}

void spragAssembleReset(struct spragWorld *world, spragIsland *island)
{
    for (int i = 0; i < island->body_count; ++i) {
        spragBodyState *body = &world->snapshot.body[island->body[i]];
        memcpy(body->free_velocity, body->velocity, sizeof body->velocity);
        memset(body->motor_force, 0, sizeof body->motor_force);
        memset(body->impulse, 0, sizeof body->impulse);
        body->place = i;
        body->articulation = -1;
    }
    island->block_count = island->row_count = island->articulation_count = 0;
    island->links.count = 0;
    island->accord.made = 0;
}

spragStatus spragAssemble(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island)
{
    spragSnapshot *s = &world->snapshot;
    spragStatus status = spragIslandBlocksMake(world, surfaces, island);
    if (status != SPRAG_OK || island->declined != NULL)
        return status;
    island->block_total = island->block_count;
    if ((status = moveBodies(world, surfaces, island)) != SPRAG_OK)
        return status;
    leaveOut(world, island);
    spragSurgeWithhold(s, island);
    spragArenaReset(&island->lane->scratch);
    island->greedy = NULL;
    island->matrix.glued = island->rescued == NULL && isGlued(world, island);
    island->matrix.loose = island->rescued != NULL || island->matrix.glued;
    const int whole = !island->matrix.loose;
    island->matrix.lean = island->matrix.whole = island->matrix.waits = 0;
    if (!spragOpposedRelax(world, island) || (whole && !spragWorkingSetChoose(world, island)) ||
        (whole && !spragMatrixFreeChoose(world, island)) || !respondAll(s, island) ||
        (whole && !spragArticulationsMake(world, island)) || !makeProblem(world, island))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for an island of %d blocks", island->block_count);
    return SPRAG_OK;
}
