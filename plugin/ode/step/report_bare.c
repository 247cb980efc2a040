/* The report of islands without blocks (bare.h): no contact of theirs has a paradox. */
#include "ode/step/report.h"

#include <string.h>

#include "base/pool.h"
#include "base/prefetch.h"
#include "linalg/vec3.h"
#include "ode/islands/bare.h"
#include "ode/ledger/hindsight.h"
#include "ode/ledger/ledger.h"
#include "ode/ledger/record.h"

static spragMode modeOf(const spragGreedyContact *c, const double u[3], double still, double residual)
{
    if (c->r[0] * (c->normal[0] + c->direction[0][3]) <= SPRAG_OPEN_TOLERANCE)
        return SPRAG_MODE_OPEN;
    const double w = c->arm[0][3] + c->arm[1][3];
    const int within = spragRecordIsWithin(c->mu * c->r[0], spragNorm2(c->r + 1), w, residual);
    return within || spragNorm2(u + 1) <= still ? SPRAG_MODE_STICK : SPRAG_MODE_SLIP;
}

static void fromTangents(double out[3], const spragGreedyContact *c, double x, double y)
{
    for (int i = 0; i < 3; ++i)
        out[i] = x * c->direction[1][i] + y * c->direction[2][i];
}

/* N m, of the rolling friction of contact k. */
static void momentOf(const spragSnapshot *s, const spragGreedy *greedy, int k, double moment[3])
{
    const spragGreedyContact *c = &greedy->contact[k];
    const spragGreedyRoll *roll = &greedy->roll[k];
    for (int i = 0; i < 3; ++i)
        moment[i] =
            (roll->r[0] * c->direction[1][i] + roll->r[1] * c->direction[2][i] + roll->r[2] * c->direction[0][i]) *
            roll->length / s->step;
}

/* Fills the record of contact k.  still: m/s, a slip up to which it rests. */
static void fillBare(const struct spragWorld *world, const spragIsland *island, int k, double still,
                     spragContactMemory *memory)
{
    const spragSnapshot *s = &world->snapshot;
    const spragJointState *joint = &s->joint[island->joint[k]];
    const spragGreedyContact *c = &island->bare->greedy.contact[k];
    const double *u = island->bare->u + 3 * k;
    const spragContactMemory *old = joint->memory >= 0 ? &world->memory[joint->memory] : NULL;
    const spragBareContact *cold = &island->bare->contact[k];
    const spragMode mode = modeOf(c, u, still, island->solve.residual);
    const double rate = 1 / s->step;
    *memory = (spragContactMemory){.joint = joint->id,
                                   .position = {cold->position[0], cold->position[1], cold->position[2]},
                                   .mode = mode,
                                   .variant = mode == SPRAG_MODE_OPEN ? 0 : 1,
                                   .normal_force = c->r[0] * rate,
                                   .depth = cold->depth};
    for (int side = 0; side < 2; ++side)
        memory->body[side] = old != NULL             ? old->body[side]
                             : joint->body[side] < 0 ? NULL
                                                     : s->body[joint->body[side]].id;
    spragRecordPlace(world, joint, memory);
    memcpy(memory->normal, c->direction[0], sizeof memory->normal);
    fromTangents(memory->friction, c, c->r[1] * rate, c->r[2] * rate);
    fromTangents(memory->slip_now, c, u[1], u[2]);
    if (island->bare->greedy.roll != NULL)
        momentOf(s, &island->bare->greedy, k, memory->moment);
    memcpy(memory->slip, mode != SPRAG_MODE_SLIP && old != NULL ? old->slip : memory->slip_now, sizeof memory->slip);
}

static spragPlainMotion motionOf(const struct spragWorld *world, const spragBare *bare, int k)
{
    const spragGreedyContact *c = &bare->greedy.contact[k];
    const spragBareContact *cold = &bare->contact[k];
    spragPlainMotion motion = {.approach = cold->approach,
                               .own = c->normal[0] + c->direction[0][3],
                               .p = spragBareSlope(c, cold->slip),
                               .acceleration = cold->acceleration + bare->others[k] / world->snapshot.step};
    fromTangents(motion.slip, c, cold->slip[0], cold->slip[1]);
    return motion;
}

typedef struct Reporting {
    struct spragWorld *world;
    const spragIsland *island;
} Reporting;

enum { AHEAD = 6 }; /* contacts: memory is asked for those that come so much later */

/* Makes the records of contacts first .. end - 1. */
static void makeRecords(void *data, int range, int first, int end)
{
    (void)range;
    const Reporting *reporting = data;
    struct spragWorld *world = reporting->world;
    const spragIsland *island = reporting->island;
    const spragBare *bare = island->bare;
    static const double none[3] = {0, 0, 0};
    const double still = spragStill(island->solve.residual);
    for (int k = first; k < end; ++k) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[k]];
        spragContactMemory *memory = &world->next_memory[island->first_record + k];
        spragRecordAsk(world, island->joint[k]);
        if (k + AHEAD < end)
            spragPrefetch(&bare->greedy.contact[k + AHEAD], sizeof *bare->greedy.contact);
        fillBare(world, island, k, still, memory);
        memory->id = joint->memory >= 0 ? world->memory[joint->memory].id : 0;
        spragIslandNote(island, memory);
        const spragPlainMotion motion = motionOf(world, bare, k);
        if (world->config.analysis) {
            memory->painleve_p = motion.p;
            memory->free_acceleration = motion.acceleration;
        }
        world->next_pair[island->first_record + k] = spragLedgerPair(memory->body);
        const double *slip = spragMayJam(motion.p, motion.own)
                                 ? motion.slip
                                 : none; /* of one that cannot jam the slip has nothing to tell */
        world->noted[island->first_record + k] = spragRecordIsQuiet(world, joint, memory, slip) ? -1 : k;
    }
}

void spragReportBare(struct spragWorld *world, const spragIsland *island)
{
    spragRangesRun(island->reported, makeRecords, &(Reporting){world, island});
}

void spragReportBareEvents(struct spragWorld *world, const spragIsland *island)
{
    for (int k = 0; k < island->reported; ++k) {
        spragContactMemory *memory = &world->next_memory[island->first_record + k];
        if (world->noted[island->first_record + k] < 0)
            continue;
        const spragPlainMotion motion = motionOf(world, island->bare, k);
        memory->id = memory->id != 0 ? memory->id : ++world->next_id;
        spragRecordPlainEvents(world, &world->snapshot.joint[island->joint[k]], memory, &motion);
    }
}
