/* One contact in isolation, exactly: u = W r + q with its own 3x3 W, everything else fixed.  All solutions there are;
 * solve/contact/policy.h picks one.  What islands of one contact need, and starts of small ones. */
#ifndef SPRAG_SOLVE_LOCAL_H
#define SPRAG_SOLVE_LOCAL_H

#include <sprag/sprag.h>

enum { SPRAG_LOCAL_MAX = 10 }; /* open, stick, four slips for each sign of the normal force */

typedef struct spragLocalSolution {
    double r[3], u[3];
    spragMode mode;
    int normal_stable;    /* slope of the normal branch > 0 */
    int direction_stable; /* slip direction attracts */
} spragLocalSolution;

/* Every solution; returns their number. */
int spragLocalEnumerate(spragBlockKind kind, const double W[9], const double q[3], double mu, double mu_minus,
                        spragLocalSolution solution[SPRAG_LOCAL_MAX]);

/* One CONTACT where that is provably the only solution: W_nn > mu |W_nt| and a positive tangential part (local.c).
 * 1 and r, or 0: ask spragLocalEnumerate. */
int spragLocalRegular(const double W[9], const double q[3], double mu, double r[3]);

#endif
