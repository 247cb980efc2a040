/* The admissible sets of spragBlockKind and their projections. */
#ifndef SPRAG_PROBLEM_CONE_H
#define SPRAG_PROBLEM_CONE_H

#include <sprag/sprag.h>

/* out = projection of x on { r_n >= 0, |r_t| <= mu r_n }.  out may alias x. */
void spragConeProject(double mu, const double x[3], double out[3]);
/* out (2) = projection of x (2) on the disc of the given radius.  out may alias x. */
void spragDiscProject(double radius, const double x[2], double out[2]);

#endif
