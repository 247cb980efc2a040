#include "problem/cone.h"

#include "linalg/vec3.h"

void spragDiscProject(double radius, const double x[2], double out[2])
{
    const double length = spragNorm2(x);
    const double scale = length > radius ? radius / length : 1;
    out[0] = scale * x[0];
    out[1] = scale * x[1];
}

/* The cone, its polar, or the half-line between: the projection on the ray (1, mu t) / (1 + mu^2), t = x_t / |x_t|. */
void spragConeProject(double mu, const double x[3], double out[3])
{
    const double tangential = spragNorm2(x + 1);
    if (mu * tangential <= -x[0]) { /* first: with mu = 0 and x_t = 0 both hold where x_n < 0 */
        out[0] = out[1] = out[2] = 0;
    } else if (tangential <= mu * x[0]) {
        out[0] = x[0], out[1] = x[1], out[2] = x[2];
    } else {
        const double normal = (x[0] + mu * tangential) / (1 + mu * mu);
        const double scale = mu * normal / tangential;
        out[0] = normal, out[1] = scale * x[1], out[2] = scale * x[2];
    }
}
