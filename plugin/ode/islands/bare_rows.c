/* Rows, q, guess and history of one contact of a bare island (bare.h), from what its bodies, its geoms and the contact
 * before it tell. */
#include "ode/islands/bare_rows.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "linalg/vec3.h"
#include "ode/rows/rows.h"
#include "ode/shape/velocity_product.h"
#include "ode/work/slop.h"
#include "solve/contact/policy.h"

/* Velocity of the contact's point on the first body against that on the second, from the bodies' own (6). */
static void relative(const double *a, const double *b, const double (*arm)[4], double v[3])
{
    double turn[3];
    spragCross3(turn, a + 3, arm[0]);
    for (int i = 0; i < 3; ++i)
        v[i] = a[i] + turn[i];
    if (b == NULL)
        return;
    spragCross3(turn, b + 3, arm[1]);
    for (int i = 0; i < 3; ++i)
        v[i] -= b[i] + turn[i];
}

static void makeFrame(const spragJointState *joint, spragBareBefore *before, spragGreedyContact *c)
{
    const dContact *contact = joint->contact;
    spragContactNormal(joint, c->direction[0]);
    const int same = before->geom != NULL && before->own_frame && !(contact->surface.mode & dContactFDir1) &&
                     memcmp(c[-1].direction[0], c->direction[0], 3 * sizeof(double)) == 0;
    if (same)
        memcpy(c->direction[1], c[-1].direction[1], 2 * sizeof c->direction[1]);
    else
        before->own_frame = spragContactFrame(contact, c->direction[0], c->direction[1], c->direction[2]);
    for (int row = 0; row < 3; ++row)
        c->direction[row][3] = 0;
}

spragGeomRadius spragGeomRadiusOf(double radius, dGeomID geom)
{
    return (spragGeomRadius){geom, radius, spragCurvatureIsRound(radius) && spragCurvatureIsBall(geom),
                             spragCurvatureIsBox(radius, geom)};
}

/* Of a geom that a contact with the body names. */
static spragGeomRadius radiusOf(const spragSnapshot *s, int body, dGeomID geom)
{
    return spragIsDynamic(s, body) && s->geom_radius[body].geom == geom
               ? s->geom_radius[body]
               : spragGeomRadiusOf(spragCurvatureRadius(body < 0 ? NULL : s->body[body].id, geom), geom);
}

/* As spragCurvatureSink, of what is a ball or not round. */
static void sinkBalls(const spragBareBefore *before, const spragBodyState *const body[2], const double point[3],
                      const double n[3], double radius[2])
{
    const int both = before->geom_radius[0].is_ball && before->geom_radius[1].is_ball;
    for (int side = 0; side < 2; ++side) {
        if (!before->geom_radius[side].is_ball)
            continue;
        const double *centre = body[side]->position;
        const double arm[3] = {centre[0] - point[0], centre[1] - point[1], centre[2] - point[2]};
        radius[side] = spragCurvatureAlong(radius[side], spragCurvatureLeast(radius[side], both), arm, n, 1 - 2 * side);
    }
}

/* As spragCurvatureOf, without a look at ODE's geoms and bodies, which lie anywhere, where the contact before it or the
 * snapshot tells enough.  n: the contact's normal. */
static const spragCurvature *curvatureOf(const spragBareRows *rows, const spragBodyState *const body[2],
                                         const spragJointState *joint, const double n[3], spragBareBefore *before)
{
    spragCurvature *curvature = &before->curvature;
    const dContactGeom *geom = &joint->contact->geom;
    const dGeomID of[2] = {spragGeomOf(joint, 0), spragGeomOf(joint, 1)};
    const double point[3] = {geom->pos[0], geom->pos[1], geom->pos[2]};
    int known = before->geom != NULL, balls = 0, others = 0;
    for (int side = 0; side < 2; ++side)
        known = known && before->body[side] == body[side] && before->geom_radius[side].geom == of[side];
    before->geom = geom;
    if (known && before->is_flat && memcmp(before->n, n, sizeof before->n) == 0)
        return curvature;
    for (int side = 0; side < 2; ++side) {
        spragGeomRadius *own = &before->geom_radius[side];
        before->body[side] = body[side];
        if (!known)
            *own = radiusOf(&rows->world->snapshot, joint->body[side], of[side]);
        curvature->radius[side] = own->radius;
        balls |= own->is_ball;
        others |= !own->is_ball && spragCurvatureIsRound(own->radius);
    }
    memcpy(before->n, n, sizeof before->n);
    before->is_flat = !balls && !others;
    curvature->has_axis = 0;
    curvature->rim.share = 0;
    if (balls && !others)
        sinkBalls(before, body, point, n, curvature->radius);
    else if (before->geom_radius[0].is_box && before->geom_radius[1].is_box)
        spragCurvatureFlatten(curvature->radius, body[0]->rotation, body[1]->rotation, n);
    else
        spragCurvatureFind(curvature, of, point, n, geom->depth);
    return curvature;
}

/* Last step's impulse, turned into this frame, and what it has of points that are no more (carry.h). */
static void guess(const spragSnapshot *s, int j, const spragContactMemory *old, spragGreedyContact *c)
{
    const double h = s->step, *const t1 = c->direction[1], *const t2 = c->direction[2];
    memset(c->r, 0, sizeof c->r);
    if (old != NULL) {
        c->r[0] = old->normal_force * h;
        c->r[1] = spragDot3(old->friction, t1) * h;
        c->r[2] = spragDot3(old->friction, t2) * h;
    }
    if (s->carried == NULL)
        return;
    const double *force = s->carried[j];
    c->r[0] = spragMax(0, c->r[0] + spragDot3(force, c->direction[0]) * h);
    c->r[1] += spragDot3(force, t1) * h;
    c->r[2] += spragDot3(force, t2) * h;
}

void spragBareRollFill(const spragBareRows *rows, int k)
{
    const spragSnapshot *s = &rows->world->snapshot;
    const spragJointState *joint = &s->joint[rows->island->joint[k]];
    const spragGreedyContact *c = &rows->bare->greedy.contact[k];
    spragGreedyRoll *roll = &rows->bare->greedy.roll[k];
    double turning[3];
    for (int i = 0; i < 3; ++i)
        turning[i] = s->body[joint->body[0]].free_velocity[3 + i] -
                     (joint->body[1] < 0 ? 0 : s->body[joint->body[1]].free_velocity[3 + i]);
    *roll = (spragGreedyRoll){.length = spragLengthOf(s, joint->body)};
    if (!spragContactIsRoller(joint->contact, 1))
        return;
    roll->mu = spragRollerBound(joint->contact, roll->length);
    for (int i = 0; i < 3; ++i) {
        const double *axis = c->direction[(i + 1) % 3];
        roll->q[i] = roll->length * spragDot3(axis, turning);
        if (joint->memory >= 0)
            roll->r[i] = spragDot3(axis, rows->world->memory[joint->memory].moment) * s->step / roll->length;
    }
}

/* A contact that is being filled. */
typedef struct Filled {
    const spragJointState *joint;
    const spragContactMemory *old; /* or NULL */
    const spragBodyState *body[2]; /* the second may be NULL */
    double point[3];               /* m, where its rows hold: on its face's middle */
    spragGreedyContact *c;
} Filled;

/* Its frame and its point, and where it is on its bodies. */
static void placeContact(const spragBareRows *rows, int k, spragBareBefore *before, Filled *filled)
{
    const spragSnapshot *s = &rows->world->snapshot;
    const spragJointState *joint = &s->joint[rows->island->joint[k]];
    const dReal *const position = joint->contact->geom.pos;
    spragGreedyContact *c = &rows->bare->greedy.contact[k];
    *filled = (Filled){.joint = joint,
                       .old = joint->memory >= 0 ? &rows->world->memory[joint->memory] : NULL,
                       .body = {&s->body[joint->body[0]], joint->body[1] < 0 ? NULL : &s->body[joint->body[1]]},
                       .c = c};
    c->mu = spragPlainMu(joint->contact);
    makeFrame(joint, before, c);
    spragFaceFind(rows->world, rows->island, k, &before->face);
    spragFacePoint((double[3]){position[0], position[1], position[2]}, c->direction[0], before->face.middle,
                   filled->point);
    for (int side = 0; side < 2; ++side) {
        const spragBodyState *body = filled->body[side];
        rows->bare->greedy.pair[k][side] = body != NULL && !body->kinematic ? body->place : rows->island->body_count;
        for (int i = 0; i < 3; ++i)
            c->arm[side][i] = body == NULL ? 0 : filled->point[i] - body->position[i];
    }
}

/* m/s, world axes: how its bodies slip on each other as the step begins, and would without contacts as it ends, with
 * h Jdot v.  (Of mu = infinity what that has along the normal alone, as spragBlockProduct.)
 * Returns what that leaves out along n (velocity_product.h, Pressing). */
static double slipOf(const spragBareRows *rows, const Filled *filled, spragBareBefore *before, double start[3],
                     double end[3])
{
    const spragBodyState *const *body = filled->body;
    const spragFace *face = &before->face;
    const spragGreedyContact *c = filled->c;
    const double h = rows->world->snapshot.step, *const n = c->direction[0];
    const int holds = !isfinite(c->mu);
    double product[3], rest[3];
    relative(body[0]->velocity, body[1] == NULL ? NULL : body[1]->velocity, (const double(*)[4])c->arm, start);
    relative(body[0]->free_velocity, body[1] == NULL ? NULL : body[1]->free_velocity, (const double(*)[4])c->arm, end);
    const spragCurvature *curvature = curvatureOf(rows, body, filled->joint, n, before);
    const double *middle = face->end - face->begin == 1 ? NULL : face->middle;
    const spragCurvedContact curved = {body, curvature, n, filled->point, middle, fabs(c->mu), filled->old != NULL};
    const double along = spragFaceProduct(&curved, h, product, rest), part = spragDot3(n, rest),
                 pressing = filled->old != NULL ? spragMin(along, 0) : 0,
                 off = along - pressing - (holds ? 0 : spragDot3(n, product));
    for (int i = 0; i < 3; ++i) {
        end[i] += h * ((holds ? 0 : product[i]) + off * n[i]);
        if (filled->old != NULL && !holds)
            start[i] -= h * (rest[i] - part * n[i]);
    }
    return h * pressing;
}

void spragBareContactFill(const spragBareRows *rows, int k, spragBareBefore *before)
{
    const struct spragWorld *world = rows->world;
    const spragSnapshot *s = &world->snapshot;
    Filled filled;
    double start[3], end[3], change[3], first[3], last[3];
    placeContact(rows, k, before, &filled);
    const double pressing = slipOf(rows, &filled, before, start, end);
    spragGreedyContact *c = filled.c;
    const spragJointState *joint = filled.joint;
    const dContactGeom *geom = &joint->contact->geom;
    const dSurfaceParameters *surface = &joint->contact->surface;
    const double belt[3] = {0, surface->mode & dContactMotion1 ? surface->motion1 : 0,
                            surface->mode & dContactMotion2 ? surface->motion2 : 0};
    for (int i = 0; i < 3; ++i) {
        first[i] = spragDot3(c->direction[i], start) - belt[i];
        last[i] = spragDot3(c->direction[i], end) - belt[i];
        change[i] = last[i] - first[i];
        c->q[i] = last[i];
    }
    change[0] += pressing;
    const double approach = first[0] - pressing;
    spragNormalRow row = spragNormalRowOf(world, joint->contact, NULL, approach);
    spragSlopLeave(world, rows->island, joint->body, joint->memory, rows->island->joint_count, geom->depth, &row);
    c->direction[0][3] = row.compliance;
    c->direction[1][3] = surface->mode & dContactSlip1 ? surface->slip1 / world->snapshot.step : 0;
    c->direction[2][3] = surface->mode & dContactSlip2 ? surface->slip2 / world->snapshot.step : 0;
    c->q[0] -= row.rhs;
    c->nu = 0;
    guess(s, rows->island->joint[k], filled.old, c);
    const int rests = filled.old != NULL && spragRestsAt(filled.old, first + 1, change);
    rows->bare->contact[k] = (spragBareContact){.slip = {rests ? 0 : first[1], rests ? 0 : first[2]},
                                                .approach = approach,
                                                .acceleration = change[0] / s->step,
                                                .position = {geom->pos[0], geom->pos[1], geom->pos[2]},
                                                .depth = geom->depth};
}

double spragBareSlope(const spragGreedyContact *c, const double slip[2])
{
    const double speed = spragNorm2(slip), *W = c->normal; /* symmetric */
    return speed > SPRAG_SLIP_TOLERANCE && isfinite(c->mu) ? W[0] - c->mu * (W[1] * slip[0] + W[2] * slip[1]) / speed
                                                           : W[0];
}
