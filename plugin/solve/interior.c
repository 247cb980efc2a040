/* Primal-dual interior point on the second-order cone with De Saxce's term inside.
 *
 * Scale contact k by P = diag(1 / mu, 1, 1):  r = P x, so that x and v = (u_n / mu + |u_t|, u_t) are in the Lorentz cone
 * L = { x_0 >= |x_t| }, and Coulomb's law is  x in L, v in L, x o v = 0  (Jordan product).  Follow the central path
 *
 *     V x + g = v - |v_t| e_0,   V = P W P, g = P q,     x o v = tau e_0,   tau -> 0.
 *
 * Newton with Nesterov-Todd scaling (Nesterov and Todd 1997; the formulas of Vandenberghe 2010, section 4): with D = D(x, v)
 * positive definite, D x = v, the second equation gives dv = tau x^-1 - v - D dx; with E = I - e_0 (0, v_t / |v_t|)' the
 * first V dx = E dv + rho.  Hence
 *
 *     (D + E^-1 V) dx = tau x^-1 - v + E^-1 rho,      rho = v - |v_t| e_0 - V x - g,     E^-1 = I + e_0 (0, e)'.
 *
 * The term |v_t| makes the problem non-monotone; keeping its derivative in the matrix (Acary, Armand, Nguyen, Shpakovych
 * 2024) rather than a fixed-point loop around convex problems (Acary, Cadoux, Lemarechal, Malick 2011) costs only the
 * symmetry. */
#include "solve/interior.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "problem/residual.h"

enum { INTERIOR_LIMIT = 120 };
#define SIGMA_LEAST 0.1  /* never aims lower than this part of the present tau (1e-3: half as many more steps) */
#define SIGMA_CENTRE 0.8 /* after a short step: back towards the path first */
#define SHORT_STEP 0.2
#define STEP_SHARE 0.99 /* of the way to the boundary */
#define MU_LEAST 1e-6   /* a frictionless contact is a very thin cone */

typedef struct Interior {
    const spragProblem *problem;
    double *x, *v, *dx, *dv, *rho; /* (3 nc) */
    double *D;                     /* (nc x 3 x 3) */
    double *r, *u;                 /* (3 nc) unscaled, for the judge */
    double *scale;                 /* (nc) 1 / mu */
} Interior;

int spragInteriorApplies(const spragProblem *problem)
{
    for (int k = 0; k < problem->contact_count; ++k)
        if ((problem->kind != NULL && problem->kind[k] != SPRAG_BLOCK_CONTACT))
            return 0;
    return 1;
}

/* x_0^2 - |x_t|^2, without cancellation */
static double coneDet(const double x[3])
{
    const double t = spragNorm2(x + 1);
    return (x[0] - t) * (x[0] + t);
}

/* D = beta^2 (2 w w' - J), J = diag(1, -1, -1): the Nesterov-Todd matrix with D x = v. */
static void scalingMatrix(const double x[3], const double v[3], double D[9])
{
    const double det_x = coneDet(x), det_v = coneDet(v);
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
static double coneStep(const double x[3], const double dx[3])
{
    const double a = dx[0] * dx[0] - dx[1] * dx[1] - dx[2] * dx[2];
    const double b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2];
    const double c = coneDet(x);
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

/* Pushes x into the cone's interior: x_0 >= |x_t| + least. */
static void pushInside(double x[3], double least)
{
    const double t = spragNorm2(x + 1);
    if (x[0] < t + least)
        x[0] = t + least;
}

static double direction(const double v[3], double e[2])
{
    const double t = spragNorm2(v + 1);
    e[0] = t > 0 ? v[1] / t : 0;
    e[1] = t > 0 ? v[2] / t : 0;
    return t;
}

/* rho, and r, u for the judge. */
static void residuals(Interior *ip)
{
    const int nc = ip->problem->contact_count;
    for (int k = 0; k < nc; ++k) {
        ip->r[3 * k] = ip->x[3 * k] * ip->scale[k];
        ip->r[3 * k + 1] = ip->x[3 * k + 1], ip->r[3 * k + 2] = ip->x[3 * k + 2];
    }
    spragProblemVelocity(ip->problem, ip->r, ip->u);
    for (int k = 0; k < nc; ++k) {
        const double *v = ip->v + 3 * k, *u = ip->u + 3 * k;
        ip->rho[3 * k] = v[0] - spragNorm2(v + 1) - u[0] * ip->scale[k];
        ip->rho[3 * k + 1] = v[1] - u[1], ip->rho[3 * k + 2] = v[2] - u[2];
    }
}

/* matrix = D + E^-1 V */
static void assemble(Interior *ip, double *matrix)
{
    const spragProblem *problem = ip->problem;
    for (int k = 0; k < problem->contact_count; ++k) {
        double e[2];
        direction(ip->v + 3 * k, e);
        const double row = ip->scale[k];
        scalingMatrix(ip->x + 3 * k, ip->v + 3 * k, ip->D + 9 * k);
        for (int s = problem->row_start[k]; s < problem->row_start[k + 1]; ++s) {
            const double *W = problem->W + 9 * (size_t)s;
            const double column = ip->scale[problem->column[s]];
            double *M = matrix + 9 * (size_t)s;
            for (int j = 0; j < 3; ++j) {
                const double factor = j == 0 ? column : 1;
                M[j] = factor * (row * W[j] + e[0] * W[3 + j] + e[1] * W[6 + j]);
                M[3 + j] = factor * W[3 + j];
                M[6 + j] = factor * W[6 + j];
            }
            if (problem->column[s] == k)
                for (int i = 0; i < 9; ++i)
                    M[i] += ip->D[9 * k + i];
        }
    }
}

/* dx, dv for the target tau. */
static void newtonDirection(Interior *ip, spragBlockLu *lu, double tau)
{
    const int nc = ip->problem->contact_count;
    for (int k = 0; k < nc; ++k) {
        const double *x = ip->x + 3 * k, *v = ip->v + 3 * k, *rho = ip->rho + 3 * k;
        const double inverse = tau / coneDet(x);
        double e[2];
        direction(v, e);
        ip->dv[3 * k] = inverse * x[0] - v[0];
        ip->dv[3 * k + 1] = -inverse * x[1] - v[1];
        ip->dv[3 * k + 2] = -inverse * x[2] - v[2];
        ip->dx[3 * k] = ip->dv[3 * k] + rho[0] + e[0] * rho[1] + e[1] * rho[2];
        ip->dx[3 * k + 1] = ip->dv[3 * k + 1] + rho[1];
        ip->dx[3 * k + 2] = ip->dv[3 * k + 2] + rho[2];
    }
    spragBlockLuSolve(lu, ip->dx);
    for (int k = 0; k < nc; ++k) {
        double Ddx[3];
        spragMul33(Ddx, ip->D + 9 * k, ip->dx + 3 * k);
        for (int i = 0; i < 3; ++i)
            ip->dv[3 * k + i] -= Ddx[i];
    }
}

static double stepLength(const Interior *ip)
{
    double alpha = 1;
    for (int k = 0; k < ip->problem->contact_count; ++k) {
        alpha = fmin(alpha, coneStep(ip->x + 3 * k, ip->dx + 3 * k));
        alpha = fmin(alpha, coneStep(ip->v + 3 * k, ip->dv + 3 * k));
    }
    return alpha;
}

static int interiorInit(Interior *ip, const spragProblem *problem, spragArena *arena, const double *r)
{
    const size_t nc = (size_t)problem->contact_count, n = 3 * nc;
    *ip = (Interior){.problem = problem,
                     .x = SPRAG_TAKE(arena, double, n),
                     .v = SPRAG_TAKE(arena, double, n),
                     .dx = SPRAG_TAKE(arena, double, n),
                     .dv = SPRAG_TAKE(arena, double, n),
                     .rho = SPRAG_TAKE(arena, double, n),
                     .D = SPRAG_TAKE(arena, double, 9 * nc),
                     .r = SPRAG_TAKE(arena, double, n),
                     .u = SPRAG_TAKE(arena, double, n),
                     .scale = SPRAG_TAKE(arena, double, nc)};
    if (ip->x == NULL || ip->v == NULL || ip->dx == NULL || ip->dv == NULL || ip->rho == NULL || ip->D == NULL ||
        ip->r == NULL || ip->u == NULL || ip->scale == NULL)
        return 0;
    spragProblemVelocity(problem, r, ip->u);
    double load = 0, speed = 0;
    for (size_t k = 0; k < nc; ++k) {
        ip->scale[k] = 1 / fmax(problem->mu[k], MU_LEAST);
        load += r[3 * k] / ip->scale[k] / (double)nc;
        speed += spragNorm3(ip->u + 3 * k) / (double)nc;
    }
    for (size_t k = 0; k < nc; ++k) {
        const double *u = ip->u + 3 * k;
        double *x = ip->x + 3 * k, *v = ip->v + 3 * k;
        x[0] = r[3 * k] / ip->scale[k], x[1] = r[3 * k + 1], x[2] = r[3 * k + 2];
        v[0] = fmax(0, u[0]) * ip->scale[k] + spragNorm2(u + 1), v[1] = u[1], v[2] = u[2];
        pushInside(x, load);
        pushInside(v, speed);
    }
    return 1;
}

/* Mean of x o v over the contacts: the tau of the nearest point of the central path. */
static double complementarity(const Interior *ip)
{
    double sum = 0;
    for (int i = 0; i < 3 * ip->problem->contact_count; ++i)
        sum += ip->x[i] * ip->v[i];
    return sum / ip->problem->contact_count;
}

int spragInteriorSolve(const spragProblem *problem, double tolerance, double deadline, spragBlockLu *lu, double *matrix,
                       spragArena *arena, double *r)
{
    Interior ip;
    const int n = 3 * problem->contact_count;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    if (!interiorInit(&ip, problem, arena, r)) {
        spragArenaRelease(arena, mark);
        return -1;
    }
    double best = spragProblemResidual(problem, r), last = 1;
    int k = 0;
    for (; k < INTERIOR_LIMIT && !(deadline > 0 && spragSeconds() > deadline); ++k) {
        residuals(&ip);
        const double residual = spragVelocityResidual(problem, ip.r, ip.u);
        if (residual < best) {
            best = residual;
            memcpy(r, ip.r, (size_t)n * sizeof *r);
        }
        if (residual <= tolerance)
            break;
        assemble(&ip, matrix);
        if (!spragBlockLuFactor(lu, matrix))
            break;
        /* The step to tau = 0 says how far to aim (Mehrotra 1992); the same factors serve both. */
        newtonDirection(&ip, lu, 0);
        const double reach = stepLength(&ip);
        double sigma = fmax((1 - reach) * (1 - reach) * (1 - reach), SIGMA_LEAST);
        if (last < SHORT_STEP)
            sigma = fmax(sigma, SIGMA_CENTRE);
        newtonDirection(&ip, lu, sigma * complementarity(&ip));
        last = fmin(1, STEP_SHARE * stepLength(&ip));
        for (int i = 0; i < n; ++i) {
            ip.x[i] += last * ip.dx[i];
            ip.v[i] += last * ip.dv[i];
        }
    }
    spragArenaRelease(arena, mark);
    return k;
}
