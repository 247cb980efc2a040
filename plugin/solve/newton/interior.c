/* Primal-dual interior point on the second-order cone with De Saxce's term inside: Newton steps on the equations of
 * central.h, x o v = tau e_0 with tau -> 0.
 *
 * The term s(v) makes the problem non-monotone; keeping its derivative in the matrix (Acary, Armand, Nguyen,
 * Shpakovych 2024) rather than a fixed-point loop around convex problems (Acary, Cadoux, Lemarechal, Malick 2011)
 * costs only the symmetry.  s = |v_t|^2 / v_0 instead of |v_t| is smooth inside the cone: 47 steps to 1e-8 on a
 * pile of 300 balls where |v_t| stops at 7e-4. */
#include "solve/newton/interior.h"

#include <math.h>

#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/newton/central.h"
#include "solve/newton/lorentz.h"

enum { INTERIOR_LIMIT = 120 /* steps */, STUCK_MAX = 8 /* of them shorter than STUCK_STEP, one after the other */ };
#define SIGMA_LEAST 0.1  /* never aims lower than this part of the present tau (1e-3: half as many more steps) */
#define SIGMA_CENTRE 0.8 /* after a short step: back towards the path first */
#define SHORT_STEP 0.2   /* part of a full one */
#define STUCK_STEP 0.03
#define STEP_SHARE 0.99 /* of the way to the boundary */

typedef struct Interior {
    spragCentral central;
    spragFine *dx, *dv; /* (3 nc) */
} Interior;

/* Pushes x into the cone's interior: x_0 >= |x_t| + least. */
static void pushInside(spragFine x[3], spragFine least)
{
    const spragFine t = spragFineNorm2(x + 1);
    if (x[0] < t + least)
        x[0] = t + least;
}

static void newtonDirection(Interior *ip, spragTangent *tangent, spragFine tau)
{
    const spragCentral *c = &ip->central;
    const int nc = c->problem->contact_count;
    for (int k = 0; k < nc; ++k) {
        const spragFine *x = c->x + 3 * k, *v = c->v + 3 * k, *rho = c->rho + 3 * k;
        const spragFine inverse = tau / spragConeDet(x);
        spragFine *dv = ip->dv + 3 * k;
        dv[0] = inverse * x[0] - v[0], dv[1] = -inverse * x[1] - v[1], dv[2] = -inverse * x[2] - v[2];
        spragCentralRightSide(c, k, dv, rho, ip->dx + 3 * k);
    }
    spragCentralSolve(c, tangent, ip->dx);
    for (int k = 0; k < nc; ++k) {
        spragFine Ddx[3];
        spragFineMul33(Ddx, c->D + 9 * k, ip->dx + 3 * k);
        for (int i = 0; i < 3; ++i)
            ip->dv[3 * k + i] -= Ddx[i];
    }
}

static spragFine stepLength(const Interior *ip)
{
    spragFine alpha = 1;
    for (int k = 0; k < ip->central.problem->contact_count; ++k) {
        alpha = spragFineMin(alpha, spragConeStep(ip->central.x + 3 * k, ip->dx + 3 * k));
        alpha = spragFineMin(alpha, spragConeStep(ip->central.v + 3 * k, ip->dv + 3 * k));
    }
    return alpha;
}

static int interiorInit(Interior *ip, const spragCones *cones, spragArena *arena, const double *asked)
{
    spragCentral *c = &ip->central;
    const spragProblem *problem = cones->problem;
    const int nc = problem->contact_count;
    ip->dx = SPRAG_TAKE(arena, spragFine, 3 * nc), ip->dv = SPRAG_TAKE(arena, spragFine, 3 * nc);
    if (ip->dx == NULL || ip->dv == NULL || !spragCentralInit(c, cones, arena))
        return 0;
    double *const r = c->r;
    spragConesFrom(cones, asked, r);
    spragProblemVelocity(problem, r, c->u);
    double load = 0, speed = 0;
    for (int k = 0; k < nc; ++k) {
        load += spragCentralLoad(c, k, r) / (double)nc;
        speed += spragNorm3(c->u + 3 * k) / (double)nc;
    }
    for (int k = 0; k < nc; ++k) {
        const double *u = c->u + 3 * k;
        spragFine *x = c->x + 3 * k, *v = c->v + 3 * k;
        x[0] = spragCentralLoad(c, k, r), x[1] = r[3 * k + 1], x[2] = r[3 * k + 2];
        v[0] = fmax(0, u[0]) * c->scale[k] + spragNorm2(u + 1), v[1] = u[1], v[2] = u[2];
        pushInside(x, load);
        pushInside(v, speed);
    }
    return 1;
}

/* Mean of x o v over the contacts: the tau of the nearest point of the central path. */
static spragFine complementarity(const Interior *ip)
{
    spragFine sum = 0;
    for (int i = 0; i < 3 * ip->central.problem->contact_count; ++i)
        sum += ip->central.x[i] * ip->central.v[i];
    return sum / ip->central.problem->contact_count;
}

int spragInteriorSolve(const spragCones *cones, const spragStop *stop, spragTangent *tangent, spragArena *arena,
                       double *r)
{
    Interior ip;
    const int n = 3 * cones->problem->contact_count;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    if (!interiorInit(&ip, cones, arena, r)) {
        spragArenaRelease(arena, mark);
        return -1;
    }
    double best = spragProblemResidual(cones->asked, r);
    spragFine last = 1;
    int k = 0, stuck = 0;
    for (; k < INTERIOR_LIMIT && k < stop->limit && !spragIsLate(stop->deadline); ++k) {
        spragCentralResiduals(&ip.central);
        const double residual = spragConesResidual(cones, ip.central.r, ip.central.u);
        if (residual < best) {
            best = residual;
            spragConesTo(cones, ip.central.r, r);
        }
        if (residual <= stop->tolerance)
            break;
        if (!spragCentralFactor(&ip.central, tangent))
            break;
        /* The step to tau = 0 says how far to aim (Mehrotra 1992); the same factors serve both. */
        newtonDirection(&ip, tangent, 0);
        const spragFine reach = stepLength(&ip);
        spragFine sigma = spragFineMax((1 - reach) * (1 - reach) * (1 - reach), SIGMA_LEAST);
        if (last < SHORT_STEP)
            sigma = spragFineMax(sigma, SIGMA_CENTRE);
        newtonDirection(&ip, tangent, sigma * complementarity(&ip));
        last = spragFineMin(1, STEP_SHARE * stepLength(&ip));
        stuck = last < STUCK_STEP ? stuck + 1 : 0;
        if (stuck > STUCK_MAX)
            break; /* a fold of the path, or no solution this way */
        for (int i = 0; i < n; ++i) {
            ip.central.x[i] += last * ip.dx[i];
            ip.central.v[i] += last * ip.dv[i];
        }
    }
    spragArenaRelease(arena, mark);
    return k;
}
