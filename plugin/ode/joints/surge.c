#include "ode/joints/surge.h"

#include <math.h>

#include "base/pool.h"
#include "linalg/vec3.h"
#include "ode/joints/articulation.h"
#include "ode/rows/rows.h"

/* With K = 100, SLACK = 0.1 two opposed contacts 0.15 m deep (h = 1/240 s) gave two ragdolls 29 kJ in a step.  Of
 * heaps of eight, 144 s of them at 60 to 240 steps a second, steps that raise the energy raise it by 8.6 kJ in all,
 * with these by 3.5, with 10 and 0.01 by 2.4; of the islands these solve 0.6 % again, the first 0.4. */
#define EXPLAINED 10   /* K */
#define SLACK 0.05     /* of T: a smaller gain is no throw, whatever it comes from */
#define LEAST 0.015625 /* of what was asked for: no smaller part is asked for again */
#define MOST 0.5

/* ---------------------------------------------------------------- what is asked for */

/* What a row asks for, m/s: the user's drive; a correction; what the motion brings with it, a bounce and -h Jdot v. */
typedef struct Asked {
    double drive, correction, motion;
} Asked;

static int isBounded(double lo, double hi)
{
    return isfinite(lo) && isfinite(hi);
}

static int isDrive(const spragBlock *block, int row)
{
    return block->part == SPRAG_PART_JOINT && isBounded(block->lo[row], block->hi[row]);
}

double spragSurgeGiven(const spragSnapshot *s, const int body[2], const double J0[6], const double J1[6])
{
    const double *J[2] = {J0, J1};
    double sum = 0;
    for (int side = 0; side < 2; ++side)
        if (body[side] >= 0 && s->body[body[side]].kinematic) {
            const double *v = s->body[body[side]].velocity;
            sum -= spragDot3(J[side], v) + spragDot3(J[side] + 3, v + 3);
        }
    return sum;
}

static double givenToRow(const spragSnapshot *s, const spragEqualityRow *row)
{
    return spragSurgeGiven(s, row->body, row->J[0], row->J[1]);
}

static double givenToBlock(const spragSnapshot *s, const spragBlock *block, int row)
{
    return spragSurgeGiven(s, block->body, block->J[0][row], block->J[1][row]);
}

/* m/s, at which the surface of a contact moves along its normal. */
static double surfaceMotion(const spragSnapshot *s, const spragBlock *block)
{
    const dContact *contact = block->part == SPRAG_PART_CONTACT ? s->joint[block->joint].contact : NULL;
    return contact != NULL && (contact->surface.mode & dContactMotionN) ? contact->surface.motionN : 0;
}

/* m/s, of row 0: how fast the surface comes.  One that goes away throws nobody, and is no correction: without it there
 * would be a wall. */
static double surfaceComes(const spragSnapshot *s, const spragBlock *block)
{
    return fmax(surfaceMotion(s, block), 0);
}

static double surfaceGoes(const spragSnapshot *s, const spragBlock *block)
{
    return fmin(surfaceMotion(s, block), 0);
}

/* What is withheld is off rhs and correction, and off the surface's motion here. */
static Asked askedOfBlock(const spragSnapshot *s, const spragBlock *block, int row)
{
    const double lead = block->lead[row], product = lead - s->step * block->product[row],
                 asked = block->rhs[row] - lead + givenToBlock(s, block, row);
    if (isDrive(block, row))
        return (Asked){asked, 0, product};
    if (block->part != SPRAG_PART_CONTACT || row > 0)
        return (Asked){0, asked, product};
    const double goes = surfaceGoes(s, block), comes = (1 - s->joint[block->joint].withheld) * surfaceComes(s, block),
                 bounce = fmax(block->rhs[row] - lead - goes - comes - block->correction, 0);
    return (Asked){goes, asked - goes - bounce, product + bounce};
}

static Asked askedOfRow(const spragSnapshot *s, const spragEqualityRow *row)
{
    const double asked = row->rhs + givenToRow(s, row);
    return spragRowDrives(row) ? (Asked){asked, 0, 0} : (Asked){0, asked, 0};
}

void spragSurgeWithhold(const spragSnapshot *s, spragIsland *island)
{
    if (!island->surged)
        return;
    for (int e = 0; e < island->row_count; ++e) {
        spragEqualityRow *row = &island->row[e];
        if (!spragRowDrives(row))
            row->rhs -= s->joint[row->joint].withheld * (row->rhs + givenToRow(s, row));
    }
    for (int k = 0; k < island->block_count; ++k) {
        spragBlock *block = &island->block[k];
        const double share = 1 - s->joint[block->joint].withheld;
        block->correction *= share;
        for (int row = 0; row < 3; ++row) {
            block->product[row] *= share;
            const double asked = block->rhs[row] + givenToBlock(s, block, row) - (row == 0 ? surfaceGoes(s, block) : 0);
            block->rhs[row] -= isDrive(block, row) ? 0 : (1 - share) * asked;
        }
    }
}

/* ---------------------------------------------------------------- what an answer gives */

/* a = J M^-1 J^T of an equality row, 1/kg or 1/(kg m^2). */
static double mobility(const spragSnapshot *s, const spragEqualityRow *row)
{
    double sum = 0;
    for (int side = 0; side < 2; ++side) {
        const spragBodyState *body = row->body[side] < 0 ? NULL : &s->body[row->body[side]];
        if (body == NULL || body->kinematic)
            continue;
        double spin[3];
        spragMul33(spin, body->inverse_inertia, row->J[side] + 3);
        sum += body->inverse_mass * spragDot3(row->J[side], row->J[side]) + spragDot3(row->J[side] + 3, spin);
    }
    return sum;
}

/* A row of the answer. */
typedef struct Row {
    int joint;        /* -1: the row does not exist */
    double r;         /* N s */
    double explained; /* J */
    double work;      /* J, of what moves as it likes, and of belts */
    double speed2;    /* (m/s)^2, which that asks for */
    int out;          /* its impulse is out of proportion to what it asks for */
} Row;

typedef struct Answer {
    const spragSnapshot *snapshot;
    const spragIsland *island;
    Row *row;                       /* (row_count + 3 block_count) */
    double gain[SPRAG_RANGES_MOST]; /* J, of each range of bodies */
    double most; /* J/kg: no more of it counts, of what a body has gained; less than 0: all, but for SLACK T */
} Answer;

/* J, by which the constraints raise the body's kinetic energy; *before: that, without them. */
static double gainOfBody(const spragBodyState *body, double *before)
{
    const double *p = body->impulse, *v = body->free_velocity;
    double spin[3], momentum[3];
    spragMul33(spin, body->inverse_inertia, p + 3);
    spragMul33(momentum, body->inertia, v + 3);
    *before = 0.5 * (body->mass * spragDot3(v, v) + spragDot3(v + 3, momentum));
    return spragDot3(p, v) + spragDot3(p + 3, v + 3) +
           0.5 * (body->inverse_mass * spragDot3(p, p) + spragDot3(p + 3, spin));
}

static void gainRange(void *data, int range, int first, int end)
{
    Answer *answer = data;
    const spragSnapshot *s = answer->snapshot;
    double gain = 0;
    for (int i = first; i < end; ++i) {
        const spragBodyState *body = &s->body[answer->island->body[i]];
        double before;
        if (body->kinematic)
            continue;
        const double own = gainOfBody(body, &before);
        gain += answer->most < 0 ? own - SLACK * before : fmin(fmax(own, 0), answer->most * body->mass);
    }
    answer->gain[range] = gain;
}

/* J, by which the constraints raise the kinetic energy T, but for SLACK T; or what counts of it. */
static double gainOf(Answer *answer, double most)
{
    answer->most = most;
    const int count = answer->island->body_count;
    double gain = 0;
    spragRangesRun(count, gainRange, answer);
    for (int range = 0; range < spragRangeCount(count); ++range)
        gain += answer->gain[range];
    return gain;
}

/* before: what was asked for before any of it was withheld.  again: the island has surged, and K is 1. */
static Row rowOf(int again, int joint, Asked asked, Asked before, double r, double a)
{
    const double correction = before.correction, motion = before.motion;
    const double of_correction = a > 0 ? correction * correction / a : 0, of_motion = a > 0 ? motion * motion / a : 0;
    const double most = EXPLAINED * of_correction + of_motion;
    const double own = again ? of_correction + of_motion : most;
    const double work = fmax((asked.correction + asked.motion) * r, 0);
    return (Row){.joint = joint,
                 .r = r,
                 .explained = asked.drive * r + fmin(work, own),
                 .out = most > 0 && fabs((correction + motion) * r) > most};
}

/* Of blocks first .. end - 1. */
static void fillRange(void *data, int range, int first, int end)
{
    (void)range;
    const Answer *answer = data;
    const spragSnapshot *s = answer->snapshot;
    const spragIsland *island = answer->island;
    Row *out = answer->row + island->row_count + 3 * (size_t)first;
    for (int k = first; k < end; ++k) {
        const spragBlock *block = &island->block[k];
        double W[9];
        spragBlockOwn(s, block, W);
        for (int row = 0; row < 3; ++row) {
            const Asked asked = askedOfBlock(s, block, row);
            const double share = 1 - s->joint[block->joint].withheld;
            const Asked before = {asked.drive, asked.correction / share, asked.motion / share};
            *out = block->unused[row]
                       ? (Row){.joint = -1}
                       : rowOf(island->surged, block->joint, asked, before, island->r[3 * k + row], W[4 * row]);
            if (block->part == SPRAG_PART_CONTACT && !block->unused[row]) {
                const double given = row > 0 ? before.correction : givenToBlock(s, block, row) + surfaceComes(s, block),
                             speed = given / (row == 2 ? block->scale : 1);
                out->work = fmax(share * given * out->r, 0);
                out->speed2 = speed * speed;
            }
            ++out;
        }
    }
}

static void fillRows(Answer *answer)
{
    const spragSnapshot *s = answer->snapshot;
    const spragIsland *island = answer->island;
    for (int e = 0; e < island->row_count; ++e) {
        const spragEqualityRow *row = &island->row[e];
        const Asked before = {.correction = spragRowDrives(row) ? 0 : row->asked + givenToRow(s, row)};
        answer->row[e] = rowOf(island->surged, row->joint, askedOfRow(s, row), before, row->impulse, mobility(s, row));
    }
    spragRangesRun(island->block_count, fillRange, answer);
}

/* J, which what moves as it likes explains beyond what its rows do: its work, up to what makes the bodies
 * sqrt(K) times as fast as the fastest surface. */
static double carriedBeyond(Answer *answer)
{
    const spragIsland *island = answer->island;
    double work = 0, rows = 0, fastest2 = 0;
    for (const Row *row = answer->row + island->row_count, *end = row + 3 * island->block_count; row < end; ++row) {
        if (row->speed2 > 0) {
            work += row->work;
            rows += row->explained;
            fastest2 = fmax(fastest2, row->speed2);
        }
    }
    return work > rows ? fmax(fmin(work, gainOf(answer, 0.5 * (island->surged ? 1 : EXPLAINED) * fastest2)) - rows, 0)
                       : 0;
}

int spragSurges(spragSnapshot *s, spragIsland *island, int last)
{
    double explained = 0;
    Answer answer = {.snapshot = s, .island = island};
    const double gain = gainOf(&answer, -1);
    const int count = island->row_count + 3 * island->block_count;
    if (!(gain > 0))
        return 0;
    Row *row = answer.row = SPRAG_TAKE_RAW(&island->lane->scratch, Row, count);
    if (row == NULL)
        return 0;
    fillRows(&answer);
    for (int i = 0; i < count; ++i)
        explained += row[i].explained;
    if (gain > explained)
        explained += carriedBeyond(&answer);
    if (count == 0 || gain <= explained)
        return 0;
    const int first = !island->surged;
    island->surged = 1;
    if (first && island->row_count > 0 && !last)
        return 1;
    const double share = last ? 0 : fmin(fmax(sqrt(fmax(explained, 0) / gain), LEAST), MOST);
    for (int i = 0; i < count; ++i)
        if (row[i].joint >= 0)
            s->joint[row[i].joint].surges |= row[i].out != 0;
    for (int i = 0; i < island->joint_count; ++i) {
        spragJointState *joint = &s->joint[island->joint[i]];
        joint->withheld = last || joint->surges ? 1 - (1 - joint->withheld) * share : joint->withheld;
        joint->surges = 0;
    }
    return 1;
}
