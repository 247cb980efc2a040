#include "ode/work/slop.h"

#include <math.h>

#include "base/extremes.h"
#include "linalg/vec3.h"
#include "ode/shape/curvature.h"
#include "ode/work/heap.h"

enum { FEW = 40 }; /* contacts of a heap: fewer are solved */

#define SLOP_TIMES 15   /* what an answer may part in a step: overlaps differ, and the next answers add to it */
#define SLOP_FLAT 5     /* the same of what lies flat: with more, walls that had moved rested less often */
#define TRACE_MOST 1e-4 /* of g h^2 */
#define TRACE_TIMES 10  /* the way that a contact parted by */
#define WORN 3          /* times the trace that spragCorrection leaves: an overlap that ERP has worn off */
#define FALLS 0.5       /* of g h^2: so far bodies fall in a step */
#define GROWS 1.6       /* s in which what is more may grow to e times as much */
#define ARM_SHARE 0.05  /* of the arms of contacts, so that small bodies do not sink into each other */
#define THICK_SHARE 0.1 /* of half the thickness of their geoms, where it is thinnest: what stays of a heap at once */
#define RIGID 1e-4      /* as SPRAG_RIGID_WORLD, of a contact's own CFM */
#define SAME (1 + 1e-9) /* times the world's CFM: up to there a contact has no softer one */
#define CORRECTION 1e-3 /* of what gravity gives in a step */
#define HURRIED 10      /* times that under a time limit, whose answers part what only just touches */
#define SINKS 0.3       /* of the overlap that stays: steps of 0.6 times the length leave no less */
#define TOUCHES 0.5     /* of the trace that spragCorrection leaves: what overlaps by less only just touches */
#define LONG 0.0125     /* s: in longer steps no deeper than in these, by SINKS and HURRIED; what parts grows no more */
#define ERP_SINKS 0.1   /* under a lesser ERP they sink as under this: else by 1 mm a step, and more, under 1e-3 */

/* m, from the nearer of the two centres.  (The other may be a ship's.) */
static double armOf(const spragContactMemory *memory)
{
    double arm = INFINITY;
    for (int side = 0; side < 2; ++side)
        if (memory->serial[side] != 0)
            arm = fmin(arm, spragNorm3(memory->local[side]));
    return arm < INFINITY ? arm : 0;
}

double spragSlopOf(const struct spragWorld *world, const spragIsland *island)
{
    double slop = 0, arms = 0;
    int known = 0;
    for (int i = 0, step = spragLookStep(island); i < island->joint_count; i += step) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[i]];
        if (joint->contact == NULL || joint->memory < 0)
            continue;
        const spragContactMemory *memory = &world->memory[joint->memory];
        slop = fmax(slop, memory->slop);
        arms += armOf(memory);
        ++known;
    }
    return known > 0 ? fmin(slop, ARM_SHARE * arms / known) : 0;
}

/* 1: it may be left unsolved, and is none that has been built.  (What is solved gains nothing: 15 R h is less than 1e-8
 * m.  Joints drive bodies apart, or hold them: of those only large ones.) */
static int mayStir(const spragIsland *island)
{
    return !island->pile.flat &&
           island->contact_count > (island->contact_count == island->joint_count ? FEW : SPRAG_LARGE);
}

/* m: the most that stays at once, by the mean of half the thickness of the bodies' geoms, as far as it is known. */
static double thinOf(const struct spragWorld *world, const spragIsland *island)
{
    double sum = 0;
    int known = 0;
    for (int i = 0, step = spragLookStep(island); i < island->joint_count; i += step) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[i]];
        double half = INFINITY;
        for (int side = 0; side < 2 && joint->contact != NULL; ++side) {
            const dGeomID geom = spragGeomOf(joint, side);
            const int body = joint->body[side];
            if (body >= 0 && geom != NULL && spragGeomIsOf(world->snapshot.body[body].id, geom))
                half = fmin(half, spragHalfThickness(geom));
        }
        if (half < INFINITY) {
            sum += half;
            ++known;
        }
    }
    return known > 0 ? THICK_SHARE * sum / known : INFINITY;
}

double spragSlopNext(const struct spragWorld *world, const spragIsland *island)
{
    const int heap = mayStir(island), large = heap || island->contact_count > SPRAG_LARGE; /* others are solved */
    const double pace = world->snapshot.pace, times = heap || island->pile.sticks ? SLOP_TIMES : SLOP_FLAT,
                 parts = times * island->solve.residual * pace,
                 falls = FALLS * spragNorm3(world->snapshot.gravity) * pace * pace;
    if (!(large || island->pile.sticks) || !(parts > island->before.slop))
        return island->before.slop;
    const double most =
        heap ? fmax(fmin(falls, thinOf(world, island)), island->before.slop * (1 + pace / GROWS)) : falls;
    return fmax(island->before.slop, fmin(parts, most));
}

/* m/s: no slower correction is asked for. */
static double correctionLeast(const struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    const double part = spragMin(1, LONG / s->pace), hurried = spragMax(1, HURRIED * part * part);
    const double times = world->config.time_limit > 0 ? hurried : 1;
    return spragMax(world->config.tolerance, times * CORRECTION * spragNorm3(s->gravity) * s->pace);
}

/* m/s: how fast a contact may sink that only just touches; if its body is an island by itself, 0.
 *
 * Told to sink, a contact that bears a load overlaps by that much in the next step.  Where it does not, a program makes
 * its depth by itself, and it would sink for ever.  So a loaded one of the same depth as before stays as it is. */
static double sinking(const struct spragWorld *world, const spragIsland *island, int record, double depth)
{
    const spragSnapshot *s = &world->snapshot;
    const double erp = spragMax(s->erp, ERP_SINKS);
    if (island->body_count == 1 || depth >= TOUCHES * s->least_correction * s->pace / erp)
        return 0;
    const spragContactMemory *memory = record >= 0 ? &world->memory[record] : NULL;
    if (memory != NULL && memory->normal_force > 0 && !(memory->depth < depth) && !(memory->depth > depth))
        return 0;
    const double part = spragMin(1, LONG / s->pace),
                 stays = spragMax(island->before.slop, correctionLeast(world) * s->pace / erp),
                 most = SINKS * stays * part * part;
    return spragMin(most - depth, most) / s->pace;
}

void spragSlopLeave(const struct spragWorld *world, const spragIsland *island, const int body[2], int record,
                    int blocks, double depth, spragNormalRow *row)
{
    const spragSnapshot *s = &world->snapshot;
    const double cfm = row->compliance * s->step;
    double own = 0; /* 1/kg */
    for (int side = 0; side < 2; ++side)
        own += body[side] < 0 ? 0 : s->body[body[side]].inverse_mass;
    if (blocks <= SPRAG_BLOCKS_FEW || cfm > (cfm <= SAME * s->cfm ? SPRAG_RIGID_WORLD : RIGID) * own * s->pace)
        return;
    if (row->compliance > 0 && row->rhs <= row->correction) /* what rebounds does not come to rest */
        row->rhs -= sinking(world, island, record, depth);
    row->compliance = 0;
    if (row->correction > 0 && (row->correction <= correctionLeast(world) || depth - s->layer <= island->before.slop)) {
        row->rhs -= row->correction;
        row->correction = 0;
    }
}

/* ---------------------------------------------------------------- the trace of a few */

double spragTraceOf(const struct spragWorld *world, const spragIsland *island)
{
    double trace = 0;
    for (int i = 0; i < island->joint_count && island->contact_count <= SPRAG_BLOCKS_FEW; ++i) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[i]];
        if (joint->contact != NULL && joint->memory >= 0)
            trace = fmax(trace, world->memory[joint->memory].trace);
    }
    return trace;
}

/* m: the way by which a contact that bore parts in this step, if it is at most `most`, and ERP had worn off the overlap
 * but for the least trace; else 0.  (Bodies that are made to touch exactly part as under ODE.) */
static double partingOf(const struct spragWorld *world, const spragIsland *island, int k, double most)
{
    const spragSnapshot *s = &world->snapshot;
    const spragBlock *block = &island->block[k];
    const spragContactMemory *memory = block->memory < 0 ? NULL : &world->memory[block->memory];
    const double depth = -block->gap - s->layer, worn = WORN * s->least_correction * s->pace / fmax(s->erp, ERP_SINKS);
    if (block->part != SPRAG_PART_CONTACT || memory == NULL || !(depth > 0) || depth > worn ||
        !(memory->depth > s->layer) || !(memory->normal_force > 0))
        return 0;
    const double way = (island->u[3 * k] + block->rhs[0]) * s->pace;
    return way > depth && way <= most ? way : 0;
}

double spragTraceNext(const struct spragWorld *world, const spragIsland *island)
{
    const double pace = world->snapshot.pace, most = TRACE_MOST * spragNorm3(world->snapshot.gravity) * pace * pace;
    const int few = island->block_total <= SPRAG_BLOCKS_FEW && island->body_count > 1;
    double trace = fmin(most, island->before.trace); /* the step may be shorter now */
    for (int k = 0; k < island->block_count && few && island->u != NULL && !island->failed; ++k)
        trace = fmax(trace, fmin(most, TRACE_TIMES * partingOf(world, island, k, most)));
    return trace;
}

void spragTraceLeave(const struct spragWorld *world, spragIsland *island)
{
    for (int k = 0; k < island->block_count && island->before.trace > 0; ++k) {
        spragBlock *block = &island->block[k];
        const double depth = -block->gap - world->snapshot.layer;
        if (block->part != SPRAG_PART_CONTACT || !(block->correction > 0) || !(depth > 0))
            continue;
        const double left = block->correction * fmin(1, fmax(0, 1.5 * (1 - island->before.trace / depth)));
        block->rhs[0] -= block->correction - left;
        block->correction = left;
    }
}
