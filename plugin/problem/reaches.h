/* Products with W without reading it.
 *
 * Joints couple all blocks of a mechanism, each with each, and so does one body that all others lie on: of n blocks W
 * has n^2.  But it is made of
 *
 *     W_kl = J_k M^-1 J_l^T - Z_k^T D^-1 Z_l + C,     C block diagonal,
 *
 * and Z_k has rows only for the joints that block k reaches in the factors of the mechanism (articulation.h), some
 * log n of them.  Of all impulses so far v = M^-1 J^T r and s = D^-1 Z r are kept.  Block k feels J_k v - Z_k^T s, and
 * its own impulse changes v and s.  So a product, or a sweep of Gauss-Seidel, costs as much as all reaches together. */
#ifndef SPRAG_PROBLEM_REACHES_H
#define SPRAG_PROBLEM_REACHES_H

#include <sprag/sprag.h>

#include "linalg/quad.h"
#include "linalg/vec3.h"
#include "problem/bodies.h"

enum { SPRAG_REACH_ROWS = 6, SPRAG_REACH_LANES = 4 };

/* The joints that a block reaches in the mechanism of one of its bodies. */
typedef struct spragReachOf {
    int count;        /* how many */
    int first;        /* the mechanism's first joint: `joint` counts from there */
    const int *joint; /* (count) */
    const double *Z;  /* (count x 6 x 4) lanes: rows of the block */
} spragReachOf;

typedef struct spragReaches {
    int joints;
    const int *size;             /* (joints) rows of each */
    const double *inverse;       /* (joints x 6) 1 / D, 0 of a row that is left out */
    const spragReachOf *of;      /* (nc x 2) of either body */
    const unsigned char *locked; /* (nc) bits of rows that joints hold: 0 in W */
    const double *free;          /* (nc) 1/kg, trace of J_k M^-1 J_k^T */
    double price;                /* of a product with W, in products of 3x3 blocks */
    int whole;                   /* 1: all of W was made too; 0: its diagonal blocks alone */
    double entries;              /* blocks that W has, or would have */
    double *v, *s;               /* (bodies x 6), (joints x 6) what the impulses pushed so far do */
    double *u;                   /* (nc x 3) room */
} spragReaches;

/* The bodies of a problem, whether joints hold them or not; or NULL. */
static inline const spragBodies *spragBodiesOf(const spragProblem *problem)
{
    return problem->linked != NULL ? problem->linked : problem->bodies;
}

/* NULL: W is read. */
static inline const spragReaches *spragReachesOf(const spragProblem *problem)
{
    const spragBodies *bodies = spragBodiesOf(problem);
    return bodies != NULL ? bodies->reaches : NULL;
}

/* 1: of W the diagonal blocks alone were made. */
static inline int spragProblemIsLean(const spragProblem *problem)
{
    const spragReaches *reaches = spragReachesOf(problem);
    return reaches != NULL && !reaches->whole;
}

/* What a product with W costs, in products of 3x3 blocks. */
static inline double spragProductPrice(const spragProblem *problem)
{
    const spragReaches *reaches = spragReachesOf(problem);
    return reaches != NULL ? reaches->price : problem->block_count;
}

/* Adds impulse x of block k. */
SPRAG_QUAD_INLINE void spragReachesPush(const spragBodies *bodies, int k, const double x[3])
{
    const spragReaches *reaches = bodies->reaches;
    double r[3];
    for (int i = 0; i < 3; ++i)
        r[i] = reaches->locked[k] >> i & 1 ? 0 : x[i];
    for (int side = 0; side < 2; ++side) {
        const int body = bodies->of[2 * k + side];
        const double *J = bodies->J + (size_t)k * bodies->stride + 18 * (size_t)side;
        double *v = reaches->v + 6 * (size_t)(body >= 0 ? body : 0), force[6], spin[3];
        if (body < 0)
            continue;
        for (int c = 0; c < 6; ++c)
            force[c] = J[c] * r[0] + J[6 + c] * r[1] + J[12 + c] * r[2];
        spragMul33(spin, bodies->mass[body].inverse_inertia, force + 3);
        for (int i = 0; i < 3; ++i)
            v[i] += bodies->mass[body].inverse_mass * force[i], v[3 + i] += spin[i];
    }
    for (const spragReachOf *of = reaches->of + 2 * (size_t)k; of < reaches->of + 2 * (size_t)k + 2; ++of)
        for (int p = 0; p < of->count; ++p) {
            const size_t joint = (size_t)(of->first + of->joint[p]);
            const double *Z = of->Z + SPRAG_REACH_ROWS * SPRAG_REACH_LANES * (size_t)p;
            const double *inverse = reaches->inverse + SPRAG_REACH_ROWS * joint;
            double *s = reaches->s + SPRAG_REACH_ROWS * joint;
            for (int c = 0; c < reaches->size[joint]; ++c, Z += SPRAG_REACH_LANES)
                s[c] += inverse[c] * (Z[0] * r[0] + Z[1] * r[1] + Z[2] * r[2]);
        }
}

/* u: what all impulses, its own among them, give block k; without C. */
SPRAG_QUAD_INLINE void spragReachesFeel(const spragBodies *bodies, int k, double u[3])
{
    const spragReaches *reaches = bodies->reaches;
    spragQuad held = {0, 0, 0, 0};
    for (const spragReachOf *of = reaches->of + 2 * (size_t)k; of < reaches->of + 2 * (size_t)k + 2; ++of)
        for (int p = 0; p < of->count; ++p) {
            const size_t joint = (size_t)(of->first + of->joint[p]);
            const spragQuad *Z = (const spragQuad *)(const void *)of->Z + SPRAG_REACH_ROWS * (size_t)p;
            const double *s = reaches->s + SPRAG_REACH_ROWS * joint;
            for (int c = 0; c < reaches->size[joint]; ++c)
                held += Z[c] * s[c];
        }
    for (int i = 0; i < 3; ++i)
        u[i] = -held[i];
    for (int side = 0; side < 2; ++side) {
        const int body = bodies->of[2 * k + side];
        const double *J = bodies->J + (size_t)k * bodies->stride + 18 * (size_t)side;
        const double *v = reaches->v + 6 * (size_t)(body >= 0 ? body : 0);
        for (int i = 0; i < 3 && body >= 0; ++i)
            u[i] += spragDot3(J + 6 * i, v) + spragDot3(J + 6 * i + 3, v + 3);
    }
    for (int i = 0; i < 3; ++i)
        u[i] = reaches->locked[k] >> i & 1 ? 0 : u[i];
}

/* Forgets all impulses. */
void spragReachesClear(const spragBodies *bodies);
/* u (3 nc) = W x */
void spragReachesProduct(const spragProblem *problem, const double *x, double *u);
/* m/s, the most that rounding may hide of a product W x: by |W_kl| <= sqrt(f_k f_l), f the mobility that a block would
 * have without joints (`free`). */
double spragReachesRounding(const spragProblem *problem, const double *x);

#endif
