/* Subdivision of the torus with a test for no zero and a test for one.
 *
 * On the box |theta - c|_inf <= h Taylor's formula gives, with H_k a bound of the sum of f_k's second derivatives,
 *
 *     | f_k(theta) - f_k(c) - f_k'(c) (theta - c) | <= H_k h^2 / 2.
 *
 * None.  |f_k(c)| > sum_i |d_i f_k(c)| h + H_k h^2 / 2 for some k; or the same after f was multiplied by
 * Y = f'(c)^-1, when the gradient is the identity: |Y f(c)|_i > h + (|Y| H)_i h^2 / 2; or a side condition fails for
 * both signs, by its value and the bounds of its gradient.
 *
 * One.  Let q = max_i (|Y| H)_i 2h.  If q < 1 then theta -> theta - Y f(theta) contracts on the box of half width 2h, so
 * there is at most one zero in the box and, if there is one, the iteration from c stays within 2h and reaches it
 * (Kantorovich's condition with global bounds of the second derivatives, which trigonometric polynomials have).
 *
 * Boxes are halved until one test holds.  What is left at h < pi / 4096 holds a zero with a (nearly) singular Jacobian,
 * or a curve of zeros: one zero of it is sought by damped least squares, and counted as multiple if the side conditions
 * hold there clear of rounding (where det M and adj M b vanish together they do not).  So: every zero is
 * found whose Jacobian is regular at that scale; rounding is far below the bounds and not enclosed.
 */
#include "analysis/torus.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/lu.h"

static const double turn = 6.283185307179586477;
static const int frequency[TORUS_SIDE] = {0, 1, 1, 2, 2};

#define DEEPEST 12
#define BOX_LIMIT 1000000

/* The basis at one angle and its derivative. */
static void basis(double theta, double value[TORUS_SIDE], double slope[TORUS_SIDE])
{
    const double c = cos(theta), s = sin(theta), c2 = (c - s) * (c + s), s2 = 2 * s * c;
    memcpy(value, (double[TORUS_SIDE]){1, c, s, c2, s2}, TORUS_SIDE * sizeof *value);
    memcpy(slope, (double[TORUS_SIDE]){0, -s, c, -2 * s2, 2 * c2}, TORUS_SIDE * sizeof *slope);
}

void torusInterpolate(TorusPolynomial *p, const double value[TORUS_SIZE])
{
    double now[TORUS_SIZE], next[TORUS_SIZE], transform[TORUS_SIDE][TORUS_SIDE], unused[TORUS_SIDE];
    for (int j = 0; j < TORUS_SIDE; ++j) {
        double b[TORUS_SIDE];
        basis(turn * j / TORUS_SIDE, b, unused);
        for (int i = 0; i < TORUS_SIDE; ++i)
            transform[i][j] = b[i] * (i == 0 ? 1 : 2) / TORUS_SIDE;
    }
    memcpy(now, value, sizeof now);
    for (int axis = 0, stride = TORUS_SIZE / TORUS_SIDE; axis < TORUS_DIMENSION; ++axis, stride /= TORUS_SIDE) {
        for (int at = 0; at < TORUS_SIZE; ++at) {
            const int i = at / stride % TORUS_SIDE, base = at - i * stride;
            next[at] = 0;
            for (int j = 0; j < TORUS_SIDE; ++j)
                next[at] += transform[i][j] * now[base + j * stride];
        }
        memcpy(now, next, sizeof now);
    }
    memset(p, 0, sizeof *p);
    memcpy(p->coefficient, now, sizeof now);
    for (int at = 0; at < TORUS_SIZE; ++at) {
        const int n[TORUS_DIMENSION] = {frequency[at / 25], frequency[at / 5 % 5], frequency[at % 5]};
        const double c = fabs(now[at]);
        p->size += c;
        p->curvature += c * (n[0] + n[1] + n[2]) * (n[0] + n[1] + n[2]);
        for (int i = 0; i < TORUS_DIMENSION; ++i)
            p->slope[i] += c * n[i];
    }
}

double torusValue(const TorusPolynomial *p, const double *theta, double *gradient)
{
    double b[TORUS_DIMENSION][TORUS_SIDE], d[TORUS_DIMENSION][TORUS_SIDE], value = 0, g[TORUS_DIMENSION] = {0};
    for (int i = 0; i < TORUS_DIMENSION; ++i)
        basis(theta[i], b[i], d[i]);
    for (int i = 0; i < TORUS_SIDE; ++i) {
        double plane = 0, plane1 = 0, plane2 = 0;
        for (int j = 0; j < TORUS_SIDE; ++j) {
            const double *c = p->coefficient + TORUS_SIDE * (TORUS_SIDE * i + j);
            double line = 0, line2 = 0;
            for (int k = 0; k < TORUS_SIDE; ++k)
                line += c[k] * b[2][k], line2 += c[k] * d[2][k];
            plane += line * b[1][j], plane1 += line * d[1][j], plane2 += line2 * b[1][j];
        }
        value += plane * b[0][i];
        g[0] += plane * d[0][i], g[1] += plane1 * b[0][i], g[2] += plane2 * b[0][i];
    }
    if (gradient != NULL)
        memcpy(gradient, g, sizeof g);
    return value;
}

/* f (s) and its Jacobian J (s x s) */
static void evaluate(const TorusSystem *system, const double *theta, double *f, double *J)
{
    for (int k = 0; k < system->angles; ++k) {
        double gradient[TORUS_DIMENSION];
        f[k] = torusValue(&system->f[k], theta, gradient);
        memcpy(J + system->angles * k, gradient, (size_t)system->angles * sizeof *J);
    }
}

static int signsFail(const TorusSystem *system, const double *c, double h)
{
    int possible = 3; /* bit 0: t = +1, bit 1: t = -1 */
    for (int k = 0; k < system->sign_count && possible; ++k) {
        const TorusPolynomial *p = &system->sign[k];
        const double value = torusValue(p, c, NULL);
        double reach = -system->least[k];
        for (int i = 0; i < system->angles; ++i)
            reach += p->slope[i] * h;
        if (value + reach <= 0)
            possible &= ~1;
        if (-value + reach <= 0)
            possible &= ~2;
    }
    return !possible;
}

/* The side conditions at a point, clear of rounding. */
static int signsHold(const TorusSystem *system, const double *theta)
{
    int possible = 3;
    for (int k = 0; k < system->sign_count; ++k) {
        const double value = torusValue(&system->sign[k], theta, NULL);
        const double least = fmax(system->least[k], 1e-9 * system->sign[k].size);
        possible &= (value > least) | (value < -least) << 1;
    }
    return possible != 0;
}

static double wrap(double angle)
{
    return angle - turn * nearbyint(angle / turn);
}

/* Adds a zero unless it is known; two that nearly coincide are one multiple zero. */
static void add(const TorusSystem *system, TorusZeros *zeros, const double *theta, int multiplicity)
{
    const double near = multiplicity > 1 ? 1e-5 : 1e-9;
    for (int z = 0; z < zeros->count; ++z) {
        double distance = 0;
        for (int i = 0; i < system->angles; ++i)
            distance = fmax(distance, fabs(wrap(theta[i] - zeros->zero[z].angle[i])));
        if (distance < near)
            return;
    }
    if (zeros->count == TORUS_ZEROS) {
        zeros->incomplete = 1;
        return;
    }
    TorusZero *zero = &zeros->zero[zeros->count++];
    *zero = (TorusZero){.multiplicity = multiplicity};
    for (int i = 0; i < system->angles; ++i)
        zero->angle[i] = wrap(theta[i]);
}

/* J := its inverse; 0 if singular. */
static int invert(int n, double *J)
{
    double factor[TORUS_DIMENSION * TORUS_DIMENSION];
    int pivot[TORUS_DIMENSION];
    memcpy(factor, J, (size_t)(n * n) * sizeof *J);
    if (spragLuFactor(n, factor, pivot, 1e-14) < n)
        return 0;
    for (int j = 0; j < n; ++j) {
        double column[TORUS_DIMENSION] = {0};
        column[j] = 1;
        spragLuSolve(n, factor, pivot, column);
        for (int i = 0; i < n; ++i)
            J[n * i + j] = column[i];
    }
    return 1;
}

/* Iterates theta -> theta - Y f(theta), then Newton's steps for the last digits.  1: converged within 2h of c. */
static int contract(const TorusSystem *system, const double *c, double h, const double *Y, double *theta)
{
    const int n = system->angles;
    double f[TORUS_DIMENSION], J[TORUS_DIMENSION * TORUS_DIMENSION], last = INFINITY;
    memcpy(theta, c, TORUS_DIMENSION * sizeof *theta);
    for (int round = 0; round < 200; ++round) {
        double size = 0, away = 0;
        evaluate(system, theta, f, J);
        if (last < 1e-4 && !invert(n, J))
            return 0;
        const double *inverse = last < 1e-4 ? J : Y;
        for (int i = 0; i < n; ++i) {
            double step = 0;
            for (int j = 0; j < n; ++j)
                step += inverse[n * i + j] * f[j];
            theta[i] -= step;
            size = fmax(size, fabs(step));
            away = fmax(away, fabs(theta[i] - c[i]));
        }
        if (away > 2 * h)
            return 0;
        if (size <= 4 * DBL_EPSILON || (size < 1e-11 && size >= last))
            return away <= h * (1 + 1e-9) + 1e-12;
        last = size;
    }
    return 0;
}

/* A zero near c where the Jacobian is singular: Levenberg's steps, accepted where f vanishes to rounding. */
static int creep(const TorusSystem *system, const double *c, double h, double *theta)
{
    const int n = system->angles;
    double f[TORUS_DIMENSION], J[TORUS_DIMENSION * TORUS_DIMENSION];
    memcpy(theta, c, TORUS_DIMENSION * sizeof *theta);
    for (int round = 0; round < 60; ++round) {
        double M[TORUS_DIMENSION * TORUS_DIMENSION] = {0}, g[TORUS_DIMENSION] = {0}, trace = 0, value = 0;
        int pivot[TORUS_DIMENSION];
        evaluate(system, theta, f, J);
        for (int k = 0; k < n; ++k) {
            const double scale = system->f[k].size > 0 ? 1 / system->f[k].size : 0; /* equations without units */
            value = fmax(value, fabs(f[k]) * scale);
            for (int i = 0; i < n; ++i) {
                g[i] += J[n * k + i] * f[k] * scale * scale;
                for (int j = 0; j < n; ++j)
                    M[n * i + j] += J[n * k + i] * J[n * k + j] * scale * scale;
            }
        }
        if (value < 1e-14)
            return 1;
        for (int i = 0; i < n; ++i)
            trace += M[n * i + i];
        for (int i = 0; i < n; ++i)
            M[n * i + i] += 1e-10 * trace + DBL_MIN;
        if (spragLuFactor(n, M, pivot, 0) < n)
            return 0;
        spragLuSolve(n, M, pivot, g);
        for (int i = 0; i < n; ++i) {
            theta[i] -= g[i];
            if (fabs(theta[i] - c[i]) > 4 * h)
                return 0;
        }
    }
    return 0;
}

static void search(const TorusSystem *system, const double *c, double h, int depth, TorusZeros *zeros)
{
    const int n = system->angles;
    double f[TORUS_DIMENSION], J[TORUS_DIMENSION * TORUS_DIMENSION], theta[TORUS_DIMENSION];
    if (zeros->incomplete || ++zeros->boxes > BOX_LIMIT) {
        zeros->incomplete = 1;
        return;
    }
    if (signsFail(system, c, h))
        return;
    evaluate(system, c, f, J);
    for (int k = 0; k < n; ++k) {
        double reach = 0.5 * system->f[k].curvature * h * h;
        for (int i = 0; i < n; ++i)
            reach += fabs(J[n * k + i]) * h;
        if (fabs(f[k]) > reach)
            return;
    }
    if (invert(n, J)) {
        double worst = 0;
        for (int i = 0; i < n; ++i) {
            double step = 0, bend = 0;
            for (int k = 0; k < n; ++k) {
                step += J[n * i + k] * f[k];
                bend += fabs(J[n * i + k]) * system->f[k].curvature;
            }
            if (fabs(step) > h + 0.5 * bend * h * h)
                return;
            worst = fmax(worst, bend);
        }
        if (worst * 2 * h < 0.9) {
            if (contract(system, c, h, J, theta))
                add(system, zeros, theta, 1);
            return;
        }
    }
    if (depth == DEEPEST) {
        if (creep(system, c, h, theta) && signsHold(system, theta))
            add(system, zeros, theta, 2);
        return;
    }
    for (int corner = 0; corner < 1 << n; ++corner) {
        double child[TORUS_DIMENSION] = {0};
        for (int i = 0; i < n; ++i)
            child[i] = c[i] + ((corner >> i & 1) ? 0.5 : -0.5) * h;
        search(system, child, 0.5 * h, depth + 1, zeros);
    }
}

void torusSolve(const TorusSystem *system, TorusZeros *zeros)
{
    /* off the axes: there the zeros of planar problems would lie on the faces of boxes */
    double c[TORUS_DIMENSION] = {0};
    for (int i = 0; i < system->angles; ++i)
        c[i] = 0.1234567 + 0.0456789 * i;
    zeros->count = zeros->incomplete = 0;
    zeros->boxes = 0;
    search(system, c, 0.5 * turn, 0, zeros);
}
