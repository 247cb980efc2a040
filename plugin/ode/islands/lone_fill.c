/* From ODE's contacts, or from their records, into the lanes of a group (lone_group.h). */
#include "ode/islands/lone_group.h"

#include <math.h>
#include <string.h>

#include "ode/rows/face.h"
#include "ode/rows/free_motion.h"
#include "ode/rows/rows.h"

const spragSurface *spragLoneSurface(const struct spragWorld *world, const spragPointerMap *surfaces,
                                     const spragJointState *joint)
{
    const int record = world->surface_count > 0 ? spragPointerMapGet(surfaces, joint->id) : -1;
    return record >= 0 ? &world->surface[record].surface : NULL;
}
static void putVector(spragQuad *quad, int lane, int count, const double *x)
{
    for (int i = 0; i < count; ++i)
        quad[i][lane] = x[i];
}

/* Where a contact goes. */
typedef struct Place {
    int lane;
    spragLoneContact *contact;
    spragLoneRow *row;
} Place;

static void putSurface(const spragSnapshot *s, const dContact *contact, Place to)
{
    const int lane = to.lane;
    spragLoneRow *row = to.row;
    const dSurfaceParameters *p = &contact->surface;
    const double erp = p->mode & dContactSoftERP ? p->soft_erp : s->erp,
                 cfm = p->mode & dContactSoftCFM ? p->soft_cfm : s->cfm;
    const int bounces = (p->mode & dContactBounce) && p->bounce_vel >= 0;
    const double target = spragCorrection(s, erp, p->mode & dContactSoftERP ? s->step : s->pace, contact->geom.depth);
    row->target[lane] = target < s->greatest_correction ? target : s->greatest_correction;
    row->bounce[lane] = bounces ? p->bounce : 0;
    row->bounce_speed[lane] = bounces ? p->bounce_vel : (double)INFINITY;
    to.contact->compliance[lane] = cfm / s->step;
    to.contact->mu[lane] = spragConeOf(p->mu);
}

/* sign: spragLoneSign. */
static void putPast(const spragContactMemory *old, double sign, Place to)
{
    const int lane = to.lane;
    spragLoneRow *row = to.row;
    for (int i = 0; i < 3; ++i)
        row->friction[i][lane] = old != NULL ? sign * old->friction[i] : 0;
    row->force[lane] = old != NULL ? old->normal_force : 0;
    row->known[lane] = old != NULL ? -1 : 0;
    row->stuck[lane] = old != NULL && old->mode == SPRAG_MODE_STICK ? -1 : 0;
}

/* Where it acts.  normal: into the contact's first body; middle: of its face, NULL where it is the only contact. */
static void putGeometry(const spragBodyState *body, const double position[3], const double normal[3], double sign,
                        const double middle[3], Place to)
{
    double point[3] = {position[0], position[1], position[2]};
    if (middle != NULL)
        spragFacePoint(position, normal, middle, point);
    for (int i = 0; i < 3; ++i) {
        to.contact->n[i][to.lane] = sign * normal[i];
        to.contact->arm[i][to.lane] = point[i] - body->position[i];
        to.row->middle[i][to.lane] = middle != NULL ? middle[i] - body->position[i] : 0;
    }
}

static void putDrive(const spragLoneDrive *drive, Place to)
{
    putVector(to.row->product, to.lane, 3, drive->product);
    putVector(to.row->rest, to.lane, 3, drive->rest);
}

/* Of contact k. */
static void putRim(const spragRim *rim, int k, int lane, spragLoneGroup *group)
{
    if (!group->has_rims)
        memset(group->rim, 0, (size_t)group->bodies.count * sizeof *group->rim);
    group->has_rims = 1;
    putVector(group->rim[k].axis, lane, 3, rim->axis);
    group->rim[k].radius[lane] = rim->radius;
    group->rim[k].share[lane] = rim->share;
}

/* What Jdot v follows from on what does not move: what the program said, or as the geom says.  before: the contact put
 * before, or NULL; of the same two geoms a tip (radius 0) is one at each point. */
static void putRadius(const spragSnapshot *s, const spragJointState *joint, const spragSurface *surface,
                      const spragJointState *before, Place to, spragRim *rim)
{
    const dContactGeom *geom = &joint->contact->geom;
    rim->share = 0;
    if (surface != NULL && surface->curvature_radius[joint->reversed] >= 0) {
        to.row->radius[to.lane] = surface->curvature_radius[joint->reversed];
        return;
    }
    if (before != NULL && spragSameGeoms(before, joint) && to.row[-1].radius[to.lane] == 0) {
        to.row->radius[to.lane] = 0;
        return;
    }
    const dGeomID own = spragGeomOf(joint, 0);
    const double position[3] = {geom->pos[0], geom->pos[1], geom->pos[2]};
    double normal[3];
    spragContactNormal(joint, normal);
    to.row->radius[to.lane] = spragCurvatureSunk(spragCurvatureRadius(s->body[joint->body[0]].id, own), own, position,
                                                 normal, geom->depth, rim);
    if (surface != NULL && surface->curvature_radius[!joint->reversed] >= 0)
        rim->share = 0;
}

static void putContact(const struct spragWorld *world, const spragIsland *island, const spragJointState *joint,
                       const double middle[3], Place to)
{
    const spragSnapshot *s = &world->snapshot;
    const double sign = spragLoneSign(island, joint);
    const dContactGeom *geom = &joint->contact->geom;
    const double position[3] = {geom->pos[0], geom->pos[1], geom->pos[2]};
    double normal[3];
    spragContactNormal(joint, normal);
    putGeometry(&s->body[island->body[0]], position, normal, sign, middle, to);
    putPast(joint->memory >= 0 ? &world->memory[joint->memory] : NULL, sign, to);
    putSurface(s, joint->contact, to);
}

/* driver: what moves below it, or NULL. */
static void putBody(const spragBodyState *body, const spragBodyState *driver, int lane, spragLoneGroup *group)
{
    spragLoneBodies *b = &group->bodies;
    b->mass[lane] = body->mass;
    b->inverse_mass[lane] = body->inverse_mass;
    putVector(b->inertia, lane, 9, body->inertia);
    putVector(b->inverse_inertia, lane, 9, body->inverse_inertia);
    putVector(group->velocity, lane, 6, body->velocity);
    putVector(group->free_velocity, lane, 6, body->free_velocity);
    if (driver == NULL)
        return;
    double given[6];
    spragLoneGiven(driver, body, given);
    for (int i = 0; i < 6; ++i) {
        group->velocity[i][lane] -= given[i];
        group->free_velocity[i][lane] -= given[i];
    }
}

static void moveBody(const struct spragWorld *world, const spragPointerMap *surfaces, const spragIsland *island,
                     spragBodyState *body)
{
    double moment[1][3] = {{0, 0, 0}};
    const int foreseen = spragMomentMatters(world, body) && spragMomentsForesee(world, surfaces, island, moment);
    spragFreeMotion(world, body, foreseen ? moment[0] : NULL);
}

void spragLonePut(const struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island, int driver,
                  spragLoneGroup *group)
{
    const spragSnapshot *s = &world->snapshot;
    spragLoneBodies *b = &group->bodies;
    const int lane = group->filled++;
    moveBody(world, surfaces, island, &s->body[island->body[0]]);
    putBody(&s->body[island->body[0]], group->driven ? &s->body[driver] : NULL, lane, group);
    const spragJointState *before = NULL;
    spragFace face = {0};
    for (int k = 0; k < b->count; ++k) {
        const spragJointState *joint = &s->joint[island->joint[k]];
        if (b->count > 1)
            spragFaceFind(world, island, k, &face);
        group->face[k][lane] = face.begin;
        const double *middle = b->count > 1 ? face.middle : NULL;
        const Place to = {lane, &b->contact[k], &group->row[k]};
        putContact(world, island, joint, middle, to);
        if (group->driven) {
            spragLoneDrive drive;
            spragLoneDriveFind(s, island, joint, middle, &drive);
            putDrive(&drive, to);
        } else {
            spragRim rim;
            const spragSurface *surface = spragLoneSurface(world, surfaces, joint);
            putRadius(s, joint, surface, before, to, &rim);
            if (rim.share > 0)
                putRim(&rim, k, lane, group);
            before = surface == NULL ? joint : NULL;
        }
    }
    group->island[lane] = island;
}

/* m/s.  What costs nothing is found to what is slow beside gravity.  (In kilometres 1e-8 is a hundred times that, and a
 * box that rested fell in one of a thousand steps, as it had drifted from the ground.) */
static double toleranceOf(const struct spragWorld *world)
{
    const double slow = world->snapshot.slow;
    return slow > 0 ? fmin(world->config.tolerance, slow) : world->config.tolerance;
}

spragLoneGroup *spragLoneGroupMake(const struct spragWorld *world, spragArena *arena, int count, int driven)
{
    spragLoneGroup *group = SPRAG_TAKE_RAW(arena, spragLoneGroup, 1);
    if (group == NULL)
        return NULL;
    group->bodies.contact = SPRAG_TAKE_RAW(arena, spragLoneContact, count);
    group->row = SPRAG_TAKE_RAW(arena, spragLoneRow, count);
    group->rim = driven ? NULL : SPRAG_TAKE_RAW(arena, spragLoneRim, count);
    if (group->bodies.contact == NULL || group->row == NULL || (!driven && group->rim == NULL))
        return NULL;
    group->step = world->snapshot.step;
    group->driven = driven;
    group->bodies.count = count;
    group->bodies.tolerance = toleranceOf(world);
    group->filled = 0;
    group->has_rims = 0;
    return group;
}

/* ---------------------------------------------------------------- once more */

/* From its record and law; old: what its record was in the step before. */
static void putAgain(const spragBodyState *body, const spragContactMemory *record, const spragContactMemory *old,
                     double sign, const spragLoneLaw *law, const double middle[3], Place to)
{
    spragLoneRow *row = to.row;
    putGeometry(body, record->position, record->normal, sign, middle, to);
    putPast(old, sign, to);
    to.contact->mu[0] = law->mu;
    to.contact->compliance[0] = law->compliance;
    row->target[0] = law->target;
    row->radius[0] = law->radius;
    row->bounce[0] = 0; /* it is in the target */
    row->bounce_speed[0] = (double)INFINITY;
}

/* Of the face of contact k. */
static void middleOf(const spragIsland *island, const spragContactMemory *record, int k, double middle[3])
{
    int count = 0;
    middle[0] = middle[1] = middle[2] = 0;
    for (int l = island->lone[k].face; l < island->joint_count && island->lone[l].face == island->lone[k].face; ++l) {
        ++count;
        for (int i = 0; i < 3; ++i)
            middle[i] += record[l].position[i];
    }
    for (int i = 0; i < 3; ++i)
        middle[i] /= count;
}

const spragLoneGroup *spragLoneAgain(const struct spragWorld *world, const spragIsland *island, spragArena *arena)
{
    const spragSnapshot *s = &world->snapshot;
    const spragBodyState *body = &s->body[island->body[0]];
    const int driver = spragLoneDriver(s, island);
    spragLoneGroup *group = spragLoneGroupMake(world, arena, island->joint_count, driver >= 0);
    if (group == NULL)
        return NULL;
    group->filled = 1;
    putBody(body, driver >= 0 ? &s->body[driver] : NULL, 0, group);
    for (int k = 0; k < island->joint_count; ++k) {
        const spragJointState *joint = &s->joint[island->joint[k]];
        const int memory = joint->memory; /* the records have changed places since */
        const spragContactMemory *record = &world->memory[island->first_record];
        const Place to = {0, &group->bodies.contact[k], &group->row[k]};
        double middle[3];
        middleOf(island, record, k, middle);
        putAgain(body, &record[k], memory >= 0 ? &world->next_memory[memory] : NULL, spragLoneSign(island, joint),
                 &island->lone[k], island->joint_count > 1 ? middle : NULL, to);
        if (group->driven)
            putDrive(&island->drive[k], to);
        else if (island->lone[k].rim != NULL)
            putRim(island->lone[k].rim, k, 0, group);
    }
    spragLoneRows(group);
    return group;
}
