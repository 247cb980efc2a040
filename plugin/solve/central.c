#include "solve/central.h"

#include <math.h>

#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/lorentz.h"

#define MU_LEAST 1e-6 /* a frictionless contact is a very thin cone */

int spragCentralInit(spragCentral *central, const spragCones *cones, spragArena *arena)
{
    const spragProblem *problem = cones->problem;
    const size_t nc = (size_t)problem->contact_count, n = 3 * nc;
    *central = (spragCentral){.cones = cones,
                              .problem = problem,
                              .x = SPRAG_TAKE(arena, double, n),
                              .v = SPRAG_TAKE(arena, double, n),
                              .rho = SPRAG_TAKE(arena, double, n),
                              .D = SPRAG_TAKE(arena, double, 9 * nc),
                              .r = SPRAG_TAKE(arena, double, n),
                              .u = SPRAG_TAKE(arena, double, n),
                              .scale = SPRAG_TAKE(arena, double, nc)};
    if (central->x == NULL || central->v == NULL || central->rho == NULL || central->D == NULL || central->r == NULL ||
        central->u == NULL || central->scale == NULL)
        return 0;
    for (size_t k = 0; k < nc; ++k)
        central->scale[k] = 1 / fmax(problem->mu[k], MU_LEAST);
    return 1;
}

/* L of a disc; r: impulses of the cones. */
static double limitOf(const spragCones *cones, int k, const double *r)
{
    return cones->limit[k] * (cones->load[k] == SPRAG_CONE_DISC ? 1 : r[3 * cones->load[k]]);
}

double spragCentralLoad(const spragCentral *central, int k, const double *r)
{
    return spragConeIsDisc(central->cones, k) ? limitOf(central->cones, k, r) : r[3 * k] / central->scale[k];
}

void spragCentralResiduals(spragCentral *central)
{
    const int nc = central->problem->contact_count;
    const double *x = central->x;
    for (int i = 0; i < 3 * nc; ++i)
        central->r[i] = i % 3 == 0 ? x[i] * central->scale[i / 3] : x[i];
    spragProblemVelocity(central->problem, central->r, central->u);
    for (int k = 0; k < nc; ++k) {
        const double *v = central->v + 3 * k, *u = central->u + 3 * k;
        central->rho[3 * k] = spragConeIsDisc(central->cones, k) ? limitOf(central->cones, k, central->r) - x[3 * k]
                                                                 : spragConeDet(v) / v[0] - u[0] * central->scale[k];
        central->rho[3 * k + 1] = v[1] - u[1], central->rho[3 * k + 2] = v[2] - u[2];
    }
}

void spragCentralSlackRow(const double v[3], double e[3])
{
    const double a = v[1] / v[0], b = v[2] / v[0];
    e[0] = 1 / (1 + a * a + b * b);
    e[1] = 2 * a * e[0], e[2] = 2 * b * e[0];
}

void spragCentralRightSide(const spragCentral *central, int k, const double c[3], const double d[3], double out[3])
{
    const int disc = spragConeIsDisc(central->cones, k);
    double e[3];
    spragCentralSlackRow(central->v + 3 * k, e);
    out[0] = disc ? d[0] : c[0] + spragDot3(e, d);
    out[1] = c[1] + d[1], out[2] = c[2] + d[2];
}

/* dx_0 - dL in the place of the first row. */
static void discRow(const spragCentral *central, int k, double *matrix)
{
    const spragProblem *problem = central->problem;
    const int load = central->cones->load[k];
    for (int s = problem->row_start[k]; s < problem->row_start[k + 1]; ++s) {
        double *M = matrix + 9 * (size_t)s;
        M[0] = problem->column[s] == k      ? 1
               : problem->column[s] == load ? -central->cones->limit[k] * central->scale[load]
                                            : 0;
        M[1] = M[2] = 0;
    }
}

void spragCentralAssemble(spragCentral *central, double *matrix)
{
    const spragProblem *problem = central->problem;
    for (int k = 0; k < problem->contact_count; ++k) {
        double e[3];
        spragCentralSlackRow(central->v + 3 * k, e);
        e[0] *= central->scale[k];
        spragConeScaling(central->x + 3 * k, central->v + 3 * k, central->D + 9 * k);
        for (int s = problem->row_start[k]; s < problem->row_start[k + 1]; ++s) {
            const double *W = problem->W + 9 * (size_t)s;
            const double column = central->scale[problem->column[s]];
            double *M = matrix + 9 * (size_t)s;
            for (int j = 0; j < 3; ++j) {
                const double factor = j == 0 ? column : 1;
                M[j] = factor * (e[0] * W[j] + e[1] * W[3 + j] + e[2] * W[6 + j]);
                M[3 + j] = factor * W[3 + j], M[6 + j] = factor * W[6 + j];
            }
            if (problem->column[s] == k)
                for (int i = 0; i < 9; ++i)
                    M[i] += central->D[9 * k + i];
        }
        if (spragConeIsDisc(central->cones, k))
            discRow(central, k, matrix);
    }
}
