/* Creep, m/s: how fast what holds moves all the same.  It is u of the rows whose r lies inside its bounds: tangents of
 * contacts that stick, motors and limits that hold.  An exact answer has none.  The residual cannot tell it, since it
 * has the normal rows too; but a block creeps no faster than its own residual: what bears 1e-13 m/s and slips at 1e-11
 * is right to 1e-13.  (Towers side by side hold each other by such loads, and were polished in vain in every step.) */
#ifndef SPRAG_PROBLEM_CREEP_H
#define SPRAG_PROBLEM_CREEP_H

#include <math.h>

#include <sprag/sprag.h>

#include "base/extremes.h"
#include "linalg/vec3.h"

#define SPRAG_CREEP_SLOW 5e-13        /* m/s: creep above it is worth a step of Newton's method */
#define SPRAG_CREEP_ROUNDING 1e-13    /* m/s: creep below it is rounding, and worth nothing */
#define SPRAG_CREEP_INSIDE (1 - 1e-9) /* part of a bound: r beyond it does not lie inside */

/* Of one CONTACT in any frame [n t1 t2]; residual: its own. */
static inline double spragContactCreep(double mu, const double r[3], const double u[3], double residual)
{
    return spragNorm2(r + 1) < SPRAG_CREEP_INSIDE * mu * r[0] ? spragMin(spragNorm2(u + 1), residual) : 0;
}

/* Of one ROLLING block whose contact bears `load` N s. */
static inline double spragRollingCreep(double mu, double mu_minus, double load, const double r[3], const double u[3])
{
    const double inside = SPRAG_CREEP_INSIDE * spragMax(0, load),
                 rolls = spragNorm2(r) < mu * inside ? spragNorm2(u) : 0;
    return spragMax(rolls, fabs(r[2]) < mu_minus * inside ? fabs(u[2]) : 0);
}

/* 1: to end the creep is worth a factorisation: if the tolerance is SPRAG_CREEP_MATTERS or less, or if nothing moves
 * faster than some tolerances.  u (3 contact_count), m/s. */
#define SPRAG_CREEP_MATTERS 1e-7 /* m/s */
int spragCreepMatters(double tolerance, const double *u, int contact_count);

/* The largest of all blocks at r (3 nc), u (3 nc) = W r + q. */
double spragVelocityCreep(const spragProblem *problem, const double *r, const double *u);

#endif
