/* The report of islands with blocks: contacts, guides and the ends of bearings,
 * their modes, p and b, and their events. */
#include "ode/step/report.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "linalg/vec3.h"
#include "ode/joints/bearing.h"
#include "ode/ledger/hindsight.h"
#include "ode/ledger/ledger.h"
#include "ode/ledger/record.h"
#include "ode/rows/lead.h"
#include "ode/rows/rows.h"
#include "problem/residual.h"

/* ---------------------------------------------------------------- one contact */

/* out = x_1 t1 + x_2 t2, in the true lengths of the ellipse: u_2 = u_2' / s, r_2 = s r_2'. */
static void fromTangents(double out[3], const spragBlock *block, double x1, double x2)
{
    for (int i = 0; i < 3; ++i)
        out[i] = x1 * block->t1[i] + x2 * block->t2[i];
}

/* 1: an infinite coefficient holds at r_n = 0, which is the limit of a small force: it stays, and its friction acts. */
static int holdsUnloaded(const spragBlock *block, const double W[9], const double r[3])
{
    return block->kind == SPRAG_BLOCK_BOX && block->parts && spragNorm2(r + 1) * W[0] > SPRAG_OPEN_TOLERANCE;
}

/* A guide without play is never open: unloaded it slips or sticks without force. */
static spragMode modeOf(const spragBlock *block, const double W[9], const double r[3], const double u[3], double still,
                        double residual)
{
    if (block->kind == SPRAG_BLOCK_TWO_SIDED)
        return spragNorm2(u + 1) <= still ? SPRAG_MODE_STICK : SPRAG_MODE_SLIP;
    if (r[0] * W[0] <= SPRAG_OPEN_TOLERANCE && !holdsUnloaded(block, W, r))
        return SPRAG_MODE_OPEN;
    if (block->kind == SPRAG_BLOCK_BOX) /* in a large island what parting.c has let go may press, without friction */
        return block->parts && r[1] == 0 && r[2] == 0 && spragNorm2(u + 1) > still ? SPRAG_MODE_SLIP : SPRAG_MODE_STICK;
    const double radius = block->kind == SPRAG_BLOCK_CONTACT ? block->mu * r[0] : block->mu;
    const int within = spragRecordIsWithin(radius, spragNorm2(r + 1), (W[0] + W[4] + W[8]) / 3, residual);
    return within || spragNorm2(u + 1) <= still ? SPRAG_MODE_STICK : SPRAG_MODE_SLIP;
}

/* p and b speak of the rigid contact: the compliance that softens W for the solver is none of theirs.  Where it makes
 * up for p < 0 within the step, p + compliance > 0, the elastic contact has one motion, and that is no paradox. */
static spragIndicator indicatorOf(const struct spragWorld *world, const spragBlock *block, const double W[9],
                                  const spragContactHistory *past)
{
    double rigid[9];
    memcpy(rigid, W, sizeof rigid);
    for (int i = 0; i < 3; ++i)
        rigid[4 * i] -= block->compliance[i];
    if (block->kind == SPRAG_BLOCK_TWO_SIDED)
        return spragIndicatorTwoSided(rigid, block->mu, block->mu_minus, past);
    const double mu = block->parts ? 0 : block->mu; /* a cone in place of infinite friction has paradoxes of its own */
    spragIndicator indicator = spragIndicatorOf(rigid, mu, past, world->config.indeterminacy);
    if (spragParadoxClassOf(indicator.quadrant) != 0 && indicator.p + block->compliance[0] > 0)
        indicator.quadrant = past->free_acceleration < 0 ? SPRAG_QUADRANT_SLIDE : SPRAG_QUADRANT_LIFT;
    return indicator;
}

/* +1 / -1: the side that bears load; of an unloaded guide without play the last one, else 0. */
static int variantOf(const struct spragWorld *world, const spragBlock *block, const double W[9], const double r[3],
                     spragMode mode)
{
    if (block->kind == SPRAG_BLOCK_TWO_SIDED) {
        if (fabs(r[0]) * W[0] > SPRAG_OPEN_TOLERANCE)
            return r[0] > 0 ? 1 : -1;
        return block->memory >= 0 ? world->memory[block->memory].variant : 0;
    }
    if (mode == SPRAG_MODE_OPEN)
        return 0;
    return block->part == SPRAG_PART_OPPOSITE ? -1 : 1;
}

/* What a report of a block follows from. */
typedef struct BlockReport {
    const spragBlock *block;
    const double *W, *r, *u; /* its own: 3x3, 3, 3 */
    double residual;         /* m/s, of the island */
    double still;            /* m/s, spragStill */
    const spragContactHistory *past;
    spragIndicator indicator;    /* of the contact alone */
    const spragCoupled *coupled; /* of the island */
    double separatrix;           /* if the island was examined (coupled.h) */
    double own[9];               /* W of a block outside the working set, for which there is none */
} BlockReport;

static void lookAt(const struct spragWorld *world, const spragIsland *island, int k, BlockReport *report)
{
    const spragCoupled *coupled = &island->coupled;
    report->block = &island->block[k];
    report->residual = island->solve.residual;
    report->still = spragStill(island->solve.residual);
    report->r = island->r + 3 * k;
    report->u = island->u + 3 * k;
    report->past = &island->problem.history[k];
    report->coupled = coupled;
    report->separatrix = coupled->examined ? coupled->separatrix[k] : 0;
    report->W = report->own;
    if (k < island->problem.contact_count)
        report->W = island->problem.W + 9 * (size_t)spragProblemDiagonal(&island->problem, k);
    else
        spragBlockOwn(&world->snapshot, report->block, report->own);
    report->indicator = world->config.analysis ? indicatorOf(world, report->block, report->W, report->past)
                                               : (spragIndicator){.quadrant = SPRAG_QUADRANT_REST};
}

static void fillContact(const struct spragWorld *world, const BlockReport *report, spragContact *contact)
{
    const spragSnapshot *s = &world->snapshot;
    const spragBlock *block = report->block;
    const spragJointState *joint = &s->joint[block->joint];
    const double *r = report->r, *u = report->u;
    const double sign = block->part == SPRAG_PART_OPPOSITE ? -1 : 1; /* along the guide's own normal */
    *contact = (spragContact){.joint = joint->guide != NULL ? NULL : joint->id, .depth = -block->gap};
    for (int side = 0; side < 2; ++side)
        contact->body[side] = block->body[side] < 0 ? NULL : s->body[block->body[side]].id;
    memcpy(contact->position, block->position, sizeof contact->position);
    for (int i = 0; i < 3; ++i)
        contact->normal[i] = sign * block->n[i];
    contact->mode = modeOf(block, report->W, r, u, report->still, report->residual);
    contact->variant = variantOf(world, block, report->W, r, contact->mode);
    const double load = block->kind == SPRAG_BLOCK_TWO_SIDED ? r[0] : fmax(r[0], 0); /* not -1e-20 N */
    contact->normal_force = sign * load / s->step;
    fromTangents(contact->friction, block, r[1] / s->step, r[2] * block->scale / s->step);
    fromTangents(contact->slip, block, u[1], u[2] / block->scale);
    if (world->config.analysis) {
        contact->painleve_p = report->indicator.p;
        contact->free_acceleration = sign * report->past->free_acceleration;
        contact->paradox_class = report->coupled->examined ? report->coupled->paradox_class
                                                           : spragParadoxClassOf(report->indicator.quadrant);
    }
}

/* Adds friction along t2 if it is a block of its own. */
static void addSecondLaw(const struct spragWorld *world, const spragIsland *island, int k, spragContact *contact)
{
    if (k == island->block_count || island->block[k].part != SPRAG_PART_SECOND || contact->mode == SPRAG_MODE_OPEN)
        return;
    const double force = island->r[3 * k + 2] / world->snapshot.step, slip = island->u[3 * k + 2];
    for (int i = 0; i < 3; ++i) {
        contact->friction[i] += force * island->block[k].t2[i];
        contact->slip[i] += slip * island->block[k].t2[i];
    }
    if (fabs(slip) > SPRAG_SLIP_TOLERANCE)
        contact->mode = SPRAG_MODE_SLIP;
}

/* In an island that was examined as a whole, its class takes the place of what the contact alone would do. */
static void correctIndicator(const BlockReport *report, spragIndicator *indicator)
{
    const spragCoupled *coupled = report->coupled;
    const double b = report->past->free_acceleration;
    if (!coupled->examined)
        return;
    indicator->separatrix = report->separatrix;
    indicator->quadrant = coupled->paradox_class == 0   ? b < 0 ? SPRAG_QUADRANT_SLIDE : SPRAG_QUADRANT_LIFT
                          : coupled->paradox_class <= 2 ? SPRAG_QUADRANT_INCONSISTENT
                                                        : SPRAG_QUADRANT_INDETERMINATE;
}

/* A contact that rested, rests and cannot do otherwise has nothing to tell. */
static int isQuiet(const struct spragWorld *world, const BlockReport *report, const spragContact *contact)
{
    const spragContactHistory *past = report->past;
    const int old = report->block->memory;
    return !(old >= 0 && world->memory[old].passed) && report->block->kind == SPRAG_BLOCK_CONTACT &&
           !report->coupled->examined && !past->fresh && past->mode == SPRAG_MODE_STICK &&
           contact->mode == SPRAG_MODE_STICK && contact->variant == past->variant &&
           report->indicator.quadrant == SPRAG_QUADRANT_REST;
}

/* 1: it reverses, and sticks in passing. */
static int addEvents(const struct spragWorld *world, const BlockReport *report, const spragContact *contact,
                     spragEventLog *log)
{
    const spragBlock *block = report->block;
    const spragContactHistory *past = report->past;
    spragContactChange change = spragRecordChange(world, block->body, contact);
    change.fresh = past->fresh;
    change.touching = block->gap <= world->snapshot.step * SPRAG_SLIP_TOLERANCE;
    change.before = past->fresh ? SPRAG_MODE_OPEN : (spragMode)past->mode;
    change.approach = block->kind == SPRAG_BLOCK_TWO_SIDED ? -fabs(block->approach) : block->approach;
    change.inverse_mass = report->W[0];
    change.normal_impulse = fabs(report->r[0]);
    change.may_slide = block->kind == SPRAG_BLOCK_TWO_SIDED || report->coupled->examined;
    change.passes = block->passes;
    if (block->memory >= 0) {
        change.passed = world->memory[block->memory].passed;
        change.variant_before = world->memory[block->memory].variant;
        if (change.may_slide)
            change.class_before = world->memory[block->memory].paradox_class;
    }
    const int apart = block->part >= SPRAG_PART_GUIDE && block->kind == SPRAG_BLOCK_CONTACT && block->gap > 0;
    if ((block->kind <= SPRAG_BLOCK_TWO_SIDED || block->kind == SPRAG_BLOCK_BOX) && !apart)
        change.indicator = report->indicator;
    correctIndicator(report, &change.indicator);
    fromTangents(change.last_slip, block, past->previous_slip[0], past->previous_slip[1] / block->scale);
    fromTangents(change.event.slip_before, block, past->slip[0], past->slip[1] / block->scale);
    return spragEventsOfContact(log, &change);
}

/* ---------------------------------------------------------------- the island */

/* N m, of the rolling friction of contact k. */
static void momentOf(const struct spragWorld *world, const spragIsland *island, int k, double moment[3])
{
    while (++k < island->block_count && island->block[k].joint == island->block[k - 1].joint)
        for (int row = 0; row < 3 && island->block[k].part == SPRAG_PART_ROLLING; ++row)
            for (int i = 0; i < 3; ++i)
                moment[i] += island->block[k].J[0][row][3 + i] * island->r[3 * k + row] / world->snapshot.step;
}

/* old: index of its record of the last step, or -1. */
static void remember(const struct spragWorld *world, const spragJointState *joint, int is_guide, int old,
                     const spragContact *contact, spragContactMemory *memory)
{
    *memory = (spragContactMemory){.id = contact->id,
                                   .body = {contact->body[0], contact->body[1]},
                                   .is_guide = (unsigned char)is_guide,
                                   .normal_force = contact->normal_force,
                                   .mode = contact->mode,
                                   .variant = (signed char)contact->variant,
                                   .paradox_class = (unsigned char)contact->paradox_class,
                                   .depth = contact->depth,
                                   .painleve_p = contact->painleve_p,
                                   .free_acceleration = contact->free_acceleration,
                                   .joint = contact->joint};
    spragRecordPlace(world, joint, memory);
    memcpy(memory->position, contact->position, sizeof memory->position);
    memcpy(memory->normal, contact->normal, sizeof memory->normal);
    memcpy(memory->friction, contact->friction, sizeof memory->friction);
    memcpy(memory->slip_now, contact->slip, sizeof memory->slip_now);
    const int keep = contact->mode != SPRAG_MODE_SLIP && old >= 0;
    memcpy(memory->slip, keep ? world->memory[old].slip : contact->slip, sizeof memory->slip);
}

/* The block that is reported: of a guide with clearance the side that bears load, or bore it last. */
static int sideOf(const struct spragWorld *world, const spragIsland *island, int k)
{
    if (k + 1 == island->block_count || island->block[k + 1].part != SPRAG_PART_OPPOSITE)
        return k;
    const double here = island->r[3 * k], there = island->r[3 * k + 3];
    const int m = island->block[k].memory;
    if (here == there)
        return m >= 0 && world->memory[m].variant < 0 ? k + 1 : k;
    return there > here ? k + 1 : k;
}

static void rememberLoad(struct spragWorld *world, int joint, int number, double impulse)
{
    const spragSnapshot *s = &world->snapshot;
    world->load[world->load_count++] = (spragLoadMemory){.joint = s->joint[joint].id,
                                                         .serial = s->joint[joint].serial,
                                                         .number = number,
                                                         .next = -1,
                                                         .force = impulse / s->step};
}

static void makeRecord(struct spragWorld *world, const spragIsland *island, int k, int record)
{
    const spragBlock *block = &island->block[k];
    BlockReport report;
    spragContact contact;
    lookAt(world, island, sideOf(world, island, k), &report);
    fillContact(world, &report, &contact);
    addSecondLaw(world, island, k + 1, &contact);
    contact.id = block->id != 0 ? block->id : block->memory >= 0 ? world->memory[block->memory].id : 0;
    spragEventLog counted = {.limit = 0}; /* keeps none */
    const int passed = !isQuiet(world, &report, &contact) && addEvents(world, &report, &contact, &counted);
    world->noted[record] = contact.id != 0 && counted.lost == 0 ? -1 : k;
    remember(world, &world->snapshot.joint[block->joint], block->id != 0, block->memory, &contact,
             &world->next_memory[record]);
    if (block->part == SPRAG_PART_CONTACT)
        momentOf(world, island, k, world->next_memory[record].moment);
    world->next_memory[record].passed = (unsigned char)passed;
    if (block->part == SPRAG_PART_GUIDE)
        world->next_memory[record].lag = spragLeadLag(report.block, report.r[0], world->snapshot.step);
    world->next_memory[record].cone_barred = (short)(block->cone_barred > 0 ? block->cone_barred - 1 : 0);
    spragIslandNote(island, &world->next_memory[record]);
    if (island->echo != NULL) {
        memcpy(world->next_memory[record].echo, island->echo[k], sizeof *island->echo);
        world->next_memory[record].echoes = 1;
    }
    world->next_pair[record] = spragLedgerPair(contact.body);
}

typedef struct Reporting {
    struct spragWorld *world;
    const spragIsland *island;
} Reporting;

/* Makes the records of blocks first .. end - 1 of an island in which all are reported. */
static void makeRecords(void *data, int range, int first, int end)
{
    (void)range;
    const Reporting *reporting = data;
    for (int k = first; k < end; ++k)
        makeRecord(reporting->world, reporting->island, k, reporting->island->first_record + k);
}

void spragReportBlocks(struct spragWorld *world, const spragIsland *island)
{
    Reporting reporting = {world, island};
    if (island->reported == island->block_count) {
        spragRangesRun(island->block_count, makeRecords, &reporting);
        return;
    }
    int record = island->first_record;
    for (int k = 0; k < island->block_count; ++k)
        if (spragBlockIsReported(&island->block[k]))
            makeRecord(world, island, k, record++);
}

static void rememberLoads(struct spragWorld *world, const spragIsland *island)
{
    for (int e = 0; e < island->row_count; ++e)
        if (island->row[e].number >= 0)
            rememberLoad(world, island->row[e].joint, island->row[e].number, island->row[e].impulse);
    for (int k = 0; k < island->block_count && island->reported < island->block_count; ++k)
        for (int i = 0; i < 3 && island->block[k].part == SPRAG_PART_JOINT; ++i)
            if (!island->block[k].unused[i])
                rememberLoad(world, island->block[k].joint, island->block[k].number[i],
                             island->r[3 * k + i] * island->block[k].length[i]);
}

void spragReportBlockEvents(struct spragWorld *world, const spragIsland *island)
{
    rememberLoads(world, island);
    for (int i = island->first_record; i < island->first_record + island->reported; ++i) {
        const int k = world->noted[i];
        if (k < 0)
            continue;
        BlockReport report;
        spragContactMemory *memory = &world->next_memory[i];
        memory->id = memory->id != 0 ? memory->id : ++world->next_id;
        lookAt(world, island, sideOf(world, island, k), &report);
        const spragContact contact = spragRecordContact(memory);
        addEvents(world, &report, &contact, &world->log);
    }
}
