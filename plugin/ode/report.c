#include "ode/report.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/prefetch.h"
#include "base/status.h"
#include "linalg/vec3.h"
#include "ode/bearing.h"
#include "ode/layout.h"
#include "ode/ledger.h"
#include "ode/lone.h"
#include "ode/rows.h"
#include "problem/residual.h"

/* Is there a spragContact of it?  (Of the two sides of a guide one is told of, see sideOf.) */
static int isTold(const spragBlock *block)
{
    return block->part == SPRAG_PART_CONTACT || block->part == SPRAG_PART_GUIDE;
}

spragStatus spragReportPrepare(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    size_t contacts = 0, loads = 0;
    for (int k = 0; k < s->island_count; ++k) {
        contacts += s->island[k].lone != NULL ? (size_t)s->island[k].contact_count : 0;
        for (int b = 0; b < s->island[k].block_count; ++b)
            contacts += isTold(&s->island[k].block[b]) ? 1 : 0;
        for (int b = 0; b < s->island[k].block_count; ++b)
            loads += s->island[k].block[b].part == SPRAG_PART_JOINT ? 3 : 0;
        loads += (size_t)s->island[k].row_count;
    }
    if (!spragGrow((void **)&world->load, &world->load_capacity, loads, sizeof *world->load) ||
        !spragGrow((void **)&world->contact, &world->contact_capacity, contacts, sizeof *world->contact) ||
        !spragGrow((void **)&world->next_memory, &world->next_memory_capacity, contacts + (size_t)world->memory_count,
                   sizeof *world->next_memory))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to report %zu contacts", contacts);
    return SPRAG_OK;
}

/* ---------------------------------------------------------------- one contact */

/* Of a serial; bodies of the snapshot, -1 the world. */
static int numberOf(int serial)
{
    return serial >= SPRAG_MARK_MIN ? serial - SPRAG_MARK_MIN : -1;
}

static int bodyNumber(const spragSnapshot *s, int body)
{
    return body < 0 ? -1 : numberOf(s->body[body].serial);
}

/* out = x_1 t1 + x_2 t2, in the true lengths of the ellipse: u_2 = u_2' / s, r_2 = s r_2'. */
static void fromTangents(double out[3], const spragBlock *block, double x1, double x2)
{
    for (int i = 0; i < 3; ++i)
        out[i] = x1 * block->t1[i] + x2 * block->t2[i];
}

/* m/s: a normal impulse that changes the contact's velocity by less does not hold anything. */
#define OPEN_TOLERANCE 1e-12

/* A guide without play is never open: unloaded it slips or sticks without force. */
static spragMode modeOf(const spragBlock *block, const double W[9], const double r[3], const double u[3], double still)
{
    if (block->kind == SPRAG_BLOCK_TWO_SIDED)
        return spragNorm2(u + 1) <= still ? SPRAG_MODE_STICK : SPRAG_MODE_SLIP;
    if (r[0] * W[0] <= OPEN_TOLERANCE)
        return SPRAG_MODE_OPEN;
    if (block->kind == SPRAG_BLOCK_BOX)
        return SPRAG_MODE_STICK;
    const double radius = block->kind == SPRAG_BLOCK_CONTACT ? block->mu * r[0] : block->mu;
    if (spragNorm2(r + 1) < radius * (1 - 1e-9) || spragNorm2(u + 1) <= still)
        return SPRAG_MODE_STICK;
    return SPRAG_MODE_SLIP;
}

/* p and b speak of the rigid contact: the compliance that softens W for the solver is none of theirs.  Where it makes up
 * for p < 0 within the step, p + compliance > 0, the elastic contact has one motion, and that is no paradox. */
static spragIndicator indicatorOf(const struct spragWorld *world, const spragBlock *block, const double W[9],
                                  const spragContactHistory *past)
{
    double rigid[9];
    memcpy(rigid, W, sizeof rigid);
    for (int i = 0; i < 3; ++i)
        rigid[4 * i] -= block->compliance[i];
    if (block->kind == SPRAG_BLOCK_TWO_SIDED)
        return spragIndicatorTwoSided(rigid, block->mu, block->mu_minus, past);
    spragIndicator indicator = spragIndicatorOf(rigid, block->mu, past, world->config.indeterminacy);
    if (spragParadoxClassOf(indicator.quadrant) != 0 && indicator.p + block->compliance[0] > 0)
        indicator.quadrant = past->free_acceleration < 0 ? SPRAG_QUADRANT_SLIDE : SPRAG_QUADRANT_LIFT;
    return indicator;
}

/* +1 / -1: the side that bears load; of an unloaded guide without play the last one, else 0. */
static int variantOf(const struct spragWorld *world, const spragBlock *block, const double W[9], const double r[3],
                     spragMode mode)
{
    if (block->kind == SPRAG_BLOCK_TWO_SIDED) {
        if (fabs(r[0]) * W[0] > OPEN_TOLERANCE)
            return r[0] > 0 ? 1 : -1;
        return block->memory >= 0 ? world->memory[block->memory].variant : 0;
    }
    if (mode == SPRAG_MODE_OPEN)
        return 0;
    return block->part == SPRAG_PART_OPPOSITE ? -1 : 1;
}

/* A block that is told of. */
typedef struct Told {
    const spragBlock *block;
    const double *W, *r, *u; /* its own: 3x3, 3, 3 */
    double still;            /* m/s, a slip that the answer's accuracy cannot tell from rest */
    const spragContactHistory *past;
    spragIndicator indicator;    /* of the contact alone */
    const spragCoupled *coupled; /* of the island */
    double separatrix;           /* where it was examined */
    double own[9];               /* W of a block that idled */
} Told;

static void lookAt(const struct spragWorld *world, const spragIsland *island, const spragCoupled *coupled, int k,
                   Told *told)
{
    told->block = &island->block[k];
    told->still = fmin(fmax(SPRAG_SLIP_TOLERANCE, 10 * island->solve.residual), 1e-6);
    told->r = island->r + 3 * k;
    told->u = island->u + 3 * k;
    told->past = &island->problem.history[k];
    told->coupled = coupled;
    told->separatrix = coupled->examined ? coupled->separatrix[k] : 0;
    told->W = told->own;
    if (k < island->problem.contact_count)
        told->W = island->problem.W + 9 * (size_t)spragProblemDiagonal(&island->problem, k);
    else
        spragBlockOwn(&world->snapshot, told->block, told->own);
    told->indicator = world->config.analysis ? indicatorOf(world, told->block, told->W, told->past)
                                             : (spragIndicator){.quadrant = SPRAG_QUADRANT_REST};
}

static void fillContact(const struct spragWorld *world, const Told *told, spragContact *contact)
{
    const spragSnapshot *s = &world->snapshot;
    const spragBlock *block = told->block;
    const spragJointState *joint = &s->joint[block->joint];
    const double *r = told->r, *u = told->u;
    const double side = block->part == SPRAG_PART_OPPOSITE ? -1 : 1; /* told along the guide's own normal */
    *contact = (spragContact){.joint = joint->guide != NULL ? NULL : joint->id, .depth = -block->gap};
    for (int side = 0; side < 2; ++side)
        contact->body[side] = block->body[side] < 0 ? NULL : s->body[block->body[side]].id;
    memcpy(contact->position, block->position, sizeof contact->position);
    for (int i = 0; i < 3; ++i)
        contact->normal[i] = side * block->n[i];
    contact->mode = modeOf(block, told->W, r, u, told->still);
    contact->variant = variantOf(world, block, told->W, r, contact->mode);
    const double load = block->kind == SPRAG_BLOCK_TWO_SIDED ? r[0] : fmax(r[0], 0); /* not -1e-20 N */
    contact->normal_force = side * load / s->step;
    fromTangents(contact->friction, block, r[1] / s->step, r[2] * block->scale / s->step);
    fromTangents(contact->slip, block, u[1], u[2] / block->scale);
    if (world->config.analysis) {
        contact->painleve_p = told->indicator.p;
        contact->free_acceleration = side * told->past->free_acceleration;
        contact->paradox_class =
            told->coupled->examined ? told->coupled->paradox_class : spragParadoxClassOf(told->indicator.quadrant);
    }
}

/* Friction along t2 where that is a block of its own. */
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

/* What the contacts of the island do together stands above what each would do alone. */
static void correctIndicator(const Told *told, spragIndicator *indicator)
{
    const spragCoupled *coupled = told->coupled;
    const double b = told->past->free_acceleration;
    if (!coupled->examined)
        return;
    indicator->separatrix = told->separatrix;
    indicator->quadrant = coupled->paradox_class == 0   ? b < 0 ? SPRAG_QUADRANT_SLIDE : SPRAG_QUADRANT_LIFT
                          : coupled->paradox_class <= 2 ? SPRAG_QUADRANT_INCONSISTENT
                                                        : SPRAG_QUADRANT_INDETERMINATE;
}

/* A contact that rested, rests and cannot do otherwise has nothing to tell. */
static int isQuiet(const Told *told, const spragContact *contact)
{
    const spragContactHistory *past = told->past;
    return told->block->kind == SPRAG_BLOCK_CONTACT && !told->coupled->examined && !past->fresh &&
           past->mode == SPRAG_MODE_STICK && contact->mode == SPRAG_MODE_STICK && contact->variant == past->variant &&
           told->indicator.quadrant == SPRAG_QUADRANT_REST;
}

/* What the change of any contact is told with; of what was before, nothing yet. */
static spragContactChange changeOf(const struct spragWorld *world, const int body[2], const spragContact *contact)
{
    const spragSnapshot *s = &world->snapshot;
    spragContactChange change = {.event = {.time = world->info.time,
                                           .step = world->info.step,
                                           .contact = contact->id,
                                           .body = {contact->body[0], contact->body[1]},
                                           .body_number = {bodyNumber(s, body[0]), bodyNumber(s, body[1])},
                                           .variant = contact->variant,
                                           .p = contact->painleve_p,
                                           .b = contact->free_acceleration},
                                 .after = contact->mode,
                                 .paradox_class = contact->paradox_class,
                                 .gravity = spragNorm3(s->gravity),
                                 .step = s->step};
    memcpy(change.event.position, contact->position, sizeof contact->position);
    memcpy(change.event.normal, contact->normal, sizeof contact->normal);
    memcpy(change.event.slip_after, contact->slip, sizeof contact->slip);
    for (int i = 0; i < 3; ++i)
        change.event.impulse[i] = s->step * (contact->normal_force * contact->normal[i] + contact->friction[i]);
    return change;
}

static void addEvents(struct spragWorld *world, const Told *told, const spragContact *contact)
{
    const spragBlock *block = told->block;
    const spragContactHistory *past = told->past;
    if (isQuiet(told, contact))
        return;
    spragContactChange change = changeOf(world, block->body, contact);
    change.fresh = past->fresh;
    change.touching = block->gap <= world->snapshot.step * SPRAG_SLIP_TOLERANCE;
    change.before = past->fresh ? SPRAG_MODE_OPEN : (spragMode)past->mode;
    change.approach = block->kind == SPRAG_BLOCK_TWO_SIDED ? -fabs(block->approach) : block->approach;
    change.inverse_mass = told->W[0];
    change.normal_impulse = fabs(told->r[0]);
    if (block->memory >= 0) {
        change.variant_before = world->memory[block->memory].variant;
        if (block->kind == SPRAG_BLOCK_TWO_SIDED || told->coupled->examined)
            change.class_before = world->memory[block->memory].paradox_class;
    }
    const int apart = block->part >= SPRAG_PART_GUIDE && block->kind == SPRAG_BLOCK_CONTACT && block->gap > 0;
    if (block->kind <= SPRAG_BLOCK_TWO_SIDED && !apart)
        change.indicator = told->indicator;
    correctIndicator(told, &change.indicator);
    fromTangents(change.last_slip, block, past->previous_slip[0], past->previous_slip[1] / block->scale);
    fromTangents(change.event.slip_before, block, past->slip[0], past->slip[1] / block->scale);
    spragEventsOfContact(&world->log, &change);
}

/* ---------------------------------------------------------------- memory */

/* What a contact is recognised by. */
static void rememberPlace(const spragSnapshot *s, const spragJointState *joint, spragContactMemory *memory)
{
    if (joint->contact != NULL) {
        const dContactGeom *geom = &joint->contact->geom;
        memory->geom[0] = joint->reversed ? geom->g2 : geom->g1;
        memory->geom[1] = joint->reversed ? geom->g1 : geom->g2;
        spragContactLocal(s, joint, memory->local);
    }
    for (int side = 0; side < 2; ++side)
        if (joint->body[side] >= 0) {
            memory->serial[side] = s->body[joint->body[side]].serial;
            const double arm = spragNorm3(memory->local[side]);
            memory->arm = arm > memory->arm ? arm : memory->arm;
        }
}

/* old: index of its record of the last step, or -1. */
static void remember(struct spragWorld *world, const spragJointState *joint, int is_guide, int old,
                     const spragContact *contact)
{
    spragContactMemory *memory = &world->next_memory[world->next_memory_count++];
    *memory = (spragContactMemory){.id = contact->id,
                                   .body = {contact->body[0], contact->body[1]},
                                   .is_guide = is_guide,
                                   .normal_force = contact->normal_force,
                                   .mode = contact->mode,
                                   .variant = contact->variant,
                                   .paradox_class = contact->paradox_class,
                                   .depth = contact->depth,
                                   .painleve_p = contact->painleve_p,
                                   .free_acceleration = contact->free_acceleration,
                                   .joint = contact->joint};
    rememberPlace(&world->snapshot, joint, memory);
    memcpy(memory->position, contact->position, sizeof memory->position);
    memcpy(memory->normal, contact->normal, sizeof memory->normal);
    memcpy(memory->friction, contact->friction, sizeof memory->friction);
    memcpy(memory->slip_now, contact->slip, sizeof memory->slip_now);
    const int keep = contact->mode != SPRAG_MODE_SLIP && old >= 0;
    memcpy(memory->slip, keep ? world->memory[old].slip : contact->slip, sizeof memory->slip);
}

static spragContact contactOf(const spragContactMemory *record)
{
    spragContactMemory memory = *record;
    if (memory.turned)
        spragLedgerTurn(&memory);
    spragContact contact = {.id = memory.id,
                            .joint = memory.joint,
                            .body = {memory.body[0], memory.body[1]},
                            .mode = memory.mode,
                            .variant = memory.variant,
                            .normal_force = memory.normal_force,
                            .depth = memory.depth,
                            .painleve_p = memory.painleve_p,
                            .free_acceleration = memory.free_acceleration,
                            .paradox_class = memory.paradox_class};
    memcpy(contact.position, memory.position, sizeof contact.position);
    memcpy(contact.normal, memory.normal, sizeof contact.normal);
    memcpy(contact.friction, memory.friction, sizeof contact.friction);
    memcpy(contact.slip, memory.slip_now, sizeof contact.slip);
    return contact;
}

void spragReportContacts(struct spragWorld *world)
{
    for (int k = 0; k < world->contact_count && !world->contacts_told; ++k)
        world->contact[k] = contactOf(&world->memory[k]);
    world->contacts_told = 1;
}

/* In the snapshot, or -1: gone, or the world. */
static int indexOf(const spragSnapshot *s, const spragContactMemory *old, int side)
{
    const int body = spragPointerMapGet(&s->body_index, old->body[side]);
    return body >= 0 && s->body[body].serial == old->serial[side] ? body : -1;
}

/* Contacts of the last step that no island of this one continues: those that sleep, or that ODE solved, stay known as
 * they were; the others are gone. */
static void closeOld(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    for (int k = 0; k < world->memory_count; ++k) {
        const spragContactMemory *old = &world->memory[k];
        if (old->fate == SPRAG_RECORD_CONTINUED)
            continue;
        const int a = indexOf(s, old, 0), b = indexOf(s, old, 1);
        const int gone = a < 0 || (old->body[1] != NULL && b < 0);
        const int sleeps = !gone && !s->body[a].awake && (b < 0 || !s->body[b].awake);
        if (sleeps || old->fate == SPRAG_RECORD_KEPT) {
            world->next_memory[world->next_memory_count++] = *old;
            continue;
        }
        if (old->mode == SPRAG_MODE_OPEN)
            continue;
        spragEvent event = {.time = world->info.time,
                            .step = world->info.step,
                            .contact = old->id,
                            .body = {gone ? NULL : old->body[0], gone ? NULL : old->body[1]},
                            .body_number = {numberOf(old->serial[0]), numberOf(old->serial[1])}};
        memcpy(event.position, old->position, sizeof event.position);
        memcpy(event.normal, old->normal, sizeof event.normal);
        memcpy(event.slip_before, old->slip, sizeof event.slip_before);
        spragEventLogAdd(&world->log, SPRAG_EVENT_DETACH, &event);
    }
}

static void swapMemory(struct spragWorld *world)
{
    spragContactMemory *memory = world->memory;
    const size_t capacity = world->memory_capacity;
    world->memory = world->next_memory;
    world->memory_capacity = world->next_memory_capacity;
    world->memory_count = world->next_memory_count;
    world->next_memory = memory;
    world->next_memory_capacity = capacity;
}

/* ---------------------------------------------------------------- the step */

/* Block to be told of: of a guide with clearance the side that bears load, or bore it last. */
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

static void reportIsland(struct spragWorld *world, const spragIsland *island, const spragCoupled *coupled)
{
    const spragSnapshot *s = &world->snapshot;
    for (int e = 0; e < island->row_count; ++e)
        if (island->row[e].number >= 0)
            rememberLoad(world, island->row[e].joint, island->row[e].number, island->row[e].impulse);
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        for (int i = 0; i < 3 && block->part == SPRAG_PART_JOINT; ++i)
            if (!block->unused[i])
                rememberLoad(world, block->joint, block->number[i], island->r[3 * k + i]);
        if (!isTold(block))
            continue;
        Told told;
        lookAt(world, island, coupled, sideOf(world, island, k), &told);
        spragContact told_of, *const contact = &told_of;
        ++world->contact_count;
        fillContact(world, &told, contact);
        addSecondLaw(world, island, k + 1, contact);
        contact->id = block->id != 0       ? block->id
                      : block->memory >= 0 ? world->memory[block->memory].id
                                           : ++world->next_id;
        addEvents(world, &told, contact);
        remember(world, &s->joint[block->joint], block->id != 0, block->memory, contact);
    }
}

/* ---------------------------------------------------------------- islands without blocks */

static void getVector(double out[3], const spragQuad quad[3], int lane)
{
    for (int i = 0; i < 3; ++i)
        out[i] = quad[i][lane];
}

static void fillLone(const struct spragWorld *world, const spragJointState *joint, const spragLoneContact *c,
                     const spragLoneRow *row, int lane, spragContactMemory *memory)
{
    const spragContactMemory *old = joint->memory >= 0 ? &world->memory[joint->memory] : NULL;
    const dContactGeom *geom = &joint->contact->geom;
    const spragMode mode = (spragMode)row->mode[lane];
    *memory = (spragContactMemory){.joint = joint->id,
                                   .body = {world->snapshot.body[joint->body[0]].id, NULL},
                                   .position = {geom->pos[0], geom->pos[1], geom->pos[2]},
                                   .mode = mode,
                                   .variant = mode == SPRAG_MODE_OPEN ? 0 : 1,
                                   .normal_force = row->force[lane],
                                   .depth = geom->depth};
    rememberPlace(&world->snapshot, joint, memory);
    getVector(memory->normal, c->n, lane);
    getVector(memory->friction, row->friction, lane);
    getVector(memory->slip_now, row->slip_after, lane);
    memcpy(memory->slip, mode != SPRAG_MODE_SLIP && old != NULL ? old->slip : memory->slip_now, sizeof memory->slip);
    if (world->config.analysis) {
        memory->painleve_p = row->p[lane];
        memory->free_acceleration = row->b[lane];
    }
}

static void addLoneEvents(struct spragWorld *world, const spragJointState *joint, const spragLoneRow *row, int lane,
                          const spragContactMemory *memory)
{
    const spragContactMemory *old = joint->memory >= 0 ? &world->memory[joint->memory] : NULL;
    double slip[3];
    getVector(slip, row->slip, lane);
    const int slid = spragNorm3(slip) > SPRAG_SLIP_TOLERANCE;
    if (old != NULL && old->mode == memory->mode && old->variant == memory->variant &&
        (memory->mode == SPRAG_MODE_SLIP ? spragDot3(old->slip, memory->slip) >= 0 : !slid))
        return; /* it goes on as it did, and no contact of these has a paradox */
    const spragContact told = contactOf(memory), *const contact = &told;
    spragContactChange change = changeOf(world, joint->body, contact);
    change.fresh = old == NULL;
    change.touching = contact->depth >= -world->snapshot.step * SPRAG_SLIP_TOLERANCE;
    change.before = old == NULL ? SPRAG_MODE_OPEN : old->mode;
    change.variant_before = old == NULL ? 0 : old->variant;
    change.approach = row->approach[lane];
    change.inverse_mass = row->own[lane];
    change.normal_impulse = world->snapshot.step * contact->normal_force;
    change.indicator.p = row->p[lane];
    if (slid && world->config.analysis)
        change.indicator.quadrant = row->b[lane] < 0 ? SPRAG_QUADRANT_SLIDE : SPRAG_QUADRANT_LIFT;
    memcpy(change.event.slip_before, slip, sizeof slip);
    if (old != NULL)
        memcpy(change.last_slip, old->slip, sizeof old->slip);
    spragEventsOfContact(&world->log, &change);
}

enum { AHEAD = 6 }; /* joints: what memory takes */

/* What will be read of joint j soon. */
static void askFor(const struct spragWorld *world, int j)
{
    if (j >= world->snapshot.joint_count)
        return;
    const spragJointState *joint = &world->snapshot.joint[j];
    if (joint->contact != NULL)
        spragPrefetch(&joint->contact->geom, sizeof joint->contact->geom);
    if (joint->memory >= 0)
        spragPrefetch(&world->memory[joint->memory], sizeof *world->memory);
}

static void reportLone(struct spragWorld *world, const spragIsland *island)
{
    for (int k = 0; k < island->joint_count; ++k) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[k]];
        askFor(world, island->joint[k] + AHEAD);
        const spragLoneRow *row = &island->lone->row[k];
        spragContactMemory *memory = &world->next_memory[world->next_memory_count++];
        ++world->contact_count;
        fillLone(world, joint, &island->lone->bodies.contact[k], row, island->lone_lane, memory);
        memory->id = joint->memory >= 0 ? world->memory[joint->memory].id : ++world->next_id;
        addLoneEvents(world, joint, row, island->lone_lane, memory);
    }
}

static const char *const wedged = "friction locks a wedge that closes: no rigid solution, so the contacts yield";

/* What is said of an island as a whole: its first body stands for it. */
static void addIslandEvent(struct spragWorld *world, const spragIsland *island, spragEventType type)
{
    const spragBodyState *body = &world->snapshot.body[island->body[0]];
    spragEvent event = {.time = world->info.time,
                        .step = world->info.step,
                        .body = {body->id, NULL},
                        .body_number = {numberOf(body->serial), -1},
                        .paradox_class = type == SPRAG_EVENT_INCONSISTENT    ? 1
                                         : type == SPRAG_EVENT_INDETERMINATE ? 3
                                                                             : 0,
                        .reason = type == SPRAG_EVENT_DECLINED                        ? island->declined
                                  : type == SPRAG_EVENT_FALLBACK && island->wedge > 0 ? wedged
                                  : type == SPRAG_EVENT_JAM                           ? wedged
                                                                                      : NULL};
    memcpy(event.position, body->position, sizeof event.position);
    spragEventLogAdd(&world->log, type, &event);
}

/* What only the island as a whole shows: several contacts together may have several solutions, or none, where each one
 * alone is regular (the determinants of theory 004; the solver's small-friction test). */
static void addIslandParadox(struct spragWorld *world, const spragIsland *island, int first_event)
{
    int told[SPRAG_EVENT_TYPE_COUNT] = {0};
    for (int k = first_event; k < world->log.count; ++k)
        told[world->log.event[k].type] = 1;
    if (!world->config.analysis || island->contact_count < 2)
        return;
    if (island->solve.none && !told[SPRAG_EVENT_INCONSISTENT])
        addIslandEvent(world, island, SPRAG_EVENT_INCONSISTENT);
    if (island->solve.several && !told[SPRAG_EVENT_INDETERMINATE])
        addIslandEvent(world, island, SPRAG_EVENT_INDETERMINATE);
}

void spragReport(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    world->contact_count = world->contacts_told = world->next_memory_count = world->load_count = 0;
    spragEventLogClear(&world->log);
    for (int k = 0; k < s->island_count; ++k) {
        const spragIsland *island = &s->island[k];
        if (island->declined != NULL) {
            addIslandEvent(world, island, SPRAG_EVENT_DECLINED);
            spragLedgerKeep(world, island);
            continue;
        }
        if (island->lone != NULL) {
            reportLone(world, island);
            continue;
        }
        if (island->solve.fallback)
            addIslandEvent(world, island, SPRAG_EVENT_FALLBACK);
        if (island->wedge > 0)
            addIslandEvent(world, island, SPRAG_EVENT_JAM);
        const int first_event = world->log.count;
        reportIsland(world, island, &island->coupled);
        spragBearingsRemember(world, island);
        if (!island->coupled.examined)
            addIslandParadox(world, island, first_event);
    }
    closeOld(world);
    swapMemory(world);
    world->info.events = world->log.count;
    world->info.events_lost = world->log.lost;
}
