#include "solve/newton/central.h"

#include <math.h>
#include <string.h>

#include "solve/newton/lorentz.h"

#define MU_LEAST 1e-6 /* a frictionless contact is a very thin cone */

int spragCentralInit(spragCentral *central, const spragCones *cones, spragArena *arena)
{
    const spragProblem *problem = cones->problem;
    const size_t nc = (size_t)problem->contact_count, n = 3 * nc;
    *central = (spragCentral){.cones = cones,
                              .problem = problem,
                              .x = SPRAG_TAKE(arena, spragFine, n),
                              .v = SPRAG_TAKE(arena, spragFine, n),
                              .rho = SPRAG_TAKE(arena, spragFine, n),
                              .D = SPRAG_TAKE(arena, spragFine, 9 * nc),
                              .r = SPRAG_TAKE(arena, double, n),
                              .u = SPRAG_TAKE(arena, double, n),
                              .side = SPRAG_TAKE(arena, double, n),
                              .scale = SPRAG_TAKE(arena, double, nc)};
    if (central->x == NULL || central->v == NULL || central->rho == NULL || central->D == NULL || central->r == NULL ||
        central->u == NULL || central->side == NULL || central->scale == NULL)
        return 0;
    for (size_t k = 0; k < nc; ++k)
        central->scale[k] = 1 / fmax(problem->mu[k], MU_LEAST);
    return 1;
}

int spragCentralRefine(spragCentral *central, spragArena *arena)
{
    const size_t n = 3 * (size_t)central->problem->contact_count;
    central->pivot = SPRAG_TAKE_RAW(arena, int, n);
    central->matrix = central->pivot != NULL ? SPRAG_TAKE_RAW(arena, spragFine, n * n) : NULL;
    return central->matrix != NULL;
}

/* Of a disc: L = limit, or limit times the impulse of the cone that loads it. */
static int isLoaded(const spragCones *cones, int k)
{
    return cones->load[k] != SPRAG_CONE_DISC;
}

double spragCentralLoad(const spragCentral *central, int k, const double *r)
{
    const spragCones *cones = central->cones;
    if (!spragConeIsDisc(cones, k))
        return r[3 * k] / central->scale[k];
    return cones->limit[k] * (isLoaded(cones, k) ? r[3 * cones->load[k]] : 1);
}

/* u of block k, unscaled. */
static void velocityOf(const spragCentral *central, int k, spragFine u[3])
{
    const spragProblem *p = central->problem;
    for (int i = 0; i < 3; ++i)
        u[i] = p->q[3 * k + i];
    for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
        const double *W = p->W + 9 * (size_t)e;
        const int l = p->column[e];
        const spragFine *x = central->x + 3 * l, r[3] = {x[0] * central->scale[l], x[1], x[2]};
        for (int i = 0; i < 3; ++i)
            u[i] += W[3 * i] * r[0] + W[3 * i + 1] * r[1] + W[3 * i + 2] * r[2];
    }
}

void spragCentralResiduals(spragCentral *central)
{
    const spragCones *cones = central->cones;
    for (int k = 0; k < central->problem->contact_count; ++k) {
        const spragFine *v = central->v + 3 * k, *x = central->x + 3 * k;
        const double scale = central->scale[k];
        spragFine u[3], *rho = central->rho + 3 * k;
        velocityOf(central, k, u);
        rho[1] = v[1] - u[1], rho[2] = v[2] - u[2];
        if (!spragConeIsDisc(cones, k))
            rho[0] = spragConeDet(v) / v[0] - u[0] * scale;
        else if (isLoaded(cones, k))
            rho[0] = cones->limit[k] * central->x[3 * cones->load[k]] * central->scale[cones->load[k]] - x[0];
        else
            rho[0] = cones->limit[k] - x[0];
        for (int i = 0; i < 3; ++i) {
            central->u[3 * k + i] = (double)u[i];
            central->r[3 * k + i] = (double)(i == 0 ? x[0] * scale : x[i]);
        }
    }
}

void spragCentralSlackRow(const spragFine v[3], spragFine e[3])
{
    const spragFine a = v[1] / v[0], b = v[2] / v[0];
    e[0] = 1 / (1 + a * a + b * b);
    e[1] = 2 * a * e[0], e[2] = 2 * b * e[0];
}

void spragCentralRightSide(const spragCentral *central, int k, const spragFine c[3], const spragFine d[3],
                           spragFine out[3])
{
    const int disc = spragConeIsDisc(central->cones, k);
    spragFine e[3];
    spragCentralSlackRow(central->v + 3 * k, e);
    out[0] = disc ? d[0] : c[0] + spragFineDot3(e, d);
    out[1] = c[1] + d[1], out[2] = c[2] + d[2];
}

/* Row i of the equations of cone k, for the unknowns P x: A x_k + B u + load x_parent. */
typedef struct Row {
    spragFine A[3], B[3], load;
} Row;

static Row rowOf(const spragCentral *central, int k, int i)
{
    const spragCones *cones = central->cones;
    const spragFine *D = central->D + 9 * (size_t)k;
    const double scale = central->scale[k];
    Row row = {.A = {D[3 * i] / scale, D[3 * i + 1], D[3 * i + 2]}, .B = {0, i == 1, i == 2}};
    if (i > 0)
        return row;
    if (spragConeIsDisc(cones, k)) /* dx_0 - dL in the place of the first row */
        return (Row){.A = {1 / (spragFine)scale}, .load = isLoaded(cones, k) ? -cones->limit[k] : 0};
    spragCentralSlackRow(central->v + 3 * k, row.B);
    row.B[0] *= scale;
    return row;
}

static int factorFine(spragCentral *central)
{
    const spragProblem *p = central->problem;
    const int n = 3 * p->contact_count;
    memset(central->matrix, 0, (size_t)n * (size_t)n * sizeof *central->matrix);
    for (int i = 0; i < n; ++i) {
        spragFine *to = central->matrix + (size_t)i * (size_t)n;
        const Row row = rowOf(central, i / 3, i % 3);
        for (int e = p->row_start[i / 3]; e < p->row_start[i / 3 + 1]; ++e)
            for (int j = 0; j < 3; ++j) {
                const double *W = p->W + 9 * (size_t)e + j;
                to[3 * p->column[e] + j] = row.B[0] * W[0] + row.B[1] * W[3] + row.B[2] * W[6];
            }
        for (int j = 0; j < 3; ++j)
            to[3 * (i / 3) + j] += row.A[j];
        if (row.load != 0)
            to[3 * central->cones->load[i / 3]] += row.load;
    }
    central->sign = spragFineFactor(n, central->matrix, central->pivot);
    return central->sign != 0;
}

int spragCentralFactor(spragCentral *central, spragTangent *tangent)
{
    const int nc = central->problem->contact_count;
    for (int k = 0; k < nc; ++k)
        spragConeScaling(central->x + 3 * k, central->v + 3 * k, central->D + 9 * (size_t)k);
    if (central->matrix != NULL)
        return factorFine(central);
    for (int i = 0; i < 3 * nc; ++i) {
        const Row row = rowOf(central, i / 3, i % 3);
        for (int j = 0; j < 3; ++j) {
            tangent->A[3 * (size_t)i + (size_t)j] = (double)row.A[j];
            tangent->B[3 * (size_t)i + (size_t)j] = (double)row.B[j];
        }
        tangent->soft[i / 3] = 0;
        if (tangent->load != NULL && i % 3 == 0)
            tangent->load[i] = (double)row.load;
    }
    return spragTangentFactor(tangent);
}

void spragCentralSolve(const spragCentral *central, spragTangent *tangent, spragFine *x)
{
    const int n = 3 * central->problem->contact_count;
    if (central->matrix != NULL) {
        spragFineSolve(n, central->matrix, central->pivot, x);
    } else {
        for (int i = 0; i < n; ++i)
            central->side[i] = (double)x[i];
        spragTangentSolve(tangent, central->side);
        for (int i = 0; i < n; ++i)
            x[i] = central->side[i];
    }
    for (int i = 0; i < n; i += 3)
        x[i] /= central->scale[i / 3];
}

int spragCentralSign(const spragCentral *central, const spragTangent *tangent)
{
    return central->matrix != NULL ? central->sign : spragTangentSign(tangent);
}
