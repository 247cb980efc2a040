/* By the roots of the derivative: between two neighbouring ones the polynomial is monotone and has at most one root.  A
 * root of the derivative at which the polynomial is as small as its rounding is a double root. */
#include "linalg/roots.h"

#include <float.h>
#include <math.h>

static double polynomial(int degree, const double *a, double t)
{
    double value = a[degree];
    for (int k = degree - 1; k >= 0; --k)
        value = value * t + a[k];
    return value;
}

static double polynomialSize(int degree, const double *a, double t)
{
    double value = fabs(a[degree]);
    for (int k = degree - 1; k >= 0; --k)
        value = value * fabs(t) + fabs(a[k]);
    return value;
}

/* The root between x and y, where the signs differ: Newton's steps, halved intervals where one leaves the bracket. */
static double rootBetween(int degree, const double *a, const double *derivative, double x, double y)
{
    const int rising = polynomial(degree, a, x) < 0;
    double t = 0.5 * (x + y);
    for (int k = 0; k < 200; ++k) {
        const double value = polynomial(degree, a, t);
        if ((value < 0) == rising)
            x = t;
        else
            y = t;
        const double slope = polynomial(degree - 1, derivative, t);
        double next = slope != 0 ? t - value / slope : x;
        if (!(next > x && next < y))
            next = 0.5 * (x + y);
        if (next == t || next == x || next == y)
            return next;
        if (fabs(next - t) <= DBL_EPSILON * fabs(next))
            return next;
        t = next;
    }
    return t;
}

/* Ascending; a double root once, also where rounding hides it. */
static int quadraticRoots(const double a[3], double root[2])
{
    if (fabs(a[2]) <= DBL_EPSILON * fabs(a[1])) { /* the other root is as good as infinite */
        root[0] = -a[0] / a[1];
        return a[1] != 0;
    }
    const double half = -0.5 * a[1], discriminant = half * half - a[0] * a[2];
    if (fabs(discriminant) <= 8 * DBL_EPSILON * half * half) {
        root[0] = half / a[2];
        return 1;
    }
    if (discriminant < 0)
        return 0;
    const double q = half + (half < 0 ? -sqrt(discriminant) : sqrt(discriminant));
    const double one = q / a[2], other = a[0] / q;
    root[0] = fmin(one, other), root[1] = fmax(one, other);
    return 2;
}

int spragRealRoots(int degree, const double *a, double bound, double *root)
{
    if (degree == 2)
        return quadraticRoots(a, root);
    double derivative[SPRAG_ROOTS_DEGREE + 1] = {0}, turn[SPRAG_ROOTS_DEGREE + 2];
    for (int k = 1; k <= degree; ++k)
        derivative[k - 1] = k * a[k];
    turn[0] = -bound;
    const int all = spragRealRoots(degree - 1, derivative, bound, turn + 1);
    int turns = 0;
    for (int k = 1; k <= all; ++k)
        if (fabs(turn[k]) < bound)
            turn[++turns] = turn[k];
    turn[turns + 1] = bound;
    int count = 0;
    for (int k = 0; k <= turns; ++k) {
        const double x = turn[k], y = turn[k + 1];
        const double fx = polynomial(degree, a, x), fy = polynomial(degree, a, y);
        const int touches = k > 0 && fabs(fx) <= 64 * DBL_EPSILON * polynomialSize(degree, a, x);
        if (touches && (count == 0 || root[count - 1] != x))
            root[count++] = x;
        if (!touches && (fx < 0) != (fy < 0) &&
            !(k < turns && fabs(fy) <= 64 * DBL_EPSILON * polynomialSize(degree, a, y)))
            root[count++] = rootBetween(degree, a, derivative, x, y);
    }
    return count;
}
