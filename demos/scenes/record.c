#include "scenes/record.h"

#include <math.h>
#include <stdlib.h>

/* Feedback must not move while its joint lives: blocks, never reallocated. */
enum { RECORD_BLOCK = 256 };
typedef struct RecordBlock {
    dJointFeedback feedback[RECORD_BLOCK];
} RecordBlock;

/* What a contact was when the step began. */
typedef struct Start {
    double arm[2][3]; /* m, its point from the two centres */
    double motion[3]; /* m/s, of its surface (motion1): a contact that moves with it does not slip */
} Start;

struct SceneRecord {
    int count, capacity, block_count;
    RecordBlock **block;   /* (block_count) */
    spragContact *contact; /* (capacity) of this step */
    Start *start;          /* (capacity) */
};

SceneRecord *SceneRecordCreate(void)
{
    return calloc(1, sizeof(SceneRecord));
}

void SceneRecordClear(SceneRecord *record)
{
    record->count = 0;
}

static int reserve(SceneRecord *record)
{
    if (record->count < record->capacity)
        return 1;
    const int capacity = record->capacity + RECORD_BLOCK;
    RecordBlock **block = realloc(record->block, (size_t)(record->block_count + 1) * sizeof *block);
    if (block != NULL)
        record->block = block;
    spragContact *contact = realloc(record->contact, (size_t)capacity * sizeof *contact);
    if (contact != NULL)
        record->contact = contact;
    Start *start = realloc(record->start, (size_t)capacity * sizeof *start);
    if (start != NULL)
        record->start = start;
    RecordBlock *fresh = calloc(1, sizeof *fresh);
    if (block == NULL || contact == NULL || start == NULL || fresh == NULL) {
        free(fresh);
        return 0;
    }
    record->block[record->block_count++] = fresh;
    record->capacity = capacity;
    return 1;
}

void SceneRecordDestroy(SceneRecord *record)
{
    if (record == NULL)
        return;
    for (int i = 0; i < record->block_count; ++i)
        free(record->block[i]);
    free(record->block);
    free(record->contact);
    free(record->start);
    free(record);
}

/* ODE's normal points into the first body given; ours into body[0], which is never the world. */
void SceneRecordAdd(SceneRecord *record, dJointID joint, const dContact *contact, dBodyID body1, dBodyID body2)
{
    if (!reserve(record))
        return; /* out of memory: the contact acts, only its report is missing */
    const int k = record->count++;
    const double sign = body1 != NULL ? 1 : -1;
    spragContact *c = &record->contact[k];
    *c = (spragContact){.id = (unsigned long long)k + 1,
                        .joint = joint,
                        .body = {body1 != NULL ? body1 : body2, body1 != NULL ? body2 : NULL},
                        .depth = contact->geom.depth};
    for (int i = 0; i < 3; ++i) {
        c->position[i] = contact->geom.pos[i];
        c->normal[i] = sign * contact->geom.normal[i];
        record->start[k].motion[i] =
            contact->surface.mode & dContactMotion1 ? contact->surface.motion1 * contact->fdir1[i] : 0;
        for (int j = 0; j < 2; ++j)
            record->start[k].arm[j][i] = c->body[j] != NULL ? c->position[i] - dBodyGetPosition(c->body[j])[i] : 0;
    }
    dJointSetFeedback(joint, &record->block[k / RECORD_BLOCK]->feedback[k % RECORD_BLOCK]);
}

static void pointVelocity(dBodyID body, const double arm[3], double sign, double velocity[3])
{
    if (body == NULL)
        return;
    const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    velocity[0] += sign * (v[0] + w[1] * arm[2] - w[2] * arm[1]);
    velocity[1] += sign * (v[1] + w[2] * arm[0] - w[0] * arm[2]);
    velocity[2] += sign * (v[2] + w[0] * arm[1] - w[1] * arm[0]);
}

void SceneRecordRead(SceneRecord *record)
{
    static const double slip_tolerance = 1e-9; /* m/s, as Sprag's own */
    for (int k = 0; k < record->count; ++k) {
        spragContact *c = &record->contact[k];
        const dReal *force = record->block[k / RECORD_BLOCK]->feedback[k % RECORD_BLOCK].f1;
        const double *n = c->normal;
        const double normal_force = force[0] * n[0] + force[1] * n[1] + force[2] * n[2];
        double slip[3] = {-record->start[k].motion[0], -record->start[k].motion[1], -record->start[k].motion[2]};
        pointVelocity(c->body[0], record->start[k].arm[0], 1, slip);
        pointVelocity(c->body[1], record->start[k].arm[1], -1, slip);
        const double normal_speed = slip[0] * n[0] + slip[1] * n[1] + slip[2] * n[2];
        double speed2 = 0;
        for (int i = 0; i < 3; ++i) {
            c->friction[i] = force[i] - normal_force * n[i];
            c->slip[i] = slip[i] - normal_speed * n[i];
            speed2 += c->slip[i] * c->slip[i];
        }
        c->normal_force = normal_force;
        c->variant = 1;
        c->mode = normal_force <= 0               ? SPRAG_MODE_OPEN
                  : sqrt(speed2) > slip_tolerance ? SPRAG_MODE_SLIP
                                                  : SPRAG_MODE_STICK;
    }
}

int SceneRecordGet(const SceneRecord *record, const spragContact **contacts)
{
    *contacts = record->contact;
    return record->count;
}
