#include "ode/shape/velocity_product.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "linalg/vec3.h"

#define NOTHING 1e-9 /* m/s: h Jdot v that gives no energy to speak of */

/* out += sign * w x (P' - v) of one body */
static void addTransport(double out[3], double sign, const spragBodyState *body, const double point_rate[3])
{
    if (body == NULL)
        return;
    double d[3], c[3];
    for (int i = 0; i < 3; ++i)
        d[i] = point_rate[i] - body->velocity[i];
    spragCross3(c, body->velocity + 3, d);
    for (int i = 0; i < 3; ++i)
        out[i] += sign * c[i];
}

/* The term, given the rate of the frame W and that of the contact point. */
static void productOf(const spragBodyState *const body[2], const double point[3], const double W[3],
                      const double point_rate[3], double out[3])
{
    double va[3], vb[3], c[3];
    spragPointVelocity(va, body[0], point);
    spragPointVelocity(vb, body[1], point);
    const double u[3] = {va[0] - vb[0], va[1] - vb[1], va[2] - vb[2]};
    spragCross3(c, W, u);
    for (int i = 0; i < 3; ++i)
        out[i] = -c[i];
    addTransport(out, 1, body[0], point_rate);
    addTransport(out, -1, body[1], point_rate);
}

/* Surface of body[round] with its centre at distance `radius` from the point, on a plane of the other body. */
static void productOnPlane(const spragBodyState *const body[2], int round, double radius, const double point[3],
                           const double n[3], double out[3])
{
    static const double still[3] = {0, 0, 0};
    const spragBodyState *plane = body[1 - round];
    if (plane == NULL && round == 0) { /* the world: w x (w x (C - G)) */
        double arm[3], c[3];
        for (int i = 0; i < 3; ++i)
            arm[i] = point[i] + radius * n[i] - body[0]->position[i];
        spragCross3(c, body[0]->velocity + 3, arm);
        spragCross3(out, body[0]->velocity + 3, c);
        return;
    }
    const double *W = plane == NULL ? still : plane->velocity + 3;
    const double side = round == 0 ? 1 : -1; /* the centre of body[0] is at point + radius n */
    double centre[3], rate[3], n_rate[3];
    for (int i = 0; i < 3; ++i)
        centre[i] = point[i] + side * radius * n[i];
    spragPointVelocity(rate, body[round], centre);
    spragCross3(n_rate, W, n);
    for (int i = 0; i < 3; ++i)
        rate[i] -= side * radius * n_rate[i];
    productOf(body, point, W, rate, out);
}

/* P' - v, m/s, of the point of contact over the body: along a rim.  turning: of the body against the plane; N: into
 * it. */
static void alongRim(const spragRim *rim, const double turning[3], const double N[3], double step, double out[3])
{
    double t[3];
    spragCross3(t, rim->axis, N);
    const double cosine = spragDot3(rim->axis, N), square = spragDot3(t, t), spin = spragDot3(turning, rim->axis),
                 around = spragDot3(turning, N) - cosine * spin, moved = step * around;
    const double rate = rim->radius * (spin - cosine * around / sqrt(square * square + moved * moved));
    for (int i = 0; i < 3; ++i)
        out[i] = rate / sqrt(square) * t[i];
}

/* As productOnPlane. */
static void productOfRim(const spragBodyState *const body[2], int round, double radius, const spragRim *rim,
                         double step, const double point[3], const double n[3], double out[3])
{
    const spragBodyState *plane = body[1 - round];
    const double side = round == 0 ? 1 : -1;
    double N[3], W[3], turning[3], ball[3], along[3], rate[3];
    for (int i = 0; i < 3; ++i) {
        N[i] = side * n[i];
        W[i] = plane == NULL ? 0 : plane->velocity[3 + i];
        turning[i] = body[round]->velocity[3 + i] - W[i];
    }
    alongRim(rim, turning, N, step, along);
    spragCross3(ball, turning, N);
    spragPointVelocity(rate, body[round], point);
    for (int i = 0; i < 3; ++i)
        rate[i] += (1 - rim->share) * radius * ball[i] + rim->share * along[i];
    productOf(body, point, W, rate, out);
}

static void productOfSpheres(const spragBodyState *const body[2], const double radius[2], const double point[3],
                             const double n[3], double out[3])
{
    double ca[3], cb[3], va[3], vb[3], n_rate[3], W[3], rate[3];
    for (int i = 0; i < 3; ++i) {
        ca[i] = point[i] + radius[0] * n[i];
        cb[i] = point[i] - radius[1] * n[i];
    }
    spragPointVelocity(va, body[0], ca);
    spragPointVelocity(vb, body[1], cb);
    const double d[3] = {va[0] - vb[0], va[1] - vb[1], va[2] - vb[2]};
    for (int i = 0; i < 3; ++i) {
        n_rate[i] = (d[i] - spragDot3(d, n) * n[i]) / (radius[0] + radius[1]);
        rate[i] = va[i] - radius[0] * n_rate[i] - 0.5 * spragDot3(d, n) * n[i]; /* of two that meet, half-way */
    }
    spragCross3(W, n, n_rate);
    productOf(body, point, W, rate, out);
}

/* Curvature, 1/m, in the tangents t: 1 / radius, but along the axis of a pipe none. */
static void curvatureOf(double radius, const double axis[3], const double t[2][3], double K[2][2])
{
    double c[2] = {spragDot3(axis, t[0]), spragDot3(axis, t[1])};
    const double length = spragNorm2(c);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            K[i][j] = ((i == j) - (length > 0 ? c[i] * c[j] / (length * length) : 0)) / radius;
}

/* The same of surfaces with curvatures K_a and K_b: with P' across n, n' is w_a x n - K_a (P' - v_a) as body a has it,
 * and w_b x n + K_b (P' - v_b) as b has it, so that (K_a + K_b) P' = K_a v_a + K_b v_b + (w_a - w_b) x n. */
static void productOfPipes(const spragBodyState *const body[2], const double radius[2], const double axis[2][3],
                           const double point[3], const double n[3], double out[3])
{
    double t[2][3], K[2][2][2], v[2][3], turn[2][3], rhs[2], n_rate[3], W[3], rate[3];
    const double *first = spragDot3(axis[0], axis[0]) > 0 ? axis[0] : axis[1];
    const double along = spragDot3(first, n), length = sqrt(spragDot3(first, first) - along * along);
    for (int i = 0; i < 3; ++i)
        t[0][i] = (first[i] - along * n[i]) / length;
    spragCross3(t[1], n, t[0]);
    for (int side = 0; side < 2; ++side) {
        curvatureOf(radius[side], axis[side], (const double(*)[3])t, K[side]);
        spragPointVelocity(v[side], body[side], point);
        memset(turn[side], 0, sizeof *turn);
        if (body[side] != NULL)
            spragCross3(turn[side], body[side]->velocity + 3, n);
    }
    double sum[2][2];
    for (int i = 0; i < 2; ++i) {
        rhs[i] = spragDot3(turn[0], t[i]) - spragDot3(turn[1], t[i]);
        for (int j = 0; j < 2; ++j) {
            sum[i][j] = K[0][i][j] + K[1][i][j];
            rhs[i] += K[0][i][j] * spragDot3(v[0], t[j]) + K[1][i][j] * spragDot3(v[1], t[j]);
        }
    }
    const double det = sum[0][0] * sum[1][1] - sum[0][1] * sum[1][0],
                 normal = 0.5 * (spragDot3(v[0], n) + spragDot3(v[1], n)), /* of two that meet, half-way */
        p[2] = {(sum[1][1] * rhs[0] - sum[0][1] * rhs[1]) / det, (sum[0][0] * rhs[1] - sum[1][0] * rhs[0]) / det};
    for (int i = 0; i < 3; ++i) {
        n_rate[i] = turn[0][i];
        rate[i] = normal * n[i] + p[0] * t[0][i] + p[1] * t[1][i];
        for (int j = 0; j < 2; ++j)
            for (int k = 0; k < 2; ++k)
                n_rate[i] -= K[0][j][k] * (p[k] - spragDot3(v[0], t[k])) * t[j][i];
    }
    spragCross3(W, n, n_rate);
    productOf(body, point, W, rate, out);
}

/* A corner of one on a face of the other, we do not know which: the mean of both.  The term is linear in the rates of
 * the frame, that of the one or the other, and of the point, which moves with the other or the one. */
static void productOfCorner(const spragBodyState *const body[2], const double point[3], double out[3])
{
    double v[2][3], W[3] = {0, 0, 0}, rate[3];
    for (int side = 0; side < 2; ++side) {
        spragPointVelocity(v[side], body[side], point);
        for (int i = 0; i < 3 && body[side] != NULL; ++i)
            W[i] += 0.5 * body[side]->velocity[3 + i];
    }
    for (int i = 0; i < 3; ++i)
        rate[i] = 0.5 * (v[0][i] + v[1][i]);
    productOf(body, point, W, rate, out);
}

void spragVelocityProduct(const spragBodyState *const body[2], const double radius[2], const double point[3],
                          const double n[3], double out[3])
{
    out[0] = out[1] = out[2] = 0;
    const int flat[2] = {isinf(radius[0]), isinf(radius[1])};
    if (isnan(radius[0]) || isnan(radius[1]) || (flat[0] && flat[1]))
        return;
    if (flat[1] || (!flat[0] && radius[0] > 0 && radius[1] == 0)) {
        productOnPlane(body, 0, radius[0], point, n, out); /* a ball meets the flat of a box, not its corner */
    } else if (flat[0] || (radius[1] > 0 && radius[0] == 0)) {
        productOnPlane(body, 1, radius[1], point, n, out);
    } else if (radius[0] + radius[1] > 0) {
        productOfSpheres(body, radius, point, n, out);
    } else {
        productOfCorner(body, point, out);
    }
}

/* Of a contact whose radii may be taken for others, with these motions of its bodies. */
static void productAt(const spragCurvedContact *contact, const spragBodyState *const body[2], const double radius[2],
                      double step, const double point[3], double out[3])
{
    const int round = spragCurvatureIsRound(radius[0]) ? 0 : 1;
    if (contact->curvature->rim.share > 0)
        productOfRim(body, round, radius[round], &contact->curvature->rim, step, point, contact->n, out);
    else if (contact->curvature->has_axis)
        productOfPipes(body, radius, contact->curvature->axis, point, contact->n, out);
    else
        spragVelocityProduct(body, radius, point, contact->n, out);
}

/* The bodies of a contact as what is driven sees them, as if that stood still. */
typedef struct Seen {
    spragBodyState state[2];
    const spragBodyState *body[2];
    double turning[3]; /* rad/s, of what is driven */
    int turned;        /* 1: it turns; else they have the same term */
    double step;       /* s */
} Seen;

static void see(const spragBodyState *const body[2], double step, Seen *seen)
{
    seen->step = step;
    const spragBodyState *driven = NULL;
    for (int side = 0; side < 2; ++side) {
        seen->body[side] = body[side];
        if (body[side] != NULL && body[side]->kinematic)
            driven = body[side];
    }
    for (int i = 0; i < 3; ++i)
        seen->turning[i] = driven == NULL ? 0 : driven->velocity[3 + i];
    seen->turned = spragDot3(seen->turning, seen->turning) > 0;
    for (int side = 0; side < 2 && driven != NULL; ++side) {
        double along[3];
        if (body[side] == NULL)
            continue;
        seen->state[side] = *body[side];
        spragPointVelocity(along, driven, body[side]->position);
        for (int i = 0; i < 3; ++i) {
            seen->state[side].velocity[i] -= along[i];
            seen->state[side].velocity[3 + i] -= driven->velocity[3 + i];
        }
        seen->body[side] = &seen->state[side];
    }
}

/* J and kg: of the turning of two bodies and of their motion against each other; the reduced mass. */
typedef struct Meeting {
    double energy, mass;
} Meeting;

static Meeting meetingOf(const spragBodyState *const body[2])
{
    Meeting meeting = {0};
    double inverse = 0, v[3] = {0, 0, 0};
    for (int side = 0; side < 2; ++side) {
        double L[3];
        if (body[side] == NULL)
            continue;
        for (int i = 0; i < 3; ++i)
            v[i] += side == 0 ? body[side]->velocity[i] : -body[side]->velocity[i];
        if (body[side]->kinematic)
            continue;
        spragMul33(L, body[side]->inertia, body[side]->velocity + 3);
        meeting.energy += 0.5 * spragDot3(L, body[side]->velocity + 3);
        inverse += body[side]->inverse_mass;
    }
    meeting.mass = inverse > 0 ? 1 / inverse : 0;
    meeting.energy += 0.5 * meeting.mass * spragDot3(v, v);
    return meeting;
}

/* out: half of what it adds to a contact's acceleration that the driven body turns with w, of what moves as it sees it
 * with v and w_seen: 2 w x v of Coriolis, and w x w_seen of what turns. */
static void halfCoriolis(const Seen *seen, const double point[3], double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (int side = 0; side < 2; ++side) {
        const spragBodyState *body = seen->body[side];
        double arm[3], along[3], turn[3], turned[3];
        if (body == NULL)
            continue;
        for (int i = 0; i < 3; ++i)
            arm[i] = point[i] - body->position[i];
        spragCross3(along, seen->turning, body->velocity);
        spragCross3(turn, seen->turning, body->velocity + 3);
        spragCross3(turned, turn, arm);
        for (int i = 0; i < 3; ++i)
            out[i] -= (side == 0 ? 1 : -1) * (along[i] + 0.5 * turned[i]);
    }
}

/* The term at this point, and as the driven body sees it, which turns (velocity_product.h). */
static void seenTurning(const spragCurvedContact *contact, const Seen *seen, const double radius[2],
                        const double point[3], double product[3], double as_seen[3])
{
    double half[3];
    productAt(contact, contact->body, radius, seen->step, point, product);
    productAt(contact, seen->body, radius, seen->step, point, as_seen);
    halfCoriolis(seen, point, half);
    const double size = spragNorm3(as_seen), share = size > 0 ? size / (size + spragNorm3(half)) : 0;
    for (int i = 0; i < 3; ++i)
        as_seen[i] = share * (as_seen[i] + half[i]);
}

/* The same of a surface that is not known: none, but for what is the driven body's across n.  That hardly depends on
 * curvature, and is taken from a tip, or what else is known, on a flat surface of that body. */
static void seenUnknown(const spragCurvedContact *contact, const Seen *seen, const double point[3], double product[3],
                        double as_seen[3])
{
    double radius[2];
    for (int side = 0; side < 2; ++side)
        radius[side] = !isnan(contact->curvature->radius[side]) ? contact->curvature->radius[side]
                       : contact->body[side] != NULL && contact->body[side]->kinematic ? SPRAG_CURVATURE_FLAT
                                                                                       : 0;
    seenTurning(contact, seen, radius, point, product, as_seen);
    for (int i = 0; i < 3; ++i) {
        product[i] -= as_seen[i];
        as_seen[i] = 0;
    }
    const double normal = spragDot3(contact->n, product);
    for (int i = 0; i < 3; ++i)
        product[i] -= normal * contact->n[i];
}

/* The term at this point, and as what is driven sees it. */
static void seenAt(const spragCurvedContact *contact, const Seen *seen, const double point[3], double product[3],
                   double as_seen[3])
{
    if (!seen->turned) {
        productAt(contact, contact->body, contact->curvature->radius, seen->step, point, product);
        memcpy(as_seen, product, 3 * sizeof *as_seen);
    } else if (isnan(contact->curvature->radius[0]) || isnan(contact->curvature->radius[1])) {
        seenUnknown(contact, seen, point, product, as_seen);
    } else {
        seenTurning(contact, seen, contact->curvature->radius, point, product, as_seen);
    }
}

/* 1: its face has no other point, or of a rim none that is not the same but for what colliders make of it. */
static int isAlone(const spragCurvedContact *contact)
{
    const double *middle = contact->middle, *point = contact->point;
    if (middle == NULL || (middle[0] == point[0] && middle[1] == point[1] && middle[2] == point[2]))
        return 1;
    const spragRim *rim = &contact->curvature->rim;
    const double apart[3] = {middle[0] - point[0], middle[1] - point[1], middle[2] - point[2]};
    return rim->share > 0 && spragNorm3(apart) <= SPRAG_RIM_LOWEST * rim->radius;
}

/* By how much it goes by halves (Halves). */
static double halvesOf(const spragCurvedContact *contact)
{
    return contact->known && isAlone(contact) ? contact->curvature->rim.share : 0;
}

/* Takes from along and across, m/s^2, what could give energy.  body: as they are seen.
 * left (3): what of across is left to the next step where c_n >= 0. */
static void takeEnergy(const spragCurvedContact *contact, const spragBodyState *const body[2], double step,
                       double *along, double across[3], double left[3])
{
    const double square = step * step, normal = spragDot3(contact->n, across), none = NOTHING * NOTHING,
                 halves = halvesOf(contact);
    double tangent[3];
    for (int i = 0; i < 3; ++i)
        tangent[i] = across[i] - normal * contact->n[i];
    /* (c_n of another point of its face is another.) */
    const double inside = isAlone(contact) ? spragMax(normal, 0) / contact->mu : 0, size = spragNorm3(tangent),
                 outside = size - inside; /* NaN: there is no friction */
    const int throws = *along < 0 && square * *along * *along > none,
              turns = outside > 0 && square * outside * outside > none;
    if (!throws && !turns)
        return;
    const Meeting meeting = meetingOf(body);
    if (throws)
        *along *= spragProductShare(meeting.energy, meeting.mass, square * *along * *along);
    const double taken =
        turns ? (1 - halves) * (1 - spragProductShare(meeting.energy, meeting.mass, square * outside * outside)) : 0;
    for (int i = 0; i < 3 && turns; ++i) {
        left[i] = SPRAG_LEFT_TO_NEXT * halves * (1 - taken) * outside / size * tangent[i];
        across[i] -= taken * outside / size * tangent[i];
    }
}

double spragFaceProduct(const spragCurvedContact *contact, double step, double out[3], double rest[3])
{
    double turn = 0, at[3], as_seen[3], left[3] = {0, 0, 0}; /* turn: rad */
    Seen seen;
    for (int side = 0; side < 2; ++side)
        turn = spragMax(turn, contact->body[side] == NULL ? 0 : step * spragNorm3(contact->body[side]->velocity + 3));
    see(contact->body, step, &seen);
    const double limit = spragProductLimit(turn);
    seenAt(contact, &seen, contact->point, at, as_seen);
    double along = spragDot3(contact->n, as_seen) / limit;
    const double carried = spragDot3(contact->n, at) / limit - along;
    if (contact->middle != NULL)
        seenAt(contact, &seen, contact->middle, at, as_seen);
    for (int i = 0; i < 3; ++i) {
        rest[i] = 0.5 * (at[i] - as_seen[i]) / limit;
        out[i] = as_seen[i] / limit;
    }
    if (!isnan(contact->mu))
        takeEnergy(contact, seen.body, step, &along, out, left);
    const int presses = !isnan(contact->mu) && spragDot3(contact->n, out) < 0; /* Pressing */
    const double pressing = SPRAG_PRESSING_LEAVES(contact->curvature->rim.share, halvesOf(contact));
    for (int i = 0; i < 3; ++i) {
        const double part = presses ? pressing * out[i] : left[i];
        out[i] += rest[i] - part;
        rest[i] += part;
    }
    return along + carried;
}
