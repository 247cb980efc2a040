#include "ode/report.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "linalg/vec3.h"
#include "ode/ledger.h"
#include "ode/rows.h"
#include "problem/residual.h"

spragStatus spragReportPrepare(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    size_t contacts = 0, loads = 0;
    for (int k = 0; k < s->island_count; ++k) {
        contacts += (size_t)s->island[k].contact_count;
        for (int b = 0; b < s->island[k].block_count; ++b)
            loads += s->island[k].block[b].part == SPRAG_PART_JOINT;
    }
    if (!spragGrow((void **)&world->load, &world->load_capacity, loads, sizeof *world->load) ||
        !spragGrow((void **)&world->contact, &world->contact_capacity, contacts, sizeof *world->contact) ||
        !spragGrow((void **)&world->next_memory, &world->next_memory_capacity, contacts + (size_t)world->memory_count,
                   sizeof *world->next_memory))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to report %zu contacts", contacts);
    return SPRAG_OK;
}

/* ---------------------------------------------------------------- one contact */

/* out = x_1 t1 + x_2 t2, in the true lengths of the ellipse: u_2 = u_2' / s, r_2 = s r_2'. */
static void fromTangents(double out[3], const spragBlock *block, double x1, double x2)
{
    for (int i = 0; i < 3; ++i)
        out[i] = x1 * block->t1[i] + x2 * block->t2[i];
}

/* m/s: a normal impulse that changes the contact's velocity by less does not hold anything. */
#define OPEN_TOLERANCE 1e-12

static spragMode modeOf(const spragBlock *block, const double W[9], const double r[3], const double u[3])
{
    if (r[0] * W[0] <= OPEN_TOLERANCE)
        return SPRAG_MODE_OPEN;
    if (block->kind == SPRAG_BLOCK_BOX)
        return SPRAG_MODE_STICK;
    const double radius = block->kind == SPRAG_BLOCK_CONTACT ? block->mu * r[0] : block->mu;
    if (spragNorm2(r + 1) < radius * (1 - 1e-9) || spragNorm2(u + 1) <= SPRAG_SLIP_TOLERANCE)
        return SPRAG_MODE_STICK;
    return SPRAG_MODE_SLIP;
}

/* p and b speak of the rigid contact: the compliance that softens W for the solver is none of theirs. */
static spragIndicator indicatorOf(const struct spragWorld *world, const spragBlock *block, const double W[9],
                                  const spragContactHistory *past)
{
    double rigid[9];
    memcpy(rigid, W, sizeof rigid);
    for (int i = 0; i < 3; ++i)
        rigid[4 * i] -= block->compliance[i];
    return spragIndicatorOf(rigid, block->mu, past, world->config.indeterminacy);
}

static void fillContact(const struct spragWorld *world, const spragIsland *island, int k, spragContact *contact)
{
    const spragSnapshot *s = &world->snapshot;
    const spragBlock *block = &island->block[k];
    const spragJointState *joint = &s->joint[block->joint];
    const double *r = island->r + 3 * k, *u = island->u + 3 * k,
                 *W = island->problem.W + 9 * spragProblemDiagonal(&island->problem, k);
    *contact = (spragContact){.joint = joint->id, .depth = joint->contact->geom.depth};
    for (int side = 0; side < 2; ++side)
        contact->body[side] = block->body[side] < 0 ? NULL : s->body[block->body[side]].id;
    for (int i = 0; i < 3; ++i)
        contact->position[i] = joint->contact->geom.pos[i];
    memcpy(contact->normal, block->n, sizeof contact->normal);
    contact->mode = modeOf(block, W, r, u);
    contact->variant = contact->mode == SPRAG_MODE_OPEN ? 0 : 1;
    contact->normal_force = r[0] / s->step;
    fromTangents(contact->friction, block, r[1] / s->step, r[2] * block->scale / s->step);
    fromTangents(contact->slip, block, u[1], u[2] / block->scale);
    if (world->config.analysis) {
        const spragContactHistory *past = &island->problem.history[k];
        const spragIndicator indicator = indicatorOf(world, block, W, past);
        contact->painleve_p = indicator.p;
        contact->free_acceleration = past->free_acceleration;
        contact->paradox_class = spragParadoxClassOf(indicator.quadrant);
    }
}

static void addEvents(struct spragWorld *world, const spragIsland *island, int k, const spragContact *contact)
{
    const spragSnapshot *s = &world->snapshot;
    const spragBlock *block = &island->block[k];
    const spragContactHistory *past = &island->problem.history[k];
    const double *W = island->problem.W + 9 * spragProblemDiagonal(&island->problem, k);
    dVector3 g;
    dWorldGetGravity(world->world, g);
    const double gravity[3] = {g[0], g[1], g[2]};
    spragContactChange change = {.event = {.time = world->info.time,
                                           .step = world->info.step,
                                           .contact = contact->id,
                                           .body = {contact->body[0], contact->body[1]},
                                           .p = contact->painleve_p,
                                           .b = contact->free_acceleration},
                                 .fresh = past->fresh,
                                 .before = past->fresh ? SPRAG_MODE_OPEN : (spragMode)past->mode,
                                 .after = contact->mode,
                                 .approach = block->approach,
                                 .inverse_mass = W[0],
                                 .normal_impulse = island->r[3 * k],
                                 .gravity = spragNorm3(gravity),
                                 .step = s->step};
    if (world->config.analysis && block->kind == SPRAG_BLOCK_CONTACT)
        change.indicator = indicatorOf(world, block, W, past);
    memcpy(change.event.position, contact->position, sizeof contact->position);
    memcpy(change.event.normal, contact->normal, sizeof contact->normal);
    for (int i = 0; i < 3; ++i)
        change.event.impulse[i] = s->step * (contact->normal_force * contact->normal[i] + contact->friction[i]);
    fromTangents(change.last_slip, block, past->previous_slip[0], past->previous_slip[1] / block->scale);
    fromTangents(change.event.slip_before, block, past->slip[0], past->slip[1] / block->scale);
    memcpy(change.event.slip_after, contact->slip, sizeof contact->slip);
    spragEventsOfContact(&world->log, &change);
}

/* ---------------------------------------------------------------- memory */

static void remember(struct spragWorld *world, const spragBlock *block, const spragContact *contact)
{
    const spragSnapshot *s = &world->snapshot;
    const spragJointState *joint = &s->joint[block->joint];
    const dContactGeom *geom = &joint->contact->geom;
    spragContactMemory *memory = &world->next_memory[world->next_memory_count++];
    *memory =
        (spragContactMemory){.id = contact->id,
                             .body = {contact->body[0], contact->body[1]},
                             .geom = {joint->reversed ? geom->g2 : geom->g1, joint->reversed ? geom->g1 : geom->g2},
                             .normal_force = contact->normal_force,
                             .mode = contact->mode,
                             .variant = contact->variant};
    spragContactLocal(s, joint, memory->local);
    for (int side = 0; side < 2; ++side)
        if (joint->body[side] >= 0) {
            const double arm = spragNorm3(memory->local[side]);
            memory->arm = arm > memory->arm ? arm : memory->arm;
        }
    memcpy(memory->position, contact->position, sizeof memory->position);
    memcpy(memory->normal, contact->normal, sizeof memory->normal);
    memcpy(memory->friction, contact->friction, sizeof memory->friction);
    const int keep = contact->mode != SPRAG_MODE_SLIP && joint->memory >= 0;
    memcpy(memory->slip, keep ? world->memory[joint->memory].slip : contact->slip, sizeof memory->slip);
}

/* Contacts of the last step that no island of this one continues: those that sleep, or that ODE solved, stay known as
 * they were; the others are gone. */
static void closeOld(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    for (int k = 0; k < world->memory_count; ++k) {
        const spragContactMemory *old = &world->memory[k];
        if (old->matched)
            continue;
        const int a = spragPointerMapGet(&s->body_index, old->body[0]),
                  b = spragPointerMapGet(&s->body_index, old->body[1]);
        const int gone = a < 0 || (old->body[1] != NULL && b < 0);
        if (!gone && !s->body[a].awake && (b < 0 || !s->body[b].awake)) {
            world->next_memory[world->next_memory_count++] = *old;
            continue;
        }
        if (old->mode == SPRAG_MODE_OPEN)
            continue;
        spragEvent event = {.time = world->info.time,
                            .step = world->info.step,
                            .contact = old->id,
                            .body = {gone ? NULL : old->body[0], gone ? NULL : old->body[1]}};
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

static void reportIsland(struct spragWorld *world, const spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        if (block->part == SPRAG_PART_JOINT) {
            spragLoadMemory *load = &world->load[world->load_count++];
            load->joint = s->joint[block->joint].id;
            for (int i = 0; i < 3; ++i)
                load->force[i] = island->r[3 * k + i] / s->step;
        }
        if (block->part != SPRAG_PART_CONTACT)
            continue;
        spragContact *contact = &world->contact[world->contact_count++];
        fillContact(world, island, k, contact);
        const int m = s->joint[block->joint].memory;
        contact->id = m >= 0 ? world->memory[m].id : ++world->next_id;
        addEvents(world, island, k, contact);
        remember(world, block, contact);
    }
}

/* What is said of an island as a whole: its first body stands for it. */
static void addIslandEvent(struct spragWorld *world, const spragIsland *island, spragEventType type)
{
    const spragBodyState *body = &world->snapshot.body[island->body[0]];
    spragEvent event = {.time = world->info.time,
                        .step = world->info.step,
                        .body = {body->id, NULL},
                        .paradox_class = type == SPRAG_EVENT_INCONSISTENT    ? 1
                                         : type == SPRAG_EVENT_INDETERMINATE ? 3
                                                                             : 0};
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
    world->contact_count = world->next_memory_count = world->load_count = 0;
    spragEventLogClear(&world->log);
    for (int k = 0; k < s->island_count; ++k) {
        const spragIsland *island = &s->island[k];
        if (island->declined != NULL) {
            addIslandEvent(world, island, SPRAG_EVENT_DECLINED);
            continue;
        }
        if (island->solve.fallback)
            addIslandEvent(world, island, SPRAG_EVENT_FALLBACK);
        const int first_event = world->log.count;
        reportIsland(world, island);
        addIslandParadox(world, island, first_event);
    }
    closeOld(world);
    swapMemory(world);
    world->info.events = world->log.count;
    world->info.events_lost = world->log.lost;
}
