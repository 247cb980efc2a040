/* The Lorentz cone in three dimensions, { x_0 >= |x_t| }: what the interior methods need of it. */
#ifndef SPRAG_SOLVE_LORENTZ_H
#define SPRAG_SOLVE_LORENTZ_H

#include <math.h>

#include "linalg/vec3.h"

/* x_0^2 - |x_t|^2, without cancellation */
static inline double spragConeDet(const double x[3])
{
    const double t = spragNorm2(x + 1);
    return (x[0] - t) * (x[0] + t);
}

/* D = beta^2 (2 w w' - J), J = diag(1, -1, -1): the Nesterov-Todd matrix with D x = v. */
static inline void spragConeScaling(const double x[3], const double v[3], double D[9])
{
    const double det_x = spragConeDet(x), det_v = spragConeDet(v);
    const double root_x = 1 / sqrt(det_x), root_v = 1 / sqrt(det_v);
    const double gamma = sqrt(0.5 * (1 + spragDot3(x, v) * root_x * root_v));
    const double w[3] = {0.5 / gamma * (v[0] * root_v + x[0] * root_x), 0.5 / gamma * (v[1] * root_v - x[1] * root_x),
                         0.5 / gamma * (v[2] * root_v - x[2] * root_x)};
    const double beta = sqrt(det_v / det_x);
    for (int i = 0; i < 9; ++i)
        D[i] = 2 * beta * w[i / 3] * w[i % 3];
    D[0] -= beta, D[4] += beta, D[8] += beta;
}

/* Largest alpha <= 1 with x + alpha dx in the cone. */
static inline double spragConeStep(const double x[3], const double dx[3])
{
    const double a = dx[0] * dx[0] - dx[1] * dx[1] - dx[2] * dx[2];
    const double b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2];
    const double c = spragConeDet(x);
    double alpha = 1;
    const double discriminant = b * b - a * c;
    if (a < 0 || (b < 0 && discriminant >= 0)) { /* first positive root of c + 2 b t + a t^2 */
        const double root = b < 0 ? c / (-b + sqrt(fmax(0, discriminant))) : (-b - sqrt(fmax(0, discriminant))) / a;
        if (root > 0 && root < alpha)
            alpha = root;
    }
    if (dx[0] < 0 && -x[0] / dx[0] < alpha)
        alpha = -x[0] / dx[0];
    return alpha;
}

#endif
