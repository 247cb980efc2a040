#include "solve/newton/tangent_bodies.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "linalg/vec3.h"
#include "problem/reaches.h"
#include "problem/residual.h"
#include "solve/newton/tangent_graph.h"

enum { REFINEMENTS_MAX = 6 };
#define CONTRACTS 0.25 /* part of the last round's rest: refinement ends where more than that is left */
#define NEAR 1e-2      /* part of |g|: a solution that leaves more is refused */

static const double *rowsOf(const spragBodies *bodies, int k, int side)
{
    return bodies->J + (size_t)k * bodies->stride + 18 * (size_t)side;
}

/* ---------------------------------------------------------------- compliance, and room */

/* C_k = W_kk - J_k M^-1 J_k^T; whatever has been done to the diagonal of W since it was made is in it. */
static void complianceOf(const spragTangent *t, int k, double C[9])
{
    const spragProblem *p = t->problem;
    memcpy(C, p->W + 9 * (size_t)spragProblemDiagonal(p, k), 9 * sizeof *C);
    if (t->bodies->links != NULL) {
        for (int i = 0; i < 9; ++i)
            C[i] -= t->bodies->own[9 * (size_t)k + (size_t)i];
        return;
    }
    for (int side = 0; side < 2; ++side) {
        const int body = t->bodies->of[2 * k + side];
        const double *J = rowsOf(t->bodies, k, side);
        for (int j = 0; j < 3 && body >= 0; ++j) {
            const spragMass *mass = &t->bodies->mass[body];
            double turned[3];
            spragMul33(turned, mass->inverse_inertia, J + 6 * j + 3);
            for (int i = 0; i < 3; ++i)
                C[3 * i + j] -= mass->inverse_mass * spragDot3(J + 6 * i, J + 6 * j) + spragDot3(J + 6 * i + 3, turned);
        }
    }
}

static void complianceRange(void *data, int range, int first, int end)
{
    (void)range;
    const spragTangent *t = data;
    for (int k = first; k < end; ++k)
        complianceOf(t, k, t->compliance + 9 * (size_t)k);
}

int spragTangentBodiesAnalyse(spragTangent *t, double price_most, spragArena *arena)
{
    const size_t nc = (size_t)t->problem->contact_count, n = (size_t)t->bodies->count;
    const size_t rows = n + (size_t)spragTangentLinks(t);
    const double filling = SPRAG_TANGENT_PER_CONTACT * (double)nc;
    const int found = spragTangentGraphAnalyse(t, price_most - filling, arena);
    if (found <= 0)
        return found;
    t->price = t->lu.products + filling;
    t->matrix = SPRAG_TAKE_RAW(arena, double, 36 * (size_t)t->lu.row_start[rows]);
    t->compliance = SPRAG_TAKE_RAW(arena, double, 63 * nc);
    t->velocity = SPRAG_TAKE_RAW(arena, double, 6 * rows + 9 * nc);
    if (t->matrix == NULL || t->compliance == NULL || t->velocity == NULL)
        return 0;
    t->inverse = t->compliance + 9 * nc;
    t->gain = t->inverse + 9 * nc;
    t->response = t->gain + 9 * nc;
    t->given = t->velocity + 6 * rows;
    t->left = t->given + 3 * nc;
    t->part = t->left + 3 * nc;
    spragRangesRun(t->problem->contact_count, complianceRange, t);
    return 1;
}

/* ---------------------------------------------------------------- factors */

/* D_k^-1 and S_k = D_k^-1 B_k. */
static int eliminateBlock(spragTangent *t, int k)
{
    const double *A = t->A + 9 * (size_t)k, *B = t->B + 9 * (size_t)k, *C = t->compliance + 9 * (size_t)k;
    double D[9], *inverse = t->inverse + 9 * (size_t)k, *S = t->gain + 9 * (size_t)k;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            D[3 * i + j] = A[3 * i + j] + B[3 * i] * C[j] + B[3 * i + 1] * C[3 + j] + B[3 * i + 2] * C[6 + j] +
                           t->soft[k] * B[3 * i + j];
    if (!spragInverse33(inverse, D))
        return 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            S[3 * i + j] = inverse[3 * i] * B[j] + inverse[3 * i + 1] * B[3 + j] + inverse[3 * i + 2] * B[6 + j];
    return 1;
}

/* T (2 x 3 x 6) = S_k J_k; of a block with a parent less D_k^-1 load_k (S J)_parent,n, what the parent's r_n does. */
static void response(const spragTangent *t, int k, double T[36])
{
    const double *S = t->gain + 9 * (size_t)k;
    const int parent = t->load != NULL ? t->parent[k] : -1;
    double follow[3] = {0, 0, 0};
    if (parent >= 0)
        spragMul33(follow, t->inverse + 9 * (size_t)k, t->load + 3 * (size_t)k);
    for (int side = 0; side < 2; ++side) {
        const double *J = rowsOf(t->bodies, k, side);
        double *out = T + 18 * side;
        for (int i = 0; i < 3; ++i)
            for (int c = 0; c < 6; ++c)
                out[6 * i + c] = S[3 * i] * J[c] + S[3 * i + 1] * J[6 + c] + S[3 * i + 2] * J[12 + c];
        if (parent < 0)
            continue;
        const double *carries = t->gain + 9 * (size_t)parent, *N = rowsOf(t->bodies, parent, side);
        for (int c = 0; c < 6; ++c) {
            const double normal = carries[0] * N[c] + carries[1] * N[6 + c] + carries[2] * N[12 + c];
            for (int i = 0; i < 3; ++i)
                out[6 * i + c] -= follow[i] * normal;
        }
    }
}

/* row += J_k^T T, J of side a; row: of the matrix. */
static void addBlock(spragTangent *t, int k, int a)
{
    const double *J = rowsOf(t->bodies, k, a);
    for (int b = 0; b < 2; ++b) {
        const int entry = t->entry[4 * (size_t)k + (size_t)(2 * a + b)];
        if (entry < 0)
            continue;
        const double *T = t->response + 36 * (size_t)k + 18 * (size_t)b;
        double *M = t->matrix + 36 * (size_t)entry;
        for (int i = 0; i < 6; ++i)
            for (int c = 0; c < 6; ++c)
                M[6 * i + c] += J[i] * T[c] + J[6 + i] * T[6 + c] + J[12 + i] * T[12 + c];
    }
}

static int adds(const spragTangent *t, int k)
{
    return !spragTangentIsOpen(t->B + 9 * (size_t)k) || t->load != NULL;
}

static void eliminateRange(void *data, int range, int first, int end)
{
    spragTangent *t = data;
    t->worst[range] = 0;
    for (int k = first; k < end; ++k)
        if (!eliminateBlock(t, k))
            t->worst[range] = INFINITY;
}

static void responseRange(void *data, int range, int first, int end)
{
    (void)range;
    spragTangent *t = data;
    for (int k = first; k < end; ++k)
        if (adds(t, k))
            response(t, k, t->response + 36 * (size_t)k);
}

/* Rows first .. end - 1 of M + J^T T.  The contacts of a body are added in their order: the same bits by any thread. */
static void rowRange(void *data, int range, int first, int end)
{
    (void)range;
    spragTangent *t = data;
    for (int i = first; i < end; ++i) {
        const spragMass *mass = &t->bodies->mass[i];
        const int start = t->lu.row_start[i];
        double *M = t->matrix + 36 * (size_t)start; /* the diagonal comes first in its row */
        memset(M, 0, 36 * (size_t)(t->lu.row_start[i + 1] - start) * sizeof *M);
        for (int a = 0; a < 3; ++a) {
            M[7 * a] = mass->mass;
            memcpy(M + 6 * (3 + a) + 3, mass->inertia + 3 * a, 3 * sizeof *M);
        }
        for (int l = t->first[i]; l < t->first[i + 1]; ++l)
            if (adds(t, t->list[l] / 2))
                addBlock(t, t->list[l] / 2, t->list[l] % 2);
    }
}

/* The greatest of what the ranges of a loop over all contacts found. */
static double worstOf(const spragTangent *t)
{
    double worst = 0;
    for (int range = 0; range < spragRangeCount(t->problem->contact_count); ++range)
        worst = fmax(worst, t->worst[range]);
    return worst;
}

/* E^T in the rows of bodies, E and -c in those of joints. */
static void addLinks(spragTangent *t)
{
    const spragLinks *links = t->bodies->links;
    for (int j = 0; j < links->count; ++j) {
        double *own = t->matrix + 36 * (size_t)t->lu.row_start[t->bodies->count + j];
        memset(own, 0, 36 * sizeof *own);
        for (int c = 0; c < 6; ++c)
            own[7 * c] = links->diagonal[6 * j + c];
        for (int side = 0; side < 2; ++side) {
            const int *entry = t->link_entry + 4 * j + 2 * side;
            const double *E = links->E + 36 * (size_t)(2 * j + side);
            if (links->of[2 * j + side] < 0)
                continue;
            memcpy(t->matrix + 36 * (size_t)entry[1], E, 36 * sizeof *E);
            for (int i = 0; i < 36; ++i)
                t->matrix[36 * (size_t)entry[0] + (size_t)i] = E[6 * (i % 6) + i / 6];
        }
    }
}

int spragTangentBodiesFactor(spragTangent *t)
{
    spragRangesRun(t->problem->contact_count, eliminateRange, t);
    if (worstOf(t) > 0)
        return 0;
    spragRangesRun(t->problem->contact_count, responseRange, t);
    spragRangesRun(t->bodies->count, rowRange, t);
    if (t->bodies->links != NULL)
        addLinks(t);
    const int factored = spragBlockLuFactor(&t->lu, t->matrix);
    t->refused += !factored && t->bodies->links != NULL; /* joints that are nearly redundant have no safe pivots */
    return factored;
}

/* ---------------------------------------------------------------- solutions */

/* u += J_k v */
static void addMotion(const spragTangent *t, int k, const double *v, double u[3])
{
    for (int side = 0; side < 2; ++side) {
        const int body = t->bodies->of[2 * k + side];
        const double *J = rowsOf(t->bodies, k, side), *w = v + 6 * (size_t)(body >= 0 ? body : 0);
        for (int i = 0; i < 3 && body >= 0; ++i)
            u[i] += spragDot3(J + 6 * i, w) + spragDot3(J + 6 * i + 3, w + 3);
    }
}

/* x_k = D_k^-1 (g_k - B_k J_k v - load_k x_parent,n); with v = NULL: 0. */
static void recover(const spragTangent *t, int k, const double *g, const double *v, double *x)
{
    double sum[3] = {g[3 * k], g[3 * k + 1], g[3 * k + 2]}, moved[3] = {0, 0, 0};
    if (v != NULL)
        addMotion(t, k, v, moved);
    const double *B = t->B + 9 * (size_t)k;
    const int parent = t->load != NULL ? t->parent[k] : -1;
    for (int i = 0; i < 3; ++i) {
        sum[i] -= spragDot3(B + 3 * i, moved);
        if (parent >= 0)
            sum[i] -= t->load[3 * k + i] * x[3 * parent];
    }
    spragMul33(x + 3 * (size_t)k, t->inverse + 9 * (size_t)k, sum);
}

static int isCarried(const spragTangent *t, int k)
{
    return t->load != NULL && t->parent[k] >= 0;
}

typedef struct Recovery {
    const spragTangent *t;
    const double *g, *v;
    double *x;
    int carried;
} Recovery;

static void recoverRange(void *data, int range, int first, int end)
{
    (void)range;
    const Recovery *recovery = data;
    for (int k = first; k < end; ++k)
        if (isCarried(recovery->t, k) == recovery->carried)
            recover(recovery->t, k, recovery->g, recovery->v, recovery->x);
}

static void recoverAll(const spragTangent *t, const double *g, const double *v, double *x)
{
    for (int carried = 0; carried < (t->load != NULL ? 2 : 1); ++carried)
        spragRangesRun(t->problem->contact_count, recoverRange, &(Recovery){t, g, v, x, carried});
}

/* velocity := J^T x of bodies first .. end - 1, whose contacts come in their order. */
static void gather(spragTangent *t, int first, int end, const double *x)
{
    for (int i = first; i < end; ++i) {
        double *force = t->velocity + 6 * (size_t)i;
        memset(force, 0, 6 * sizeof *force);
        for (int l = t->first[i]; l < t->first[i + 1]; ++l) {
            const int k = t->list[l] / 2;
            const double *J = rowsOf(t->bodies, k, t->list[l] % 2);
            for (int c = 0; c < 6; ++c)
                force[c] += J[c] * x[3 * k] + J[6 + c] * x[3 * k + 1] + J[12 + c] * x[3 * k + 2];
        }
    }
}

typedef struct Product {
    spragTangent *t;
    const double *x;
} Product;

static void forceRange(void *data, int range, int first, int end)
{
    (void)range;
    const Product *product = data;
    gather(product->t, first, end, product->x);
}

/* One solution, as accurate as the factors are.  x may not be g. */
static void solveOnce(spragTangent *t, const double *g, double *x)
{
    recoverAll(t, g, NULL, x);
    spragRangesRun(t->bodies->count, forceRange, &(Product){t, x});
    memset(t->velocity + 6 * (size_t)t->bodies->count, 0, 6 * (size_t)spragTangentLinks(t) * sizeof *t->velocity);
    spragBlockLuSolve(&t->lu, t->velocity);
    recoverAll(t, g, t->velocity, x);
}

/* velocity := M^-1 J^T x */
static void motionRange(void *data, int range, int first, int end)
{
    (void)range;
    const Product *product = data;
    spragTangent *t = product->t;
    gather(t, first, end, product->x);
    for (int i = first; i < end; ++i) {
        double *v = t->velocity + 6 * (size_t)i, turned[3];
        spragMul33(turned, t->bodies->mass[i].inverse_inertia, v + 3);
        for (int j = 0; j < 3; ++j)
            v[j] *= t->bodies->mass[i].inverse_mass, v[3 + j] = turned[j];
    }
}

/* u += W_k. x */
static void addProduct(const spragProblem *p, int k, const double *x, double u[3])
{
    for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
        spragMulAdd33(u, p->W + 9 * (size_t)e, x + 3 * (size_t)p->column[e]);
}

/* left = given - (A + B (W + soft)) x.  W x is J velocity + C x; of reaches and joints it is a product with W. */
static void leftRange(void *data, int range, int first, int end)
{
    const Product *product = data;
    spragTangent *t = product->t;
    double most = 0;
    for (int k = first; k < end; ++k) {
        const double *own = product->x + 3 * (size_t)k;
        double u[3] = {t->soft[k] * own[0], t->soft[k] * own[1], t->soft[k] * own[2]};
        if (t->bodies->reaches != NULL) {
            for (int i = 0; i < 3; ++i)
                u[i] += t->bodies->reaches->u[3 * k + i];
        } else if (t->bodies->links != NULL) {
            addProduct(t->problem, k, product->x, u);
        } else {
            spragMulAdd33(u, t->compliance + 9 * (size_t)k, own);
            addMotion(t, k, t->velocity, u);
        }
        for (int i = 0; i < 3; ++i) {
            const size_t row = 3 * (size_t)k + (size_t)i;
            double sum = t->given[row] - spragDot3(t->B + 3 * row, u) - spragDot3(t->A + 3 * row, own);
            if (isCarried(t, k))
                sum -= t->load[row] * product->x[3 * (size_t)t->parent[k]];
            t->left[row] = sum;
            most = fabs(sum) < INFINITY ? fmax(most, fabs(sum)) : INFINITY; /* NaN counts */
        }
    }
    t->worst[range] = most;
}

/* Fills left; returns its largest number. */
static double leftover(spragTangent *t, const double *x)
{
    Product product = {t, x};
    if (t->bodies->reaches != NULL)
        spragReachesProduct(t->problem, x, t->bodies->reaches->u);
    else if (t->bodies->links == NULL)
        spragRangesRun(t->bodies->count, motionRange, &product);
    spragRangesRun(t->problem->contact_count, leftRange, &product);
    return worstOf(t);
}

void spragTangentBodiesSolve(spragTangent *t, double *x)
{
    const size_t n = 3 * (size_t)t->problem->contact_count;
    double size = 0;
    memcpy(t->given, x, n * sizeof *x);
    for (size_t i = 0; i < n; ++i)
        size = fmax(size, fabs(x[i]));
    solveOnce(t, t->given, x);
    double left = leftover(t, x);
    for (int round = 0; round < REFINEMENTS_MAX && left > t->accuracy * size; ++round) {
        solveOnce(t, t->left, t->part);
        for (size_t i = 0; i < n; ++i)
            x[i] += t->part[i];
        const double now = leftover(t, x);
        if (!(now < left))
            for (size_t i = 0; i < n; ++i)
                x[i] -= t->part[i];
        const int contracts = now < CONTRACTS * left;
        left = now < left ? now : left;
        if (!contracts)
            break;
    }
    t->refused += !(left <= NEAR * size);
}
