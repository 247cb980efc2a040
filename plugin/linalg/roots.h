/* Real roots of polynomials a[0] + a[1] t + ... of degree 2 to 4. */
#ifndef SPRAG_LINALG_ROOTS_H
#define SPRAG_LINALG_ROOTS_H

enum { SPRAG_ROOTS_DEGREE = 4 };

/* a (degree + 1).  Roots in [-bound, bound] (all, where degree = 2), ascending, one that touches zero once, also where
 * rounding hides whether it does.  Returns how many. */
int spragRealRoots(int degree, const double *a, double bound, double *root);

#endif
