#include "ode/rows/free_motion.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/rows/rows.h"
#include "ode/shape/curvature.h"

#define TURN_MOST 2.8 /* radians in a step: beyond it slopes may lead to another solution */

/* M x = b by Cramer's rule.  0 if M is singular. */
static int solve33(const double M[9], const double b[3], double x[3])
{
    const double *r0 = M, *r1 = M + 3, *r2 = M + 6;
    double c12[3], c20[3], c01[3];
    spragCross3(c12, r1, r2);
    spragCross3(c20, r2, r0);
    spragCross3(c01, r0, r1);
    const double det = spragDot3(r0, c12);
    if (det == 0 || !isfinite(det))
        return 0;
    for (int i = 0; i < 3; ++i)
        x[i] = (c12[i] * b[0] + c20[i] * b[1] + c01[i] * b[2]) / det;
    return 1;
}

/* ODE's torque: ((I (I - h [L]x)^-1) - 1) L / h, L = I w. */
static void dampedTorque(const spragBodyState *body, double h, double torque[3])
{
    double L[3], A[9], x[3], Ix[3];
    spragMul33(L, body->inertia, body->velocity + 3);
    const double cross[9] = {0, -L[2], L[1], L[2], 0, -L[0], -L[1], L[0], 0};
    for (int i = 0; i < 9; ++i)
        A[i] = body->inertia[i] - h * cross[i];
    torque[0] = torque[1] = torque[2] = 0;
    if (!solve33(A, L, x))
        return;
    spragMul33(Ix, body->inertia, x);
    for (int i = 0; i < 3; ++i)
        torque[i] = (Ix[i] - L[i]) / h;
}

/* out = x turned by the quaternion (c, sign v), which need not be normalised (ODE normalises after the product):
 * x + 2 (c v x x + v x (v x x)) / |q|^2. */
static inline void rotate(double out[3], double c, const double v[3], double sign, const double x[3])
{
    const double w[3] = {sign * v[0], sign * v[1], sign * v[2]}, norm = c * c + spragDot3(v, v);
    double a[3], b[3];
    spragCross3(a, w, x);
    spragCross3(b, w, a);
    for (int i = 0; i < 3; ++i)
        out[i] = x[i] + 2 * (c * a[i] + b[i]) / norm;
}

typedef struct Turn {
    double c, v[3]; /* quaternion */
} Turn;

/* What ODE's update makes of w: first a finite turn (all of w, or its part along an axis), then an infinitesimal one.
 * Returns the first that is not the identity. */
static int turnsOf(dBodyID body, const double w[3], double h, Turn turn[2])
{
    turn[0] = (Turn){1, {0, 0, 0}};
    turn[1] = (Turn){1, {0.5 * h * w[0], 0.5 * h * w[1], 0.5 * h * w[2]}};
    if (!dBodyGetFiniteRotationMode(body))
        return 1;
    dVector3 axis;
    dBodyGetFiniteRotationAxis(body, axis);
    const double a[3] = {axis[0], axis[1], axis[2]}, on_axis = spragDot3(a, w);
    const int has_axis = spragDot3(a, a) > 0;
    double finite[3];
    for (int i = 0; i < 3; ++i) {
        finite[i] = has_axis ? on_axis * a[i] : w[i];
        turn[1].v[i] = 0.25 * h * (w[i] - finite[i]); /* ODE 0.16 halves h once too often here */
    }
    const double angle = 0.5 * h * spragNorm3(finite),
                 sinc = fabs(angle) < 1e-4 ? 1 - angle * angle / 6 : sin(angle) / angle;
    turn[0].c = cos(angle);
    for (int i = 0; i < 3; ++i)
        turn[0].v[i] = 0.5 * h * sinc * finite[i];
    return 0;
}

/* out = x turned as ODE turns a body, or back; turn[first .. 1] are the turns that are not the identity. */
static inline void turnBy(const Turn turn[2], int first, double sign, const double x[3], double out[3])
{
    double a[3];
    if (first == 1) {
        rotate(out, turn[1].c, turn[1].v, sign, x);
        return;
    }
    const int now = sign > 0 ? 0 : 1;
    rotate(a, turn[now].c, turn[now].v, sign, x);
    rotate(out, turn[1 - now].c, turn[1 - now].v, sign, a);
}

/* out = Q I(q0)^-1 Q^T L for the rotation Q made by w in h */
static void spinAfter(const spragBodyState *body, const double w[3], double h, const double L[3], double out[3])
{
    Turn turn[2];
    double a[3], b[3];
    const int first = turnsOf(body->id, w, h, turn);
    turnBy(turn, first, -1, L, a);
    spragMul33(b, body->inverse_inertia, a);
    turnBy(turn, first, 1, b, out);
}

/* L at the middle of the last step, H I(q-) H^T w0, H the rotation of half a step; I(q-) = T^T I(q0) T of the whole. */
static void momentumBefore(const spragBodyState *body, double h, double L[3])
{
    Turn whole[2], half[2];
    const double *w0 = body->velocity + 3;
    double a[3], b[3];
    const int first = turnsOf(body->id, w0, h, whole);
    turnsOf(body->id, w0, 0.5 * h, half);
    turnBy(half, first, -1, w0, a);
    turnBy(whole, first, 1, a, b);
    spragMul33(a, body->inertia, b);
    turnBy(whole, first, -1, a, b);
    turnBy(half, first, 1, b, L);
}

/* How w - spinAfter(w) changes with w.  A further turn of the body by d changes s = spinAfter(w) by
 * d x s - I^-1 (d x L), and dw turns it by d = h (1 + h/2 [w]x) dw, to second order. */
static void slopeOf(const spragBodyState *body, const double w[3], double h, const double L[3], const double s[3],
                    double slope[9])
{
    Turn turn[2];
    const int first = turnsOf(body->id, w, h, turn);
    for (int j = 0; j < 3; ++j) {
        const double e[3] = {j == 0, j == 1, j == 2};
        double d[3], a[3], b[3], c[3];
        spragCross3(d, w, e);
        for (int i = 0; i < 3; ++i)
            d[i] = h * (e[i] + 0.5 * h * d[i]);
        spragCross3(a, d, L);
        turnBy(turn, first, -1, a, b);
        spragMul33(a, body->inverse_inertia, b);
        turnBy(turn, first, 1, a, b);
        spragCross3(c, d, s);
        for (int i = 0; i < 3; ++i)
            slope[3 * i + j] = e[i] - c[i] + b[i];
    }
}

/* ODE turns a body by the velocity w the step ends with, so w is that of the middle of the step: with I taken there,
 * L = I(q_mid) w changes from step to step by P alone.  Symmetric in time, so of second order, and nothing drifts: the
 * spin of a symmetric top that P = 0 leaves alone is kept to rounding.  (With I at the end of the step instead, L is
 * kept too, but (L.d), the spin, falls by h (1/J3 - 1/J1) (L.d) |L x d|^2 / 2 J1 a second: first order, docs/top.md.)
 * Newton's method with one slope: a top takes 5 iterations, by plain ones it took 13.
 * 0: the iteration does not settle (more than TURN_MOST or so). */
static int conservingTorque(const spragBodyState *body, double h, const double P[3], double torque[3])
{
    enum {
        ITERATION_MAX = 60,
        PLAIN = 2 /* iterations, enough for a hundredth of a radian in a step; a slope costs as much as three */
    };
    const double *w0 = body->velocity + 3;
    const int steered = h * spragNorm3(w0) < TURN_MOST;
    double L[3], w[3], next[3], spin[3], given[3], slope[9], change = INFINITY;
    momentumBefore(body, h, L);
    spragMul33(next, body->inertia, w0); /* Euler's equations for a start: w' = I^-1 (I w x w) */
    spragCross3(w, next, w0);
    spragMul33(spin, body->inverse_inertia, w);
    spragMul33(given, body->inverse_inertia, P);
    for (int i = 0; i < 3; ++i) {
        L[i] += P[i];
        w[i] = w0[i] + h * spin[i] + given[i];
    }
    for (int k = 0; k < ITERATION_MAX && change > 0; ++k) {
        spinAfter(body, w, 0.5 * h, L, next);
        double d[3] = {next[0] - w[0], next[1] - w[1], next[2] - w[2]};
        if (k == PLAIN && steered)
            slopeOf(body, w, 0.5 * h, L, next, slope);
        if (k >= PLAIN && steered && !solve33(slope, (double[3]){d[0], d[1], d[2]}, d))
            return 0;
        for (int i = 0; i < 3; ++i)
            w[i] += d[i];
        const double now = spragNorm3(d), size = spragNorm3(w);
        if (now >= change && change <= 1e-14 * size) /* at rounding */
            break;
        if (change < INFINITY && now * now <= 1e-17 * size * change) { /* and so would the next be */
            change = now;
            break;
        }
        change = now;
    }
    if (!(change <= 1e-12 * spragNorm3(w)))
        return 0;
    const double d[3] = {w[0] - w0[0], w[1] - w0[1], w[2] - w0[2]};
    spragMul33(torque, body->inertia, d);
    for (int i = 0; i < 3; ++i)
        torque[i] = (torque[i] - P[i]) / h;
    return 1;
}

static int turns(const spragSnapshot *s, const spragBodyState *body)
{
    const double *w = body->velocity + 3;
    return s->step * s->step * spragDot3(w, w) > SPRAG_TURNS_LITTLE * SPRAG_TURNS_LITTLE;
}

int spragMomentMatters(const struct spragWorld *world, const spragBodyState *body)
{
    return !body->isotropic && world->config.gyroscopic != SPRAG_GYROSCOPIC_ODE && turns(&world->snapshot, body) &&
           dBodyGetGyroscopicMode(body->id);
}

/* The body of the contact's island on this side, or NULL. */
static const spragBodyState *memberOf(const spragSnapshot *s, const spragJointState *joint, int side)
{
    const spragBodyState *body = joint->body[side] < 0 ? NULL : &s->body[joint->body[side]];
    return body != NULL && body->island == joint->island && !body->kinematic ? body : NULL;
}

/* 1: contact k of the island has no other of the same geoms but nearby, in m. */
static int isOnePoint(const spragSnapshot *s, const spragIsland *island, int k, double nearby)
{
    const spragJointState *joint = &s->joint[island->joint[k]];
    const dReal *const x = joint->contact->geom.pos;
    for (int step = -1; step < 2; step += 2)
        for (int i = k + step; i >= 0 && i < island->joint_count; i += step) {
            const spragJointState *other = &s->joint[island->joint[i]];
            if (!spragSameGeoms(joint, other))
                break;
            const dReal *const y = other->contact->geom.pos;
            const double apart[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
            if (spragNorm3(apart) > nearby)
                return 0;
        }
    return 1;
}

/* 1: contact k of the island is on the rim of a cylinder, and on one point of it (velocity_product.h). */
static int isOnRim(const struct spragWorld *world, const spragPointerMap *surfaces, const spragIsland *island, int k)
{
    const spragJointState *joint = &world->snapshot.joint[island->joint[k]];
    const int record = world->surface_count > 0 ? spragPointerMapGet(surfaces, joint->id) : -1;
    const double *said = record < 0 ? NULL : world->surface[record].surface.curvature_radius;
    const dReal *const position = joint->contact->geom.pos;
    double normal[3];
    spragCurvature curvature;
    if (said != NULL && (said[0] >= 0 || said[1] >= 0))
        return 0;
    spragContactNormal(joint, normal);
    spragCurvatureOf(&world->snapshot, joint, (double[3]){position[0], position[1], position[2]}, normal, &curvature);
    return curvature.rim.share > 0 &&
           isOnePoint(&world->snapshot, island, k, 2 * SPRAG_RIM_LOWEST * curvature.rim.radius);
}

/* The body whose cylinder may turn on its rim there, or NULL. */
static const spragBodyState *cylinderOf(const struct spragWorld *world, const spragJointState *joint, int side)
{
    const spragBodyState *body = memberOf(&world->snapshot, joint, side);
    const dGeomID geom = spragGeomOf(joint, side);
    return body != NULL && !body->isotropic && turns(&world->snapshot, body) && spragGeomIsOf(body->id, geom) &&
                   dGeomGetClass(geom) == dCylinderClass
               ? body
               : NULL;
}

/* G of one contact; NAN if it is new. */
static void foresee(const struct spragWorld *world, const spragJointState *joint, double (*moment)[3])
{
    static const spragContactMemory unknown = {.normal_force = (double)NAN};
    const spragSnapshot *s = &world->snapshot;
    const spragContactMemory *old = joint->memory >= 0 ? &world->memory[joint->memory] : &unknown;
    for (int side = 0; side < 2; ++side) {
        const spragBodyState *body = memberOf(s, joint, side);
        if (body == NULL || isnan(moment[body->number][0]) || !turns(s, body))
            continue;
        double normal[3], impulse[3], arm[3], turn[3];
        spragContactNormal(joint, normal);
        for (int i = 0; i < 3; ++i) {
            impulse[i] = s->step * (old->normal_force * normal[i] + old->friction[i]);
            arm[i] = joint->contact->geom.pos[i] - body->position[i];
        }
        spragCross3(turn, arm, impulse);
        for (int i = 0; i < 3; ++i)
            moment[body->number][i] += side == 0 ? turn[i] : -turn[i];
    }
}

/* moment: 0 of what turns on one point of its rim, as in the last step; NAN of all others.  1: there is such a body. */
static int markRims(const struct spragWorld *world, const spragPointerMap *surfaces, const spragIsland *island,
                    double (*moment)[3])
{
    int any = 0;
    for (int i = 0; i < island->body_count; ++i)
        moment[i][0] = moment[i][1] = moment[i][2] = (double)NAN;
    for (int k = 0; k < island->joint_count; ++k) {
        const spragJointState *joint = &world->snapshot.joint[island->joint[k]];
        for (int side = 0; side < 2 && joint->memory >= 0; ++side) {
            const spragBodyState *body = cylinderOf(world, joint, side);
            if (body == NULL || !isOnRim(world, surfaces, island, k))
                continue;
            memset(moment[body->number], 0, sizeof *moment);
            any = 1;
        }
    }
    return any;
}

int spragMomentsForesee(const struct spragWorld *world, const spragPointerMap *surfaces, const spragIsland *island,
                        double (*moment)[3])
{
    const spragSnapshot *s = &world->snapshot;
    int any = 0;
    for (int i = 0; i < island->body_count && !any; ++i)
        any = turns(s, &s->body[island->body[i]]);
    for (int k = 0; k < island->joint_count && any; ++k)
        any = s->joint[island->joint[k]].contact != NULL;
    if (any && world->config.gyroscopic == SPRAG_GYROSCOPIC_MOMENTUM)
        any = markRims(world, surfaces, island, moment);
    for (int k = 0; k < island->joint_count && any; ++k)
        foresee(world, &s->joint[island->joint[k]], moment);
    return any;
}

/* out: P_outer + G; or nothing, if that is not known (NAN), or changes w by more than there is of it: then a light body
 * bears loads that cancel each other but for how they are shared, or was struck. */
static void momentOf(const struct spragWorld *world, const spragBodyState *body, const double torque[3],
                     const double *foreseen, double out[3])
{
    const int all = world->config.gyroscopic == SPRAG_GYROSCOPIC_CONTACTS;
    double change[3];
    for (int i = 0; i < 3; ++i)
        out[i] = world->snapshot.step * torque[i] + (foreseen != NULL ? foreseen[i] : 0);
    spragMul33(change, body->inverse_inertia, out);
    if ((foreseen == NULL && !all) || !spragMomentMatters(world, body) ||
        !(spragNorm3(change) <= spragNorm3(body->velocity + 3)))
        out[0] = out[1] = out[2] = 0;
}

void spragFreeMotion(const struct spragWorld *world, spragBodyState *body, const double *foreseen)
{
    const double h = world->snapshot.step;
    double torque[3];
    for (int i = 0; i < 3; ++i)
        torque[i] = body->force[3 + i] + body->motor_force[3 + i];
    if (dBodyGetGyroscopicMode(body->id)) {
        double gyroscopic[3] = {0, 0, 0}, P[3];
        momentOf(world, body, torque, foreseen, P);
        body->own_gyroscopic = world->config.gyroscopic != SPRAG_GYROSCOPIC_ODE &&
                               (body->isotropic || conservingTorque(body, h, P, gyroscopic));
        if (body->own_gyroscopic)
            memcpy(body->gyroscopic, gyroscopic, sizeof gyroscopic);
        else
            dampedTorque(body, h, gyroscopic);
        for (int i = 0; i < 3; ++i)
            torque[i] += gyroscopic[i];
    }
    static const double none[3] = {0, 0, 0};
    const double *g = dBodyGetGravityMode(body->id) ? world->snapshot.gravity : none;
    double spin[3];
    spragMul33(spin, body->inverse_inertia, torque);
    for (int i = 0; i < 3; ++i) {
        body->free_velocity[i] += h * body->inverse_mass * (body->force[i] + body->motor_force[i] + body->mass * g[i]);
        body->free_velocity[3 + i] += h * spin[i];
    }
}
