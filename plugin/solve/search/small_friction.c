/* Let y be the normal gaps of the contacts that slide under load, with stiff springs for the normal forces.  Then
 * y'' = b + G N, G_ij = dw_n,i / dN_j with friction following N_j along the slip and the sticking contacts held
 * (docs/theory.md 4).  The contacts last iff every eigenvalue of G has a positive real part; a hyperstatic G has
 * zeros, which do no harm.  The springs' stiffnesses are in proportion to 1 / w_k, so that heavy bodies beside light
 * ones are judged as if alone: G_ij / sqrt(w_i w_j) in place of G.
 *
 * One contact: G = p.  Several: with the Cayley transform C = (G + (d - c) I)(G + (d + c) I)^-1, c the size of G,
 * powers of C vanish iff all eigenvalues of G are right of -d; C is squared until it is clear.  Where the symmetric
 * part of G + d is positive definite, as mostly, it is clear at once. */
#include "solve/search/small_friction.h"

#include <math.h>
#include <string.h>

#include "linalg/lu.h"
#include "linalg/quad.h"
#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"

enum { CONTACTS_MAX = 32, SQUARINGS = 15 };
#define LAMBDA_HELD 1e-8 /* of sticking contacts: hyperstatic ones are singular */
#define MARGIN 1e-3      /* d / c */

/* Of a contact that parts rounding may leave an impulse of 1e-80 N s. */
static int bears(const spragProximal *s, int k, const double *r, const double *u)
{
    const int two_sided = spragKindOf(s->problem, k) == SPRAG_BLOCK_TWO_SIDED;
    return two_sided ? r[3 * k] != 0 : r[3 * k] > 0 && s->w[k] * r[3 * k] > u[3 * k];
}

/* A slip below what the answer is accurate to is no slip. */
static int slidesLoaded(const spragProximal *s, int k, const double *r, const double *u)
{
    const spragProblem *p = s->problem;
    return spragKindOf(p, k) <= SPRAG_BLOCK_TWO_SIDED && bears(s, k, r, u) && p->mu[k] > 0 &&
           spragNorm2(u + 3 * k + 1) > fmax(SPRAG_SLIP_TOLERANCE, 10 * s->accuracy);
}

/* Row a of block row k := (r_a = gain r_n), or for a = 0 (r_n = what is asked). */
static void tieRow(spragProximal *s, int k, int a, double gain)
{
    const spragProblem *p = s->problem;
    for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
        double *row = s->tangent.matrix + 9 * (size_t)e + 3 * a;
        row[0] = row[1] = row[2] = 0;
        if (p->column[e] == k) {
            row[0] = -s->w[k] * gain;
            row[a] = s->w[k];
        }
    }
}

/* The equations of the modes: open r = 0, stick u = 0, slip r_t along the slip with r_n given. */
static void modeRows(spragProximal *s, const double *r, const double *u)
{
    const spragProblem *p = s->problem;
    s->factored = 0;
    memcpy(s->tangent.matrix, p->W, 9 * (size_t)p->block_count * sizeof(double));
    for (int k = 0; k < p->contact_count; ++k) {
        double *D = s->tangent.matrix + 9 * (size_t)spragProblemDiagonal(p, k);
        for (int a = 0; a < 3; ++a)
            D[4 * a] += LAMBDA_HELD * s->w[k];
        const double *rk = r + 3 * k, *uk = u + 3 * k;
        const int slides = slidesLoaded(s, k, r, u), frictional = spragKindOf(p, k) <= SPRAG_BLOCK_TWO_SIDED;
        for (int a = 0; a < 3; ++a)
            if (slides)
                tieRow(s, k, a, a > 0 ? rk[a] / rk[0] : 0);
            else if (frictional ? !bears(s, k, r, u) || (a > 0 && p->mu[k] == 0)
                                : rk[a] == 0 || fabs(uk[a]) > SPRAG_SLIP_TOLERANCE)
                tieRow(s, k, a, 0); /* a row that moves does not hold, whatever limits it */
    }
}

typedef struct Responses {
    const spragProblem *problem;
    int m, first; /* of contacts first, first + 1, .. the lanes are */
    const int *contact;
    const spragQuad *x;
    double *G;
} Responses;

/* Up to four columns of G: the normal rows of the contacts in W x. */
SPRAG_QUAD_INLINE void respond(const Responses *some)
{
    const spragProblem *p = some->problem;
    for (int i = 0; i < some->m; ++i) {
        const int k = some->contact[i];
        spragQuad sum = {0};
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
            const double *W = p->W + 9 * (size_t)e;
            const spragQuad *x = some->x + 3 * p->column[e];
            sum += x[0] * W[0] + x[1] * W[1] + x[2] * W[2];
        }
        for (int lane = 0; lane < SPRAG_QUAD && some->first + lane < some->m; ++lane)
            some->G[i * some->m + some->first + lane] = sum[lane];
    }
}

SPRAG_QUAD_CLONES(respondLanes, respond, const Responses)

/* G (m x m) of the contacts listed.  x, y (3 nc x 4) scratch. */
static int slopes(spragProximal *s, int m, const int *contact, double *x, double *y, double *G)
{
    const spragProblem *p = s->problem;
    const size_t n = SPRAG_QUAD * 3 * (size_t)p->contact_count;
    if (!spragBlockLuFactor(&s->tangent.lu, s->tangent.matrix))
        return 0;
    for (int first = 0; first < m; first += SPRAG_QUAD) {
        memset(x, 0, n * sizeof *x);
        for (int lane = 0; lane < SPRAG_QUAD && first + lane < m; ++lane)
            x[SPRAG_QUAD * 3 * contact[first + lane] + lane] = s->w[contact[first + lane]];
        spragBlockLuSolveFour(&s->tangent.lu, x, y);
        respondLanes(&(Responses){p, m, first, contact, (const spragQuad *)(const void *)x, G});
    }
    return 1;
}

/* 1: the symmetric part of G + shift is positive definite.  Then all eigenvalues of G are right of -shift: their real
 * parts are among the numbers x^T G x of unit vectors x.  A (m x m) scratch. */
static int isDefinite(int m, const double *G, double shift, double *A)
{
    for (int i = 0; i < m; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = 0.5 * (G[i * m + j] + G[j * m + i]) + (i == j ? shift : 0);
            for (int k = 0; k < j; ++k)
                sum -= A[i * m + k] * A[j * m + k];
            if (i == j && !(sum > 0))
                return 0;
            A[i * m + j] = i == j ? sqrt(sum) : sum / A[j * (m + 1)];
        }
    return 1;
}

/* B := A A; returns the largest entry. */
static double square(int m, const double *A, double *B)
{
    double largest = 0;
    memset(B, 0, (size_t)(m * m) * sizeof *B);
    for (int i = 0; i < m; ++i) {
        double *row = B + i * m;
        for (int k = 0; k < m; ++k)
            for (int j = 0; j < m; ++j)
                row[j] += A[i * m + k] * A[k * m + j];
        for (int j = 0; j < m; ++j)
            largest = fmax(largest, fabs(row[j]));
    }
    return largest;
}

/* 1 iff no eigenvalue of G is left of -MARGIN c.  G (m x m) is destroyed; A, B (m x m), pivot (m) scratch. */
static int isStable(int m, double *G, double *A, double *B, int *pivot)
{
    double c = 0;
    for (int i = 0; i < m * m; ++i)
        c = fmax(c, fabs(G[i]));
    if (m == 1)
        return G[0] > 0;
    if (isDefinite(m, G, MARGIN * c, A))
        return 1;
    for (int i = 0; i < m; ++i)
        G[i * (m + 1)] += MARGIN * c;
    /* C = I - 2 c (G + d + c)^-1, column by column of the inverse */
    memcpy(A, G, (size_t)(m * m) * sizeof *A);
    for (int i = 0; i < m; ++i)
        A[i * (m + 1)] += c;
    if (spragLuFactor(m, A, pivot, 1e-14) < m)
        return 0;
    double *column = G; /* no longer needed */
    for (int j = 0; j < m; ++j) {
        memset(column, 0, (size_t)m * sizeof *column);
        column[j] = 1;
        spragLuSolve(m, A, pivot, column);
        for (int i = 0; i < m; ++i)
            B[i * m + j] = (i == j) - 2 * c * column[i];
    }
    double *from = B, *to = G;
    for (int k = 0; k < SQUARINGS; ++k) {
        const double largest = square(m, from, to);
        if (largest < 1e-3)
            return 1;
        if (!(largest < 1e8))
            return 0;
        double *swap = from;
        from = to, to = swap;
    }
    return 1;
}

int spragSlopesAreStable(int m, const double *w, double *G)
{
    double A[CONTACTS_MAX * CONTACTS_MAX], B[CONTACTS_MAX * CONTACTS_MAX], scale[CONTACTS_MAX];
    int pivot[CONTACTS_MAX];
    if (m > CONTACTS_MAX)
        return 0;
    for (int i = 0; i < m; ++i)
        scale[i] = 1 / sqrt(w[i]);
    for (int i = 0; i < m * m; ++i)
        G[i] *= scale[i / m] * scale[i % m];
    return isStable(m, G, A, B, pivot);
}

/* Many sliding contacts: det G > 0 alone, the necessary condition (docs/theory.md 4). */
static int determinantIsPositive(spragProximal *s, const double *r, const double *u)
{
    const spragProblem *p = s->problem;
    modeRows(s, r, u);
    for (int k = 0; k < p->contact_count; ++k)
        if (slidesLoaded(s, k, r, u)) { /* the normal row holds: u_n = 0 */
            for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
                memcpy(s->tangent.matrix + 9 * (size_t)e, p->W + 9 * (size_t)e, 3 * sizeof(double));
            s->tangent.matrix[9 * (size_t)spragProblemDiagonal(p, k)] += LAMBDA_HELD * s->w[k];
        }
    return spragBlockLuFactor(&s->tangent.lu, s->tangent.matrix) && spragBlockLuSign(&s->tangent.lu) > 0;
}

int spragSmallFriction(spragProximal *proximal, spragArena *arena, const double *r, const double *u)
{
    const spragProblem *p = proximal->problem;
    int m = 0, contact[CONTACTS_MAX];
    double w[CONTACTS_MAX];
    for (int k = 0; k < p->contact_count; ++k)
        if (slidesLoaded(proximal, k, r, u)) {
            if (m == CONTACTS_MAX)
                return determinantIsPositive(proximal, r, u);
            w[m] = proximal->w[k];
            contact[m++] = k;
        }
    if (m == 0)
        return 1;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const size_t n = SPRAG_QUAD * 3 * (size_t)p->contact_count, mm = (size_t)(m * m);
    double *x = SPRAG_TAKE_RAW(arena, double, 2 * n + mm);
    int answer = -1;
    if (x != NULL) {
        double *G = x + 2 * n;
        modeRows(proximal, r, u);
        answer = slopes(proximal, m, contact, x, x + n, G) && spragSlopesAreStable(m, w, G);
    }
    spragArenaRelease(arena, mark);
    return answer;
}
