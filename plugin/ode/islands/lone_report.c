#include "ode/islands/lone_report.h"

#include <string.h>

#include "ode/ledger/ledger.h"
#include "ode/ledger/record.h"

/* What the law calls into the lone body the user's contact may call into its second. */
static void turn(double x[3])
{
    for (int i = 0; i < 3; ++i)
        x[i] = -x[i];
}

static void fillLone(const struct spragWorld *world, const spragJointState *joint, int turned,
                     const spragLoneContact *c, const spragLoneRow *row, int lane, spragContactMemory *memory)
{
    const spragSnapshot *s = &world->snapshot;
    const spragContactMemory *old = joint->memory >= 0 ? &world->memory[joint->memory] : NULL;
    const dContactGeom *geom = &joint->contact->geom;
    const spragMode mode = (spragMode)row->mode[lane];
    *memory = (spragContactMemory){
        .joint = joint->id,
        .body = {s->body[joint->body[0]].id, joint->body[1] >= 0 ? s->body[joint->body[1]].id : NULL},
        .position = {geom->pos[0], geom->pos[1], geom->pos[2]},
        .mode = mode,
        .variant = mode == SPRAG_MODE_OPEN ? 0 : 1,
        .normal_force = row->force[lane],
        .depth = geom->depth};
    spragRecordPlace(world, joint, memory);
    spragLoneVector(memory->normal, c->n, lane);
    spragLoneVector(memory->friction, row->friction, lane);
    spragLoneVector(memory->slip_now, row->slip_after, lane);
    if (turned) {
        turn(memory->normal);
        turn(memory->friction);
        turn(memory->slip_now);
    }
    memcpy(memory->slip, mode != SPRAG_MODE_SLIP && old != NULL ? old->slip : memory->slip_now, sizeof memory->slip);
    if (world->config.analysis) {
        memory->painleve_p = row->p[lane];
        memory->free_acceleration = row->b[lane];
    }
}

static spragPlainMotion motionOf(const spragLoneRow *row, int turned, int lane)
{
    spragPlainMotion motion = {
        .approach = row->approach[lane], .own = row->own[lane], .p = row->p[lane], .acceleration = row->b[lane]};
    spragLoneVector(motion.slip, row->slip, lane);
    if (turned)
        turn(motion.slip);
    return motion;
}

int spragLoneReport(struct spragWorld *world, spragArena *arena, spragIsland *island, const spragLoneGroup *group,
                    int lane)
{
    for (int k = 0; k < island->joint_count; ++k) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[k]];
        const int record = island->first_record + k, turned = spragLoneSign(island, joint) < 0;
        spragContactMemory *memory = &world->next_memory[record];
        fillLone(world, joint, turned, &group->bodies.contact[k], &group->row[k], lane, memory);
        memory->id = joint->memory >= 0 ? world->memory[joint->memory].id : 0;
        double slip[3]; /* either way: its length is asked for */
        spragLoneVector(slip, group->row[k].slip, lane);
        world->next_pair[record] = spragLedgerPair(memory->body);
        world->noted[record] = -1;
        if (spragRecordIsQuiet(world, joint, memory, slip))
            continue;
        world->noted[record] = k;
        if (island->motion == NULL &&
            (island->motion = SPRAG_TAKE_RAW(arena, spragPlainMotion, island->joint_count)) == NULL)
            return 0;
        island->motion[k] = motionOf(&group->row[k], turned, lane);
    }
    return 1;
}

void spragLoneReportEvents(struct spragWorld *world, const spragIsland *island)
{
    for (int k = 0; k < island->reported && island->motion != NULL; ++k) {
        spragContactMemory *memory = &world->next_memory[island->first_record + k];
        if (world->noted[island->first_record + k] < 0)
            continue;
        memory->id = memory->id != 0 ? memory->id : ++world->next_id;
        spragRecordPlainEvents(world, &world->snapshot.joint[island->joint[k]], memory, &island->motion[k]);
    }
}
