#include "ode/islands/lone.h"

#include <math.h>
#include <string.h>

#include "base/prefetch.h"
#include "ode/islands/lone_report.h"
#include "ode/islands/passing.h"
#include "ode/ledger/record.h"
#include "ode/rows/face.h"
#include "ode/rows/free_motion.h"
#include "ode/rows/rows.h"
#include "ode/shape/velocity_product.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"

/* ---------------------------------------------------------------- who */

/* Then its friction acts at two heights (ode/rows/rows.c). */
static int rollsOnLine(const struct spragWorld *world, const spragIsland *island)
{
    spragFace face = {0};
    for (int k = 0; k < island->joint_count && island->joint_count > 1; ++k) {
        if (!spragFaceTurns(&world->snapshot, &world->snapshot.joint[island->joint[k]]))
            continue;
        spragFaceFind(world, island, k, &face);
        if (face.rolls)
            return 1;
    }
    return 0;
}

/* A cone; or an infinite coefficient, which holds what is pressed.  (Not an infinite force, which is glue.) */
static int hasLaw(const dContact *contact)
{
    const int coefficient = dContactApprox1_1 | dContactApprox1_2;
    return spragContactIsPlain(contact, 0) ||
           (spragContactSticks(contact, 0) && (contact->surface.mode & coefficient) == coefficient);
}

/* What the program said of the contact's surface, or NULL. */
static const spragSurface *surfaceOf(const struct spragWorld *world, const spragPointerMap *surfaces,
                                     const spragJointState *joint)
{
    const int record = world->surface_count > 0 ? spragPointerMapGet(surfaces, joint->id) : -1;
    return record >= 0 ? &world->surface[record].surface : NULL;
}

/* 1: nothing but finite radii: no static friction beyond mu, no springs. */
static int saysRadii(const spragSurface *surface, const dContact *contact)
{
    return spragConeOf(surface->mu_static) <= spragConeOf(contact->surface.mu) && !(surface->stiffness > 0) &&
           surface->curvature_radius[0] < (double)INFINITY && surface->curvature_radius[1] < (double)INFINITY;
}

/* driver: as of spragLoneDriver. */
static int isLone(const struct spragWorld *world, const spragPointerMap *surfaces, const spragIsland *island,
                  int *driver)
{
    const spragSnapshot *s = &world->snapshot;
    int others = 0, said = 0;
    if (island->declined != NULL || island->body_count != 1 || island->contact_count != island->joint_count ||
        island->joint_count > SPRAG_LONE_CONTACTS || s->body[island->body[0]].mass == 0)
        return 0;
    for (int k = 0; k < island->joint_count; ++k) {
        const spragJointState *joint = &s->joint[island->joint[k]];
        if (joint->contact == NULL || joint->listened || !hasLaw(joint->contact) ||
            (joint->contact->surface.mode & (dContactMotion1 | dContactMotion2)) != 0)
            return 0;
        const spragSurface *surface = surfaceOf(world, surfaces, joint);
        if (surface != NULL && !saysRadii(surface, joint->contact))
            return 0;
        said |= surface != NULL;
        others |= joint->body[1] >= 0;
    }
    *driver = others ? spragLoneDriver(s, island) : SPRAG_DRIVE_NONE;
    return !(said && others) && *driver != SPRAG_DRIVE_SEVERAL && !rollsOnLine(world, island);
}

/* ---------------------------------------------------------------- into the lanes */

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

static void putIsland(const struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island, int driver,
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
            const spragSurface *surface = surfaceOf(world, surfaces, joint);
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

static spragLoneGroup *makeGroup(const struct spragWorld *world, spragArena *arena, int count, int driven)
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

/* The empty lanes of `count` quads get what the first lane has. */
SPRAG_QUAD_INLINE void repeat(spragQuadMask empty, spragQuad *quad, int count)
{
    for (int i = 0; i < count; ++i)
        quad[i] = spragQuadSelect(empty, spragQuadOf(quad[i][0]), quad[i]);
}

SPRAG_QUAD_INLINE void repeatFirst(spragLoneGroup *group)
{
    spragLoneBodies *b = &group->bodies;
    const spragQuadMask lane = {0, 1, 2, 3}, empty = lane >= group->filled;
    repeat(empty, &b->mass, 1);
    repeat(empty, &b->inverse_mass, 1);
    repeat(empty, b->inertia, 9);
    repeat(empty, b->inverse_inertia, 9);
    repeat(empty, group->velocity, 6);
    repeat(empty, group->free_velocity, 6);
    for (int k = 0; k < b->count; ++k) {
        spragLoneContact *c = &b->contact[k];
        spragLoneRow *row = &group->row[k];
        repeat(empty, c->n, 3);
        repeat(empty, c->arm, 3);
        repeat(empty, &c->mu, 1);
        repeat(empty, &c->compliance, 1);
        repeat(empty, &row->target, 1);
        repeat(empty, &row->bounce, 1);
        repeat(empty, &row->bounce_speed, 1);
        if (group->driven) {
            repeat(empty, row->product, 3);
            repeat(empty, row->rest, 3);
        } else {
            repeat(empty, &row->radius, 1);
            repeat(empty, row->middle, 3);
        }
        if (group->has_rims) {
            repeat(empty, group->rim[k].axis, 3);
            repeat(empty, &group->rim[k].radius, 1);
            repeat(empty, &group->rim[k].share, 1);
        }
        row->known = (row->known & ~empty) | (((spragQuadMask){0} + row->known[0]) & empty);
        row->stuck = (row->stuck & ~empty) | (((spragQuadMask){0} + row->stuck[0]) & empty);
        repeat(empty, &row->force, 1);
        repeat(empty, row->friction, 3);
    }
}

SPRAG_QUAD_CLONES(repeatLanes, repeatFirst, spragLoneGroup)

static void fillLanes(spragLoneGroup *group)
{
    if (group->filled < SPRAG_QUAD)
        repeatLanes(group);
}

/* ---------------------------------------------------------------- rows */

/* Of an infinite coefficient.  The steps know it as the cone next to it, but it has the other law: an answer in which
 * all that are pressed stick is that of both, and any other is not taken (judge). */
SPRAG_QUAD_INLINE spragQuadMask holds(const spragLoneContact *c)
{
    return c->mu >= SPRAG_COEFFICIENT_INFINITE;
}

/* w x (w x (C - G)), C the centre of curvature at `arm`: what spragVelocityProduct is on what does not move. */
SPRAG_QUAD_INLINE void productOf(const spragQuad w[3], const spragQuad arm[3], spragQuad radius, const spragQuad n[3],
                                 spragQuad product[3])
{
    spragQuad centre[3], rate[3];
    for (int i = 0; i < 3; ++i)
        centre[i] = arm[i] + radius * n[i];
    spragQuadCross3(rate, w, centre);
    spragQuadCross3(product, w, rate);
}

/* Of a contact on a rim: what that adds to product and middle, those of a ball (productOfRim of velocity_product.c). */
SPRAG_QUAD_INLINE void addRim(const spragLoneGroup *group, const spragLoneContact *c, const spragLoneRim *rim,
                              spragQuad radius, spragQuad product[3], spragQuad middle[3])
{
    const spragQuad *w = group->velocity + 3, one = spragQuadOf(1);
    const spragQuadMask on = rim->share > 0;
    spragQuad t[3], ball[3], rate[3], more[3];
    spragQuadCross3(t, rim->axis, c->n);
    spragQuadCross3(ball, w, c->n);
    const spragQuad cosine = spragQuadDot3(rim->axis, c->n), square = spragQuadSelect(on, spragQuadDot3(t, t), one),
                    spin = spragQuadDot3(w, rim->axis), around = spragQuadDot3(w, c->n) - cosine * spin,
                    moved = group->step * around;
    const spragQuad along = rim->share * rim->radius *
                            (spin - cosine * around / spragQuadSqrt(square * square + moved * moved)) /
                            spragQuadSqrt(square);
    for (int i = 0; i < 3; ++i)
        rate[i] = along * t[i] - rim->share * radius * ball[i];
    spragQuadCross3(more, w, rate);
    for (int i = 0; i < 3; ++i) {
        product[i] = spragQuadSelect(on, product[i] + more[i], product[i]);
        middle[i] = spragQuadSelect(on, middle[i] + more[i], middle[i]);
    }
}

/* -1: its face has no other point, or none that is not the same (isAlone of velocity_product.c). */
SPRAG_QUAD_INLINE spragQuadMask isAlone(const spragLoneGroup *group, const spragLoneContact *c, const spragLoneRow *row)
{
    const spragQuad *middle = group->bodies.count > 1 ? row->middle : c->arm;
    const spragQuadMask same = (middle[0] == c->arm[0]) & (middle[1] == c->arm[1]) & (middle[2] == c->arm[2]);
    if (!group->has_rims)
        return same;
    const spragLoneRim *rim = &group->rim[c - group->bodies.contact];
    const spragQuad near = SPRAG_RIM_LOWEST * rim->radius,
                    apart[3] = {middle[0] - c->arm[0], middle[1] - c->arm[1], middle[2] - c->arm[2]};
    return same | ((rim->share > 0) & (spragQuadDot3(apart, apart) <= near * near));
}

/* As spragFaceProduct: product (3), at the contact's point and, across n, at the middle of its face, loses what could
 * give energy.  halves: by how much it goes by halves; left (3): what then is left to the next step where c_n >= 0. */
SPRAG_QUAD_INLINE void takeEnergy(const spragLoneGroup *group, const spragLoneContact *c, spragQuadMask alone,
                                  const spragQuad at_middle[3], spragQuad halves, spragQuad product[3],
                                  spragQuad left[3])
{
    const spragQuad none = spragQuadOf(0), most = SPRAG_PRODUCT_GIVES * group->energy,
                    unit = 0.5 * group->bodies.mass * group->product_step * group->product_step;
    spragQuad tangent[3], along = spragQuadDot3(c->n, product);
    const spragQuad normal = spragQuadTangent(tangent, at_middle, c->n);
    const spragQuad gives = unit * along * along;
    along = spragQuadSelect((along < 0) & (gives > most), along * (most / gives), along);
    /* (Of another point of its face c_n is another.) */
    const spragQuad inside = spragQuadSelect(alone, spragQuadMax(normal, none) / c->mu, none),
                    size = spragQuadSqrt(spragQuadDot3(tangent, tangent)), outside = size - inside,
                    given = unit * outside * outside;
    const spragQuadMask turns = outside > 0;
    const spragQuad taken = (1 - halves) * (1 - most / given),
                    less = spragQuadSelect(turns & (given > most), taken * outside / size, none),
                    later = spragQuadSelect(turns, SPRAG_LEFT_TO_NEXT * halves * (outside / size - less), none);
    for (int i = 0; i < 3; ++i) {
        left[i] = later * tangent[i];
        product[i] = (1 - less) * tangent[i] + along * c->n[i];
    }
}

/* By how much Jdot v moves the contact in the step, m/s (3); start, its velocity before it, loses what that leaves to
 * it (spragFaceProduct). */
SPRAG_QUAD_INLINE void addProduct(const spragLoneGroup *group, const spragLoneContact *c, const spragLoneRow *row,
                                  spragQuad start[3], spragQuad moved[3])
{
    const spragQuad *w = group->velocity + 3;
    spragQuad product[3], middle[3], later[3];
    if (group->driven) {
        for (int i = 0; i < 3; ++i) {
            start[i] -= spragQuadSelect(holds(c), spragQuadOf(0), group->step * row->rest[i]);
            moved[i] = group->step * row->product[i];
        }
        return;
    }
    productOf(w, c->arm, row->radius, c->n, product);
    productOf(w, group->bodies.count > 1 ? row->middle : c->arm, row->radius, c->n, middle);
    const spragQuadMask curved = row->radius == row->radius, alone = isAlone(group, c, row);
    const spragQuad none = spragQuadOf(0);
    spragQuad part = spragQuadOf(SPRAG_PRESSING_LEAVES(0, 0)), halves = none;
    if (group->has_rims) {
        const spragLoneRim *rim = &group->rim[c - group->bodies.contact];
        addRim(group, c, rim, row->radius, product, middle);
        halves = spragQuadSelect(alone & row->known, rim->share, none);
        part = SPRAG_PRESSING_LEAVES(rim->share, halves);
    }
    takeEnergy(group, c, alone, middle, halves, product, later);
    const spragQuad along = spragQuadDot3(c->n, product);
    const spragQuadMask presses = spragQuadDot3(c->n, middle) < 0;
    for (int i = 0; i < 3; ++i) {
        const spragQuad left = spragQuadSelect(
            curved & ~holds(c), spragQuadSelect(presses, part * (product[i] - along * c->n[i]), later[i]), none);
        start[i] -= group->product_step * spragQuadSelect(row->known, left, none);
        moved[i] = group->product_step * (spragQuadSelect(curved, product[i], none) - left);
    }
}

/* q, guess and history of one contact, as ode/rows/rows.c and ode/matrix/assemble.c have them. */
SPRAG_QUAD_INLINE void makeRow(const spragLoneGroup *group, spragLoneContact *c, spragLoneRow *row)
{
    const double h = group->step;
    const spragQuad *v = group->velocity, *free = group->free_velocity;
    spragQuad start[3], end[3], moved[3], change[3], slip[3];
    spragQuadCross3(start, v + 3, c->arm);
    spragQuadCross3(end, free + 3, c->arm);
    for (int i = 0; i < 3; ++i)
        start[i] += v[i];
    addProduct(group, c, row, start, moved);
    const spragQuad along = spragQuadDot3(c->n, moved),
                    pressing = spragQuadSelect(row->known & (along < 0), along, spragQuadOf(0));
    for (int i = 0; i < 3; ++i) /* as spragBlockProduct */
        moved[i] = spragQuadSelect(holds(c), along * c->n[i], moved[i]);
    for (int i = 0; i < 3; ++i) {
        end[i] += free[i] + moved[i];
        change[i] = end[i] - start[i];
        end[i] -= pressing * c->n[i];
    }
    row->approach = spragQuadTangent(slip, start, c->n) - pressing;
    const spragQuad rebound = -row->bounce * row->approach;
    const spragQuadMask bounces = (-row->approach > row->bounce_speed) & (rebound > row->target);
    row->target = spragQuadSelect(bounces, rebound, row->target);
    row->b = spragQuadDot3(c->n, change) * (1 / h);
    const spragQuadMask rests =
        row->stuck & (spragQuadDot3(slip, slip) <= SPRAG_REST_SHARE * SPRAG_REST_SHARE * spragQuadDot3(change, change));
    spragQuad rub[3], driven[3];
    spragQuadTangent(driven, change, c->n);
    row->drive = spragQuadSqrt(spragQuadDot3(driven, driven));
    spragQuadTangent(rub, row->friction, c->n);
    const spragQuad gained = h * group->bodies.inverse_mass; /* m/s per N */
    const spragQuadMask rubs = gained * gained * spragQuadDot3(rub, rub) > SPRAG_OPEN_TOLERANCE * SPRAG_OPEN_TOLERANCE;
    for (int i = 0; i < 3; ++i) {
        c->q[i] = end[i] - row->target * c->n[i];
        c->r[i] = h * (spragQuadSelect(rubs, rub[i], spragQuadOf(0)) + row->force * c->n[i]);
        row->slip[i] = spragQuadSelect(rests, spragQuadOf(0), slip[i]);
    }
}

/* One contact has one solution where M = |q_n| W_tt + q_t W_nt^T is positive (solve/contact/local.c); across = W_nt.
 *
 * And it has one whatever q is where mu^2 |W_tt| < 4 S, S = W_nn - W_nt W_tt^-1 W_tn: with De Saxce's
 * v = u + mu |u_t| n two solutions have dr . dv <= 0, so dr . W dr <= mu |dr_n| |du_t|.  Per dr_n the
 * left side is S + y . W_tt^-1 y, y = du_t, and that is more than mu |y| for every y. */
SPRAG_QUAD_INLINE spragQuadMask isUnique(const spragLoneBodies *b, const spragLoneContact *c, spragQuad own,
                                         const spragQuad across[3])
{
    const spragQuadMask steep = c->n[2] * c->n[2] > 0.5;
    const spragQuad axis[3] = {spragQuadSelect(steep, spragQuadOf(1), spragQuadOf(0)), spragQuadOf(0),
                               spragQuadSelect(steep, spragQuadOf(0), spragQuadOf(1))};
    const spragQuad load = -spragQuadDot3(c->q, c->n);
    spragQuad t[2][3], response[3], W[2][2], M[2][2], q[2], x[2];
    spragQuadTangent(t[0], axis, c->n);
    const spragQuad length = spragQuadSqrt(spragQuadDot3(t[0], t[0])); /* at least 0.7 */
    for (int i = 0; i < 3; ++i)
        t[0][i] /= length;
    spragQuadCross3(t[1], c->n, t[0]);
    for (int i = 0; i < 2; ++i) {
        q[i] = spragQuadDot3(t[i], c->q);
        x[i] = spragQuadDot3(t[i], across);
    }
    for (int j = 0; j < 2; ++j) {
        spragLoneOwn(b, c->arm, t[j], response);
        for (int i = 0; i < 2; ++i) {
            W[i][j] = spragQuadDot3(t[i], response);
            M[i][j] = load * W[i][j] + q[i] * x[j];
        }
    }
    const spragQuad off = 0.5 * (M[0][1] + M[1][0]), difference = W[0][0] - W[1][1];
    const spragQuad det = W[0][0] * W[1][1] - W[0][1] * W[1][0], /* det S = that of W */
        whole = own * det - (W[1][1] * x[0] * x[0] - 2 * W[0][1] * x[0] * x[1] + W[0][0] * x[1] * x[1]);
    const spragQuad twice = W[0][0] + W[1][1] + spragQuadSqrt(difference * difference + 4 * W[0][1] * W[0][1]);
    return (load <= 0) | (c->mu * c->mu * twice * det < 8 * (1 - 1e-9) * whole) |
           ((M[0][0] > 0) & (M[0][0] * M[1][1] > off * off * (1 + 1e-9)));
}

/* p of the contact alone.  Regular: p > 0, and where it is the only contact whichever way it slides. */
SPRAG_QUAD_INLINE void makeSlope(spragLoneGroup *group, const spragLoneContact *c, spragLoneRow *row)
{
    spragQuad response[3], across[3];
    spragLoneOwn(&group->bodies, c->arm, c->n, response);
    row->own = spragQuadTangent(across, response, c->n);
    const spragQuad speed = spragQuadSqrt(spragQuadDot3(row->slip, row->slip));
    const spragQuadMask slides = speed > SPRAG_SLIP_TOLERANCE;
    const spragQuad rub = c->mu * spragQuadDot3(across, row->slip) / spragQuadSelect(slides, speed, spragQuadOf(1));
    row->p = row->own - spragQuadSelect(slides & ~holds(c), rub, spragQuadOf(0));
    group->regular &= row->p > 0;
    if (group->bodies.count > 1)
        return;
    spragQuad qt[3];
    const spragQuad coupling = spragQuadSqrt(spragQuadDot3(across, across)), load = -spragQuadTangent(qt, c->q, c->n);
    const spragQuadMask unique = /* W_tt is 1/m at least */
        (load <= 0) | (load * group->bodies.inverse_mass > coupling * spragQuadSqrt(spragQuadDot3(qt, qt)));
    group->regular &= holds(c) | (row->own > c->mu * coupling);
    if (!spragQuadAll(unique | holds(c)))
        group->regular &= holds(c) | isUnique(&group->bodies, c, row->own, across);
}

/* b: the forces of the others are taken as they were. */
SPRAG_QUAD_INLINE void addOthers(spragLoneGroup *group)
{
    const spragLoneBodies *b = &group->bodies;
    spragQuad P[6] = {{0}}, spin[3], moment[3], turn[3], own[3];
    for (int k = 0; k < b->count; ++k) {
        spragQuadCross3(moment, b->contact[k].arm, b->contact[k].r);
        for (int i = 0; i < 3; ++i) {
            P[i] += b->contact[k].r[i];
            P[3 + i] += moment[i];
        }
    }
    spragQuadMul33(spin, b->inverse_inertia, P + 3);
    for (int k = 0; k < b->count; ++k) {
        const spragLoneContact *c = &b->contact[k];
        spragQuadCross3(turn, spin, c->arm);
        spragLoneOwn(b, c->arm, c->r, own);
        for (int i = 0; i < 3; ++i)
            own[i] = b->inverse_mass * P[i] + turn[i] - own[i];
        group->row[k].b += spragQuadDot3(c->n, own) * (1 / group->step);
    }
}

/* Two or three contacts that slide do have one solution together if all principal minors of G are positive
 * (ode/rows/coupled.c); G_ij = N_i M^-1 F_j, F_j the force of contact j that slides, per N. */
SPRAG_QUAD_INLINE void examineCoupled(spragLoneGroup *group)
{
    static const double rounding = 1e-9;
    const spragLoneBodies *b = &group->bodies;
    spragQuad G[3][3], f[3], moment[3], spin[3], at[3];
    spragQuadMask all = {-1, -1, -1, -1}, minors = {-1, -1, -1, -1};
    for (int j = 0; j < b->count; ++j) {
        const spragLoneContact *c = &b->contact[j];
        const spragLoneRow *row = &group->row[j];
        const spragQuad speed = spragQuadSqrt(spragQuadDot3(row->slip, row->slip));
        all &= ~holds(c) & (speed > SPRAG_SLIP_TOLERANCE);
        for (int i = 0; i < 3; ++i)
            f[i] = c->n[i] - c->mu * row->slip[i] / spragQuadMax(speed, spragQuadOf(SPRAG_SLIP_TOLERANCE));
        spragQuadCross3(moment, c->arm, f);
        spragQuadMul33(spin, b->inverse_inertia, moment);
        for (int k = 0; k < b->count; ++k) {
            spragQuadCross3(at, spin, b->contact[k].arm);
            G[k][j] = b->inverse_mass * spragQuadDot3(b->contact[k].n, f) + spragQuadDot3(b->contact[k].n, at);
        }
    }
    for (int i = 0; i < b->count; ++i)
        for (int j = i + 1; j < b->count; ++j)
            minors &= G[i][i] * G[j][j] - G[i][j] * G[j][i] > rounding * G[i][i] * G[j][j];
    if (b->count == 3) {
        const spragQuad det = G[0][0] * (G[1][1] * G[2][2] - G[1][2] * G[2][1]) -
                              G[0][1] * (G[1][0] * G[2][2] - G[1][2] * G[2][0]) +
                              G[0][2] * (G[1][0] * G[2][1] - G[1][1] * G[2][0]);
        minors &= det > rounding * G[0][0] * G[1][1] * G[2][2];
    }
    group->regular &= minors | ~all;
}

SPRAG_QUAD_INLINE void makeRows(spragLoneGroup *group)
{
    spragLoneBodies *b = &group->bodies;
    const spragQuad *w = group->velocity + 3, turn = group->step * spragQuadSqrt(spragQuadDot3(w, w));
    const spragQuad limit = spragQuadMax(turn, spragQuadOf(1)); /* spragProductLimit */
    group->product_step = spragQuadOf(group->step) / (limit * limit);
    const spragQuad *v = group->velocity;
    spragQuad L[3];
    spragQuadMul33(L, b->inertia, w);
    group->energy = 0.5 * (spragQuadDot3(L, w) + b->mass * spragQuadDot3(v, v));
    group->regular = (spragQuadMask){-1, -1, -1, -1};
    for (int k = 0; k < b->count; ++k) {
        makeRow(group, &b->contact[k], &group->row[k]);
        makeSlope(group, &b->contact[k], &group->row[k]);
        for (int l = 0; l < k; ++l)
            group->regular &=
                spragQuadDot3(b->contact[l].n, b->contact[k].n) > -0.99; /* not in a slot: ode/rows/opposed.c */
    }
    if (b->count > 1)
        addOthers(group);
    if (b->count == 2 || b->count == 3)
        examineCoupled(group);
}

SPRAG_QUAD_CLONES(fillRows, makeRows, spragLoneGroup)

/* ---------------------------------------------------------------- out of the lanes */

/* Modes and forces, as ode/step/report.c tells of them. */
SPRAG_QUAD_INLINE void readRows(spragLoneGroup *group)
{
    spragLoneBodies *b = &group->bodies;
    const spragQuad still =
        spragQuadMin(spragQuadMax(10 * b->residual, spragQuadOf(SPRAG_SLIP_TOLERANCE)), spragQuadOf(1e-6));
    const spragQuad open_mode = spragQuadOf(SPRAG_MODE_OPEN), stick = spragQuadOf(SPRAG_MODE_STICK),
                    slip = spragQuadOf(SPRAG_MODE_SLIP);
    const double rate = 1 / group->step;
    for (int k = 0; k < b->count; ++k) {
        const spragLoneContact *c = &b->contact[k];
        spragLoneRow *row = &group->row[k];
        const spragQuad load = spragQuadTangent(row->friction, c->r, c->n);
        spragQuadTangent(row->slip_after, c->u, c->n);
        const spragQuad size = spragQuadSqrt(spragQuadDot3(row->friction, row->friction)),
                        speed = spragQuadSqrt(spragQuadDot3(row->slip_after, row->slip_after));
        const spragQuadMask open = load * (row->own + c->compliance) <= SPRAG_OPEN_TOLERANCE,
                            sticks = ((size < c->mu * load * (1 - 1e-9)) &
                                      (c->w * (c->mu * load - size) > 10 * b->residual)) |
                                     (speed <= still) | holds(c);
        row->mode = spragQuadSelect(open, open_mode, spragQuadSelect(sticks, stick, slip));
        row->force = spragQuadMax(load, spragQuadOf(0)) * rate;
        for (int i = 0; i < 3; ++i)
            row->friction[i] *= rate;
    }
}

SPRAG_QUAD_CLONES(finishRows, readRows, spragLoneGroup)

/* What the judge says of one body. */
static double judge(const spragLoneBodies *b, int lane)
{
    double worst = 0;
    for (int k = 0; k < b->count; ++k) {
        const spragLoneContact *c = &b->contact[k];
        dVector3 n, t[2];
        double force[3] = {0}, velocity[3] = {0};
        for (int i = 0; i < 3; ++i)
            n[i] = (dReal)c->n[i][lane];
        dPlaneSpace(n, t[0], t[1]);
        for (int row = 0; row < 3; ++row)
            for (int i = 0; i < 3; ++i) {
                const double along = row == 0 ? n[i] : t[row - 1][i];
                force[row] += along * c->r[i][lane];
                velocity[row] += along * c->u[i][lane];
            }
        const double residual = c->mu[lane] >= SPRAG_COEFFICIENT_INFINITE
                                    ? spragStickResidual(0, force, velocity, c->w[lane])
                                    : spragContactResidual(c->mu[lane], force, velocity, c->w[lane]);
        if (c->w[lane] * spragNorm3(force) > SPRAG_IMPULSE_HUGE) /* which u says nothing of */
            return INFINITY;
        if (!(residual <= worst)) /* keeps a NaN */
            worst = residual;
    }
    return worst;
}

/* 0: no memory. */
static int keepDrives(spragArena *arena, spragIsland *island, const spragLoneGroup *group, int lane)
{
    island->drive = SPRAG_TAKE_RAW(arena, spragLoneDrive, island->joint_count);
    for (int k = 0; k < island->joint_count && island->drive != NULL; ++k) {
        spragLoneVector(island->drive[k].product, group->row[k].product, lane);
        spragLoneVector(island->drive[k].rest, group->row[k].rest, lane);
    }
    return island->drive != NULL;
}

/* In memory of the arena, or NULL; of contact k. */
static const spragRim *keepRim(spragArena *arena, const spragLoneGroup *group, int k, int lane)
{
    spragRim *rim = SPRAG_TAKE_RAW(arena, spragRim, 1);
    if (rim == NULL)
        return NULL;
    spragLoneVector(rim->axis, group->rim[k].axis, lane);
    rim->radius = group->rim[k].radius[lane];
    rim->share = group->rim[k].share[lane];
    return rim;
}

/* 0: no memory. */
static int keepLaws(spragArena *arena, spragIsland *island, const spragLoneGroup *group, int lane)
{
    island->lone = SPRAG_TAKE_RAW(arena, spragLoneLaw, island->joint_count);
    for (int k = 0; k < island->joint_count && island->lone != NULL; ++k) {
        const spragLoneContact *c = &group->bodies.contact[k];
        island->lone[k] = (spragLoneLaw){.mu = c->mu[lane],
                                         .compliance = c->compliance[lane],
                                         .target = group->row[k].target[lane],
                                         .radius = group->driven ? 0 : group->row[k].radius[lane],
                                         .face = group->face[k][lane]};
        if (group->has_rims && group->rim[k].share[lane] > 0 &&
            (island->lone[k].rim = keepRim(arena, group, k, lane)) == NULL)
            return 0;
    }
    return island->lone != NULL && (!group->driven || keepDrives(arena, island, group, lane));
}

/* A slip of it ends, and forces may bring it back: whether they do is asked of its blocks (ode/islands/passing.h). */
static int mayPass(const struct spragWorld *world, const spragLoneGroup *group, int lane)
{
    const spragIsland *island = group->island[lane];
    for (int k = 0; k < island->joint_count && !(world->config.time_limit > 0); ++k) {
        const int memory = world->snapshot.joint[island->joint[k]].memory;
        const spragLoneContact *c = &group->bodies.contact[k];
        const double held = c->mu[lane] * spragQuadDot3(c->r, c->n)[lane] * c->w[lane];
        if (memory >= 0 && world->memory[memory].mode == SPRAG_MODE_SLIP &&
            (int)group->row[k].mode[lane] == SPRAG_MODE_STICK && group->row[k].drive[lane] > SPRAG_PASSING_SHARE * held)
            return 1;
    }
    return 0;
}

/* A contact alone, with an infinite coefficient, departs and may hold as well, or the other way round: which of both,
 * its block knows (parting.h). */
static int mayHaveOther(const struct spragWorld *world, const spragLoneGroup *group, int lane)
{
    const spragIndeterminacy policy = world->config.indeterminacy;
    const spragLoneContact *c = group->bodies.contact;
    if (group->bodies.count > 1 || !(c->mu[lane] >= SPRAG_COEFFICIENT_INFINITE))
        return 0;
    const int memory = world->snapshot.joint[group->island[lane]->joint[0]].memory,
              open = (int)group->row[0].mode[lane] == SPRAG_MODE_OPEN;
    if (policy == SPRAG_INDETERMINACY_LIFT)
        return !open && spragQuadDot3(c->q, c->n)[lane] >= 0;
    return open && spragQuadDot3(c->u, c->n)[lane] > SPRAG_SLIP_TOLERANCE &&
           (policy == SPRAG_INDETERMINACY_JAM || (memory >= 0 && world->memory[memory].normal_force > 0));
}

/* Sets the body's impulse, if the judge agrees, and reports while the contacts are at hand; else it begins again, as an
 * island like any other: 0. */
static int takeIsland(struct spragWorld *world, spragArena *arena, const spragLoneGroup *group, int lane)
{
    spragIsland *island = group->island[lane];
    spragBodyState *body = &world->snapshot.body[island->body[0]];
    const int claimed = group->regular[lane] && group->bodies.solved[lane] && !mayPass(world, group, lane) &&
                        !mayHaveOther(world, group, lane);
    const double residual = claimed ? judge(&group->bodies, lane) : INFINITY;
    if (!(residual <= world->config.tolerance) || !keepLaws(arena, island, group, lane) ||
        !spragLoneReport(world, arena, island, group, lane)) {
        memcpy(body->free_velocity, body->velocity, sizeof body->velocity);
        island->lone = NULL;
        return 0;
    }
    for (int i = 0; i < 6; ++i)
        body->impulse[i] = group->bodies.impulse[i][lane];
    island->solve = (spragSolveInfo){
        .solver = SPRAG_SOLVER_VARIANT, .iterations = (int)group->bodies.iterations[lane], .residual = residual};
    return 1;
}

/* Returns how many it has solved. */
static int solveGroup(struct spragWorld *world, spragArena *arena, spragLoneGroup *group)
{
    int solved = 0;
    fillLanes(group);
    fillRows(group);
    if (spragQuadAny(group->regular)) {
        spragLoneSolve(&group->bodies);
        finishRows(group);
    }
    for (int lane = 0; lane < group->filled; ++lane)
        solved += takeIsland(world, arena, group, lane);
    group->filled = 0;
    group->has_rims = 0;
    return solved;
}

/* What will be read of the island soon. */
static void askFor(const spragSnapshot *s, const spragIsland *island)
{
    for (int k = 0; k < island->joint_count && k < SPRAG_LONE_CONTACTS; ++k)
        if (s->joint[island->joint[k]].contact != NULL)
            spragPrefetch(s->joint[island->joint[k]].contact, sizeof(dContact));
}

int spragLonesSolve(struct spragWorld *world, const spragPointerMap *surfaces, spragLane *lane, int first, int end)
{
    enum { KINDS = 2 * (SPRAG_LONE_CONTACTS + 1) }; /* by the number of contacts, driven or not */
    spragLoneGroup *groups[KINDS] = {NULL};         /* a full one is emptied */
    int solved = 0;
    if (world->config.solver != SPRAG_SOLVER_AUTO || world->config.iteration_limit > 0)
        return 0;
    const spragArenaMark mark = spragArenaMarkGet(&lane->scratch);
    for (int k = first; k < end; ++k) {
        spragIsland *island = &world->snapshot.island[k];
        const int count = island->joint_count;
        if (k + 1 < world->snapshot.island_count)
            askFor(&world->snapshot, &island[1]);
        int driver;
        if (!isLone(world, surfaces, island, &driver))
            continue;
        const int driven = driver != SPRAG_DRIVE_NONE;
        spragLoneGroup **group = &groups[driven * (SPRAG_LONE_CONTACTS + 1) + count];
        if (*group == NULL && (*group = makeGroup(world, &lane->scratch, count, driven)) == NULL)
            break; /* no memory: nor will there be for those that are left, and they say so */
        putIsland(world, surfaces, island, driver, *group);
        if ((*group)->filled == SPRAG_QUAD)
            solved += solveGroup(world, &lane->arena, *group);
    }
    for (int k = 0; k < KINDS; ++k)
        if (groups[k] != NULL && groups[k]->filled > 0)
            solved += solveGroup(world, &lane->arena, groups[k]);
    spragArenaRelease(&lane->scratch, mark);
    return solved;
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
    spragLoneGroup *group = makeGroup(world, arena, island->joint_count, driver >= 0);
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
    fillLanes(group);
    fillRows(group);
    return group;
}
