/* How fast what holds moves all the same, m/s: u of the rows whose r lies inside its bounds, the tangent of contacts
 * that stick, motors and limits that hold.  An exact answer has none; the residual alone does not tell, for it speaks
 * of normal rows too, and a contact may slide as it likes. */
#ifndef SPRAG_PROBLEM_CREEP_H
#define SPRAG_PROBLEM_CREEP_H

#include <sprag/sprag.h>

#include "linalg/vec3.h"

#define SPRAG_CREEP_SLOW 5e-13        /* m/s: what creeps faster is worth Newton, */
#define SPRAG_CREEP_ROUNDING 1e-13    /* and slower, nothing: it is rounding */
#define SPRAG_CREEP_INSIDE (1 - 1e-9) /* of the bound */

/* Of one CONTACT in any frame [n t1 t2]. */
static inline double spragContactCreep(double mu, const double r[3], const double u[3])
{
    return spragNorm2(r + 1) < SPRAG_CREEP_INSIDE * mu * r[0] ? spragNorm2(u + 1) : 0;
}

/* 1: what creeps is worth a factorisation.  Who asks for more than SPRAG_CREEP_MATTERS does not pay for it while others
 * move, by more than the tolerance can tell from rest.  u (3 contact_count), m/s. */
#define SPRAG_CREEP_MATTERS 1e-7 /* m/s */
int spragCreepMatters(double tolerance, const double *u, int contact_count);

/* The largest of all blocks at r (3 nc), u (3 nc) = W r + q. */
double spragVelocityCreep(const spragProblem *problem, const double *r, const double *u);

#endif
