/* Visits of contacts: of one alone, and of one with its rolling friction.
 *
 * What turns is 6 x 6, impulses r and moments m (over the length) of one contact:
 *
 *     u = W_rr r + W_rw m + q_r  in the cone's law,   w = W_wr r + W_ww m + q_w  in that of two bounds, |m| <= mu r_n.
 *
 * One after the other each round leaves as much as W_rw couples, seven tenths for balls.  So first nothing turns,
 * w = 0: m is eliminated, and the contact has W_rr - W_rw W_ww^-1 W_wr.  If m is beyond its bounds then, it turns, and
 * is visited after the contact: at its bound it follows r no more.  (So does what holds by infinite friction, if it
 * does not press, and what has parted, greedy_hold.h.) */
#ifndef SPRAG_SOLVE_GREEDY_ROLL_H
#define SPRAG_SOLVE_GREEDY_ROLL_H

#include <float.h>
#include <string.h>

#include "linalg/vec3.h"
#include "solve/greedy/greedy_row.h"

#define SPRAG_GREEDY_ACCURACY 1e-2 /* of slip multipliers: the next visit goes on from there */
enum { SPRAG_GREEDY_ROOT_STEPS = 40 /* of Newton for a slip multiplier; two or three as a rule */ };

/* On the cone and with u_n = 0, as in cone_block.h, but the slip multiplier only to SPRAG_GREEDY_ACCURACY. */
SPRAG_QUAD_INLINE void spragGreedySlip(spragGreedyContact *c, const double K[3], double inverse_nn, const double q[3],
                                       const double free[2], double r[3])
{
    const double *w = c->normal + 1, mu = c->mu;
    double lo = 0, hi = INFINITY, nu = c->nu, size = 0, t[2] = {0, 0};
    for (int step = 0; step < SPRAG_GREEDY_ROOT_STEPS; ++step) {
        const double a = K[0] + nu, d = K[2] + nu, scale = -1 / (a * d - K[1] * K[1]);
        t[0] = scale * (d * free[0] - K[1] * free[1]);
        t[1] = scale * (a * free[1] - K[1] * free[0]);
        const double square = t[0] * t[0] + t[1] * t[1];
        size = sqrt(square);
        const double normal = -(q[0] + w[0] * t[0] + w[1] * t[1]) * inverse_nn, excess = mu * normal - size;
        *(excess < 0 ? &lo : &hi) = nu;
        const double dt[2] = {scale * (d * t[0] - K[1] * t[1]), scale * (a * t[1] - K[1] * t[0])};
        const double dnormal = -(w[0] * dt[0] + w[1] * dt[1]) * inverse_nn;
        double next = nu - square * excess / (mu * (dnormal * square - normal * (t[0] * dt[0] + t[1] * dt[1])));
        if (!(next >= lo && next <= hi && next < INFINITY)) { /* equal: nu is the root */
            if (hi < INFINITY)
                next = lo > 0 ? sqrt(lo * hi) : 0.125 * hi;
            else
                next = 4 * nu + K[0] + K[2];
        }
        nu = next;
        if (fabs(excess) < SPRAG_GREEDY_ACCURACY * size)
            break;
    }
    c->nu = nu;
    const double e[2] = {t[0] / size, t[1] / size};
    const double along = 1 / inverse_nn + mu * (w[0] * e[0] + w[1] * e[1]);
    double normal = -q[0] / along;
    if (!(along > 0 && normal > 0)) /* a branch of negative slope: keep what the root says */
        normal = size / mu;
    r[0] = normal, r[1] = mu * normal * e[0], r[2] = mu * normal * e[1];
}

/* What is not pressed but held, u_t = 0 and r_n = 0. */
SPRAG_QUAD_INLINE void spragGreedyHold(const spragGreedyContact *c, const spragGreedyOwn *own, const double q[3],
                                       double r[3])
{
    const double a = own->tangent[0][1] + c->direction[1][3], b = own->tangent[0][2],
                 d = own->tangent[1][2] + c->direction[2][3], scale = 1 / (a * d - b * b);
    r[0] = 0;
    r[1] = scale * (b * q[2] - d * q[1]);
    r[2] = scale * (b * q[1] - a * q[2]);
}

/* The contact alone, from its velocity q without its own impulse. */
SPRAG_QUAD_INLINE void spragGreedySolve(spragGreedyContact *c, const spragGreedyOwn *own, const double q[3],
                                        double r[3])
{
    const double inverse_nn = own->tangent[0][3], inverse_det = own->tangent[1][3], ratio = q[0] * inverse_nn,
                 *w = c->normal + 1;
    r[0] = r[1] = r[2] = 0;
    const int holds = fabs(c->mu) > DBL_MAX;
    if (q[0] >= 0 && !holds)
        return;
    if (!(c->mu > 0 || holds)) {
        r[0] = -ratio;
        return;
    }
    const double free[2] = {q[1] - w[0] * ratio, q[2] - w[1] * ratio};
    double K[3];
    spragGreedySchur(c, own, K);
    r[1] = (K[1] * free[1] - K[2] * free[0]) * inverse_det;
    r[2] = (K[1] * free[0] - K[0] * free[1]) * inverse_det;
    r[0] = -(q[0] + w[0] * r[1] + w[1] * r[2]) * inverse_nn;
    if (holds) {
        if (r[0] < 0)
            spragGreedyHold(c, own, q, r);
    } else if (r[0] < 0 || r[1] * r[1] + r[2] * r[2] > c->mu * c->mu * r[0] * r[0])
        spragGreedySlip(c, K, inverse_nn, q, free, r);
}

/* The contact and its rolling friction together: r and m, which was m0, from their velocities without either. */
SPRAG_QUAD_INLINE void spragGreedySolveBoth(spragGreedyContact *c, const spragGreedyOwn *own, spragGreedyRoll *roll,
                                            const double free[3], const double turning[3], const double m0[3],
                                            double r[3], double m[3])
{
    double held[3], q[3] = {free[0], free[1], free[2]}, turned[3] = {turning[0], turning[1], turning[2]};
    spragMul33(held, roll->inverse, turning);
    for (int i = 0; i < 3; ++i)
        q[i] -= roll->cross[i] * held[0] + roll->cross[3 + i] * held[1] + roll->cross[6 + i] * held[2];
    const int holds = fabs(c->mu) > DBL_MAX;
    if (holds)
        spragConeBlockHold(&roll->stuck, q, r);
    else
        spragConeBlockSolve(&roll->stuck, q, r);
    spragMulAdd33(turned, roll->cross, r);
    spragMul33(m, roll->inverse, turned);
    for (int i = 0; i < 3; ++i)
        m[i] = -m[i];
    double most = roll->mu * r[0];
    const int stuck = m[0] * m[0] + m[1] * m[1] <= most * most && fabs(m[2]) <= most;
    if (stuck && (holds ? r[0] > 0 : c->mu >= 0))
        return;
    for (int i = 0; i < 3; ++i) /* it turns: one after the other */
        q[i] = free[i] + roll->cross[i] * m0[0] + roll->cross[3 + i] * m0[1] + roll->cross[6 + i] * m0[2];
    spragGreedySolve(c, own, q, r);
    memcpy(turned, turning, sizeof turned);
    spragMulAdd33(turned, roll->cross, r);
    most = roll->mu * r[0];
    spragDiscBlockSolve(roll->own, turned, 2, -most, most, most, m);
}

/* r0 and m0 become an answer to the others' impulses.  Returns |dr_k| of the contact, N s, and of its rolling friction
 * in `twisted`. */
SPRAG_QUAD_INLINE double spragGreedyVisitFrom(spragGreedyContact *c, const spragGreedyOwn *own, spragGreedyRoll *roll,
                                              spragGreedyBody *a, spragGreedyBody *b, const double r0[3],
                                              const double m0[3], double *twisted)
{
    const spragQuad moves = spragGreedyVelocity(c, a, b) + SPRAG_ROW(c->q) - spragGreedyOwnMotion(c, own, r0);
    const spragQuad turns = spragGreedyTurning(c, roll, a, b) + SPRAG_ROW(roll->q);
    double free[3] = {moves[0], moves[1], moves[2]}, turning[3] = {turns[0], turns[1], turns[2]}, r[3], m[3];
    const double less[2][3] = {{-r0[0], -r0[1], -r0[2]}, {-m0[0], -m0[1], -m0[2]}};
    spragMulAdd33(turning, roll->own, less[1]);
    spragMulAdd33(turning, roll->cross, less[0]);
    for (int i = 0; i < 3; ++i)
        free[i] += roll->cross[i] * less[1][0] + roll->cross[3 + i] * less[1][1] + roll->cross[6 + i] * less[1][2];
    spragGreedySolveBoth(c, own, roll, free, turning, m0, r, m);
    const double push[3] = {r[0] + less[0][0], r[1] + less[0][1], r[2] + less[0][2]},
                 twist[3] = {m[0] + less[1][0], m[1] + less[1][1], m[2] + less[1][2]};
    memcpy(c->r, r, sizeof r);
    memcpy(roll->r, m, sizeof m);
    spragGreedyPush(c, push, a, b);
    spragGreedyTwist(c, roll, twist, a, b);
    *twisted = sqrt(spragDot3(twist, twist));
    return sqrt(spragDot3(push, push));
}

/* The same from where they are. */
SPRAG_QUAD_INLINE double spragGreedyVisitBoth(spragGreedyContact *c, const spragGreedyOwn *own, spragGreedyRoll *roll,
                                              spragGreedyBody *a, spragGreedyBody *b, double *twisted)
{
    const double r[3] = {c->r[0], c->r[1], c->r[2]}, m[3] = {roll->r[0], roll->r[1], roll->r[2]};
    return spragGreedyVisitFrom(c, own, roll, a, b, r, m, twisted);
}

/* Sweeps with momentum of a problem with rolling friction, for most of so many visits. */
void spragGreedyRollSweep(spragGreedy *greedy, long most, double deadline);

#endif
