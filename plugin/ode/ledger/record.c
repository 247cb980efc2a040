#include "ode/ledger/record.h"

#include <math.h>
#include <string.h>

#include "base/prefetch.h"
#include "linalg/vec3.h"
#include "ode/ledger/ledger.h"
#include "ode/world/layout.h"

int spragRecordNumber(int serial)
{
    return serial >= SPRAG_MARK_MIN ? serial - SPRAG_MARK_MIN : -1;
}

static int bodyNumber(const spragSnapshot *s, int body)
{
    return body < 0 ? -1 : spragRecordNumber(s->body[body].serial);
}

/* What the ledger has found out is not asked of the bodies again. */
void spragRecordPlace(const struct spragWorld *world, const spragJointState *joint, spragContactMemory *memory)
{
    const spragSnapshot *s = &world->snapshot;
    const spragContactMemory *old = joint->contact != NULL && joint->memory >= 0 ? &world->memory[joint->memory] : NULL;
    if (old != NULL && s->local != NULL) {
        memcpy(memory->geom, old->geom, sizeof memory->geom);
        memcpy(memory->local, s->local[joint - s->joint], sizeof memory->local);
    } else if (joint->contact != NULL) {
        for (int side = 0; side < 2; ++side) {
            memory->geom[side] = spragGeomOf(joint, side);
            if (old == NULL)
                spragGoneKnow(memory->geom[side]);
        }
        spragContactLocal(s, joint, memory->local);
    }
    memory->never_stays = joint->never_stays;
    for (int side = 0; side < 2; ++side)
        if (joint->body[side] >= 0) {
            memory->serial[side] = old != NULL ? old->serial[side] : s->body[joint->body[side]].serial;
            const double arm = spragNorm3(memory->local[side]);
            memory->arm = arm > memory->arm ? arm : memory->arm;
        }
}

void spragRecordRecall(const spragContactMemory *old, const double t1[3], const double t2[3], spragContactHistory *past)
{
    past->previous_normal = fabs(old->normal_force);
    past->previous_slip[0] = spragDot3(old->slip, t1);
    past->previous_slip[1] = spragDot3(old->slip, t2);
    past->mode = (unsigned char)old->mode;
    past->variant = (signed char)old->variant;
}

spragContact spragRecordContact(const spragContactMemory *record)
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

spragContactChange spragRecordChange(const struct spragWorld *world, const int body[2], const spragContact *contact)
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

int spragRecordIsQuiet(const struct spragWorld *world, const spragJointState *joint, const spragContactMemory *memory,
                       const double slip[3])
{
    const spragContactMemory *old = joint->memory >= 0 ? &world->memory[joint->memory] : NULL;
    return old != NULL && !old->passed && old->mode == memory->mode && old->variant == memory->variant &&
           (memory->mode == SPRAG_MODE_SLIP
                ? spragDot3(old->slip, memory->slip) >= 0
                : memory->mode == SPRAG_MODE_OPEN || spragNorm3(slip) <= SPRAG_SLIP_TOLERANCE);
}

void spragRecordPlainEvents(struct spragWorld *world, const spragJointState *joint, const spragContactMemory *memory,
                            const spragPlainMotion *motion)
{
    const spragContactMemory *old = joint->memory >= 0 ? &world->memory[joint->memory] : NULL;
    const int slid = spragNorm3(motion->slip) > SPRAG_SLIP_TOLERANCE;
    const spragContact told = spragRecordContact(memory), *const contact = &told;
    spragContactChange change = spragRecordChange(world, joint->body, contact);
    change.fresh = old == NULL;
    change.touching = contact->depth >= -world->snapshot.step * SPRAG_SLIP_TOLERANCE;
    change.before = old == NULL ? SPRAG_MODE_OPEN : old->mode;
    change.variant_before = old == NULL ? 0 : old->variant;
    change.approach = motion->approach;
    change.inverse_mass = motion->own;
    change.normal_impulse = world->snapshot.step * contact->normal_force;
    change.indicator.p = motion->p;
    if (slid && world->config.analysis)
        change.indicator.quadrant = motion->acceleration < 0 ? SPRAG_QUADRANT_SLIDE : SPRAG_QUADRANT_LIFT;
    memcpy(change.event.slip_before, motion->slip, sizeof motion->slip);
    change.passed = old != NULL && old->passed;
    if (old != NULL)
        memcpy(change.last_slip, old->slip, sizeof old->slip);
    spragEventsOfContact(&world->log, &change);
}

enum { AHEAD = 6 }; /* joints: what memory takes */

void spragRecordAsk(const struct spragWorld *world, int j)
{
    if (j + AHEAD >= world->snapshot.joint_count)
        return;
    const spragJointState *joint = &world->snapshot.joint[j + AHEAD];
    const int known = joint->memory >= 0 && world->snapshot.local != NULL; /* and needs neither of these */
    if (joint->contact != NULL && !known)
        spragPrefetch(&joint->contact->geom, sizeof joint->contact->geom);
    if (joint->memory >= 0) {
        const spragContactMemory *memory = &world->memory[joint->memory];
        __builtin_prefetch(memory);
        __builtin_prefetch(memory->slip);
    }
    if (!known)
        spragAskBodies(world->snapshot.body, joint, SPRAG_HOW_THEY_LIE);
}
