/* 3-vectors and 3x3 blocks (row-major), inline.  out may not alias an input unless said. */
#ifndef SPRAG_LINALG_VEC3_H
#define SPRAG_LINALG_VEC3_H

#include <math.h>

static inline double spragDot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void spragCross3(double out[3], const double a[3], const double b[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double spragNorm2(const double a[2])
{
    return sqrt(a[0] * a[0] + a[1] * a[1]);
}

static inline double spragNorm3(const double a[3])
{
    return sqrt(spragDot3(a, a));
}

static inline double spragDistanceSquared3(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return spragDot3(d, d);
}

/* out = M x */
static inline void spragMul33(double out[3], const double M[9], const double x[3])
{
    out[0] = M[0] * x[0] + M[1] * x[1] + M[2] * x[2];
    out[1] = M[3] * x[0] + M[4] * x[1] + M[5] * x[2];
    out[2] = M[6] * x[0] + M[7] * x[1] + M[8] * x[2];
}

/* out = M^T x */
static inline void spragMulTransposed33(double out[3], const double M[9], const double x[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = M[i] * x[0] + M[3 + i] * x[1] + M[6 + i] * x[2];
}

/* out += M x */
static inline void spragMulAdd33(double out[3], const double M[9], const double x[3])
{
    out[0] += M[0] * x[0] + M[1] * x[1] + M[2] * x[2];
    out[1] += M[3] * x[0] + M[4] * x[1] + M[5] * x[2];
    out[2] += M[6] * x[0] + M[7] * x[1] + M[8] * x[2];
}

/* inverse of M by its adjugate; 0 if singular */
static inline int spragInverse33(double inverse[9], const double M[9])
{
    double row[9]; /* of the transposed adjugate */
    spragCross3(row, M + 3, M + 6);
    spragCross3(row + 3, M + 6, M);
    spragCross3(row + 6, M, M + 3);
    const double det = spragDot3(M, row);
    for (int i = 0; i < 9; ++i)
        inverse[i] = row[3 * (i % 3) + i / 3] / det;
    return det != 0 && isfinite(det);
}

#endif
