/* The report of islands without blocks (lone.h): no contact of theirs has a paradox. */
#include "ode/report.h"

#include <string.h>

#include "base/prefetch.h"
#include "linalg/vec3.h"
#include "ode/lone.h"
#include "ode/record.h"
#include "problem/residual.h"

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
    spragRecordPlace(&world->snapshot, joint, memory);
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
    const spragContact told = spragRecordContact(memory), *const contact = &told;
    spragContactChange change = spragRecordChange(world, joint->body, contact);
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

void spragReportLone(struct spragWorld *world, const spragIsland *island)
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
