#include "analysis/affine.h"

#include <math.h>
#include <string.h>

#define ZERO_PIVOT 1e-11 /* of the largest entry */
#define ZERO_REST 1e-9   /* of `scale`: an equation without a pivot contradicts the others */
#define INSIDE 1e-10     /* of |x|: a cone may be left by so much */

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

static void subtract(int n, double *a, double factor, const double *b)
{
    for (int i = 0; i < n; ++i)
        a[i] -= factor * b[i];
}

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* Reduces [K c] to [E R | d], rows and columns permuted; returns the rank.  T has stride AFFINE_MAX + 1. */
static int reduce(int rows, int columns, double *T, int *order)
{
    enum { STRIDE = AFFINE_MAX + 1 };
    double largest = 0;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            largest = fmax(largest, fabs(T[STRIDE * i + j]));
    int rank = 0;
    for (; rank < rows && rank < columns; ++rank) {
        int p = rank, q = rank;
        for (int i = rank; i < rows; ++i)
            for (int j = rank; j < columns; ++j)
                if (fabs(T[STRIDE * i + j]) > fabs(T[STRIDE * p + q]))
                    p = i, q = j;
        if (!(fabs(T[STRIDE * p + q]) > ZERO_PIVOT * largest))
            break;
        for (int j = 0; j <= AFFINE_MAX; ++j)
            swap(&T[STRIDE * rank + j], &T[STRIDE * p + j]);
        for (int i = 0; i < rows; ++i)
            swap(&T[STRIDE * i + rank], &T[STRIDE * i + q]);
        const int kept = order[rank];
        order[rank] = order[q], order[q] = kept;
        const double pivot = T[STRIDE * rank + rank];
        for (int j = 0; j <= AFFINE_MAX; ++j)
            T[STRIDE * rank + j] /= pivot;
        for (int i = 0; i < rows; ++i)
            if (i != rank)
                subtract(STRIDE, T + STRIDE * i, T[STRIDE * i + rank], T + STRIDE * rank);
    }
    return rank;
}

void spragAffineSolve(int rows, int columns, const double *K, const double *c, double scale, AffineSet *out)
{
    enum { STRIDE = AFFINE_MAX + 1 };
    double T[AFFINE_MAX * STRIDE] = {0};
    int order[AFFINE_MAX];
    for (int i = 0; i < rows; ++i) {
        memcpy(T + STRIDE * i, K + columns * i, (size_t)columns * sizeof *T);
        T[STRIDE * i + AFFINE_MAX] = c[i];
    }
    for (int j = 0; j < columns; ++j)
        order[j] = j;
    const int rank = reduce(rows, columns, T, order);
    memset(out, 0, sizeof *out);
    out->columns = columns;
    out->nulls = columns - rank;
    out->consistent = 1;
    for (int i = rank; i < rows; ++i)
        if (fabs(T[STRIDE * i + AFFINE_MAX]) > ZERO_REST * scale)
            out->consistent = 0;
    for (int i = 0; i < rank; ++i)
        out->point[order[i]] = T[STRIDE * i + AFFINE_MAX];
    for (int k = 0; k < out->nulls; ++k) {
        double *z = out->null[k];
        z[order[rank + k]] = 1;
        for (int i = 0; i < rank; ++i)
            z[order[i]] = -T[STRIDE * i + rank + k];
        for (int twice = 0; twice < 2; ++twice)
            for (int j = 0; j < k; ++j)
                subtract(columns, z, dot(columns, z, out->null[j]), out->null[j]);
        const double length = sqrt(dot(columns, z, z));
        for (int j = 0; j < columns; ++j)
            z[j] /= length;
    }
    for (int k = 0; k < out->nulls; ++k)
        subtract(columns, out->point, dot(columns, out->point, out->null[k]), out->null[k]);
}

/* ---------------------------------------------------------------- cones */

static double at(const double *x, int index)
{
    return index < 0 ? 0 : x[index];
}

/* Violation of one cone, and its gradient (added to g where not NULL). */
static double coneViolation(const AffineCone *cone, const double *x, double *g)
{
    const double t1 = at(x, cone->t1), t2 = at(x, cone->t2), length = hypot(t1, t2);
    if (g != NULL) {
        g[cone->n] -= cone->mu * cone->sign;
        if (length > 0 && cone->t1 >= 0)
            g[cone->t1] += t1 / length;
        if (length > 0 && cone->t2 >= 0)
            g[cone->t2] += t2 / length;
    }
    return length - cone->mu * cone->sign * x[cone->n];
}

double spragAffineViolation(int cones, const AffineCone *cone, const double *x)
{
    double worst = -INFINITY;
    for (int k = 0; k < cones; ++k)
        worst = fmax(worst, coneViolation(&cone[k], x, NULL));
    return worst;
}

static void pointOf(const AffineSet *set, const double *z, double *x)
{
    memcpy(x, set->point, (size_t)set->columns * sizeof *x);
    for (int k = 0; k < set->nulls; ++k)
        subtract(set->columns, x, -z[k], set->null[k]);
}

static int inside(const AffineSet *set, int cones, const AffineCone *cone, const double *x)
{
    return spragAffineViolation(cones, cone, x) <= INSIDE * sqrt(dot(set->columns, x, x));
}

/* One cut of the ellipsoid { y : (y - z)' P^-1 (y - z) <= 1 } through its centre, g the gradient there (Yudin and
 * Nemirovski 1976, Shor 1977).  Returns the half width along g, 0: nothing left. */
static double cut(int n, double *z, double P[AFFINE_MAX][AFFINE_MAX], const double *g)
{
    double Pg[AFFINE_MAX];
    for (int i = 0; i < n; ++i)
        Pg[i] = dot(n, P[i], g);
    const double width = sqrt(fmax(0, dot(n, g, Pg)));
    if (width == 0)
        return 0;
    const double keep = n > 1 ? (double)(n * n) / (n * n - 1) : 0.25, take = n > 1 ? 2.0 / (n + 1) : 0;
    for (int i = 0; i < n; ++i)
        z[i] -= Pg[i] / width / (n + 1);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            P[i][j] = keep * (P[i][j] - take * Pg[i] * Pg[j] / (width * width));
    return width;
}

int spragAffineFeasible(const AffineSet *set, int cones, const AffineCone *cone, double size, double *x)
{
    const int n = set->nulls;
    double z[AFFINE_MAX] = {0}, P[AFFINE_MAX][AFFINE_MAX] = {{0}};
    pointOf(set, z, x);
    if (cones == 0 || inside(set, cones, cone, x))
        return 1;
    const double radius = 1e4 * fmax(size, sqrt(dot(set->columns, x, x)));
    for (int i = 0; i < n; ++i)
        P[i][i] = radius * radius;
    for (int round = 0; round < 100 * n * (n + 1) && n > 0; ++round) {
        double gradient[AFFINE_MAX] = {0}, g[AFFINE_MAX], worst = -INFINITY;
        int which = 0;
        for (int k = 0; k < cones; ++k) {
            const double violation = coneViolation(&cone[k], x, NULL);
            if (violation > worst)
                worst = violation, which = k;
        }
        coneViolation(&cone[which], x, gradient);
        for (int k = 0; k < n; ++k)
            g[k] = dot(set->columns, set->null[k], gradient);
        if (cut(n, z, P, g) <= 1e-15 * radius)
            return 0;
        pointOf(set, z, x);
        if (inside(set, cones, cone, x))
            return 1;
    }
    return 0;
}

int spragAffineOffApex(const AffineSet *set, int cones, const AffineCone *cone, double size, double *x)
{
    for (int k = 0; k < 2 * set->nulls; ++k) {
        double y[AFFINE_MAX] = {0};
        subtract(set->columns, y, k % 2 ? size : -size, set->null[k / 2]);
        if (inside(set, cones, cone, y)) {
            memcpy(x, y, (size_t)set->columns * sizeof *x);
            return 1;
        }
    }
    return 0;
}
