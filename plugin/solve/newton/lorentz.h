/* The Lorentz cone in three dimensions, { x_0 >= |x_t| }: what the interior methods need of it.  In fine arithmetic: a
 * contact that slips is nearer to the boundary than the rounding of a double. */
#ifndef SPRAG_SOLVE_LORENTZ_H
#define SPRAG_SOLVE_LORENTZ_H

#include "linalg/fine.h"

/* x_0^2 - |x_t|^2, without cancellation */
static inline spragFine spragConeDet(const spragFine x[3])
{
    const spragFine t = spragFineNorm2(x + 1);
    return (x[0] - t) * (x[0] + t);
}

/* D = beta^2 (2 w w' - J), J = diag(1, -1, -1): the Nesterov-Todd matrix with D x = v. */
static inline void spragConeScaling(const spragFine x[3], const spragFine v[3], spragFine D[9])
{
    const spragFine det_x = spragConeDet(x), det_v = spragConeDet(v);
    const spragFine root_x = 1 / sqrtl(det_x), root_v = 1 / sqrtl(det_v);
    const spragFine gamma = sqrtl(0.5 * (1 + spragFineDot3(x, v) * root_x * root_v));
    const spragFine w[3] = {0.5 / gamma * (v[0] * root_v + x[0] * root_x),
                            0.5 / gamma * (v[1] * root_v - x[1] * root_x),
                            0.5 / gamma * (v[2] * root_v - x[2] * root_x)};
    const spragFine beta = sqrtl(det_v / det_x);
    for (int i = 0; i < 9; ++i)
        D[i] = 2 * beta * w[i / 3] * w[i % 3];
    D[0] -= beta, D[4] += beta, D[8] += beta;
}

/* Largest alpha <= 1 with x + alpha dx in the cone. */
static inline spragFine spragConeStep(const spragFine x[3], const spragFine dx[3])
{
    const spragFine a = dx[0] * dx[0] - dx[1] * dx[1] - dx[2] * dx[2];
    const spragFine b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2];
    const spragFine c = spragConeDet(x);
    spragFine alpha = 1;
    const spragFine discriminant = b * b - a * c;
    if (a < 0 || (b < 0 && discriminant >= 0)) { /* first positive root of c + 2 b t + a t^2 */
        const spragFine root =
            b < 0 ? c / (-b + sqrtl(spragFineMax(0, discriminant))) : (-b - sqrtl(spragFineMax(0, discriminant))) / a;
        if (root > 0 && root < alpha)
            alpha = root;
    }
    if (dx[0] < 0 && -x[0] / dx[0] < alpha)
        alpha = -x[0] / dx[0];
    return alpha;
}

#endif
