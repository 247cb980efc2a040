/* Subdivision of the torus with a test for no zero and a test for one.
 *
 * In a box |theta - c|_inf <= h let s = sin(theta_i - c_i) and v = 1 - cos(theta_i - c_i), so that s^2 = 2 v - v^2.  A
 * trigonometric polynomial of degree two in theta_i is a combination of
 *
 *     1,  s,  v,  s v,  v^2,       bounded by  1,  sin h,  V = 1 - cos h,  V sin h,  V^2,
 *
 * and in several angles of their products: value, slopes, and a rest R(theta),
 * |R| <= rho, that is small of second order.
 *
 * None.  |f_k| > sum_i |slope_ki| sin h + rho_k at c for some k; or the same after f was multiplied by Y, the inverse
 * of the slopes: |Y f|_i > sin h + rho_i(Y f); or a side condition fails for both signs; or what the caller knows
 * besides excludes the box (system->possible).
 *
 * One.  Let q bound the row sums of the derivative of theta - Y f(theta) on the box of half width 2h.  If q < 1 this
 * map contracts there, so there is at most one zero in the box and, if there is one, the iteration from c stays within
 * 2h and reaches it (Kantorovich's condition).
 *
 * All boxes of one size are looked at before their halves.  What no test decides before h reaches the size at which
 * rounding of f hides whether zeros are one or two is a multiple zero, sought by damped least squares, and counted if
 * the side conditions hold there clear of rounding (where det M and adj M b vanish together they do not).  Too many
 * boxes of one size lie along a curve of zeros: it is represented by some of its points, and the boxes from which least
 * squares lead to it are done with.  Rounding is enclosed where f itself excludes a box, which decides on touching
 * zeros; elsewhere it is far below the bounds. */
#include "analysis/torus.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/lu.h"

#define FINEST 1e-7 /* rad: half width where rounding of f hides whether zeros are one or two */
#define CURVE 1e-9  /* of the size of f: where it stays below that along a curve, the zeros are taken for a continuum */
#define ROUNDING (16 * DBL_EPSILON) /* of the size of f: what its values are uncertain by */
#define CLEAR 1e-9                  /* of the size of a side condition: where it is more than rounding */
#define FINE 1e-5                   /* rad: half width below which linear programs say nothing more */

/* The basis at one angle and its derivative. */
static void basis(double theta, double value[TORUS_SIDE], double slope[TORUS_SIDE])
{
    const double c = cos(theta), s = sin(theta), c2 = (c - s) * (c + s), s2 = 2 * s * c;
    memcpy(value, (double[TORUS_SIDE]){1, c, s, c2, s2}, TORUS_SIDE * sizeof *value);
    memcpy(slope, (double[TORUS_SIDE]){0, -s, c, -2 * s2, 2 * c2}, TORUS_SIDE * sizeof *slope);
}

void spragTorusInterpolate(TorusPolynomial *p, const double value[TORUS_SIZE])
{
    double now[TORUS_SIZE], next[TORUS_SIZE], transform[TORUS_SIDE][TORUS_SIDE], unused[TORUS_SIDE];
    for (int j = 0; j < TORUS_SIDE; ++j) {
        double b[TORUS_SIDE];
        basis(2 * M_PI * j / TORUS_SIDE, b, unused);
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
    for (int at = 0; at < TORUS_SIZE; ++at)
        p->size += fabs(now[at]);
}

double spragTorusValue(const TorusPolynomial *p, const double *theta, double *gradient)
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
        f[k] = spragTorusValue(&system->f[k], theta, gradient);
        memcpy(J + system->angles * k, gradient, (size_t)system->angles * sizeof *J);
    }
}

/* ---------------------------------------------------------------- around a centre */

enum { STRIDE0 = TORUS_SIDE * TORUS_SIDE, STRIDE1 = TORUS_SIDE };
static const int stride[TORUS_DIMENSION] = {STRIDE0, STRIDE1, 1};

/* Coefficients of the products of 1, s, v, s v, v^2, stored as those of the polynomial. */
typedef struct Local {
    double a[TORUS_SIZE];
} Local;

/* In one angle: a0 + a1 cos + b1 sin + a2 cos 2 + b2 sin 2 at c + delta, cos and sin of c and 2c given. */
static void shiftLine(double *a, int step, const double *c)
{
    const double a0 = a[0], A1 = a[step] * c[1] + a[2 * step] * c[2], B1 = a[2 * step] * c[1] - a[step] * c[2];
    const double A2 = a[3 * step] * c[3] + a[4 * step] * c[4], B2 = a[4 * step] * c[3] - a[3 * step] * c[4];
    a[0] = a0 + A1 + A2;
    a[step] = B1 + 2 * B2;
    a[2 * step] = -A1 - 4 * A2;
    a[3 * step] = -2 * B2;
    a[4 * step] = 2 * A2;
}

/* cs (n x 5): the basis at c. */
static void shift(int n, const TorusPolynomial *p, double cs[][TORUS_SIDE], Local *out)
{
    const int lines[TORUS_DIMENSION] = {n > 2 ? TORUS_SIDE : 1, n > 1 ? TORUS_SIDE : 1, TORUS_SIDE};
    memcpy(out->a, p->coefficient, sizeof out->a);
    for (int j = 0; j < lines[1]; ++j)
        for (int k = 0; k < lines[0]; ++k)
            shiftLine(out->a + STRIDE1 * j + k, STRIDE0, cs[0]);
    for (int i = 0; i < lines[2] && n > 1; ++i)
        for (int k = 0; k < lines[0]; ++k)
            shiftLine(out->a + STRIDE0 * i + k, STRIDE1, cs[1]);
    for (int i = 0; i < lines[2] * TORUS_SIDE && n > 2; ++i)
        shiftLine(out->a + STRIDE1 * i, 1, cs[2]);
}

/* Bounds of the five functions on |delta| <= h, and of their derivatives. */
typedef struct Reach {
    double value[TORUS_SIDE], slope[TORUS_SIDE];
} Reach;

static Reach reachOf(double h)
{
    const double S = sin(h), V = 2 * sin(0.5 * h) * sin(0.5 * h);
    return (Reach){{1, S, V, S * V, V * V}, {0, 1, S, V + S * S, 2 * S * V}};
}

/* sum |a| bound over all terms but the constant. */
static double swing(int n, const Local *f, const Reach *reach)
{
    double sum = 0;
    const double *b = reach->value;
    for (int i = 0; i < TORUS_SIDE; ++i)
        for (int j = 0; j < (n > 1 ? TORUS_SIDE : 1); ++j) {
            const double *a = f->a + STRIDE0 * i + STRIDE1 * j;
            double line = fabs(a[0]);
            for (int k = 1; k < (n > 2 ? TORUS_SIDE : 1); ++k)
                line += fabs(a[k]) * b[k];
            sum += line * b[i] * b[j];
        }
    return sum - fabs(f->a[0]);
}

/* Bound of sum_i |d f / d theta_i| where the slopes at the centre are those of the unit vector `axis`, less that. */
static double turning(int n, const Local *f, const Reach *reach, int axis)
{
    double sum = 1 - cos(asin(reach->value[1])) - fabs(f->a[stride[axis]]);
    const double *b = reach->value, *d = reach->slope;
    for (int i = 0; i < TORUS_SIDE; ++i)
        for (int j = 0; j < (n > 1 ? TORUS_SIDE : 1); ++j)
            for (int k = 0; k < (n > 2 ? TORUS_SIDE : 1); ++k)
                sum += fabs(f->a[STRIDE0 * i + STRIDE1 * j + k]) *
                       (d[i] * b[j] * b[k] + b[i] * d[j] * b[k] + b[i] * b[j] * d[k]);
    return sum;
}

static int signsFail(const TorusSystem *system, double cs[][TORUS_SIDE], const Reach *reach)
{
    const int n = system->angles;
    int possible = 3; /* bit 0: t = +1, bit 1: t = -1 */
    for (int k = 0; k < system->sign_count && possible; ++k) {
        Local p;
        shift(n, &system->sign[k], cs, &p);
        const double up = swing(n, &p, reach) - system->least[k];
        if (p.a[0] + up <= 0)
            possible &= ~1;
        if (-p.a[0] + up <= 0)
            possible &= ~2;
    }
    return !possible;
}

/* The side conditions at a point; clear: by more than this part of their size. */
static int signsHold(const TorusSystem *system, const double *theta, double clear)
{
    int possible = 3;
    for (int k = 0; k < system->sign_count; ++k) {
        const double value = spragTorusValue(&system->sign[k], theta, NULL);
        const double least = clear > 0 ? fmax(system->least[k], clear * system->sign[k].size) : system->least[k];
        possible &= (value > least) | (value < -least) << 1;
    }
    return possible != 0;
}

static double wrap(double angle)
{
    return angle - 2 * M_PI * nearbyint(angle / (2 * M_PI));
}

/* Adds a zero unless it is known; two that nearly coincide are one multiple zero; of a curve a few will do. */
static void add(const TorusSystem *system, TorusZeros *zeros, const double *theta, int multiplicity, int curve)
{
    const double near = curve ? 0.2 : multiplicity > 1 ? 1e-5 : 0.5 * FINEST;
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
    *zero = (TorusZero){.multiplicity = multiplicity, .curve = curve};
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

/* Iterates theta -> theta - Y f(theta), then Newton's steps until rounding of f ends their progress.  1: the zero is in
 * the box of half width h around c, to within the last step. */
static int contract(const TorusSystem *system, const double *c, double h, const double *Y, double *theta)
{
    const int n = system->angles;
    double f[TORUS_DIMENSION], J[TORUS_DIMENSION * TORUS_DIMENSION], last = INFINITY;
    int newton = 0;
    memcpy(theta, c, TORUS_DIMENSION * sizeof *theta);
    for (int round = 0; round < 400; ++round) {
        const int newton_before = newton;
        double size = 0, away = 0;
        newton |= last < fmin(1e-4, 0.1 * h);
        evaluate(system, theta, f, J);
        if (newton && !invert(n, J))
            memcpy(J, Y, (size_t)(n * n) * sizeof *J);
        for (int i = 0; i < n; ++i) {
            double step = 0;
            for (int j = 0; j < n; ++j)
                step += (newton ? J : Y)[n * i + j] * f[j];
            theta[i] -= step;
            size = fmax(size, fabs(step));
            away = fmax(away, fabs(theta[i] - c[i]));
        }
        if (away > 2 * h)
            return 0;
        if (size <= 4 * DBL_EPSILON || (newton_before && size >= 0.5 * last))
            return away <= h * (1 + 1e-9) + 2 * size;
        last = size;
    }
    return 0;
}

/* A zero near c where the Jacobian is singular: Levenberg's steps, accepted where
 * f, divided by its size, is below `zero`. */
static int creep(const TorusSystem *system, const double *c, double h, double zero, double *theta)
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
        if (value < zero)
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

/* What is left of a box: NONE, ONE zero at theta, or both halves of every angle to look at. */
typedef enum Verdict { NONE, ONE, MORE } Verdict;

static Verdict examine(const TorusSystem *system, const double *c, double h, double *theta)
{
    const int n = system->angles;
    const Reach reach = reachOf(h);
    double cs[TORUS_DIMENSION][TORUS_SIDE], unused[TORUS_SIDE], Y[TORUS_DIMENSION * TORUS_DIMENSION];
    Local f[TORUS_DIMENSION];
    for (int i = 0; i < n; ++i)
        basis(c[i], cs[i], unused);
    for (int k = 0; k < n; ++k) {
        shift(n, &system->f[k], cs, &f[k]);
        if (fabs(f[k].a[0]) > swing(n, &f[k], &reach) + ROUNDING * system->f[k].size)
            return NONE;
        for (int i = 0; i < n; ++i)
            Y[n * k + i] = f[k].a[stride[i]];
    }
    if (signsFail(system, cs, &reach))
        return NONE;
    if (invert(n, Y)) {
        const Reach twice = reachOf(2 * h);
        double worst = 0;
        for (int i = 0; i < n; ++i) {
            Local g = {{0}};
            double rounding = 0;
            for (int k = 0; k < n; ++k) {
                rounding += ROUNDING * fabs(Y[n * i + k]) * system->f[k].size;
                for (int at = 0; at < TORUS_SIZE; ++at)
                    g.a[at] += Y[n * i + k] * f[k].a[at];
            }
            if (fabs(g.a[0]) > swing(n, &g, &reach) + rounding)
                return NONE;
            worst = fmax(worst, turning(n, &g, &twice, i));
        }
        if (worst < 0.9)
            return contract(system, c, h, Y, theta) && signsHold(system, theta, 0) ? ONE : NONE;
    }
    return h < FINE || system->possible(system->context, c, h) ? MORE : NONE;
}

/* 1 if the Jacobian at theta is as good as singular. */
static int isSingular(const TorusSystem *system, const double *theta)
{
    double f[TORUS_DIMENSION], J[TORUS_DIMENSION * TORUS_DIMENSION];
    int pivot[TORUS_DIMENSION];
    evaluate(system, theta, f, J);
    return spragLuFactor(system->angles, J, pivot, 1e-7) < system->angles;
}

/* Boxes that are left where they are too many lie along curves of zeros, or surfaces.  Takes those off the list (count,
 * of half width h) and keeps a zero here and there if it counts; returns how many boxes are left. */
static int thin(const TorusSystem *system, TorusBox *list, int count, double h, TorusZeros *zeros)
{
    int left = 0;
    double theta[TORUS_DIMENSION];
    for (int k = 0; k < count; ++k) {
        if (!creep(system, list[k].c, h, CURVE, theta) || !isSingular(system, theta))
            list[left++] = list[k];
        else if (signsHold(system, theta, CLEAR))
            add(system, zeros, theta, 2, 1);
    }
    return left;
}

/* Looks at the halves of a box, h their half width, and appends those left to the list.  0: it is full. */
static int halve(const TorusSystem *system, const double *c, double h, TorusBox *list, int *count, TorusZeros *zeros)
{
    const int n = system->angles;
    for (int corner = 0; corner < 1 << n; ++corner) {
        TorusBox half = {{0}};
        double theta[TORUS_DIMENSION];
        for (int i = 0; i < n; ++i)
            half.c[i] = c[i] + ((corner >> i & 1) ? h : -h);
        const Verdict verdict = examine(system, half.c, h, theta);
        if (verdict == ONE)
            add(system, zeros, theta, 1, 0);
        if (verdict == MORE && *count == TORUS_BOXES)
            return 0;
        if (verdict == MORE)
            list[(*count)++] = half;
    }
    return 1;
}

void spragTorusSolve(const TorusSystem *system, TorusZeros *zeros)
{
    const int n = system->angles;
    TorusBox *list = zeros->list[0], *next = zeros->list[1];
    double theta[TORUS_DIMENSION], h = 0.5 * M_PI;
    int count = 0;
    zeros->count = zeros->incomplete = 0;
    /* off the axes: there the zeros of planar problems would lie on the faces of boxes */
    for (; count < 1 << n; ++count)
        for (int i = 0; i < n; ++i)
            list[count].c[i] = 0.1234567 + 0.0456789 * i + 2 * h * (count >> i & 1);
    while (count > 0 && h > FINEST) {
        int kept = 0, room = 1;
        for (int k = 0; k < count && room; ++k)
            room = halve(system, list[k].c, 0.5 * h, next, &kept, zeros);
        if (!room) {
            const int left = thin(system, list, count, h, zeros);
            if (left == count) {
                zeros->incomplete = 1;
                return;
            }
            count = left;
            continue;
        }
        TorusBox *const swap = list;
        list = next, next = swap;
        count = kept;
        h *= 0.5;
    }
    for (int k = 0; k < count; ++k)
        if (creep(system, list[k].c, h, 1e-14, theta) && signsHold(system, theta, CLEAR))
            add(system, zeros, theta, 2, 0);
}
