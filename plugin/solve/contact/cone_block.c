#include "solve/contact/cone_block.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "problem/residual.h"

enum { ROOT_STEP_MAX = 80 };
#define EXACT (8 * DBL_EPSILON)

/* A direction that cannot move (a guided body) leaves K (2 x 2) singular:
 * the least stiffness that keeps it solvable. */
static void keepSolvable(double K[4], double trace)
{
    const double least = 1e-13 * (trace > 0 ? trace : 1);
    if (K[0] * K[3] - K[1] * K[2] < least * (K[0] + K[3] + least))
        K[0] += least, K[3] += least;
}

void spragConeBlockInit(spragConeBlock *block, const double W[9], double mu, double mu_minus)
{
    *block = (spragConeBlock){
        .inverse_nn = 1 / W[0], .W_tn = {W[3], W[6]}, .W_nt = {W[1], W[2]}, .mu = mu, .mu_minus = mu_minus};
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            block->K[2 * i + j] = W[3 * (i + 1) + j + 1] - W[3 * (i + 1)] * W[j + 1] / W[0];
    keepSolvable(block->K, W[0] + W[4] + W[8]);
    const double scale = 1 / (block->K[0] * block->K[3] - block->K[1] * block->K[2]);
    block->inverse_K[0] = scale * block->K[3], block->inverse_K[1] = -scale * block->K[1];
    block->inverse_K[2] = -scale * block->K[2], block->inverse_K[3] = scale * block->K[0];
}

/* x = -(K + nu)^-1 c */
static void tangentialSolve(const double K[4], double nu, const double c[2], double x[2])
{
    const double a = K[0] + nu, d = K[3] + nu;
    const double scale = -1 / (a * d - K[1] * K[2]);
    x[0] = scale * (d * c[0] - K[1] * c[1]);
    x[1] = scale * (a * c[1] - K[2] * c[0]);
}

/* Slip with the normal force along side = +-1: root of h, then N from u_n = 0 with the direction found. */
static inline __attribute__((always_inline)) void slipSolve(spragConeBlock *block, const double q[3], const double c[2],
                                                            double side, double mu, double r[3])
{
    const double q_n = side * q[0], w[2] = {side * block->W_nt[0], side * block->W_nt[1]};
    double lo = 0, hi = INFINITY, nu = block->nu, size = 0, t[2];
    for (int step = 0; step < ROOT_STEP_MAX; ++step) {
        const double a = block->K[0] + nu, d = block->K[3] + nu;
        const double scale = -1 / (a * d - block->K[1] * block->K[2]);
        t[0] = scale * (d * c[0] - block->K[1] * c[1]);
        t[1] = scale * (a * c[1] - block->K[2] * c[0]);
        const double size2 = t[0] * t[0] + t[1] * t[1];
        size = sqrt(size2);
        const double normal = -(q_n + w[0] * t[0] + w[1] * t[1]) * block->inverse_nn;
        const double excess = mu * normal - size; /* h |r_t| */
        if (excess < 0)
            lo = nu;
        else
            hi = nu;
        if (fabs(excess) < EXACT * size || fabs(excess) < block->slack ||
            (hi < INFINITY && hi - lo <= 2 * DBL_EPSILON * hi))
            break;
        const double dt[2] = {scale * (d * t[0] - block->K[1] * t[1]), scale * (a * t[1] - block->K[2] * t[0])};
        const double dnormal = -(w[0] * dt[0] + w[1] * dt[1]) * block->inverse_nn;
        double next = nu - size2 * excess / (mu * (dnormal * size2 - normal * (t[0] * dt[0] + t[1] * dt[1])));
        if (!(next > lo && next < hi)) {
            if (hi < INFINITY)
                next = lo > 0 ? sqrt(lo * hi) : 0.125 * hi;
            else
                next = 4 * nu + block->K[0] + block->K[3];
        }
        if (fabs(next - nu) <= DBL_EPSILON * nu)
            break;
        nu = next;
    }
    block->nu = nu;
    const double e[2] = {t[0] / size, t[1] / size};
    const double along = 1 / block->inverse_nn + mu * (w[0] * e[0] + w[1] * e[1]);
    double normal = -q_n / along;
    if (!(along > 0 && normal > 0)) /* a branch of negative slope: keep what the root says */
        normal = size / mu;
    r[0] = side * normal, r[1] = mu * normal * e[0], r[2] = mu * normal * e[1];
}

/* Sticking impulse; returns c on the way. */
static void stickSolve(const spragConeBlock *block, const double q[3], double c[2], double r[3])
{
    const double ratio = q[0] * block->inverse_nn;
    c[0] = q[1] - block->W_tn[0] * ratio;
    c[1] = q[2] - block->W_tn[1] * ratio;
    r[1] = -(block->inverse_K[0] * c[0] + block->inverse_K[1] * c[1]);
    r[2] = -(block->inverse_K[2] * c[0] + block->inverse_K[3] * c[1]);
    r[0] = -(q[0] + block->W_nt[0] * r[1] + block->W_nt[1] * r[2]) * block->inverse_nn;
}

void spragConeBlockSolve(spragConeBlock *block, const double q[3], double r[3])
{
    if (q[0] >= 0) {
        r[0] = r[1] = r[2] = 0;
        return;
    }
    double c[2];
    const double mu = block->mu;
    if (mu <= 0) {
        r[0] = -q[0] * block->inverse_nn, r[1] = r[2] = 0;
        return;
    }
    stickSolve(block, q, c, r);
    if (r[0] >= 0 && r[1] * r[1] + r[2] * r[2] <= mu * mu * r[0] * r[0])
        return;
    slipSolve(block, q, c, 1, mu, r);
}

void spragConeBlockSolveTwoSided(spragConeBlock *block, const double q[3], double r[3])
{
    double c[2];
    stickSolve(block, q, c, r);
    const double stick_mu = r[0] >= 0 ? block->mu : block->mu_minus;
    if (r[1] * r[1] + r[2] * r[2] <= stick_mu * stick_mu * r[0] * r[0])
        return;
    const double side = q[0] <= 0 ? 1 : -1, mu = q[0] <= 0 ? block->mu : block->mu_minus;
    if (q[0] == 0 || mu <= 0) { /* no load, no friction */
        r[0] = -q[0] * block->inverse_nn, r[1] = r[2] = 0;
        return;
    }
    slipSolve(block, q, c, side, mu, r);
}

/* ---------------------------------------------------------------- disc and interval */

/* min 1/2 t' A t + c' t, |t| <= radius; A (2 x 2) positive definite.  Secular equation 1/|t(nu)| = 1/radius. */
static void discSolve(const double A[4], const double c[2], double radius, double t[2])
{
    if (radius <= 0) {
        t[0] = t[1] = 0;
        return;
    }
    tangentialSolve(A, 0, c, t);
    double nu = 0;
    for (int step = 0; step < ROOT_STEP_MAX; ++step) {
        const double size = spragNorm2(t);
        if (size <= radius * (1 + 4 * DBL_EPSILON))
            return;
        double dt[2];
        tangentialSolve(A, nu, t, dt);
        nu += size * size / -(t[0] * dt[0] + t[1] * dt[1]) * (size - radius) / radius; /* monotone from below */
        tangentialSolve(A, nu, c, t);
    }
    const double size = spragNorm2(t);
    t[0] *= radius / size, t[1] *= radius / size;
}

void spragDiscBlockSolve(const double W[9], const double q[3], int line, double lo, double hi, double radius,
                         double r[3])
{
    const int a = line == 0 ? 1 : 0, b = a + 1;
    const double trace = W[0] + W[4] + W[8], W_al = W[3 * a + line], W_bl = W[3 * b + line];
    const double w = W[4 * line] > 0 ? W[4 * line] : 1e-13 * (trace > 0 ? trace : 1);
    double A[4] = {W[3 * a + a], W[3 * a + b], W[3 * b + a], W[3 * b + b]};
    /* The interval row free, eliminated; if it then leaves the interval it sits at the end it left by (convexity). */
    double K[4] = {A[0] - W_al * W[3 * line + a] / w, A[1] - W_al * W[3 * line + b] / w,
                   A[2] - W_bl * W[3 * line + a] / w, A[3] - W_bl * W[3 * line + b] / w};
    const double c[2] = {q[a] - W_al * q[line] / w, q[b] - W_bl * q[line] / w};
    keepSolvable(K, trace);
    keepSolvable(A, trace);
    discSolve(K, c, radius, r + a);
    r[line] = -(q[line] + W[3 * line + a] * r[a] + W[3 * line + b] * r[b]) / w;
    if (r[line] >= lo && r[line] <= hi)
        return;
    r[line] = r[line] < lo ? lo : hi;
    const double d[2] = {q[a] + W_al * r[line], q[b] + W_bl * r[line]};
    discSolve(A, d, radius, r + a);
}

/* ---------------------------------------------------------------- box */

/* Rows with state 0 are free (u = 0), -1 at lo, +1 at hi.  Returns 0 if the free rows are singular. */
static int boxStateSolve(const double W[9], const double q[3], const double bound[3], const int state[3], double r[3])
{
    double A[9], x[3];
    memcpy(A, W, sizeof A);
    for (int i = 0; i < 3; ++i) {
        x[i] = -q[i];
        if (state[i] != 0) {
            A[3 * i] = A[3 * i + 1] = A[3 * i + 2] = 0;
            A[4 * i] = 1;
            x[i] = bound[i];
        }
    }
    double c0[3], c1[3], c2[3];
    spragCross3(c0, A + 3, A + 6), spragCross3(c1, A + 6, A), spragCross3(c2, A, A + 3);
    const double det = spragDot3(A, c0);
    if (!(fabs(det) > 0))
        return 0;
    for (int i = 0; i < 3; ++i)
        r[i] = (c0[i] * x[0] + c1[i] * x[1] + c2[i] * x[2]) / det;
    for (int i = 0; i < 3; ++i)
        if (state[i] != 0)
            r[i] = bound[i];
    return isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]);
}

static double clamp(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

/* What a row that nothing moves carries: the bound that its velocity drives it to, if there is one. */
static double lockedForce(double velocity, double lo, double hi)
{
    const double bound = velocity > 0 ? lo : velocity < 0 ? hi : 0;
    return clamp(isfinite(bound) ? bound : 0, lo, hi);
}

/* Rows that are not coupled, as of a single limit or motor: each goes its own way. */
static int rowsAreApart(const double W[9])
{
    return W[1] == 0 && W[2] == 0 && W[3] == 0 && W[5] == 0 && W[6] == 0 && W[7] == 0 && W[0] > 0 && W[4] > 0 &&
           W[8] > 0;
}

void spragBoxBlockSolve(const double W[9], const double q[3], const double lo[3], const double hi[3], double r[3])
{
    if (rowsAreApart(W)) {
        for (int i = 0; i < 3; ++i) {
            const double free = -q[i] / W[4 * i];
            r[i] = free < lo[i] ? lo[i] : free > hi[i] ? hi[i] : free;
        }
        if (isfinite(r[0] + r[1] + r[2]))
            return;
    }
    static const signed char order[3] = {0, -1, 1}; /* free first */
    double best = INFINITY;
    for (int i = 0; i < 3; ++i)
        r[i] = clamp(0, lo[i], hi[i]); /* of what no states solve */
    for (int code = 0; code < 27 && best > 0; ++code) {
        const int state[3] = {order[code % 3], order[code / 3 % 3], order[code / 9]};
        double bound[3], trial[3], u[3] = {q[0], q[1], q[2]}, worst = 0;
        int possible = 1;
        for (int i = 0; i < 3; ++i) {
            const int locked = !(W[4 * i] > 0);
            bound[i] = locked ? lockedForce(q[i], lo[i], hi[i]) : state[i] < 0 ? lo[i] : state[i] > 0 ? hi[i] : 0;
            possible = possible && isfinite(bound[i]) && (!locked || state[i] < 0);
        }
        if (!possible || !boxStateSolve(W, q, bound, state, trial))
            continue;
        spragMulAdd33(u, W, trial);
        for (int i = 0; i < 3; ++i) {
            const double outside = W[4 * i] * fmax(lo[i] - trial[i], trial[i] - hi[i]);
            const double pulls = lo[i] == hi[i] ? 0 : state[i] < 0 ? -u[i] : u[i]; /* away from its bound */
            const double wrong = !(W[4 * i] > 0) ? 0 : state[i] == 0 ? outside : pulls;
            worst = fmax(worst, wrong);
        }
        if (worst < best) {
            best = worst;
            memcpy(r, trial, sizeof trial);
        }
    }
    for (int i = 0; i < 3; ++i)
        r[i] = clamp(r[i], lo[i], hi[i]);
}

/* ---------------------------------------------------------------- every kind */

void spragLawSolve(const spragProblem *problem, int k, const double W[9], spragConeBlock *cone, double load,
                   const double q[3], double r[3])
{
    const double most = fmax(0, load);
    switch (spragKindOf(problem, k)) {
    case SPRAG_BLOCK_TWO_SIDED:
        spragConeBlockSolveTwoSided(cone, q, r);
        break;
    case SPRAG_BLOCK_FORCE_LIMIT:
        spragDiscBlockSolve(W, q, 0, 0, INFINITY, problem->mu[k], r);
        break;
    case SPRAG_BLOCK_BOX:
        spragBoxBlockSolve(W, q, problem->bound + 6 * (size_t)k, problem->bound + 6 * (size_t)k + 3, r);
        break;
    case SPRAG_BLOCK_ROLLING: {
        const double spin = spragMuMinusOf(problem, k) * most;
        spragDiscBlockSolve(W, q, 2, -spin, spin, problem->mu[k] * most, r);
        break;
    }
    default:
        spragConeBlockSolve(cone, q, r);
    }
}
