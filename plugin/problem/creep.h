/* How fast what holds moves all the same, m/s: u of the rows whose r lies inside its bounds, the tangent of contacts that
 * stick, motors and limits that hold.  An exact answer has none; the residual alone does not tell, for it speaks of
 * normal rows too, and a contact may slide as it likes. */
#ifndef SPRAG_PROBLEM_CREEP_H
#define SPRAG_PROBLEM_CREEP_H

#include <sprag/sprag.h>

/* The largest of all blocks at r (3 nc), u (3 nc) = W r + q. */
double spragVelocityCreep(const spragProblem *problem, const double *r, const double *u);

#endif
