/* What a dContact says: whether its numbers can be used, its frame, and what bounds its friction along and about each
 * axis.  Of ODE's structs alone: no body is asked. */
#ifndef SPRAG_ODE_CONTACT_LAW_H
#define SPRAG_ODE_CONTACT_LAW_H

#include <math.h>

#include <sprag/sprag.h>

#include "ode/world/states.h"

/* Coefficients from here on are as good as infinite: the cone is within 1e-3 of the half-space.  Else the residual
 * would tell of nothing: that of r = 0 under an approach v is v / sqrt(1 + mu^2), and with mu = 1e9 bodies fell through
 * the floor. */
#define SPRAG_COEFFICIENT_INFINITE 1e3
/* Forces of friction beyond these are as good as infinite (programs write DBL_MAX for that), or as none, and so are
 * coefficients below: their squares and quotients would leave the numbers. */
#define SPRAG_FRICTION_GREATEST 1e30
#define SPRAG_FRICTION_LEAST 1e-30

/* Of a cone: less than that. */
static inline double spragConeOf(double mu)
{
    return fmin(mu, SPRAG_COEFFICIENT_INFINITE);
}

/* 1: what bounds the friction of such a surface, along its first tangent, is infinite. */
static inline int spragFrictionIsInfinite(const dSurfaceParameters *surface)
{
    return surface->mode & dContactApprox1_1 ? surface->mu >= SPRAG_COEFFICIENT_INFINITE
                                             : surface->mu > SPRAG_FRICTION_GREATEST;
}

/* Of the square of a normal's length, from 1: rounding, also in single precision. */
#define SPRAG_UNIT 1e-5

static inline double spragNormalSquare(const dContactGeom *geom)
{
    const dReal *n = geom->normal;
    return (double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2];
}

/* 0: it is no unit vector: a program has made it, not a collider. */
static inline int spragNormalIsUnit(const dContactGeom *geom)
{
    return fabs(spragNormalSquare(geom) - 1) <= SPRAG_UNIT;
}

/* The contact's normal, into body[0].  Of one that is no unit vector the direction alone counts, and the depth is in m
 * along it.  (ODE parts bodies by erp depth / h over its length, bounds friction by mu N over its length, and along t2
 * by mu N.) */
static inline void spragContactNormal(const spragJointState *joint, double n[3])
{
    const dContactGeom *geom = &joint->contact->geom;
    for (int i = 0; i < 3; ++i)
        n[i] = joint->reversed ? -geom->normal[i] : geom->normal[i];
    if (spragNormalIsUnit(geom))
        return;
    const double scale = 1 / sqrt(spragNormalSquare(geom));
    for (int i = 0; i < 3; ++i)
        n[i] *= scale;
}

/* Are all numbers usable that the contact's mode makes use of (mu may be infinite), and has its normal a direction?
 * lenient: coefficients below 0 are 0, as in ODE. */
spragStatus spragContactCheck(const dContact *contact, int lenient);

/* Contacts that may be solved without blocks (bare.h, lone.h).  1: it is one of the kind, and all numbers that it makes
 * use of are usable.  (Its spragSurface may say more.)  slips: it may yield along its tangents, too (dContactSlip1, 2).
 *
 * Plain: one CONTACT, with friction in proportion to the normal force, of one finite mu for both tangents; its surface
 * may be a belt. */
int spragContactIsPlain(const dContact *contact, int slips);
/* As plain, but mu = infinity along both tangents, as a coefficient or as a force.  (2000 is infinite as a coefficient
 * alone: not with dContactApprox1_1 and no dContactApprox1_2.) */
int spragContactSticks(const dContact *contact, int slips);
/* mu of a contact that is plain or sticks, as of a spragGreedyContact. */
double spragPlainMu(const dContact *contact);
/* As plain, but with rolling friction about any axis, in proportion to the normal force. */
int spragContactIsRoller(const dContact *contact, int slips);
/* Of a roller: the bound of its rolling friction over the normal impulse, as mu of a ROLLING block; L: spragLengthOf
 * its bodies. */
double spragRollerBound(const dContact *contact, double L);

/* ODE's frame: t1 = fdir1 or dPlaneSpace, t2 = n x t1.  A given fdir1 is made a unit tangent, which ODE leaves to the
 * user.  1: the frame follows from n alone. */
int spragContactFrame(const dContact *contact, const double n[3], double t1[3], double t2[3]);

/* What friction along one tangent is bounded by: a coefficient, or a force in N. */
typedef struct spragTangentLaw {
    double limit;
    int proportional;
} spragTangentLaw;
spragTangentLaw spragTangentLawOf(const dSurfaceParameters *surface, int second);
/* A coefficient along one tangent and a force along the other, or one of them
 * infinite: no ellipse, each has its own law. */
int spragHasSecondLaw(const dSurfaceParameters *surface);

/* Friction about t1, t2, n: m in proportion to the normal force, else N m. */
typedef struct spragRolling {
    double rho[3];
    int proportional[3];
} spragRolling;
/* L: m, the bodies' own length. */
spragRolling spragRollingOf(const dSurfaceParameters *surface, double L);
/* Has it rows of this kind? */
int spragHasRolling(const dSurfaceParameters *surface, int proportional);

/* Blocks this contact needs: 1, and more for a second law of friction and for rolling friction. */
int spragContactBlockCount(const dContact *contact);

#endif
