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

int spragCentralFactor(spragCentral *central, spragTangent *tangent)
{
    const spragCones *cones = central->cones;
    for (int k = 0; k < central->problem->contact_count; ++k) {
        double e[3], *D = central->D + 9 * (size_t)k, *A = tangent->A + 9 * (size_t)k, *B = tangent->B + 9 * (size_t)k;
        const double scale = central->scale[k];
        const int disc = spragConeIsDisc(cones, k);
        spragCentralSlackRow(central->v + 3 * k, e);
        spragConeScaling(central->x + 3 * k, central->v + 3 * k, D);
        for (int i = 0; i < 9; ++i) {
            A[i] = i % 3 == 0 ? D[i] / scale : D[i];
            B[i] = i % 4 == 0;
        }
        B[0] = e[0] * scale, B[1] = e[1], B[2] = e[2];
        if (disc) { /* dx_0 - dL in the place of the first row */
            A[0] = 1 / scale, A[1] = A[2] = 0;
            B[0] = B[1] = B[2] = 0;
        }
        tangent->soft[k] = 0;
        if (tangent->load != NULL)
            tangent->load[3 * k] = disc && cones->load[k] >= 0 ? -cones->limit[k] : 0;
    }
    return spragTangentFactor(tangent);
}

void spragCentralSolve(const spragCentral *central, spragTangent *tangent, double *x)
{
    spragTangentSolve(tangent, x);
    for (int k = 0; k < central->problem->contact_count; ++k)
        x[3 * k] /= central->scale[k];
}
