/* The equations that the interior methods (interior.c, path.c) follow to a solution.
 *
 * Scale contact k by P = diag(1 / mu, 1, 1):  r = P x, so that x and v are in the Lorentz cone
 * L = { x_0 >= |x_t| }.  De Saxce's |v_t| is not smooth at sticking; the same solutions are those of
 *
 *     V x + g = v - s(v) e_0,   s(v) = |v_t|^2 / v_0,   V = P W P,   g = P q,   x, v in L,   x o v = 0
 *
 * (o: the Jordan product),
 * since s = |v_t| on the boundary of L, and inside it x = 0 and only u_n = mu det(v) / v_0 >= 0 is asked.
 *
 * Newton with Nesterov-Todd scaling (Nesterov and Todd 1997; the formulas of Vandenberghe 2010, section 4): with
 * D = D(x, v) positive definite, D x = v, the step towards x o v = tau e_0 has dv = tau x^-1 - v - D dx, and with
 * E = d(v - s e_0) / dv the first equation gives V dx = E dv + rho, hence
 *
 *     (D + E^-1 V) dx = tau x^-1 - v + E^-1 rho,      rho = v - s e_0 - V x - g.
 *
 * A disc (cones.h) has x_0 = L instead of the first equation: its row is dx_0 - dL = rho_0 = L - x_0, L a constant or
 * its gain times the load's normal impulse, and v_0 = |v_t| is what the cone makes of it.
 *
 * Points are kept in fine arithmetic, and so are their residuals: near the boundary det x, and with it D, are digits
 * that a double has lost.  The equations are solved by the tangent in double, or, if asked (spragCentralRefine), in
 * fine arithmetic. */
#ifndef SPRAG_SOLVE_CENTRAL_H
#define SPRAG_SOLVE_CENTRAL_H

#include <sprag/sprag.h>

#include "linalg/fine.h"
#include "solve/newton/cones.h"
#include "solve/newton/tangent.h"

typedef struct spragCentral {
    const spragCones *cones;
    const spragProblem *problem; /* of the cones */
    spragFine *x, *v, *rho;      /* (3 nc) */
    spragFine *D;                /* (nc x 3 x 3) */
    double *r, *u;               /* (3 nc) of x, unscaled, for the judge */
    double *side;                /* (3 nc) right side, solution */
    double *scale;               /* (nc) 1 / mu */
    spragFine *matrix;           /* (3 nc x 3 nc) factors in fine arithmetic, or NULL: the tangent has them */
    int *pivot;                  /* (3 nc) of matrix */
    int sign;                    /* of its determinant */
} spragCentral;

int spragCentralInit(spragCentral *central, const spragCones *cones, spragArena *arena); /* 0: out of memory */
/* From now on matrices are factorised whole and in fine arithmetic, for some ten times the work.  0: out of memory. */
int spragCentralRefine(spragCentral *central, spragArena *arena);
/* rho, r and u at x, v. */
void spragCentralResiduals(spragCentral *central);
/* D, and the factors of D + E^-1 V, as a tangent in y = P x: D P^-1 + (E^-1 P) W.  Its
 * parents are the cones' loads.  0: singular. */
int spragCentralFactor(spragCentral *central, spragTangent *tangent);
/* x (3 nc) := (D + E^-1 V)^-1 x */
void spragCentralSolve(const spragCentral *central, spragTangent *tangent, spragFine *x);
/* Sign of the determinant of D + E^-1 V: -1, +1, or 0: not known. */
int spragCentralSign(const spragCentral *central, const spragTangent *tangent);
/* First row of E^-1; its other rows are those of the identity. */
void spragCentralSlackRow(const spragFine v[3], spragFine e[3]);
/* c + E^-1 d of cone k: the right side of its rows. */
void spragCentralRightSide(const spragCentral *central, int k, const spragFine c[3], const spragFine d[3],
                           spragFine out[3]);
/* Impulse x_0 that cone k carries on average while x is (3 nc): of a disc, its limit. */
double spragCentralLoad(const spragCentral *central, int k, const double *r);

#endif
