#include "ode/world/body_mass.h"

#include <string.h>

#include "base/status.h"

/* out = R M R^T */
static void rotateTensor(double out[9], const double R[9], const double M[9])
{
    double RM[9];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            RM[3 * i + j] = R[3 * i] * M[j] + R[3 * i + 1] * M[3 + j] + R[3 * i + 2] * M[6 + j];
    for (int i = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j)
            out[3 * i + j] = out[3 * j + i] =
                RM[3 * i] * R[3 * j] + RM[3 * i + 1] * R[3 * j + 1] + RM[3 * i + 2] * R[3 * j + 2];
}

/* Inverse of a symmetric positive definite 3x3 by cofactors; 0 if it is not positive definite. */
static int invertInertia(double out[9], const double M[9])
{
    const double c0 = M[4] * M[8] - M[5] * M[5], c1 = M[2] * M[5] - M[1] * M[8], c2 = M[1] * M[5] - M[2] * M[4];
    const double det = M[0] * c0 + M[1] * c1 + M[2] * c2;
    if (!(M[0] > 0 && M[0] * M[4] - M[1] * M[1] > 0 && det > 0))
        return 0;
    const double scale = 1 / det;
    out[0] = c0 * scale;
    out[1] = out[3] = c1 * scale;
    out[2] = out[6] = c2 * scale;
    out[4] = (M[0] * M[8] - M[2] * M[2]) * scale;
    out[5] = out[7] = (M[1] * M[2] - M[0] * M[5]) * scale;
    out[8] = (M[0] * M[4] - M[1] * M[1]) * scale;
    return 1;
}

static int isIsotropic(const double M[9])
{
    return M[0] == M[4] && M[4] == M[8] && M[1] == 0 && M[2] == 0 && M[3] == 0 && M[5] == 0 && M[6] == 0 && M[7] == 0;
}

spragStatus spragBodyMass(spragBodyState *body, int index)
{
    dMass mass;
    dBodyGetMass(body->id, &mass);
    double local[9], inverse[9];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            local[3 * i + j] = mass.I[4 * i + j];
    body->mass = mass.mass;
    if (!spragAreUsable(&body->mass, 1) || !spragAreUsable(local, 9))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "body %d: mass %g or its inertia is not finite, or beyond 1e60", index,
                         body->mass);
    if (!(body->mass > 1 / SPRAG_GREATEST) || !invertInertia(inverse, local) || !spragAreUsable(inverse, 9))
        return spragFail(SPRAG_ERROR_RANGE, "body %d: mass %g kg, expected > 0 and an inertia positive definite", index,
                         body->mass);
    body->inverse_mass = 1 / body->mass;
    body->isotropic = isIsotropic(local);
    if (body->isotropic) {
        memcpy(body->inertia, local, sizeof local);
        memcpy(body->inverse_inertia, inverse, sizeof inverse);
        return SPRAG_OK;
    }
    rotateTensor(body->inertia, body->rotation, local);
    rotateTensor(body->inverse_inertia, body->rotation, inverse);
    return SPRAG_OK;
}
