/* One contact alone: u = W r + q with its own 3x3 block.  Every solution, exactly.
 *
 *     open    r = 0,            u_n = q_n >= 0
 *     stick   u = 0,            r = -W^-1 q in the cone
 *     slip    u_n = 0,          r = N (1, -mu e),  u_t = s e,  s > 0,  N > 0,  |e| = 1
 *
 * Slip.  With d(e) = W_nn - mu W_nt.e the normal equation gives N = -q_n / d(e).  Put into u_t and times d(e):
 *
 *     A e + c = nu e,   A = mu (q_n W_tt - q_t W_nt'),   c = W_nn q_t - q_n W_tn,   nu = s d(e).
 *
 * So directions are the zeros of f(theta) = e_perp . (A e + c), a trigonometric polynomial of degree two: at most four.
 * (Ivanov 2009, 5.14 to 5.21, eliminates e instead and gets a quartic in nu; its coefficients degenerate in planar
 * problems, where c is an eigenvector of A.  f does not: tried and dropped.)
 *
 * A slip branch is stable in the normal direction iff d > 0, in the direction iff de_perp.u_t / dtheta = f' / d < 0
 * (docs/theory.md 4).  A two-sided contact has N of either sign, with mu -> -mu_minus where N < 0.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/roots.h"
#include "linalg/vec3.h"
#include "solve/contact/local.h"

/* ---------------------------------------------------------------- slip directions */

/* f(theta) = a0 + a1 cos + b1 sin + a2 cos 2 theta + b2 sin 2 theta */
typedef struct Direction {
    double a0, a1, b1, a2, b2;
} Direction;

static Direction directionEquation(const double A[4], const double c[2])
{
    return (Direction){0.5 * (A[2] - A[1]), c[1], -c[0], 0.5 * (A[2] + A[1]), 0.5 * (A[3] - A[0])};
}

/* f at e = (cos, sin), and its derivative. */
static double directionValue(const Direction *f, const double e[2])
{
    const double c2 = e[0] * e[0] - e[1] * e[1], s2 = 2 * e[0] * e[1];
    return f->a0 + f->a1 * e[0] + f->b1 * e[1] + f->a2 * c2 + f->b2 * s2;
}

static double directionSlope(const Direction *f, const double e[2])
{
    const double c2 = e[0] * e[0] - e[1] * e[1], s2 = 2 * e[0] * e[1];
    return -f->a1 * e[1] + f->b1 * e[0] - 2 * f->a2 * s2 + 2 * f->b2 * c2;
}

/* f as seen from theta + turn, turn = (cos, sin). */
static Direction directionTurn(const Direction *f, const double turn[2])
{
    const double c = turn[0], s = turn[1], c2 = c * c - s * s, s2 = 2 * c * s;
    return (Direction){f->a0, f->a1 * c + f->b1 * s, f->b1 * c - f->a1 * s, f->a2 * c2 + f->b2 * s2,
                       f->b2 * c2 - f->a2 * s2};
}

/* Of 16 directions the one on which |f| is largest; no trigonometry: this runs for every contact. */
static double largestDirection(const Direction *f, double axis[2])
{
    static const double quarter[4][2] = {{0.98078528040323044913, 0.19509032201612826785}, /* odd multiples of pi/16 */
                                         {0.83146961230254523708, 0.55557023301960222474},
                                         {0.55557023301960222474, 0.83146961230254523708},
                                         {0.19509032201612826785, 0.98078528040323044913}};
    double largest = -1;
    for (int k = 0; k < 16; ++k) {
        const double *q = quarter[k % 4];
        const double e[4][2] = {{q[0], q[1]}, {-q[1], q[0]}, {-q[0], -q[1]}, {q[1], -q[0]}};
        const double value = fabs(directionValue(f, e[k / 4]));
        if (value > largest) {
            largest = value;
            memcpy(axis, e[k / 4], 2 * sizeof *axis);
        }
    }
    return largest;
}

/* Zeros of f where it is odd about a tangent: rods, wheels and whatever else moves in a plane.  Along that tangent
 * f = sin phi (m + n cos phi).  -1: it is not. */
static int mirroredDirections(const Direction *f, double e[4][2])
{
    const double size = DBL_EPSILON * (fabs(f->a1) + fabs(f->b1) + fabs(f->b2)), even = fabs(f->a0) + fabs(f->a2);
    const int about_first = even + fabs(f->a1) <= size, about_second = even + fabs(f->b1) <= size;
    if (!about_first && !about_second)
        return -1;
    const double axis[2] = {about_first, !about_first};
    const double m = about_first ? f->b1 : f->a1, n = 2 * f->b2;
    int count = 0;
    for (int side = 1; side >= -1; side -= 2, ++count)
        e[count][0] = side * axis[0], e[count][1] = side * axis[1];
    if (!(fabs(m) < fabs(n)))
        return fabs(m) + fabs(n) > 0 ? count : 0;
    const double c = -m / n, s = sqrt((1 - c) * (1 + c));
    for (int side = 1; side >= -1; side -= 2, ++count) {
        e[count][0] = c * axis[0] - side * s * axis[1];
        e[count][1] = c * axis[1] + side * s * axis[0];
    }
    return count;
}

/* Zeros of f by the roots of a quartic.  t = tan(theta / 2) from the direction opposite to one on which f is large, so
 * that no zero is near t = inf. */
static int quarticDirections(const Direction *f, double e[4][2])
{
    double axis[2];
    if (!(largestDirection(f, axis) > 0))
        return 0; /* f = 0: every direction balances, u_t = 0 in all of them: not a slip */
    const double zero[2] = {-axis[0], -axis[1]};
    const Direction g = directionTurn(f, zero);
    const double a[] = {g.a0 + g.a1 + g.a2, 2 * g.b1 + 4 * g.b2, 2 * g.a0 - 6 * g.a2, 2 * g.b1 - 4 * g.b2,
                        g.a0 - g.a1 + g.a2};
    double bound = 0, root[SPRAG_ROOTS_DEGREE];
    for (int k = 0; k < SPRAG_ROOTS_DEGREE; ++k)
        bound = fmax(bound, fabs(a[k] / a[SPRAG_ROOTS_DEGREE]));
    const int count = spragRealRoots(SPRAG_ROOTS_DEGREE, a, 1 + bound, root); /* Cauchy's bound */
    for (int k = 0; k < count; ++k) {
        const double t = root[k], norm = 1 + t * t, c = (1 - t * t) / norm, s = 2 * t / norm;
        e[k][0] = c * zero[0] - s * zero[1];
        e[k][1] = s * zero[0] + c * zero[1];
    }
    return count;
}

/* All zeros of f as unit vectors; at most 4. */
static int directions(const Direction *f, double e[4][2])
{
    int count = mirroredDirections(f, e);
    if (count < 0)
        count = quarticDirections(f, e);
    for (int k = 0; k < count; ++k)
        for (int i = 0; i < 2; ++i) { /* polish in theta: t loses digits far from 0 */
            const double slope = directionSlope(f, e[k]);
            const double step = slope != 0 ? -directionValue(f, e[k]) / slope : 0;
            if (!(fabs(step) < 1e-3) || step == 0)
                break;
            const double x = e[k][0] - step * e[k][1], y = e[k][1] + step * e[k][0], length = sqrt(x * x + y * y);
            e[k][0] = x / length;
            e[k][1] = y / length;
        }
    return count;
}

/* What rounding leaves of u_t, m/s. */
static double roundingOf(const double W[9], const double q[3], const double r[3])
{
    double size = 0;
    for (int i = 1; i < 3; ++i) {
        size += fabs(q[i]);
        for (int j = 0; j < 3; ++j)
            size += fabs(W[3 * i + j] * r[j]);
    }
    return 8 * DBL_EPSILON * size;
}

/* sticks: a solution without slip is known.  Where a guide holds the body across one direction, friction at its limit
 * may point anywhere and still nothing slips: such directions are no solutions of their own. */
static int addSlips(const double W[9], const double q[3], double mu, int sign, int sticks, spragLocalSolution *out)
{
    const double signed_mu = sign * mu;
    const double A[4] = {signed_mu * (q[0] * W[4] - q[1] * W[1]), signed_mu * (q[0] * W[5] - q[1] * W[2]),
                         signed_mu * (q[0] * W[7] - q[2] * W[1]), signed_mu * (q[0] * W[8] - q[2] * W[2])};
    const double c[2] = {W[0] * q[1] - q[0] * W[3], W[0] * q[2] - q[0] * W[6]};
    const Direction f = directionEquation(A, c);
    double direction[4][2];
    const int candidates = directions(&f, direction);
    int count = 0;
    for (int k = 0; k < candidates; ++k) {
        const double *e = direction[k];
        const double d = W[0] - signed_mu * (W[1] * e[0] + W[2] * e[1]);
        const double N = d != 0 ? -q[0] / d : 0;
        if (!(N * sign > 0))
            continue;
        spragLocalSolution s = {.r = {N, -signed_mu * N * e[0], -signed_mu * N * e[1]}, .mode = SPRAG_MODE_SLIP};
        memcpy(s.u, q, sizeof s.u);
        spragMulAdd33(s.u, W, s.r);
        s.u[0] = 0; /* exact in exact arithmetic; the residual judges */
        if (!(s.u[1] * e[0] + s.u[2] * e[1] > (sticks ? roundingOf(W, q, s.r) : 0)))
            continue;
        s.normal_stable = d > 0;
        s.direction_stable = directionSlope(&f, e) / d < 0;
        out[count++] = s;
    }
    return count;
}

/* ---------------------------------------------------------------- stick */

/* x = -W^-1 q by elimination with diagonal pivots (W is positive semidefinite); a zero pivot takes x_i = 0.
 * 0 if the remaining equation of a zero pivot is not satisfied: u = 0 cannot be reached. */
static int eliminate(const double W[9], const double q[3], double x[3])
{
    double a[3][4];
    int order[3] = {0, 1, 2};
    const double size = fabs(W[0]) + fabs(W[4]) + fabs(W[8]);
    const double tiny = 1e-13 * size;
    for (int i = 0; i < 3; ++i) {
        memcpy(a[i], W + 3 * i, 3 * sizeof(double));
        a[i][3] = -q[i];
    }
    int rank = 0;
    for (; rank < 3; ++rank) {
        int best = rank;
        for (int i = rank + 1; i < 3; ++i)
            if (fabs(a[order[i]][order[i]]) > fabs(a[order[best]][order[best]]))
                best = i;
        const int swap = order[rank];
        order[rank] = order[best];
        order[best] = swap;
        const int p = order[rank];
        if (fabs(a[p][p]) <= tiny)
            break;
        for (int i = rank + 1; i < 3; ++i) {
            const int row = order[i];
            const double factor = a[row][p] / a[p][p];
            for (int j = 0; j < 4; ++j)
                a[row][j] -= factor * a[p][j];
        }
    }
    x[0] = x[1] = x[2] = 0;
    for (int i = rank; i < 3; ++i)
        if (fabs(a[order[i]][3]) > 1e-12 * (fabs(q[0]) + fabs(q[1]) + fabs(q[2])))
            return 0;
    for (int i = rank - 1; i >= 0; --i) {
        const int p = order[i];
        double sum = a[p][3];
        for (int j = i + 1; j < rank; ++j)
            sum -= a[p][order[j]] * x[order[j]];
        x[p] = sum / a[p][p];
    }
    return 1;
}

/* The same with one step of refinement: a sticking contact must not creep. */
static int stickImpulse(const double W[9], const double q[3], double x[3])
{
    if (!eliminate(W, q, x))
        return 0;
    double rest[3] = {q[0], q[1], q[2]}, correction[3];
    spragMulAdd33(rest, W, x);
    const double largest = fabs(rest[0]) + fabs(rest[1]) + fabs(rest[2]);
    if (largest > 0 && largest < 1e-8 * (fabs(q[0]) + fabs(q[1]) + fabs(q[2])) && eliminate(W, rest, correction))
        for (int i = 0; i < 3; ++i)
            x[i] += correction[i];
    return 1;
}

/* ---------------------------------------------------------------- all solutions */

int spragLocalEnumerate(spragBlockKind kind, const double W[9], const double q[3], double mu, double mu_minus,
                        spragLocalSolution solution[SPRAG_LOCAL_MAX])
{
    const int two_sided = kind == SPRAG_BLOCK_TWO_SIDED;
    int count = 0;
    if (!two_sided && q[0] >= 0)
        solution[count++] = (spragLocalSolution){
            .u = {q[0], q[1], q[2]}, .mode = SPRAG_MODE_OPEN, .normal_stable = 1, .direction_stable = 1};
    spragLocalSolution stick = {.mode = SPRAG_MODE_STICK, .normal_stable = 1, .direction_stable = 1};
    if (stickImpulse(W, q, stick.r)) {
        const double limit = stick.r[0] > 0 ? mu * stick.r[0] : two_sided ? -mu_minus * stick.r[0] : 0;
        if ((two_sided || stick.r[0] > 0) && spragNorm2(stick.r + 1) <= limit * (1 + 1e-14))
            solution[count++] = stick;
    }
    if (mu == 0 && !two_sided) { /* frictionless: one solution, slipping wherever it slips */
        if (q[0] < 0 && (count == 0 || solution[count - 1].mode != SPRAG_MODE_STICK)) {
            const double N = -q[0] / W[0];
            solution[count++] = (spragLocalSolution){.r = {N, 0, 0},
                                                     .u = {0, q[1] + W[3] * N, q[2] + W[6] * N},
                                                     .mode = SPRAG_MODE_SLIP,
                                                     .normal_stable = 1,
                                                     .direction_stable = 1};
        }
        return count;
    }
    if (q[0] == 0)
        return count; /* N = 0 on every slip: the open or the sticking solution says it all */
    const int sticks = count > 0 && solution[count - 1].mode == SPRAG_MODE_STICK;
    count += addSlips(W, q, mu, 1, sticks, solution + count);
    if (two_sided && count <= SPRAG_LOCAL_MAX - 4)
        count += addSlips(W, q, mu_minus, -1, sticks, solution + count);
    return count;
}

/* ---------------------------------------------------------------- the regular case */

enum { ROOT_STEPS = 50 };

/* x = (M + nu)^-1 c; returns its determinant. */
static inline double shiftedSolve(const double M[4], double nu, const double c[2], double x[2])
{
    const double a = M[0] + nu, d = M[3] + nu, det = a * d - M[1] * M[2], scale = 1 / det;
    x[0] = scale * (d * c[0] - M[1] * c[1]);
    x[1] = scale * (a * c[1] - M[2] * c[0]);
    return det;
}

/* The slip direction e: |(M + nu)^-1 c| = 1 by Newton on 1 / |e| - 1, which is nearly linear, between bounds. */
static void regularDirection(const double M[4], const double c[2], double e[2])
{
    const double length = spragNorm2(c), t[2] = {c[0] / length, c[1] / length};
    double lo = 0, hi = length; /* M is positive: |e| < |c| / nu */
    double nu = length - (t[0] * (M[0] * t[0] + M[1] * t[1]) + t[1] * (M[2] * t[0] + M[3] * t[1]));
    if (!(nu > 0))
        nu = 0;
    for (int k = 0; k < ROOT_STEPS; ++k) {
        shiftedSolve(M, nu, c, e);
        const double size2 = e[0] * e[0] + e[1] * e[1], size = sqrt(size2);
        if (fabs(size - 1) <= 4 * DBL_EPSILON)
            break;
        if (size > 1)
            lo = nu;
        else
            hi = nu;
        double de[2];
        shiftedSolve(M, nu, e, de);
        double next = nu + size2 * (size - 1) / (e[0] * de[0] + e[1] * de[1]);
        if (!(next >= lo && next <= hi))
            next = 0.5 * (lo + hi);
        if (fabs(next - nu) <= DBL_EPSILON * nu || next == nu)
            break;
        nu = next;
    }
    const double size = spragNorm2(e);
    e[0] /= size, e[1] /= size;
}

static int isPositive(const double M[4])
{
    const double off = 0.5 * (M[1] + M[2]);
    return M[0] > 0 && M[0] * M[3] > off * off * (1 + 1e-9);
}

int spragLocalRegular(const double W[9], const double q[3], double mu, double r[3])
{
    const double w[2] = {W[1], W[2]};
    if (!(W[0] > mu * spragNorm2(w)))
        return 0;
    if (q[0] >= 0) {
        r[0] = r[1] = r[2] = 0;
        return 1;
    }
    if (mu == 0) {
        r[0] = -q[0] / W[0], r[1] = r[2] = 0;
        return 1;
    }
    /* Slip: (M + nu) e = c with M = -A.  Where M is positive |(M + nu)^-1 c| falls with nu: one slip or stick. */
    const double M[4] = {-mu * (q[0] * W[4] - q[1] * W[1]), -mu * (q[0] * W[5] - q[1] * W[2]),
                         -mu * (q[0] * W[7] - q[2] * W[1]), -mu * (q[0] * W[8] - q[2] * W[2])};
    const double c[2] = {W[0] * q[1] - q[0] * W[3], W[0] * q[2] - q[0] * W[6]};
    if (!isPositive(M))
        return 0;
    double e[2];
    shiftedSolve(M, 0, c, e);
    const double inside = e[0] * e[0] + e[1] * e[1];
    if (inside <= 1) {
        const double N = -q[0] / (W[0] - mu * (w[0] * e[0] + w[1] * e[1]));
        r[0] = N, r[1] = -mu * N * e[0], r[2] = -mu * N * e[1];
        double rest[3] = {q[0], q[1], q[2]}, correction[3]; /* a sticking contact must not creep */
        spragMulAdd33(rest, W, r);
        if (!stickImpulse(W, rest, correction))
            return 0;
        for (int i = 0; i < 3; ++i)
            r[i] += correction[i];
        return spragNorm2(r + 1) <= mu * r[0] * (1 + 1e-14);
    }
    regularDirection(M, c, e);
    const double N = -q[0] / (W[0] - mu * (w[0] * e[0] + w[1] * e[1]));
    r[0] = N, r[1] = -mu * N * e[0], r[2] = -mu * N * e[1];
    return 1;
}
