#include "ode/rows/contact_law.h"

#include <math.h>

#include "base/status.h"
#include "linalg/vec3.h"
#include "solve/greedy/greedy.h"

int spragContactFrame(const dContact *contact, const double n[3], double t1[3], double t2[3])
{
    if (contact->surface.mode & dContactFDir1) {
        const double along = contact->fdir1[0] * n[0] + contact->fdir1[1] * n[1] + contact->fdir1[2] * n[2];
        for (int i = 0; i < 3; ++i)
            t1[i] = contact->fdir1[i] - along * n[i];
        const double length = spragNorm3(t1);
        if (length > 1e-6) {
            for (int i = 0; i < 3; ++i)
                t1[i] /= length;
            spragCross3(t2, n, t1);
            return 0;
        }
    }
    const dVector3 axis = {(dReal)n[0], (dReal)n[1], (dReal)n[2], 0};
    dVector3 p, q;
    dPlaneSpace(axis, p, q);
    for (int i = 0; i < 3; ++i) {
        t1[i] = p[i];
        t2[i] = q[i];
    }
    return 1;
}

/* ---------------------------------------------------------------- friction */

static double inNumbers(double limit)
{
    return limit > SPRAG_FRICTION_GREATEST ? INFINITY : limit > SPRAG_FRICTION_LEAST ? limit : 0;
}

spragTangentLaw spragTangentLawOf(const dSurfaceParameters *p, int second)
{
    const double mu = second && (p->mode & dContactMu2) ? p->mu2 : p->mu;
    const int proportional = (p->mode & (second ? dContactApprox1_2 : dContactApprox1_1)) != 0;
    return (spragTangentLaw){proportional && mu >= SPRAG_COEFFICIENT_INFINITE ? INFINITY : inNumbers(mu), proportional};
}

int spragHasSecondLaw(const dSurfaceParameters *p)
{
    const int mode = p->mode & (dContactMu2 | dContactApprox1_1 | dContactApprox1_2);
    if (mode == 0 || mode == (dContactApprox1_1 | dContactApprox1_2))
        return 0; /* one law for both */
    const spragTangentLaw a = spragTangentLawOf(p, 0), b = spragTangentLawOf(p, 1);
    return a.limit > 0 && b.limit > 0 && (isinf(a.limit) != isinf(b.limit) || a.proportional != b.proportional);
}

/* ---------------------------------------------------------------- rolling friction */

/* As SPRAG_COEFFICIENT_INFINITE, of rolling friction about t1 or t2 that has another coefficient about the other one:
 * that scales a row by their ratio, and W by its square. */
#define HOLDS_BESIDE 30

spragRolling spragRollingOf(const dSurfaceParameters *p, double L)
{
    static const int bit[3] = {dContactApprox1_1, dContactApprox1_2, dContactApprox1_N};
    const int separate = (p->mode & dContactAxisDep) != 0;
    spragRolling rolling = {{p->rho, separate ? p->rho2 : p->rho, separate ? p->rhoN : p->rho}, {0}};
    double *rho = rolling.rho;
    for (int row = 0; row < 3; ++row) {
        rho[row] = inNumbers(rho[row]);
        rolling.proportional[row] = (p->mode & bit[row]) != 0;
    }
    const int both = rolling.proportional[0] && rolling.proportional[1] && rho[0] > 0 && rho[1] > 0;
    const int beside = both && rho[0] != rho[1];
    for (int row = 0; row < 3; ++row)
        if (rolling.proportional[row])
            rho[row] = fmin(rho[row], (row < 2 && beside ? HOLDS_BESIDE : SPRAG_COEFFICIENT_INFINITE) * L);
    return rolling;
}

int spragHasRolling(const dSurfaceParameters *p, int proportional)
{
    if (!(p->mode & dContactRolling))
        return 0;
    const spragRolling rolling = spragRollingOf(p, INFINITY);
    int has = 0;
    for (int row = 0; row < 3; ++row)
        has |= rolling.rho[row] > 0 && rolling.proportional[row] == proportional;
    return has;
}

/* ---------------------------------------------------------------- what is refused */

enum { COMPLIANT = dContactSoftCFM | dContactSlip1 | dContactSlip2 };

static spragStatus checkSurface(const dSurfaceParameters *p)
{
    const struct {
        int mode;
        dReal value;
        const char *name;
        int any; /* 1: DBL_MAX is as good as another */
    } field[] = {{dContactBounce, p->bounce, "bounce", 0},      {dContactBounce, p->bounce_vel, "bounce_vel", 1},
                 {dContactSoftERP, p->soft_erp, "soft_erp", 0}, {dContactSoftCFM, p->soft_cfm, "soft_cfm", 1},
                 {dContactMotion1, p->motion1, "motion1", 0},   {dContactMotion2, p->motion2, "motion2", 0},
                 {dContactMotionN, p->motionN, "motionN", 0},   {dContactSlip1, p->slip1, "slip1", 1},
                 {dContactSlip2, p->slip2, "slip2", 1}};
    for (size_t i = 0; i < sizeof field / sizeof *field; ++i)
        if ((p->mode & field[i].mode) &&
            !(field[i].any ? isfinite(field[i].value) : spragIsUsable((double)field[i].value)))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "contact surface: %s = %g, beyond 1e60 or NaN", field[i].name,
                             (double)field[i].value);
    for (size_t i = 0; i < sizeof field / sizeof *field; ++i)
        if ((p->mode & field[i].mode & COMPLIANT) && field[i].value < 0)
            return spragFail(SPRAG_ERROR_RANGE, "contact surface: %s = %g, expected >= 0", field[i].name,
                             (double)field[i].value);
    return SPRAG_OK;
}

/* Coefficients may be infinite. */
static spragStatus checkFriction(const dSurfaceParameters *p, int lenient)
{
    const struct {
        int mode; /* all of these bits */
        dReal value;
        const char *name;
    } field[] = {{0, p->mu, "mu"},
                 {dContactMu2, p->mu2, "mu2"},
                 {dContactRolling, p->rho, "rho"},
                 {dContactRolling | dContactAxisDep, p->rho2, "rho2"},
                 {dContactRolling | dContactAxisDep, p->rhoN, "rhoN"}};
    for (size_t i = 0; i < sizeof field / sizeof *field; ++i) {
        if ((p->mode & field[i].mode) != field[i].mode)
            continue;
        if (isnan(field[i].value))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "contact surface: %s is NaN", field[i].name);
        if (field[i].value < 0 && !lenient)
            return spragFail(SPRAG_ERROR_RANGE, "contact surface: %s = %g, expected >= 0", field[i].name,
                             (double)field[i].value);
    }
    return SPRAG_OK;
}

/* 0: its normal is 0, or NaN. */
static int hasDirection(const dContactGeom *geom)
{
    const double square = spragNormalSquare(geom);
    return square >= 1 / (SPRAG_GREATEST * SPRAG_GREATEST) && square <= SPRAG_GREATEST * SPRAG_GREATEST;
}

spragStatus spragContactCheck(const dContact *contact, int lenient)
{
    const dContactGeom *geom = &contact->geom;
    for (int i = 0; i < 3; ++i) {
        if (!spragIsUsable((double)geom->pos[i]) || !spragIsUsable((double)geom->normal[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "contact: pos[%d] = %g, normal[%d] = %g, beyond 1e60 or NaN", i,
                             (double)geom->pos[i], i, (double)geom->normal[i]);
        if ((contact->surface.mode & dContactFDir1) && !spragIsUsable((double)contact->fdir1[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "contact: fdir1[%d] = %g, beyond 1e60 or NaN", i,
                             (double)contact->fdir1[i]);
    }
    if (!spragIsUsable((double)geom->depth))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "contact: depth = %g, beyond 1e60 or NaN", (double)geom->depth);
    if (!hasDirection(geom))
        return spragFail(SPRAG_ERROR_RANGE, "contact: the normal has length %g, expected 1",
                         sqrt(spragNormalSquare(geom)));
    const spragStatus status = checkFriction(&contact->surface, lenient);
    return status == SPRAG_OK ? checkSurface(&contact->surface) : status;
}

enum {
    PLAIN = dContactApprox1 | dContactSoftERP | dContactSoftCFM | dContactBounce | dContactFDir1 | dContactMotion1 |
            dContactMotion2,
    PROPORTIONAL = dContactApprox1_1 | dContactApprox1_2
};

/* slip1 or slip2, m/s per N, beyond which single precision has no room for squares (solve/greedy/greedy_lanes.h). */
#define SLIP_GREATEST 1e12

static double usableSlip(double slip)
{
    return slip >= 0 && slip <= SLIP_GREATEST ? slip : (double)NAN;
}

/* `mode`: bits of contact->surface.mode; slips: may it have dContactSlip1, dContactSlip2? */
static int isPlain(const dContact *contact, int mode, int slips)
{
    const dSurfaceParameters *p = &contact->surface;
    const dContactGeom *g = &contact->geom;
    const dReal *x = g->pos;
    double sum = fabs((double)x[0]) + fabs((double)x[1]) + fabs((double)x[2]) + fabs((double)g->depth);
    if ((mode & ~(slips ? PLAIN | dContactSlip1 | dContactSlip2 : PLAIN)) != 0)
        return 0;
    if (p->mode & dContactSoftERP)
        sum += fabs((double)p->soft_erp);
    if (p->mode & dContactSoftCFM)
        sum += p->soft_cfm >= 0 ? p->soft_cfm : (double)NAN;
    if (p->mode & dContactBounce)
        sum += fabs((double)p->bounce) + 0 * (double)p->bounce_vel; /* DBL_MAX will do */
    if (p->mode & dContactMotion1)
        sum += fabs((double)p->motion1);
    if (p->mode & dContactMotion2)
        sum += fabs((double)p->motion2);
    if (p->mode & dContactSlip1)
        sum += usableSlip((double)p->slip1);
    if (p->mode & dContactSlip2)
        sum += usableSlip((double)p->slip2);
    if (p->mode & dContactFDir1)
        sum += fabs((double)contact->fdir1[0]) + fabs((double)contact->fdir1[1]) + fabs((double)contact->fdir1[2]);
    return sum <= SPRAG_GREATEST && hasDirection(g);
}

static int hasCoefficient(const dSurfaceParameters *p)
{
    return (p->mode & PROPORTIONAL) == PROPORTIONAL && p->mu > SPRAG_FRICTION_LEAST;
}

int spragContactIsPlain(const dContact *contact, int slips)
{
    const dSurfaceParameters *p = &contact->surface;
    return hasCoefficient(p) && !spragFrictionIsInfinite(p) && isPlain(contact, p->mode, slips);
}

int spragContactSticks(const dContact *contact, int slips)
{
    const dSurfaceParameters *p = &contact->surface;
    return isinf(spragTangentLawOf(p, 0).limit) && isinf(spragTangentLawOf(p, 1).limit) &&
           isPlain(contact, p->mode, slips);
}

double spragPlainMu(const dContact *contact)
{
    const dSurfaceParameters *p = &contact->surface;
    return !spragFrictionIsInfinite(p) ? p->mu : p->mode & PROPORTIONAL ? SPRAG_GREEDY_STICKS : SPRAG_GREEDY_GLUED;
}

int spragContactIsRoller(const dContact *contact, int slips)
{
    const dSurfaceParameters *p = &contact->surface;
    return (p->mode & dContactRolling) && (p->mode & dContactApprox1_N) && hasCoefficient(p) &&
           p->rho > SPRAG_FRICTION_LEAST && isPlain(contact, p->mode & ~dContactRolling, slips);
}

double spragRollerBound(const dContact *contact, double L)
{
    return spragRollingOf(&contact->surface, L).rho[0] / L;
}

int spragContactBlockCount(const dContact *contact)
{
    const dSurfaceParameters *p = &contact->surface;
    return 1 + spragHasSecondLaw(p) + spragHasRolling(p, 1) + spragHasRolling(p, 0);
}
