/* q, guess and history of four bodies' contacts at once, and whether any of them can have a paradox (lone_group.h). */
#include "ode/islands/lone_group.h"

#include "ode/ledger/record.h"
#include "ode/rows/rows.h"
#include "ode/shape/velocity_product.h"
#include "solve/contact/policy.h"

/* ---------------------------------------------------------------- lanes that are empty */

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

/* ---------------------------------------------------------------- one contact */

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

void spragLoneRows(spragLoneGroup *group)
{
    if (group->filled < SPRAG_QUAD)
        repeatLanes(group);
    fillRows(group);
}

/* ---------------------------------------------------------------- the answer */

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

void spragLoneRead(spragLoneGroup *group)
{
    finishRows(group);
}
