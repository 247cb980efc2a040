/* The report of islands without blocks (lone.h): no contact of theirs has a paradox. */
#include "ode/report.h"

#include <string.h>

#include "ode/lone.h"
#include "ode/record.h"

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

static spragPlainMotion motionOf(const spragIsland *island, int k)
{
    const spragLoneRow *row = &island->lone->row[k];
    const int lane = island->lone_lane;
    spragPlainMotion motion = {
        .approach = row->approach[lane], .own = row->own[lane], .p = row->p[lane], .acceleration = row->b[lane]};
    getVector(motion.slip, row->slip, lane);
    return motion;
}

void spragReportLone(struct spragWorld *world, const spragIsland *island)
{
    for (int k = 0; k < island->joint_count; ++k) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[k]];
        spragContactMemory *memory = &world->next_memory[island->first_record + k];
        spragRecordAsk(world, island->joint[k]);
        fillLone(world, joint, &island->lone->bodies.contact[k], &island->lone->row[k], island->lone_lane, memory);
        memory->id = joint->memory >= 0 ? world->memory[joint->memory].id : 0;
        const spragPlainMotion motion = motionOf(island, k);
        world->noted[island->first_record + k] = spragRecordIsQuiet(world, joint, memory, motion.slip) ? -1 : k;
    }
}

void spragReportLoneEvents(struct spragWorld *world, const spragIsland *island)
{
    for (int k = 0; k < island->told; ++k) {
        spragContactMemory *memory = &world->next_memory[island->first_record + k];
        if (world->noted[island->first_record + k] < 0)
            continue;
        const spragPlainMotion motion = motionOf(island, k);
        memory->id = memory->id != 0 ? memory->id : ++world->next_id;
        spragRecordPlainEvents(world, &world->snapshot.joint[island->joint[k]], memory, &motion);
    }
}
